"""How long every tool goes on working after its call was cancelled.

    cancel.py JARVIS [--kinds K...] [--calls C...] [--size N] [--moments F...] [--all]

A server loads a trace of each kind of hostile_shapes.py, is asked each call once with a reply (its duration), then in a
new process cancelled at these parts of that time. Printed is the processor time that the server still takes after the
cancellation, as clocks are the neighbours'. Without --all only what is beyond 100 ms. Standard library only."""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import growth
import hostile_shapes

MARK = 0.1
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A stdio server without answers of its own: what it writes is only looked at for ids."""

    def __init__(self, jarvis, folder):
        self.process = subprocess.Popen([jarvis, "serve", "--allow-root", folder, "--output-root", folder,
                                         "--profile", "full"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.answered = {}
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        self.send({"id": 0, "method": "initialize",
                   "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                              "clientInfo": {"name": "cancel", "version": "1"}}})
        self.wait(0)
        self.send({"method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.changed:
                if "id" in message:
                    self.answered[message["id"]] = message
                self.changed.notify_all()

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, number, tool, arguments):
        self.send({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def wait(self, number, limit=60):
        with self.changed:
            return self.changed.wait_for(lambda: number in self.answered, limit)

    def used(self):
        """Processor seconds so far."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def used_until_quiet(self):
        """Processor seconds from now until nothing runs any more."""
        first = last = self.used()
        quiet = time.monotonic()
        while time.monotonic() - quiet < 0.3:
            time.sleep(0.02)
            now = self.used()
            if now != last:
                last, quiet = now, time.monotonic()
        return last - first

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def loaded(jarvis, traces):
    server = Server(jarvis, os.path.dirname(traces[0]))
    for number, trace in enumerate(traces, 1):
        server.call(number, "load_trace", {"trace": trace})
        server.wait(number)
        assert not server.answered[number]["result"].get("isError"), server.answered[number]
    return server


def tool_of(call, trace, out):
    """Tool and arguments of one of growth's calls; None: it is a command."""
    words = growth.CALLS[call](trace, out)
    return (words[1], json.loads(words[2])) if words[0] == "call" else None


def duration(jarvis, traces, question):
    server = loaded(jarvis, traces)
    before = server.used()
    server.call(100, *question)
    server.wait(100)
    took = server.used() - before
    server.end()
    return took


def after_cancel(jarvis, traces, question, wait):
    """Processor seconds after the cancellation of a call that had used this many."""
    server = loaded(jarvis, traces)
    before = server.used()
    server.call(100, *question)
    while server.used() - before < wait and 100 not in server.answered:
        time.sleep(0.002)
    server.send({"method": "notifications/cancelled", "params": {"requestId": 100}})
    late = server.used_until_quiet()
    server.end()
    return late


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jarvis", type=pathlib.Path)
    parser.add_argument("--kinds", nargs="*", default=list(hostile_shapes.KINDS))
    parser.add_argument("--calls", nargs="*", default=list(growth.CALLS))
    parser.add_argument("--size", type=int, default=32000)
    parser.add_argument("--moments", nargs="*", type=float, default=[0.05, 0.35, 0.65])
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    jarvis = str(options.jarvis.resolve())
    print("| kind | call | takes | goes on after |\n|---|---|---|---|")
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            trace = growth.write_pair(kind, options.size, folder)
            for call in options.calls:
                question = tool_of(call, trace, os.path.join(folder, "out"))
                if question is None or call == "load_trace":
                    continue
                takes = duration(jarvis, [trace, growth.other_of(trace)], question)
                if takes < MARK:  # it cannot go on for longer
                    continue
                late = [after_cancel(jarvis, [trace, growth.other_of(trace)], question, part * takes)
                        for part in options.moments]
                if options.all or max(late) > MARK:
                    print("| %s | %s | %.2f s | %s |" % (kind, call, takes, ", ".join("%.2f s" % s for s in late)),
                          flush=True)


if __name__ == "__main__":
    main()
