#!/usr/bin/env python3
"""Runs transcripts against the real program over its stdin and stdout.

    run_transcripts.py [BINARY [FILE...]]      default: $JARVIS_BINARY and all *.txt beside this file

A transcript is a heading that says what it guards, then blocks in turn:

    -- client --          raw lines, sent as they are
    -- server --          the lines that must come back, in any order within the block

Lines compare as JSON. In the expected ones "*" stands for any value, and a member "*": "*" for
any further members. `-- server --` without lines means that nothing may come; that is checked with
what follows, because every answer has to be expected somewhere. In client lines
<<repeat TEXT COUNT>> stands for TEXT that often.
"""

import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading

PATIENCE_S = 20


def blocks(path):
    """[(kind, lines)] with kind "client" or "server"."""
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        marker = re.fullmatch(r"-- (client|server) --", line)
        if marker:
            found.append((marker[1], []))
        elif found and line:
            found[-1][1].append(line)
    return found


def expand(line):
    return re.sub(r"<<repeat (.+?) (\d+)>>", lambda m: m[1] * int(m[2]), line)


def matches(expected, got):
    if expected == "*":
        return True
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return False
        open_ended = expected.get("*") == "*"
        wanted = {key: value for key, value in expected.items() if key != "*"}
        if any(key not in got for key in wanted):
            return False
        if not open_ended and len(wanted) != len(got):
            return False
        return all(matches(value, got[key]) for key, value in wanted.items())
    if isinstance(expected, list):
        return (isinstance(got, list) and len(expected) == len(got)
                and all(map(matches, expected, got)))
    return type(expected) is type(got) and expected == got


class Server:
    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode("utf-8"))
        self.lines.put(None)

    def send(self, text):
        self.process.stdin.write(text.encode("utf-8") + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end of the output or when patience is over."""
        try:
            line = self.lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            return None
        return None if line is None else json.loads(line)

    def end(self):
        """What still came after the input was closed, and the exit code."""
        self.process.stdin.close()
        rest = []
        while (message := self.receive()) is not None:
            rest.append(message)
        return rest, self.process.wait(PATIENCE_S)


def expect(server, lines):
    """None, or what went wrong."""
    open_lines = [json.loads(line) for line in lines]
    while open_lines:
        got = server.receive()
        if got is None:
            return "nothing came for " + json.dumps(open_lines[0])
        fit = next((e for e in open_lines if matches(e, got)), None)
        if fit is None:
            return "unexpected " + json.dumps(got) + "\n    expected " + json.dumps(open_lines[0])
        open_lines.remove(fit)
    return None


def run(binary, path):
    server = Server(binary)
    problem = None
    try:
        for kind, lines in blocks(path):
            if kind == "client":
                for line in lines:
                    server.send(expand(line))
            else:
                problem = problem or expect(server, lines)
            if problem:
                break
        rest, code = server.end()
        if not problem and rest:
            problem = "more came: " + json.dumps(rest[0])
        if not problem and code != 0:
            problem = "exit code %d" % code
    finally:
        server.process.kill()
        server.process.wait()
    return problem


def main(arguments):
    binary = arguments[0] if arguments else os.environ.get("JARVIS_BINARY")
    if not binary:
        print("no program to test")
        return 77
    here = pathlib.Path(__file__).parent
    files = [pathlib.Path(a) for a in arguments[1:]] or sorted(here.glob("*.txt"))
    failed = 0
    for path in files:
        problem = run(binary, path)
        if problem:
            failed += 1
            print("%s: %s" % (path.name, problem))
    print("%d transcripts, %d failed" % (len(files), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
