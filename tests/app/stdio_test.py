#!/usr/bin/env python3
"""How `jarvis serve` starts and ends: ends of input, signals, streams that are closed or full.

    stdio_test.py [BINARY]      default: $JARVIS_BINARY
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

BINARY = os.environ.get("JARVIS_BINARY", "")
PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n'


def start(**options):
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    streams.update(options)
    return subprocess.Popen([BINARY, "serve"], **streams)


class StdioTest(unittest.TestCase):
    def setUp(self):
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                try:
                    if stream:
                        stream.close()
                except BrokenPipeError:
                    pass

    def start(self, **options):
        self.processes.append(start(**options))
        return self.processes[-1]

    def ping(self, process, number=1):
        process.stdin.write(PING % number)
        process.stdin.flush()
        self.assertEqual(json.loads(process.stdout.readline())["id"], number)

    def ends(self, process):
        self.assertEqual(process.wait(60), 0)

    def test_end_of_input(self):
        process = self.start()
        self.ping(process)
        process.stdin.close()
        self.ends(process)

    def test_last_line_without_end_is_answered(self):
        out, _ = self.start().communicate((PING % 7)[:-1], timeout=20)
        self.assertEqual(json.loads(out)["id"], 7)

    def test_calls_sent_before_the_end_are_answered(self):
        call = (b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
                b'"params":{"name":"load_trace","arguments":{"no_such_argument":1}}}\n')
        out, _ = self.start().communicate(call, timeout=20)
        self.assertTrue(json.loads(out)["result"]["isError"])

    def test_no_input_at_all(self):
        self.ends(self.start(stdin=subprocess.DEVNULL))

    def test_closed_standard_streams(self):
        for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closing):
                ran = subprocess.run(["sh", "-c", '"$0" serve %s' % closing, BINARY],
                                     stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
                self.assertEqual(ran.returncode, 0)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                process = self.start()
                self.ping(process)
                process.send_signal(number)
                self.ends(process)

    def test_signal_right_after_the_start(self):
        for _ in range(20):
            process = self.start()
            time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
            self.assertIn(process.wait(20), (0, -signal.SIGTERM))  # the latter before main

    def test_a_reader_that_went_away(self):
        process = self.start()
        self.ping(process)
        process.stdout.close()
        process.stdin.write(PING % 2)
        process.stdin.flush()
        self.ends(process)

    def test_a_client_that_does_not_read(self):
        process = self.start()
        line = b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 100 + b'"}\n'
        for _ in range(3000):  # more answers than a pipe holds
            process.stdin.write(line)
        process.stdin.close()
        self.ends(process)

    def test_full_stderr_delays_nothing(self):
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        try:
            while True:
                os.write(write_end, b"x" * 4096)
        except BlockingIOError:
            pass
        os.set_blocking(write_end, True)
        process = self.start(stderr=write_end)
        for number in range(100):
            process.stdin.write(b"garbage\n")
            process.stdin.flush()
            process.stdout.readline()
            self.ping(process, number)
        process.stdin.close()
        self.ends(process)
        os.close(read_end)
        os.close(write_end)

    def test_bare_environment(self):
        process = self.start(env={}, cwd="/")
        self.ping(process)

    def test_nothing_on_stderr_when_all_is_well(self):
        _, err = self.start().communicate(PING % 1, timeout=20)
        self.assertEqual(err, b"")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BINARY = sys.argv.pop(1)
    if not BINARY:
        print("no program to test")
        sys.exit(77)
    unittest.main()
