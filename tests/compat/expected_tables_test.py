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

TABLES = ("gpu_timeline,ops_summary_by_category,ops_summary,kernel_summary,short_kernels_summary,"
          "short_kernel_histogram,ops_unique_args")
TOOLS = ("load_trace", "gpu_timeline", "ops_summary", "parent_chain", "category_filter",
         "perf_report")
BY = ("op", "category", "kernel", "module", "stream", "step")


def traces_with_tables():
    """Traces whose report was made without a graph-capture folder."""
    return sorted(path.parent.name for path in (program.DATA / "expected").glob("*/report")
                  if not (program.DATA / "traces" / path.parent.name / "capture").is_dir())


def all_traces():
    return sorted(path for path in (program.DATA / "traces").rglob("*.json*")
                  if "trace" in path.name or "rank" in path.name)


def number(text):
    return float(text) if text else 0.0


class CompatibleTables(unittest.TestCase):
    def test_every_cell_agrees(self):
        names = traces_with_tables()
        self.assertGreaterEqual(len(names), 14)
        compare = program.DATA / "tools/compare_tables.py"
        for name in names:
            with self.subTest(name), tempfile.TemporaryDirectory() as out:
                program.ask("perf_report", trace=str(program.DATA / f"traces/{name}/trace.json.gz"),
                            output_dir=out, compat="tracelens", kernel_summary=True,
                            short_kernel_study=True)
                ran = subprocess.run([sys.executable, "-B", str(compare), "--only", TABLES,
                                      str(program.DATA / f"expected/{name}/report"), out],
                                     capture_output=True, text=True, check=False)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


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
                                  "kernel_summary": True, "short_kernel_study": True})]
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
            with open(report / f"{name}.csv", newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))
        everything = rows("coverage")[0]
        self.assertEqual(everything["part"], "all GPU work")
        all_ms = number(everything["time ms"])
        kernels_us = sum(number(row["Kernel duration (µs)_sum"]) for row in rows("kernel_summary"))
        self.assertTrue(math.isclose(kernels_us / 1e3, all_ms, rel_tol=1e-9, abs_tol=1e-12))
        # The time of an op is busy time: work of one call on several streams counts once.
        ops_ms = sum(number(row["total_direct_kernel_time_ms"]) for row in rows("ops_summary"))
        self.assertLessEqual(ops_ms, all_ms * (1 + 1e-9))
        self.assertGreaterEqual(ops_ms, all_ms * 0.998)


if __name__ == "__main__":
    program.need_data()
    unittest.main()
