#!/usr/bin/env python3
"""Opens the comparison pages in Chromium: nothing on the console, nothing asked of the network,
no page wider than the window, in light and dark, tables that sort and filter, and all of it to be
read without scripts. PICTURES=FOLDER keeps screenshots."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import browser, page_checks

BINARY = os.environ.get("JARVIS_BINARY", "")
WRITER = pathlib.Path(BINARY).parent / "tests/sweep_test"
PICTURES = os.environ.get("PICTURES")
PAGES = ("sweeps_1", "sweeps_8", "sweeps_hostile", "runs_3", "runs_hostile")


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not BINARY or not WRITER.exists():
            raise unittest.SkipTest("JARVIS_BINARY names no build with tests/sweep_test")
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = pathlib.Path(cls.made.name)
        subprocess.run([WRITER, "-tc=samples*"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "JARVIS_SAMPLE_DIR": cls.made.name})
        if browser.CHROMIUM:
            cls.browser = browser.Browser()
            cls.addClassCleanup(cls.browser.close)

    def test_plots_are_xml_without_scripts(self):
        plots = list(self.folder.glob("*.svg"))
        self.assertGreater(len(plots), 20)
        for plot in plots:
            for element in xml.etree.ElementTree.parse(plot).getroot().iter():
                self.assertNotIn("script", element.tag)
                self.assertFalse([a for a in element.attrib if a.startswith("on") or "href" in a])

    def need_browser(self):
        if not browser.CHROMIUM:
            self.skipTest("chromium is not installed")

    def open(self, page, *args, **more):
        self.browser.open((self.folder / f"{page}.html").as_uri(), *args, **more)

    def test_pages_fit_and_are_quiet(self):
        self.need_browser()
        for page in PAGES:
            for width in (1200, 400):
                for dark in (False, True):
                    with self.subTest(page=page, width=width, dark=dark):
                        self.open(page, width, dark=dark)
                        page_checks.check_quiet(self, self.browser, width)
                        if PICTURES:
                            name = f"{page}_{width}_{'dark' if dark else 'light'}.png"
                            self.browser.picture(pathlib.Path(PICTURES, name))

    def test_text_is_readable_on_what_is_behind_it(self):
        self.need_browser()
        for dark in (False, True):
            self.open("sweeps_3", 1200, dark=dark)
            page_checks.check_contrast(self, self.browser, "h1,h2,p,th,td,small,dt,a,li,figcaption")

    def test_pages_are_read_without_scripts(self):
        self.need_browser()
        self.open("sweeps_hostile", 1200, scripts=False)
        self.assertEqual(self.browser.requests[1:], [u for u in self.browser.requests[1:]
                                                     if u.startswith("data:")])
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertEqual(self.browser.value("document.querySelectorAll('th button, input').length"),
                         0)
        heights = self.browser.value(
            "[...document.querySelectorAll('table')].map((t) => t.offsetHeight)")
        self.assertGreater(len(heights), 5)
        self.assertGreater(min(heights), 30)
        self.assertIn("within noise", self.browser.value("document.body.innerText"))

    def test_tables_sort_and_filter(self):
        self.need_browser()
        self.open("sweeps_3", 1200)
        column = """[...[...document.querySelectorAll('table')].find(
            (t) => t.tHead.textContent.startsWith('ConfigurationBase')).tBodies[0].rows]
            .map((r) => r.cells[3].dataset.v ?? null)"""
        press = """[...document.querySelectorAll('table')].find(
            (t) => t.tHead.textContent.startsWith('ConfigurationBase'))
            .tHead.rows[0].cells[3].querySelector('button').click()"""
        self.browser.value(press)
        values = [float(value) for value in self.browser.value(column)]
        self.assertEqual(values, sorted(values))
        self.browser.value(press)
        values = [float(value) for value in self.browser.value(column)]
        self.assertEqual(values, sorted(values, reverse=True))
        shown = self.browser.value("""(() => { const input = document.querySelector('.filter input');
            input.value = 'chi12 no such kernel'; input.dispatchEvent(new Event('input'));
            return input.parentNode.textContent; })()""")
        self.assertIn("0 of 12 rows", shown)

    def test_the_whole_name_of_a_kernel_is_there(self):
        self.need_browser()
        self.open("sweeps_3", 400)
        name = "document.querySelector('td.code span[title^=Cijk_Alik]')"
        folded = self.browser.value(f"{name}.offsetHeight")
        self.browser.value(f"{name}.focus()")
        self.assertGreater(self.browser.value(f"{name}.offsetHeight"), folded * 2)
        self.assertEqual(len(self.browser.value(f"{name}.textContent")),
                         len(self.browser.value(f"{name}.title")))


if __name__ == "__main__":
    unittest.main()
