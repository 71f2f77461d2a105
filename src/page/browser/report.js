// Puts the pictures in their places and joins them: from a finding to where it is.
const placeOf = (id) => document.getElementById(id);
const timeline = data && placeOf("timeline-view") && data.timeline.lanes.length > 0
    ? new Timeline(placeOf("timeline-view"), data.timeline) : null;
const icicle = data && placeOf("icicle-view") && data.tree.depth.length > 0
    ? new Icicle(placeOf("icicle-view"), data.tree) : null;

if (data) {
  data.findings.forEach((finding, number) => {
    const place = document.querySelector(`.jump[data-finding="${CSS.escape(finding.id)}"]`);
    if (place === null) return;
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
  });
}

// The browser's own tips of points come late.
for (const title of document.querySelectorAll("#roofline title")) {
  const point = title.parentNode;
  if (!(point instanceof SVGGeometryElement)) continue;
  const lines = title.textContent.split("\n");
  title.remove();
  point.setAttribute("aria-label", lines.join(", "));
  point.addEventListener("pointermove", (event) => tip.show(lines, event.clientX, event.clientY));
  point.addEventListener("pointerleave", () => tip.hide());
}
