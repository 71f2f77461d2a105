#!/usr/bin/env python3
"""The ledger of each rank: the figures that `analyze` of that rank alone gives, and a split of exposed communication
that adds up."""

import csv
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, table, rows_of  # noqa: E402

TRACES = program.DATA / "traces"
JOBS = [TRACES / name for name in ("megatron-tp8-a100", "dlrm-a2a-v100", "lightllm-decode-h200",
                                   "ep-moe-b200")]
COMMUNICATION = ("exposed communication transfer", "exposed communication wait")
SPLIT = ("waiting", "pipeline bubble", "transfer", "unmatched")


def ns(cell):
    return round(float(cell) * 1e6)


def books(out):
    with open(out / "ledger.csv", encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["book"] == "wall"]


class Ledgers(Case):
    def alone(self, path):
        out = self.path / f"alone_{path.parent.name}_{path.name}"
        subprocess.run([program.BINARY, "analyze", str(path), "--output", str(out)], check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
        base = json.loads(next(out.rglob("ledger_base.json")).read_text(encoding="utf-8"))
        return base, books(next(out.rglob("ledger.csv")).parent)

    def sums(self, row):
        parts = ("computation (ms)", "exposed communication (ms)", "exposed copies (ms)",
                 "idle by the host (ms)", "idle, host not scheduled or blocked (ms)",
                 "idle otherwise (ms)", "unrecorded GPU work (ms)")
        self.assertEqual(sum(ns(row[part]) for part in parts), ns(row["base (ms)"]))
        if row["of it waiting (ms)"] != "":
            self.assertEqual(sum(ns(row[f"of it {part} (ms)"]) for part in SPLIT),
                             ns(row["exposed communication (ms)"]))
            for part in SPLIT:
                self.assertGreaterEqual(ns(row[f"of it {part} (ms)"]), 0)

    @unittest.skipUnless(TRACES.is_dir(), f"no traces in {TRACES}")
    def test_figures_are_those_of_each_rank_alone(self):
        for job in JOBS:
            answer, out = self.report(job)
            ledgers = {row["rank"]: row for row in table(out, "ledger")}
            self.assertEqual(set(ledgers), {str(row["rank"]) for row in rows_of(answer)})
            files = {row["rank"]: row["file"] for row in table(out, "rank_summary")}
            for rank, row in ledgers.items():
                self.sums(row)
            # One rank of each job, and the two of the job whose ranks differ most.
            for rank in sorted(ledgers)[:1] + (["2"] if "2" in ledgers else []):
                row = ledgers[rank]
                base, wall = self.alone(next(job.rglob(files[rank])))
                self.assertEqual((row["unit"], int(row["units"])), (base["unit"], base["count"]))
                for column, member in (("base", "ns"), ("unit", "unit_ns"), ("GPU busy", "gpu_busy_ns"),
                                       ("host alone", "host_alone_ns"), ("one-time work", "one_time_ns"),
                                       ("unrecorded time", "unrecorded_ns"), ("left out", "left_out_ns")):
                    self.assertEqual(ns(row[f"{column} (ms)"]), base[member], (job.name, rank, column))
                lines = {line["line"]: int(line["ns"]) for line in wall}
                self.assertEqual(ns(row["exposed communication (ms)"]),
                                 sum(lines.get(line, 0) for line in COMMUNICATION))
                stopped = lines.get("idle: host not scheduled or blocked", 0)
                self.assertEqual(ns(row["idle, host not scheduled or blocked (ms)"]), stopped)
                for shown in rows_of(answer):
                    if str(shown["rank"]) == rank:
                        self.assertAlmostEqual(shown["busy_ms"], base["gpu_busy_ns"] / 1e6, delta=0.001)
                        self.assertAlmostEqual(shown["base_ms"], base["ns"] / 1e6, delta=0.001)

    @unittest.skipUnless(JOBS[0].is_dir(), f"no traces in {JOBS[0]}")
    def test_what_waits_changes_the_split_alone(self):
        _, whole = self.report(JOBS[0])
        _, part = self.report(*[JOBS[0] / f"rank{rank}.json.gz" for rank in (0, 1, 2)])
        ours = {row["rank"]: row for row in table(whole, "ledger")}
        for row in table(part, "ledger"):
            for column in row:
                if not column.startswith("of it"):
                    self.assertEqual(row[column], ours[row["rank"]][column], column)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
