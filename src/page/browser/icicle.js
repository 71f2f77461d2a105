// The icicle: GPU time by module, op and kernel, each as wide as its time, below what holds it.
const LEVEL_HEIGHT = 22;
// From far below the roof to at it, in order of lightness; grey where no roof is known.
const ROOF_COLOURS = ["#7f2704", "#d95f0e", "#fdae6b", "#c6dbef", "#6baed6", "#08519c"];
const NO_ROOF = "#9aa0a8";
const roofColour = (percent) => {
  if (percent < 0) return NO_ROOF;
  return ROOF_COLOURS[Math.min(Math.floor(percent / 100 * ROOF_COLOURS.length),
                               ROOF_COLOURS.length - 1)];
};
const NODE_KINDS = ["module", "op", "kernel", "category"];

// `source` has the tree, its ops, how many units its times are of and what a unit is called. Of two
// that stand on one another the lower one is `mirrored`; `whole` is the time that both are as wide
// as.
class Icicle extends Picture {
  constructor(place, source, {title = "all GPU work", mirrored = false, whole = 0, legend = true} = {}) {
    super(place, "GPU time by module, op and kernel: arrows choose, Enter looks closer");
    const {tree} = source;
    this.source = source;
    this.tree = tree;
    this.title = title;
    this.mirrored = mirrored;
    this.whole = whole * source.each || tree.total;
    this.other = null;  // looks where this one looks
    this.size = tree.depth.length;
    this.layout();
    this.root = -1;
    this.chosen = 0;
    this.marked = null;
    this.levels = Math.max(...tree.depth) + 1;
    this.height = (this.levels + 1) * LEVEL_HEIGHT + 4;
    if (legend) place.append(this.legend());
    this.listen();
    this.look(-1);
  }

  // Where each node begins, in the tree's own time, and what it stands in.
  layout() {
    const {depth, us} = this.tree;
    this.begin = new Float64Array(this.size);
    this.parent = new Int32Array(this.size).fill(-1);
    const open = [];
    const next = [0];
    for (let i = 0; i < this.size; ++i) {
      open.length = depth[i];
      next.length = depth[i] + 1;
      this.parent[i] = depth[i] > 0 ? open[depth[i] - 1] : -1;
      this.begin[i] = next[depth[i]];
      next[depth[i]] += us[i];
      open[depth[i]] = i;
      next[depth[i] + 1] = this.begin[i];
    }
  }

  legend() {
    const list = create("ul", {className: "legend"});
    const entry = (colour, text) => {
      const swatch = create("i", {className: "swatch"});
      swatch.style.background = colour;
      list.append(create("li", {}, swatch, text));
    };
    ROOF_COLOURS.forEach((colour, i) => {
      const from = Math.round((i * 100) / ROOF_COLOURS.length);
      const to = Math.round(((i + 1) * 100) / ROOF_COLOURS.length);
      entry(colour, `${from}\u2013${to}% of its roof`);
    });
    entry(NO_ROOF, "no roof known");
    return list;
  }

  look(node) {
    this.root = node;
    this.from = node < 0 ? 0 : this.begin[node];
    this.span = node < 0 ? this.whole : this.tree.us[node];
    this.ask();
  }
  // The other one looks at what goes by the same names, on the same scale; at all if it has none.
  lookWithOther(node) {
    this.look(node);
    if (!this.other) return;
    const names = [];
    for (let at = node; at >= 0; at = this.parent[at]) names.unshift(this.tree.name[at]);
    this.other.look(this.other.named(names));
    if (node < 0 || this.other.root < 0) return;
    const each = Math.max(this.span / this.source.each, this.other.span / this.other.source.each);
    this.span = each * this.source.each;
    this.other.span = each * this.other.source.each;
  }
  named(names) {
    let found = -1;
    for (const name of names) {
      let child = -1;
      for (let i = found + 1; i < this.size && child < 0; ++i) {
        if (this.parent[i] === found && this.tree.name[i] === name) child = i;
      }
      if (child < 0) return -1;
      found = child;
    }
    return found;
  }

  showOps(ops) {
    const wanted = new Set(ops);
    this.marked = new Set();
    let first = -1;
    for (let i = 0; i < this.size; ++i) {
      if (!wanted.has(this.tree.op[i])) continue;
      this.marked.add(i);
      if (first < 0) first = i;
    }
    if (first < 0) {
      this.marked = null;
      return false;
    }
    this.chosen = first;
    this.look(-1);
    this.tell();
    this.canvas.scrollIntoView({block: "center"});
    this.canvas.focus({preventScroll: true});
    return true;
  }

