"""Asks the program under test, for the scripts beside this one and in tests/compat.

$JARVIS_BINARY names the program; $JARVIS_TEST_DATA the folder with larger traces and the
reference's tables (default: shared, beside the project). Standard library only.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading

SOURCE = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARY = os.environ.get("JARVIS_BINARY", "")
DATA = pathlib.Path(os.environ.get("JARVIS_TEST_DATA") or SOURCE.parent / "shared")
EXAMPLE = SOURCE / "examples/data/transformer_step.json.gz"

SKIPPED = 77


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def need_binary():
    if not BINARY:
        skip("JARVIS_BINARY names no program to test")


def need_data():
    need_binary()
    if not (DATA / "traces").is_dir():
        skip(f"no test data in {DATA}; JARVIS_TEST_DATA names the folder")


def call(tool, timeout=300, **arguments):
    """Exit status, stdout and stderr of one tool call."""
    ran = subprocess.run([BINARY, "call", tool, json.dumps(arguments)], capture_output=True,
                         text=True, timeout=timeout)
    return ran


def ask(tool, **arguments):
    """The structured answer of a call that must succeed."""
    ran = call(tool, **arguments)
    if ran.returncode != 0:
        raise AssertionError(f"{tool} {arguments}: exit {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)


def request_lines(requests):
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "tests", "version": "0"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for number, (method, params) in enumerate(requests, 1):
        lines.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    return [json.dumps(line) + "\n" for line in lines]


# A server with every tool that may read and write anywhere: tests have their files in many places.
ANYTHING = ("--profile", "all", "--allow-root", "/", "--output-root", "/")


def serve(requests, timeout=300, flags=ANYTHING):
    """Results (or errors) of JSON-RPC requests to one server, in order; the server may work on
    several of them at once, and loads a trace once for all of them."""
    replies = {}
    with subprocess.Popen([BINARY, "serve", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as server:
        watchdog = threading.Timer(timeout, server.kill)
        watchdog.start()
        # The end of its input stops a server, so that stays open until all has been answered.
        server.stdin.write("".join(request_lines(requests)))
        server.stdin.flush()
        while len(replies) <= len(requests):
            line = server.stdout.readline()
            if not line:
                break
            reply = json.loads(line)
            if "id" in reply:
                replies[reply["id"]] = reply
        server.stdin.close()
        status = server.wait()
        watchdog.cancel()
    missing = [number for number in range(1, len(requests) + 1) if number not in replies]
    if status != 0 or missing:
        raise AssertionError(f"serve: exit {status}, no reply to requests {missing}")
    return [replies[number].get("result", replies[number].get("error"))
            for number in range(1, len(requests) + 1)]


class Session:
    """A server for several calls, one after the other."""

    def __init__(self, flags=ANYTHING, timeout=120, cwd=None):
        self.server = subprocess.Popen([BINARY, "serve", *flags], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True, cwd=cwd)
        self.watchdog = threading.Timer(timeout, self.server.kill)
        self.watchdog.start()
        self.server.stdin.write("".join(request_lines([])))
        self.last_id = 0

    def ask(self, method, params):
        """The result of a request; the error, if there is one."""
        self.last_id += 1
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method,
                                            "params": params}) + "\n")
        self.server.stdin.flush()
        for line in self.server.stdout:
            reply = json.loads(line)
            if reply.get("id") == self.last_id:
                return reply.get("result", reply.get("error"))
        raise AssertionError(f"{method}: the server ended, status {self.server.wait()}")

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()
        self.watchdog.cancel()


def text_of(result):
    return "".join(part["text"] for part in result["content"] if part["type"] == "text")


def tool_answers(calls):
    """Structured answers of tool calls to one server; an error is an AssertionError."""
    answers = []
    results = serve([("tools/call", {"name": tool, "arguments": arguments})
                     for tool, arguments in calls])
    for (tool, arguments), result in zip(calls, results):
        if result.get("isError") or "structuredContent" not in result:
            raise AssertionError(f"{tool} {arguments}: {json.dumps(result)[:2000]}")
        answers.append(result["structuredContent"])
    return answers


def column(answer, name):
    at = answer["columns"].index(name)
    return [row[at] for row in answer["rows"]]


def timeline_of(answer):
    """part -> ms."""
    return {row[0]: row[1] for row in answer["rows"]}
