#!/usr/bin/env python3
"""The pages of a comparison and of a job's ranks in Chromium: quiet, readable, no wider than the
window; two icicles on one scale that look at the same place; a map of waits. PICTURES=FOLDER keeps
screenshots."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import browser, page_checks

BINARY = os.environ.get("JARVIS_BINARY", "")
MAKE_TRACE = os.environ.get("MAKE_TRACE_BINARY", "")
PICTURES = os.environ.get("PICTURES")
BYTES_MAX = 3 << 20


class OtherPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY or not MAKE_TRACE:
            raise unittest.SkipTest("JARVIS_BINARY and MAKE_TRACE_BINARY are not set")
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = folder = pathlib.Path(cls.made.name)

        def run(*command):
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        run(MAKE_TRACE, "--out", folder / "ranks", "--ranks", 3, "--layers", 2, "--hidden", 1024)
        run(BINARY, "collectives", folder / "ranks", "--output-dir", folder / "job")
        traces = []
        for platform in ("h100", "mi300x"):
            traces.append(folder / f"{platform}.json")
            run(MAKE_TRACE, "--out", traces[-1], "--platform", platform, "--layers", 2, "--world", 1)
        run(BINARY, "analyze", traces[0], "--compare", traces[1], "--output-dir", folder / "pair")
        cls.pages = {"comparison": folder / "pair/comparison.html", "ranks": folder / "job/ranks.html"}
        if browser.CHROMIUM:
            cls.browser = browser.Browser()
            cls.addClassCleanup(cls.browser.close)

    def open(self, name, *args, **more):
        if not browser.CHROMIUM:
            self.skipTest("chromium is not installed")
        self.browser.open(self.pages[name].as_uri(), *args, **more)
        if more.get("scripts", True):
            self.settle()

    def settle(self):
        self.browser.call("Runtime.evaluate", awaitPromise=True, expression="new Promise((done) =>"
                          " requestAnimationFrame(() => requestAnimationFrame(done)))")

    def test_fit_and_are_quiet(self):
        for name, page in self.pages.items():
            self.assertLess(page.stat().st_size, BYTES_MAX)
            for width in (400, 1200, 2000):
                for dark in (False, True):
                    with self.subTest(name=name, width=width, dark=dark):
                        self.open(name, width, dark=dark)
                        page_checks.check_quiet(self, self.browser, width)
                        page_checks.check_contrast(self, self.browser, "h1,h2,h3,p,th,td,li,a")
                        if PICTURES:
                            picture = f"{name}_{width}_{'dark' if dark else 'light'}.png"
                            self.browser.picture(pathlib.Path(PICTURES, picture), whole=False)

    def test_both_icicles_are_on_one_scale(self):
        self.open("comparison", 1200)
        widths = self.browser.value("pair.map((one) => one.whole / one.source.each)")
        self.assertAlmostEqual(widths[0], widths[1])
        whole = self.browser.value("pair.map((one) => one.tree.total / one.source.each)")
        self.assertAlmostEqual(max(whole), widths[0])

    def test_both_look_at_the_same_place(self):
        self.open("comparison", 1200)
        looked = self.browser.value("""(() => { pair[0].lookWithOther(1);
            return pair.map((one) => [data.names[one.tree.name[one.root]],
                                                one.span / one.source.each]); })()""")
        self.assertEqual(looked[0][0], looked[1][0])
        self.assertAlmostEqual(looked[0][1], looked[1][1])
        self.browser.value("pair[0].lookWithOther(-1)")
        self.settle()
        self.assertEqual(self.browser.value("pair[1].root"), -1)
        self.assertEqual(self.browser.complaints, [])

    def test_ranks_have_a_map_of_waits(self):
        self.open("ranks", 1200, scripts=False)
        text = self.browser.value("document.querySelector('#waits').textContent")
        for words in ("rank 0", "rank 1", "rank 2", "ms of waiting"):
            self.assertIn(words, text)
        self.assertGreater(self.browser.value("document.querySelectorAll('#waits rect').length"), 20)

    def test_one_rank_alone_has_no_map(self):
        rank = next((self.folder / "ranks").glob("rank0.json*"))
        out = self.folder / "alone"
        subprocess.run([BINARY, "collectives", rank, "--output-dir", out], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        page = out / "ranks.html"
        if page.exists():
            self.assertNotIn("id=\"waits\"", page.read_text())

    def test_say_what_the_reports_say(self):
        page = self.pages["comparison"].read_text()
        report = (self.folder / "pair/comparative_analysis_fair.md").read_text()
        verdict = next(line for line in report.split("\n") if line.startswith("**"))
        verdict = verdict.split("**: ")[1]
        self.assertIn(json.dumps(verdict[:60])[1:-1].replace("\\u2212", "\u2212"), page)


if __name__ == "__main__":
    unittest.main()
