#!/usr/bin/env python3
"""jarvis split: steps of an inference server as traces of their own.

    split_test.py [unittest arguments]
"""

import csv
import gzip
import json
import pathlib
import tempfile
import unittest

import program

STEP_US = 1000
# (prefill requests and tokens, decode requests), by step
STEPS = [(0, 0, 1), (1, 100, 1), (0, 0, 2), (0, 0, 8), (0, 0, 8), (1, 500, 7), (0, 0, 8),
         (0, 0, 8), (0, 0, 8), (0, 0, 1)]


def made():
    """Each step launches two kernels; the second runs while the host is in the next step."""
    events = [{"ph": "M", "pid": 7, "tid": 0, "name": "process_name", "args": {"name": "server"}}]
    for step, (prefills, tokens, decodes) in enumerate(STEPS):
        at = 10_000 + step * STEP_US
        host = {"ph": "X", "pid": 7, "tid": 7}
        gpu = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 3}
        name = f"execute_context_{prefills}({tokens})_generation_{decodes}({decodes})"
        events.append({**host, "cat": "user_annotation", "name": name, "ts": at, "dur": 600})
        for kernel, start in ((0, at + 100), (1, at + STEP_US + 50)):
            link = 2 * step + kernel + 1
            events.append({**host, "cat": "cpu_op", "name": f"op{step}", "ts": at + 10 + 50 * kernel,
                           "dur": 40, "args": {"External id": link}})
            events.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                           "ts": at + 20 + 50 * kernel, "dur": 5, "args": {"correlation": link}})
            events.append({**gpu, "name": f"k{step}_{kernel}", "ts": start, "dur": 80,
                           "args": {"correlation": link, "stream": 3}})
            arrow = {"cat": "ac2g", "name": "ac2g", "id": link}
            events.append({**arrow, "ph": "s", "pid": 7, "tid": 7, "ts": at + 20 + 50 * kernel})
            events.append({**arrow, "ph": "f", "pid": 0, "tid": 3, "ts": start, "bp": "e"})
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
            "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
            "traceEvents": events}


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def kernels(path):
    return [event["name"] for event in read(path)["traceEvents"] if event.get("cat") == "kernel"]


