// The past of one run: where it stood at each point, and what its transcripts were.

/** The numbers that ranges stand for. */
function expanded(ranges) {
  const found = [];
  for (const [first, count] of ranges) for (let n = 0; n < count; n++) found.push(first + n);
  return found;
}

/** A list: told by itself, or by the one before. */
function listed(told, before) {
  if ("r" in told) return expanded(told.r);
  const found = [];
  for (const piece of told.b) {
    if (typeof piece === "number") found.push(piece);
    else for (let n = 0; n < piece[1]; n++) found.push(before[piece[0] + n]);
  }
  return found;
}

/** Lists, each told by the one before; the newest that were asked for are kept. */
class Chain {
  constructor(told, grown = (_, list) => list) {
    this.told = told;
    this.grown = grown;
    this.kept = new Map();
  }

  get(place) {
    let first = place;
    while (!this.kept.has(first) && !("r" in this.told[first])) first--;
    let list = this.kept.get(first) ?? this.grown(first, expanded(this.told[first].r ?? []));
    for (let n = first + 1; n <= place; n++) list = this.grown(n, listed(this.told[n], list));
    this.kept.delete(place);
    this.kept.set(place, list);
    if (this.kept.size > 8) this.kept.delete(this.kept.keys().next().value);
    return list;
  }
}

/** One run's transcript. It grows, until a hook writes another one: then a new epoch begins. */
class Lane {
  constructor(turnings) {
    this.from = [0];
    this.lengths = [[]];
    this.added = [[]];
    const told = [{ r: [] }];
    this.began = turnings.length ? turnings[0][0] : 0;
    for (const [point, turning] of turnings) {
      if ("=" in turning) {
        told.push(turning["="]);
        this.from.push(point);
        this.added.push([]);
        this.lengths.push([]);
      } else {
        const epoch = this.added.length - 1;
        for (const number of expanded(turning["+"])) this.added[epoch].push(number);
        this.lengths[epoch].push([point, this.added[epoch].length]);
      }
    }
    this.chain = new Chain(told, (n, list) => list.concat(this.added[n]));
  }

  /** The numbers of its messages after this input. */
  at(point) {
    const epoch = last(this.from, (from) => from <= point);
    const whole = this.chain.get(epoch);
    const base = whole.length - this.added[epoch].length;
    const lengths = this.lengths[epoch];
    const place = last(lengths, ([from]) => from <= point);
    const length = base + (place < 0 ? 0 : lengths[place][1]);
    return length === whole.length ? whole : whole.slice(0, length);
  }
}

/** The last place of a sorted list at which this holds; -1 if it holds nowhere. */
function last(list, holds) {
  let low = -1, high = list.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) low = middle;
    else high = middle;
  }
  return low;
}

const STRIDE = 128;

class Past {
  constructor(side) {
    this.side = side;
    this.points = side.points;
    this.end = side.points.length - 1;
    this.messages = side.messages;
    this.lanes = new Map(side.lanes.map(([run, turnings]) => [run, new Lane(turnings)]));
    this.chains = side.chains.map((told) => new Chain(told));
    this.stands = new Map();
  }

  /** Where the run stands after this input. */
  stand(point) {
    if (this.newest && this.newest[0] === point) return this.newest[1];
    let first = point - (point % STRIDE);
    while (first > 0 && !this.stands.has(first)) first -= STRIDE;
    if (this.newest && this.newest[0] < point && this.newest[0] > first) first = this.newest[0];
    let stand = this.stands.get(first) ?? (this.newest && this.newest[0] === first ? this.newest[1] : null);
    if (!stand) stand = changed({ o: [] }, this.points[first].change);
    for (let n = first + 1; n <= point; n++) {
      stand = changed(stand, this.points[n].change);
      if (n % STRIDE === 0) this.stands.set(n, stand);
    }
    if (point % STRIDE === 0) this.stands.set(point, stand);
    this.newest = [point, stand];
    return stand;
  }

  transcript(run, point) {
    const lane = this.lanes.get(run);
    return lane ? lane.at(point) : [];
  }

  /** The newest request of this run's turns, up to and with this input. */
  request(run, point) {
    const requests = this.side.requests;
    let place = last(requests, (request) => request.at <= point);
    while (place >= 0 && !(requests[place].run === run && requests[place].own)) place--;
    return place < 0 ? null : requests[place];
  }

  /** What each hook of a request passed on: [hook, numbers]. */
  passed(request) {
    return request.passed.map(([hook, chain, place]) => [hook, this.chains[chain].get(place)]);
  }

  root(number) {
    let message = this.messages[number];
    while (message.of !== undefined) {
      number = message.of;
      message = this.messages[number];
    }
    return number;
  }

  /** The hooks that made this variant, the first one first. */
  writers(number) {
    const found = [];
    for (let m = this.messages[number]; m && m.by !== undefined; m = this.messages[m.of]) found.unshift(m.by);
    return found;
  }

  /** What became of each stored message in a request: a map by number, and what was added. */
  marks(request) {
    const stored = this.transcript(request.run, request.at);
    const passed = this.passed(request);
    const final = passed.length ? passed[passed.length - 1][1] : stored;
    const shown = new Map(final.map((number) => [this.root(number), number]));
    const kept = passed.map(([hook, numbers]) => [hook, new Set(numbers.map((n) => this.root(n)))]);
    const marks = new Map();
    for (const number of stored) {
      const found = shown.get(number);
      if (found === undefined) marks.set(number, { fate: "left out", by: [kept.find(([, roots]) => !roots.has(number))[0]] });
      else if (found === number) marks.set(number, { fate: "shown", by: [] });
      else marks.set(number, { fate: "rewritten", by: this.writers(found), as: found });
    }
    return { marks, stored, final };
  }

  /** The point at which a turn of the newest run ended, and those around it. */
  turnAfter(point) {
    const found = this.side.turns.find((turn) => turn[0] > point);
    return found ? found[0] : this.end;
  }

  turnBefore(point) {
    const turns = this.side.turns;
    const place = last(turns, (turn) => turn[0] < point);
    return place < 0 ? 0 : turns[place][0];
  }
}
