// A list that draws only what is to be seen of it, however long it is.

const BEYOND = 400;

class Rows {
  /** `draw(n)` makes a row, `key(n)` names what is in it, so that its height is known again. */
  constructor(box, draw, key) {
    this.box = box;
    this.draw = draw;
    this.key = key;
    this.pad = box.appendChild(make("div", { class: "pad" }));
    this.drawn = new Map();
    this.heights = new Map();
    this.count = 0;
    this.tops = new Float64Array(1);
    this.width = box.clientWidth;
    box.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => this.resized()).observe(box);
  }

  /** There are other rows now. `guess(n)` is about how high one is. */
  set(count, guess) {
    this.count = count;
    this.guess = guess;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.measure(0);
    this.render();
  }

  /** Scroll so that this row is to be seen, at the end if it was not. */
  show(n) {
    if (n < 0 || n >= this.count) return;
    for (let again = 0; again < 10; again++) {  // guessed heights come right on the way
      const top = this.tops[n], bottom = this.tops[n + 1], view = this.box.clientHeight;
      const now = this.box.scrollTop;
      if (top < now || bottom - top > view) this.box.scrollTop = top;
      else if (bottom > now + view + 1) this.box.scrollTop = bottom - view;
      else return;
      this.render();
      if (this.box.scrollTop === now) return;
    }
  }

  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.render();
    });
  }

  resized() {
    if (this.box.clientWidth !== this.width) {
      const anchor = this.at(this.box.scrollTop);
      this.width = this.box.clientWidth;
      this.heights.clear();
      this.measure(0);
      this.box.scrollTop = this.tops[anchor];
    }
    this.later();
  }

  measure(from) {
    if (this.tops.length !== this.count + 1) {
      const old = this.tops;
      this.tops = new Float64Array(this.count + 1);
      this.tops.set(old.subarray(0, Math.min(old.length, from + 1)));
    }
    for (let n = from; n < this.count; n++)
      this.tops[n + 1] = this.tops[n] + (this.heights.get(this.key(n)) ?? Math.round(this.guess(n)));
    this.pad.style.height = `${this.tops[this.count]}px`;
  }

  at(y) {
    return Math.max(0, Math.min(this.count - 1, last(this.tops, (top) => top <= y)));
  }

  render() {
    for (let again = 0; again < 4 && this.pass(); again++);
  }

  /** Draw what is to be seen; whether heights turned out otherwise than guessed. */
  pass() {
    if (!this.count) return false;
    const top = this.box.scrollTop, bottom = top + this.box.clientHeight;
    const anchor = this.at(top), within = top - this.tops[anchor];
    const first = this.at(top - BEYOND), end = this.at(bottom + BEYOND);
    for (const [n, row] of this.drawn) {
      if (n >= first && n <= end) continue;
      if (row.contains(document.activeElement)) this.box.focus({ preventScroll: true });
      row.remove();
      this.drawn.delete(n);
    }
    let wrong = -1;
    for (let n = first; n <= end; n++) if (!this.drawn.has(n)) this.place(n);
    for (let n = end; n >= first; n--) {
      const height = this.drawn.get(n).offsetHeight;
      if (height !== this.tops[n + 1] - this.tops[n]) {
        this.heights.set(this.key(n), height);
        wrong = n;
      }
    }
    if (wrong >= 0) {
      this.measure(wrong);
      const now = this.tops[anchor] + within;
      if (now !== this.box.scrollTop) this.box.scrollTop = now;
    }
    for (const [n, row] of this.drawn) row.style.top = `${this.tops[n]}px`;
    return wrong >= 0;
  }

  place(n) {
    const row = this.draw(n);
    row.setAttribute("role", "article");
    row.setAttribute("aria-posinset", String(n + 1));
    row.setAttribute("aria-setsize", String(this.count));
    row.tabIndex = -1;
    row.dataset.row = String(n);
    row.style.top = `${this.tops[n]}px`;
    const next = [...this.drawn.keys()].filter((m) => m > n).sort((a, b) => a - b)[0];
    this.pad.insertBefore(row, next === undefined ? null : this.drawn.get(next));
    this.drawn.set(n, row);
  }
}
