#!/usr/bin/env python3
"""Steps that are left out are in no figure per step: traces made here whose one outlier step holds a
huge copy, memset, collective, evaluation or pause, at the start, in the middle or at the end.

    outlier_steps_test.py [unittest arguments]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

STEPS = 12
MM = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2}
COPY_MS = 0.040


class Recording:
    """One host thread and one stream, as a profiler exports them."""

    def __init__(self):
        self.events, self.host, self.gpu, self.number = [], 1e6, 0.0, 100

    def event(self, cat, name, ts, dur, gpu=False, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur,
                            "pid": 0 if gpu else 100, "tid": 7 if gpu else 100, "args": args})

    def op(self, name, kernel, us, kind="kernel", call="cudaLaunchKernel", host_us=60, args=None):
        self.number += 1
        self.event("cpu_op", name, self.host, host_us, **{"External id": self.number},
                   **(args or {}))
        self.event("cuda_runtime", call, self.host + 1, 3, correlation=self.number)
        start = max(self.gpu + 0.5, self.host + 5)
        more = {"bytes": 4_000_000} if kind == "gpu_memcpy" else {}
        self.event(kind, kernel, start, us, True, correlation=self.number, device=0, stream=7,
                   **more)
        self.gpu = start + us
        self.host += host_us + 2

    def wait(self):
        self.number += 1
        us = max(3, self.gpu - self.host + 5)
        self.event("cuda_runtime", "cudaDeviceSynchronize", self.host, us, correlation=self.number)
        self.host += us + 2

    def step(self, number, more=None):
        start = self.host
        self.op("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 1000 * COPY_MS, "gpu_memcpy",
                "cudaMemcpyAsync", 30)
        for _ in range(5):
            self.op("aten::mm", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128", 200,
                    args=MM)
        self.op("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50)
        if more:
            more(self)
        self.wait()
        self.event("user_annotation", f"ProfilerStep#{number}", start, self.host - start)
        self.host += 20

    def write(self, path):
        path.write_text(json.dumps({
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "distributedInfo": {"rank": 0, "world_size": 8},
            "traceEvents": self.events}), encoding="utf-8")


def evaluation(recording):
    for _ in range(300):
        recording.op("aten::mm", "sm90_xmma_gemm_eval", 400, host_us=30, args=MM)


def checkpoint(recording):
    recording.wait()
    recording.host += 300_000


OUTLIERS = {
    "H2D": lambda r: r.op("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 900_000, "gpu_memcpy",
                          "cudaMemcpyAsync"),
    "moderate H2D": lambda r: r.op("aten::copy_", "Memcpy HtoD (Pageable -> Device)", 9_000,
                                   "gpu_memcpy", "cudaMemcpyAsync"),
    "D2H": lambda r: r.op("aten::to", "Memcpy DtoH (Device -> Pageable)", 300_000, "gpu_memcpy",
                          "cudaMemcpyAsync"),
    "memset": lambda r: r.op("aten::zero_", "Memset (Device)", 90_000, "gpu_memset",
                             "cudaMemsetAsync"),
    "collective": lambda r: r.op("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                                 250_000),
    "evaluation": evaluation,
    "checkpoint": checkpoint,
}


class OutlierSteps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, more=None, at=0):
        recording = Recording()
        for number in range(STEPS):
            recording.step(number, more if number == at else None)
        path = self.folder / "trace.json"
        recording.write(path)
        return str(path)

    def step_ms(self, path):
        return program.ask("load_trace", trace=path)["step"]["step_ms"]

    def check_report(self, path):
        """Every share of the step in what `analyze` writes."""
        out = self.folder / "out"
        subprocess.run([program.BINARY, "analyze", path, "--output", str(out), "--overwrite"],
                       capture_output=True, check=True, timeout=300)
        text = (out / "standalone_analysis_fair.md").read_text(encoding="utf-8")
        shares = [float(share) for share in re.findall(r"([0-9.]+)%", text)]
        self.assertGreater(len(shares), 5)
        self.assertLessEqual(max(shares), 100.5, text)
        return text

    def test_an_outlier_changes_no_figure_of_a_step(self):
        plain = self.step_ms(self.trace())
        for name, more in OUTLIERS.items():
            for at in (0, STEPS // 2, STEPS - 1):
                with self.subTest(outlier=name, step=at):
                    path = self.trace(more, at)
                    self.assertAlmostEqual(self.step_ms(path), plain, delta=0.02 * plain)
                    top = program.ask("prioritize", trace=path, limit=50)
                    combined = top["combined"]
                    if "wall_ms" in combined:
                        self.assertAlmostEqual(combined["wall_ms"] / (STEPS - 1), plain,
                                               delta=0.03 * plain)
                    if "savings_ms" in combined:
                        self.assertGreaterEqual(combined["new_wall_ms"], 0)
                        self.assertLessEqual(combined["savings_ms"]["high"], combined["wall_ms"])

    def test_no_share_is_above_all(self):
        for name, at in (("H2D", 0), ("D2H", STEPS - 1), ("collective", 5), ("evaluation", 5)):
            with self.subTest(outlier=name, step=at):
                text = self.check_report(self.trace(OUTLIERS[name], at))
                for line in text.splitlines():
                    if line.startswith("|") and "H2D copies |" in line:
                        self.assertIn("0.0400 ms", line)

    def test_changes_save_no_more_than_the_copies_take(self):
        path = self.trace(OUTLIERS["H2D"])
        told = program.ask("what_if", trace=path, changes=[{"pin_copies": True}])
        self.assertLessEqual(told["saved_of_steps_ms"], (STEPS - 1) * COPY_MS + 0.01)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
