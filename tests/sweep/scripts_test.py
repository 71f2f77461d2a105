#!/usr/bin/env python3
"""The scripts that sweep plan writes: they pass shellcheck and run, whatever the values are; resume,
interruption and the table of runs are as with sweep run."""

import json
import re
import shutil
import signal
import subprocess
import unittest

from sweep_support import SweepCase, job, lives, main, program

HOSTILE = ["a b", "it's", '"q"', "$(touch pwned)", "`touch pwned`", "line\nbreak", "-n", "*", "\\", "%s"]


class Scripts(SweepCase):
    def script(self, *flags, **more):
        ran = self.plan("--format", "sh", *flags, **more)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return self.sweep / "run_sweep.sh"

    def bash(self, script, **more):
        return subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=120,
                              cwd=self.path, stdin=subprocess.DEVNULL, **more)

    def summary(self):
        text = sorted(self.sweep.glob("nccl_thread_sweep_summary_*.txt"))[-1].read_text()
        text = re.sub(r"Generated: .*", "Generated: DATE", text)
        return re.sub(r"(SUCCESS|FAILED )( +)\d+ *\n", lambda m: m[1] + m[2] + "0              \n", text)

    def test_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("no shellcheck (Debian: shellcheck)")
        hostile = [json.dumps({"name": "X", "env": ["MY_X"], "values": HOSTILE[:3]})]
        for kind, name in (("sh", "run_sweep.sh"), ("slurm", "run_sweep.sbatch")):
            ran = self.plan("--format", kind, "--axis", hostile[0], "--rocprof", threads="256,512")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            checked = subprocess.run(["shellcheck", "--shell=bash", str(self.sweep / name)],
                                     capture_output=True, text=True)
            self.assertEqual(checked.stdout + checked.stderr, "")

    def test_the_script_does_what_the_runner_does(self):
        self.behave(t256c28="fail 2")
        script = self.script(threads="256,512")
        ran = self.bash(script)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        run = self.run_of(256, 42)
        self.assertEqual((run / "run_output.log").read_text(),
                         f"working in {run}\non stderr\nstdin: ''\n")
        self.assertIn(f"working in {run}", ran.stdout)
        self.assertIn("NCCL_MAX_NCHANNELS=42", (run / "env.txt").read_text().splitlines())
        self.assertEqual([(self.run_of(256, c) / "exit_code").read_text() for c in (28, 42)],
                         ["3\n", "0\n"])
        by_script = self.summary()
        self.assertIn("256        28              FAILED     0  ", by_script)
        for file in self.sweep.glob("*summary*"):
            file.unlink()
        shutil.rmtree(self.sweep / "256thread")
        shutil.rmtree(self.sweep / "512thread")
        self.run_sweep(threads="256,512")
        self.assertEqual(by_script, self.summary())

    def test_going_on_with_either(self):
        self.behave(t256c28="fail 1", t256c42="damage 1", t512c28="miss 1")
        script = self.script(threads="256,512")
        self.assertEqual(self.bash(script).returncode, 1)
        self.assertEqual(self.bash(script).returncode, 0)
        self.assertEqual([self.attempts(t, c) for t in (256, 512) for c in (28, 42)], [2, 2, 2, 0])
        self.assertIn("512        42              SKIPPED    N/A", self.summary())
        self.assertTrue((self.sweep / ".earlier_attempts/256thread/nccl_28channels.1").is_dir())
        (self.run_of(512, 28) / "exit_code").write_text("1\n")
        self.assertEqual(self.run_sweep(threads="256,512").returncode, 0)
        self.assertEqual([self.attempts(t, c) for t in (256, 512) for c in (28, 42)], [2, 2, 3, 0])

    def test_hostile_values_and_places(self):
        self.sweep = self.path / "S it's $(touch pwned) %d \"x\""
        axis = json.dumps({"name": "X", "env": ["MY_X"], "values": HOSTILE,
                           "directory": "x{value}y"})
        # Values that are alike as names of files.
        axis = json.loads(axis)
        axis["values"] = [f"{i}{value}" for i, value in enumerate(HOSTILE)]
        command = ["python3", "-B", "-c", "import os,sys,json;"
                   "json.dump([os.environ['MY_X'], sys.argv[1:]], open(sys.argv[1] + '/got', 'w'))",
                   "{run_dir}", "{X}", "$HOME", "a'b"]
        script = self.script("--axis", json.dumps(axis), command=command, nproc=1, channels="28")
        ran = self.bash(script)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stderr, "")
        runs = sorted(self.sweep.glob("x*y/256thread/nccl_28channels/got"))
        got = [json.loads(run.read_text()) for run in runs]
        self.assertEqual([value for value, _ in got], axis["values"])
        for run, (value, words) in zip(runs, got):
            self.assertEqual(words, [str(run.parent), value, "$HOME", "a'b"])
        self.assertEqual(list(self.path.rglob("pwned")), [])

    def test_interruption(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                self.setUp()
                innocent = self.innocent()
                self.behave(t256c42="hang 1")
                script = self.start(["bash", str(self.script())])
                pids = self.pids(self.run_of(256, 42))
                script.send_signal(number)
                script.communicate(timeout=60)
                self.assertEqual(script.returncode, 130)
                self.assert_gone(pids, 2)
                self.assertTrue(lives(innocent.pid))
                self.assertEqual((self.run_of(256, 42) / "exit_code").read_text(), "130\n")
                self.assertIn("256        28              SUCCESS", self.summary())

    def test_a_changed_script_is_not_replaced(self):
        script = self.script()
        script.write_text("mine\n")
        ran = self.plan("--format", "sh")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[exists]", ran.stderr)
        self.assertEqual(self.plan("--format", "sh", "--overwrite").returncode, 0)

    def test_equal_plans_are_equal_bytes(self):
        first = self.script().read_text()
        self.assertEqual(self.script().read_text(), first)


if __name__ == "__main__":
    main()
