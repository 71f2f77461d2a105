#!/usr/bin/env python3
"""The ledger of a pair: its wall lines add up to the difference of the units, each side has the
figures of its own ledger, a trace against itself has no difference, and exchanging turns the signs.

pair_ledger_test.py [--all]   --all: every pair and every recording of the test data against itself
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import program

SAMPLE_PAIRS = ["ll_tma_align", "ao_custom_attn", "kin_loader"]
SAMPLE_TRACES = ["norm-layers", "switch-moe-a100", "gpu-only-mi210", "async-flows-v100"]
OPTIONS = argparse.Namespace(all=False)
SIDES = ("candidate", "baseline")


def ns(row, column):
    """Milliseconds of a cell as whole nanoseconds; 0: it is empty."""
    return round(float(row[column] or 0) * 1e6)


class PairLedger(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if not (program.DATA / "traces").is_dir():
            self.skipTest("no test data")

    def run_jarvis(self, *arguments):
        return subprocess.run([program.BINARY, *map(str, arguments)], capture_output=True,
                              text=True, timeout=300)

    def base(self, trace):
        out = self.folder / "alone"
        ran = self.run_jarvis("analyze", trace, "--output", out, "--overwrite")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads((out / "ledger_base.json").read_text())

    def rows(self, candidate, baseline):
        out = self.folder / "pair"
        ran = self.run_jarvis("compare", candidate, baseline, "--output-dir", out, "--overwrite")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        rows = list(csv.DictReader((out / "ledger.csv").read_text().splitlines()))
        # The rows by op are of the same unit; by what launches the work, not by when it runs.
        ops = list(csv.DictReader((out / "compare_by_op.csv").read_text().splitlines()))[2:]
        for side, column in zip(SIDES, ("candidate_ms", "baseline_ms")):
            kernels = sum(ns(row, f"{side}_ms") for row in rows if row["book"] == "gpu")
            self.assertAlmostEqual(sum(ns(row, column) for row in ops), kernels,
                                   delta=0.03 * kernels + 1000)
        return rows, ran.stdout

    def check_sums(self, rows):
        unit = rows[0]
        self.assertEqual(unit["book"], "unit")
        wall = [row for row in rows if row["book"] == "wall"]
        for side in SIDES:
            self.assertEqual(sum(ns(row, f"{side}_ms") for row in wall), ns(unit, f"{side}_ms"))
            # Kernels by name and kind are the work of the wall's lines, kind by kind.
            for line in wall:
                kernels = [row for row in rows if row["book"] == "gpu" and row["kind"] == line["kind"]]
                if line["kind"] not in ("idle", "unrecorded"):
                    self.assertAlmostEqual(sum(ns(row, f"{side}_ms") for row in kernels),
                                           ns(line, f"{side}_gpu_ms"), delta=len(kernels) + 1)
        self.assertEqual(sum(ns(row, "delta_ms") for row in wall), ns(unit, "delta_ms"))
        for row in rows:
            self.assertEqual(ns(row, "delta_ms"), ns(row, "candidate_ms") - ns(row, "baseline_ms"))

    def pairs(self):
        names = SAMPLE_PAIRS
        if OPTIONS.all:
            names = sorted(path.name for path in (program.DATA / "traces/pairs").iterdir())
        return [program.DATA / "traces/pairs" / name for name in names]

    def test_pairs_add_up_and_have_the_figures_of_each_side(self):
        for pair in self.pairs():
            with self.subTest(pair.name):
                traces = pair / "after.json.gz", pair / "before.json.gz"
                rows, said = self.rows(*traces)
                self.check_sums(rows)
                for side, trace in zip(SIDES, traces):
                    base = self.base(trace)
                    self.assertEqual(ns(rows[0], f"{side}_ms"), base["unit_ns"])
                    line = next(line for line in said.splitlines()
                                if line.startswith(f"Base of the {side}: "))
                    self.assertIn(f" {base['unit']} of ", line)
                    if base["count"] > 1:
                        self.assertIn(f"mean of {base['count']}", line)
                    busy = sum(ns(row, f"{side}_ms") for row in rows
                               if row["book"] == "wall" and row["kind"] not in ("idle", "unrecorded"))
                    self.assertAlmostEqual(busy, base["gpu_busy_ns"] / base["count"], delta=30)
                turned, _ = self.rows(*reversed(traces))
                self.assertEqual({(row["book"], row["line"], row["kind"]): -ns(row, "delta_ms")
                                  for row in turned[1:]},
                                 {(row["book"], row["line"], row["kind"]): ns(row, "delta_ms")
                                  for row in rows[1:]})

    def test_a_trace_against_itself(self):
        traces = sorted((program.DATA / "traces").glob("*/trace.json*"))
        for trace in traces:
            if not OPTIONS.all and trace.parent.name not in SAMPLE_TRACES:
                continue
            with self.subTest(trace.parent.name):
                rows, _ = self.rows(trace, trace)
                self.check_sums(rows)
                for row in rows:
                    self.assertEqual(ns(row, "delta_ms"), 0, row)
                self.assertEqual(ns(rows[0], "candidate_ms"), self.base(trace)["unit_ns"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    OPTIONS, left = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *left])
