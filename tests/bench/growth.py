"""How the cost of every tool grows with each dimension of its input.

    growth.py JARVIS [--kinds K...] [--calls C...] [--sizes N...] [--limit S] [--all]

Makes traces of each kind of hostile_shapes.py at growing sizes, runs every call on each in a fresh process
(loading included), and prints processor seconds, peak memory, and the exponent of the last step, from times
less those of an almost empty trace. Without --all only rows beyond a mark: an exponent of 1.15, 5 s, or
200 MB and 20 times the text. Times are processor times, as neighbours change clocks. Standard library only."""

import argparse
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

import hostile_shapes

EXPONENT, SECONDS, MEMORY_BASE, MEMORY_FACTOR = 1.15, 5.0, 200e6, 20
# Below this many seconds an exponent says more about the machine than about the program.
SMALL = 0.25
TINY = 4


def one(tool, **arguments):
    return lambda trace, out: ["call", tool, json.dumps({"trace": trace, **arguments})]


def into(tool, **arguments):
    return lambda trace, out: ["call", tool, json.dumps({"trace": trace, "output_dir": out, **arguments})]


def two(tool, **arguments):
    return lambda trace, out: ["call", tool, json.dumps({"candidate": trace, "baseline": other_of(trace),
                                                         **arguments})]


def other_of(trace):
    """The same trace under another name, so that it is loaded as a second one."""
    return trace.replace(".json", ".second.json")


ALL_TABLES = {"include_unlinked_kernels": True, "detect_recompute": True, "pseudo_ops": True,
              "group_by_num_kernels": True, "include_first_occurrence_time": True, "include_overlap_info": True,
              "include_call_stack": True, "coll_analysis": True, "kernel_summary": True, "short_kernel_study": True}
CALLS = {
    "load_trace": one("load_trace"),
    "workload": one("workload"),
    "gpu_timeline": one("gpu_timeline"),
    "critical_path": one("critical_path"),
    "critical_path time": one("critical_path", by="time"),
    "what_if": one("what_if", changes=[{"kernel": "k", "factor": 2}]),
    "ops_summary": one("ops_summary"),
    "ops_summary module": one("ops_summary", by="module"),
    "ops_summary kernel": one("ops_summary", by="kernel"),
    "ops_summary phase": one("ops_summary", by="phase"),
    "parent_chain op1": one("parent_chain", row="op1"),
    "parent_chain subtree": one("parent_chain", row="op1", mode="subtree"),
    "parent_chain k1": one("parent_chain", row="k1"),
    "gemm_roofline op1": one("gemm_roofline", row="op1"),
    "category_filter": into("category_filter"),
    "category_analysis gemm": one("category_analysis", category="gemm"),
    "category_analysis other": one("category_analysis", category="other"),
    "idle_gaps cause": one("idle_gaps", by="cause"),
    "idle_gaps gap": one("idle_gaps", by="gap"),
    "host_summary": one("host_summary"),
    "host_summary python": one("host_summary", by="python"),
    "fusion_candidates": one("fusion_candidates"),
    "prioritize": one("prioritize"),
    "compare": two("compare"),
    "compare kernel": two("compare", by="kernel"),
    "perf_report": into("perf_report"),
    "perf_report all": into("perf_report", **ALL_TABLES),
    "perf_report modules": into("perf_report", group_by_parent_module=True),
    "perf_report compat": into("perf_report", compat="tracelens"),
    "trace_diff": two("trace_diff"),
    "trace_diff role": two("trace_diff", by="role"),
    "trace_diff compat": two("trace_diff", compat="tracelens"),
    "make_replay": into("make_replay", rows=["op1"]),
    "collectives": lambda trace, out: ["call", "collectives", json.dumps({"traces": [trace], "output_dir": out})],
    "digest": lambda trace, out: ["call", "digest", json.dumps({"traces": [trace], "output_dir": out})],
    "query": one("query", sql="SELECT name, count(*), sum(dur_ns) FROM host_calls GROUP BY name ORDER BY 3 DESC"),
    "query joined": one("query", sql="SELECT c.name, sum(w.dur_ns) FROM host_calls c JOIN gpu_work w ON w.start_ns BETWEEN "
                                     "c.start_ns AND c.start_ns + 10000 GROUP BY c.name ORDER BY 2 DESC"),
    "split": into("split"),
    "perfetto": into("perfetto"),
    "export": lambda trace, out: ["export", trace, "--sqlite", out + ".db"],
    "merge_ranks": lambda trace, out: ["call", "merge_ranks", json.dumps({"traces": [trace], "output_dir": out})],
    "analyze": lambda trace, out: ["analyze", trace, "--output-dir", out],
    "analyze compare": lambda trace, out: ["analyze", trace, "--compare", other_of(trace), "--output-dir", out],
}


