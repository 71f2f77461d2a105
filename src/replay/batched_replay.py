#!/usr/bin/env python3
"""Runs the operators of a trace one by one, and compares their times with the trace's.

    python3 batched_replay.py replay_ir.json --compare
    python3 batched_replay.py replay_ir.json --device cpu --op-filter convolution --verbose

Needs torch. Exit status: 0 all that can run here ran; 1 an entry failed, or none ran; 2 wrong use."""

import argparse
import contextlib
import copy
import importlib
import json
import signal
import sys

import matching
import substitutes
import torch
import utils
import workloads

ENOUGH = 0.8, 1.25  # replay / trace between these is the same time
HOST_MEMORY_SHARE = 0.4
DEVICE_MEMORY_SHARE = 0.8


class TimedOut(Exception):
    pass


def read_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repro_file", help="replay_ir.json of the package")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda",
                        help="cuda means the GPU, AMD's too; without one: cpu, with a warning")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the arguments")
    parser.add_argument("--stop-on-error", action="store_true")
    parser.add_argument("--op-limit", type=int, metavar="N", help="only the first N that match")
    parser.add_argument("--op-filter", metavar="TEXT", help="only operators with this in the name")
    parser.add_argument("--index", type=int, metavar="N", help="only the Nth entry, from 1")
    parser.add_argument("--list", action="store_true", help="list the entries, run nothing")
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--iters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3.0,
                        help="of measuring an entry at most; long calls get fewer iterations")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S",
                        help="give an entry up after S seconds, between two calls; 0: never")
    parser.add_argument("--flush-l2", action="store_true",
                        help="sweep the GPU's cache before each call: nearer to a workload")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compare", action="store_true", help="hold times against the trace's")
    parser.add_argument("--json", metavar="FILE", help="write all results")
    parser.add_argument("--profile", metavar="FILE",
                        help="also run each entry once under torch.profiler; writes the trace")
    parser.add_argument("--max-bytes", type=float, metavar="N",
                        help="leave out entries whose inputs need more; default: what is free")
    parser.add_argument("--shrink", action="store_true",
                        help="make too large entries smaller instead; not comparable then")
    parser.add_argument("--moe-load", choices=("even", "zipf"), default="even",
                        help="how tokens spread over experts")
    parser.add_argument("--import", dest="modules", action="append", default=[], metavar="MODULE",
                        help="import it first: it registers operators of a package")
    parser.add_argument("--no-substitutes", action="store_true",
                        help="never run other operators or types in place of missing ones")
    options = parser.parse_args(argv)
    options.warmup = max(options.warmup, 0)
    options.iters = max(options.iters, 1)
    return options


def read_entries(path):
    try:
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
    except OSError as error:
        raise SystemExit(f"batched_replay: {path}: {error.strerror}") from None
    except ValueError as error:
        raise SystemExit(f"batched_replay: {path} is no JSON: {error}") from None
    if not isinstance(entries, list) or not all(
            isinstance(entry, dict) and isinstance(entry.get("op_name"), str)
            and isinstance(entry.get("replay_ir"), dict) for entry in entries):
        raise SystemExit(f"batched_replay: {path} is no replay_ir.json: a list of entries, each "
                         "with op_name and replay_ir")
    return entries


def chosen(entries, options):
    """(number from 1, entry) of those that the options ask for."""
    rows = [(number, entry) for number, entry in enumerate(entries, 1)
            if (options.op_filter or "").lower() in entry["op_name"].lower()
            and options.index in (None, number)]
    return rows if options.op_limit is None else rows[:max(options.op_limit, 0)]


def import_modules(names):
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a package does when it is imported
            raise SystemExit(f"batched_replay: cannot import {name}: {error}") from None


def choose_device(wanted):
    if wanted == "cuda" and not torch.cuda.is_available():
        print("warning: this torch sees no GPU; running on the CPU", file=sys.stderr)
        return "cpu"
    return wanted


