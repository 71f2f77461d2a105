#!/usr/bin/env python3
"""The pipeline over three sweeps in the compatible mode, against every table of the reference: reports,
collectives, comparisons, variance, timeline, communication; and our own tables against an independent
calculation. Times agree to 0.001 us or 1e-6, text exactly."""

import csv
import gzip
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

csv.field_size_limit(1 << 24)
SWEEPS = program.DATA / "sweep"
BASE, SECOND, DAMAGED = "sweep_20251121_155219", "sweep_20251124_222204", "sweep_20251212_141317"
RELATIVE = 1e-6
ABSOLUTE = {"us": 1e-3, "ms": 1e-6}

CONFIG = ("threads", "channels")
KEYS = {
    "individual_gpu_timeline": CONFIG + ("rank", "type"),
    "individual_ops_summary": CONFIG + ("rank", "name"),
    "individual_GEMM": CONFIG + ("rank", "name", "Input Dims_first", "Input Strides_first", "UID_first"),
    "individual_kernel_summary": CONFIG + ("rank", "Parent cpu_op", "Kernel name", "Kernel stream"),
    "collective_nccl_long": CONFIG + ("collective_id", "rank"),
    "collective_nccl_implicit_sync": CONFIG + ("collective_id",),
    "collective_nccl_summary_implicit_sync": CONFIG + ("Collective name", "dtype", "In msg nelems"),
    "collective_nccl_summary_long": CONFIG + ("rank", "Collective name", "dtype", "In msg nelems", "stream"),
    "comparison_gpu_timeline": ("channels", "rank", "type"),
    "comparison_ops_summary": ("channels", "rank", "name"),
}
VARIANCE = "top5_gemm_kernels_time_variance"


def rows_of(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def found(folder, stem):
    for ending in (".csv", ".csv.gz"):
        if (folder / (stem + ending)).exists():
            return folder / (stem + ending)
    return None


def same(column, want, have, absolute=0.0):
    if want == have:
        return True
    if have is None:
        return False
    try:
        a, b = float(want), float(have)
    except ValueError:
        return False
    unit = column[-2:] if column.endswith(("_us", "_ms")) else ""
    small = absolute or ABSOLUTE.get(unit, 0)
    return abs(a - b) <= max(small, RELATIVE * max(abs(a), abs(b)))


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.answers = {}
        for sweep in (BASE, SECOND, DAMAGED):
            for mode in ("compat", "own"):
                cls.answers[sweep, mode] = program.ask(
                    "sweep_pipeline", sweep_dir=str(SWEEPS / "input" / sweep), format="csv",
                    output_dir=str(cls.out(sweep, mode)), reference_compat=mode == "compat",
                    steps=["report", "gemm_variance", "gpu_timeline", "comms"])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def out(cls, sweep, mode):
        return pathlib.Path(cls.folder.name) / mode / sweep

    def agree(self, want, have, keys=None, absolute=0.0, loose={}):
        """Cells compared. Without keys: row by row."""
        self.assertEqual(len(want), len(have))
        if keys:
            order = lambda row: tuple(row[name] for name in keys)  # noqa: E731
            want, have = sorted(want, key=order), sorted(have, key=order)
        cells = 0
        for number, (expected, actual) in enumerate(zip(want, have)):
            for column, value in expected.items():
                small = loose.get(column, absolute)
                self.assertTrue(same(column, value, actual.get(column), small),
                                f"row {number} ({[expected[k] for k in keys or ()]}), {column}: "
                                f"expected {value!r}, got {actual.get(column)!r}")
                cells += 1
        return cells

    def tables(self, expected, sweep):
        cells = 0
        for path in sorted((SWEEPS / "expected" / expected / "tables").iterdir()):
            name = path.name.split(".")[0]
            with self.subTest(sweep=expected, table=name):
                have = self.out(sweep, "compat") / "tables" / f"{name}.csv"
                cells += self.agree(rows_of(path), rows_of(have), KEYS[name])
        return cells

    def test_reports_collectives_and_comparisons(self):
        self.assertGreater(self.tables(BASE, BASE), 80_000)
        self.assertGreater(self.tables(SECOND, SECOND), 80_000)
        self.assertGreater(self.tables(DAMAGED + "_readable", DAMAGED), 5_000)

    def test_variance_row_by_row(self):
        for sweep, expected in ((BASE, BASE), (SECOND, SECOND), (DAMAGED, DAMAGED + "_readable")):
            for suffix in ("", "_with_timestamps", "_with_collective_overlap"):
                path = found(SWEEPS / "expected" / expected, VARIANCE + suffix)
                if path is None:
                    continue
                with self.subTest(sweep=sweep, table=suffix):
                    have = rows_of(self.out(sweep, "compat") / f"{VARIANCE}{suffix}.csv")
                    self.agree(rows_of(path), have)

    def test_timeline_and_communication(self):
        for sweep, expected in ((BASE, BASE), (SECOND, SECOND), (DAMAGED, DAMAGED + "_readable")):
            for path in sorted((SWEEPS / "expected" / expected).glob("gpu_timeline_all_configs_*__*.csv")):
                with self.subTest(sweep=sweep, table=path.name):
                    self.agree(rows_of(path),
                               rows_of(self.out(sweep, "compat") / "tables" / path.name))
            name = "nccl_master_all_configs.csv"
            with self.subTest(sweep=sweep, table=name):
                self.agree(rows_of(SWEEPS / "expected" / expected / name),
                           rows_of(self.out(sweep, "compat") / name),
                           ("operation_id", "full_config", "Collective name", "dtype"))

    def test_rocprof_job(self):
        for name in ("rocprof_top5_kernels.yaml", "rocprof_top5_kernels_kernel_list.txt"):
            want = (SWEEPS / "expected" / BASE / name).read_text().splitlines()
            have = (self.out(BASE, "compat") / name).read_text().splitlines()
            self.assertEqual([line for line in want if "Generated from:" not in line],
                             [line for line in have if "Generated from:" not in line])

    def test_own_stability(self):
        for sweep in (BASE, SECOND):
            path = found(SWEEPS / "expected" / sweep / "own", "own_gemm_stability")
            for mode in ("own", "compat"):
                with self.subTest(sweep=sweep, mode=mode):
                    have = rows_of(self.out(sweep, mode) / "gemm_kernel_stability.csv")
                    self.agree(rows_of(path), have,
                               ("threads", "channels", "rank", "op", "dims", "kernel_name"),
                               absolute=6e-7,  # six decimals were written
                               # made from overlaps that were calculated in doubles of 2e12 us
                               loose={"overlap_frac_mean": 3e-6, "pearson_r": 2e-5,
                                      "slope_us_per_full_overlap": 3e-3})


if __name__ == "__main__":
    program.need_data()
    unittest.main()
