#!/usr/bin/env python3
"""A user's performance models, from the file to the report's numbers. Numbers are derived by hand."""

import csv
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

SOFTMAX = program.SOURCE / "examples/extensions/softmax.json"


def op_with_kernel(number, name, dims, types, text):
    """One op of 100 us that launches one kernel of 50 us."""
    start = 1000 * number
    return [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 100,
         "args": {"External id": number, "Input Dims": dims, "Input type": types,
                  "Input Strides": [[1] * len(d) for d in dims], "Concrete Inputs": text,
                  "rounds": 3, "label": "a \"b\" ", "sizes": [1, 2, 4]}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
         "ts": start + 10, "dur": 5, "args": {"correlation": number, "External id": number}},
        {"ph": "s", "id": number, "pid": 1, "tid": 1, "ts": start + 10, "cat": "ac2g", "name": "ac2g"},
        {"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7,
         "ts": start + 50, "dur": 50,
         "args": {"correlation": number, "External id": number, "device": 0, "stream": 7}},
        {"ph": "f", "bp": "e", "id": number, "pid": 0, "tid": 7, "ts": start + 50, "cat": "ac2g",
         "name": "ac2g"}]


HALF = "c10::Half"
OPS = [
    ("aten::_softmax", [[128, 512], [], []], [HALF, "Scalar", "Scalar"], ["", "1", "False"]),
    ("mylib::fused_softmax", [[64, 100], [64, 100], [64, 1], []], [HALF, "float", "bool", "Scalar"],
     ["", "", "", "0.5"]),
    ("aten::mm", [[16, 32], [32, 8]], [HALF, HALF], ["", ""]),
    ("mylib::backwards_mm", [[], [32, 8], [16, 32]], ["Scalar", HALF, HALF], ["1", "", ""]),
]


