"""Holds make_trace to its word: the bundled trace is what it writes, and the truth file beside a
trace agrees with what can be read from the trace itself."""

import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BINARY = os.environ.get("MAKE_TRACE_BINARY", "make_trace")
BUNDLED = ROOT / "examples" / "data" / "transformer_step.json.gz"
GPU = ("kernel", "gpu_memcpy", "gpu_memset")
HOST = ("cpu_op", "cuda_runtime", "cuda_driver", "python_function")

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def make(out, *options):
    subprocess.run([BINARY, "--out", str(out), *options], check=True, stdout=subprocess.DEVNULL)


def read(path):
    path = pathlib.Path(path)
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def ns(micros):
    """Exact for the three decimals of a trace."""
    whole, _, rest = micros.partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def covered(intervals):
    total = reached = 0
    for begin, end in sorted(intervals):
        begin = max(begin, reached)
        if end > begin:
            total += end - begin
            reached = end
    return total


def check_nesting(label, events):
    """Host events of one thread nest, streams never overlap. Returns the op of each launch."""
    op_of = {}
    threads = collections.defaultdict(list)
    for event in events:
        if event.get("cat") in HOST + ("user_annotation",):
            threads[event["tid"]].append(event)
    for tid, host in threads.items():
        host.sort(key=lambda e: (ns(e["ts"]), -ns(e["dur"])))
        stack = []
        for event in host:
            begin, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
            while stack and stack[-1][0] <= begin:
                stack.pop()
            if stack and end > stack[-1][0]:
                check(False, f"{label}: {event['name']} on {tid} sticks out of {stack[-1][1]}")
                return op_of
            if event["cat"].startswith("cuda"):
                ops = [name for _, name, cat in stack if cat == "cpu_op"]
                op_of[event["args"]["correlation"]] = ops[-1] if ops else "(none)"
            stack.append((end, event["name"], event["cat"]))
    streams = collections.defaultdict(list)
    for event in events:
        if event.get("cat") in GPU:
            streams[event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    for stream, busy in streams.items():
        busy.sort()
        overlaps = sum(a[1] > b[0] for a, b in zip(busy, busy[1:]))
        check(overlaps == 0, f"{label}: {overlaps} overlaps on stream {stream}")
    return op_of


def check_links(label, events):
    starts = {e["id"]: e for e in events if e.get("cat") == "ac2g" and e["ph"] == "s"}
    ends = {(e["id"], e["pid"], e["tid"]) for e in events
            if e.get("cat") == "ac2g" and e["ph"] == "f"}
    late = unlinked = 0
    for event in events:
        if event.get("cat") in GPU:
            start = starts.get(event["args"]["correlation"])
            key = (event["args"]["correlation"], event["pid"], event["tid"])
            unlinked += start is None or key not in ends
            late += start is not None and ns(start["ts"]) > ns(event["ts"])
    check(unlinked == 0, f"{label}: {unlinked} GPU events without their arrows")
    check(late == 0, f"{label}: {late} GPU events before their launch")
    backward = collections.Counter(e["ph"] for e in events if e.get("cat") == "fwdbwd")
    check(backward["s"] == backward["f"] > 0, f"{label}: fwdbwd arrows {backward}")


def check_truth(label, trace_bytes, truth):
    events = json.loads(trace_bytes, parse_float=str)["traceEvents"]
    check(len(trace_bytes) == truth["json_bytes"], f"{label}: json_bytes")
    check(len(events) == truth["events"]["total"], f"{label}: number of events")
    categories = collections.Counter(e.get("cat", "(none)") for e in events)
    check(categories == truth["events"]["by_category"], f"{label}: events by category")
    op_of = check_nesting(label, events)
    check_links(label, events)
    compute, comm, copies = [], [], []
    by_op = collections.Counter()
    for event in events:
        if event.get("cat") not in GPU:
            continue
        interval = (ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]))
        name = event["name"]
        is_comm = "nccl" in name or "rccl" in name
        (copies if event["cat"] == "gpu_memcpy" else comm if is_comm else compute).append(interval)
        by_op[op_of.get(event["args"]["correlation"])] += ns(event["dur"])
    gpu = truth["gpu"]
    everything = compute + comm + copies
    check(covered(compute) == gpu["computation_ns"], f"{label}: computation")
    check(covered(compute + comm) - covered(compute) == gpu["exposed_communication_ns"],
          f"{label}: exposed communication")
    check(covered(everything) == gpu["busy_ns"], f"{label}: busy")
    total = max(end for _, end in everything) - min(begin for begin, _ in everything)
    check(total == gpu["total_ns"] == gpu["busy_ns"] + gpu["idle_ns"], f"{label}: total and idle")
    check(by_op == {op: share["time_ns"] for op, share in truth["by_op"].items()},
          f"{label}: time by op")