def device_name(device):
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def memory_limit(options, device):
    if options.max_bytes:
        return int(options.max_bytes)
    if device == "cuda":
        return int(torch.cuda.mem_get_info()[0] * DEVICE_MEMORY_SHARE)
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable"):
                    return int(int(line.split()[1]) * 1024 * HOST_MEMORY_SHARE)
    except OSError:
        pass
    return 4 << 30


# Sizes

def arguments_of(entry):
    return entry["replay_ir"]["list_pos_args"] + entry["replay_ir"]["list_kwargs"]


def tensors_of(entry):
    return [config for arg in arguments_of(entry) for config in utils.tensors_of(arg["value"])]


def input_bytes(entry):
    total = 0
    for config in tensors_of(entry):
        strides = utils.strides_of(config)
        # Types that this torch lacks are counted as small ones; they are refused later.
        attribute = utils.DTYPES.get(config["dtype"], "")
        dtype = getattr(torch, attribute, None)
        width = 1 if dtype is None else torch.empty((), dtype=dtype).element_size()
        total += utils.storage_elements(config["shape"], strides)[0] * width
    return total


def dense_strides(shape, old):
    """Strides of a smaller tensor with the old one's order of dimensions and its zeros."""
    strides, step = [0] * len(shape), 1
    for place in sorted(range(len(shape)), key=lambda p: (old[p], -p)):
        if old[place] != 0:
            strides[place] = step
            step *= max(shape[place], 1)
    return strides


def halve(entry, size):
    """Every `size` in the entry becomes half of it, wherever it stands, so that what fitted
    together still does."""
    half = size // 2
    for config in tensors_of(entry):
        if size in config["shape"]:
            old = utils.strides_of(config)
            config["shape"] = [half if one == size else one for one in config["shape"]]
            config["strides"] = dense_strides(config["shape"], old)
        if config.get("high") == size:
            config["high"] = half
    for arg in arguments_of(entry):
        value = arg["value"]
        if isinstance(value, list) and value and all(type(one) is int for one in value):
            arg["value"] = [half if one == size else one for one in value]
        elif type(value) is int and value == size and arg["arg_type"].startswith(("int", "SymInt")):
            arg["value"] = half


def size_to_halve(entry):
    """The first dimension of the largest tensor, which most operators only repeat over; where that
    is 1, the largest size."""
    def elements(config):
        strides = utils.strides_of(config)
        return utils.storage_elements(config["shape"], strides)[0]
    largest = max((config for config in tensors_of(entry)), key=elements, default=None)
    if largest is None:
        return 1
    return largest["shape"][0] if largest["shape"][0] > 1 else max(largest["shape"])


def shrink(entry, limit):
    """-> the entry made small enough."""
    entry = copy.deepcopy(entry)
    while input_bytes(entry) > limit:
        size = size_to_halve(entry)
        if size < 2:
            break
        halve(entry, size)
    return entry


# One entry

