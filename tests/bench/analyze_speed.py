"""How long a whole analysis takes, against the floor of its trace.

    analyze_speed.py JARVIS JARVIS_BENCH RUNS [--before OLD_JARVIS] TRACE...

The floor (jarvis_bench) is zlib inflate plus one simdjson pass over the bytes. In turns with it, each in
a fresh process that writes into an empty directory: jarvis analyze with all its files, by the program
and, if it is given, by an older one. Prints the best clock and processor seconds of each and the clock's
ratio to the floor. Standard library only."""

import argparse
import json
import os
import subprocess
import tempfile
import time


def floor_seconds(bench, trace):
    out = subprocess.run([bench, "--runs", "1", trace], check=True, capture_output=True, text=True)
    return json.loads(out.stdout.strip().splitlines()[-1])["floor"]["seconds"]


def analyze_seconds(jarvis, trace):
    """Clock and processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        before, start = os.times(), time.perf_counter()
        subprocess.run([jarvis, "analyze", trace, "--output-dir", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        clock, after = time.perf_counter() - start, os.times()
    return clock, (after.children_user - before.children_user
                   + after.children_system - before.children_system)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jarvis")
    parser.add_argument("bench")
    parser.add_argument("runs", type=int)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--before")
    given = parser.parse_args()
    programs = ([given.before] if given.before else []) + [given.jarvis]
    heads = ["before: clock, processor"] * bool(given.before) + ["clock, processor", "against the floor"]
    print("| trace | floor | " + " | ".join(heads) + " |\n|---|---|" + "---|" * len(heads))
    for trace in given.traces:
        floor, best = float("inf"), {program: (float("inf"),) * 2 for program in programs}
        for _ in range(given.runs):
            floor = min(floor, floor_seconds(given.bench, trace))
            for program in programs:
                best[program] = tuple(map(min, best[program], analyze_seconds(program, trace)))
        cells = [f"{best[program][0]:.2f} s, {best[program][1]:.2f} s" for program in programs]
        cells.append(f"{best[given.jarvis][0] / floor:.1f} x")
        print(f"| {trace} | {floor * 1e3:.0f} ms | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
