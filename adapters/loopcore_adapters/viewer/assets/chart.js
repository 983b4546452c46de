// Charts: what each input was, and what each turn used.

const MOST_BARS = 240;

/** Coloured marks for the inputs of a run, along the slider. */
function strip(past) {
  const svg = document.getElementById("strip");
  const count = Math.max(1, past.end), bars = Math.min(count, 600);
  const wide = Math.max(bars / 600, Math.min(0.8, bars / 80));
  svg.setAttribute("viewBox", `0 0 ${bars} 10`);
  svg.replaceChildren();
  const rank = ["abort", "fault", "person", "prompt", "queue", "service", "sleep", "tool", "reply"];
  const kinds = new Array(bars + 1).fill("");
  past.points.forEach((point, n) => {
    if (!point.input) return;
    const bar = Math.floor((n * bars) / count), now = rank.indexOf(point.input.kind);
    if (kinds[bar] === "" || now < rank.indexOf(kinds[bar])) kinds[bar] = point.input.kind;
  });
  kinds.forEach((kind, n) => {
    if (kind) svg.append(makeSvg("rect", { x: n - wide / 2, y: 1, width: wide, height: 8, class: `kind-${kind}` }));
  });
  if (past.side.divergence) {
    const x = (past.side.divergence.number * bars) / count - wide / 2;
    svg.append(makeSvg("rect", { x, y: 0, width: wide, height: 10, class: "diverged" }));
  }
}

const WIDTH = 480, HEIGHT = 78, LEFT = 46, BELOW = 16;

/** Tokens in and out, turn by turn. Clicking a bar goes there. */
function usageChart(past, point, go) {
  const turns = past.side.turns;
  if (!turns.some(([, , , usage]) => usage[0] + usage[1] + usage[2] + usage[3])) return make("p", { class: "dim" }, "No turn of this record tells of tokens.");
  const each = Math.ceil(turns.length / MOST_BARS), bars = [];
  for (let n = 0; n < turns.length; n += each) bars.push(turns.slice(n, n + each));
  const sums = bars.map((group) => largest(group.map((turn) => turn[3])));
  const box = make("div", {});
  box.append(plot(bars, sums, [0, 2, 3], ["fill-0", "fill-1", "fill-2"], "in", point, go));
  box.append(plot(bars, sums, [1], ["fill-3"], "out", point, go));
  const named = [["fill-0", "input"], ["fill-1", "read from cache"], ["fill-2", "written to cache"], ["fill-3", "output"]];
  const legend = named.map(([fill, name]) => make("span", {}, make("i", { class: fill }), name));
  const note = each > 1 ? make("span", {}, `each bar: the largest of ${each} turns`) : null;
  box.append(make("div", { class: "legend" }, ...legend, note));
  return box;
}

/** The usage of the turn that took the most. */
function largest(usages) {
  return usages.reduce((one, other) => (total(other) > total(one) ? other : one));
}

function total(usage) {
  return usage[0] + usage[1] + usage[2] + usage[3];
}

function plot(bars, sums, fields, fills, name, point, go) {
  const most = Math.max(1, ...sums.map((usage) => fields.reduce((sum, f) => sum + usage[f], 0)));
  const svg = makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + BELOW}`, class: "chart", role: "img" });
  svg.setAttribute("aria-label", `Tokens ${name}, turn by turn; at most ${most.toLocaleString("en")}`);
  const step = (WIDTH - LEFT) / bars.length, wide = Math.max(0.5, Math.min(26, step * 0.8));
  svg.append(makeSvg("line", { x1: LEFT, x2: WIDTH, y1: HEIGHT, y2: HEIGHT, class: "axis" }));
  svg.append(makeSvg("text", { x: LEFT - 6, y: 12, "text-anchor": "end" }, short(most)));
  svg.append(makeSvg("text", { x: LEFT - 6, y: HEIGHT, "text-anchor": "end" }, name));
  bars.forEach((group, n) => {
    let y = HEIGHT;
    const x = LEFT + n * step + (step - wide) / 2;
    fields.forEach((field, place) => {
      const height = (sums[n][field] / most) * (HEIGHT - 6);
      y -= height;
      if (height) svg.append(makeSvg("rect", { x, y, width: wide, height, class: fills[place] }));
    });
    const said = `turn ${group[0][2]}${group.length > 1 ? ` to ${group[group.length - 1][2]}` : ""}: ${fields.map((f) => sums[n][f]).join(" + ")} tokens ${name}`;
    const area = { x: LEFT + n * step, y: 0, width: step, height: HEIGHT, class: "hit-area", click: () => go(group[0][0]) };
    svg.append(makeSvg("rect", area, makeSvg("title", {}, said)));
  });
  const at = bars.findIndex((group) => group[group.length - 1][0] >= point);
  const x = LEFT + ((at < 0 ? bars.length - 1 : at) + 0.5) * step;
  svg.append(makeSvg("line", { x1: x, x2: x, y1: 0, y2: HEIGHT, class: "cursor" }));
  svg.append(makeSvg("text", { x: LEFT, y: HEIGHT + 12 }, `turn ${bars[0][0][2]}`));
  const end = bars[bars.length - 1];
  if (bars.length > 1) svg.append(makeSvg("text", { x: WIDTH, y: HEIGHT + 12, "text-anchor": "end" }, `turn ${end[end.length - 1][2]}`));
  return svg;
}

function short(number) {
  if (number < 1000) return String(number);
  return number < 1e6 ? `${+(number / 1000).toPrecision(3)}k` : `${+(number / 1e6).toPrecision(3)}M`;
}
