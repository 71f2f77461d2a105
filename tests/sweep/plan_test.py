#!/usr/bin/env python3
"""What a sweep would run: axes, environment, commands, directories; and what is refused."""

import json
import subprocess
import sys
import tempfile
import unittest

from sweep_support import SweepCase, main, program

AMD = {"HSA_ENABLE_SDMA": "0", "PYTORCH_ROCM_PROFILER_ENABLE_TRACING": "1",
       "RCCL_THREADS_PER_BLOCK": "256", "NCCL_MAX_NCHANNELS": "28"}


def directories(answer):
    at = answer["columns"].index("directory")
    return [row[at] for row in answer["rows"]]


class Plan(unittest.TestCase):
    def ask(self, **arguments):
        return program.ask("sweep_plan", output_dir="/sweeps/a b", **arguments)

    def refused(self, text, **arguments):
        ran = program.call("sweep_plan", output_dir="/sweeps/a", **arguments)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(text, ran.stderr)

    def test_the_usual_sweep(self):
        answer = self.ask()
        self.assertEqual(directories(answer), [
            f"{threads}thread/nccl_{channels}channels" for threads in (256, 512)
            for channels in (28, 42, 56, 70)])
        first = answer["runs"][0]
        self.assertEqual(first["env"], AMD)
        self.assertEqual(first["values"], {"threads": "256", "channels": "28"})
        self.assertEqual(first["command"], [
            "torchrun", "--nproc_per_node", "8", "train.py", "--config", "config/distributed.yaml",
            "--override", "profiling.tensorboard=false",
            "training.output_dir=/sweeps/a b/256thread/nccl_28channels"])

    def test_other_knobs(self):
        nvidia = self.ask(vendor="nvidia", axes=["threads=512", "channels=4"])["runs"][0]
        self.assertEqual(nvidia["env"], {"NCCL_NTHREADS": "512", "NCCL_MAX_NCHANNELS": "4"})
        exact = self.ask(axes=["exact_channels=8"])["runs"][0]
        self.assertEqual((exact["env"]["NCCL_MAX_NCHANNELS"], exact["env"]["NCCL_MIN_NCHANNELS"]),
                         ("8", "8"))
        self.assertEqual(exact["directory"], "nccl_8channels")

    def test_further_axes_are_directories_above_a_sweep(self):
        answer = self.ask(axes=["threads=256", "channels=28", "NCCL_ALGO=Ring|Tree",
                                {"name": "queue", "env": ["GPU_MAX_HW_QUEUES", "MY_QUEUES"],
                                 "values": [2, 4], "directory": "q{value}"}])
        self.assertEqual(directories(answer), [
            f"algo_{algo}/q{queue}/256thread/nccl_28channels" for algo in ("Ring", "Tree")
            for queue in (2, 4)])
        env = answer["runs"][3]["env"]
        self.assertEqual([env[name] for name in ("NCCL_ALGO", "GPU_MAX_HW_QUEUES", "MY_QUEUES")],
                         ["Tree", "4", "4"])

    def test_values_never_lead_out_of_the_directory(self):
        values = ["../../x", "..", "a b", "$(x)", "'\"", "-rf"]
        answer = self.ask(axes=[{"name": "WHERE", "values": values, "directory": "{value}"}])
        self.assertEqual(directories(answer), ["_.._.._x", "_..", "a_b", "__x_", "__", "-rf"])
        self.assertEqual([run["env"]["WHERE"] for run in answer["runs"]], values)

    def test_a_command_of_ones_own(self):
        answer = self.ask(axes=["threads=256"], command=[
            "python", "x.py", "{run_dir}/o", "{threads}{nproc}{nobody}", '{"a":{}}', "$(x) {config}"],
            config="{nproc}")
        self.assertEqual(answer["runs"][0]["command"], [
            "python", "x.py", "/sweeps/a b/256thread/o", "2568{nobody}", '{"a":{}}', "$(x) {nproc}"])

    def test_rocprof(self):
        command = self.ask(rocprof={"stats": True})["runs"][0]["command"]
        self.assertEqual(command[:6], ["rocprofv3", "--kernel-trace", "--stats", "-d",
                                       "/sweeps/a b/256thread/nccl_28channels/rocprof_traces", "--"])
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as yaml:
            yaml.write("jobs:\n  - pmc: [SQ_WAVES]\n")
            yaml.flush()
            answer = self.ask(rocprof={"stats": True, "yaml": yaml.name})
        self.assertEqual(answer["runs"][0]["command"][:4], ["rocprofv3", "-i", yaml.name, "-d"])
        self.assertIn("stats does nothing", " ".join(answer["notes"]))

    def test_doubts_about_a_rocprof_file(self):
        counters = [f"SQ_{i}" for i in range(9)]
        good = "jobs:\n  - pmc: [SQ_A]\n    output_format: [json, csv]\n"
        cases = [
            (good, None),
            (good + "  - pmc: [" + ", ".join(counters[:8]) + "]\n", None),
            ("jobs:\n  - pmc: [" + ", ".join(counters) + "]\n", "job 1 of rocprof_input asks for 9 SQ"),
            (good + "  - pmc:\n" + "".join(f"      - {c}\n" for c in counters), "job 2 of"),
            ("jobs:\n- output_format: [csv]\n", "csv alone"),
            ("jobs:\n- output_format:\n  - json\n  - perfetto  # old\n", "pftrace"),
            ("# nothing\n", "has no jobs"),
        ]
        for text, doubt in cases:
            with self.subTest(text), tempfile.NamedTemporaryFile("w", suffix=".yaml") as yaml:
                yaml.write(text)
                yaml.flush()
                notes = " ".join(self.ask(rocprof={"yaml": yaml.name})["notes"])
                if doubt is None:
                    self.assertNotIn("rocprof_input", notes)
                else:
                    self.assertIn(doubt, notes)
        self.refused("no-such.yaml", rocprof={"yaml": "no-such.yaml"})

    def test_refused(self):
        self.refused("no environment variable", axes=["1a=1"])
        self.refused("no environment variable", axes=[{"name": "x", "env": "A=B", "values": [1]}])
        self.refused("is no name of an axis", axes=["a b=1"])
        self.refused("is no name of an axis", axes=[{"name": "x\ntouch pwned\n#", "env": "X",
                                                    "values": [1]}])
        self.refused("whole number", axes=["channels=28x"])
        self.refused("is given twice", axes=["channels=28,28"])
        self.refused("the axis algo is given twice", axes=["algo=Ring", "NCCL_ALGO=Tree"])
        self.refused("two axes set NCCL_MAX_NCHANNELS", axes=["channels=28", "exact_channels=28"])
        self.refused("two runs would lie in", axes=[{"name": "X", "values": ["a b", "a/b"]}])
        self.refused("one name with {value}", axes=[{"name": "X", "values": ["1"], "directory": "x"}])
        self.refused("is no axis", axes=[{"nam": "X"}])
        self.refused("more than 1000 runs", axes=[
            {"name": name, "values": list(range(40))} for name in ("A", "B")])
        self.refused("the first word is the program", command=["A=1", "x"])
        self.refused("rocprof profiles AMD", vendor="nvidia", rocprof={})
        self.refused("is not known", rocprof={"yml": "x"})
        self.refused("nproc", nproc=0)

    def test_many_runs_fit_an_answer(self):
        answer = self.ask(axes=[{"name": "A", "values": list(range(30))}, "channels=1,2,3"])
        self.assertEqual(len(answer["runs"]) + answer["runs_left_out"], 90)
        self.assertEqual(answer["total"], 90)


