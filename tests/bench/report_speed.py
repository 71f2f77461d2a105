"""How long the whole performance report takes, against the floor of its trace.

    report_speed.py JARVIS JARVIS_BENCH RUNS TRACE...

The floor (jarvis_bench) is zlib inflate plus one simdjson pass over the bytes. In turns with it, each
in a fresh process: perf_report with all CSV tables, the same with the workbook, and the compatible
report. Prints the best seconds of each and their ratio to the floor. Standard library only."""

import json
import os
import subprocess
import sys
import tempfile
import time

REPORTS = {
    "csv": {"kernel_summary": True, "short_kernel_study": True, "platform": "MI300X"},
    "csv, xlsx": {"kernel_summary": True, "short_kernel_study": True, "platform": "MI300X",
                  "output_xlsx": "report.xlsx"},
    "compat": {"compat": "tracelens", "kernel_summary": True, "short_kernel_study": True},
}


def floor_seconds(bench, trace):
    out = subprocess.run([bench, "--runs", "1", trace], check=True, capture_output=True, text=True)
    return json.loads(out.stdout.strip().splitlines()[-1])["floor"]["seconds"]


def report_seconds(jarvis, trace, arguments, folder):
    arguments = {**arguments, "trace": trace, "output_dir": folder}
    if "output_xlsx" in arguments:
        arguments["output_xlsx"] = os.path.join(folder, arguments["output_xlsx"])
    start = time.perf_counter()
    subprocess.run([jarvis, "call", "perf_report", json.dumps(arguments)], check=True,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    jarvis, bench, runs, traces = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    print("| trace | floor | " + " | ".join(REPORTS) + " |\n|---|---|" + "---|" * len(REPORTS))
    for trace in traces:
        floor, best = float("inf"), dict.fromkeys(REPORTS, float("inf"))
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(runs):
                floor = min(floor, floor_seconds(bench, trace))
                for name, arguments in REPORTS.items():
                    best[name] = min(best[name], report_seconds(jarvis, trace, arguments, folder))
        cells = [f"{seconds * 1e3:.0f} ms = {seconds / floor:.2f} x" for seconds in best.values()]
        print(f"| {trace} | {floor * 1e3:.1f} ms | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
