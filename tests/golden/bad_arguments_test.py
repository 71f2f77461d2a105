#!/usr/bin/env python3
"""Arguments that no operator has: the call keeps its row and its time, has no metrics that they do
not carry, and model_coverage says why. Nothing crashes, nothing hangs, in either mode.
"""

import csv
import functools
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

csv.field_size_limit(1 << 30)

OPS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::_scaled_mm", "aten::convolution",
       "aten::convolution_backward", "aten::add", "aten::copy_", "aten::cat", "aten::sum",
       "aten::native_layer_norm", "aten::native_batch_norm", "aten::_softmax", "aten::embedding",
       "aten::_scaled_dot_product_flash_attention", "flash_attn::_flash_attn_varlen_forward",
       "triton_poi_fused_add_mul_0", "sglang::store_cache", "vllm::unified_attention_with_output")
# A size whose square is more than a machine's integers.
HUGE = 2 ** 62
DEEP = 10_000
MANY = 1_000_000

GOOD = {"Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"],
        "Input Strides": [[8, 1], [8, 1]], "Concrete Inputs": ["", ""]}


class Raw(str):
    """JSON text that Python's own writer would not make."""


def nested(depth):
    return Raw("[" * depth + "1" + "]" * depth)


# What is recorded instead of good arguments.
DAMAGE = {
    "nothing": {},
    "no strides": {key: value for key, value in GOOD.items() if key != "Input Strides"},
    "empty lists": dict.fromkeys(GOOD, []),
    "lists of nothing": {**GOOD, "Input Dims": [[], []], "Input type": ["", ""]},
    "shapes that do not fit": {**GOOD, "Input Dims": [[8, 4], [5, 3], [2, 2, 2]]},
    "too many dimensions": {**GOOD, "Input Dims": [[1] * 70, [1] * 70]},
    "negative sizes": {**GOOD, "Input Dims": [[-8, 8], [8, -8]]},
    "unknown dtypes": {**GOOD, "Input type": ["Martian", "c10::Float3_e1m1"]},
    "sizes whose product is none": {**GOOD, "Input Dims": [[HUGE, HUGE], [HUGE, HUGE]]},
    "sizes that are no integers": {**GOOD, "Input Dims": Raw("[[1e400, 8], [8, 1" + "0" * 30 + "]]")},
    "fractions": {**GOOD, "Input Dims": [[8.5, 8], [8, 0.25]]},
    "texts for numbers": {**GOOD, "Input Dims": [["8", "x"], "8, 8"], "Input Strides": "none"},
    "numbers for texts": {"Input Dims": 7, "Input type": 7, "Input Strides": 7,
                          "Concrete Inputs": 7},
    "numbers in lists of texts": {**GOOD, "Input type": [1, None], "Concrete Inputs": [1, {"a": 2}]},
    "objects for lists": {**GOOD, "Input Dims": {"0": [8, 8]}, "Input type": {"a": "float"}},
    "null": dict.fromkeys(GOOD),
    "texts of lists that are none": {**GOOD, "Concrete Inputs": ["[1, ", "[9999999999999999999]",
                                                                 "(", "1e999", "nan", "-"] * 3},
    "a million sizes": {**GOOD, "Input Dims": Raw("[[" + "1," * MANY + "1],[8,8]]")},
    "a million tensors": {**GOOD, "Input Dims": Raw("[" + "[1]," * MANY + "[1]]"),
                          "Input type": Raw("[" + '"float",' * MANY + '"float"]')},
    "ten thousand lists in each other": {**GOOD, "Input Dims": nested(DEEP)},
    "a hundred lists in each other": {**GOOD, "Input Dims": nested(100)},
}
# Arguments that take megabytes come once, for these operators.
LARGE = ("aten::mm", "aten::cat", "aten::add", "aten::convolution")


def arguments_text(arguments):
    return ",".join(f"{json.dumps(key)}:{value if isinstance(value, Raw) else json.dumps(value)}"
                    for key, value in arguments.items())


def calls():
    for damage, arguments in DAMAGE.items():
        size = len(arguments_text(arguments))
        for op in LARGE if size > 100_000 else OPS:
            yield damage, op, arguments


