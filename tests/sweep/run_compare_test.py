#!/usr/bin/env python3
"""Whole runs against each other: the reference's tables, and our own with one sign."""

import csv
import math
import pathlib
import tempfile
import unittest

from sweep_support import main, program

SWEEP = program.DATA / "sweep/input/sweep_20251121_155219"
EXPECTED = program.DATA / "sweep/expected"
RUNS = {name: str(SWEEP / f"{name[:3]}thread/nccl_{name[5:]}") for name in (
    "256t_28channels", "512t_28channels", "512t_70channels")}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def same(ours, theirs):
    if ours == theirs:
        return True
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=1e-6, abs_tol=1e-9)
    except ValueError:
        return False


class RunCompare(unittest.TestCase):
    def compare(self, names, **more):
        temporary = tempfile.TemporaryDirectory(prefix="jarvis_runs_")
        self.addCleanup(temporary.cleanup)
        answer = program.ask("run_compare", runs=[RUNS[name] for name in names], labels=list(names),
                             output_dir=temporary.name, **more)
        return answer, pathlib.Path(temporary.name)

    def hold_against(self, folder, expected, without=()):
        tables = sorted(expected.glob("*.csv"))
        self.assertTrue(tables)
        for table in tables:
            if table.stem in without:
                continue
            with self.subTest(table.stem):
                ours, theirs = read(folder / table.name), read(table)
                self.assertEqual(ours[0], theirs[0])
                self.assertEqual(len(ours), len(theirs))
                for our_row, their_row in zip(ours, theirs):
                    for column, our, their in zip(theirs[0], our_row, their_row):
                        self.assertTrue(same(our, their), f"{column}: {our} {their} in {their_row}")

    def test_two_runs_as_the_reference(self):
        _, folder = self.compare(["256t_28channels", "512t_70channels"], reference_compat=True)
        self.hold_against(folder, EXPECTED / "single_pair_256t28_vs_512t70/csv")

    def test_three_runs_as_the_reference(self):
        _, folder = self.compare(list(RUNS), reference_compat=True)
        self.hold_against(folder, EXPECTED / "single_three_way/csv")

    def test_one_sign_for_any_number(self):
        answer, folder = self.compare(list(RUNS))
        self.assertTrue(answer["complete"])
        rows = {(row[0], row[1]): dict(zip(answer["columns"], row)) for row in answer["rows"]}
        base, other = rows["256t_28channels", "total_time"], rows["512t_28channels", "total_time"]
        self.assertIsNone(base["change_pct"])
        self.assertAlmostEqual(other["change_pct"], (44.663 - 45.052) / 45.052 * 100, places=2)
        self.assertEqual(other["verdict"], "similar")
        self.assertEqual(rows["512t_70channels", "exposed_comm_time"]["verdict"], "better")
        self.assertEqual(rows["512t_70channels", "computation_time"]["verdict"], "worse")
        page = (folder / "runs_comparison.html").read_text(encoding="utf-8")
        self.assertIn("512t_28channels", page)
        self.assertTrue((folder / "plots/improvement_chart.svg").is_file())
        collectives = read(folder / "runs_collectives.csv")
        column = collectives[0].index
        row = next(row for row in collectives if row[0] == "512t_70channels" and row[1] == "allreduce")
        self.assertEqual(row[column("latency_us_verdict")], row[column("bus_gib_s_verdict")], "better")
        self.assertLess(float(row[column("latency_us_change_pct")]), 0)
        self.assertGreater(float(row[column("bus_gib_s_change_pct")]), 0)
        self.assertAlmostEqual(float(row[column("latency_us_speedup")]),
                               float(row[column("bus_gib_s_speedup")]), places=2)

    def test_labels_and_mistakes(self):
        answer = program.ask("run_compare", runs=[RUNS["256t_28channels"]] * 2)
        self.assertEqual(answer["labels"], ["256thread_nccl_28channels", "256thread_nccl_28channels_2"])
        self.assertEqual({row[answer["columns"].index("verdict")] for row in answer["rows"]
                          if row[0].endswith("_2")}, {"similar"})
        for runs, text in (([RUNS["256t_28channels"]], "2"), ([str(SWEEP), "/nowhere"], "")):
            ran = program.call("run_compare", runs=runs)
            self.assertEqual(ran.returncode, 1)
            self.assertIn(text, ran.stderr)


if __name__ == "__main__":
    program.need_data()
    main()
