#!/usr/bin/env python3
"""Every kind of damage that bug reports show, on three traces: what the reader owes its user.

    error    exit status 1, one clear message
    partial  an answer that says it is partial and how much was read
    same     the numbers of the undamaged trace, table by table
    flagged  an answer with a quality row that names the damage, and the numbers stated in FLAGGED
"""

import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

GPU = ("kernel", "gpu_memcpy", "gpu_memset")

# kind: (quality code, GPU events that are left out, what becomes of the busy time)
#   same      as undamaged        without   the strange event's own time may be missing
#   clipped   as computed here from the damaged file: durations that run past a whole later event
#             of their stream end at its start
FLAGGED = {
    "bad_utf8": ("bad_utf8", 0, "same"),
    "control_character": ("control_character", 0, "same"),
    "null_name": ("no_name", 0, "same"),
    "duplicate_events": ("duplicate_event", 0, "same"),
    "no_runtime": (("linked_by_external_id", "unlinked_gpu_work"), 0, "same"),
    "negative_duration": ("negative_duration", 1, "without"),
    "zero_timestamp": ("zero_timestamp", 1, "without"),
    "no_duration": ("no_duration", 1, "without"),
    "one_corrupt_duration": ("overlap_on_stream", 0, "clipped"),
    "overlapping_kernels": ("overlap_on_stream", 0, "clipped"),
}
ERRORS = {
    "empty_file": "empty",
    "not_json": "web page",
    "no_events": "traceEvents is empty",
    "no_trace_events_key": "traceEvents",
    "deep_nesting": "traceEvents",
}
# The compatible mode links by arrows alone; some traces have them all at their end.
NOTHING_LINKED = ("no_flow", "no_runtime", "truncated_middle", "truncated_gzip")
# Columns that name a place in the file, not an amount.
PLACES = {"ex_UID"}


def read_events(path):
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document = json.loads(raw)
    return document if isinstance(document, list) else document["traceEvents"]


def clipped_busy_ms(events):
    """Union of all GPU intervals after clipping, from the file alone."""
    streams = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in GPU:
            start = round(event["ts"] * 1000)
            streams.setdefault((event["pid"], event["tid"]), []).append(
                [start, start + round(event["dur"] * 1000)])
    intervals = []
    for stream in streams.values():
        stream.sort(key=lambda interval: interval[0])
        for i in range(len(stream) - 2, -1, -1):
            start, later = stream[i][0], stream[i + 1]
            if later[1] > later[0] > start and stream[i][1] > later[1] + 1000:
                stream[i][1] = later[0]
        intervals += stream
    busy, end = 0, -math.inf
    for start, stop in sorted(intervals):
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    return busy / 1e6


