"""A server that loads a large trace answers everything else meanwhile, and a cancelled load leaves
nothing behind.

Environment: JARVIS_BINARY, MAKE_TRACE_BINARY; JARVIS_LOAD_BYTES (default 300M) is the trace's size."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BINARY = os.environ.get("JARVIS_BINARY")
MAKE_TRACE = os.environ.get("MAKE_TRACE_BINARY")
SIZE = os.environ.get("JARVIS_LOAD_BYTES", "300M")
SMALL = str(pathlib.Path(__file__).resolve().parents[2] / "examples/data/transformer_step.json.gz")


class Server:
    """`jarvis serve` with a thread that collects what it says."""

    def __init__(self):
        # A sanitizer keeps what was freed for a while; here it must not.
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
        self.process = subprocess.Popen([BINARY, "serve", "--allow-root", "/"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                        env={**os.environ, "ASAN_OPTIONS": options.lstrip(":")})
        self.answers = {}
        self.changed = threading.Condition()
        threading.Thread(target=self.collect, daemon=True).start()

    def collect(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" not in message:
                continue
            with self.changed:
                assert message["id"] not in self.answers, f"answered twice: {line}"
                self.answers[message["id"]] = message
                self.changed.notify_all()

    def send(self, method, params, identifier=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if identifier is not None:
            message["id"] = identifier
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call(self, identifier, tool, **arguments):
        self.send("tools/call", {"name": tool, "arguments": arguments}, identifier)

    def wait(self, identifier, seconds=120):
        with self.changed:
            self.changed.wait_for(lambda: identifier in self.answers, seconds)
            return self.answers.get(identifier)

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=30)


class ConcurrentLoad(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.large = cls.folder.name + "/large.json"
        subprocess.run([MAKE_TRACE, "--out", cls.large, "--target-bytes", SIZE], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_hundred_mixed_calls_during_a_load(self):
        server = Server()
        server.call("small", "load_trace", trace=SMALL)
        self.assertFalse(server.wait("small")["result"].get("isError", False))
        server.call("large", "load_trace", trace=self.large)
        calls = [("gpu_timeline", {}), ("ops_summary", {"by": "kernel"}), ("ops_summary", {"limit": 3}),
                 ("parent_chain", {"row": "op1"}), ("parent_chain", {"row": "op999"})]
        for i in range(100):
            if i % 10 == 9:
                server.send("ping", {}, i)
            else:
                tool, arguments = calls[i % len(calls)]
                server.call(i, tool, trace=SMALL, **arguments)
        for i in range(100):
            answer = server.wait(i)
            self.assertIsNotNone(answer, f"call {i} has no answer")
            self.assertIn("result", answer)
            if i % 10 != 9:
                failed = calls[i % len(calls)][1].get("row") == "op999"
                self.assertEqual(answer["result"].get("isError", False), failed)
        large = server.wait("large")
        self.assertFalse(large["result"].get("isError", False))
        self.assertEqual(server.close(), 0)

    def test_a_cancelled_load_frees_its_memory(self):
        server = Server()
        server.call("small", "load_trace", trace=SMALL)
        server.wait("small")
        before = server.resident_bytes()
        for round_number in range(3):
            identifier = f"large{round_number}"
            server.call(identifier, "load_trace", trace=self.large)
            time.sleep(0.04)  # well before the load is through, on any machine
            server.send("notifications/cancelled", {"requestId": identifier})
            server.send("ping", {}, f"ping{round_number}")
            self.assertIsNotNone(server.wait(f"ping{round_number}"))
            # A call that comes before the load has stopped would join it.
            deadline = time.monotonic() + 20
            while server.resident_bytes() > before + 40_000_000 and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertLess(server.resident_bytes(), before + 40_000_000)
            time.sleep(0.2)
        self.assertNotIn("large0", server.answers)
        # The file itself is fine: it loads afterwards.
        server.call("again", "load_trace", trace=self.large)
        self.assertFalse(server.wait("again")["result"].get("isError", False))
        self.assertEqual(server.close(), 0)

    def test_the_end_of_input_ends_a_load(self):
        server = Server()
        server.call("large", "load_trace", trace=self.large)
        time.sleep(0.1)
        self.assertEqual(server.close(), 0)


if __name__ == "__main__":
    if not BINARY or not MAKE_TRACE:
        print("JARVIS_BINARY or MAKE_TRACE_BINARY is not set: skipped")
        sys.exit(77)
    unittest.main()
