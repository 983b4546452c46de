// Two transcripts beside each other: what both have, and what only one has.

const MOST_EDITS = 1500;

/** Rows of [left, right] numbers, null for what the other side has not. */
function aligned(left, right, a, b) {
  const one = left.map((n) => a.messages[n].same), two = right.map((n) => b.messages[n].same);
  let first = 0, end = 0;
  while (first < one.length && first < two.length && one[first] === two[first]) first++;
  const most = Math.min(one.length, two.length) - first;
  while (end < most && one[one.length - 1 - end] === two[two.length - 1 - end]) end++;
  const pairs = matches(one.slice(first, one.length - end), two.slice(first, two.length - end));
  const rows = [];
  for (let n = 0; n < first; n++) rows.push([left[n], right[n]]);
  let x = first, y = first;
  for (const [i, j] of [...pairs, [one.length - end - first, two.length - end - first]]) {
    between(rows, left.slice(x, first + i), right.slice(y, first + j), a, b);
    x = first + i;
    y = first + j;
    if (x < one.length - end && y < two.length - end) rows.push([left[x++], right[y++]]);
  }
  for (let n = end; n > 0; n--) rows.push([left[left.length - n], right[right.length - n]]);
  return rows;
}

/** What differs: messages of one kind stand beside each other, in their order. */
function between(rows, left, right, a, b) {
  let x = 0, y = 0;
  while (x < left.length || y < right.length) {
    const both = x < left.length && y < right.length;
    if (both && a.messages[left[x]].k === b.messages[right[y]].k) rows.push([left[x++], right[y++]]);
    else if (x < left.length && (!both || left.length - x >= right.length - y)) rows.push([left[x++], null]);
    else rows.push([null, right[y++]]);
  }
}

/** Places at which two lists have the same, by the fewest edits (Myers); none if they are too many. */
function matches(one, two) {
  const steps = [];
  let ends = new Map([[1, 0]]);
  const most = Math.min(MOST_EDITS, one.length + two.length);
  for (let edits = 0; edits <= most; edits++) {
    steps.push(new Map(ends));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));
      let x = down ? ends.get(k + 1) : ends.get(k - 1) + 1;
      let y = x - k;
      while (x < one.length && y < two.length && one[x] === two[y]) x++, y++;
      ends.set(k, x);
      if (x >= one.length && y >= two.length) return traced(steps, one.length, two.length);
    }
  }
  return [];
}

function traced(steps, x, y) {
  const found = [];
  for (let edits = steps.length - 1; edits >= 0; edits--) {
    const ends = steps[edits], k = x - y;
    const down = k === -edits || (k !== edits && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const before = edits ? ends.get(from) : 0;
    const y0 = edits ? before - from : 0;
    const x1 = edits ? (down ? before : before + 1) : 0, y1 = edits ? (down ? y0 + 1 : y0) : 0;
    while (x > x1 && y > y1) found.push([--x, --y]);
    x = before;
    y = y0;
  }
  return found.reverse();
}
