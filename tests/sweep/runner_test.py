#!/usr/bin/env python3
"""Sweeps that run: records, logs, summary, failures, time limits, interruption, going on, and who may
start them."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from sweep_support import SweepCase, job, lives, main, program, wait_for

SUMMARY = """NCCL Channel & Thread Sweep Summary
Generated: DATE

THREADS    CHANNELS        STATUS     DURATION(s)    |
----------------------------------------------------
256        28              SUCCESS    0              |
256        42              FAILED     0              |

512        28              UNKNOWN    N/A            |
512        42              UNKNOWN    N/A            |


Output directories:
  THREADS=256:
    - DIR/256thread/nccl_28channels/
    - DIR/256thread/nccl_42channels/
  THREADS=512:
    - DIR/512thread/nccl_28channels/
    - DIR/512thread/nccl_42channels/
""".replace("|\n", "\n")  # columns are padded to their end


class Runs(SweepCase):
    def summary(self):
        return sorted(self.sweep.glob("nccl_thread_sweep_summary_*.txt"))[-1].read_text()

    def test_nothing_runs_without_a_yes(self):
        ran = subprocess.run([program.BINARY, "sweep", "run", *self.arguments()], capture_output=True,
                             text=True, cwd=self.path)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("256thread/nccl_42channels", ran.stdout)
        self.assertIn("--yes", ran.stderr)
        self.assertFalse(self.sweep.exists())

    def test_a_sweep(self):
        ran = self.run_sweep()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("256thread/nccl_42channels", ran.stderr)  # the plan comes first
        run = self.run_of(256, 42)
        log = (run / "run_output.log").read_text()
        self.assertEqual(log, f"working in {run}\non stderr\nstdin: ''\n")
        env = (run / "env.txt").read_text().splitlines()
        for line in ("NCCL_MAX_NCHANNELS=42", "RCCL_THREADS_PER_BLOCK=256", "HSA_ENABLE_SDMA=0",
                     "PYTORCH_ROCM_PROFILER_ENABLE_TRACING=1", "PATH=" + os.environ["PATH"]):
            self.assertIn(line, env)
        self.assertEqual((run / "fds.txt").read_text(), "0 1 2")
        self.assertEqual((run / "exit_code").read_text(), "0\n")
        record = self.record()
        self.assertTrue(record["complete"])
        second = record["runs"][1]
        self.assertEqual((second["status"], second["exit_code"], second["missing_ranks"]),
                         ("success", 0, []))
        self.assertEqual([trace["rank"] for trace in second["traces"]], [0, 1])
        self.assertEqual(second["traces"][1]["file"],
                         "torch_profiler/rank1/customer_trace_step10.json.gz")
        self.assertEqual(second["host"], socket.gethostname())
        self.assertIsInstance(second["versions"], dict)
        self.assertRegex(second["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(second["command"][-2:], [str(run), "2"])
        driver = next(self.sweep.glob("nccl_thread_sweep_2*.log")).read_text()
        for line in driver.splitlines():
            self.assertRegex(line, r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] \S")
        self.assertIn("[OK] Completed THREADS=256, CHANNELS=42 (duration: ", driver)

    def test_a_failed_run_does_not_stop_the_rest_and_is_run_again(self):
        self.behave(t256c28="fail 1", t256c42="miss 1", t512c28="damage 1")
        flags = {"threads": "256,512"}
        self.assertEqual(self.run_sweep(**flags).returncode, 1)
        self.assertEqual(list(self.statuses().values()), ["failed", "success", "success", "success"])
        self.assertFalse(self.record()["complete"])
        self.assertEqual([run["missing_ranks"] for run in self.record()["runs"]],
                         [[0, 1], [1], [1], []])
        again = json.loads(self.plan("--json", **flags).stdout)
        what = again["columns"].index("what")
        self.assertEqual([row[what] for row in again["rows"]],
                         ["again: the last attempt failed", "again: no whole trace of rank 1",
                          "again: no whole trace of rank 1", "skip: complete"])
        self.assertEqual(self.run_sweep(**flags).returncode, 0)
        self.assertEqual([self.attempts(t, c) for t in (256, 512) for c in (28, 42)], [2, 2, 2, 0])
        self.assertTrue(self.record()["complete"])
        self.assertIn("512        42              SKIPPED    N/A", self.summary())
        kept = self.sweep / ".earlier_attempts/256thread/nccl_42channels.1"
        self.assertTrue((kept / "torch_profiler/rank0").is_dir())
        self.assertTrue((self.run_of(256, 42) / "torch_profiler/rank1").is_dir())

    def test_an_existing_directory_is_skipped_only_when_asked(self):
        self.behave(t256c28="fail 9")
        self.assertEqual(self.run_sweep().returncode, 1)
        self.assertEqual(self.run_sweep("--skip-existing").returncode, 0)
        self.assertEqual(self.attempts(256, 28), 1)
        self.assertEqual(self.run_sweep("--skip", "none").returncode, 1)
        self.assertEqual(self.attempts(256, 28), 2)

    def test_runs_of_other_axes_stay_in_the_record(self):
        self.run_sweep()
        self.run_sweep(channels="56")
        self.assertEqual(self.statuses(), {f"256thread/nccl_{c}channels": "success"
                                           for c in (56, 28, 42)})

    def test_summary_and_max_failures(self):
        self.behave(t256c42="fail 1")
        ran = self.run_sweep("--max-failures", "1", threads="256,512")
        self.assertEqual(ran.returncode, 1)
        text = re.sub(r"Generated: .*", "Generated: DATE", self.summary())
        text = re.sub(r"(SUCCESS|FAILED )( +)\d+ *\n", lambda m: m[1] + m[2] + "0              \n", text)
        self.assertEqual(text, SUMMARY.replace("DIR", str(self.sweep.resolve())))
        self.assertEqual(list(self.statuses().values())[2:], ["planned", "planned"])

    def test_no_aggregate(self):
        self.run_sweep("--no-aggregate")
        self.assertEqual(list(self.sweep.glob("*summary*")), [])

    def test_a_program_that_is_not_there(self):
        ran = self.run_sweep(command=["no-such-program-here"])
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(self.record()["runs"][0]["exit_code"], 127)
        self.assertIn("no-such-program-here", self.record()["runs"][0]["note"])

    def test_time_limit(self):
        self.behave(t256c28="hang 1", t256c42="stubborn 1")
        ran = self.run_sweep("--timeout", "3")
        self.assertEqual(ran.returncode, 1)
        runs = self.record()["runs"]
        self.assertEqual([(run["status"], run["exit_code"], run["timed_out"]) for run in runs],
                         [("failed", 143, True), ("failed", 137, True)])
        for run in (self.run_of(256, 28), self.run_of(256, 42)):
            self.assert_gone(self.pids(run), 2)

    def test_what_a_run_leaves_behind_is_ended(self):
        self.behave(t256c28="leave 1")
        self.assertEqual(self.run_sweep(channels="28").returncode, 0)
        self.assertIn("2 processes that it left behind", self.record()["runs"][0]["note"])
        self.assert_gone(self.pids(self.run_of(256, 28)), 2)

    def test_a_long_output_is_cut_in_the_middle(self):
        size = 70 << 20
        command = ["sh", "-c", f"yes | head -c {size}; echo the end"]
        self.assertEqual(self.run_sweep(channels="28", command=command).returncode, 0)
        log = (self.run_of(256, 28) / "run_output.log").read_bytes()
        self.assertLess(len(log), 66 << 20)
        self.assertTrue(log.endswith(b"the end\n"))
        self.assertIn(b"bytes of output left out by jarvis", log)

    def test_a_record_that_is_not_ours(self):
        self.sweep.mkdir()
        for text in ("{}", "mine", '{"format": "jarvis-sweep-1", "runs": [7, {"directory": 8}]}'):
            with self.subTest(text):
                (self.sweep / "sweep.json").write_text(text)
                ran = self.run_sweep()
                self.assertEqual(ran.returncode, 1)
                self.assertIn("[exists]", ran.stderr)
                self.assertEqual((self.sweep / "sweep.json").read_text(), text)
                self.assertFalse(self.run_of(256, 28).exists())
        self.assertEqual(self.run_sweep("--overwrite").returncode, 0)
        self.assertTrue(self.record()["complete"])

    def test_links_are_not_followed(self):
        elsewhere = self.path / "elsewhere"
        elsewhere.mkdir()
        self.sweep.mkdir()
        (self.sweep / "256thread").symlink_to(elsewhere)
        ran = self.run_sweep()
        self.assertEqual(ran.returncode, 1)
        self.assertIn("256thread/nccl_28channels", ran.stderr)
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_one_at_a_time(self):
        self.behave(t256c28="hang 1")
        first = self.start([program.BINARY, "sweep", "run", *self.arguments("--yes")])
        self.pids(self.run_of(256, 28))
        second = self.run_sweep()
        self.assertEqual(second.returncode, 1)
        self.assertIn("[busy]", second.stderr)
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(20), 130)


class Interruption(SweepCase):
    def start_hanging(self, word):
        self.behave(t256c42=f"{word} 1")
        runner = self.start([program.BINARY, "sweep", "run", *self.arguments("--yes")])
        return runner, self.pids(self.run_of(256, 42))

    def test_ctrl_c_ends_its_own_processes_and_no_others(self):
        for word in ("hang", "stubborn"):
            with self.subTest(word):
                self.setUp()
                innocent = self.innocent()
                runner, pids = self.start_hanging(word)
                runner.send_signal(signal.SIGINT)
                self.assertEqual(runner.wait(20), 130)
                self.assert_gone(pids, 2)
                self.assertTrue(lives(innocent.pid))
                self.assertEqual(list(self.statuses().values()), ["success", "interrupted"])
                again = self.run_sweep()
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual((self.attempts(256, 42)), 2)

    def test_when_the_runner_is_killed_its_processes_are_ended(self):
        for word in ("stubborn", "hang"):
            with self.subTest(word):
                self.setUp()
                runner, pids = self.start_hanging(word)
                runner.kill()
                self.assert_gone(pids, 10)
        self.assertEqual(list(self.statuses().values()), ["success", "running"])
        self.assertEqual(self.run_sweep().returncode, 0)


class Server(SweepCase):
    def call(self, session, **arguments):
        return session.call("sweep_run", {"output_dir": "S", "axes": ["threads=256", "channels=28,42"],
                                          "command": job(), "nproc": 2, **arguments})

    def flags(self, *more):
        return ("--tools", "sweep_plan,sweep_run", "--allow-root", str(self.path), "--output-root", str(self.path),
                *more)

    def test_a_server_starts_nothing_unless_it_is_told_so(self):
        with program.Session(self.flags(), cwd=self.path) as session:
            result = self.call(session, confirm=True)
        self.assertTrue(result["isError"])
        text = program.text_of(result)
        self.assertIn("[EXEC_DISABLED]", text)
        self.assertIn("--allow-exec", text)
        self.assertFalse(self.sweep.exists())
        called = program.call("sweep_run", output_dir=str(self.sweep), confirm=True)
        self.assertIn("[EXEC_DISABLED]", called.stderr)

    def test_a_server_that_may(self):
        with program.Session(self.flags("--allow-exec"), cwd=self.path) as session:
            planned = self.call(session)["structuredContent"]
            self.assertIn("confirm: true runs it", planned["summary"])
            self.assertFalse(self.sweep.exists())
            done = self.call(session, confirm=True)["structuredContent"]
            self.assertTrue(done["complete"])
            self.assertEqual(done["failed"], 0)
            outside = self.call(session, confirm=True, output_dir="/elsewhere")
            self.assertIn("[not_allowed]", program.text_of(outside))
            workdir = self.call(session, confirm=True, workdir="/")
            self.assertIn("[not_allowed]", program.text_of(workdir))
        self.assertEqual((self.run_of(256, 28) / "fds.txt").read_text(), "0 1 2")

    def test_cancelling_a_call_ends_its_processes(self):
        self.behave(t256c28="stubborn 1")
        with program.Session(self.flags("--allow-exec"), cwd=self.path) as session:
            session.server.stdin.write(json.dumps({
                "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {
                    "name": "sweep_run", "arguments": {
                        "output_dir": "S", "axes": ["threads=256", "channels=28,42"],
                        "command": job(), "nproc": 2, "confirm": True}}}) + "\n")
            session.server.stdin.flush()
            pids = self.pids(self.run_of(256, 28))
            session.server.stdin.write(json.dumps({
                "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": 77}}) + "\n")
            session.server.stdin.flush()
            self.assert_gone(pids, 20)
            self.assertTrue(wait_for(
                lambda: list(self.statuses().values()) == ["interrupted", "planned"], 10))

    def test_a_client_that_goes_away_ends_them_too(self):
        # Those that ignore what they are asked do not outlive the server for long either.
        for word, ends in (("hang", None), ("stubborn", None), ("stubborn", signal.SIGTERM),
                           ("stubborn", signal.SIGKILL)):
            with self.subTest(word, ends=ends):
                self.setUp()
                self.behave(t256c28=f"{word} 1")
                with program.Session(self.flags("--allow-exec"), cwd=self.path) as session:
                    session.server.stdin.write(json.dumps({
                        "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {
                            "name": "sweep_run", "arguments": {
                                "output_dir": "S", "axes": ["threads=256", "channels=28"],
                                "command": job(), "nproc": 2, "confirm": True}}}) + "\n")
                    session.server.stdin.flush()
                    pids = self.pids(self.run_of(256, 28))
                    if ends is not None:
                        session.server.send_signal(ends)
                        session.server.wait(20)
                self.assert_gone(pids, 20)

    def test_flags_that_do_not_go_together(self):
        for flags, text in ((("--allow-exec", "--read-only"), "exclude each other"),
                            (("--allow-exec", "--http", "127.0.0.1:0"), "--token-file")):
            ran = subprocess.run([program.BINARY, "serve", *flags], capture_output=True, text=True,
                                 timeout=20)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(text, ran.stderr)


if __name__ == "__main__":
    main()