def check_options(folder):
    small = ["--layers", "2", "--steps", "2", "--hidden", "512", "--seq", "256"]
    variants = {
        "planted": [],
        "clean": ["--clean"],
        "mi300x": ["--platform", "mi300x"],
        "no_frames": ["--no-python-frames"],
        "alone": ["--world", "1"],
        "compact": ["--indent", "none"],
        "other_seed": ["--seed", "2"],
        "large": ["--target-bytes", "3M"],
    }
    texts = {}
    for label, options in variants.items():
        path = folder / f"{label}.json"
        make(path, *small, *options)
        texts[label] = read(path)
        truth = json.loads((folder / f"{label}.truth.json").read_text())
        check_truth(label, texts[label], truth)
        planted = [one["name"] for one in truth["planted"]]
        expected = 0 if label == "clean" else 3 if label == "alone" else 4
        check(len(planted) == expected, f"{label}: planted {planted}")
        check(all(one["saving_ns"] > 0 for one in truth["planted"]), f"{label}: savings")
    make(folder / "again.json.gz", *small)
    check(read(folder / "again.json.gz") == texts["planted"], "gzip and plain differ")
    check(json.loads(texts["compact"]) == json.loads(texts["planted"]), "compact differs")
    check(b"\n" not in texts["compact"], "compact has line breaks")
    check(texts["other_seed"] != texts["planted"], "the seed changes nothing")
    check(len(texts["large"]) >= 3 << 20, "--target-bytes is not reached")


def check_ranks(folder):
    make(folder / "job", "--ranks", "3", "--layers", "2", "--hidden", "512", "--seq", "256")
    ends = []
    for rank in range(3):
        text = read(folder / "job" / f"rank{rank}.json.gz")
        check_truth(f"rank{rank}", text,
                    json.loads((folder / "job" / f"rank{rank}.truth.json").read_text()))
        trace = json.loads(text, parse_float=str)
        check(trace["distributedInfo"]["rank"] == rank, f"rank{rank}: distributedInfo")
        ends.append([ns(e["ts"]) + ns(e["dur"]) for e in trace["traceEvents"]
                     if e.get("cat") == "kernel" and e["name"].startswith("nccl")])
    check(len(set(map(len, ends))) == 1 and len(ends[0]) > 0, "ranks have the same collectives")
    check(all(max(one) - min(one) < 2000 for one in zip(*ends)), "collectives end together")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder / "bundled.json.gz")
        check(read(folder / "bundled.json.gz") == read(BUNDLED),
              "examples/data/transformer_step.json.gz is not what make_trace writes; run "
              "make_trace --out examples/data/transformer_step.json.gz")
        truth = BUNDLED.with_name("transformer_step.truth.json")
        check((folder / "bundled.truth.json").read_bytes() == truth.read_bytes(),
              "examples/data/transformer_step.truth.json is out of date")
        check_options(folder)
        check_ranks(folder)
        check(subprocess.run([BINARY, "--layers", "0", "--out", "x.json"],
                             stderr=subprocess.DEVNULL).returncode == 2, "bad option accepted")
    print("make_trace:", f"{len(failures)} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