class Runner:
    def __init__(self, options, device):
        self.options = options
        self.device = device
        self.limit = memory_limit(options, device)
        # On a GPU another operator's time is not asked for.
        self.may_substitute = device == "cpu" and not options.no_substitutes

    def prepare(self, entry):
        """-> (call, notes), where the call has been made once without an error."""
        notes = []
        utils.check_name(entry["op_name"])
        if entry.get("needs_runtime_match"):
            entry = matching.match_entry(entry)
        if input_bytes(entry) > self.limit:
            if not self.options.shrink:
                raise utils.TooLarge(f"its inputs need {input_bytes(entry) / 1e9:.2f} GB, the limit "
                                     f"is {self.limit / 1e9:.2f} GB (--max-bytes, --shrink)")
            notes.append("sizes were reduced to fit memory")
            try:
                return self.first_call(shrink(entry, self.limit), notes)
            except (RuntimeError, TypeError) as error:
                raise utils.TooLarge("too large for the memory here, and its sizes do not fit each "
                                     f"other when reduced: {first_line(error)}") from error
        return self.first_call(entry, notes)

    def first_call(self, entry, notes):
        casts = [{}]
        if self.may_substitute:
            casts += [{"float16": torch.float32, "bfloat16": torch.float32},
                      {name: torch.float32 for name in utils.DTYPES.values() if "float" in name
                       and name != "float64"} | {"uint16": torch.int32, "uint32": torch.int64,
                                                 "uint64": torch.int64}]
        last = None
        for cast in casts:
            for make in self.makers():
                try:
                    call = make(entry, cast, notes)
                    if call is None:
                        continue
                    call()
                    utils.synchronize(self.device)
                    more = ["ran in float32: no kernel for the type here"] if cast else []
                    return call, notes + more + self.told
                except utils.TooLarge:
                    raise
                except (RuntimeError, NotImplementedError, utils.Unreplayable, TypeError) as error:
                    last = last or error
                    if "memory" in str(error).lower() and "alloc" in str(error).lower():
                        raise utils.TooLarge(first_line(error)) from error
        raise self.judged(last)

    def makers(self):
        yield self.make_call
        if self.may_substitute:
            yield self.make_substitute

    def values(self, entry, cast):
        builder = utils.Builder(self.device, self.options.seed, cast)
        positional, keywords = builder.call(entry)
        entry = {**entry, "context": {**(entry.get("context") or {}),
                                      "moe_load": self.options.moe_load}}
        word = workloads.adjust(entry, {**positional, **keywords}, builder.generator)
        self.told = [] if word is None else [word]
        return positional, keywords

    def make_call(self, entry, cast, notes):
        operator = self.operator(entry)
        positional, keywords = self.values(entry, cast)
        args, named, dropped = utils.call_arguments(operator._schema, positional, keywords)
        if dropped:
            self.told.append(f"this torch does not know {', '.join(dropped)}")
        return lambda: operator(*args, **named)

    @staticmethod
    def operator(entry):
        packet = utils.packet_of(entry["op_name"])
        try:
            if "resolved_overload" not in entry:
                raise utils.Unreplayable(f"no overload of {entry['op_name']} has these arguments")
            return utils.overload_of(packet, entry["resolved_overload"])
        except utils.Unreplayable:
            # An entry of another program names no overload, that of another torch may be gone: the
            # first with these arguments.
            names = {arg["arg_name"] for arg in arguments_of(entry)}
            for name in packet.overloads():
                operator = getattr(packet, name)
                if names <= {arg.name for arg in operator._schema.arguments}:
                    return operator
            raise

    def make_substitute(self, entry, cast, notes):
        positional, keywords = self.values(entry, cast)
        call = substitutes.substitute_for(entry["op_name"], {**positional, **keywords})
        if call is not None:
            self.told.append("ran as the same mathematics of other operators")
        return call

    def judged(self, error):
        """What cannot run here for a reason that can be named is refused; the rest is an error."""
        if isinstance(error, utils.Unreplayable):
            return error
        text = str(error)
        for mark in ("not implemented for", "Could not run", "is not available", "not supported",
                     "not compiled with", "ATen not compiled"):
            if mark in text:
                return utils.Unreplayable(f"torch {torch.__version__} has no kernel for it on "
                                          f"{self.device}: {first_line(error)}")
        return error

    def run(self, entry):
        """-> the result of an entry: status, times, notes."""
        call, notes = self.prepare(entry)
        result = {"status": "ok", "notes": notes}
        times = utils.benchmark(call, self.device, self.options.warmup, self.options.iters,
                                self.options.seconds, self.options.flush_l2)
        result.update({key: round(value, 3) if isinstance(value, float) else value
                       for key, value in times.items()})
        return result


def first_line(error):
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


