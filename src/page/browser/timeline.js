// The timeline: rows of pieces, of which those between two times are drawn.
const ROW_HEIGHT = 17;
const TITLE_HEIGHT = 18;
const AXIS_HEIGHT = 22;
const SHORTEST = 20;  // of what can be looked at, in tenths of microseconds

// Columns of a row as the server wrote them: starts by their distances, kinds a character each.
const decodeRow = (row) => {
  const size = row.s.length;
  const start = new Float64Array(size);
  const end = new Float64Array(size);
  let at = 0;
  for (let i = 0; i < size; ++i) {
    at += row.s[i];
    start[i] = at;
    end[i] = at + row.d[i];
  }
  const many = new Map();
  for (let i = 0; i < row.m.length; i += 3) many.set(row.m[i], {count: row.m[i + 1], busy: row.m[i + 2]});
  const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
  const kind = Uint8Array.from(row.k, (digit) => digits.indexOf(digit));
  return {size, start, end, name: row.n, kind, op: row.o, module: row.p, many};
};

// The first piece that ends after a time. Pieces of a row hardly overlap.
const firstAfter = (row, time) => {
  let low = 0;
  let high = row.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.end[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
};

class Timeline extends Picture {
  constructor(place, timeline) {
    super(place, "Timeline: arrows move, plus and minus zoom, Home shows all");
    this.end = Math.max(timeline.end, SHORTEST);
    this.focus = timeline.focus;
    this.lanes = timeline.lanes.map((lane) => ({...lane, rows: lane.rows.map(decodeRow)}));
    this.rows = [];
    let y = AXIS_HEIGHT;
    for (const lane of this.lanes) {
      lane.y = y;
      y += TITLE_HEIGHT;
      lane.rows.forEach((row, number) => {
        if (row.size === 0) return;
        this.rows.push({row, y, lane, number});
        y += ROW_HEIGHT;
      });
      y += 4;
    }
    this.height = y;
    this.wanted = null;  // by number of a name: whether it is looked for
    this.marked = -1;    // the finding that somebody came from
    this.controls(place);
    this.listen();
    this.view(0, this.end);
  }

  controls(place) {
    const button = (text, title, press) => {
      const made = create("button", {type: "button", textContent: text, title});
      made.addEventListener("click", press);
      return made;
    };
    const find = create("input", {type: "search", placeholder: "part of a name"});
    find.addEventListener("input", () => this.find(find.value));
    const bar = create("div", {className: "controls"},
        button("All", "The whole recording", () => this.view(0, this.end)),
        button("One step", "The step that is shown in most detail", () => this.view(...this.focus)),
        button("+", "Closer", () => this.zoom(0.5)),
        button("\u2212", "Farther", () => this.zoom(2)),
        create("label", {}, "Find ", find));
    place.prepend(bar);
    place.append(this.legend());
  }

  legend() {
    const used = new Set();
    for (const {row} of this.rows) for (const kind of row.kind) used.add(kind);
    const all = create("div", {className: "legends"});
    for (const [title, from, to] of KIND_GROUPS) {
      const list = create("ul", {className: "legend"}, create("li", {className: "noise"}, title));
      for (const kind of [...used].sort((a, b) => a - b)) {
        if (kind < from || kind >= to) continue;
        const swatch = create("i", {className: "swatch"});
        swatch.style.background = colourOf(kind);
        list.append(create("li", {}, swatch, kindText(kind)));
      }
      if (list.children.length > 1) all.append(list);
    }
    return all;
  }

  view(from, to) {
    const length = Math.min(Math.max(to - from, SHORTEST), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - length);
    this.to = this.from + length;
    this.ask();
  }
  zoom(by, at = (this.from + this.to) / 2) {
    this.view(at - (at - this.from) * by, at + (this.to - at) * by);
  }
  move(by) {
    this.view(this.from + by, this.to + by);
  }
  // With some room around it.
  look(from, to) {
    const room = Math.max((to - from) * 0.15, 50);
    this.view(from - room, to + room);
  }

  find(text) {
    const part = text.trim().toLowerCase();
    this.wanted = part === "" ? null : data.names.map((name) => name.toLowerCase().includes(part));
    this.ask();
  }

  // Where a finding's work is, of the step in most detail if there is any in it. Work that is all
  // over the step: around its longest piece.
  showFinding(number) {
    const lane = this.lanes.find((one) => one.group === "findings");
    const row = lane?.rows[number];
    if (!row || row.size === 0) return false;
    this.marked = number;
    let first = firstAfter(row, this.focus[0]);
    const inside = first < row.size && row.start[first] < this.focus[1];
    if (!inside) first = 0;
    let last = first;
    let longest = first;
    while (last + 1 < row.size && (!inside || row.start[last + 1] < this.focus[1])) {
      ++last;
      if (row.end[last] - row.start[last] > row.end[longest] - row.start[longest]) longest = last;
    }
    if (last > first && row.end[last] - row.start[first] > (this.focus[1] - this.focus[0]) / 4) {
      const room = 5 * (row.end[longest] - row.start[longest]);
      this.look(row.start[longest] - room, row.end[longest] + room);
    } else {
      this.look(row.start[first], row.end[last]);
    }
    return true;
  }

  timeAt(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }
  pieceAt(x, y) {
    const found = this.rows.find((one) => y >= one.y && y < one.y + ROW_HEIGHT);
    if (!found || found.row.size === 0) return null;
    const {row} = found;
    const near = (2 / this.width) * (this.to - this.from);
    const time = this.timeAt(x);
    const i = firstAfter(row, time - near);
    if (i >= row.size || row.start[i] > time + near) return null;
    return {...found, i};
  }

  // What a piece is, in lines of text.
  lines({row, lane, i}) {
    const many = row.many.get(i);
    const kind = row.kind[i];
    const span = row.end[i] - row.start[i];
    const name = data.names[row.name[i]];
    const lines = [];
    if (many) {
      lines.push(`${many.count} pieces in ${timeText(span)}, busy ` +
                 `${Math.round((100 * many.busy) / Math.max(span, 1))}%`, `the longest: ${name}`);
    } else if (kind >= GAP_KIND) {
      lines.push(data.kinds[kind], name === "" ? "" : `with ${name}`);
    } else {
      const op = row.op?.[i] ? data.ops[row.op[i] - 1] : null;
      if (op) lines.push(`${op[0]} ${op[1]}`);
      if (row.module?.[i]) lines.push(`in ${data.names[row.module[i] - 1]}`);
      lines.push(`${data.kinds[kind]}: ${name}`);
      if (op) lines.push(`the op: ${op[3]}`, op[4] === "\u2014" ? "" : op[4]);
    }
    lines.push(`${timeText(span)} from ${timeText(row.start[i])} on, ${lane.title}`);
    return lines;
  }

  listen() {
    const canvas = this.canvas;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = {x: event.offsetX, from: this.from, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (held) {
        if (Math.abs(event.offsetX - held.x) > 3) held.moved = true;
        const by = ((held.x - event.offsetX) / this.width) * (this.to - this.from);
        this.view(held.from + by, held.from + by + (this.to - this.from));
        return;
      }
      const piece = this.pieceAt(event.offsetX, event.offsetY);
      if (piece) tip.show(this.lines(piece), event.clientX, event.clientY);
      else tip.hide();
    });
    canvas.addEventListener("pointerup", (event) => {
      const piece = held && !held.moved ? this.pieceAt(event.offsetX, event.offsetY) : null;
      held = null;
      if (piece) this.pick(piece);
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("dblclick", (event) => this.zoom(0.25, this.timeAt(event.offsetX)));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) {
        if (event.deltaX === 0) return;
        this.move((event.deltaX / this.width) * (this.to - this.from));
      } else {
        this.zoom(Math.exp(event.deltaY / 300), this.timeAt(event.offsetX));
      }
      event.preventDefault();
    }, {passive: false});
    canvas.addEventListener("keydown", (event) => {
      const step = (this.to - this.from) / 8;
      const does = {ArrowLeft: () => this.move(-step), ArrowRight: () => this.move(step),
                    "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
                    Home: () => this.view(0, this.end)}[event.key];
      if (!does) return;
      does();
      event.preventDefault();
    });
  }

  pick(piece) {
    this.status.replaceChildren(this.lines(piece).filter(Boolean).join(" \u00b7 "));
    const op = piece.row.op?.[piece.i];
    if (op && icicle) {
      const show = create("button", {type: "button", textContent: "Show in modules"});
      show.addEventListener("click", () => icicle.showOps([op - 1]));
      this.status.append(" ", show);
    }
  }

  draw() {
    this.context.font = "12px system-ui, sans-serif";
    this.axis();
    for (const lane of this.lanes) {
      this.words(lane.title, 2, lane.y + TITLE_HEIGHT / 2 + 1, this.width, this.faint);
    }
    for (const one of this.rows) this.drawRow(one);
    this.canvas.dataset.from = (this.from / 10).toFixed(1);
    this.canvas.dataset.to = (this.to / 10).toFixed(1);
  }

  axis() {
    const {context} = this;
    const raw = (this.to - this.from) / Math.max(2, this.width / 130);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
    const scale = this.width / (this.to - this.from);
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = Math.round((at - this.from) * scale);
      context.fillStyle = this.grid;
      context.fillRect(x, AXIS_HEIGHT - 4, 1, this.height);
      this.words(timeText(at), x + 3, AXIS_HEIGHT / 2, 110, this.faint);
    }
  }

  // Pieces of the same colour that fall on one pixel are drawn once.
  drawRow({row, y, lane, number}) {
    const {context, from, wanted} = this;
    if (lane.group === "findings") {
      context.fillStyle = this.grid;
      context.fillRect(0, y + ROW_HEIGHT - 1, this.width, 1);
    }
    const scale = this.width / (this.to - from);
    let reached = -1;
    let last = -1;
    for (let i = firstAfter(row, from); i < row.size && row.start[i] < this.to; ++i) {
      const x = Math.max((row.start[i] - from) * scale, 0);
      const right = Math.min((row.end[i] - from) * scale, this.width);
      const kind = row.kind[i];
      const faded = (wanted && !wanted[row.name[i]]) ||
                    (lane.group === "findings" && this.marked >= 0 && this.marked !== number);
      const colour = faded ? -2 - kind : kind;
      if (right <= reached && colour === last) continue;
      const width = Math.max(right - x, 1);
      context.globalAlpha = faded ? 0.18 : 1;
      context.fillStyle = colourOf(kind);
      context.fillRect(x, y + 1, width - (width > 3 ? 0.5 : 0), ROW_HEIGHT - 2);
      reached = x + width;
      last = colour;
      if (width > 30 && lane.group !== "findings") {
        const many = row.many.get(i);
        const whole = kind >= GAP_KIND ? kindText(kind) : data.names[row.name[i]];
        // Of a line of Python its folders are what there is least room for.
        const name = lane.group === "python" ? whole.replace(/^.*\//, "") : whole;
        this.words(many ? `${many.count} x ${name}` : name, x + 3, y + ROW_HEIGHT / 2 + 0.5,
                   width - 6, faded ? this.ink : inkOn(colourOf(kind)));
      }
    }
    context.globalAlpha = 1;
    if (lane.group === "findings") {
      context.fillStyle = this.paper;
      context.fillRect(0, y + 1, 18, ROW_HEIGHT - 2);
      context.fillStyle = this.ink;
      context.fillText(number + 1, 3, y + ROW_HEIGHT / 2 + 0.5);
    }
  }
}
