"""Every speed goal of the program beside what it reaches, in one run.

    goals.py JARVIS BUILD_TESTS TRACES [--runs N] [--large] [--ranks N]

BUILD_TESTS: the folder of a build with jarvis_bench and make_trace; TRACES: folders with a trace each. With
--large also generated recordings of 10^7 events (3.3 GB of text, twice that on the disk), with --ranks the
digests of so many generated ranks. Ratios are of the best of N runs to the floor of the same run (jarvis_bench:
zlib inflate and one simdjson pass over the bytes); whatever else runs on the machine makes them larger. What
answers while others load, and cancelling, have scripts of their own: tests/load/run, cancel.py. Standard
library only."""

import argparse
import glob
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import growth
from analyze_speed import analyze_seconds
from ranks_speed import seconds as call_seconds
from report_speed import REPORTS, report_seconds

FLEET = pathlib.Path(__file__).resolve().parent.parent / "golden" / "rank_fleet.py"
# Below this floor what does not depend on the trace is more than all goals together.
FLOOR_MIN = 0.015


def bench(program, *arguments):
    out = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    return json.loads(out.stdout.strip().splitlines()[-1])


def floor_of(program, trace, runs):
    return bench(program, "--runs", str(runs), "--no-visit", trace)["floor"]["seconds"]


def best(runs, measure):
    return min(measure() for _ in range(runs))


class Table:
    def __init__(self):
        print("| what | goal | reached |\n|---|---|---|")

    def row(self, what, goal, reached, text):
        print("| %s | %s | %s%s |" % (what, goal, text, "" if reached else " **missed**"), flush=True)


def analyses(table, given, traces):
    for name, trace, floor in traces:
        took = best(given.runs, lambda: analyze_seconds(given.jarvis, trace)[0])
        met = took <= 1 and (took <= 6 * floor or floor < FLOOR_MIN)
        table.row("analyze, %s" % name, "6 x, 1 s", met, "%.2f s = %.1f x of %.0f ms"
                  % (took, took / floor, floor * 1e3))


def reports(table, given, traces):
    goals = {"csv": 2.5, "csv, xlsx": 4}
    for name, trace, floor in traces:
        if floor < FLOOR_MIN / 2:
            continue
        for kind, goal in goals.items():
            with tempfile.TemporaryDirectory() as folder:
                took = best(given.runs, lambda: report_seconds(given.jarvis, trace, REPORTS[kind], folder))
            table.row("perf_report (%s), %s" % (kind, name), "%.1f x" % goal, took <= goal * floor,
                      "%.0f ms = %.1f x" % (took * 1e3, took / floor))


def models(table, given, traces):
    for name, trace, _ in traces:
        times = bench(given.bench, "--models", "--runs", str(given.runs), trace)
        if times["calls"] < 100:
            continue
        table.row("models, %s: %d calls, %d rows" % (name, times["calls"], times["rows"]), "5 us a call, 3 ms",
                  times["again_us_a_call"] <= 5 and times["start_ms"] <= 3,
                  "%.1f us a call, first time %.1f; start %.2f ms"
                  % (times["again_us_a_call"], times["first_us_a_call"], times["start_ms"]))


def loads(table, given, folder):
    sizes = {"10^5": "33M", "10^6": "327M"} | ({"10^7": "3250M"} if given.large else {})
    each = {}
    for events, size in sizes.items():
        trace = os.path.join(folder, "events.json")
        subprocess.run([given.make_trace, "--out", trace, "--target-bytes", size], check=True,
                       stdout=subprocess.DEVNULL)
        one = bench(given.bench, "--runs", str(given.runs), "--no-visit", trace)
        each[events] = one["load"]["seconds"] / one["events"]
        memory = one["peak_bytes"] / one["json_bytes"]
        # Small ones are mostly what any process takes.
        lean = memory <= 0.3 or one["json_bytes"] < 1e9
        table.row("load, %s events" % events, "1.5 x, 0.3 x the text", one["load_over_floor"] <= 1.5 and lean,
                  "%.2f x, %.2f x the text, %.0f ns an event"
                  % (one["load_over_floor"], memory, each[events] * 1e9))
        reopened = one["reopen"]["seconds"]
        table.row("opened again, %s events" % events, "50 ms", reopened <= 0.05, "%.1f ms" % (reopened * 1e3))
    spread = max(each.values()) / min(each.values()) - 1
    table.row("time an event, smallest to largest", "15 %", spread <= 0.15, "%.0f %%" % (spread * 100))


def ranks(table, given, folder):
    traces = sorted(glob.glob(os.path.join(given.traces, "megatron-tp8-a100", "*.gz")))
    if traces:
        shared = sum(floor_of(given.bench, trace, given.runs) for trace in traces) / os.cpu_count()
        took = best(given.runs, lambda: call_seconds(given.jarvis, "collectives", traces=traces,
                                                     output_dir=os.path.join(folder, "ranks"))[0])
        table.row("collectives of %d ranks" % len(traces), "2 x the shared floors", took <= 2 * shared,
                  "%.0f ms = %.1f x" % (took * 1e3, took / shared))
    if not given.ranks:
        return
    digests = os.path.join(folder, "digests")
    subprocess.run([sys.executable, FLEET, str(given.ranks), digests, "--slow-rank", "13=1.1", "--slow-host",
                    "5=1.08", "--slow-link", "2-3=1.6"], check=True, stdout=subprocess.DEVNULL)
    start = time.perf_counter()
    cost = growth.run([given.jarvis, "call", "collectives", json.dumps(
        {"traces": [digests], "output_dir": os.path.join(folder, "fleet")})], 600)
    took = time.perf_counter() - start
    table.row("collectives of %d ranks' digests" % given.ranks, "10 s, 1 GB", took <= 10 and cost.memory <= 1e9,
              "%.1f s, %.0f MB" % (took, cost.memory / 1e6))


def exponents(table, given, folder):
    """Of the whole analysis in events and in distinct calls."""
    for kind, sizes in {"dims": (8000, 32000), "flat": (32000, 128000)}.items():
        costs = []
        for n in sizes:
            trace = growth.write_pair(kind, n, folder)
            costs.append(min((growth.run([given.jarvis, "analyze", trace, "--output-dir",
                                          os.path.join(folder, "grown"), "--overwrite"], 600)
                              for _ in range(2)), key=lambda cost: cost.seconds))
        slope = math.log(costs[1].seconds / costs[0].seconds) / math.log(sizes[1] / sizes[0])
        table.row("analyze of %s, %d to %d" % (kind, *sizes), "exponent 1", slope <= growth.EXPONENT,
                  "%.2f (%.2f s of processor time)" % (slope, costs[1].seconds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jarvis")
    parser.add_argument("build_tests")
    parser.add_argument("traces")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--ranks", type=int, default=0)
    given = parser.parse_args()
    given.bench = os.path.join(given.build_tests, "jarvis_bench")
    given.make_trace = os.path.join(given.build_tests, "make_trace", "make_trace")
    traces = []
    for path in sorted(glob.glob(os.path.join(given.traces, "*", "trace.json.gz"))):
        traces.append((os.path.basename(os.path.dirname(path)), path,
                       floor_of(given.bench, path, given.runs)))
    table = Table()
    analyses(table, given, traces)
    reports(table, given, traces)
    models(table, given, traces)
    with tempfile.TemporaryDirectory() as folder:
        exponents(table, given, folder)
        ranks(table, given, folder)
        loads(table, given, folder)


if __name__ == "__main__":
    main()