@contextlib.contextmanager
def time_limit(seconds):
    if seconds <= 0 or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_number, _frame):
        raise TimedOut(f"took longer than {seconds:g} s")
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def guarded(runner, entry, seconds):
    try:
        with time_limit(seconds), torch.no_grad():
            return runner.run(entry)
    except TimedOut as error:
        return {"status": "timeout", "reason": str(error)}
    except utils.Unreplayable as error:
        return {"status": "refused", "reason": str(error)}
    except Exception as error:  # one bad entry must not cost the others
        return {"status": "error", "reason": f"{type(error).__name__}: {first_line(error)}"}
    finally:
        if runner.device == "cuda":
            torch.cuda.empty_cache()


# Comparison

def verdict_of(ratio, entry, result, device):
    """What a ratio of replay to trace says, if it says anything."""
    reference = entry.get("reference") or {}
    if result.get("notes") and any(note.startswith(("ran ", "sizes ")) for note in result["notes"]):
        return "not_comparable"
    if reference.get("device", "gpu") != ("gpu" if device == "cuda" else "cpu"):
        return "not_comparable"
    if ratio < ENOUGH[0]:
        return "slower_in_workload"
    return "reproduced" if ratio <= ENOUGH[1] else "not_reproduced"


def compare(entry, result, device):
    reference = entry.get("reference") or {}
    trace_us = reference.get("mean_us")
    if result["status"] != "ok" or not trace_us:
        return
    result["trace_us"] = trace_us
    result["ratio"] = round(utils.best_time(result) / trace_us, 3)
    result["verdict"] = verdict_of(result["ratio"], entry, result, device)
    arch = reference.get("arch")
    if result["verdict"] != "not_comparable" and device == "cuda" and arch and \
            arch != device_name(device):
        result["notes"] = result["notes"] + [f"the trace is from {arch}, this is "
                                             f"{device_name(device)}"]


# Printing

