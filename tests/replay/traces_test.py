#!/usr/bin/env python3
"""Packages of real traces: nearly every ATen row becomes an entry with a schema, quickly, and the
entries of some of them run on the CPU, large ones with reduced sizes."""

import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import replay_support as support  # noqa: E402

program = support.program
# Run, too; the others are only packed. Small ones: two cores must do.
RUN = ("norm-layers", "bert-small-h100", "resnet-recompute-mi300x")
PACKED = ("qwen1.5-0.5b-mi300x", "owlv2-mi300x", "vit-nsfw-h100", "sam-fast-a100",
          "kineto18-resnet50-v100", "async-flows-v100", "vllm-decode-mi300x")
ENTRIES_MAX = 5000
SECONDS_MAX = 5  # of 200 entries, start and load of the trace included; it takes well under 1


def trace_of(name):
    return program.DATA / "traces" / name / "trace.json.gz"


def pack(name, folder):
    """-> entries, packed ATen rows and those that could not be."""
    answer, entries = support.make(trace_of(name), folder, op_names=["aten::"], limit=ENTRIES_MAX)
    assert answer["total"] >= len(entries), name
    lost = answer["total"] - len(entries)
    lost += sum(1 for entry in entries if entry.get("needs_runtime_match"))
    assert lost <= 0.05 * answer["total"], (name, lost, answer["total"])
    return entries


def check_speed(folder):
    start = time.monotonic()
    answer = program.ask("make_replay", trace=str(trace_of("sam-fast-a100")), limit=200,
                         output_dir=str(folder / "speed"))
    seconds = time.monotonic() - start
    assert "Wrote 200 entries" in answer["summary"], answer["summary"]
    assert seconds < SECONDS_MAX, seconds


def check_run(name, entries, folder, python):
    ran, results = support.run(folder, "--compare", "--max-bytes", "4e6", "--shrink", python=python)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    ran_here = sum(result["status"] == "ok" for result in results)
    assert ran_here >= 0.95 * len(entries), (name, ran_here, len(entries), [
        r for r in results if r["status"] != "ok"])
    return ran_here


def main():
    program.need_data()
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        packed = {trace: pack(trace, root / trace) for trace in (*RUN, *PACKED)}
        check_speed(root)
        print({trace: len(entries) for trace, entries in packed.items()})
        python = support.torch_python()
        for trace in RUN:
            print(trace, "ran", check_run(trace, packed[trace], root / trace, python))


if __name__ == "__main__":
    main()