class CommandLine(SweepCase):
    def json_of(self, *flags):
        ran = subprocess.run([program.BINARY, "sweep", "plan", "--json", *flags],
                             capture_output=True, text=True, timeout=60, cwd=self.path)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return json.loads(ran.stdout)

    def test_the_flags_of_the_script(self):
        (self.path / "r.yaml").write_text("jobs: []\n")
        long = self.json_of("--channels", "28,42", "--threads", "256", "--config", "c.yaml", "--nproc",
                            "4", "--rocprof", "--stats", "--rocprof-input", "r.yaml",
                            "--skip-existing", "--no-aggregate", "--sweep-dir", "D")
        short = self.json_of("-c", "28,42", "-t", "256", "-f", "c.yaml", "-p", "4", "-r", "-m",
                             "--rocprof-input=r.yaml", "-s", "-n", "-o", "D")
        self.assertEqual(long, short)
        self.assertEqual(long["sweep_dir"], str(self.path.resolve() / "D"))
        self.assertEqual(directories(long), ["256thread/nccl_28channels", "256thread/nccl_42channels"])
        self.assertIn("c.yaml", long["runs"][0]["command"])
        self.assertEqual(len(self.json_of("-t", "256")["rows"]), 4)
        self.assertEqual(len(self.json_of("--axis", "NCCL_ALGO=Ring,Tree")["rows"]), 2)
        self.assertEqual(len(self.json_of("--axis", "algo=Ring,Tree", "-t", "256")["rows"]), 2)
        self.assertFalse((self.path / "D").exists())
        as_json = subprocess.run([program.BINARY, "sweep", "plan", "--format", "json", "-t", "256"],
                                 capture_output=True, text=True, timeout=60, cwd=self.path)
        self.assertEqual(json.loads(as_json.stdout), self.json_of("-t", "256"))
        for_people = self.plan()
        self.assertIn("  NCCL_MAX_NCHANNELS=28 \\\n", for_people.stdout)
        self.assertIn("256thread/nccl_42channels                run\n", for_people.stdout)

    def test_help_and_mistakes(self):
        for arguments in (("--help",), ("plan", "--help"), ("run", "-h")):
            ran = subprocess.run([program.BINARY, "sweep", *arguments], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertIn("jarvis sweep", ran.stdout)
        for arguments, text in (((), "sweep what?"), (("plam",), "did you mean plan?"),
                                (("plan", "--chanels", "2"), "--chanels"),
                                (("run", "--threads"), "needs a value")):
            ran = subprocess.run([program.BINARY, "sweep", *arguments], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""))
            self.assertIn(text, ran.stderr)

    def test_an_estimate_from_what_there_is(self):
        if not (program.DATA / "sweep/input").is_dir():
            self.skipTest("no sweeps in the test data")
        whole = program.ask("sweep_plan", output_dir=str(
            program.DATA / "sweep/input/sweep_20251121_155219"), axes=["threads", "channels=28,84"])
        what = whole["columns"].index("what")
        self.assertEqual([row[what] for row in whole["rows"]],
                         ["skip: complete", "run", "skip: complete", "run"])
        self.assertEqual(whole["estimate"]["runs"], 2)
        self.assertAlmostEqual(whole["estimate"]["seconds"], 2 * 103.5)
        damaged = program.ask("sweep_plan", output_dir=str(
            program.DATA / "sweep/input/sweep_20251212_141317"), axes=["threads", "channels=28,56"],
            nproc=4)
        self.assertEqual([row[what] for row in damaged["rows"]][3],
                         "again: no whole trace of rank 0, 1, 2, 3")


if __name__ == "__main__":
    main()
