#!/usr/bin/env python3
"""Faults of the machine: memory that is refused, descriptors used up, a program that is killed while it writes.

A call that cannot go on says so and ends; no signal ends it, and what it leaves behind is whole."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
import hostile_shapes  # noqa: E402

JARVIS = os.environ["JARVIS_BINARY"]
# The address sanitizer reserves its shadow, so that no limit of addresses can be set.
SANITIZED = b"__asan_init" in pathlib.Path(JARVIS).read_bytes()
MIB = 1 << 20


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.trace = str(self.folder / "trace.json")
        hostile_shapes.write("flat", 3000, self.trace)
        self.other = str(self.folder / "other.json")
        hostile_shapes.write("flat", 2999, self.other)

    def run_within(self, limit, value, *arguments):
        return subprocess.run([JARVIS, *arguments], capture_output=True, text=True, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(limit, (value, value)))

    @unittest.skipIf(SANITIZED, "the sanitizer needs its addresses")
    def test_refused_memory_is_an_error_of_the_call(self):
        pair = {"primary": self.trace, "comparison": self.other}
        calls = {"trace_diff": pair, "compare": pair,
                 "make_replay": {"trace": self.trace, "rows": ["op1"], "output_dir": str(self.folder / "replay")},
                 "prioritize": {"trace": self.trace}}
        for tool, arguments in calls.items():
            told = 0
            for megabytes in range(60, 200, 20):
                with self.subTest(tool, megabytes=megabytes):
                    done = self.run_within(resource.RLIMIT_AS, megabytes * MIB, "call", tool, json.dumps(arguments))
                    self.assertGreaterEqual(done.returncode, 0, done.stderr[-400:])
                    told += "out_of_memory" in done.stdout + done.stderr
            self.assertGreater(told, 0, tool)

    def test_few_descriptors_are_an_error_of_the_call(self):
        for most in (4, 5, 6, 8, 12):
            with self.subTest(most):
                out = str(self.folder / ("few_%d" % most))
                done = self.run_within(resource.RLIMIT_NOFILE, most, "analyze", self.trace, "--output-dir", out)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr[-400:])
                if done.returncode != 0:
                    self.assertNotEqual(done.stdout + done.stderr, "")

    def test_what_a_killed_run_leaves_is_whole_and_the_next_run_clears_up(self):
        out = self.folder / "killed"
        command = [JARVIS, "analyze", self.trace, "--output-dir", str(out)]
        for milliseconds in (20, 40, 60, 80, 100, 130, 160):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGKILL)
            process.wait()
            for path in out.rglob("*.json"):
                json.loads(path.read_text())
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
        self.assertEqual([str(path) for path in out.rglob("*") if ".tmp" in path.name], [])


if __name__ == "__main__":
    unittest.main()
