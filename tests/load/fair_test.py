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
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "http")]
from http_support import Client  # noqa: E402
from support.serving import HttpServer  # noqa: E402

SMALL = HERE.parents[1] / "examples/data/transformer_step.json.gz"
CALLS_PER_S = 100


def client_of(url, token):
    return Client(urllib.parse.urlsplit(url).port, {"Authorization": f"Bearer {token:-<16}"})


def call(client, tool, arguments):
    reply = client.call(tool, arguments).last
    if "result" not in reply or reply["result"].get("isError"):
        raise RuntimeError(json.dumps(reply)[:500])
    return reply["result"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def warm_calls(client, until):
    """Milliseconds of calls at a fixed rate, each from the moment when it was due."""
    times = []
    due = time.perf_counter()
    while not until():
        time.sleep(max(0, due - time.perf_counter()))
        call(client, "gpu_timeline", {"trace": str(SMALL)})
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
            warm = client_of(url, "warm")
            call(warm, "gpu_timeline", {"trace": str(SMALL)})
            stop = time.perf_counter() + 2
            alone = warm_calls(warm, lambda: time.perf_counter() > stop)
            with concurrent.futures.ThreadPoolExecutor(loads) as pool:
                running = [pool.submit(call, client_of(url, "loads"), "load_trace",
                                       {"trace": f"{folder}/{i}.json"}) for i in range(loads)]
                beside = warm_calls(warm, lambda: all(load.done() for load in running))
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
