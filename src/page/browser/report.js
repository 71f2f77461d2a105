// Puts the pictures in their places and joins them: from a finding to where it is.
const placeOf = (id) => document.getElementById(id);
const timeline = placeOf("timeline-view") && data.timeline.lanes.length > 0
    ? new Timeline(placeOf("timeline-view"), data.timeline) : null;
const icicle = placeOf("icicle-view") && data.tree.depth.length > 0
    ? new Icicle(placeOf("icicle-view"), data) : null;

for (const [number, finding] of (data?.findings ?? []).entries()) {
  const place = document.querySelector(`.jump[data-finding="${CSS.escape(finding.id)}"]`);
  if (place === null) continue;
  const lane = timeline?.lanes.find((one) => one.group === "findings");
  if (lane?.rows[number]?.size > 0) {
    const button = create("button", {type: "button", textContent: "Show in timeline"});
    button.addEventListener("click", () => {
      timeline.showFinding(number);
      timeline.canvas.scrollIntoView({block: "center"});
      timeline.canvas.focus({preventScroll: true});
    });
    place.append(button);
  }
  if (icicle && finding.ops.length > 0) {
    const button = create("button", {type: "button", textContent: "Show in modules"});
    button.addEventListener("click", () => icicle.showOps(finding.ops));
    place.append(button);
  }
}

// Two traces: both on one scale, the second one upside down below the first.
const pair = (() => {
  const sides = data?.sides ?? [];
  if (sides.length === 0 || sides.some((side) => side.tree.depth.length === 0)) return [];
  const whole = Math.max(...sides.map((side) => side.tree.total / side.each));
  const places = ["candidate-view", "baseline-view"].map(placeOf);
  const icicles = sides.map((side, number) => new Icicle(places[number], side, {
    title: side.title, mirrored: number === 1, whole, legend: number === 1}));
  [icicles[0].other, icicles[1].other] = [icicles[1], icicles[0]];
  return icicles;
})();

// The browser's own tips of points come late.
for (const title of document.querySelectorAll("figure title")) {
  const point = title.parentNode;
  if (!(point instanceof SVGGeometryElement)) continue;
  const lines = title.textContent.split("\n");
  title.remove();
  point.setAttribute("aria-label", lines.join(", "));
  point.addEventListener("pointermove", (event) => tip.show(lines, event.clientX, event.clientY));
  point.addEventListener("pointerleave", () => tip.hide());
}
