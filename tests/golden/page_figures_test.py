#!/usr/bin/env python3
"""The figures of a finished page agree with each other: phases with their share of the step, the
savings of rows with their sum, the ends of every range with each other."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

NUMBER = r"(\d+(?:\.\d+)?)"
RANGE = re.compile(rf"{NUMBER} to {NUMBER}( ms|%)")
ROUNDED = 0.012  # three digits each, several of them added up
MORE = 0.02  # by so much rows may add up to more before the page says so


def traces():
    yield program.EXAMPLE
    if (program.DATA / "traces").is_dir():
        yield from sorted((program.DATA / "traces").glob("*/trace.json.gz"))


def tables(text):
    """Header and rows of each table."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            found.append((rows[0], rows[2:]))
            rows = []
    return found


def span(cell):
    """Low and high of a saving in ms; "up to" has nothing for certain."""
    cell = re.sub(r"^about [^(]*\(", "", cell)  # what is expected, before the range
    if match := re.match(rf"(?:at most|up to) {NUMBER} ms", cell):
        return 0.0, float(match[1])
    if match := re.match(rf"{NUMBER} to {NUMBER} ms", cell):
        return float(match[1]), float(match[2])
    if match := re.match(rf"{NUMBER} ms", cell):
        return float(match[1]), float(match[1])
    return None


class PageFigures(unittest.TestCase):
    def page(self, trace):
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([program.BINARY, "analyze", str(trace), "--output-dir", folder],
                                 capture_output=True, text=True, timeout=300)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.numbers((pathlib.Path(folder) / "analysis.md").read_text())
            return (pathlib.Path(folder) / "standalone_analysis_fair.md").read_text()

    def numbers(self, analysis):
        """A finding has one number in all documents: the plan's."""
        cards = [int(number) for number in re.findall(r"^### \S+ P(\d+): ", analysis, re.M)]
        self.assertEqual(sorted(cards), list(range(1, len(cards) + 1)))
        told = [int(number) for number in re.findall(r"priorit(?:y|ies 1 (?:to|and)) (\d+)", analysis)]
        self.assertLessEqual(max(told, default=0), len(cards))

    def test_all(self):
        program.need_binary()
        for trace in traces():
            with self.subTest(trace=str(trace)):
                page = self.page(trace)
                self.ranges(page)
                for header, rows in tables(page):
                    if header[:1] == ["Phase"]:
                        self.phases(page, header, rows)
                    if "What to do" in header:
                        self.savings(page, header, rows)

    def ranges(self, page):
        for low, high, _ in RANGE.findall(page):
            self.assertLessEqual(float(low), float(high) * (1 + ROUNDED))

    def phases(self, page, header, rows):
        base = re.search(rf"^\| (?:Step|Iteration|Recording)[^|]*\| {NUMBER} ms \| 100%",
                         page, re.M)
        if base is None:
            return  # no GPU work: nothing says what shares are of
        # By the GPU where that sets the pace; its parts may run beside each other.
        by_gpu = header[-1].startswith("GPU busy")
        column = header.index("GPU busy, each" if by_gpu else "Host, each")
        share_of_all = 0
        for row in rows:
            each, share = float(row[column].split()[0]), float(row[-1].rstrip("%"))
            times = re.match(r"(\d+)(?: in (\d+) steps)?", row[1])
            often = int(times[1]) / int(times[2] or 1)
            share_of_all += share
            if share >= 5:
                told = 100 * each * often / float(base[1])
                self.assertAlmostEqual(told, share, delta=0.02 * share + 0.1, msg=row[0])
        if not by_gpu:
            self.assertLessEqual(share_of_all, 102)

    def savings(self, page, header, rows):
        at = next(i for i, name in enumerate(header) if name.startswith("On top of"))
        alone = next(i for i, name in enumerate(header) if name.startswith("Saving"))
        parts = [span(row[at]) for row in rows
                 if row[1] != "All of the above" and "not in the total" not in row[at]]
        parts = [part for part in parts if part]
        for row in rows:
            after, before = span(row[at]), span(row[alone])
            if after and before and "once priority" not in row[at]:
                self.assertLessEqual(after[1], before[1] * (1 + ROUNDED), row[1])
        of_all = [row[at] for row in rows if row[1] == "All of the above"]
        told = [span(text) for text in of_all]
        if not told:
            return
        # A low end that is next to nothing beside the high one is not told: "up to 2.9 ms".
        for end in (1,) if "up to" in of_all[0] else (0, 1):
            summed = sum(part[end] for part in parts)
            more = end == 1 and "add up to more because savings overlap" in page
            if more:
                # Not all of them can save their most: the total is less, and the page says so.
                self.assertLess(told[0][end], summed)
            else:
                delta = (ROUNDED + (MORE if end == 1 else 0)) * max(summed, told[0][end])
                self.assertAlmostEqual(told[0][end], summed, delta=delta)
            self.assertGreaterEqual(told[0][end] * (1 + ROUNDED), max(part[end] for part in parts))
        saved = rf"((?:up to )?{NUMBER}(?: to {NUMBER})? ms)"
        sentence = re.search(rf"All recommendations together save (?:about [^(]*\()?{saved}", page)
        self.assertEqual(span(sentence[1]), told[0])


if __name__ == "__main__":
    unittest.main()
