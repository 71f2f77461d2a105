"""How long warm tool calls and the start of the server take.

    tool_latency.py JARVIS TRACE...

For each trace: loads it, asks every reading tool once (so that what is made on first use exists), then
20 times; prints the median and the worst milliseconds from request to answer. First of all the time
from starting the program to its answer to server/discover, the best of ten. Standard library only."""

import json
import statistics
import subprocess
import sys
import time

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}}
CALLS = [
    ("load_trace", {}),
    ("gpu_timeline", {}),
    ("ops_summary", {"by": "op"}),
    ("ops_summary", {"by": "kernel"}),
    ("ops_summary", {"by": "module"}),
    ("parent_chain", {"row": "op1"}),
    ("parent_chain", {"row": "op1", "mode": "subtree"}),
]


class Server:
    def __init__(self, binary, flags=()):
        self.process = subprocess.Popen([binary, "serve", "--profile", "full", "--allow-root", "/", "--output-root", "/",
                                         *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0

    def ask(self, method, params):
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method,
                   "params": {**params, "_meta": META}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last_id:
                return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def milliseconds(action):
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def start_to_discover(binary):
    def start():
        server = Server(binary)
        server.ask("server/discover", {})
        times.append((time.perf_counter() - began) * 1000)
        server.close()
    times = []
    for _ in range(10):
        began = time.perf_counter()
        start()
    return min(times)


def main(binary, traces):
    print(f"start to the answer of server/discover: {start_to_discover(binary):.1f} ms")
    for trace in traces:
        server = Server(binary)
        answer = server.ask("tools/call", {"name": "load_trace", "arguments": {"trace": trace}})
        identifier = answer["result"]["structuredContent"]["trace"]
        print(trace)
        for tool, arguments in CALLS:
            params = {"name": tool, "arguments": {"trace": identifier, **arguments}}
            first = milliseconds(lambda: server.ask("tools/call", params))
            times = [milliseconds(lambda: server.ask("tools/call", params)) for _ in range(20)]
            words = " ".join(f"{key}={value}" for key, value in arguments.items())
            print(f"  {tool + ' ' + words:32} first {first:9.2f}  median {statistics.median(times):8.2f}"
                  f"  worst {max(times):8.2f} ms")
        server.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