class Cost:
    def __init__(self, seconds, memory, status):
        self.seconds, self.memory, self.status = seconds, memory, status


def run(command, limit):
    """Processor seconds and peak memory of a fresh process, which is ended after the limit."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, status)


def ended_early(cost):
    return os.WIFSIGNALED(cost.status) and os.WTERMSIG(cost.status) in (signal.SIGXCPU, signal.SIGKILL)


def write_pair(name, n, folder):
    path = os.path.join(folder, "%s_%d.json" % (name, n))
    hostile_shapes.write(name, n, path)
    hostile_shapes.write(name, max(1, n - 1), other_of(path))
    return path


def exponent(costs, sizes, start):
    if len(costs) < 2 or costs[-1].seconds < SMALL or ended_early(costs[-1]):
        return None
    last, before = (max(cost.seconds - start, 0.002) for cost in (costs[-1], costs[-2]))
    return math.log(last / before) / math.log(sizes[len(costs) - 1] / sizes[len(costs) - 2])


def marks(costs, texts, slope):
    """What is beyond its mark, in words."""
    found = []
    if slope is not None and slope > EXPONENT:
        found.append("exponent")
    if costs[-1].seconds > SECONDS or ended_early(costs[-1]):
        found.append("time")
    if any(cost.memory > MEMORY_BASE + MEMORY_FACTOR * text for cost, text in zip(costs, texts)):
        found.append("memory")
    if any(os.WIFSIGNALED(cost.status) and not ended_early(cost) for cost in costs):
        found.append("CRASH")
    return found


def measure(jarvis, call, traces, folder, limit):
    """The costs at each size, up to the first that does not end within the limit."""
    costs = []
    for index, trace in enumerate(traces):
        out = os.path.join(folder, "out_%s_%d" % (call.replace(" ", "_"), index))
        costs.append(run([jarvis] + CALLS[call](trace, out), limit))
        subprocess.run(["rm", "-rf", out, out + ".db"], check=True)
        if ended_early(costs[-1]):
            break
    return costs


def row(name, call, sizes, costs, slope, found):
    times = " ".join("%d:%s" % (n, "> limit" if ended_early(cost) else "%.2fs" % cost.seconds)
                     for n, cost in zip(sizes, costs))
    shown = "-" if slope is None else "%.2f" % slope
    memory = max(cost.memory for cost in costs) / 1e6
    return "| %s | %s | %s | %s | %.0f MB | %s |" % (name, call, times, shown, memory, ", ".join(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jarvis", type=pathlib.Path)
    parser.add_argument("--kinds", nargs="*", default=list(hostile_shapes.KINDS))
    parser.add_argument("--calls", nargs="*", default=list(CALLS))
    parser.add_argument("--sizes", nargs="*", type=int, default=[2000, 8000, 32000])
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    jarvis = str(options.jarvis.resolve())
    print("| kind | call | processor seconds | exponent | peak memory | beyond |\n|---|---|---|---|---|---|")
    began, beyond, pairs = time.monotonic(), 0, 0
    for name in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            traces = [write_pair(name, n, folder) for n in [TINY] + options.sizes]
            texts = [os.path.getsize(trace) for trace in traces[1:]]
            for call in options.calls:
                costs = measure(jarvis, call, traces, folder, options.limit)
                slope = exponent(costs[1:], options.sizes, costs[0].seconds)
                found = marks(costs[1:], texts, slope)
                pairs += 1
                beyond += bool(found)
                if found or options.all:
                    print(row(name, call, options.sizes, costs[1:], slope, found), flush=True)
    print("%d of %d pairs are beyond a mark; %.0f s" % (beyond, pairs, time.monotonic() - began))


if __name__ == "__main__":
    main()