class Split(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.trace = self.path / "trace.json"
        self.trace.write_text(json.dumps(made()))

    def split(self, **options):
        answer = program.ask("split", trace=str(self.trace), output_dir=str(self.path / "out"),
                             overwrite=True, **options)
        rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
        self.notes = answer.get("notes", [])
        listed = answer["files"].pop()
        self.assertEqual(pathlib.Path(listed["path"]).name, "parts.csv")
        with open(listed["path"], newline="", encoding="utf-8") as file:
            self.assertEqual([row["file"] for row in csv.DictReader(file)],
                             [row["file"] for row in rows])
        for row, file in zip(rows, answer["files"]):
            self.assertEqual(pathlib.Path(file["path"]).name, row["file"])
            self.assertEqual(len(kernels(file["path"])), row["gpu_events"])
        return rows, [file["path"] for file in answer["files"]]

    def test_the_busiest_steps_in_a_row_and_their_phases(self):
        rows, paths = self.split(count=6)
        self.assertEqual([(row["file"], row["first_step"], row["steps"], row["phase"])
                          for row in rows],
                         [("steady.json.gz", 3, 6, "several"),
                          ("steady_decode.json.gz", 6, 3, "decode"),
                          ("steady_mixed.json.gz", 5, 1, "mixed")])
        self.assertEqual(rows[0]["requests"], 8)
        # Work belongs to the step that launched it, whenever it runs.
        self.assertEqual(kernels(paths[2]), ["k5_0", "k5_1"])
        self.assertEqual(kernels(paths[0]), [f"k{s}_{k}" for s in range(3, 9) for k in (0, 1)])

    def test_a_part_reads_back_with_all_that_belongs_to_it(self):
        _, paths = self.split(count=6)
        part = program.ask("load_trace", trace=paths[0])
        self.assertEqual((part["rank"], part["world_size"]), (1, 2))
        self.assertEqual(part["gpu_events"], 12)
        self.assertIn("H100", part["device"])
        events = read(paths[0])["traceEvents"]
        self.assertIn("server", [event.get("args", {}).get("name") for event in events])
        arrows = [event["id"] for event in events if event["ph"] in "sf"]
        self.assertEqual(sorted(set(arrows)), list(range(7, 19)))
        self.assertTrue(all(arrows.count(link) == 2 for link in arrows))
        ops = program.ask("ops_summary", trace=paths[0])
        self.assertEqual({row[ops["columns"].index("op")] for row in ops["rows"]},
                         {f"op{step}" for step in range(3, 9)})

    def test_each_step_once(self):
        rows, paths = self.split(each=True, steps="2:5")
        self.assertEqual([row["file"] for row in rows],
                         ["step_0002.json.gz", "step_0003.json.gz", "step_0004.json.gz"])
        self.assertEqual([kernels(path) for path in paths],
                         [[f"k{step}_0", f"k{step}_1"] for step in (2, 3, 4)])
        rows, paths = self.split(each=True)
        together = [name for path in paths for name in kernels(path)]
        self.assertEqual(sorted(together), sorted(kernels_of_all()))

    def test_steps_that_were_asked_for_alone_are_searched(self):
        rows, _ = self.split(steps="0:3", count=2)
        self.assertEqual((rows[0]["first_step"], rows[0]["steps"]), (1, 2))
        rows, _ = self.split(count=100)
        self.assertEqual((rows[0]["first_step"], rows[0]["steps"]), (0, len(STEPS)))

    def test_what_is_known_of_the_benchmark_chooses_among_busy_steps(self):
        # Of eight requests that generate 32 tokens each one begins in every fourth step.
        rows, _ = self.split(count=4, conc=8, osl=32, r=1)
        self.assertEqual((rows[0]["first_step"], rows[0]["steps"]), (3, 4))
        self.assertEqual(self.notes, ["1 of the 4 steps process a prompt; of the benchmark's "
                                      "25.0 % do."])
        # Too few steps for one with a prompt are more.
        rows, _ = self.split(count=2, conc=4, osl=20, r=1)
        self.assertEqual(rows[0]["steps"], 5)
        self.assertIn("The most requests of a step are 8, not 4", self.notes[1])
        for asked in ({"conc": 4}, {"conc": 4, "osl": 8}, {"conc": 4, "osl": 8, "r": 1, "each": True}):
            ran = program.call("split", trace=str(self.trace), **asked)
            self.assertIn("conc, osl and r belong together", ran.stderr + ran.stdout)

    def others(self, marks):
        """A program that is no server; marks are (name, begin, length), each with one kernel."""
        events = []
        for i, (category, name, at, length) in enumerate(marks):
            events.append({"ph": "X", "pid": 7, "tid": 7, "cat": category, "name": name,
                           "ts": at, "dur": length})
            events.append({"ph": "X", "pid": 7, "tid": 7, "cat": "cuda_runtime",
                           "name": "cudaLaunchKernel", "ts": at + 10, "dur": 5,
                           "args": {"correlation": i + 1}})
            events.append({"ph": "X", "pid": 0, "tid": 3, "cat": "kernel", "name": f"k{i}",
                           "ts": at + length / 2, "dur": length / 2 - 10,
                           "args": {"correlation": i + 1, "stream": 3}})
        self.trace.write_text(json.dumps({"traceEvents": events}))

    def test_training_steps_are_split_by_their_marks(self):
        self.others([("user_annotation", f"ProfilerStep#{step}", 1000 * step, 990)
                     for step in range(5, 10)])
        rows, paths = self.split(each=True)
        self.assertEqual([kernels(path) for path in paths], [[f"k{i}"] for i in range(5)])
        self.assertEqual({(row["phase"], row["requests"]) for row in rows}, {(None, None)})
        rows, paths = self.split(count=3)
        self.assertEqual([(row["file"], row["steps"]) for row in rows], [("steady.json.gz", 3)])
        ran = program.call("split", trace=str(self.trace), conc=8, osl=32, r=1)
        self.assertIn("of an inference server", ran.stderr + ran.stdout)

    def test_what_repeats_in_a_run_is_split(self):
        # Prompts are encoded, a model denoises four times, and an image is decoded.
        self.others([("python_function", "nn.Module: Encoder_0", 0, 400)] +
                    [("python_function", "nn.Module: Denoiser_0", 500 + 1000 * i, 980)
                     for i in range(4)] +
                    [("python_function", "nn.Module: Decoder_0", 4600, 400)])
        _, paths = self.split(each=True)
        self.assertEqual([kernels(path) for path in paths], [[f"k{i}"] for i in range(1, 5)])

    def test_what_cannot_be_split_is_said(self):
        for steps in ("5:2", "0:11", "x", "-1:2"):
            ran = program.call("split", trace=str(self.trace), steps=steps)
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn("no range of the 10 steps", ran.stderr + ran.stdout)
        self.others([("user_annotation", "work", 0, 900)])
        ran = program.call("split", trace=str(self.trace))
        self.assertIn("no steps to split by", ran.stderr + ran.stdout)


def kernels_of_all():
    return [event["name"] for event in made()["traceEvents"] if event.get("cat") == "kernel"]


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
