#!/usr/bin/env python3
"""The books of every recording add up, agree with each other and with what was worked out apart.

ledger_test.py [--all] [--mutations N]   --all: every recording of the test data, its parts and N
random mutations of each (the nightly run); without it a sample.
"""
import argparse
import csv
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import program

SAMPLE = ["async-flows-v100/trace.json.gz", "norm-layers/trace.json.gz", "simple-add/trace.json.gz",
          "qwen1.5-0.5b-mi300x/trace.json.gz", "vllm-decode-mi300x/trace.json.gz",
          "mi250-minitoy/trace.json.gz", "gpu-only-mi210/trace.json.gz", "cpu-only/trace.json.gz",
          "switch-moe-a100/trace.json.gz", "resnet18-rtx2080/trace.json.gz"]
OPTIONS = argparse.Namespace(all=False, mutations=6)
# What figures of the base may differ by from those that were worked out apart, each with its reason.
OTHERWISE = {
    "simple-add": "a library's set-up inside an op is a first call, of which a warm pass has none",
}


def books(trace, folder):
    """{book: {line: row}}, base; None: the recording cannot be analysed."""
    out = pathlib.Path(folder, "out")
    ran = subprocess.run([program.BINARY, "analyze", trace, "--output", out, "--overwrite"],
                         capture_output=True, text=True, timeout=300)
    if ran.returncode < 0:
        raise AssertionError(f"{trace}: died of signal {-ran.returncode}: {ran.stderr[-300:]}")
    if not (out / "ledger_base.json").exists():
        return None, ran.stderr
    base = json.loads((out / "ledger_base.json").read_text())
    rows = list(csv.DictReader((out / "ledger.csv").read_text().splitlines()))
    found = {"wall": {}, "gpu": {}, "host": {}}
    for row in rows:
        found[row["book"]][row["line"]] = row
    (out / "ledger_base.json").unlink()
    return found, base


def total(book, column="ns"):
    return sum(int(row[column]) for row in book.values())


