#!/usr/bin/env python3
"""Profiles of JAX and XLA (.xplane.pb) as input: made ones here, and the samples of
$JARVIS_TEST_DATA/traces/inputs with what is known of them, when they are there.

    xplane_test.py [unittest arguments]
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import profile_messages as pb  # noqa: E402
import program  # noqa: E402

US = 1_000_000  # picoseconds
SAMPLES = program.DATA / "traces/inputs"
EXPECTED = program.DATA / "expected/inputs"
STEPS = 3
# What no advice to users of JAX or TensorFlow may name.
PYTORCH = ["torch.compile", "torch.", "PYTORCH_", "DataLoader", "with_stack", "record_shapes",
           "ProfilerActivity", "nn.Module", "non_blocking", "zero_grad"]

GEMM = ('{"gemm_backend_config":{"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
        '"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}}')


def program_of_step():
    made = pb.Program("jit_step")
    a = made.instruction("a", "parameter", "bf16[512,256]")
    b = made.instruction("b", "parameter", "bf16[256,128]")
    product = made.instruction("custom-call.1", "custom-call", "bf16[512,128]", [a[0], b[0]],
                               target="__cublas$gemm", config=GEMM,
                               op_name="jit(step)/jvp(Net)/dot_general")
    x = made.instruction("p", "parameter", "bf16[512,128]")
    twice = made.instruction("m", "multiply", "bf16[512,128]", [x[0], x[0]])
    fused = made.instruction("loop_multiply_fusion", "fusion", "bf16[512,128]", [product[0]],
                             called=[2], fusion="kLoop")
    reduce = made.instruction("all-reduce-start.3", "all-reduce-start", "bf16[256,128]", [b[0]],
                              groups=[(0, 1)])
    made.computation(2, x, twice)
    made.computation(1, a, b, product, fused, reduce)
    return made.written()


# name, op, begin in the step, length
KERNELS = [("nvjet_tst_128x64_NNT", "custom-call.1", 100, 400),
           ("loop_multiply_fusion", "loop_multiply_fusion", 510, 50),
           ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "all-reduce-start.3", 570, 200)]


# How a profile says what a step is: by its number, by groups of events that a converter made, by
# groups that overlap on their thread, or not at all.
def profile(hlo=True, host=True, steps=STEPS, by="number", copies_only=False):
    launches, marks, planes = [], [], []

    def group(step):
        return {} if by in ("number", "nothing") else {"group_id": step + 7}

    correlation = 0
    for gpu in range(2):
        work = []
        for step in range(steps):
            for name, op, begin, length in KERNELS:
                correlation += 1
                at = (step * 1000 + begin) * US
                work.append((name, at, length * US, {
                    "correlation_id": correlation, "hlo_op": (op,), "hlo_module": ("jit_step",),
                    "program_id": 4, "kernel_details": ("regs:64 shm:1024 grid:8,4,1 block:128,1,1",),
                    **group(step)}))
                launches.append(("cuLaunchKernelEx", at - 50 * US, 5 * US,
                                 {"correlation_id": correlation, "hlo_op": (op,),
                                  "hlo_module": ("jit_step",), "program_id": 4, **group(step)}))
        planes.append(pb.Plane(f"/device:GPU:{gpu}", {"core_count": 132, "device_vendor": "Nvidia"})
                      .line(7, "Stream #7(Compute)", work, 5000)
                      .line(-559038735, "XLA Ops", [(op, begin * US, length * US, {})
                                                    for _, op, begin, length in KERNELS], 5000))
    if copies_only:
        planes.append(pb.Plane("/device:GPU:5", {"core_count": 132, "device_vendor": "Nvidia"})
                      .line(9, "Stream #9(MemcpyH2D)", [("MemcpyH2D", 10 * US, 2 * US, {})], 5000))
    for step in range(steps):
        if by == "number":
            marks.append(("train", step * 1000 * US, 990 * US, {"step_num": step}))
        if by == "overlapping groups":
            launches.append(("wait", (step * 1000 + 40) * US, 1500 * US, group(step)))
        marks.append(("$train.py:3 step", (step * 1000 + 1) * US, 900 * US, {}))
    if host:
        planes.append(pb.Plane("/host:CPU").line(11, "python", marks, 5000)
                      .line(12, "py_xla_execute", sorted(launches, key=lambda e: e[1]), 5000))
    if hlo:
        planes.append(pb.Plane("/host:metadata"))
        ident = planes[-1].event_id("jit_step(4)", "", {"Hlo Proto": program_of_step()})
        # The program's id is its key.
        planes[-1].events[("jit_step(4)", "")] = (4, planes[-1].events[("jit_step(4)", "")][1])
        assert ident == 1
    return pb.space(*planes)


EXECUTORS, RUNS = 4, 8


# A program that `gpus` GPUs run by a thread for each, `RUNS` times; of the last of them kernels are
# recorded, those of the first `recorded` runs. In between Python places the arguments again.
def executed(gpus=EXECUTORS, recorded=5, allocators=True, thread="py_xla_execute", busy=None):
    work, python, host = [], [], pb.Plane("/host:CPU")
    module, period = "jit_step:XLA GPU module", 4000
    lines = [[] for _ in range(gpus)]
    for run in range(RUNS):
        at = run * period * US
        python.append(("$pxla.py:230 batched_device_put", at, 1900 * US, {}))
        python.append(("PJRT_LoadedExecutable_Execute", at + 1950 * US, 1800 * US, {}))
        for gpu in range(gpus):
            lines[gpu].append(("ExecuteHelper", at + 2000 * US, 1500 * US, {}))
            if allocators:
                lines[gpu].append(("MemoryAllocation", at + 2050 * US, 0,
                                   {"allocator_name": f"GPU_{busy or gpu}_bfc"}))
            lines[gpu].append((module, at + 2100 * US, 1300 * US, {}))
            if gpu != gpus - 1 or run >= recorded:
                continue
            facts = {"correlation_id": run + 1, "hlo_op": ("custom-call.1",),
                     "hlo_module": ("jit_step",), "program_id": 4}
            lines[gpu].append(("cuLaunchKernelEx", at + 2200 * US, 5 * US, facts))
            work.append(("nvjet_tst_128x64_NNT", at + 2300 * US, 900 * US, facts))
    host.line(11, "python", python, 5000)
    for gpu, line in enumerate(lines):
        host.line(20 + gpu, f"{thread}/{gpu}", line, 5000)
    facts = {"core_count": 132, "device_vendor": "Nvidia"}
    planes = [pb.Plane(f"/device:GPU:{gpus - 1}", facts).line(7, "Stream #7(Compute)", work, 5000)]
    planes.append(pb.Plane("/device:GPU:9", facts).line(
        9, "Stream #9(MemcpyD2D)", [("MemcpyD2D", 10 * US, 2 * US, {})], 5000))
    return pb.space(*planes, host)


def rows(trace, sql):
    return program.ask("query", trace=str(trace), sql=sql)["rows"]


class Made(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, data, name="host.xplane.pb"):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(data)
        return path

    def test_it_is_known_by_its_content(self):
        for name, data in (("a.json", profile()), ("b.gz", gzip.compress(profile()))):
            facts = program.ask("load_trace", trace=str(self.write(data, name)))
            self.assertIn("xplane", facts["dialect"])
            self.assertEqual(facts["gpu_events"], 2 * STEPS * len(KERNELS))
            self.assertEqual(facts["steps"], f"{STEPS} (0-{STEPS - 1})")
            self.assertTrue(facts["recorded"]["shapes"])
            self.assertFalse(facts["partial"])

    def test_work_and_launches(self):
        path = self.write(profile())
        found = rows(path, "select device, count(*), sum(dur_ns), count(launch_id), count(op_id) "
                           "from gpu_work group by device order by device")
        self.assertEqual(found, [["0", 9, 1950000, 9, 9], ["1", 9, 1950000, 9, 9]])

    def test_ops_have_the_shapes_of_their_program(self):
        table = program.ask("ops_summary", trace=str(self.write(profile())))
        ops = {row[table["columns"].index("op")]: row for row in table["rows"]}
        self.assertIn("custom-call.1", ops)
        category = table["columns"].index("category")
        self.assertEqual(ops["custom-call.1"][category], "GEMM")
        self.assertEqual(ops["loop_multiply_fusion"][category], "elementwise")

    def test_a_part_of_a_recording(self):
        path = self.write(profile())
        whole = program.ask("load_trace", trace=str(path))
        part = program.ask("load_trace", trace=str(path), steps="1")
        self.assertEqual(part["gpu_events"], 2 * len(KERNELS))
        self.assertEqual(part["steps"], "1 (1-1)")
        self.assertEqual(part["dialect"], whole["dialect"])
        early = program.ask("load_trace", trace=str(path), from_ms=0.0, to_ms=0.99)
        self.assertEqual(early["gpu_events"], 2 * len(KERNELS))

    def test_groups_of_events_are_steps(self):
        for by, steps in (("groups", "3 (7-9)"), ("overlapping groups", None), ("nothing", None)):
            answer = program.ask("load_trace", trace=str(self.write(profile(by=by))))
            with self.subTest(by=by):
                self.assertEqual(answer["steps"] if steps else None, steps)
                marked = rows(self.write(profile(by=by)), "select count(*) from steps")
                self.assertEqual(marked, [[3 if steps else 0]])

    def told(self, data):
        """What an analysis prints, and its full report, each on one line."""
        printed = self.analysis(self.write(data))
        report = pathlib.Path(self.folder.name) / "out/standalone_analysis_fair.md"
        return " ".join(printed.split()), report.read_text()

    def test_what_ran_is_told_from_what_was_recorded(self):
        text, report = self.told(executed())
        self.assertIn("GPU 3, the only one of 4 whose kernels were recorded", text)
        self.assertIn("8 steps (0 to 7), GPU work of the first 5 recorded", text)
        self.assertIn("Step (mean of 5): 4.00 ms", text)
        self.assertIn("3 steps of 4.00 ms each (no GPU work recorded)", text)
        self.assertIn("runs 8 times on 4 GPUs; kernels were recorded of GPU 3 only and of the first "
                      "5 runs only", report)
        self.assertIn("host in Python", text)  # beside the thread that launches

    def test_a_program_on_one_gpu_is_of_that_one(self):
        for data in (executed(gpus=1, recorded=RUNS),
                     # Two threads of a program that run it on one GPU.
                     executed(gpus=2, recorded=RUNS, thread="python", busy=1)):
            text, report = self.told(data)
            self.assertIn("the only one with kernels in this file", text)
            self.assertNotIn("runs_without_kernels", report)
            self.assertIn("8 steps (0 to 7);", text.replace("MI300X", ""))
        # Without a thread for each their memory tells.
        text, _ = self.told(executed(thread="pool", recorded=RUNS))
        self.assertIn("the only one of 4 whose kernels were recorded", text)
        text, _ = self.told(executed(thread="pool", recorded=RUNS, allocators=False))
        self.assertIn("the only one with kernels in this file", text)

    def test_a_device_without_kernels_is_no_rank(self):
        path = self.write(profile(copies_only=True))
        self.assertEqual([one["rank"] for one in program.ask("load_trace", trace=str(path))["ranks"]],
                         [0, 1])
        text = self.analysis(path)
        self.assertIn("GPU 0 of the GPUs 0 and 1 in this file", text)

    def analysis(self, path):
        out = pathlib.Path(self.folder.name) / "out"
        ran = subprocess.run([program.BINARY, "analyze", str(path), "--output-dir", str(out)],
                             capture_output=True, text=True, timeout=120)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout + (out / "analysis.md").read_text()

    def test_advice_is_the_frameworks_own(self):
        text = self.analysis(self.write(profile()))
        self.assertIn("JAX", text)
        for word in PYTORCH:
            self.assertNotIn(word, text)

    def test_without_programs_there_are_names_and_times(self):
        answer = program.ask("load_trace", trace=str(self.write(profile(hlo=False))))
        self.assertFalse(answer["recorded"]["shapes"])
        self.assertTrue(answer["recorded"]["ops"])

    def test_without_a_host_work_keeps_its_ops(self):
        answer = program.ask("load_trace", trace=str(self.write(profile(host=False))))
        self.assertEqual(answer["gpu_events"], 2 * STEPS * len(KERNELS))
        self.assertTrue(answer["recorded"]["ops"])

    def test_cut_files_are_partial(self):
        data = profile()
        answer = program.ask("load_trace", trace=str(self.write(data[:-5])))
        self.assertTrue(answer["partial"])

    def test_what_is_no_profile_is_refused(self):
        for data, word in ((pb.message(1, pb.message(1, "jit_f"), pb.message(3, pb.number(5, 1))), "HLO"),
                           (profile().decode("utf-8", "replace").encode(), "converted")):
            ran = program.call("load_trace", trace=str(self.write(data)))
            self.assertEqual(ran.returncode, 1)
            self.assertIn("[not_a_trace]", ran.stderr)
            self.assertIn(word, ran.stderr)


class Samples(unittest.TestCase):
    """Figures of the prototype's own reader, and of those who made the samples."""

    def files(self):
        if not SAMPLES.is_dir():
            self.skipTest("no samples: set JARVIS_TEST_DATA")
        for folder in sorted(SAMPLES.iterdir()):
            expected = EXPECTED / folder.name / "xplane.json"
            if expected.is_file():
                path = next(p for p in sorted(folder.iterdir()) if ".pb" in p.name)
                yield path, json.loads(expected.read_text())

    def test_advice_is_the_frameworks_own(self):
        for path, _ in self.files():
            with tempfile.TemporaryDirectory() as out:
                ran = subprocess.run([program.BINARY, "analyze", str(path), "--output-dir", out],
                                     capture_output=True, text=True, timeout=120)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                text = ran.stdout + (pathlib.Path(out) / "analysis.md").read_text()
            for word in PYTORCH:
                with self.subTest(path=path.parent.name, word=word):
                    self.assertNotIn(word, text)

    def test_devices(self):
        for path, expected in self.files():
            found = {row[0]: row[1:] for row in rows(
                path, "select device, count(*), max(end_ns) - min(start_ns), sum(dur_ns) from gpu_work "
                      "group by device")}
            for name, device in expected["devices"].items():
                with self.subTest(path=path.parent.name, device=name):
                    if device["events"] == 0:
                        self.assertNotIn(name.split(":")[-1], found)
                        continue
                    count, window, total = found[name.split(":")[-1]]
                    self.assertEqual(count, device["events"])
                    self.assertAlmostEqual(window / 1000, device["window_us"], places=2)
                    self.assertAlmostEqual(total / 1000, device["sum_us"], places=2)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
