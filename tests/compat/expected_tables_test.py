#!/usr/bin/env python3
"""The compatible report against the reference's own tables, every cell; and what no table checks in
the default mode: old eras, ranks of one job, traces without GPU work.

    expected_tables_test.py [unittest arguments]
"""

import csv
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

csv.field_size_limit(1 << 30)  # a cell lists every kernel of a row

# How the reference was called, by folder of its tables.
OPTIONS = {
    "report": {"kernel_summary": True, "short_kernel_study": True},
    "agent": {"platform": "MI300X", "pseudo_ops": True, "group_by_num_kernels": True,
              "include_call_stack": True},
    "recompute": {"detect_recompute": True},
    "overlap": {"include_overlap_info": True, "include_first_occurrence_time": True,
                "micro_idle_thresh_us": 10, "include_unlinked_kernels": True},
}
# For traces with a graph-capture folder the report about inference was made.
INFERENCE_OPTIONS = {
    "report": {"inference": True},
    "agent": {**OPTIONS["agent"], "inference": True, "group_by_parent_module": True},
}
TOOLS = ("load_trace", "gpu_timeline", "ops_summary", "parent_chain", "category_filter",
         "perf_report")
EVERYTHING = ("pseudo_ops", "group_by_num_kernels", "group_by_parent_module",
              "include_call_stack", "include_first_occurrence_time", "include_overlap_info")
BY = ("op", "category", "kernel", "module", "stream", "step")


def reports():
    """Each folder of tables, by trace."""
    found = {}
    for path in sorted((program.DATA / "expected").glob("*/*")):
        trace = trace_of(path)
        if path.name in OPTIONS and trace.is_file():
            found.setdefault(trace, []).append(path)
    return found


def trace_of(report):
    return program.DATA / "traces" / report.parent.name / "trace.json.gz"


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def all_traces():
    return sorted(path for path in (program.DATA / "traces").rglob("*.json*")
                  if "trace" in path.name or "rank" in path.name)


def number(text):
    return float(text) if text else 0.0


def options_of(trace):
    return INFERENCE_OPTIONS if (trace.parent / "capture").is_dir() else OPTIONS


def make(trace, folders, out, options):
    """The compatible reports of one trace, each in a folder of its own below `out`."""
    program.tool_answers([("perf_report", {"trace": str(trace), "output_dir": f"{out}/{name}",
                                           "compat": "tracelens", **options[name]})
                          for name in (folder.name for folder in folders)])


