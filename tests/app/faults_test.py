#!/usr/bin/env python3
"""Faults of the machine: memory, descriptors or threads that are refused, a place that cannot be written, a file that
changes while it is read, a program that is killed while it writes.

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
STRANGER = 54321  # a user of whom nothing runs and to whom nothing belongs


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

    def needed_megabytes(self, *arguments, least=0):
        """The least address space within which it runs to its end, within `least` it does not; found by halving. Also
        what ended with less."""
        enough = 4096
        failed = []
        while enough - least > 4:
            middle = (least + enough) // 2
            done = self.run_within(resource.RLIMIT_AS, middle * MIB, *arguments)
            if done.returncode == 0:
                enough = middle
            else:
                least = middle
                failed.append(done)
        return enough, failed

    @unittest.skipIf(SANITIZED, "the sanitizer needs its addresses")
    def test_refused_addresses_are_an_error_of_the_call(self):
        pair = {"candidate": self.trace, "baseline": self.other}
        calls = {"trace_diff": pair, "compare": pair,
                 "make_replay": {"trace": self.trace, "rows": ["op1"], "output_dir": str(self.folder / "replay")},
                 "prioritize": {"trace": self.trace}}
        # With less the system cannot even start a program, and says so in its own way.
        started, _ = self.needed_megabytes("--version")
        for tool, arguments in calls.items():
            command = ("call", tool, json.dumps(arguments))
            enough, failed = self.needed_megabytes(*command, least=started)
            for part in range(1, 10):
                megabytes = started + (enough - started) * part // 10
                failed.append(self.run_within(resource.RLIMIT_AS, megabytes * MIB, *command))
            failed = [done for done in failed if done.returncode != 0]
            self.assertNotEqual(failed, [], tool)
            for done in failed:
                with self.subTest(tool, enough=enough):
                    self.assertEqual(done.returncode, 1, done.stderr[-400:])
                    self.assertIn("memory", done.stdout + done.stderr)

    def test_few_descriptors_are_an_error_of_the_call(self):
        for most in (4, 5, 6, 8, 12):
            with self.subTest(most):
                out = str(self.folder / ("few_%d" % most))
                done = self.run_within(resource.RLIMIT_NOFILE, most, "analyze", self.trace, "--output-dir", out)
                self.assertIn(done.returncode, (0, 1, 2), done.stderr[-400:])
                if done.returncode != 0:
                    self.assertNotEqual(done.stdout + done.stderr, "")

    def run_as_stranger(self, *arguments, threads=None):
        """As somebody whom permissions and limits of processes bind, which they do not the superuser."""
        def become():
            if threads is not None:
                resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
            os.setgid(STRANGER)
            os.setuid(STRANGER)
        self.folder.chmod(0o755)
        return subprocess.run([JARVIS, *arguments], capture_output=True, text=True, timeout=120, preexec_fn=become,
                              cwd=self.folder)

    @unittest.skipIf(os.geteuid() != 0, "only the superuser can become another user")
    def test_a_place_that_cannot_be_written_is_named(self):
        out = self.folder / "read_only"
        out.mkdir(mode=0o555)
        for place in (out, out / "below"):
            done = self.run_as_stranger("analyze", self.trace, "--output-dir", str(place))
            self.assertGreater(done.returncode, 0)
            self.assertIn(str(place), done.stdout + done.stderr)
        self.assertEqual(list(out.iterdir()), [])

    @unittest.skipIf(SANITIZED or os.geteuid() != 0, "only the superuser can become another user")
    def test_without_threads_the_work_is_done_by_the_one_there_is(self):
        whole = self.run_as_stranger("call", "ops_summary", json.dumps({"trace": self.trace}))
        self.assertEqual(whole.returncode, 0, whole.stderr)
        for threads in (1, 2, 3):
            done = self.run_as_stranger("call", "ops_summary", json.dumps({"trace": self.trace}), threads=threads)
            self.assertGreaterEqual(done.returncode, 0, done.stderr[-400:])
            if done.returncode == 0:
                self.assertEqual(done.stdout, whole.stdout)
            else:
                self.assertNotEqual(done.stdout + done.stderr, "")

    @staticmethod
    def write_over(path):
        with path.open("r+b") as file:
            file.write(b" " * MIB)

    def test_a_file_that_is_cut_replaced_or_gone_while_it_is_read_is_no_end(self):
        text = pathlib.Path(self.trace).read_bytes()
        head, _, events = text.partition(b'"traceEvents": [')
        events = events.rpartition(b"]")[0]
        big = self.folder / "big.json"
        damages = {"cut": lambda: os.truncate(big, 1000), "gone": lambda: os.unlink(big),
                   "written over": lambda: self.write_over(big)}
        for name, damage in damages.items():
            for milliseconds in (2, 10, 20):
                big.write_bytes(head + b'"traceEvents": [' + b",".join([events] * 12) + b"]}")
                process = subprocess.Popen([JARVIS, "call", "load_trace", json.dumps({"trace": str(big)})],
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(milliseconds / 1000)
                damage()
                out, error = process.communicate(timeout=60)
                with self.subTest(name, milliseconds=milliseconds):
                    self.assertIn(process.returncode, (0, 1), error[-400:])
                    self.assertNotEqual(out + error, b"")

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
