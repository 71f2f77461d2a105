#!/usr/bin/env python3
"""rocprofv3 files of a sweep of 8 ranks against independent calculations, the reference's configuration
byte for byte, its reports cell by cell, and the names of kernels against the grids that they launched."""

import csv
import functools
import gzip
import json
import math
import pathlib
import sys
import tempfile
import unittest
import zipfile
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

SWEEP = "sweep_20251121_155219"
INPUT = program.DATA / "sweep/input" / SWEEP
EXPECTED = program.DATA / "sweep/expected"
ROCPROF = INPUT / "256thread/nccl_28channels/rocprof_traces"


def rows_of(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)


def sheets_of(path):
    """The rows of each sheet of a workbook, as lists of texts and numbers."""
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        def xml(name):
            return ElementTree.fromstring(book.read(name))

        texts = []
        if "xl/sharedStrings.xml" in book.namelist():
            texts = ["".join(t.text or "" for t in item.iter(main + "t"))
                     for item in xml("xl/sharedStrings.xml")]
        names = [sheet.get("name") for sheet in xml("xl/workbook.xml").iter(main + "sheet")]
        sheets = {}
        for number, name in enumerate(names, 1):
            lines = []
            for row in xml(f"xl/worksheets/sheet{number}.xml").iter(main + "row"):
                cells = {}
                for cell in row.iter(main + "c"):
                    letters = cell.get("r").rstrip("0123456789")
                    place = functools.reduce(lambda n, c: n * 26 + ord(c) - 64, letters, 0)
                    value = cell.find(main + "v")
                    if cell.get("t") == "inlineStr":
                        cells[place] = "".join(t.text or "" for t in cell.iter(main + "t"))
                    elif value is not None:
                        cells[place] = (texts[int(value.text)] if cell.get("t") == "s"
                                        else float(value.text))
                lines.append([cells.get(place) for place in range(1, max(cells, default=0) + 1)])
            sheets[name] = [dict(zip(lines[0], line + [None] * len(lines[0])))
                            for line in lines[1:]]
    return sheets


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def same_cells(self, got, want, columns, what):
        for column in columns:
            value, expected = got[column], want[column]
            if expected in ("", None):
                self.assertIn(value, ("", None), (what, column))
                continue
            try:
                number = float(expected)
            except ValueError:
                self.assertEqual(value, expected, (what, column))
                continue
            self.assertTrue(close(float(value), number), (what, column, value, expected))