class CompatibleTables(unittest.TestCase):
    def test_every_cell_of_every_table_agrees(self):
        traces = reports()
        self.assertGreaterEqual(sum(len(folders) for folders in traces.values()), 35)
        for trace, folders in traces.items():
            with tempfile.TemporaryDirectory() as out:
                make(trace, folders, out, options_of(trace))
                for folder in folders:
                    with self.subTest(f"{folder.parent.name} {folder.name}"):
                        self.check_tables(folder, pathlib.Path(out) / folder.name)

    def check_tables(self, expected, made):
        self.assertEqual({path.name for path in made.glob("*.csv")},
                         {path.name for path in expected.glob("*.csv")})
        compare = program.DATA / "tools/compare_tables.py"
        ran = subprocess.run([sys.executable, "-B", str(compare), str(expected), str(made)],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        # What the comparison only notes: rows and columns too many, or in another order.
        notes = [note for line in ran.stdout.splitlines() for note in line.split("; ")[1:]]
        self.assertEqual([note for note in notes if "tied rows" not in note], [], ran.stdout)


class DefaultMode(unittest.TestCase):
    def busy(self, trace):
        return program.timeline_of(program.ask("gpu_timeline", trace=str(trace)))

    def test_known_busy_times(self):
        v100 = self.busy(program.DATA / "traces/async-flows-v100/trace.json.gz")
        self.assertAlmostEqual(v100["busy"], 717.943, places=3)
        self.assertAlmostEqual(v100["total_comm"], 251.341, places=3)
        resnet = self.busy(program.DATA / "traces/kineto18-resnet50-v100/trace.json.gz")
        self.assertAlmostEqual(resnet["busy"], 653.527, places=3)

    def test_a_trace_without_gpu_work(self):
        trace = str(program.DATA / "traces/cpu-only/trace.json.gz")
        loaded = program.ask("load_trace", trace=trace)
        self.assertIn("no_gpu_work", program.column(loaded, "quality"))
        self.assertIsNone(loaded["busy_ms"])
        self.assertIn("no GPU work", program.ask("gpu_timeline", trace=trace)["summary"])

    def test_the_ranks_of_one_job(self):
        ranks = sorted((program.DATA / "traces/megatron-tp8-a100").glob("rank*.json.gz"))
        self.assertEqual(len(ranks), 8)
        for expected, path in enumerate(ranks):
            with self.subTest(path.name):
                loaded = program.ask("load_trace", trace=str(path))
                self.assertEqual(loaded["rank"], expected)
                self.assertGreater(loaded["busy_ms"], 0)
                self.check_collectives(path, expected)

    def check_collectives(self, trace, rank):
        """Communication counts by kernel where the trace says no more."""
        with tempfile.TemporaryDirectory() as out:
            program.ask("perf_report", trace=str(trace), output_dir=out)
            rows = read_table(pathlib.Path(out) / "coll_analysis.csv")
        self.assertEqual({(row["rank"], row["Collective name"]) for row in rows},
                         {(str(rank), "allreduce")})
        self.assertEqual(sum(int(row["operation_count"]) for row in rows), 84)

    def test_every_trace_answers_every_tool(self):
        traces = all_traces()
        self.assertGreaterEqual(len(traces), 20)
        for path in traces:
            with self.subTest(str(path.relative_to(program.DATA))), \
                    tempfile.TemporaryDirectory() as out:
                self.check_trace(str(path), pathlib.Path(out))

    def check_trace(self, trace, out):
        first = program.ask("load_trace", trace=trace)
        calls = [("gpu_timeline", {"trace": trace}),
                 ("gpu_timeline", {"trace": trace, "by": "stream"}),
                 ("gpu_timeline", {"trace": trace, "by": "step"}),
                 ("category_filter", {"trace": trace, "output_dir": str(out / "categories")}),
                 ("perf_report", {"trace": trace, "output_dir": str(out / "report"),
                                  "kernel_summary": True, "short_kernel_study": True}),
                 ("perf_report", {"trace": trace, "output_dir": str(out / "inference"),
                                  "inference": True, **dict.fromkeys(EVERYTHING, True)})]
        calls += [("ops_summary", {"trace": trace, "by": by, "limit": 3}) for by in BY]
        if first["gpu_events"] > 0:
            for row in ("op1", "k1"):
                calls += [("parent_chain", {"trace": trace, "row": row, "mode": mode})
                          for mode in ("callers", "subtree", "siblings")]
        answers = program.tool_answers(calls)
        self.assertEqual({tool for tool, _ in calls} | {"load_trace"},
                         set(TOOLS) if first["gpu_events"] > 0 else set(TOOLS) - {"parent_chain"})
        for answer in answers:
            self.assertTrue(answer["summary"])
        self.check_sums(out / "report")

    def check_sums(self, report):
        """No GPU work is lost between the timeline and the tables about ops."""
        def rows(name):
            return read_table(report / f"{name}.csv")
        everything = rows("coverage")[0]
        self.assertEqual(everything["part"], "all GPU work")
        all_ms = number(everything["time ms"])
        kernels_us = sum(number(row["Kernel duration (µs)_sum"]) for row in rows("kernel_summary"))
        self.assertTrue(math.isclose(kernels_us / 1e3, all_ms, rel_tol=1e-9, abs_tol=1e-12))
        # The time of an op is busy time: work of one call on several streams counts once. So all ops
        # together have at least the time in which the GPU did anything.
        ops_ms = sum(number(row["total_direct_kernel_time_ms"]) for row in rows("ops_summary"))
        self.assertLessEqual(ops_ms, all_ms * (1 + 1e-9))
        busy_ms = next(number(row["time ms"]) for row in rows("gpu_timeline")
                       if row["type"] == "busy_time")
        self.assertGreaterEqual(ops_ms, busy_ms * (1 - 1e-9))


if __name__ == "__main__":
    program.need_data()
    unittest.main()
