#!/usr/bin/env python3
"""How much of the linked kernel time belongs to an op that a model row serves, trace by trace.

    tests/perf/coverage.py build/release/jarvis [--evaluate build/release/tests/perf_test]

Prints a table and, per trace, the ops without a row by time. Traces: every trace.json.gz, or the
first file of each folder, below $JARVIS_TEST_DATA/traces (default: ../shared/traces). A name
counts if a row of src/perf/models lists it, exactly or by prefix. Left out of the share, in columns
of their own: launches outside of any op, for which nothing is recorded (graph launches above all),
and collectives, which have tables of their own. Op names of other tables can be added with
--names FILE.csv (first column). With --evaluate the models are also asked about each call: how much
time has no bytes, or a failure, is listed too.
"""
import argparse
import ast
import csv
import json
import os
import pathlib
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def served():
    exact, prefixes = set(), []
    for file in (SOURCE / "src/perf/models").glob("*.json"):
        for row in json.loads(file.read_text()).get("rows", []):
            exact.update(row.get("ops", []))
            prefixes += row.get("prefixes", [])
    return exact, tuple(prefixes)


def traces(folder):
    for directory in sorted(p for p in folder.iterdir() if p.is_dir()):
        files = sorted(p for p in directory.rglob("*") if p.is_file())
        if files:
            yield directory.name, next((f for f in files if f.name == "trace.json.gz"), files[0])


def report(jarvis, trace, folder):
    arguments = json.dumps({"trace": str(trace), "output_dir": folder})
    subprocess.run([jarvis, "call", "perf_report", arguments], stdout=subprocess.DEVNULL, check=True)
    table = pathlib.Path(folder) / "ops_unique_args.csv"
    if not table.exists():
        return []
    csv.field_size_limit(1 << 30)
    with table.open() as file:
        return [(row["name"], float(row["total_direct_kernel_time_sum"] or 0), row)
                for row in csv.DictReader(file)]


def evaluate(perf_test, rows):
    """What the models say: (op, time, result) for each row."""
    keys = (("Input Dims", "dims"), ("Input type", "types"), ("Input Strides", "strides"),
            ("Concrete Inputs", "text"))
    calls = []
    for op, time, row in rows:
        call = {"op": op, "kernels": []}
        for column, key in keys:
            if row[column]:
                call[key] = ast.literal_eval(row[column])
        if row["kernel_details_summary"]:
            details = ast.literal_eval(re.sub(r"\bnan\b", "None", row["kernel_details_summary"]))
            call["kernels"] = [kernel["name"] for kernel in details]
        calls.append(json.dumps(call))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(call + "\n" for call in calls))
        file.flush()
        output = subprocess.run([perf_test, "-tc=calls from a file"], text=True, check=True,
                                stdout=subprocess.PIPE, env={**os.environ, "JARVIS_CALLS": file.name})
    results = [json.loads(line) for line in output.stdout.splitlines() if line.startswith("{")]
    return [(op, time, result) for (op, time, _), result in zip(rows, results)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jarvis")
    parser.add_argument("--names", action="append", default=[])
    parser.add_argument("--missing", type=int, default=8, help="ops to list per trace")
    parser.add_argument("--evaluate", help="perf_test: ask the models about each call")
    parser.add_argument("--show", help="print the arguments of this op")
    options = parser.parse_args()
    exact, prefixes = served()
    for file in options.names:
        with open(file) as table:
            exact.update(row[0] for row in csv.reader(table) if row)
    data = pathlib.Path(os.environ.get("JARVIS_TEST_DATA", SOURCE.parent / "shared"))
    everything = known = 0.0
    for name, trace in traces(data / "traces"):
        with tempfile.TemporaryDirectory() as folder:
            rows = report(options.jarvis, trace, folder)
        total, launches, collectives, missing = 0.0, 0.0, 0.0, {}
        for op, time, row in rows:
            if op == options.show:
                print(name, {key: row[key][:300] for key in list(row)[5:10]})
            if time <= 0 or op.startswith("(unlinked)"):
                continue
            if re.match(r"(cuda|hip|cu|musa)[A-Z]", op):
                launches += time
                continue
            if op == "record_param_comms":
                collectives += time
                continue
            total += time
            if op not in exact and not (prefixes and op.startswith(prefixes)):
                missing[op] = missing.get(op, 0.0) + time
        lost = sum(missing.values())
        everything += total
        known += total - lost
        share = f"{100 * (total - lost) / total:6.2f} %" if total else "no time "
        print(f"{name:28} {total:12.1f} us  {share:9}  outside of ops {launches:10.1f} us,"
              f" collectives {collectives:10.1f} us")
        for op, time in sorted(missing.items(), key=lambda item: -item[1])[:options.missing]:
            print(f"    {100 * time / total:6.2f} %  {op}")
        if not options.evaluate:
            continue
        gaps = {}
        for op, time, result in evaluate(options.evaluate, rows):
            why = result.get("failed") or result.get("declined") and "declined"
            why = why or result.get("model") and result["bytes"] is None and "no bytes"
            if why and time > 0:
                gaps[op, why] = gaps.get((op, why), 0.0) + time
        for (op, why), time in sorted(gaps.items(), key=lambda item: -item[1]):
            print(f"    {100 * time / total if total else 0:6.2f} %  {op}: {why}")
    if everything:
        print(f"{'all':28} {everything:12.1f} us  {100 * known / everything:6.2f} %")


if __name__ == "__main__":
    main()
