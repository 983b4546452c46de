// Drawing: elements, texts from outside, and messages. Nothing is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";
const LONG = 1600, LINES = 24;

/** An element. Attributes are set, children are elements or texts. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text with what cannot be seen, or turns the reading direction, made visible. */
function visible(text) {
  return text.replace(HIDDEN, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** How much of a text is shown at once: so many characters, and so many lines. */
function beginning(text) {
  let end = Math.min(text.length, LONG), lines = 0;
  for (let n = text.indexOf("\n"); n >= 0 && n < end; n = text.indexOf("\n", n + 1))
    if (++lines === LINES) end = n;
  const high = text.charCodeAt(end - 1);
  return end < text.length && high >= 0xd800 && high < 0xdc00 ? end - 1 : end;
}

/** A text of any length; of a long one the beginning, and a way to read on. */
function block(told, name, kind = "text") {
  const text = textOf(told), end = beginning(text);
  const shown = make("div", { class: kind, dir: "auto" }, visible(text.slice(0, end)));
  if (end === text.length) return shown;
  const said = `Read all ${text.length.toLocaleString("en")} characters`;
  const more = make("button", { type: "button", class: "more", click: () => read(name, text) }, said);
  return make("div", {}, shown, more);
}

const PAGE = 20000;

/** A long text, a page of it at a time. */
function read(name, text) {
  const dialog = document.getElementById("reader");
  const pages = Math.max(1, Math.ceil(text.length / PAGE));
  let page = 0;
  const body = make("div", { class: "text", dir: "auto", tabindex: "0" });
  const where = make("span", { class: "dim" });
  const turn = (by) => {
    page = Math.max(0, Math.min(pages - 1, page + by));
    body.textContent = visible(text.slice(page * PAGE, (page + 1) * PAGE));
    body.scrollTop = 0;
    where.textContent = ` page ${page + 1} of ${pages} `;
  };
  const close = make("button", { type: "button", click: () => dialog.close() }, "Close");
  const back = make("button", { type: "button", click: () => turn(-1) }, "Back");
  const on = make("button", { type: "button", click: () => turn(1) }, "On");
  dialog.replaceChildren(make("h2", { id: "reader-name" }, visible(name)), body, back, where, on, " ", close);
  turn(0);
  dialog.showModal();
}

const hues = new Map();

/** A hook's name, always in the same colour. */
function hookChip(name, title) {
  if (!hues.has(name)) hues.set(name, hues.size % 8);
  return make("span", { class: `chip hue-${hues.get(name)}`, title }, visible(name || "?"));
}

function chip(text, kind) {
  return make("span", { class: `chip ${kind}` }, visible(text));
}

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function picture(part) {
  const mime = textOf(part.mime), bytes = textOf(part.image);
  const said = `${mime}, ${bytes.length.toLocaleString("en")} characters of base64`;
  if (!PICTURES.has(mime) || !/^[A-Za-z0-9+/=\s]*$/.test(bytes)) return make("p", { class: "dim" }, visible(`picture: ${said}`));
  return make("img", { src: `data:${mime};base64,${bytes}`, alt: said, loading: "lazy" });
}

/** One part of a message. */
function partOf(part, name) {
  if ("text" in part) return block(part.text, name);
  if ("thinking" in part) return block(part.redacted ? "[redacted thinking]" : part.thinking, name, "text thought");
  if ("image" in part) return picture(part);
  return callOf(part, name);
}

function callOf(part, name) {
  const said = members(part.arguments).map(([key, value]) => ` ${key}=${spelled(value)}`).join("");
  const call = make("div", { class: "call mono", dir: "auto" }, make("b", {}, visible(textOf(part.call))), visible(said));
  if (!part.malformed) return call;
  const raw = make("div", {}, chip("malformed", "bad"), ` ${visible(textOf(part.malformed))}`, block(part.raw, name, "text mono"));
  return make("div", {}, call, raw);
}

const NAMES = { user: "user", assistant: "assistant", result: "result", system: "system", custom: "custom" };

/** A message as a card. `mark` says what became of it in a request. */
function card(past, number, { mark, fresh, hit, differs } = {}) {
  const message = past.messages[number];
  const name = `message: ${NAMES[message.k]}`;
  const bad = message.error || (message.outcome && message.outcome !== "ok");
  const classes = ["card", message.k, bad && "bad", fresh && "fresh", hit && "hit", differs && "differs"];
  if (mark && mark.fate === "left out") classes.push("left-out");
  const box = make("div", { class: classes.filter(Boolean).join(" "), "data-message": number }, heading(past, message, mark, fresh));
  for (const part of message.p ?? []) box.append(partOf(part, name));
  if (message.error) box.append(make("div", { class: "value old" }, visible(spelled(message.error))));
  if (message.data !== undefined) box.append(make("div", { class: "value" }, visible(spelled(message.data))));
  if (message.details !== undefined) box.append(make("div", { class: "value dim" }, "details ", visible(spelled(message.details))));
  const before = earlier(past, message);
  if (before) box.append(before);
  return box;
}

/** Who says it, how it ended, and which hooks had a hand in it. */
function heading(past, message, mark, fresh) {
  const who = make("div", { class: "who" }, make("b", {}, NAMES[message.k]));
  if (message.name) who.append(make("span", {}, visible(textOf(message.name))));
  if (message.model) who.append(make("span", {}, visible(message.model)));
  if (message.outcome) {
    const raw = message.raw && message.raw.outcome !== message.outcome ? `${message.raw.outcome} → ` : "";
    who.append(chip(raw + message.outcome, message.outcome === "ok" ? "ok" : "bad"));
  }
  if (message.finish && !["end", "tools"].includes(message.finish)) who.append(chip(message.finish, "bad"));
  if (message.usage) who.append(make("span", {}, `${message.usage[0] + message.usage[2] + message.usage[3]} in, ${message.usage[1]} out`));
  for (const [hook, point, fields] of message.hooks ?? []) who.append(hookChip(hook, `${point}: ${fields.join(", ")}`));
  if (fresh) who.append(chip("new", "quiet"));
  if (mark && mark.fate !== "shown") {
    who.append(chip(mark.fate, "mark"));
    for (const hook of mark.by) who.append(hookChip(hook, "transform_context"));
  }
  return who;
}

/** What it was before hooks changed it, if that is another text. */
function earlier(past, message) {
  const parts = message.raw ? message.raw.p : message.was !== undefined ? past.messages[message.was].p ?? [] : null;
  if (!parts || same(parts, message.p ?? [])) return null;
  return make("div", { class: "was" }, make("span", { class: "dim" }, parts.length ? "before hooks: " : "before hooks: empty"), ...parts.map((part) => partOf(part, "before hooks")));
}

/** About how high a card is, before it is drawn. */
function guessed(past, number, columns) {
  const message = past.messages[number];
  let lines = 0;
  for (const part of message.p ?? []) {
    const text = textOf(part.text ?? part.thinking ?? "");
    lines += Math.min(LINES + 2, 1 + Math.ceil(Math.min(text.length, LONG) / columns));
  }
  return 44 + 22 * lines;
}