@unittest.skipUnless(ROCPROF.is_dir(), f"no sweep with rocprofv3 files in {INPUT}")
class Sweep(Case):
    def test_counters_are_those_of_the_independent_calculation(self):
        answer = program.ask("rocprof_counters", path=str(INPUT), output_dir=str(self.out))
        self.assertTrue(answer["complete"])
        self.assertEqual(answer["warnings"], [])
        got = {self.key(row): row for row in rows_of(self.out / "rocprof_kernels_by_rank.csv")}
        want = rows_of(EXPECTED / SWEEP / "own/own_rocprof_counters.csv")
        self.assertEqual(set(got), {self.key(row) for row in want})
        for row in want:
            mine = got[self.key(row)]
            if row["cycles_source"] == "max_clock":
                self.assertEqual(mine["cu_util_pct"], "")
                mine = {**mine, "cu_util_pct": mine["cu_util_pct_est"]}
            self.same_cells(mine, row, [c for c in row if c != "kernel_name"], self.key(row))

    @staticmethod
    def key(row):
        return tuple(row[c] for c in ("threads", "channels", "rank", "kernel_name", "grid_size"))

    def test_documents_and_tables_tell_the_same(self):
        one = ROCPROF / "pass_1/node0"
        results = sorted(one.glob("*_results.json"))[0]
        tables = program.ask("rocprof_counters", path=str(one / results.name.replace(
            "results.json", "counter_collection.csv")), output_dir=str(self.out / "csv"))
        document = program.ask("rocprof_counters", path=str(results),
                               output_dir=str(self.out / "json"))
        self.assertEqual(tables["rows"], document["rows"])
        self.assertGreater(len(tables["rows"]), 5)

    def test_filter_and_groups(self):
        every = program.ask("rocprof_counters", path=str(ROCPROF), group_by="kernel")
        self.assertEqual(every["total"], 8)
        some = program.ask("rocprof_counters", path=str(ROCPROF), kernel_regex="MT256x(128|192)x64",
                           group_by="dispatch", limit=100)
        self.assertEqual(some["total"] % 8, 0)
        self.assertLess(some["total"], 144)
        self.assertGreater(some["total"], 0)
        clocked = program.ask("rocprof_counters", path=str(ROCPROF), clock_mhz=1953)
        self.assertIn("cu_util_pct_est", clocked["columns"])
        refused = program.call("rocprof_counters", path=str(ROCPROF), kernel_regex="(")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no regular expression", refused.stderr)

    def test_what_is_no_rocprof_directory(self):
        refused = program.call("rocprof_counters", path=str(INPUT / "512thread/nccl_28channels"))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("no file of rocprofv3", refused.stderr)

    def test_short_configuration_is_the_reference_s_byte_for_byte(self):
        table = EXPECTED / SWEEP / "top5_gemm_kernels_time_variance.csv.gz"
        program.ask("rocprof_yaml", csv=str(table), match="short", output_dir=str(self.out))
        want = (EXPECTED / SWEEP / "rocprof_top5_kernels.yaml").read_bytes().split(b"\n")
        got = (self.out / "rocprof_top5_kernels.yaml").read_bytes().split(b"\n")
        self.assertTrue(got[1].startswith(b"# Generated from: "))
        got[1] = want[1]
        self.assertEqual(got, want)
        self.assertEqual((self.out / "rocprof_top5_kernels_kernel_list.txt").read_bytes(),
                         (EXPECTED / SWEEP / "rocprof_top5_kernels_kernel_list.txt").read_bytes())

    def test_reports_are_the_reference_s(self):
        program.ask("rocprof_counters", path=str(INPUT), output_dir=str(self.out),
                    reports="tracelens")
        sheets = {}
        for threads, channels in (("256", "28"), ("512", "70")):
            for rank in range(8):
                path = (self.out / f"{threads}thread/individual_reports"
                        / f"perf_{channels}ch_rank{rank}.xlsx")
                for sheet, rows in sheets_of(path).items():
                    sheets.setdefault(sheet, []).extend(
                        {**row, "threads": threads, "channels": channels, "rank": str(rank)}
                        for row in rows)
        self.assertEqual(sheets.get("short_kernels_summary", []), [])
        for name in ("gpu_timeline", "kernel_summary", "kernel_summary_by_category",
                     "kernel_details"):
            want = rows_of(EXPECTED / "rocprof_mode" / f"{name}.csv.gz")
            self.assertEqual(len(sheets[name]), len(want), name)
            for number, (mine, row) in enumerate(zip(sheets[name], want)):
                self.same_cells(mine, row, list(row), (name, number))

    def test_own_reports_have_the_units_that_they_say(self):
        program.ask("rocprof_counters", path=str(ROCPROF), output_dir=str(self.out), reports="ours")
        book = sheets_of(self.out / "256thread/individual_reports/perf_28ch_rank0.xlsx")
        summary = book["kernel_summary"]
        timeline = {row["type"]: row["time ms"] for row in book["gpu_timeline"]}
        total = sum(row["Total Kernel Time (ms)"] for row in summary)
        self.assertAlmostEqual(total, timeline["kernel"], delta=1e-6)
        self.assertLess(timeline["total_time"], 11)  # the tool ran for 11.8 ms
        shares = [row["Cumulative Percentage (%)"] for row in summary]
        self.assertEqual(shares, sorted(shares))
        self.assertAlmostEqual(shares[-1], 100)

    def test_names_explain_the_grids_that_were_launched(self):
        path = INPUT / "256thread/nccl_28channels/torch_profiler/rank0"
        with gzip.open(next(path.glob("*.json.gz"))) as file:
            events = json.load(file)["traceEvents"]
        ops = {e["args"].get("External id"): e for e in events if e.get("cat") == "cpu_op"}
        launched = {}
        for event in events:
            if event.get("cat") != "kernel" or not event["name"].startswith("Cijk"):
                continue
            op = ops[event["args"]["External id"]]
            dims = op["args"]["Input Dims"]
            a, b = (dims[1], dims[2]) if op["name"] == "aten::addmm" else (dims[0], dims[1])
            batch = a[0] if len(a) == 3 else 1
            key = (event["name"], a[-2], b[-1], a[-1], batch)
            launched[key] = (math.prod(event["args"]["grid"]), math.prod(event["args"]["block"]))
        self.assertEqual(len({key[1:] for key in launched}), 10)
        for (name, m, n, k, batch), (grid, block) in launched.items():
            answer = program.ask("gemm_kernel_decode", names=[name], m=m, n=n, k=k, batch=batch,
                                 platform="MI300X")
            row = dict(zip(answer["columns"], answer["rows"][0]))
            self.assertEqual(row["threads"], block)
            self.assertEqual(row["work_groups"] * row["threads"], grid, answer["rows"][0][0])


