// The panels beside the transcript: all that there is to see at one point.

const open = { input: true, hooks: true, effects: true, waiting: true, shown: true, memory: true, usage: true, diff: false, other: true };

/** A panel that can be folded away; `body` is only made when it is open. */
function panel(id, name, count, body, redraw) {
  const toggle = () => {
    open[id] = !open[id];
    redraw();
    document.querySelector(`#panel-${id} button`).focus();
  };
  const said = count === "" ? null : make("span", { class: "count" }, ` ${count}`);
  const button = make("button", { type: "button", "aria-expanded": String(open[id]), click: toggle }, name, said);
  const box = make("section", { class: "panel", id: `panel-${id}`, "aria-label": name }, make("h2", {}, button));
  if (open[id]) box.append(make("div", { class: "body" }, ...body()));
  return box;
}

function clock(at) {
  if (at === null || at === undefined) return "";
  return at > 1e8 ? new Date(at * 1000).toLocaleString() : `${at} s`;
}

/** What happened. */
function inputBody(past, point) {
  const told = past.points[point], input = told.input;
  if (!input) return [make("p", {}, "Here the record begins. Nothing has happened yet.")];
  const divergence = past.side.divergence, found = [];
  found.push(make("p", {}, make("b", {}, input.kind), " ", visible(textOf(input.words))));
  if (input.at !== null) found.push(make("p", { class: "dim" }, clock(input.at)));
  if (divergence && divergence.number === point) found.push(divergenceBody(divergence));
  if (told.recorded) found.push(...recordedBody(told.recorded));
  found.push(...wholeOf(past, input.whole));
  return found;
}

/** The fields of an input; messages in it as cards. */
function wholeOf(past, told) {
  const found = [], fields = make("div", { class: "fields" });
  const tell = (key, value) => {
    if (isMessage(value)) found.push(card(past, value.m));
    else if (isObject(value) && value.r === "ToolOutput") found.push(outputOf(value));
    else if (Array.isArray(value) && value.length && value.every(isMessage)) found.push(...value.map((one) => card(past, one.m)));
    else fields.append(make("span", {}, visible(key)), make("span", { class: "value" }, visible(spelled(value))));
  };
  for (const [key, value] of members(told)) tell(key, value);
  return [fields, ...found];
}

/** What a tool gave: its texts as texts, and its other fields. */
function outputOf(told) {
  const box = make("div", { class: "card result" }), fields = make("div", { class: "fields" });
  const part = (one) => (one.r === "Text" ? block(member(one, "text"), "output") : make("div", { class: "value" }, visible(spelled(one))));
  for (const [key, value] of members(told)) {
    if (key === "content") box.append(...value.map(part));
    else fields.append(make("span", {}, visible(key)), make("span", { class: "value" }, visible(spelled(value))));
  }
  box.append(fields);
  return box;
}

function isMessage(told) {
  return told !== null && typeof told === "object" && "m" in told;
}

function divergenceBody(told) {
  const who = told.hook ? make("p", {}, "written by ", hookChip(told.hook, told.point), ` ${told.point}`) : null;
  const pair = make("div", { class: "fields" }, make("span", {}, "recorded"), make("span", { class: "value old" }, visible(spelled(told.recorded))), make("span", {}, "now"), make("span", { class: "value now" }, visible(spelled(told.now))));
  return make("div", { class: "was" }, make("p", {}, chip("diverged", "bad"), " ", visible(textOf(told.what))), pair, who);
}

/** Of a point after a divergence: what the record says. */
function recordedBody(told) {
  const said = [make("p", { class: "dim" }, "The run goes another way before this, so that only what was recorded is known of it.")];
  const line = (name, items) => items.length && said.push(make("p", {}, make("span", { class: "dim" }, `${name} `), visible(items.join(", "))));
  line("asked", told.ask.map(textOf));
  line("cancelled", told.cancel);
  line("hooks wrote", told.wrote.map(([hook, point]) => `${textOf(hook)} at ${textOf(point)}`));
  return said;
}

/** Who wrote what, field by field, and who was asked and had nothing to say. */
function hooksBody(past, point) {
  const told = past.points[point], found = [], calls = callsAt(past, point);
  for (const [hook, where, place, fields, run] of told.hooks ?? []) {
    const about = place >= 0 ? ` call ${place}${calls[place] ? ` ${calls[place]}` : ""}` : "";
    const nested = run ? make("span", { class: "dim" }, ` in ${visible(run)}`) : null;
    const box = make("div", {}, make("p", {}, hookChip(hook), ` ${where}`, make("span", { class: "dim" }, visible(about)), nested));
    box.append(fieldsOf(past, fields));
    found.push(box);
  }
  const silent = [...new Set((told.silent ?? []).map((n) => data.values[n].map(textOf).join(" at ")))];
  if (silent.length) found.push(make("p", { class: "dim" }, "asked, and wrote nothing: ", visible(silent.join(", "))));
  if (!found.length) found.push(make("p", { class: "dim" }, "No hook was asked."));
  return found;
}

/** The names of the calls that the newest reply asked for, by their places. */
function callsAt(past, point) {
  const numbers = past.transcript(past.side.run, point);
  for (let n = numbers.length - 1; n >= 0; n--) {
    const message = past.messages[numbers[n]];
    if (message.k === "assistant") return (message.p ?? []).filter((part) => "call" in part).map((part) => textOf(part.call));
  }
  return [];
}

