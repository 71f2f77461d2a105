#!/usr/bin/env python3
"""How fast a report's page is in Chromium, without a window and without a GPU: time to the first
paint, and frames while the timeline zooms in and out, by the browser's own tracing. Prints what it
measured and judges nothing. usage: page_speed.py REPORT.html..."""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import browser

FRAMES = 120
PAINT = """new Promise((done) => new PerformanceObserver((list) => done(
  list.getEntries()[0].startTime)).observe({type: 'paint', buffered: true}))"""
ZOOM = """new Promise((done) => { let frame = 0; timeline.view(0, timeline.end); const next = () => {
  if (++frame > FRAMES) return done(); const at = timeline.end * (0.3 + 0.4 * frame / FRAMES);
  timeline.zoom(frame % 60 < 30 ? 0.8 : 1.25, at); requestAnimationFrame(next); };
  requestAnimationFrame(next); })""".replace("FRAMES", str(FRAMES))


class TracedBrowser(browser.Browser):
    """Keeps what the browser's tracing sends."""

    def __init__(self):
        self.recorded = []
        self.complete = False
        super().__init__()

    def read(self, end):
        message = super().read(end)
        if message.get("method") == "Tracing.dataCollected":
            self.recorded += message["params"]["value"]
        elif message.get("method") == "Tracing.tracingComplete":
            self.complete = True
        return message

    def trace(self, expression):
        """Events of the main threads while the expression's promise is open."""
        self.recorded, self.complete = [], False
        self.call("Tracing.start", transferMode="ReportEvents",
                  traceConfig={"includedCategories": ["devtools.timeline",
                                                      "disabled-by-default-devtools.timeline.frame"]})
        self.call("Runtime.evaluate", expression=expression, awaitPromise=True)
        self.call("Tracing.end")
        end = time.monotonic() + browser.SECONDS
        while not self.complete:
            self.read(end)
        return self.recorded


def measure(page, path):
    page.open(path.as_uri(), 1200)
    paint = page.call("Runtime.evaluate", expression=PAINT, awaitPromise=True,
                      returnByValue=True)["result"]["value"]
    pieces = page.value("timeline.rows.reduce((sum, one) => sum + one.row.size, 0)")
    events = page.trace(ZOOM)
    frames = [event for event in events if event["name"] == "FireAnimationFrame" and "dur" in event]
    script = [event["dur"] / 1000 for event in frames]
    drawn = sorted(event["ts"] for event in frames)
    between = [(b - a) / 1000 for a, b in zip(drawn, drawn[1:])]
    rate = 1000 / statistics.mean(between) if between else 0
    print(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {pieces} pieces, first paint "
          f"{paint:.0f} ms; zooming {rate:.0f} frames/s, drawing {statistics.median(script):.1f} ms "
          f"a frame (median), {max(script):.1f} ms at most")


def main():
    page = TracedBrowser()
    try:
        for name in sys.argv[1:]:
            measure(page, pathlib.Path(name).absolute())
    finally:
        page.close()


if __name__ == "__main__":
    main()
