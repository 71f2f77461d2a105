#!/usr/bin/env python3
"""Opens an analysis' report.html in Chromium: quiet, readable and no wider than the window in light
and dark, whole without scripts; the timeline zooms and moves by keys and wheel, a finding leads to
its place, tables filter, and names that are markup stay names. PICTURES=FOLDER keeps screenshots."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import browser, page_checks

BINARY = os.environ.get("JARVIS_BINARY", "")
PICTURES = os.environ.get("PICTURES")
BYTES_MAX = 3 << 20
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a\u2028b\u2029c",
           "`tick` | pipe \\| [x](javascript:alert(1))", "__proto__", "\u202ereversed", "**bold**",
           "&lt;b&gt; &amp;", "constructor"]


class Program:
    """Steps of modules with ops, each of which launches a kernel on a stream."""

    def __init__(self):
        self.events = []
        self.now = 1000.0
        self.gpu = 1000.0
        self.correlation = 0

    def host(self, cat, name, ts, dur, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 10, "tid": 10, "ts": ts,
                            "dur": dur, "args": args})

    def op(self, name, kernel, us, dims=None):
        self.correlation += 1
        ts = self.now
        args = {"Input Dims": dims or [[64, 64], [64, 64]], "Input type": ["float", "float"]}
        self.host("cpu_op", name, ts, 12, **args)
        self.host("cuda_runtime", "cudaLaunchKernel", ts + 4, 5, correlation=self.correlation)
        begin = max(self.gpu, ts + 10)
        self.events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7,
                            "ts": begin, "dur": us,
                            "args": {"correlation": self.correlation, "stream": 7, "device": 0}})
        self.gpu = begin + us
        self.now += 15

    def step(self, number):
        start = self.now
        self.now += 5
        for layer in range(3):
            begin = self.now
            for name in HOSTILE:
                self.op(name, "kernel of " + name, 20)
            self.op("aten::mm", "sgemm_128x128", 900, [[4096, 4096], [4096, 4096]])
            for name in ("add", "mul", "relu", "sum"):
                self.op("aten::" + name, f"elementwise_{name}", 60, [[4096, 4096], [4096, 4096]])
            self.host("python_function", f"nn.Module: <b>Layer</b>_{layer}", begin,
                      self.now - begin - 1)
        self.op("aten::item", "copy", 5)
        self.host("cuda_runtime", "cudaDeviceSynchronize", self.now, max(self.gpu - self.now, 1) + 5)
        self.now = max(self.gpu, self.now) + 400
        self.host("python_function", "train.py(20): train_step", start + 1, self.now - start - 2)
        self.host("python_function", "torch/optim/sgd.py(3): step", start + 2, 2)
        self.host("python_function", "<built-in method add of Tensor>", start + 2.5, 1)
        self.host("user_annotation", f"ProfilerStep#{number}", start, self.now - start)
        self.now += 2

    def write(self, path):
        begin = self.now
        self.now += 3
        for number in range(3):
            self.step(number)
        for inside, name in enumerate(("main", "run_epoch")):
            self.host("python_function", f"train.py({inside}): {name}", begin + inside,
                      self.now - begin + 10 - 2 * inside)
        device = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 40 << 30}
        path.write_text(json.dumps({"deviceProperties": [device], "traceEvents": self.events}))


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY:
            raise unittest.SkipTest("JARVIS_BINARY is not set")
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = pathlib.Path(cls.made.name)
        trace = cls.folder / "trace.json"
        Program().write(trace)
        cls.out = cls.folder / "out"
        subprocess.run([BINARY, "analyze", trace, "--output-dir", cls.out], check=True,
                       stdout=subprocess.DEVNULL)
        cls.page = cls.out / "report.html"
        if browser.CHROMIUM:
            cls.browser = browser.Browser()
            cls.addClassCleanup(cls.browser.close)

    def open(self, *args, page=None, **more):
        if not browser.CHROMIUM:
            self.skipTest("chromium is not installed")
        self.browser.open((page or self.page).as_uri(), *args, **more)
        if more.get("scripts", True):
            self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.browser.call("Runtime.evaluate", awaitPromise=True, expression="new Promise((done) =>"
                          " requestAnimationFrame(() => requestAnimationFrame(done)))")

    def shown(self):
        """The times between which the timeline is drawn, in microseconds."""
        data = self.browser.value("({...document.querySelector('#timeline-view canvas').dataset})")
        return float(data["from"]), float(data["to"])

    def press(self, key, canvas="#timeline-view canvas"):
        self.browser.value(f"document.querySelector({json.dumps(canvas)}).dispatchEvent("
                           f"new KeyboardEvent('keydown', {{key: {json.dumps(key)}}}))")
        self.settle()

    def test_says_what_the_report_says(self):
        text = self.page.read_text()
        fair = (self.out / "standalone_analysis_fair.md").read_text()
        for figures in re.findall(r"\| [^|]* \| (\d[\d.]* ms) \| (\d[\d.]*%) \|", fair):
            self.assertIn(figures[0], text)
            self.assertIn(figures[1], text)
        self.assertIn("What to do first", text)
        self.assertLess(len(text), BYTES_MAX)

    def test_is_the_same_again(self):
        again = self.folder / "again"
        subprocess.run([BINARY, "analyze", self.folder / "trace.json", "--output-dir", again],
                       check=True, stdout=subprocess.DEVNULL)
        self.assertEqual((again / "report.html").read_bytes(), self.page.read_bytes())

    def test_fits_and_is_quiet(self):
        for width in (400, 1200, 2000):
            for dark in (False, True):
                with self.subTest(width=width, dark=dark):
                    self.open(width, dark=dark)
                    page_checks.check_quiet(self, self.browser, width)
                    if PICTURES:
                        name = f"report_{width}_{'dark' if dark else 'light'}.png"
                        self.browser.picture(pathlib.Path(PICTURES, name), whole=False)

    def test_text_is_readable_on_what_is_behind_it(self):
        for dark in (False, True):
            self.open(1200, dark=dark)
            page_checks.check_contrast(self, self.browser,
                                       "h1,h2,h3,p,th,td,small,a,li,button,.rank,.saves,.then,label")

    def test_is_read_without_scripts(self):
        self.open(1200, scripts=False)
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertEqual(self.browser.value("document.querySelectorAll('canvas, button').length"), 0)
        text = self.browser.value("document.body.innerText")
        for words in ("What to do first", "Where the time goes (step: ", "aten::mm"):
            self.assertIn(words, text)
        self.assertGreater(self.browser.value("document.querySelectorAll('svg rect').length"), 3)

    def test_names_stay_names(self):
        self.open(1200)
        self.assertEqual(self.browser.value("document.querySelectorAll('img, b b').length"), 0)
        self.assertEqual(self.browser.value("document.querySelectorAll('script').length"), 2)
        links = self.browser.value("[...document.links].map((a) => a.getAttribute('href'))")
        self.assertEqual([link for link in links if not link.startswith("#")], [])
        names = self.browser.value("JSON.parse(document.getElementById('view-data').textContent).names")
        self.assertIn("kernel of " + HOSTILE[0], names)
        self.assertIn("kernel of " + HOSTILE[1], names)

    def test_timeline_zooms_and_moves(self):
        self.open(1200)
        begin, end = self.shown()
        self.press("+")
        nearer = self.shown()
        self.assertAlmostEqual(nearer[1] - nearer[0], (end - begin) / 2, delta=1)
        self.press("ArrowRight")
        self.assertGreater(self.shown()[0], nearer[0])
        self.press("Home")
        self.assertEqual(self.shown(), (begin, end))
        self.browser.value("""document.querySelector('#timeline-view canvas').dispatchEvent(
            new WheelEvent('wheel', {deltaY: -300, ctrlKey: true, cancelable: true}))""")
        self.settle()
        self.assertLess(self.shown()[1] - self.shown()[0], (end - begin) / 2)
        self.assertEqual(self.browser.complaints, [])

    def point(self, selector, x, y):
        box = self.browser.value(f"""(() => {{ const one = document.querySelector({selector!r});
            one.scrollIntoView({{block: 'start'}}); const box = one.getBoundingClientRect();
            return [box.left, box.top]; }})()""")
        self.settle()
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + x, y=box[1] + y)
        self.settle()
        return self.browser.value("document.querySelector('.tip').hidden ? '' :"
                                  " document.querySelector('.tip').innerText")

    def test_pointing_names_op_module_kernel_and_time(self):
        self.open(1200)
        row = self.browser.value("""(() => { const one = timeline.rows.find((row) =>
            row.lane.group === 'gpu'); const i = [...one.row.name].findIndex((name) =>
            data.names[name].startsWith('sgemm')); timeline.look(one.row.start[i], one.row.end[i]);
            return one.y; })()""")
        self.settle()
        tip = self.point("#timeline-view canvas", 560, row + 8)
        for words in ("aten::mm", "in <b>Layer</b>", "sgemm_128x128", "900.0 \u00b5s"):
            self.assertIn(words, tip)

    def test_a_finding_leads_to_its_place(self):
        self.open(1200)
        whole = self.shown()
        self.browser.value("[...document.querySelectorAll('.jump button')].find("
                           "(b) => b.textContent === 'Show in timeline').click()")
        self.settle()
        self.assertLess(self.shown()[1] - self.shown()[0], whole[1] - whole[0])
        self.browser.value("[...document.querySelectorAll('.jump button')].find("
                           "(b) => b.textContent === 'Show in modules').click()")
        self.settle()
        marked = self.browser.value("document.querySelector('#icicle-view canvas').dataset.marked")
        self.assertGreater(int(marked), 0)
        self.assertEqual(self.browser.complaints, [])

    def test_icicle_looks_closer_and_goes_back(self):
        self.open(1200)
        canvas = "#icicle-view canvas"
        root = f"document.querySelector('{canvas}').dataset.root"
        self.assertEqual(self.browser.value(root), "-1")
        self.press("ArrowDown", canvas)
        self.press("Enter", canvas)
        self.assertNotEqual(self.browser.value(root), "-1")
        self.press("Escape", canvas)
        self.press("Escape", canvas)
        self.assertEqual(self.browser.value(root), "-1")

    def test_icicle_adds_up(self):
        self.open(1200)
        tree = self.browser.value("data.tree")
        tops = sum(us for us, depth in zip(tree["us"], tree["depth"]) if depth == 0)
        self.assertAlmostEqual(tops, tree["total"], delta=tree["total"] * 0.01)

    def test_tables_filter(self):
        self.open(1200)
        shown = self.browser.value("""(() => { const input = document.querySelector('#ops .filter input');
            input.value = 'aten::mm'; input.dispatchEvent(new Event('input'));
            return input.parentNode.textContent; })()""")
        self.assertRegex(shown, r"^Filter1 of \d+ rows$")

    def test_python_has_a_lane_of_the_users_own_code(self):
        text = self.page.read_text()
        data = json.loads(re.search(r'id="view-data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])
        lanes = [lane for lane in data["timeline"]["lanes"] if lane["group"] == "python"]
        self.assertEqual([lane["title"] for lane in lanes], ["Python, host thread 10"])
        # main is nothing but run_epoch, and neither torch nor built-ins are the user's code.
        self.assertEqual([[data["names"][name] for name in row["n"]] for row in lanes[0]["rows"]],
                         [["train.py(1): run_epoch"], ["train.py(20): train_step"] * 3])
        titles = [lane["title"] for lane in data["timeline"]["lanes"]]
        self.assertTrue(titles[titles.index("Python, host thread 10") + 1].startswith(
            "Host thread 10"))

    def test_a_walk_through_the_page_stays_quiet(self):
        """Zoomed, moved, filtered, jumped from a finding, looked into: all in one visit."""
        self.open(1200)
        for key in ("+", "+", "ArrowRight", "-", "Home"):
            self.press(key)
        self.browser.value("""document.querySelectorAll('.jump button').forEach((b) => b.click());
            for (const input of document.querySelectorAll('input')) { input.value = 'mm';
              input.dispatchEvent(new Event('input')); }
            document.querySelectorAll('th button, .controls button').forEach((b) => b.click());""")
        for key in ("ArrowDown", "Enter", "Escape"):
            self.press(key, "#icicle-view canvas")
        self.settle()
        page_checks.check_quiet(self, self.browser, 1200)

    def test_find_fades_the_rest(self):
        self.open(1200)
        found = self.browser.value("""(() => { timeline.find('SGEMM');
            return timeline.wanted.filter(Boolean).length; })()""")
        self.assertEqual(found, 1)


if __name__ == "__main__":
    unittest.main()
