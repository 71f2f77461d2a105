// What the pictures of a report share: the data, colours, a tip beside the pointer, a canvas.
const data = (() => {
  const element = document.getElementById("view-data");
  return element === null ? null : JSON.parse(element.textContent);
})();

// By the number of a kind; apart for all kinds of colour vision, as the charts' colours are. A
// colour is never all that tells: whatever is drawn says its name.
const KIND_COLOURS = [
  "#0077bb", "#ee3377", "#33a6d4", "#ee7733", "#009988", "#8a7a2f", "#cc3311", "#6a6a78", "#9aa0a8",
  "#7c8fb0", "#b39ddb", "#7fb8a4", "#c9a66b", "#cc3311", "#d79b9b",
  "#4d7ea8", "#a0522d", "#6c8f5e", "#8e5fb5",
  "#ee7733", "#cc3311", "#009988", "#ee3377", "#8a7a2f", "#8a8a8a", "#33a6d4", "#0077bb", "#6a6a78",
  "#b0b0b0",
];
const GAP_KIND = 19;
// Kinds that are told apart from each other in one place, each with its title in the legend.
const KIND_GROUPS = [["Frames", 15, 18], ["Idle", GAP_KIND, 99], ["GPU", 0, 9], ["Host", 9, 15]];
const kindText = (kind) => data.kinds[kind].replace(/^GPU idle: /, "");
const colourOf = (kind) => KIND_COLOURS[kind] ?? "#9aa0a8";

const dark = matchMedia("(prefers-color-scheme: dark)");
const pageColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Black or white, whichever is read better on "#rrggbb".
const inkOn = (colour) => {
  const part = (at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  return light > 0.18 ? "#000000" : "#ffffff";
};

// Tenths of microseconds, in words.
const timeText = (units) => {
  const us = units / 10;
  if (Math.abs(us) >= 1e6) return (us / 1e6).toFixed(3) + " s";
  if (Math.abs(us) >= 1e3) return (us / 1e3).toFixed(us >= 1e5 ? 1 : 3) + " ms";
  return us.toFixed(1) + " \u00b5s";
};

const create = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// One for the page. Text alone: names come from a trace.
const tip = (() => {
  const box = create("div", {className: "tip", hidden: true});
  document.body.append(box);
  return {
    show(lines, x, y) {
      box.replaceChildren(...lines.filter(Boolean).map((line) => create("div", {textContent: line})));
      box.hidden = false;
      const left = Math.min(x + 14, innerWidth - box.offsetWidth - 8);
      const below = y + 18 + box.offsetHeight < innerHeight;
      box.style.left = Math.max(8, left) + "px";
      box.style.top = (below ? y + 18 : Math.max(8, y - box.offsetHeight - 12)) + "px";
    },
    hide() {
      box.hidden = true;
    },
  };
})();

// A canvas as wide as its place, that is drawn when it has to be and at most once a frame.
class Picture {
  constructor(place, label) {
    this.canvas = create("canvas", {tabIndex: 0});
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    this.status = create("output", {className: "status"});
    place.append(this.canvas, this.status);
    this.context = this.canvas.getContext("2d", {alpha: false});
    this.height = 0;
    this.asked = false;
    new ResizeObserver(() => this.ask()).observe(this.canvas);
    dark.addEventListener("change", () => this.ask());
    this.canvas.addEventListener("pointerleave", () => tip.hide());
  }

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.fit();
      this.draw();
    });
  }

  fit() {
    const scale = devicePixelRatio;
    this.canvas.style.height = this.height + "px";
    this.width = this.canvas.clientWidth;
    const width = Math.round(this.width * scale);
    const height = Math.round(this.height * scale);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.textBaseline = "middle";
    this.ink = pageColour("--ink");
    this.faint = pageColour("--faint");
    this.grid = pageColour("--grid");
    this.paper = pageColour("--paper");
    this.accent = pageColour("--accent");
    this.context.fillStyle = this.paper;
    this.context.fillRect(0, 0, this.width, this.height);
  }

  // As many of the characters as fit.
  words(text, x, y, width, colour) {
    const most = Math.floor(width / 6.4);
    if (most < 3) return;
    this.context.fillStyle = colour;
    this.context.fillText(text.length <= most ? text : text.slice(0, most - 1) + "\u2026", x, y);
  }
}
