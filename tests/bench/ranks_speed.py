"""How long the report about all ranks takes, against the floors of their traces.

    ranks_speed.py JARVIS JARVIS_BENCH RUNS TRACE...

The floor of each trace (jarvis_bench) is zlib inflate plus one simdjson pass over its bytes on one thread;
all cores together could do all ranks in the sum of the floors divided by the cores. In turns with them,
each in a fresh process: collectives on the traces (all CSV tables and the workbook), the compatible report,
digest, and collectives on the digests. Prints the best wall time of each, and the best processor time, which
other work on the machine disturbs less. Standard library only."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time


def floor_seconds(bench, trace):
    out = subprocess.run([bench, "--runs", "1", "--no-visit", trace], check=True, capture_output=True,
                         text=True)
    return json.loads(out.stdout.strip().splitlines()[-1])["floor"]["seconds"]


def seconds(jarvis, tool, **arguments):
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([jarvis, "call", tool, json.dumps(arguments)], check=True,
                   stdout=subprocess.DEVNULL)
    took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    jarvis, bench, runs, traces = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    floors = dict.fromkeys(traces, float("inf"))
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        calls = {
            "collectives": ("collectives", {"traces": traces}),
            "collectives, compat=tracelens": ("collectives", {"traces": traces,
                                                              "compat": "tracelens"}),
            "digest": ("digest", {"traces": traces}),
            "collectives of the digests": ("collectives", {"traces": [f"{folder}/digest"]}),
        }
        for _ in range(runs):
            for trace in traces:
                floors[trace] = min(floors[trace], floor_seconds(bench, trace))
            for name, (tool, arguments) in calls.items():
                took = seconds(jarvis, tool, output_dir=f"{folder}/{name}", **arguments)
                known = best.get(name, took)
                best[name] = (min(known[0], took[0]), min(known[1], took[1]))
    shared = sum(floors.values()) / os.cpu_count()
    print(f"{len(traces)} traces; sum of the floors {sum(floors.values()) * 1e3:.0f} ms, "
          f"by {os.cpu_count()} cores {shared * 1e3:.0f} ms")
    for name, (wall, cpu) in best.items():
        print(f"  {name:32} {wall * 1e3:5.0f} ms = {wall / shared:.2f} x; processor {cpu * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
