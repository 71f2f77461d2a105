#!/usr/bin/env python3
"""The bundled example against what its generator knows: every number of the answers and tables that
the generator's own account holds, to the nanosecond in files and to the rounding in answers.

Work that the backward pass does for a weight itself (AccumulateGrad and what hangs on it) has no
forward op in a trace; the generator knows its module, a reader cannot.
"""

import csv
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

TRUTH = program.EXAMPLE.parent / "transformer_step.truth.json"
PARTS = {"computation": "computation", "exposed_comm": "exposed_communication",
         "exposed_memcpy": "exposed_memcpy", "busy": "busy", "idle": "idle", "total": "total",
         "total_comm": "communication", "total_memcpy": "memcpy"}


def ns(text, unit):
    """The number of a file in nanoseconds, which it must be a whole number of."""
    value = float(text) * unit
    assert abs(value - round(value)) < 0.01, text
    return round(value)


class Generated(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.truth = json.loads(TRUTH.read_text(encoding="utf-8"))
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = str(program.EXAMPLE)
        program.ask("perf_report", trace=cls.trace, output_dir=cls.folder.name, kernel_summary=True,
                    short_kernel_study=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def table(self, name):
        with open(f"{self.folder.name}/{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def rounded(self, ms, wanted_ns):
        """Three decimals from 1 on, four significant digits below."""
        wanted = wanted_ns / 1e6
        self.assertAlmostEqual(ms, wanted, delta=0.00051 if wanted >= 1 else 0.0006 * wanted)

    def test_load_trace(self):
        loaded = program.ask("load_trace", trace=self.trace)
        self.assertEqual(loaded["events"], self.truth["events"]["total"])
        self.assertEqual(loaded["text_bytes"], self.truth["json_bytes"])
        self.assertEqual(loaded["world_size"], self.truth["options"]["world"])
        self.assertEqual(loaded["rank"], self.truth["options"]["rank"])
        self.assertEqual(loaded["gpu_events"], sum(
            part["count"] for part in self.truth["by_event_category"].values()))
        self.rounded(loaded["busy_ms"], self.truth["gpu"]["busy_ns"])
        self.rounded(loaded["window_ms"], self.truth["gpu"]["total_ns"])
        self.rounded(loaded["idle_ms"], self.truth["gpu"]["idle_ns"])
        # Nothing is wrong with it. What recording cost and what one rank cannot tell is noted.
        self.assertEqual(sorted(row[0] for row in loaded["rows"]),
                         ["one_rank", "profiler_events", "profiler_overhead"])
        for row in loaded["rows"]:
            self.assertTrue(row[4].endswith(" (noted)"), row)
        self.assertFalse(loaded["partial"])

    def check_parts(self, rows, truth):
        for part, key in PARTS.items():
            self.rounded(rows[part], truth[f"{key}_ns"])

    def test_gpu_timeline(self):
        answer = program.ask("gpu_timeline", trace=self.trace)
        self.check_parts(program.timeline_of(answer), self.truth["gpu"])
        for row in self.table("gpu_timeline"):
            key = PARTS[row["type"].removesuffix("_time")]
            self.assertEqual(ns(row["time ms"], 1e6), self.truth["gpu"][f"{key}_ns"], row)

    def test_gpu_timeline_by_step(self):
        answer = program.ask("gpu_timeline", trace=self.trace, by="step")
        for step in self.truth["steps"]:
            name = step["name"].replace("ProfilerStep#", "step ")
            rows = {row[1]: row[2] for row in answer["rows"] if row[0] == name}
            self.check_parts(rows, step)

    def test_ops(self):
        wanted = {op: part["time_ns"] for op, part in self.truth["by_op"].items()}
        got = {row["name"]: ns(row["total_direct_kernel_time_sum"], 1e3)
               for row in self.table("ops_summary")}
        self.assertEqual(got, wanted)
        answer = program.ask("ops_summary", trace=self.trace, limit=3)
        for op, ms in zip(program.column(answer, "op"), program.column(answer, "gpu_ms")):
            self.rounded(ms, wanted[op])

    def test_kernels(self):
        wanted = {name: (part["count"], part["time_ns"])
                  for name, part in self.truth["by_kernel"].items()}
        got = {}
        for row in self.table("kernel_summary"):
            count, time = got.get(row["Kernel name"], (0, 0))
            got[row["Kernel name"]] = (count + int(row["Kernel duration (µs)_count"]),
                                       time + ns(row["Kernel duration (µs)_sum"], 1e3))
        self.assertEqual(got, wanted)

    def test_modules(self):
        answer = program.ask("ops_summary", trace=self.trace, by="module", limit=200)
        self.assertFalse(answer["truncated"])
        got = {"by_module_forward": {}, "by_module_backward": {}}
        for name, ms in zip(program.column(answer, "module"), program.column(answer, "gpu_ms")):
            side = "by_module_backward" if name.endswith(" (backward)") else "by_module_forward"
            leaf = name.removesuffix(" (backward)").split(" / ")[-1]
            got[side][leaf] = got[side].get(leaf, 0) + ms
        for leaf, part in self.truth["by_module_forward"].items():
            if leaf != "(none)":
                self.assertAlmostEqual(got["by_module_forward"].get(leaf, 0), part["time_ns"] / 1e6,
                                       delta=0.003, msg=leaf)
        for leaf, ms in got["by_module_backward"].items():
            self.assertLessEqual(ms, self.truth["by_module_backward"][leaf]["time_ns"] / 1e6 + 0.003)
        for leaf in ("Attention", "DecoderLayer", "SiLU", "SwiGLU"):  # have no weights of their own
            self.assertAlmostEqual(got["by_module_backward"][leaf],
                                   self.truth["by_module_backward"][leaf]["time_ns"] / 1e6,
                                   delta=0.003, msg=leaf)

    def test_planted_bottlenecks_are_found(self):
        kernels = self.table("kernel_summary")
        for planted in self.truth["planted"]:
            if len(planted["ops"]) != 1 or not planted["kernels"]:
                continue
            total = sum(ns(row["Kernel duration (µs)_sum"], 1e3) for row in kernels
                        if row["Kernel name"] in planted["kernels"]
                        and row["Parent cpu_op"] in planted["ops"])
            self.assertGreaterEqual(total, planted["kernel_sum_ns"], planted["name"])


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