class Decode(Case):
    def test_every_tensile_name_of_the_traces(self):
        """Nothing of a name is lost: its pieces, put together again, are the name."""
        names = set()
        for path in sorted((program.DATA / "traces").rglob("*.json*")):
            opened = gzip.open if path.suffix == ".gz" else open
            try:
                with opened(path, "rb") as file:
                    text = file.read(1 << 26)
            except (OSError, EOFError):
                continue
            for piece in text.split(b'"Cijk_')[1:]:
                names.add("Cijk_" + piece[:piece.index(b'"')].decode())
        names = sorted(name for name in names if "_MT" in name)
        if not names:
            self.skipTest("no trace with Tensile kernels")
        for first in range(0, len(names), 6):
            some = names[first:first + 6]
            answer = program.serve([("tools/call", {"name": "gemm_kernel_decode",
                                                    "arguments": {"names": some}})])[0]
            rows = answer["structuredContent"]["rows"]
            for name, row in zip(some, rows):
                fields = dict(zip(answer["structuredContent"]["columns"], row))
                tile = name[name.index("_MT") + 3:].split("_")[0].split("x")
                self.assertEqual([fields["tile_m"], fields["tile_n"], fields["tile_k"]],
                                 [int(size) for size in tile], name)
                groups = name[name.rindex("_WG") + 3:].split("_") if "_WG" in name else []
                if groups and "M" not in groups[0]:
                    self.assertEqual(fields["threads"],
                                     math.prod(int(size) for size in groups[:3]), name)
                self.assertIn(fields["family"], ("hipblaslt", "tensile"))
                self.assertNotIn("?", fields["kernel"], name)


    def test_names_of_other_libraries(self):
        answer = program.ask("gemm_kernel_decode", m=788, n=768, k=768, cu_count=132, names=[
            "nvjet_tst_128x64_64x6_2x1_v_bz_TNN", "void softmax<float>(int)"])
        rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
        self.assertEqual((rows[0]["family"], rows[0]["work_groups"], rows[1]["family"]),
                         ("nvjet", 6 * 13, None))
        self.assertTrue(any("outside Tensile" in note for note in answer["notes"]))
        refused = program.call("gemm_kernel_decode", names=["nvjet"], m=5)
        self.assertIn("n: expected an integer from 1", refused.stderr)


class Yaml(Case):
    def test_preset_and_errors(self):
        answer = program.ask("rocprof_yaml", preset="cu_only", output_dir=str(self.out),
                             counters=["SQ_WAVES", "SQ_WAVEZ"])
        text = (self.out / "rocprof_cu_only.yaml").read_text(encoding="utf-8")
        self.assertIn("(gemm|Cijk_.*)", text)
        self.assertIn("output_format: [json, csv]", text)
        self.assertEqual(answer["passes"], [["GRBM_GUI_ACTIVE", "SQ_WAVES", "SQ_WAVEZ"]])
        self.assertIn("did you mean SQ_WAVES?", answer["warnings"][0])
        for arguments in ({}, {"kernels": ["a"], "preset": "manual"}, {"kernels": [" "]},
                          {"kernels": ["a"], "arch": "sm_90"}):
            refused = program.call("rocprof_yaml", output_dir=str(self.out), **arguments)
            self.assertNotEqual(refused.returncode, 0, arguments)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