function fieldsOf(past, fields) {
  const box = make("div", { class: "fields" });
  for (let n = 0; n < fields.length; n += 2) {
    const value = fields[n + 1];
    box.append(make("span", {}, fields[n]));
    if (fields[n] === "memo") box.append(make("span", { class: "dim" }, "see memory"));
    else if (value !== null && typeof value === "object" && "said" in value) box.append(make("span", {}, value.said));
    else if (value !== null && typeof value === "object" && "parts" in value) box.append(make("div", {}, ...value.parts.map((part) => partOf(part, "content"))));
    else if (isMessage(value)) box.append(card(past, value.m));
    else if (Array.isArray(value) && value.length && value.every(isMessage)) box.append(make("div", {}, ...value.map((one) => card(past, one.m))));
    else box.append(make("span", { class: "value" }, visible(spelled(value))));
  }
  return box;
}

/** What was asked and what was cancelled. */
function effectsBody(past, point) {
  const told = past.points[point], list = make("ul", {});
  const started = new Set(told.started ?? []);
  for (const [id, words, request, whole] of told.ask ?? []) {
    const line = make("li", {}, "→ ", make("b", { class: "mono" }, visible(id)), " ", visible(textOf(words)));
    if (started.has(id)) line.append(" ", chip("noted as started", "quiet"));
    if (whole && isObject(whole)) {
      const fields = members(whole).filter(([key]) => key === "arguments" || key === "question" || key === "data");
      for (const [key, value] of fields) line.append(make("div", { class: "fields" }, make("span", {}, key), make("span", { class: "value" }, visible(spelled(value)))));
    }
    list.append(line);
  }
  for (const id of told.cancel ?? []) list.append(make("li", { class: "old" }, `✕ ${visible(id)} cancelled`));
  return list.children.length ? [list] : [make("p", { class: "dim" }, "Nothing was asked or cancelled.")];
}

/** What waits, in this run and the runs in it. */
function waitingOf(stand) {
  const own = members(member(stand, "waiting") ?? { o: [] });
  const inner = members(member(stand, "nested") ?? { o: [] });
  return [...inner.flatMap(([, child]) => waitingOf(child)), ...own];
}

function waitingBody(stand) {
  const waiting = waitingOf(stand), list = make("ul", {});
  for (const [id, words] of waiting) list.append(make("li", {}, make("b", { class: "mono" }, visible(id)), " ", visible(textOf(words))));
  const queued = members(member(stand, "queued"));
  for (const [name, texts] of queued) for (const text of texts) list.append(make("li", {}, chip(`queued: ${name}`, "quiet"), " ", block(text, name)));
  return list.children.length ? [list] : [make("p", { class: "dim" }, "Nothing waits.")];
}

/** What the newest request said besides its messages, and who chose that. */
function shownBody(past, request) {
  if (!request) return [make("p", { class: "dim" }, "No model was asked yet.")];
  const by = new Map(members(request.by)), box = make("div", { class: "fields" });
  const tools = data.values[request.tools].map((spec) => textOf(member(spec, "name")));
  const rows = [["model", request.model], ["system", request.system], ["tools", tools.join(", ") || "none"], ["thinking", request.thinking], ["options", data.values[request.options]], ["output", data.values[request.output]]];
  for (const [name, value] of rows) {
    if (value === null || value === "" || (isObject(value) && !value.o.length)) continue;
    const shown = name === "system" ? block(value, "system prompt") : make("span", { class: "value" }, visible(typeof value === "string" ? value : spelled(value)));
    const hook = by.get(name);
    box.append(make("span", {}, name), make("div", {}, shown, hook ? hookChip(textOf(hook), "chose it") : null));
  }
  return [make("p", {}, make("b", { class: "mono" }, visible(request.id)), ` asked at input ${request.at}`), box];
}

/** In a sentence, what became of the stored messages. */
function sumOf(past, { marks, stored, final }) {
  const counts = new Map(), add = (key) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const mark of marks.values()) if (mark.fate !== "shown") add(`${mark.fate} by ${mark.by.map((hook) => hook || "?").join(", ")}`);
  const known = new Set(stored);
  for (const number of final) if (!known.has(past.root(number))) add(`added by ${past.writers(number).join(", ") || "?"}`);
  return [`${final.length} shown of ${stored.length} stored`, ...[...counts].map(([what, count]) => `${count} ${what}`)].join(" · ");
}

/** What each hook remembers. */
function memoryBody(stand, before) {
  const memory = members(member(stand, "memory")), list = make("div", { class: "fields" });
  const old = before ? new Map(members(member(before, "memory"))) : new Map();
  for (const [hook, value] of memory) {
    const fresh = before && !same(old.get(hook), value);
    list.append(make("div", {}, hookChip(hook)), make("span", { class: "value" }, fresh ? chip("new", "quiet") : null, fresh ? " " : null, visible(spelled(value))));
  }
  return memory.length ? [list] : [make("p", { class: "dim" }, "No hook remembers anything.")];
}

/** Differences, as lines of old and new. */
function diffBody(found, none) {
  if (!found.length) return [make("p", { class: "dim" }, none)];
  const list = make("ul", { class: "diff" });
  for (const [path, old, now] of found) {
    const line = make("li", {}, make("span", { class: "mono" }, visible(path.join(" › "))), " ");
    if (old !== undefined) line.append(make("span", { class: "value old" }, visible(spelled(old))), " ");
    if (now !== undefined) line.append(make("span", { class: "value now" }, visible(spelled(now))));
    list.append(line);
  }
  return [list];
}
