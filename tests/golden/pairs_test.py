"""What is said about two traces that differ in one thing: written here, compared by the program."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import program

program.need_binary()

CALLS = 40


def op(name, ts, dur, shape):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
            "args": {"External id": int(ts), "Input Dims": [shape, shape],
                     "Input type": ["c10::BFloat16", "c10::BFloat16"]}}


def launch(ts, number):
    return {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
            "ts": ts, "dur": 3, "args": {"correlation": number}}


def kernel(name, ts, dur, number, op_ts):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": {"stream": 7, "device": 0, "correlation": number, "External id": int(op_ts)}}


def trace(product_us, product="sm90_xmma_gemm_bf16"):
    """Products and sums of 4096 x 4096 in turns, on a host that is far ahead."""
    events, end = [], 1000
    for i in range(CALLS):
        for name, kernel_name, dur in (("aten::mm", product, product_us),
                                       ("aten::add", "vectorized_elementwise_kernel", 60)):
            at, number = 1 + len(events) * 5, len(events) + 1
            events += [op(name, at, 8, [4096, 4096]), launch(at + 2, number),
                       kernel(kernel_name, end, dur, number, at)]
            end += dur + 1
    return {"schemaVersion": 1, "traceEvents": events, "deviceProperties": [
        {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85 << 30}]}


class OneDevice(unittest.TestCase):
    def compare(self, target, reference):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, document in (("target", target), ("reference", reference)):
                path = pathlib.Path(folder) / f"{name}.json"
                path.write_text(json.dumps(document), encoding="utf-8")
                paths.append(str(path))
            out = pathlib.Path(folder) / "out"
            ran = subprocess.run([program.BINARY, "compare", *paths, "--output-dir", str(out)],
                                 capture_output=True, text=True, timeout=120)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.report = (out / "comparative_analysis_fair.md").read_text(encoding="utf-8")
            return ran.stdout

    def test_the_same_kernel_that_runs_slower_is_no_fault_of_the_model(self):
        text = self.compare(trace(320), trace(200))
        self.assertIn("is the same kernel on both sides", text)
        self.assertIn("Product: up to 0.120 ms of GPU time an iteration", text)
        # Arithmetic and its own peak, not the bandwidth.
        self.assertIn("429 TFLOPS/s, 43 % of its peak; the baseline 687 TFLOPS/s, 69 % of its peak",
                      text)

    def test_another_kernel_is_named_with_the_one_it_stands_for(self):
        text = self.compare(trace(300, "cutlass_80_tensorop_bf16_gemm"), trace(200))
        self.assertRegex(text, "find what chose `cutlass_80_tensorop_bf16_gemm.*in place of "
                               "`sm90_xmma_gemm")

    def test_what_to_do_stands_after_the_headline(self):
        self.compare(trace(300, "cutlass_80_tensorop_bf16_gemm"), trace(200))
        lines = self.report.splitlines()
        table = lines.index("| # | What to do | Why | Saves of wall time | Of GPU time | Path |")
        self.assertLess(table, lines.index("### Where the difference comes from"))
        self.assertRegex(lines[table + 2], r"^\| 1 \| Find what chose `cutlass.* \| product: "
                                           r"[\d.]+ ms against .* \| up to [\d.]+ ms "
                                           r"\| up to [\d.]+ ms \| A \|$")
        # Every way has what it saves, and none is told that is none.
        action = next(line for line in lines if line.startswith("**Action**"))
        self.assertRegex(action, r": up to [\d.]+ ms\.")
        self.assertNotRegex(self.report, "Path [AB]: None|as much|a part of that")

    def test_equal_products_are_no_lever(self):
        self.assertNotIn("Product: up to", self.compare(trace(200), trace(200.5)))
        self.assertNotIn("product:", self.report.split("| Metric")[0])


class TwoDevices(OneDevice):
    """The candidate on an H100, the baseline on an MI300X."""

    def differs(self, candidate, baseline):
        other = trace(210)
        other["deviceProperties"][0]["name"] = "AMD Instinct MI300X"
        return next(line for line in self.compare({**trace(200), **candidate},
                                                  {**other, **baseline}).splitlines()
                    if line.startswith("differs:"))

    def test_recorded_versions_are_told(self):
        told = self.differs({"cuda_runtime_version": 12040}, {"hip_runtime_version": 60443483})
        self.assertIn("cuda_runtime_version 12.4 of the candidate; hip_runtime_version 6.4.43483 of "
                      "the baseline; the framework's version and host processors are not recorded",
                      told)
        told = self.differs({"cuda_runtime_version": 12040}, {})
        self.assertIn("12.4 of the candidate; versions not recorded of the baseline", told)
        # What is no number is told as it is.
        told = self.differs({"cuda_runtime_version": "12.x"}, {"hip_runtime_version": 7})
        self.assertIn('cuda_runtime_version "12.x" of the candidate', told)

    def test_where_none_is_recorded_that_is_said(self):
        self.assertIn("software versions and host processors are not recorded", self.differs({}, {}))


class KeyFindings(OneDevice):
    def test_no_part_is_said_not_to_differ_that_does(self):
        self.compare(trace(200), trace(200))
        self.assertIn("No part of the time differs by 2 % of it.", self.report)
        # More idle time by the host alone: no kernel is slower, and yet something differs.
        late = trace(200)
        for event in late["traceEvents"]:
            if event["cat"] == "kernel":
                event["ts"] *= 1.3
        self.compare(trace(200), late)
        self.assertNotIn("No part of the time differs", self.report)


@unittest.skipUnless((program.DATA / "traces/pairs/sam2_rle").is_dir(), "no such pair")
class RecordedPairs(unittest.TestCase):
    def run_jarvis(self, *arguments):
        ran = subprocess.run([program.BINARY, *map(str, arguments)], capture_output=True, text=True,
                             timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    def compare(self, name):
        pair = program.DATA / "traces/pairs" / name
        with tempfile.TemporaryDirectory() as folder:
            text = self.run_jarvis("compare", pair / "after.json.gz", pair / "before.json.gz",
                                   "--output-dir", folder)
            report = (pathlib.Path(folder) / "comparative_analysis_fair.md").read_text("utf-8")
        return text, report

    def test_figures_close_and_waits_are_counted_once(self):
        text, report = self.compare("sam2_rle")
        # As many as the recordings have calls of cudaStreamSynchronize.
        self.assertIn("493 synchronizing calls instead of 2764", text)
        self.assertIn("`aten::index` 230 instead of 697 (host time 75.7 → 21.9 ms; waiting for the GPU "
                      "684.1 → 676.2 ms)", text)
        self.assertIn("in none of these", text)
        self.assertNotIn("No part of the time differs", report)

    def test_what_to_do_has_the_figures_and_the_order_of_the_candidate_alone(self):
        text, _ = self.compare("sam2_rle")
        rows = [line for line in text.splitlines() if re.match(r"\d\. ", line)]
        with tempfile.TemporaryDirectory() as folder:
            alone = " ".join(self.run_jarvis(
                "analyze", program.DATA / "traces/pairs/sam2_rle/after.json.gz", "--output-dir",
                folder).split())
        ends = [re.search(r"((?:about [\d.]+ ms \()?(?:[\d.]+ to|up to) [\d.]+ ms)", row).group(1)
                for row in rows]
        self.assertEqual(ends[0], "about 499.9 ms (321.2 to 596.9 ms")
        for end in ends[:3]:
            self.assertIn(end, alone)
        places = [alone.index(words) for words in
                  ("Fp32 GEMMs with TF32", "Unfused chains", "491 waits", "The same work repeated",
                   "the host works between")]
        self.assertEqual(places, sorted(places))
        for row, words in zip(rows, ("Fp32 GEMMs with TF32", "Unfused chains", "491 waits",
                                     "The same work repeated", "the host works between")):
            self.assertIn(words, row)

    def test_quantization_is_named_and_undoing_it_saves_the_difference_at_most(self):
        text, _ = self.compare("ao_int8_dynamic")
        self.assertIn("The candidate quantizes activations and the baseline does not [inferred from "
                      "kernel names]: 37 kernels of 76.4 ms an iteration", text)
        self.assertRegex(text, r"(?s)Slower than in the baseline: [^:]*: [^:]*: up to 18\.4 ms.*go back "
                               "to unquantized activations")
        text, _ = self.compare("ll_quant_kernel")  # both do
        self.assertNotIn("quantizes activations", text)

    def test_one_action_is_one_row(self):
        text, _ = self.compare("kin_loader")
        self.assertEqual(text.count("Upgrade to PyTorch 2"), 1)
        self.assertIn("aten::relu_`); GPU idle for 10.5 ms per step: 13.5 to 27.5 ms of wall time a step",
                      text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
