#!/usr/bin/env python3
"""The reference's tables about XPlane profiles and rocprofv3's Perfetto traces, cell by cell, where
$JARVIS_TEST_DATA has them. Ids of events are compared on the first device alone: the others depend
on what a converter draws.

    profiles_test.py [unittest arguments]
"""

import csv
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

SAMPLES = program.DATA / "traces/inputs"
EXPECTED = program.DATA / "expected/inputs"
IDS = ("UID", "ex_UID", "UID_first")
csv.field_size_limit(1 << 30)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Tables(unittest.TestCase):
    def check(self, sample, files):
        trace = next(p for p in sorted((SAMPLES / sample).iterdir()) if p.suffix != ".json")
        with tempfile.TemporaryDirectory() as folder:
            program.ask("perf_report", trace=str(trace), compat="tracelens",
                        output_dir=folder + "/out")
            for path in files:
                with self.subTest(sample=sample, table=path.name):
                    expected, found = read(path), read(pathlib.Path(folder, "out", path.name))
                    self.assertEqual(len(expected), len(found))
                    several = len({row.get("pid") for row in expected}) > 1 or "tf-" in sample
                    for one, other in zip(expected, found):
                        self.assertEqual(list(one), list(other))
                        for column, value in one.items():
                            if not (several and column in IDS):
                                self.assertEqual(value, other[column], column)

    def test_jax(self):
        for folder in sorted(EXPECTED.glob("*/jax")):
            self.check(folder.parent.name, sorted(folder.glob("*.csv")))

    def test_pftrace(self):
        for folder in sorted(EXPECTED.glob("pftrace-*")):
            files = sorted(folder.glob("*/*.csv"))
            if files:
                self.check(folder.name, files)


if __name__ == "__main__":
    program.need_data()
    unittest.main()