  lines(i) {
    const {tree} = this;
    const each = tree.us[i] / this.source.each;
    const lines = [`${NODE_KINDS[tree.kind[i]]} ${data.names[tree.name[i]]}`];
    const op = tree.op[i] >= 0 ? this.source.ops[tree.op[i]] : null;
    if (op && op[1] !== "\u2014") lines.push(op[1]);
    lines.push(`${timeText(each * 10)} ${this.source.unit}, ` +
               `${((100 * tree.us[i]) / tree.total).toFixed(1)}% of the GPU time shown`);
    if (tree.roof[i] >= 0) lines.push(`${tree.roof[i]}% of its roof`);
    return lines;
  }
  tell() {
    this.status.replaceChildren(this.lines(this.chosen).join(" \u00b7 "));
  }

  nodeAt(x, y) {
    const row = Math.floor(y / LEVEL_HEIGHT);
    const level = this.mirrored ? this.levels - 1 - row : row - 1;
    const time = this.from + (x / this.width) * this.span;
    for (let i = 0; i < this.size; ++i) {
      if (this.tree.depth[i] === level && time >= this.begin[i] &&
          time < this.begin[i] + this.tree.us[i]) return i;
    }
    return -1;
  }

  listen() {
    const {canvas} = this;
    canvas.addEventListener("pointermove", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0) tip.show(this.lines(node), event.clientX, event.clientY);
      else tip.hide();
    });
    canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event.offsetX, event.offsetY);
      if (node >= 0) this.choose(node);
      this.lookWithOther(node < 0 || node === this.root ? this.up(this.root) : node);
    });
    canvas.addEventListener("keydown", (event) => {
      const does = {
        ArrowUp: () => this.choose(this.up(this.chosen)),
        ArrowDown: () => this.choose(this.chosen + 1, (i) => this.parent[i] === this.chosen),
        ArrowRight: () => this.sibling(1),
        ArrowLeft: () => this.sibling(-1),
        Enter: () => this.lookWithOther(this.chosen),
        Escape: () => this.lookWithOther(this.up(this.root)),
      }[event.key];
      if (!does) return;
      does();
      event.preventDefault();
    });
  }

  up(node) {
    return node < 0 ? -1 : this.parent[node];
  }
  choose(node, fits = () => true) {
    if (node < 0 || node >= this.size || !fits(node)) return;
    this.chosen = node;
    this.tell();
    this.ask();
  }
  sibling(by) {
    const same = (i) => this.parent[i] === this.parent[this.chosen];
    for (let i = this.chosen + by; i >= 0 && i < this.size; i += by) {
      if (same(i)) return this.choose(i);
    }
  }

  draw() {
    const {context, tree} = this;
    const scale = this.width / this.span;
    context.font = "12px system-ui, sans-serif";
    const name = this.root < 0 ? this.title : data.names[tree.name[this.root]];
    this.words(this.root < 0 ? name : `${name} (click here or press Escape to go back)`, 4,
               this.yOf(-1) + LEVEL_HEIGHT / 2, this.width - 8, this.ink);
    for (let i = 0; i < this.size; ++i) {
      const x = (this.begin[i] - this.from) * scale;
      const right = x + tree.us[i] * scale;
      if (right <= 0 || x >= this.width || right - x < 0.4) continue;
      this.drawNode(i, Math.max(x, 0), Math.min(right, this.width));
    }
    this.canvas.dataset.root = this.root;
    this.canvas.dataset.marked = this.marked ? this.marked.size : 0;
  }

  yOf(level) {
    return (this.mirrored ? this.levels - 1 - level : level + 1) * LEVEL_HEIGHT;
  }

  drawNode(i, x, right) {
    const {context, tree} = this;
    const y = this.yOf(tree.depth[i]);
    const colour = roofColour(tree.roof[i]);
    const faded = this.marked && !this.marked.has(i);
    const width = right - x;
    context.globalAlpha = faded ? 0.25 : 1;
    context.fillStyle = colour;
    context.fillRect(x, y + 1, Math.max(width - (width > 3 ? 1 : 0), 0.5), LEVEL_HEIGHT - 2);
    if (i === this.chosen && width > 2) {
      context.strokeStyle = this.ink;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 2, width - 3, LEVEL_HEIGHT - 4);
    }
    if (width > 28) {
      this.words(data.names[tree.name[i]], x + 4, y + LEVEL_HEIGHT / 2 + 0.5, width - 8,
                 faded ? this.ink : inkOn(colour));
    }
    context.globalAlpha = 1;
  }
}
