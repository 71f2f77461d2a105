#!/usr/bin/env python3
"""The compatible collective report against the reference's tables of whole sweeps: every sheet, every
configuration, the readable ranks of the damaged one. Rows are matched by key: the reference's order
over ranks and configurations is not the report's."""

import csv
import gzip
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

SWEEPS = program.DATA / "sweep"
KEYS = {
    "nccl_long": ("collective_id", "rank"),
    "nccl_implicit_sync": ("collective_id",),
    "nccl_summary_implicit_sync": ("Collective name", "dtype", "In msg nelems"),
    "nccl_summary_long": ("rank", "Collective name", "dtype", "In msg nelems", "stream"),
}
TOLERANCE = 1e-6


def rows_of(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected_tables(sweep):
    """By configuration and sheet."""
    tables = {}
    for path in sorted((SWEEPS / "expected" / sweep / "tables").glob("collective_*")):
        sheet = path.name.removeprefix("collective_").split(".")[0]
        for row in rows_of(path):
            config = (row.pop("threads"), row.pop("channels"))
            tables.setdefault(config, {}).setdefault(sheet, []).append(row)
    return tables


def folder_of(sweep, config):
    threads, channels = config
    return SWEEPS / "input" / sweep / f"{threads}thread/nccl_{channels}channels/torch_profiler"


def same(want, have):
    if want == have:
        return True
    try:
        a, b = float(want), float(have)
    except ValueError:
        return False
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def by_key(rows, sheet):
    found = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in KEYS[sheet]), []).append(row)
    return found


class Sweep(unittest.TestCase):
    def check(self, sweep, config, sheets, out):
        seen = rows_of(out)
        want, have = by_key(sheets, out.stem), by_key(seen, out.stem)
        self.assertEqual(sorted(want), sorted(have), (sweep, config, out.stem))
        cells = 0
        for key, rows in want.items():
            self.assertEqual(len(rows), len(have[key]))
            for expected, actual in zip(rows, have[key]):
                for column, value in expected.items():
                    self.assertTrue(same(value, actual.get(column)),
                                    f"{sweep} {config} {out.stem} {key} {column}: expected {value!r}, "
                                    f"got {actual.get(column)!r}")
                    cells += 1
        return cells

    def compare(self, expected, sweep, notes=()):
        cells = 0
        for config, tables in sorted(expected_tables(expected).items()):
            with tempfile.TemporaryDirectory() as out:
                answer = program.ask("collectives", traces=[str(folder_of(sweep, config))],
                                     compat="tracelens", output_dir=out)
                self.assertEqual(set(tables), set(KEYS))
                for sheet, rows in tables.items():
                    cells += self.check(sweep, config, rows, pathlib.Path(out) / f"{sheet}.csv")
        return cells

    def test_whole_sweeps(self):
        for sweep in ("sweep_20251121_155219", "sweep_20251124_222204"):
            with self.subTest(sweep):
                self.assertGreater(self.compare(sweep, sweep), 30_000)

    def test_the_damaged_sweep(self):
        name = "sweep_20251212_141317"
        self.assertGreater(self.compare(name + "_readable", name), 500)

    def test_damage_is_named_and_costs_itself_only(self):
        sweep = "sweep_20251212_141317"
        with tempfile.TemporaryDirectory() as out:
            cut = program.ask("collectives", traces=[str(folder_of(sweep, ("256", "28")))],
                              compat="tracelens", output_dir=out)
        self.assertEqual(cut["ranks"], 4)
        self.assertFalse(cut["complete"])
        self.assertIn("[TRACE_TRUNCATED] rank2/", "\n".join(cut["notes"]))
        with tempfile.TemporaryDirectory() as out:
            gap = program.ask("collectives", traces=[str(folder_of(sweep, ("256", "56")))],
                              compat="tracelens", output_dir=out)
        self.assertEqual((gap["ranks"], gap["world_size"], gap["missing_ranks"]), (3, 4, "3"))
        self.assertFalse(gap["complete"])
        self.assertIn("[RANK_MISSING] no trace of rank 3", "\n".join(gap["notes"]))


if __name__ == "__main__":
    program.need_data()
    unittest.main()
