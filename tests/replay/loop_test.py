#!/usr/bin/env python3
"""The whole loop for each family of operators: a trace, a package, its run on the CPU under
torch.profiler, and that fresh trace read again: the same operators, sizes, types and strides."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import families  # noqa: E402
import replay_support as support  # noqa: E402

# The profiler of torch 1.13 does not record tensor lists.
UNRECORDED = {"aten::cat", "aten::_foreach_add_"}


def check_runs(results, entries):
    assert len(results) == len(entries), (len(results), len(entries))
    for result, entry in zip(results, entries):
        assert result["status"] == "ok", (entry["op_name"], result)
        assert result["median_us"] > 0 and result["min_us"] <= result["median_us"], result
        assert result["verdict"] == "not_comparable", result  # the trace is of a GPU
        assert result["trace_us"] == 10, result
        assert result["notes"] == [], (entry["op_name"], result["notes"])


def check_returns(entries, again):
    returned = [support.signature(entry) for entry in again]
    for entry in entries:
        if entry["op_name"] in UNRECORDED:
            continue
        wanted = support.signature(entry)
        found = [one for one in returned if one[0] == wanted[0]]
        assert wanted in found, f"{wanted} did not come back; there is {found}"


def main():
    support.program.need_binary()
    python = support.torch_python()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace = folder / "trace.json"
        trace.write_text(json.dumps(families.trace_of(families.FAMILIES)))
        _, entries = support.make(trace, folder, op_names=["aten::"])
        assert len(entries) == len(families.FAMILIES), len(entries)
        assert not any(entry.get("needs_runtime_match") for entry in entries)
        ran, results = support.run(folder, "--compare", "--profile", str(folder / "fresh.json"),
                                   python=python)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        check_runs(results, entries)
        names = sorted({entry["op_name"] for entry in entries} - UNRECORDED)
        _, again = support.make(folder / "fresh.json", folder / "again", op_names=names,
                                limit=1000)
        check_returns(entries, again)
        # A trace of a CPU has a CPU's times to compare with.
        ran, results = support.run(folder / "again", "--compare", "--op-filter", "mm",
                                   python=python)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert results and all(r["verdict"] != "not_comparable" for r in results), results
    print(f"{len(entries)} calls of {len(names) + len(UNRECORDED)} operators went round")


if __name__ == "__main__":
    main()
