#!/usr/bin/env python3
"""jarvis compare --compat tracelens against the reference's own comparisons, every cell; and the
default on the same reports: no row twice.

    compare_reports_test.py [unittest arguments]
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

csv.field_size_limit(1 << 30)

EXPECTED = program.DATA / "expected"
QWEN = EXPECTED / "compare/reports-qwen-h100-vs-mi300x"
THREADS = EXPECTED / "compare/reports-256-vs-512-threads"


def compare(out, *arguments):
    ran = subprocess.run([program.BINARY, "compare", *map(str, arguments), "--output-dir", out],
                         capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        raise AssertionError(ran.stderr)
    return ran.stdout


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Reports(unittest.TestCase):
    def check(self, expected, out, *more):
        tool = program.DATA / "tools/compare_tables.py"
        ran = subprocess.run([sys.executable, "-B", str(tool), *more, str(expected), out],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def qwen(self, kind):
        for device in ("h100", "mi300x"):
            if kind == "report":
                yield EXPECTED / f"qwen1.5-0.5b-{device}/report"
            else:
                yield program.DATA / f"traces/qwen1.5-0.5b-{device}/trace.json.gz"

    def test_reports_of_two_devices(self):
        for kind in ("report", "trace"):
            with self.subTest(kind), tempfile.TemporaryDirectory() as out:
                compare(out, *self.qwen(kind), "--names", "h100,mi300", "--compat", "tracelens")
                self.check(QWEN, out)
                made = {path.name for path in pathlib.Path(out).glob("*.csv")}
                self.assertEqual(made, {path.name for path in QWEN.glob("*.csv")})
                self.assertTrue((pathlib.Path(out) / "comparison.xlsx").is_file())

    def test_reports_as_workbooks(self):
        with tempfile.TemporaryDirectory() as out:
            books = []
            for trace in self.qwen("trace"):
                folder = pathlib.Path(out) / trace.parent.name
                books.append(folder / "report.xlsx")
                program.ask("perf_report", trace=str(trace), output_dir=str(folder),
                            kernel_summary=True, output_xlsx=str(books[-1]), compat="tracelens")
            compare(out + "/compared", *books, "--names", "h100,mi300", "--compat", "tracelens")
            self.check(QWEN, out + "/compared")
            # A workbook of the reference's own against itself.
            theirs = program.DATA / ("sweep/expected/sweep_20251121_155219/samples/"
                                     "256thread_perf_28ch_rank0.xlsx")
            if theirs.is_file():
                compare(out + "/theirs", theirs, theirs, "--names", "a,b")
                for row in rows_of(pathlib.Path(out) / "theirs/gpu_timeline.csv"):
                    self.assertEqual(float(row["time ms__a_minus_b"]), 0)
                self.assertEqual(rows_of(pathlib.Path(out) / "theirs/GEMM_only_variant_a.csv"), [])
                self.assertGreater(
                    len(rows_of(pathlib.Path(out) / "theirs/GEMM_intersect_a.csv")), 5)

    def test_reports_of_a_kernel_profiler(self):
        with tempfile.TemporaryDirectory() as out:
            compare(out, THREADS / "input-256", THREADS / "input-512", "--names",
                    "256thread,512thread", "--sheets", "gpu_timeline,kernel_summary",
                    "--compat", "tracelens")
            self.check(THREADS / "expected", out)

    def test_by_default_no_row_stands_twice(self):
        with tempfile.TemporaryDirectory() as out:
            compare(out, *self.qwen("report"), "--names", "h100,mi300")
            made = rows_of(pathlib.Path(out) / "kernel_summary.csv")
            for tag, device in (("h100", "h100"), ("mi300", "mi300x")):
                report = EXPECTED / f"qwen1.5-0.5b-{device}/report/kernel_summary.csv"
                for column in ("Kernel duration (µs)_sum", "Kernel duration (µs)_count"):
                    self.assertAlmostEqual(
                        sum(float(row[f"{tag}::{column}"] or 0) for row in made),
                        sum(float(row[column]) for row in rows_of(report)), places=6)
            keys = [(row["Kernel name"], row["Parent cpu_op"], row["Parent op category"])
                    for row in made]
            self.assertEqual(len(keys), len(set(keys)))

    def test_three_runs(self):
        h100, mi300 = self.qwen("report")
        with tempfile.TemporaryDirectory() as out:
            said = compare(out, h100, mi300, h100, "--names", "c,b,a")
            self.assertEqual(said.splitlines()[0],
                             f"Candidates: c ({h100}), b ({mi300}); baseline: a ({h100})")
            self.assertIn("a is the baseline", said)
            rows = rows_of(pathlib.Path(out) / "ops_summary.csv")
            self.assertTrue(rows)
            for row in rows:
                if row["a::Count"]:
                    self.assertEqual(float(row["Count__c_over_a"]), 1)

    def test_what_cannot_be_compared_is_said(self):
        h100, mi300 = self.qwen("report")
        cases = [((h100, THREADS / "input-256", "--compat", "tracelens", "--sheets", "ops_summary"),
                  "not in"),
                 ((h100, mi300, "--names", "a"), "names: 1 for 2 reports"),
                 ((h100, mi300, "--names", "a,a"), "two reports have the same"),
                 ((h100, mi300, "--names", "a,../b"), "cannot be part of a file name"),
                 ((h100, mi300, "--sheets", "gemm"), "is not one of"),
                 ((h100, program.DATA / "seeds"), "0 CSV tables")]
        for arguments, text in cases:
            with self.subTest(text), tempfile.TemporaryDirectory() as out:
                with self.assertRaises(AssertionError) as raised:
                    compare(out, *arguments)
                self.assertIn(text, str(raised.exception))


if __name__ == "__main__":
    program.need_data()
    if not QWEN.is_dir():
        program.skip(f"no {QWEN}")
    unittest.main()