class Ledger(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if not (program.DATA / "traces").is_dir():
            self.skipTest("no test data")

    def traces(self):
        if OPTIONS.all:
            traces = sorted(program.DATA.glob("traces/*/*.json*")) + \
                sorted(program.DATA.glob("traces/pairs/*/*.json*")) + \
                sorted(program.DATA.glob("cases/reported/*.json*"))
            return [path for path in traces if path.name != "generator.json"]
        return [program.DATA / "traces" / name for name in SAMPLE]

    def check(self, found, base):
        self.assertEqual(total(found["wall"]), base["ns"])
        self.assertLessEqual(base["gpu_busy_ns"], base["ns"])
        self.assertLessEqual(base["unit_ns"] * base["count"], base["ns"])
        self.assertLessEqual(base["host_alone_ns"], base["recording_ns"])
        work = {line: row for line, row in found["wall"].items()
                if row["kind"] not in ("idle", "unrecorded")}
        self.assertEqual(total(work), base["gpu_busy_ns"])
        for row in found["gpu"].values():
            self.assertLessEqual(int(row["exposed_ns"]), int(row["ns"]))
        self.assertLessEqual(total(found["gpu"], "exposed_ns"), base["gpu_busy_ns"])
        self.assertGreaterEqual(total(found["gpu"]), base["gpu_busy_ns"])
        apart = 0 if base["one_time_in_base"] else base["one_time_ns"]
        parts = base["ns"] + apart + base["unrecorded_ns"] + base["left_out_ns"]
        # Work of before may lie in a unit that is left out: then parts overlap.
        self.assertGreaterEqual(parts, base["recording_ns"])
        for row in found["wall"].values():
            if row["bound_ms"]:
                bound = float(row["bound_ms"]) * base["count"] * 1e6
                self.assertLessEqual(bound, int(row["ns"]) * 1.001 + 1000, row)
            elif row["kind"] != "unrecorded":
                self.assertEqual(row["basis"], "not assessed", row)

    def test_books_add_up(self):
        for trace in self.traces():
            with self.subTest(trace=str(trace)):
                found, base = books(trace, self.folder)
                if found is not None:
                    self.check(found, base)
                elif OPTIONS.all:
                    print(f"{trace}: {base.strip()[:100]}")
                else:
                    self.fail(base)

    def test_one_figure_for_one_thing(self):
        for trace in self.traces()[:None if OPTIONS.all else 4]:
            with self.subTest(trace=str(trace)):
                found, base = books(trace, self.folder)
                if found is None or not found["gpu"]:
                    continue
                step = json.loads(program.call("gpu_timeline", trace=str(trace)).stdout)["step"]
                self.assertEqual(step["unit"], base["unit"])
                self.assertEqual(step["units"], base["count"])
                self.assertAlmostEqual(step["unit_ms"], base["unit_ns"] / 1e6,
                                       delta=base["unit_ns"] / 1e6 * 1e-3)
                loaded = json.loads(program.call("load_trace", trace=str(trace)).stdout)["step"]
                self.assertEqual(loaded["bound"], step["bound"])
                kinds = json.loads(program.call("ops_summary", trace=str(trace), by="kind",
                                                limit=50).stdout)
                place = kinds["columns"].index("gpu_ms")
                told = sum(row[place] for row in kinds["rows"]) * base["count"]
                self.assertAlmostEqual(told, total(found["gpu"]) / 1e6,
                                       delta=0.002 * total(found["gpu"]) / 1e6 + 0.001)
                asked = program.call("query", trace=str(trace),
                                     sql="SELECT sum(ns) FROM ledger WHERE book = 'wall'")
                self.assertEqual(json.loads(asked.stdout)["rows"][0][0], base["ns"])

    def test_base_agrees_with_what_was_worked_out_apart(self):
        expected = program.DATA / "expected" / "ledger"
        if not expected.is_dir():
            self.skipTest("no expected books")
        for path in sorted(expected.glob("*.json")):
            want = json.loads(path.read_text())
            trace = program.DATA / want["trace"]
            if trace not in self.traces() or path.stem in OTHERWISE:
                continue
            with self.subTest(trace=path.stem):
                found, base = books(trace, self.folder)
                self.assertEqual(base["count"], want["count"])
                for key in ("ns", "gpu_busy_ns", "recording_ns"):
                    self.assertAlmostEqual(base[key], want[key], delta=0.03 * want[key] + 1000, msg=key)
                for key in ("one_time_ns", "unrecorded_ns", "left_out_ns", "host_alone_ns"):
                    self.assertAlmostEqual(base[key], want[key], delta=0.03 * want["recording_ns"],
                                           msg=key)

    def changed(self, trace, change):
        raw = trace.read_bytes()
        document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        change(document)
        path = self.folder / "changed.json"
        path.write_text(json.dumps(document))
        return books(path, self.folder)

    def test_times_stretched(self):
        """All times by 1.7: the same units and shares, figures by 1.7."""
        def stretch(document):
            for event in document["traceEvents"]:
                for key in ("ts", "dur"):
                    if isinstance(event.get(key), (int, float)):
                        event[key] = round(event[key] * 1.7, 3)
        for trace in self.traces()[1:None if OPTIONS.all else 6]:
            with self.subTest(trace=str(trace)):
                _, before = books(trace, self.folder)
                found, after = self.changed(trace, stretch)
                if found is None or trace.parent.name in OTHERWISE:
                    continue
                self.check(found, after)
                self.assertEqual((after["unit"], after["count"], after["kept"]),
                                 (before["unit"], before["count"], before["kept"]))
                for key in ("ns", "gpu_busy_ns"):
                    self.assertAlmostEqual(after[key], 1.7 * before[key], delta=0.05 * after[key] + 5000)

    def test_what_is_unrelated_changes_nothing(self):
        """Threads renamed, an idle thread of another process added: the same books."""
        def disturb(document):
            names = {}
            for event in document["traceEvents"]:
                if event.get("cat") == "kernel" or not isinstance(event.get("tid"), int):
                    continue
                if event.get("cat") in ("cpu_op", "cuda_runtime", "cuda_driver", "user_annotation",
                                        "python_function"):
                    event["tid"] = names.setdefault(event["tid"], 90001 + len(names))
            document["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": "idle", "pid": 4242,
                                            "tid": 4242, "ts": document["traceEvents"][-1].get("ts", 0),
                                            "dur": 1})
        for trace in self.traces()[1:None if OPTIONS.all else 4]:
            with self.subTest(trace=str(trace)):
                before, base = books(trace, self.folder)
                found, after = self.changed(trace, disturb)
                if found is None:
                    continue
                for key in ("unit", "count", "ns", "gpu_busy_ns", "one_time_ns"):
                    self.assertEqual(after[key], base[key], key)
                self.assertEqual({line: row["ns"] for line, row in found["wall"].items()},
                                 {line: row["ns"] for line, row in before["wall"].items()})

    def test_random_mutations(self):
        """Events taken out, moved, made long, renamed: the books add up over what is left."""
        for trace in self.traces()[2:None if OPTIONS.all else 6]:
            for seed in range(OPTIONS.mutations):
                chance = random.Random(f"{trace.name}{trace.parent.name}{seed}")

                def mutate(document):
                    events = document["traceEvents"]
                    for _ in range(max(1, len(events) // 50)):
                        event = events[chance.randrange(len(events))]
                        kind = chance.randrange(6)
                        if kind == 0:
                            event["ts"] = float(event.get("ts") or 0) + chance.uniform(-1e4, 1e4)
                        elif kind == 1:
                            event["dur"] = chance.uniform(0, 1e5)
                        elif kind == 2:
                            event.pop("args", None)
                        elif kind == 3:
                            event["cat"] = chance.choice(["kernel", "cpu_op", "cuda_runtime", "x"])
                        elif kind == 4:
                            event["tid"] = chance.randrange(5)
                        else:
                            event["name"] = chance.choice(["cudaDeviceSynchronize", "ProfilerStep#3",
                                                           "nn.Module: A_0", ""])
                    lo = chance.randrange(len(events))
                    del events[lo:lo + chance.randrange(len(events) // 4 + 1)]

                with self.subTest(trace=str(trace), seed=seed):
                    found, base = self.changed(trace, mutate)
                    if found is not None:
                        self.check(found, base)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--mutations", type=int, default=6)
    OPTIONS, left = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *left])