def write_trace(path):
    """A call a line of calls(), each with a launch and a kernel of 3 us; returns their number."""
    number = 0
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"schemaVersion":1,"traceEvents":[\n')
        for number, (_, op, arguments) in enumerate(calls(), 1):
            at = 100 * number
            out.write(f'{{"ph":"X","cat":"cpu_op","name":"{op}","pid":1,"tid":1,"ts":{at},"dur":50,'
                      f'"args":{{{arguments_text(arguments)}}}}},\n'
                      f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,'
                      f'"ts":{at + 5},"dur":5,"args":{{"correlation":{number}}}}},\n'
                      f'{{"ph":"s","id":{number},"pid":1,"tid":1,"ts":{at + 5},"cat":"ac2g",'
                      f'"name":"ac2g"}},\n'
                      f'{{"ph":"f","id":{number},"pid":0,"tid":7,"ts":{at + 60},"cat":"ac2g",'
                      f'"name":"ac2g","bp":"e"}},\n'
                      f'{{"ph":"X","cat":"kernel","name":"k{number}","pid":0,"tid":7,'
                      f'"ts":{at + 60},"dur":3,"args":{{"correlation":{number},"stream":7}}}},\n')
        out.write('{"ph":"M","name":"process_name","pid":1,"tid":1,"ts":0,'
                  '"args":{"name":"python"}}]}\n')
    return number


@functools.lru_cache(maxsize=None)
def table(folder, name):
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class BadArguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = pathlib.Path(cls.folder.name)
        trace = str(cls.out / "trace.json")
        cls.calls = write_trace(trace)
        everything = dict.fromkeys(("include_call_stack", "group_by_num_kernels", "pseudo_ops",
                                    "include_overlap_info", "detect_recompute"), True)
        cls.reports = {
            "default": {},
            "everything": everything,
            "tracelens": {"compat": "tracelens"},
            "tracelens everything": {"compat": "tracelens", **everything},
        }
        program.tool_answers([("perf_report", {"trace": trace, "platform": "MI300X",
                                               "output_dir": str(cls.out / name), **options})
                              for name, options in cls.reports.items()])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_call_keeps_its_row_and_its_time(self):
        for name in ("default", "everything"):
            rows = table(self.out / name, "unified_perf_summary")
            self.assertEqual(sum(int(row["operation_count"]) for row in rows), self.calls)
            time = sum(float(row["Kernel Time (µs)_sum"]) for row in rows)
            self.assertAlmostEqual(time, 3 * self.calls, places=6)

    def test_coverage_counts_every_call_once(self):
        rows = table(self.out / "default", "model_coverage")
        self.assertEqual(sum(int(row["calls"]) for row in rows), self.calls)
        self.assertEqual([row for row in rows[1:] if not row["why not"]], [])

    def test_numbers_are_finite_and_not_negative(self):
        for name in self.reports:
            for path in (self.out / name).glob("*.csv"):
                for row in table(self.out / name, path.stem):
                    for column in ("GFLOPS", "GFLOPS_first", "Data Moved (MB)",
                                   "Data Moved (MB)_first", "TFLOPS/s_mean", "TB/s_mean",
                                   "Pct Roofline_mean"):
                        if row.get(column):
                            value = float(row[column])
                            self.assertTrue(math.isfinite(value), (path.name, column, row["name"]))
                            if not name.startswith("tracelens"):
                                self.assertGreaterEqual(value, 0, (path.name, column, row["name"]))

    def test_products_have_metrics_only_where_shapes_and_dtypes_tell(self):
        rows = [row for row in table(self.out / "default", "unified_perf_summary")
                if row["name"] == "aten::mm"]
        known = [row for row in rows if row["GFLOPS"]]
        self.assertGreater(len(rows), len(known))
        self.assertEqual({row["Input Dims"] for row in known}, {"((8, 8), (8, 8))"})
        for row in known:
            floats = row["Input type"] == "('float', 'float')"
            self.assertEqual(row["Data Moved (MB)"] != "", floats, row["Input type"])
            self.assertEqual(row["Compute Spec"], "matrix_fp32" if floats else "")

    def test_reasons_are_told(self):
        reasons = {row["why not"] for row in table(self.out / "default", "model_coverage")
                   if row["op"] == "aten::mm"}
        for reason in ("shapes that do not multiply", "a dimension is negative",
                       "a dimension is not a whole number", "a tensor of more than 2^53 elements",
                       "asked for [0] of something that was not recorded",
                       "arguments are nested too deeply"):
            self.assertIn(reason, reasons)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
