#!/usr/bin/env python3
"""How far real recordings can be trusted: load_trace's list of qualities for the shared traces, with
the milliseconds that were worked out by hand."""

import gzip
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

# trace, quality: milliseconds from .. to; None: it must not be told.
EXPECTED = {
    "sd35-xdit-mi300x/trace": {"profiler_frames": (350, 372), "first_calls": None,
                               "descheduled_host": None, "dispatch_in_durations": (0, 1)},
    "norm-layers/trace": {"first_calls": (1128, 1172), "profiler_frames": None,
                          "descheduled_host": None},
    "gptoss-vllm-b200/trace": {"first_calls": (8.4, 10.5), "profiler_overhead": (1.4, 1.6),
                               "profiler_frames": None, "dispatch_in_durations": None},
    "megatron-tp8-a100/rank0": {"descheduled_host": (405, 467), "first_calls": None,
                                "profiler_frames": None},
    "megatron-tp8-a100/rank6": {"descheduled_host": (405, 470), "first_calls": None},
    "dlrm-a2a-v100/rank0": {"allocator_growth": (170, 200), "descheduled_host": None},
    "dlrm-a2a-v100/rank2": {"descheduled_host": None, "profiler_frames": None},
    "qwen1.5-0.5b-mi300x/trace": {"dispatch_in_durations": (0, 1), "unlinked_gpu_work": (13, 13.6),
                                  "descheduled_host": None},
    "qwen1.5-0.5b-h100/trace": {"dispatch_in_durations": None, "first_calls": None},
    "qwen3-sglang-prefill-mi300x/trace": {"unrecorded_gpu_work": (490, 495)},
    "kineto18-resnet50-v100/trace": {"descheduled_host": None, "first_calls": None,
                                     "work_before_launch": (34, 36), "ops_counted_twice": ()},
    "owlv2-mi300x/trace": {"descheduled_host": None, "first_calls": None, "profiler_frames": None},
    "gpu-only-mi210/trace": {"no_cpu_ops": (), "ops_counted_twice": None},
    "timesformer-h100/trace": {"descheduled_host": None, "first_calls": None, "secrets": ()},
}


def qualities(name):
    answer = program.ask("load_trace", trace=str(program.DATA / "traces" / f"{name}.json.gz"))
    return answer, {row[0]: dict(zip(answer["columns"], row)) for row in answer["rows"]}


class Trust(unittest.TestCase):
    def test_qualities_and_their_milliseconds(self):
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                _, found = qualities(name)
                for code, limits in expected.items():
                    if limits is None:
                        self.assertNotIn(code, found)
                        continue
                    self.assertIn(code, found)
                    if limits:
                        self.assertGreaterEqual(found[code]["ms"], limits[0])
                        self.assertLessEqual(found[code]["ms"], limits[1])
                    self.assertTrue(found[code]["consequence"], code)

    def test_what_matters_stands_in_the_summary(self):
        answer, _ = qualities("sd35-xdit-mi300x/trace")
        self.assertIn("Trust: profiler_frames (361 ms", answer["summary"])
        answer, _ = qualities("megatron-tp8-a100/rank0")
        self.assertIn("Trust: descheduled_host", answer["summary"])

    def test_late_launches_of_the_profiler_are_not_host_bound(self):
        trace = str(program.DATA / "traces/sd35-xdit-mi300x/trace.json.gz")
        answer = program.ask("idle_gaps", trace=trace, by="cause")
        ms = {row[0]: row[2] for row in answer["rows"]}
        self.assertGreater(ms["profiler_cost"], 330)
        self.assertLess(ms["host_bound"], 125)

    def test_no_answer_repeats_a_secret(self):
        name = "bert-small-h100/trace"
        path = program.DATA / "traces" / f"{name}.json.gz"
        secret = json.loads(gzip.decompress(path.read_bytes()))["metadata"]["system"]["env"][
            "HF_TOKEN"]
        for tool in ("load_trace", "gpu_timeline", "ops_summary"):
            self.assertNotIn(secret, program.call(tool, trace=str(path)).stdout)


if __name__ == "__main__":
    program.need_data()
    unittest.main()
