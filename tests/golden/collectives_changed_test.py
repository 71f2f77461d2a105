#!/usr/bin/env python3
"""What must not matter to the report about all ranks: the order of the files, their names, and by which constant a rank's
clock is off."""

import gzip
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, lines_of, table, tables_of  # noqa: E402

JOBS = [program.DATA / f"traces/{name}" for name in ("megatron-tp8-a100", "dlrm-a2a-v100")]
RANKS = 4


def ranks_of(job):
    return sorted(job.glob("rank*.json.gz"))[:RANKS]


def without_instants(rows):
    """Columns of instants are as recorded."""
    return [{column: cell for column, cell in row.items() if not column.endswith("ts")} for row in rows]


@unittest.skipUnless(all(job.is_dir() for job in JOBS), f"no traces in {program.DATA}")
class Changed(Case):
    def test_order_and_names_of_files(self):
        for job in JOBS:
            _, out = self.report(*ranks_of(job))
            answer, turned = self.report(*reversed(ranks_of(job)))
            self.assertEqual(tables_of(out), tables_of(turned))
            folder = self.path / f"renamed_{job.name}"
            folder.mkdir()
            for i, path in enumerate(ranks_of(job)):
                (folder / f"{chr(ord('z') - i)}.json.gz").write_bytes(path.read_bytes())
            renamed, out = self.report(folder)
            self.assertEqual(renamed["rows"], answer["rows"])
            self.assertEqual(renamed["summary"], answer["summary"])
            self.assertEqual(table(out, "ledger"), table(turned, "ledger"))
            self.assertEqual(table(out, "straggler_summary"), table(turned, "straggler_summary"))

    def shifted(self, job, moved, us):
        folder = self.path / f"{job.name}_{moved}_{us}"
        folder.mkdir()
        for rank, path in enumerate(ranks_of(job)):
            text = path.read_bytes()
            if rank == moved:
                document = json.loads(gzip.decompress(text))
                for event in document["traceEvents"]:
                    if "ts" in event:
                        event["ts"] = round(float(event["ts"]) + us, 3)
                text = gzip.compress(json.dumps(document).encode())
            (folder / path.name).write_bytes(text)
        return self.report(folder)

    def test_a_clock_that_is_off_by_a_constant(self):
        for job in JOBS:
            plain, out = self.report(*ranks_of(job))
            for moved, us in ((1, 5_000_000), (2, -777)):
                answer, shifted = self.shifted(job, moved, us)
                self.assertEqual(answer["rows"], plain["rows"])
                self.assertEqual(answer["summary"], plain["summary"])
                self.assertEqual(answer["verdict"], plain["verdict"])
                for name in ("straggler_summary", "nccl_summary_implicit_sync", "ledger"):
                    self.assertEqual(table(shifted, name), table(out, name), name)
                self.assertEqual(without_instants(table(shifted, "nccl_implicit_sync")),
                                 without_instants(table(out, "nccl_implicit_sync")))
                clocks = [[line for line in lines_of(one) if not line.startswith("- Clocks")]
                          for one in (shifted, out)]
                self.assertEqual(*clocks)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