def shown(text):
    """Text of a trace on one line, without what a terminal obeys."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def value_text(value):
    if isinstance(value, dict):
        strides = value.get("strides")
        return f"{value['dtype']}{value['shape']}" + (f" strides {strides}" if strides else "")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[" + ", ".join(value_text(one) for one in value) + "]"
    return json.dumps(value)


def print_arguments(entry):
    for arg in arguments_of(entry):
        print(shown(f"    {arg['arg_name']} ({arg['arg_type']}): {value_text(arg['value'])}"))


def print_result(entry, result):
    if result["status"] != "ok":
        print(f"  {result['status']}: {shown(result['reason'])}")
        return
    best = utils.best_time(result)
    print(f"  Average time taken: {result['mean_us']:.2f} microseconds")
    print(f"  median {result['median_us']:.2f}, std {result['std_us']:.2f}, min "
          f"{result['min_us']:.2f}, max {result['max_us']:.2f} over {result['iterations']} calls")
    if "batched_us" in result:
        print(f"  many calls in a row: {result['batched_us']:.2f} each"
              + (", launch bound" if result["launch_bound"] else ""))
    count = entry.get("count")
    if count:
        print(f"  Count in workload: {count}")
        print(f"  Est time in workload: {best * count:.2f} microseconds")
    if "verdict" in result:
        print(f"  Trace: {result['trace_us']:.2f} microseconds, replay/trace {result['ratio']:.2f}: "
              f"{result['verdict']}")
    for note in result["notes"]:
        print(f"  note: {shown(note)}")


def print_list(rows):
    for number, entry in rows:
        reference = entry.get("reference") or {}
        shapes = " ".join(str(config["shape"]) for config in tensors_of(entry))
        print(shown(f"{number:4d}  {entry['op_name']}  x{entry.get('count', 1)}  "
                    f"{reference.get('mean_us', '-')} us  {shapes}"))


def print_summary(results, total, options):
    def number(*states):
        return sum(result["status"] in states for result in results)
    print("\n--- Replay Summary ---")
    print(f"Entries in file: {total}")
    print(f"Filter: {options.op_filter or 'none'}")
    print(f"Attempted: {len(results)}")
    print(f"Successful: {number('ok')}")
    print(f"Refused (cannot run here): {number('refused')}")
    print(f"Errors: {number('error', 'timeout')}")
    verdicts = [result["verdict"] for result in results if "verdict" in result]
    for verdict in sorted(set(verdicts)):
        print(f"  {verdict}: {verdicts.count(verdict)}")


# A trace of the replay

def nodes_of(tree):
    """The profiled operators, in the order of their start."""
    nodes, found = list(tree), []
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        if hasattr(node.extra_fields, "inputs"):
            found.append(node)
    return sorted(found, key=lambda node: (node.start_time_ns, -node.duration_time_ns))


def recorded(node):
    inputs = node.extra_fields.inputs
    return {"Input Dims": [list(sizes) for sizes in inputs.shapes],
            "Input type": list(inputs.dtypes),
            "Input Strides": [list(steps) for steps in inputs.strides],
            "Concrete Inputs": ["" if value is None or torch.is_tensor(value) else str(value)
                                for value in inputs.ivalues]}


def with_arguments(trace, tree):
    """Profilers of some releases know strides and scalars but do not write them, and a torch without
    Kineto writes names only. -> the trace with all that the profiler knows."""
    events = trace if isinstance(trace, list) else trace.get("traceEvents", [])
    ops = sorted((event for event in events if event.get("cat") == "cpu_op"),
                 key=lambda event: (event["ts"], -event.get("dur", 0)))
    nodes = nodes_of(tree)
    if not all(hasattr(node.extra_fields.inputs, "ivalues") for node in nodes):
        return trace
    if not ops:
        return {"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": node.name, "pid": 1, "tid": node.start_tid,
             "ts": node.start_time_ns / 1000, "dur": node.duration_time_ns / 1000,
             "args": recorded(node)} for node in nodes]}
    if [event["name"] for event in ops] == [node.name for node in nodes]:
        for event, node in zip(ops, nodes):
            event["args"] = {**recorded(node), **event.get("args", {})}
    return trace


def write_profile(calls, path, device):
    """Runs every call once and writes a trace that shows arguments as a workload's trace does."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        with torch.no_grad():
            for call in calls:
                call()
        utils.synchronize(device)
    profiler.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    results = getattr(profiler.profiler, "kineto_results", None)
    if results is not None and hasattr(results, "experimental_event_tree"):
        trace = with_arguments(trace, results.experimental_event_tree())
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


def profile_entries(rows, options, device):
    runner, calls = Runner(options, device), []
    for _number, entry in rows:
        with contextlib.suppress(Exception), torch.no_grad():
            calls.append(runner.prepare(entry)[0])
    write_profile(calls, options.profile, device)


def run_all(rows, total, options, device):
    runner, results = Runner(options, device), []
    for number, entry in rows:
        print(shown(f"{number}/{total} {entry['op_name']}"))
        if options.verbose:
            print_arguments(entry)
        result = {"index": number, "op_name": entry["op_name"],
                  **guarded(runner, entry, options.timeout)}
        if options.compare:
            compare(entry, result, device)
        results.append(result)
        print_result(entry, result)
        sys.stdout.flush()
        if options.stop_on_error and result["status"] in ("error", "timeout"):
            break
    return results


def main(argv=None):
    options = read_arguments(argv)
    entries = read_entries(options.repro_file)
    rows = chosen(entries, options)
    if options.list:
        print_list(rows)
        return 0
    import_modules(options.modules)
    device = choose_device(options.device)
    results = run_all(rows, len(entries), options, device)
    print_summary(results, len(entries), options)
    if options.profile:
        profile_entries(rows, options, device)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "device": device_name(device),
                       "results": results}, file, indent=1)
    failed = any(result["status"] in ("error", "timeout") for result in results)
    return 1 if failed or (results and not any(r["status"] == "ok" for r in results)) else 0


if __name__ == "__main__":
    sys.exit(main())
