#!/usr/bin/env python3
"""One identity of each collective: whatever a call of `collectives` writes says the same of how many there are, who
comes last how often, and how long each rank waits. On every job that there is."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, table, number, rows_of, lines_of  # noqa: E402

TRACES = program.DATA / "traces"
REPORTED = program.DATA / "cases/reported"


def jobs():
    """Folders with traces, and single files that may hold several ranks."""
    found = []
    for root in (TRACES, REPORTED):
        if root.is_dir():
            found += sorted({path.parent for path in root.rglob("*.json.gz") if path.parent != root})
    return found + (sorted(REPORTED.glob("merged*.json.gz")) if REPORTED.is_dir() else [])


class Agreement(Case):
    def overlapping(self, out):
        """Ranks of which two matched calls run at once: their waits overlap, and count once."""
        ends, found = {}, set()
        for row in sorted(table(out, "nccl_long"), key=lambda row: (row["rank"], float(row["ts"]))):
            if float(row["ts"]) < ends.get(row["rank"], float("-inf")):
                found.add(row["rank"])
            ends[row["rank"]] = max(ends.get(row["rank"], float("-inf")),
                                    float(row["ts"]) + float(row["dur"]))
        return found

    def check(self, job):
        answer, out = self.report(job)
        sync = table(out, "nccl_implicit_sync")
        stragglers = {row["rank"]: row for row in table(out, "straggler_summary")}
        ranks = {row["rank"]: row for row in table(out, "rank_summary")}
        matched = [row for row in sync if row["avg_wait_time"] != ""]
        if len(ranks) == 1:
            self.assertEqual(matched, [])
            return
        pairs = answer.get("sends_with_receives", 0)
        self.assertEqual(len(matched), answer["collectives"] + pairs)
        if answer["collective_kernels"] == 0:
            return
        said = re.search(r"(\d+) collectives", answer["summary"])
        self.assertEqual(int(said[1]) if said else 0, answer["collectives"])
        self.assertEqual(len(table(out, "nccl_long")), answer["collective_kernels"])
        self.assertEqual(sum(int(row["collectives"]) for row in ranks.values()),
                         answer["collective_kernels"])
        self.assertEqual(sum(int(row["matched"]) for row in ranks.values()),
                         sum(int(row["ranks present"]) for row in matched))
        page = (out / "ranks.html").read_text(encoding="utf-8") if (out / "ranks.html").exists() else ""
        if page and matched:
            self.assertIn(f"{len(matched)} matched collectives", page)
        overlapping = self.overlapping(out)
        ledgers = {row["rank"]: row for row in table(out, "ledger")}
        whole = max((sum(float(row[column]) for column in ("base (ms)", "left out (ms)"))
                     for row in ledgers.values()), default=0)
        covered = {rank: float(row["covered by computation (%)"] or 0) for rank, row in ranks.items()}
        for row in rows_of(answer):
            rank = str(row["rank"])
            if rank not in ranks:
                continue  # several ranks folded
            last = sum(one["last rank"] == rank for one in sync)
            self.assertEqual(int(stragglers[rank]["times_arrived_last"]), last)
            if "last" not in row:
                continue
            # Of the base, which may be a part of the recording.
            self.assertLessEqual(row["last"], last)
            if rank in ledgers and float(ledgers[rank]["base (ms)"]) >= whole:
                self.assertEqual(row["last"], last)
            wait = float(ranks[rank]["wait in collectives (ms)"])
            if rank in ledgers:  # of the base, and of what nothing hides
                exposed = float(ledgers[rank]["of it waiting (ms)"])
                self.assertAlmostEqual(row["wait_ms"], exposed, delta=0.0006)
                self.assertLessEqual(exposed, wait + 1e-6)
                if float(ledgers[rank]["base (ms)"]) >= whole and wait > 0 and covered[rank] == 0:
                    self.assertAlmostEqual(exposed, wait, delta=0.01 * wait)
            self.assertAlmostEqual(number(stragglers[rank]["total_wait_time_us"]) / 1000, wait)
            waits = [number(one[f"rank_{rank}_wait_time"]) or 0 for one in sync]
            bubble = float(ranks[rank]["pipeline bubble (ms)"])
            if rank not in overlapping:
                self.assertAlmostEqual(sum(waits) / 1000, wait + bubble, places=6)
        if matched and (out / "ranks_analysis_fair.md").exists():
            for line in lines_of(out):
                if told := re.match(r"- rank (\d+): last (\d+) times", line):
                    self.assertLessEqual(int(told[2]),
                                         int(stragglers[told[1]]["times_arrived_last"]))

    @unittest.skipUnless(jobs(), f"no jobs in {program.DATA}")
    def test_every_job(self):
        for job in jobs():
            with self.subTest(str(job)):
                self.check(job)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
