// The page: where it stands, what it shows of that, and which keys it heeds.

const one = new Past(data.sides[0]);
const other = data.sides.length > 1 ? new Past(data.sides[1]) : null;
const the = (id) => document.getElementById(id);
const view = { at: -1, run: one.side.run, what: "all", find: "", hit: -1 };

let rows = [], stored = null, request = null, hits = [];
const list = new Rows(the("rows"), drawn, (n) => keyOf(rows[n]));

/** Which point of the other run stands beside this one: inputs are counted over forks. */
function beside(point) {
  const taken = one.side.taken + point - other.side.taken;
  return Math.max(0, Math.min(other.end, taken));
}

function keyOf(row) {
  if (row.gap) return `gap ${row.gap}`;
  return `${view.what} ${row.left ?? "-"} ${row.right ?? "-"} ${row.mark ? row.mark.fate : ""}`;
}

function drawn(n) {
  const row = rows[n];
  if (row.gap) return make("div", { class: "row" }, make("span", {}), make("div", { class: "gap" }, visible(row.gap)));
  const hit = hits.length && hits[view.hit] === n;
  const place = make("span", { class: "place" }, row.place === undefined ? "" : String(row.place + 1));
  const left = row.left === null ? make("div", { class: "card none" }) : card(one, row.left, { ...row, hit });
  if (view.what !== "both") return make("div", { class: "row" }, place, row.was === undefined ? left : make("div", {}, left, wasOf(row)));
  const right = row.right === null ? make("div", { class: "card none" }) : card(other, row.right, { ...row, fresh: false });
  return make("div", { class: "row pair" }, place, left, right);
}

function wasOf(row) {
  return make("div", { class: "was" }, make("span", { class: "dim" }, "stored as: "), ...(one.messages[row.was].p ?? []).map((part) => partOf(part, "stored")));
}

/** The rows for where the page stands. */
function listRows() {
  const now = one.transcript(view.run, view.at);
  const before = view.at ? new Set(one.transcript(view.run, view.at - 1)) : new Set();
  request = one.request(view.run, view.at);
  stored = request && one.marks(request);
  if (view.what === "both") return bothRows(now, before);
  if (view.what === "shown") return request ? shownRows() : [];
  return now.map((left, place) => ({ left, place, mark: stored && stored.marks.get(left), fresh: view.at > 0 && !before.has(left) }));
}

function bothRows(now, before) {
  const there = other.transcript(other.side.run, beside(view.at));
  let place = 0;
  return aligned(now, there, one, other).map(([left, right]) => ({
    left, right,
    place: left === null ? undefined : place++,
    fresh: left !== null && view.at > 0 && !before.has(left),
    differs: left === null || right === null || one.messages[left].same !== other.messages[right].same,
  }));
}

/** What a request shows, with what it leaves out between. */
function shownRows() {
  const found = [], places = new Map(stored.stored.map((number, place) => [number, place]));
  let next = 0;
  const gap = (end) => {
    const left = stored.stored.slice(next, end).map((n) => stored.marks.get(n)).filter((mark) => mark.fate === "left out");
    const by = [...new Set(left.flatMap((mark) => mark.by))];
    if (left.length) found.push({ gap: `${counted(left.length, "message")} left out by ${by.map((hook) => hook || "?").join(", ")}` });
  };
  for (const left of stored.final) {
    const root = one.root(left), place = places.get(root);
    if (place !== undefined && place >= next) {
      gap(place);
      next = place + 1;
    }
    const by = one.writers(left);
    const fate = place === undefined ? "added" : root === left ? "shown" : "rewritten";
    found.push({ left, place, mark: { fate, by }, was: fate === "rewritten" ? root : undefined });
  }
  gap(stored.stored.length);
  return found;
}

/** Go to this input. */
function go(point, { quiet } = {}) {
  point = Math.max(0, Math.min(one.end, Math.round(Number(point)) || 0));
  if (point === view.at && !quiet) return;
  const moved = point !== view.at;
  view.at = point;
  redraw(moved);
  if (moved) history.replaceState(null, "", `#${point}`);
}

