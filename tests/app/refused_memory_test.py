#!/usr/bin/env python3
"""Requests for memory that are refused, one after the other, wherever they are made.

A command then ends as it would, or says that there was no memory; a server answers every request and goes on."""

import concurrent.futures
import json
import os
import pathlib
import random
import select
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
JARVIS = os.environ["JARVIS_BINARY"]
LIBRARY = os.environ.get("REFUSE_MEMORY_LIBRARY")
TRACE = str(SOURCE / "examples" / "data" / "transformer_step.json.gz")
# So many requests of a command are refused, spread over its run: more of them early on, where each is something else.
PLACES = 24
PROCESSES = 2
SECONDS = 60

COMMANDS = {
    "analyze": ["--no-cache", "analyze", TRACE, "--output-dir", "out"],
    "analyze with a cache": ["analyze", TRACE, "--output-dir", "out"],
    "compare": ["call", "compare", json.dumps({"candidate": TRACE, "baseline": TRACE, "output_dir": "out"})],
    "load_trace": ["call", "load_trace", json.dumps({"trace": TRACE})],
    "make_replay": ["call", "make_replay", json.dumps({"trace": TRACE, "rows": ["op1"], "output_dir": "out"})],
    "perf_report": ["call", "perf_report", json.dumps({"trace": TRACE, "output_dir": "out"})],
    "collectives": ["call", "collectives", json.dumps({"traces": [TRACE]})],
    "query": ["query", TRACE, "select name, count(*) from ops group by name"],
    "help": ["help"],
}


def environment(folder, first=0, count=1, tell=None):
    made = dict(os.environ, LD_PRELOAD=LIBRARY, XDG_CACHE_HOME=str(folder / "cache"))
    if first:
        made.update(REFUSE_FIRST=str(first), REFUSE_COUNT=str(count))
    if tell:
        made["REFUSE_TELL"] = str(tell)
    return made


def run(name, first=0, count=1):
    """The ended process, and how many requests it made."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tell = folder / "requests"
        done = subprocess.run([JARVIS, *COMMANDS[name]], capture_output=True, text=True, timeout=SECONDS, cwd=folder,
                              env=environment(folder, first, count, tell))
        done.stdout = done.stdout.replace(str(folder), "FOLDER")
        return done, int(tell.read_text()) if tell.exists() else 0


class Server:
    """A server on its standard streams, whose requests for memory are refused from the first-th on."""

    def __init__(self, folder, first, count):
        self.process = subprocess.Popen([JARVIS, "--no-cache", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment(folder, first, count))
        self.received = b""

    def send(self, messages):
        try:
            self.process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it could not be started

    def answered(self):
        whole = self.received[:self.received.rfind(b"\n") + 1]
        messages = [json.loads(line) for line in whole.splitlines()]
        return [message["id"] for message in messages if "id" in message]

    def wait_for(self, ids):
        end = time.monotonic() + SECONDS
        while not ids <= set(self.answered()) and time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 1)[0]:
                received = os.read(self.process.stdout.fileno(), 1 << 20)
                if not received:
                    return
                self.received += received

    def end(self):
        _, error = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, error.decode()


def requests():
    yield {"jsonrpc": "2.0", "id": 0, "method": "initialize",
           "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}
    number = 0
    for _ in range(2):
        for tool in ("load_trace", "ops_summary", "prioritize", "gpu_timeline"):
            number += 1
            yield {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                   "params": {"name": tool, "arguments": {"trace": TRACE}, "_meta": {"progressToken": number}}}
        number += 1
        yield {"jsonrpc": "2.0", "id": number, "method": "tools/list"}


@unittest.skipUnless(LIBRARY, "the sanitizers bring their own functions for memory")
class RefusedMemory(unittest.TestCase):
    def check(self, name, first, count, whole):
        done, _ = run(name, first, count)
        if done.returncode == 0:
            # What is only told (a note, a part that is marked as missing) may be missing where it says why.
            if done.stdout != whole:
                return None if "memory" in done.stdout + done.stderr else "another output"
            return None
        if done.returncode != 1:
            return "exit %d: %s" % (done.returncode, done.stderr[-300:])
        return None if "memory" in done.stdout + done.stderr else "another error: " + done.stderr[-300:]

    def test_a_command_says_it_or_needs_it_not(self):
        choice = random.Random(20)
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            for name in COMMANDS:
                whole, requests_made = run(name)
                self.assertEqual(whole.returncode, 0, whole.stderr)
                self.assertGreater(requests_made, 100)
                tries = []
                for place in range(PLACES):
                    near = int(requests_made ** ((place + choice.random()) / PLACES))
                    far = choice.randint(1, requests_made)
                    tries.append((near if place % 2 else far, choice.choice([1, 1, 20, 10**9])))
                checked = pool.map(lambda at: self.check(name, *at, whole.stdout), tries)
                for (first, count), wrong in zip(tries, checked):
                    with self.subTest(name, first=first, count=count):
                        self.assertIsNone(wrong)

    def serve(self, first, count):
        messages = list(requests())
        ids = {message["id"] for message in messages}
        with tempfile.TemporaryDirectory() as folder:
            server = Server(pathlib.Path(folder), first, count)
            server.send(messages)
            server.wait_for(ids)
            server.send([{"jsonrpc": "2.0", "id": "still there", "method": "ping"}])
            server.wait_for({"still there"})
            code, error = server.end()
        answered = server.answered()
        if code == 1 and not answered and "memory" in error:
            return None  # it was never there
        if code != 0 or sorted(map(str, answered)) != sorted(map(str, ids | {"still there"})):
            return "exit %d, answered %s: %s" % (code, answered, error[-300:])
        return None

    def test_a_server_answers_everything_and_goes_on(self):
        choice = random.Random(15)
        tries = [(int(10 ** choice.uniform(3.5, 5.1)), choice.choice([1, 1, 5, 20])) for _ in range(PLACES)]
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            for (first, count), wrong in zip(tries, pool.map(lambda at: self.serve(*at), tries)):
                with self.subTest(first=first, count=count):
                    self.assertIsNone(wrong)


if __name__ == "__main__":
    sys.exit(unittest.main())