class Extensions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.made.name)
        events = [event for number, op in enumerate(OPS, 1) for event in op_with_kernel(number, *op)]
        cls.trace = cls.folder / "trace.json"
        cls.trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))

    @classmethod
    def tearDownClass(cls):
        cls.made.cleanup()

    def tables(self, trace, extension=None, **more):
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        if isinstance(extension, dict):
            path = out / "extension.json"
            path.write_text(json.dumps(extension))
            extension = path
        if extension is not None:
            more["extension"] = str(extension)
        program.ask("perf_report", trace=str(trace), output_dir=str(out), **more)
        found = {}
        for path in out.glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                found[path.stem] = list(csv.DictReader(file))
        return found

    def unified(self, trace, extension=None, **more):
        """op -> (GFLOPS, MB, spec, has_perf_model) of its first row."""
        out = {}
        for row in self.tables(trace, extension, **more)["unified_perf_summary"]:
            number = {key: float(row[key]) if row[key] else None
                      for key in ("GFLOPS", "Data Moved (MB)")}
            out.setdefault(row["name"], (number["GFLOPS"], number["Data Moved (MB)"],
                                         row["Compute Spec"], row["has_perf_model"]))
        return out

    def check(self, got, flops, moved, spec):
        self.assertAlmostEqual(got[0], flops / 1e9, delta=1e-9 * flops / 1e9)
        self.assertAlmostEqual(got[1], moved / 1e6, delta=1e-9 * moved / 1e6)
        self.assertEqual(got[2:], (spec, "True"))

    def test_the_example_on_the_bundled_trace(self):
        before = self.unified(program.EXAMPLE)
        after = self.unified(program.EXAMPLE, SOFTMAX)
        n = 8192 * 32000
        self.check(before["aten::_log_softmax"], 5 * n, 2 * n * 2, "vector_bf16")
        self.check(after["aten::_log_softmax"], 6 * n, 3 * n * 2, "vector_bf16")
        del before["aten::_log_softmax"], after["aten::_log_softmax"]
        self.assertEqual(before, after)

    def test_the_readme_says_what_comes_out(self):
        text = SOFTMAX.with_name("README.md").read_text(encoding="utf-8")
        for number in ("1.310720", "1.572864", "1048.576", "1572.864"):
            self.assertIn(number, text)

    def test_an_op_of_ones_own(self):
        before = self.unified(self.trace)
        self.assertEqual(before["mylib::fused_softmax"], (None, None, "", "False"))
        self.check(before["aten::_softmax"], 5 * 128 * 512, 2 * 128 * 512 * 2, "vector_fp16")
        tables = self.tables(self.trace, SOFTMAX)
        after = self.unified(self.trace, SOFTMAX)
        self.check(after["aten::_softmax"], 6 * 128 * 512, 3 * 128 * 512 * 2, "vector_fp16")
        # float scores of slot 1: read once, written once; 64 bytes of mask.
        self.check(after["mylib::fused_softmax"], 7 * 6400, 2 * 6400 * 4 + 64, "vector_fp32")
        self.assertEqual(after["aten::mm"], before["aten::mm"])
        shapes = {row["name"]: row["param: input_shape"] for row in tables["Softmax"]}
        self.assertEqual(shapes, {"aten::_softmax": "(128, 512)",
                                  "mylib::fused_softmax": "(64, 100)"})
        row = next(r for r in tables["unified_perf_summary"] if r["name"] == "mylib::fused_softmax")
        # 44800 operations and 51264 bytes in 50 us.
        self.assertAlmostEqual(float(row["TFLOPS/s_mean"]), 44800 / 50e-6 / 1e12, places=12)
        self.assertAlmostEqual(float(row["TB/s_mean"]), 51264 / 50e-6 / 1e12, places=12)

    def test_like_an_op_with_other_slots(self):
        rows = [{"model": "mylib.mm", "like": "aten::mm", "ops": ["mylib::backwards_mm"],
                 "a": 2, "b": 1}]
        got = self.unified(self.trace, {"rows": rows})
        work = 2 * 16 * 8 * 32, (16 * 32 + 32 * 8 + 16 * 8) * 2
        self.check(got["aten::mm"], *work, "matrix_fp16")
        self.check(got["mylib::backwards_mm"], *work, "matrix_fp16")

    def test_other_arguments_of_the_event(self):
        rows = [{"model": "mine", "like": "op", "ops": ["mylib::fused_softmax"], "category": "mine",
                 "params": ["rounds=extra('rounds')", "sizes=extra('sizes')"],
                 "flops": "100 * extra('rounds')", "bytes": "sum(extra('sizes')) + #extra('label')"}]
        tables = self.tables(self.trace, {"rows": rows})
        row = next(r for r in tables["unified_perf_summary"] if r["name"] == "mylib::fused_softmax")
        self.assertAlmostEqual(float(row["GFLOPS"]), 300 / 1e9, places=15)
        self.assertAlmostEqual(float(row["Data Moved (MB)"]), (1 + 2 + 4 + 6) / 1e6, places=12)
        self.assertIn("(1, 2, 4)", row["perf_params"])

    def test_an_override(self):
        rows = [{"override": "softmax.fwd", "per_element": 8}]
        got = self.unified(self.trace, {"rows": rows})
        self.check(got["aten::_softmax"], 8 * 128 * 512, 2 * 128 * 512 * 2, "vector_fp16")

    def test_an_override_of_the_reference_s_rows(self):
        before = self.tables(self.trace, compat="tracelens")["GEMM"]
        rows = [{"override": "gemm", "flops": "3 * M * N * K"}]
        after = self.tables(self.trace, {"rows": rows}, compat="tracelens")["GEMM"]
        self.assertEqual(len(before), 1)
        self.assertAlmostEqual(float(before[0]["GFLOPS_first"]), 2 * 16 * 8 * 32 / 1e9, places=15)
        self.assertAlmostEqual(float(after[0]["GFLOPS_first"]), 3 * 16 * 8 * 32 / 1e9, places=15)
        self.assertEqual(before[0]["Data Moved (MB)_first"], after[0]["Data Moved (MB)_first"])
        # The example adds to what the reference knows.
        got = self.unified(self.trace, SOFTMAX, compat="tracelens")
        self.assertAlmostEqual(got["aten::_softmax"][0], 6 * 128 * 512 / 1e9, places=12)

    def test_a_row_that_fails_says_why(self):
        rows = [{"model": "mine", "like": "op", "ops": ["mylib::fused_softmax"], "category": "mine",
                 "flops": "(function() while true do end end)()", "bytes": "os.exit()"}]
        tables = self.tables(self.trace, {"rows": rows})
        reasons = {row["op"]: row["why not"] for row in tables["model_coverage"]}
        self.assertEqual(reasons["mylib::fused_softmax"], "the model ran for too long")
        row = next(r for r in tables["unified_perf_summary"] if r["name"] == "mylib::fused_softmax")
        self.assertEqual((row["GFLOPS"], row["Data Moved (MB)"]), ("", ""))
        self.assertEqual(float(row["Kernel Time (µs)_sum"]), 50)

    def refused(self, extension, *texts, **more):
        path = self.folder / "refused.json"
        path.write_bytes(extension if isinstance(extension, bytes) else json.dumps(extension).encode())
        ran = program.call("perf_report", trace=str(self.trace), output_dir=str(self.folder / "no"),
                           extension=str(path), timeout=60, **more)
        self.assertEqual(ran.returncode, 1, ran.stdout[:500])
        self.assertLess(len(ran.stderr), 2000)
        for text in ("refused.json", *texts):
            self.assertIn(text, ran.stderr)
        self.assertFalse((self.folder / "no").exists())

    def test_a_file_that_is_wrong_is_refused(self):
        self.refused(b"{", "expected JSON")
        self.refused(b'{"rows": [{"model": "a\xff"}]}', "expected JSON")
        self.refused(b" " * 10_000_000, "larger than")
        self.refused({"rows": [{"override": "nothing"}]}, 'row nothing, "override": expected')
        self.refused({"rows": [{"model": "x", "ops": ["x"]}]}, 'row x, "category": expected')
        self.refused({"rows": [{"model": "x", "like": "op", "ops": ["x"], "category": "c",
                                "sheet": "../../x"}]}, 'row x, "sheet": expected')
        self.refused({"rows": [{"model": "x", "like": "op", "flops": "1 +"}]}, 'row x, "flops": ')
        self.refused({"rows": [{"override": "softmax.fwd", "per_element": 6}]},
                     "the id of a row that exists", compat="tracelens")

    def test_there_is_such_a_file(self):
        ran = program.call("perf_report", trace=str(self.trace), extension=str(self.folder / "none"))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no file at", ran.stderr)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