function redraw(moved = false) {
  const input = one.points[view.at].input, stand = one.stand(view.at);
  const said = input ? textOf(input.words) : "the beginning";
  the("slider").value = String(view.at);
  the("slider").setAttribute("aria-valuetext", `${view.at} of ${one.end}: ${visible(said)}`);
  const turn = `turn ${member(stand, "turn")} · ${textOf(member(stand, "phase"))}`;
  const place = make("b", {}, `input ${view.at.toLocaleString("en")} of ${one.end.toLocaleString("en")}`);
  the("where").replaceChildren(place, ` · ${visible(said)} · ${turn}${input && input.at !== null ? ` · ${clock(input.at)}` : ""}`);
  the("back").disabled = view.at === 0;
  the("on").disabled = view.at === one.end;
  if (moved) the("live").textContent = `input ${view.at} of ${one.end}: ${visible(said)}`;
  rows = listRows();
  if (view.find) search(false);
  for (const [what, button] of Object.entries(VIEWS)) the(button).setAttribute("aria-pressed", String(view.what === what));
  the("sum").textContent = visible(summary());
  list.set(rows.length, (n) => guess(rows[n]));
  if (moved) list.show(hits.length ? hits[view.hit] : rows.length - 1);
  drawPanels(stand);
  document.documentElement.dataset.at = String(view.at);
  document.documentElement.dataset.rows = String(rows.length);
}

const VIEWS = { all: "view-all", shown: "view-shown", both: "view-both" };

function summary() {
  if (view.what === "both") {
    const differ = rows.filter((row) => row.differs).length;
    return `left: ${one.side.run} · right: ${other.side.run} at its input ${beside(view.at)} of ${other.end} · ${counted(differ, "message")} of ${rows.length} not the same`;
  }
  if (!request) return view.what === "shown" ? "No model was asked yet." : "";
  return `request ${request.id}: ${sumOf(one, stored)}`;
}

function guess(row) {
  if (row.gap) return 34;
  const columns = Math.max(20, (list.width - 120) / (view.what === "both" ? 16 : 8));
  const sides = [[one, row.left], [other, row.right]].filter(([past, n]) => past && n !== null && n !== undefined);
  return Math.max(...sides.map(([past, n]) => guessed(past, n, columns)));
}

function drawPanels(stand) {
  const at = view.at, told = one.points[at], before = at ? one.stand(at - 1) : null;
  const differ = before ? differences(before, stand) : [];
  const again = () => redraw();
  const memory = members(member(stand, "memory"));
  const panels = [
    panel("input", at ? `Input ${at}` : "Beginning", "", () => inputBody(one, at), again),
    panel("hooks", "Hooks", counted((told.hooks ?? []).length, "update"), () => hooksBody(one, at), again),
    panel("effects", "Effects", `${(told.ask ?? []).length} asked, ${(told.cancel ?? []).length} cancelled`, () => effectsBody(one, at), again),
    panel("waiting", "Waiting", String(waitingOf(stand).length), () => waitingBody(stand), again),
    panel("diff", "Changed by this input", counted(differ.length, "field"), () => diffBody(differ, "Nothing that a state tells."), again),
    panel("shown", "Newest request", "", () => shownBody(one, request), again),
    panel("memory", "Memory", counted(memory.length, "hook"), () => memoryBody(stand, before), again),
    panel("usage", "Usage", usageSaid(stand), () => [usageChart(one, at, go)], again),
  ];
  if (other) panels.splice(1, 0, otherPanel(stand, again));
  the("panels").replaceChildren(...panels);
}

function otherPanel(stand, again) {
  const found = differences(stand, other.stand(beside(view.at)));
  const name = `Otherwise in ${visible(other.side.run)}`;
  return panel("other", name, counted(found.length, "field"), () => diffBody(found, "Both stand the same."), again);
}

function usageSaid(stand) {
  const usage = new Map(members(member(stand, "usage")));
  const number = (name) => (typeof usage.get(name) === "number" ? usage.get(name) : Number(spelled(usage.get(name) ?? 0)));
  const cost = usage.get("cost") === null ? "" : `, cost ${number("cost")}`;
  return `${(number("input") + number("cache read") + number("cache write")).toLocaleString("en")} in, ${number("output").toLocaleString("en")} out so far${cost}`;
}

/** Look for a text in what is listed; the rows that have it are `hits`. */
function search(scroll) {
  const wanted = view.find.toLowerCase();
  hits = wanted ? [...rows.keys()].filter((n) => [[one, rows[n].left], [other, rows[n].right]].some(([past, m]) => past && typeof m === "number" && saidBy(past, m).includes(wanted))) : [];
  view.hit = Math.min(Math.max(view.hit, 0), hits.length - 1);
  the("found").textContent = wanted ? `${hits.length ? view.hit + 1 : 0} of ${hits.length}` : "";
  if (scroll) {
    list.set(rows.length, (n) => guess(rows[n]));
    if (hits.length) list.show(hits[view.hit]);
  }
}

const lower = new Map();

