// Values: what the page's data says, read. Every object in it is one of ours.

const data = JSON.parse(document.getElementById("data").textContent);

/** A text, wherever it is told. */
function textOf(told) {
  return told !== null && typeof told === "object" && "$" in told ? data.texts[told.$] : told;
}

/** Whether two told values are the same. Long texts are told by number, so this is quick. */
function same(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The members of a told object, in their order: [key, value] pairs. */
function members(told) {
  const found = [];
  for (let n = 0; n < told.o.length; n += 2) found.push([textOf(told.o[n]), told.o[n + 1]]);
  return found;
}

function isObject(told) {
  return told !== null && typeof told === "object" && "o" in told;
}

/** The member of this key; undefined if there is none. */
function member(told, key) {
  const found = members(told).find(([name]) => name === key);
  return found && found[1];
}

/** A value as it was changed: see changes.py for the form of a change. */
function changed(old, change) {
  if (!change) return old;
  if ("=" in change) return change["="];
  if ("l" in change) {
    const [ahead, behind, items] = change.l;
    return [...old.slice(0, ahead), ...items, ...old.slice(old.length - behind)];
  }
  const pairs = new Map(members(old));
  for (let n = 0; n < change.d.length; n += 2) {
    const key = textOf(change.d[n]);
    if (change.d[n + 1] === null) pairs.delete(key);
    else pairs.set(key, changed(pairs.get(key), change.d[n + 1]));
  }
  const o = [];
  for (const [key, value] of pairs) o.push(key, value);
  return { ...old, o };
}

/** What differs between two values: [path, old, new], undefined for what is not there. */
function differences(old, now, path = [], found = []) {
  if (same(old, now)) return found;
  if (!isObject(old) || !isObject(now)) {
    found.push([path, old, now]);
    return found;
  }
  const before = new Map(members(old)), after = new Map(members(now));
  for (const key of new Set([...before.keys(), ...after.keys()]))
    differences(before.get(key), after.get(key), [...path, key], found);
  return found;
}

const CUT = 400;

/** A value in words, much as JSON writes it. */
function spelled(told, depth = 0) {
  if (told === null || typeof told === "boolean" || typeof told === "number") return String(told);
  if (typeof told === "string" || "$" in told) return quoted(textOf(told));
  if ("#" in told) return told["#"];
  if ("m" in told) return `message ${told.m}`;
  if (Array.isArray(told)) return enclosed("[", told.map((item) => spelled(item, depth + 1)), "]", depth);
  const said = members(told).map(([key, value]) => `${key}: ${spelled(value, depth + 1)}`);
  return (told.r ? `${told.r} ` : "") + enclosed("{", said, "}", depth);
}

function enclosed(open, items, close, depth) {
  const line = items.join(", ");
  if (line.length < 80 && !line.includes("\n")) return `${open}${line}${close}`;
  const margin = "  ".repeat(depth + 1);
  const shown = items.slice(0, 200).map((item) => margin + item);
  if (items.length > 200) shown.push(`${margin}… ${counted(items.length - 200, "more")}`);
  return `${open}\n${shown.join("\n")}\n${"  ".repeat(depth)}${close}`;
}

function quoted(text) {
  const cut = text.length > CUT ? `… ${(text.length - CUT).toLocaleString("en")} more` : "";
  return JSON.stringify(text.slice(0, CUT)) + cut;
}

function counted(number, noun) {
  const many = number === 1 || noun === "more" ? "" : "s";
  return `${number.toLocaleString("en")} ${noun}${many}`;
}
