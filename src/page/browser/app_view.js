// Shows a tool's structured answer: its summary, its rows as a table with bars, products below their
// roof, what to ask next. Names come from a trace: they are text, never markup.
const make = (tag, className = "", ...children) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
};
const SVG = "http://www.w3.org/2000/svg";
const draw = (tag, attributes, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const shown = make("main");
document.body.append(shown);
const before = [];  // the answers that one came from

const cellText = (value) => {
  if (value === null || value === undefined) return "\u2014";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
};
const heading = (name) => name.replaceAll("_", " ");
// Times are drawn as bars, all of a table on one scale.
const isTime = (name) => /(^|_)(ms|us)$/.test(name);

// What a click on an id asks: where a row is called, what a finding would save.
const questionOf = (id, answer) => {
  const trace = answer.trace ?? answer.candidate;
  if (trace === undefined || typeof id !== "string") return null;
  if (/^(op|k|cat|m)\d+$/.test(id)) return {tool: "parent_chain", arguments: {trace, row: id}};
  if (/^f\d+$/.test(id)) return {tool: "what_if", arguments: {trace, changes: [id]}};
  return null;
};

const ask = async (question) => {
  shown.setAttribute("aria-busy", "true");
  try {
    const result = await bridge.request("tools/call",
                                        {name: question.tool, arguments: question.arguments});
    before.push(current);
    show(result);
  } catch (error) {
    shown.prepend(make("p", "warn", `${question.tool}: ${error.message}`));
  }
  shown.removeAttribute("aria-busy");
};
const askButton = (text, question) => {
  const button = make("button", "", text);
  button.type = "button";
  button.addEventListener("click", () => ask(question));
  return button;
};

const tableOf = (columns, rows, answer) => {
  const numbers = columns.map((_, i) => rows.some((row) => typeof row[i] === "number") &&
      rows.every((row) => row[i] === null || row[i] === undefined || typeof row[i] === "number"));
  const times = columns.map((name, i) => numbers[i] && isTime(name));
  const most = Math.max(0, ...rows.flatMap((row) => row.filter((_, i) => times[i]).map(Math.abs)));
  const head = make("tr");
  columns.forEach((name, i) => {
    const cell = make("th", numbers[i] ? "n" : "", heading(name));
    cell.scope = "col";
    head.append(cell);
  });
  const body = make("tbody");
  for (const row of rows) {
    const line = make("tr");
    columns.forEach((_, i) => {
      const cell = make("td", numbers[i] ? "n" : "");
      const question = questionOf(row[i], answer);
      cell.append(question ? askButton(row[i], question) : cellText(row[i]));
      if (times[i] && most > 0 && typeof row[i] === "number") {
        cell.classList.add("bar-cell");
        cell.style.setProperty("--share", `${(100 * Math.abs(row[i])) / most}%`);
      }
      line.append(cell);
    });
    body.append(line);
  }
  const place = make("div", "scroll table", make("table", "", make("thead", "", head), body));
  place.tabIndex = 0;
  return place;
};

// Lists of objects beside the rows: lines of a ledger, levers, the first findings.
const listsOf = (answer) => Object.entries(answer).filter(([name, value]) =>
    name !== "rows" && name !== "next" && name !== "files" && Array.isArray(value) &&
    value.length > 0 && value.every((one) => one && typeof one === "object" && !Array.isArray(one)));
const tableOfObjects = (list, answer) => {
  const columns = [...new Set(list.flatMap((one) => Object.keys(one)))];
  return tableOf(columns, list.map((one) => columns.map((name) => one[name])), answer);
};

// Work by intensity and rate on logarithmic axes, below what memory and arithmetic allow.
const roofline = (answer) => {
  const {columns, rows, platform} = answer;
  const [x, y] = ["flop_per_byte", "tflops"].map((name) => columns?.indexOf(name) ?? -1);
  const bandwidth = platform?.mem_bw_gbps;
  const roof = platform?.roof_tflops ?? platform?.peak_tflops;
  const points = x < 0 || y < 0 ? [] : rows.filter((row) => row[x] > 0 && row[y] > 0);
  if (points.length === 0 || !bandwidth || !roof) return null;
  const log = Math.log10;
  const left = Math.floor(log(Math.min(...points.map((row) => row[x]), 1)));
  const right = Math.ceil(log(Math.max(...points.map((row) => row[x]), (1000 * roof) / bandwidth)));
  const low = Math.floor(log(Math.min(...points.map((row) => row[y]))));
  const high = Math.ceil(log(roof));
  const atX = (value) => 50 + (540 * (log(value) - left)) / (right - left);
  const atY = (value) => 230 - (210 * (log(value) - low)) / Math.max(high - low, 1);
  const picture = draw("svg", {viewBox: "0 0 600 260", role: "img", class: "roofline",
                               "aria-label": "achieved rates below the roof"});
  const ridge = (1000 * roof) / bandwidth;
  const begin = Math.max(10 ** left, (1000 * 10 ** low) / bandwidth);
  picture.append(
      draw("path", {class: "roof", d: `M${atX(begin)} ${atY((begin * bandwidth) / 1000)}` +
                                     `L${atX(ridge)} ${atY(roof)}L${atX(10 ** right)} ${atY(roof)}`}),
      draw("text", {x: 590, y: atY(roof) - 5, "text-anchor": "end"}, `${roof} TFLOP/s`),
      draw("text", {x: 320, y: 256, "text-anchor": "middle"}, "FLOP/byte"));
  for (let power = left; power <= right; ++power) {
    picture.append(draw("text", {x: atX(10 ** power), y: 244, "text-anchor": "middle"},
                        String(10 ** power)));
  }
  for (const row of points) {
    picture.append(draw("circle", {cx: atX(row[x]), cy: atY(row[y]), r: 6, class: "point"},
                        draw("title", {}, `${row.slice(0, 5).map(cellText).join(" ")}: ` +
                                          `${row[y]} TFLOP/s`)));
  }
  return picture;
};

// A line of the program's: code stands between backquotes.
const line = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", "", part) : part));

// What a terminal and the page show first: what runs, how long, where the time goes, what to do.
const firstScreen = (first, answer) => {
  const bar = draw("svg", {viewBox: "0 0 1000 28", preserveAspectRatio: "none", role: "img",
                           class: "bar", "aria-label": "parts of the time, listed below"});
  const legend = make("ul", "legend");
  let at = 0;
  for (const part of first.parts) {
    bar.append(draw("rect", {class: `part-${part.look}`, x: at, width: 10 * part.percent,
                             height: 28}, draw("title", {}, `${part.name} ${part.share}`)));
    at += 10 * part.percent;
    const swatch = draw("svg", {viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true"},
                        draw("rect", {class: `part-${part.look}`, width: 10, height: 10}));
    legend.append(make("li", "", swatch, `${part.name} `, make("b", "", part.share)));
  }
  const fixes = make("ul", "fixes");
  for (const fix of first.fixes) {
    const question = questionOf(fix.finding, answer);
    const what = make("p", "", ...line(fix.action));
    const where = make("span", "noise", `${fix.number} ${fix.path}`);
    fixes.append(make("li", "", where, make("b", "", fix.saves), what,
                      ...(question ? [askButton("What it saves", question)] : [])));
  }
  const parts = [make("h2", "", ...line(first.title)), make("p", "noise", ...line(first.run)),
                 ...first.base.map((text) => make("p", "", ...line(text)))];
  if (first.parts.length > 0) parts.push(bar, legend);
  if (first.fixes.length > 0) parts.push(make("h3", "", "What to do, in this order"), fixes);
  return make("section", "first", ...parts, make("p", "noise", ...line(first.trust)));
};

let current = null;
const show = (result) => {
  current = result;
  const answer = result.structuredContent;
  const parts = [];
  if (before.length > 0) {
    const back = make("button", "", "Back");
    back.type = "button";
    back.addEventListener("click", () => show(before.pop()));
    parts.push(back);
  }
  if (!answer || result.isError) {
    const texts = (result.content ?? []).filter((block) => block.type === "text");
    parts.push(...texts.map((block) => make("p", result.isError ? "warn" : "", block.text)));
    return shown.replaceChildren(...parts);
  }
  const first = result._meta?.["jarvis/first"];
  if (first) parts.push(firstScreen(first, answer));
  parts.push(make("p", "summary", answer.summary ?? ""));
  const picture = roofline(answer);
  if (picture) parts.push(picture);
  for (const [name, list] of listsOf(answer))
    parts.push(make("h3", "", heading(name)), tableOfObjects(list, answer));
  if (answer.columns && answer.rows?.length > 0)
    parts.push(tableOf(answer.columns, answer.rows, answer));
  for (const note of answer.notes ?? []) parts.push(make("p", "noise", cellText(note)));
  const next = make("div", "next");
  for (const step of answer.next ?? []) next.append(askButton(step.why ?? step.tool, step));
  parts.push(next);
  shown.replaceChildren(...parts);
};

const fitIn = (context) => {
  if (context?.theme) document.documentElement.dataset.theme = context.theme;
};
bridge.on("ui/notifications/tool-result", (result) => {
  before.length = 0;
  show(result);
});
bridge.on("ui/notifications/tool-cancelled", () =>
  shown.replaceChildren(make("p", "noise", "The call was cancelled.")));
bridge.on("ui/notifications/host-context-changed", fitIn);
bridge.request("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: {name: "jarvis-view", version: "1"},
  appCapabilities: {},
}).then((host) => {
  fitIn(host?.hostContext);
  bridge.notify("ui/notifications/initialized");
  new ResizeObserver(() => bridge.notify("ui/notifications/size-changed", {
    width: document.documentElement.scrollWidth,
    height: document.body.scrollHeight,
  })).observe(document.body);
});