/** All that a message says, in small letters. */
function saidBy(past, number) {
  const key = `${past === one ? 0 : 1} ${number}`;
  if (!lower.has(key)) {
    const parts = (past.messages[number].p ?? []).map((part) => ("call" in part ? `${textOf(part.call)} ${spelled(part.arguments)}` : "image" in part ? "" : textOf(part.text ?? part.thinking)));
    lower.set(key, parts.join("\n").toLowerCase());
  }
  return lower.get(key);
}

function nextHit(by) {
  if (!hits.length) return;
  view.hit = (view.hit + by + hits.length) % hits.length;
  search(true);
}

function show(what) {
  if (what === "both" && !other) return;
  view.what = view.what === what ? "all" : what;
  redraw();
  list.show(rows.length - 1);
}

function fold(id) {
  open[id] = !open[id];
  redraw();
  if (open[id]) the(`panel-${id}`).scrollIntoView({ block: "nearest" });
}

const KEYS = [
  ["ArrowLeft", "← →", "the input before, the next one", () => go(view.at - 1)],
  ["ArrowRight", null, null, () => go(view.at + 1)],
  ["t", "t T", "the end of the next turn, of the one before", () => go(one.turnAfter(view.at))],
  ["T", null, null, () => go(one.turnBefore(view.at))],
  ["Home", "Home End", "the beginning, the last input", () => go(0)],
  ["End", null, null, () => go(one.end)],
  ["h", "h", "hooks: who wrote what", () => fold("hooks")],
  ["d", "d", "what this input changed", () => fold("diff")],
  ["s", "s", "what the model was shown", () => show("shown")],
  ["o", "o", "the other run beside this one", () => show("both")],
  ["/", "/", "find a text in the messages", () => the("find").focus()],
  ["n", "n N", "the next message that has it, the one before", () => nextHit(1)],
  ["N", null, null, () => nextHit(-1)],
  ["?", "?", "these keys", () => help()],
];

function help() {
  const keys = KEYS.filter(([, named]) => named && (other || named !== "o"));
  const lines = keys.map(([, named, said]) => make("tr", {}, make("td", {}, make("kbd", {}, named)), make("td", {}, said)));
  const close = make("button", { type: "button", click: () => the("help").close() }, "Close");
  the("help").replaceChildren(make("h2", { id: "help-name" }, "Keys"), make("table", {}, ...lines), close);
  the("help").showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input[type=search], select");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const found = KEYS.find(([key]) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found[3]();
});

let wanted = null;
the("slider").addEventListener("input", (event) => {
  if (wanted === null) requestAnimationFrame(() => { const point = wanted; wanted = null; go(point); });
  wanted = event.target.value;
});
the("track").addEventListener("wheel", (event) => {
  event.preventDefault();
  go(view.at + Math.sign(event.deltaY || event.deltaX));
}, { passive: false });
the("back").addEventListener("click", () => go(view.at - 1));
the("on").addEventListener("click", () => go(view.at + 1));
the("ask-help").addEventListener("click", help);
the("view-all").addEventListener("click", () => view.what !== "all" && show("all"));
the("view-shown").addEventListener("click", () => show("shown"));
the("view-both").addEventListener("click", () => show("both"));
the("find").addEventListener("input", (event) => { view.find = event.target.value; view.hit = 0; search(true); });
the("find").addEventListener("keydown", (event) => { if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1); });
the("run").addEventListener("change", (event) => { view.run = event.target.value; redraw(); list.show(rows.length - 1); });
window.addEventListener("hashchange", () => go(location.hash.slice(1)));

/** What does not change from point to point. */
function begin() {
  const end = one.stand(one.end), stop = textOf(member(end, "stop"));
  the("title").textContent = visible(one.side.run);
  const facts = [counted(one.end, "input"), counted(one.side.turns.length, "turn"), stop ?? textOf(member(end, "phase")), one.side.file];
  the("facts").textContent = visible(facts.filter(Boolean).join(" · "));
  the("slider").max = String(one.end);
  if (one.side.divergence) {
    the("divergence").hidden = false;
    the("divergence").append(make("b", {}, "This record does not replay. "), visible(textOf(one.side.divergence.words)));
  }
  for (const run of one.lanes.keys()) the("run").append(make("option", { value: run }, visible(run)));
  the("runs").hidden = one.lanes.size < 2;
  the("view-both").hidden = !other;
  if (other) view.what = "both";
  strip(one);
  for (const point of one.points) for (const [hook] of point.hooks ?? []) hookChip(hook);  // their colours are told apart in order
  const asked = location.hash.slice(1);
  go(asked === "" ? data.at ?? one.end : asked, { quiet: true });
}

begin();
