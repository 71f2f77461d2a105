#!/usr/bin/env python3
"""One client loads large traces while another asks about one that is in memory: how long the second
waits.

    fair_test.py [--loads N] [--bytes SIZE] [BINARY]     default: $JARVIS_BINARY, 2 traces of 40M

Prints the figures as JSON. Wrong answers end it with exit code 1; times depend on the machine."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support.serving import HttpServer  # noqa: E402

SMALL = HERE.parents[1] / "examples/data/transformer_step.json.gz"
CALLS_PER_S = 100
HEADERS = {"Content-Type": "application/json",
           "Accept": "application/json, text/event-stream",
           "MCP-Protocol-Version": "2026-07-28"}


def call(url, token, tool, arguments):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": token, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": meta}}
    request = urllib.request.Request(
        url, json.dumps(body).encode(),
        {**HEADERS, "Authorization": f"Bearer {token:-<16}", "Mcp-Method": "tools/call",
         "Mcp-Name": tool})
    with urllib.request.urlopen(request, timeout=600) as answer:
        text = answer.read().decode()
    data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    reply = json.loads(data[-1] if data else text)
    if "result" not in reply or reply["result"].get("isError"):
        raise RuntimeError(text[:500])
    return reply["result"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def warm_calls(url, until):
    """Milliseconds of calls at a fixed rate, each from the moment when it was due."""
    times = []
    due = time.perf_counter()
    while not until():
        time.sleep(max(0, due - time.perf_counter()))
        call(url, "warm", "gpu_timeline", {"trace": str(SMALL)})
        times.append((time.perf_counter() - due) * 1e3)
        due += 1 / CALLS_PER_S
    return times


def measure(binary, make_trace, loads, size):
    with tempfile.TemporaryDirectory() as folder:
        for i in range(loads):
            subprocess.run([make_trace, "--out", f"{folder}/{i}.json", "--target-bytes", size,
                            "--seed", str(i + 1)], check=True, stdout=subprocess.DEVNULL)
        tokens = pathlib.Path(folder, "tokens")
        tokens.write_text("".join(f"{client:-<16}\n" for client in ("warm", "loads")))
        tokens.chmod(0o600)
        with HttpServer(binary, "serve", "--token-file", str(tokens), "--allow-root", folder,
                        "--allow-root", str(SMALL.parent), "--cache", "off") as url:
            call(url, "warm", "gpu_timeline", {"trace": str(SMALL)})
            stop = time.perf_counter() + 2
            alone = warm_calls(url, lambda: time.perf_counter() > stop)
            with concurrent.futures.ThreadPoolExecutor(loads) as pool:
                running = [pool.submit(call, url, "loads", "load_trace",
                                       {"trace": f"{folder}/{i}.json"}) for i in range(loads)]
                beside = warm_calls(url, lambda: all(load.done() for load in running))
                for load in running:
                    load.result()
    figures = {"warm_calls_beside_loads": len(beside)}
    for name, times in (("alone", alone), ("beside_loads", beside)):
        figures[f"p50_ms_{name}"] = round(percentile(times, 0.5), 2)
        figures[f"p99_ms_{name}"] = round(percentile(times, 0.99), 2)
        figures[f"max_ms_{name}"] = round(max(times), 2)
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.environ.get("JARVIS_BINARY"))
    parser.add_argument("--make-trace", default=os.environ.get("MAKE_TRACE_BINARY"))
    parser.add_argument("--loads", type=int, default=2)
    parser.add_argument("--bytes", default="40M")
    given = parser.parse_args()
    print(json.dumps(measure(given.binary, given.make_trace, given.loads, given.bytes)))


if __name__ == "__main__":
    main()