def table(directory, name):
    with open(directory / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def close(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)
    except ValueError:
        return a == b


def numbers_of(rows, keys):
    """Rows by their text keys: equal times may stand in another order."""
    found = {}
    for row in rows:
        found[tuple(row[key] for key in keys)] = row
    return found


class Damage(unittest.TestCase):
    maxDiff = None

    def same_rows(self, wanted, got, keys):
        wanted, got = numbers_of(wanted, keys), numbers_of(got, keys)
        self.assertEqual(wanted.keys(), got.keys())
        for key, row in wanted.items():
            for column, value in row.items():
                if column not in PLACES and "Cumulative" not in column:
                    self.assertTrue(close(value, got[key][column]),
                                    f"{key} {column}: {value} became {got[key][column]}")

    def same_report(self, wanted, got, with_ops=True):
        self.same_rows(table(wanted, "gpu_timeline"), table(got, "gpu_timeline"), ["type"])
        if with_ops:
            self.same_rows(table(wanted, "ops_summary"), table(got, "ops_summary"), ["name"])
            self.same_rows(table(wanted, "kernel_summary"), table(got, "kernel_summary"),
                           ["Parent op category", "Parent cpu_op", "Kernel name", "Kernel stream"])

    def check(self, source):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            subprocess.run([sys.executable, "-B", str(program.DATA / "tools/damage_trace.py"),
                            str(source), str(out)], check=True, stdout=subprocess.DEVNULL)
            kinds = json.loads((out / "kinds.json").read_text(encoding="utf-8"))
            self.assertGreaterEqual(len(kinds), 32)
            self.events = read_events(source)
            answering = {"undamaged": str(source)}
            for kind, about in kinds.items():
                if about["owes"] == "error":
                    with self.subTest(kind):
                        self.check_error(kind, out / about["file"])
                else:
                    answering[kind] = str(out / about["file"])
            calls = []
            for kind, path in answering.items():
                calls.append(("load_trace", {"trace": path}))
                calls.append(("perf_report", {"trace": path, "kernel_summary": True,
                                              "output_dir": str(out / "report" / kind)}))
            answers = program.tool_answers(calls)
            for kind in answering:
                with self.subTest(kind):
                    self.check_work(out / "report" / kind)
            self.check_compatible(answering, out)
            loaded = dict(zip(answering, answers[::2]))
            self.undamaged = loaded.pop("undamaged")
            for kind, answer in loaded.items():
                with self.subTest(kind):
                    getattr(self, "check_" + kinds[kind]["owes"])(
                        kind, answer, out / "report", out / kinds[kind]["file"])

    def check_work(self, report):
        """The table about work has the time of the table about ops, whatever is damaged."""
        if not (report / "unified_perf_summary.csv").exists():
            self.assertEqual(table(report, "ops_summary"), [])
            return
        def total(name, column):
            return sum(float(row[column]) for row in table(report, name))
        ops_us = total("ops_summary", "total_direct_kernel_time_sum")
        work_us = total("unified_perf_summary", "Kernel Time (µs)_sum")
        # Work of one op on several streams counts once, and an op may be a part of another.
        self.assertLessEqual(work_us, ops_us * (1 + 1e-9) + 1e-6)
        self.assertGreaterEqual(work_us, ops_us * 0.998)
        coverage = table(report, "model_coverage")
        self.assertTrue(close(total("model_coverage", "time ms") * 1000, work_us), coverage)

    def check_compatible(self, answering, out):
        """The compatible report too answers for every kind, or finds no GPU work that is linked."""
        results = program.serve([
            ("tools/call", {"name": "perf_report",
                            "arguments": {"trace": path, "compat": "tracelens",
                                          "output_dir": str(out / "compatible" / kind)}})
            for kind, path in answering.items()])
        for kind, result in zip(answering, results):
            with self.subTest(kind):
                if result.get("isError"):
                    self.assertIn(kind, NOTHING_LINKED)
                    self.assertIn("[no_gpu_events]", result["content"][0]["text"])
                else:
                    self.assertIn("structuredContent", result)

    def check_error(self, kind, path):
        ran = program.call("load_trace", trace=str(path))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertEqual(ran.stdout, "")
        self.assertIn(ERRORS[kind], ran.stderr)
        self.assertRegex(ran.stderr, r"^jarvis: \[not_a_trace\] ")
        self.assertLessEqual(len(ran.stderr.splitlines()), 2)

    def check_partial(self, kind, answer, reports, _):
        self.assertTrue(answer["partial"])
        self.assertEqual(answer["rows"][0][0], "partial")
        self.assertLessEqual(answer["events"], self.undamaged["events"])
        if kind in ("truncated_tail", "gzip_bad_crc"):  # every event was there
            self.same_report(reports / "undamaged", reports / kind)
        else:
            self.assertGreater(answer["events"], 0)
            self.assertIn(f"{answer['events']} whole events", answer["rows"][0][4])

    def check_same(self, kind, answer, reports, _):
        self.assertFalse(answer["partial"])
        self.assertEqual(answer["gpu_events"], self.undamaged["gpu_events"])
        # An array of events alone has no metadata, so none that is secret either.
        lost = {"secrets"} if kind == "bare_array" else set()
        self.assertEqual(program.column(answer, "quality"),
                         [code for code in program.column(self.undamaged, "quality")
                          if code not in lost])
        self.same_report(reports / "undamaged", reports / kind)

    def check_flagged(self, kind, answer, reports, damaged):
        codes, missing, busy = FLAGGED[kind]
        new = {row[0] for row in answer["rows"]
               if row[:2] not in [other[:2] for other in self.undamaged["rows"]]}
        self.assertTrue(new & ({codes} if isinstance(codes, str) else set(codes)), answer["rows"])
        self.assertFalse(answer["partial"])
        self.assertEqual(answer["gpu_events"], self.undamaged["gpu_events"] - missing)
        if busy == "same":
            self.same_report(reports / "undamaged", reports / kind, with_ops=False)
        elif busy == "clipped":
            rows = {row["type"]: float(row["time ms"])
                    for row in table(reports / kind, "gpu_timeline")}
            self.assertAlmostEqual(rows["busy_time"], clipped_busy_ms(read_events(damaged)), places=6)
        else:
            gpu = [event for event in self.events if event.get("cat") in GPU]
            strange = gpu[len(gpu) // 2]["dur"] / 1000  # the one that the tool damages
            lost = self.undamaged["busy_ms"] - answer["busy_ms"]
            self.assertGreaterEqual(lost, -0.001)
            self.assertLessEqual(lost, strange + 0.001)

    def test_inference_with_unlinked_work(self):
        self.check(program.DATA / "traces/qwen1.5-0.5b-h100/trace.json.gz")

    def test_whole_microseconds(self):
        self.check(program.DATA / "traces/simple-add/trace.json.gz")

    def test_bundled_example(self):
        self.check(program.EXAMPLE)


if __name__ == "__main__":
    program.need_data()
    unittest.main()
