#!/usr/bin/env python3
"""analyze of a file that holds several ranks: it is about one of them, and says so; figures add up.

    file_ranks_test.py [BINARY]      default: $JARVIS_BINARY
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
DATA = pathlib.Path(os.environ.get("JARVIS_TEST_DATA", ROOT.parent / "shared"))
INPUTS = DATA / "traces/inputs"
BINARY = os.environ.get("JARVIS_BINARY", "")


def event(category, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def process(pid, devices, kernel_us, steps=6, ops=10):
    """A process that runs steps of ops, whose kernels take turns on its devices."""
    events = []
    for step in range(steps):
        start = 10000 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", pid, pid, start, 9900))
        for i in range(ops):
            ts, correlation = start + 900 * i, 100000 * pid + 1000 * step + i
            device = devices[i % len(devices)]
            events += [event("cpu_op", "aten::mm", pid, pid, ts, 60),
                       event("cuda_runtime", "cudaLaunchKernel", pid, pid, ts + 10, 10,
                             correlation=correlation),
                       event("kernel", "gemm", device, 7, ts + 30, kernel_us,
                             correlation=correlation, device=device, stream=7)]
    return events


ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"


def launched(pid, device, ts, correlation, name, dur, start, category="kernel", **args):
    return [event("cuda_runtime", "cudaLaunchKernel", pid, pid, ts, 10, correlation=correlation),
            event(category, name, device, 7, start, dur, correlation=correlation, device=device,
                  stream=7, **args)]


def uploads(pid, device, sizes, more=()):
    """A process that uploads buffers of these sizes (MB) in each of three steps, each for 1 ms, and
    multiplies for 100 us."""
    events = []
    for step in range(3):
        at = step * (len(sizes) * 1200 + 1000)
        events.append(event("user_annotation", f"ProfilerStep#{step}", pid, pid, at,
                            len(sizes) * 1200 + 900))
        for i, size in enumerate(sizes):
            ts, number = at + 1200 * i, 1000 * pid + 100 * step + 2 * i
            events += launched(pid, device, ts, number, "Memcpy HtoD (Pinned -> Device)", 1000, ts + 20,
                               "gpu_memcpy", bytes=size * 1_000_000)
            events += launched(pid, device, ts + 20, number + 1, "gemm", 100, ts + 1040)
        for name in more:
            events += launched(pid, device, at + 40, 1000 * pid + 900 + step, name, 50, at + 1150)
    return events


class FileRanksTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_jarvis(self, *words):
        return subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "JARVIS_CACHE": "off"})

    def analysis(self, trace, *words):
        ran = self.run_jarvis("analyze", trace, "--output-dir", self.folder / "out", "--overwrite",
                              *words)
        self.assertEqual(ran.returncode, 0, ran)
        return " ".join(ran.stdout.split())  # however wide its lines are

    def trace(self, *processes):
        path = self.folder / "trace.json"
        path.write_text(json.dumps({"traceEvents": sum(processes, [])}))
        return path

    def base(self):
        return json.loads((self.folder / "out/ledger_base.json").read_text())

    def test_an_analysis_is_about_the_rank_that_bounds_the_job(self):
        trace = self.trace(process(200, [0], 300), process(201, [1], 500))
        text = self.analysis(trace)
        self.assertIn("All figures are of rank 1 of 2 in this file", text)
        self.assertIn("the one that bounds the job", text)
        self.assertIn("rank 0: 18.0 ms", text)
        self.assertIn("rank 1 of 2 in this file", text)
        self.assertEqual(self.base()["gpu_busy_ns"], 6 * 10 * 500 * 1000)
        self.assertNotIn("2 ranks in one file", text)
        shares = [float(share) for share in re.findall(r"([0-9.]+)%", text)]
        self.assertLessEqual(max(shares), 100)

    def test_another_rank_is_as_if_it_had_been_recorded_alone(self):
        alone = self.trace(process(200, [0], 300))
        self.analysis(alone)
        ledger = (self.folder / "out/ledger.csv").read_text()
        text = self.analysis(self.trace(process(200, [0], 300), process(201, [1], 500)), "--rank", 0)
        self.assertIn("All figures are of rank 0 of 2 in this file", text)
        self.assertEqual((self.folder / "out/ledger.csv").read_text(), ledger)

    def test_a_rank_that_is_not_there_is_refused(self):
        trace = self.trace(process(200, [0], 300), process(201, [1], 500))
        ran = self.run_jarvis("analyze", trace, "--output-dir", self.folder / "out", "--rank", 7)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no rank 7; its ranks: 0-1", ran.stderr)

    def test_load_trace_reads_all_ranks_and_names_the_one_to_judge(self):
        trace = self.trace(process(200, [0], 300), process(201, [1], 500))
        ran = self.run_jarvis("call", "load_trace", json.dumps({"trace": str(trace)}))
        self.assertEqual(ran.returncode, 0, ran)
        answer = json.loads(ran.stdout)
        self.assertEqual([one["rank"] for one in answer["ranks"]], [0, 1])
        self.assertEqual(answer["gpu_events"], 120)
        self.assertEqual(answer["next"][0]["arguments"]["rank"], 1)

    def test_one_process_with_two_gpus_is_one_trace(self):
        text = self.analysis(self.trace(process(200, [0, 1], 300)))
        self.assertNotIn("All figures are of rank", text)
        self.assertIn("GPU work of 2 devices is in one file", text)

    def test_gpus_of_one_process_with_collectives_are_ranks_of_the_file(self):
        def shared(*with_collective):
            events = process(200, [0, 1], 300)
            for step in range(6):
                for device in with_collective:
                    events += launched(200, device, 10000 * step + 9000 + 20 * device,
                                       900000 + 10 * step + device, ALL_REDUCE, 500, 10000 * step + 9100)
            return self.analysis(self.trace(events))
        text = shared(0, 1)
        self.assertIn("All figures are of GPU 0 of the GPUs 0 and 1 in this file", text)
        self.assertNotIn("one rank of several", text)
        self.assertIn("'jarvis collectives' on this same file splits waiting from transfer", text)
        # What the other GPU got was launched by the same host.
        self.assertNotIn("no kernel in the recording", text)
        self.assertNotIn("All figures are of GPU", shared(0))

    def test_what_each_gpu_uploads_alike_can_be_shared(self):
        def advises(one, other, more=()):
            self.analysis(self.trace(uploads(200, 0, one, more), uploads(201, 1, other, more)))
            report = (self.folder / "out/standalone_analysis_fair.md").read_text()
            return "gather the rest from the others" in report
        weights = [4 + 3 * (i % 5) for i in range(12)]
        self.assertTrue(advises(weights, weights))
        self.assertFalse(advises(weights, weights[::-1]))
        self.assertFalse(advises(weights[:2], weights[:2]))  # a batch
        self.assertFalse(advises(weights, weights, [ALL_REDUCE]))  # parts of sharded weights

    def test_ranks_of_two_gpus_each_keep_both(self):
        trace = self.trace(process(200, [0, 1], 300), process(201, [2, 3], 500))
        text = self.analysis(trace)
        self.assertIn("All figures are of rank 1 of 2 in this file", text)
        self.assertIn("GPU work of 2 devices is in one file", text)

    @unittest.skipUnless(INPUTS.is_dir(), f"no recordings in {INPUTS}")
    def test_a_gpu_that_ranks_share_is_said(self):
        for name, shared in (("made/rocpd-merged.db", True), ("mfu_2gpu_before.sqlite", False)):
            ran = self.run_jarvis("call", "load_trace",
                                  json.dumps({"trace": str(INPUTS / name), "rank": 0}))
            self.assertEqual(ran.returncode, 0, ran)
            answer = json.loads(ran.stdout)
            said = next(row for row in answer["rows"] if row[0] == "rank_of_file")
            self.assertEqual("GPU of the same number" in str(said), shared)
            self.assertEqual(len(answer["processes"]), 1)

    @unittest.skipUnless(INPUTS.is_dir(), f"no recordings in {INPUTS}")
    def test_a_part_of_one_pass_has_no_layers_for_steps(self):
        for name in ("h100_2gpu_1s", "mfu_2gpu_before"):
            text = self.analysis(INPUTS / f"{name}.sqlite")
            self.assertIn("rank 0 of 2 in this file", text)
            self.assertIn("The recording holds no whole pass", text)
            base = self.base()
            self.assertEqual(base["unit"], "recording")
            self.assertLessEqual(base["gpu_busy_ns"], base["ns"])

    @unittest.skipUnless(INPUTS.is_dir(), f"no recordings in {INPUTS}")
    def test_weights_that_are_uploaded_again_are_kept_on_the_gpu(self):
        text = self.analysis(INPUTS / "h100_2gpu_1s.sqlite")
        # Whether they fit is not recorded.
        first = re.search(r"\b1 B up to ([0-9.]+) ms Keep on the GPU ", text)
        high = float(first.group(1))
        copies = float(re.search(r"no other work hides ([0-9.]+) ms of them", text).group(1))
        self.assertGreater(high, 0.6 * copies)
        self.assertLessEqual(high, copies)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
