#!/usr/bin/env python3
"""Parts of recordings: what is read of a window equals a trace that was cut by hand.

    window_test.py [unittest arguments]
"""

import bisect
import gzip
import json
import pathlib
import random
import subprocess
import tempfile
import unittest
import zlib
from decimal import Decimal

import program

HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver",
        "hip_runtime", "Operator", "Runtime"}
LAUNCH = {"cuda_runtime", "cuda_driver", "hip_runtime", "Runtime"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
MARKS = {"cpu_op", "user_annotation", "Operator"}


class Cut:
    """A trace's text with all but a window left out, by the rule as users are told it. What is left
    out stays as an instant, which no analysis counts, so that places in the file stay the same."""

    def __init__(self, document):
        self.document = document
        self.events = document["traceEvents"]
        self.timed = [e for e in self.events if e.get("ph") == "X" and "dur" in e]
        self.begin = min(self.start(e) for e in self.timed)
        self.last = max(self.end(e) for e in self.timed)

    @staticmethod
    def start(event):
        return Decimal(str(event["ts"])) * 1000

    def end(self, event):
        return self.start(event) + Decimal(str(event["dur"])) * 1000

    @staticmethod
    def link(event):
        return event.get("args", {}).get("correlation")

    def steps(self, first, last):
        marks = [e for e in self.timed if e.get("cat") in MARKS
                 and e["name"].startswith("ProfilerStep#")
                 and first <= int(e["name"][len("ProfilerStep#"):]) <= last]
        return min(map(self.start, marks)), max(map(self.end, marks))

    def text(self, begin, end):
        def overlaps(event):
            return self.start(event) < end and (self.end(event) > begin or
                                                self.start(event) >= begin)

        launches = {}
        for event in self.timed:
            if event.get("cat") in LAUNCH and self.link(event) is not None:
                launches.setdefault(self.link(event), []).append(event)
        for calls in launches.values():
            calls.sort(key=self.start)

        def launch_of(work):
            calls = launches.get(self.link(work), [])
            before = [c for c in calls if self.start(c) <= self.start(work)]
            return before[-1] if before else calls[0] if calls else None

        works = [e for e in self.timed if e.get("cat") in WORK]
        inside = {id(e) for e in self.timed if overlaps(e)}
        links = {self.link(e) for e in self.timed if id(e) in inside
                 and e.get("cat") in WORK | LAUNCH} - {None}
        outer = {}
        hull = [begin, end]
        for work in works:
            call = launch_of(work)
            if call is None:
                continue
            if id(work) in inside and not overlaps(call):
                outer.setdefault((str(call["pid"]), str(call["tid"])), []).append(self.start(call))
                hull = [min(hull[0], self.start(call)), max(hull[1], self.end(call))]
        kept = {id(w) for w in works if launch_of(w) is not None and overlaps(launch_of(w))} | inside
        for starts in outer.values():
            starts.sort()
        for event in self.timed:
            if event.get("cat") not in HOST:
                continue
            starts = outer.get((str(event["pid"]), str(event["tid"])), [])
            at = bisect.bisect_left(starts, self.start(event))
            if at < len(starts) and (starts[at] < self.end(event) or
                                     starts[at] == self.start(event)):
                kept.add(id(event))
            if event.get("cat") in MARKS and event["name"].startswith("ProfilerStep#"):
                whole = self.start(event) >= begin and self.end(event) <= end
                (kept.add if whole else kept.discard)(id(event))
        return {**self.document, "traceEvents": [
            self.as_kept(event, id(event) in kept, links, hull) for event in self.events]}

    def as_kept(self, event, kept, links, hull):
        if event.get("ph") in ("s", "f"):
            return event if event.get("id") in links else {"ph": "i", "name": "cut"}
        if event.get("ph") != "X" or "dur" not in event:
            return event
        if not kept:
            return {"ph": "i", "name": "cut"}
        if event.get("cat") in WORK:
            return event
        start, end = max(self.start(event), hull[0]), min(self.end(event), hull[1])
        if (start, end) == (self.start(event), self.end(event)):
            return event
        return {**event, "ts": float(start / 1000), "dur": float(max(end - start, 0) / 1000)}


def tables(path, *flags):
    """What perf_report writes of a trace, by file."""
    with tempfile.TemporaryDirectory() as out:
        ran = subprocess.run([program.BINARY, "perf_report", str(path), "--output-dir", out, *flags],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            raise AssertionError(f"{path} {flags}: {ran.stderr}")
        return {p.name: p.read_text() for p in sorted(pathlib.Path(out).glob("*.csv"))}


def large(steps=60):
    """Text of several of the reader's pieces: steps whose kernels run long after their launch, on
    two threads, inside frames that last from end to end."""
    noise = random.Random(5)
    events = []
    length = steps * 1000
    for tid in (1, 2):
        events.append({"ph": "X", "cat": "python_function", "name": f"main.py(1): main{tid}",
                       "pid": 9, "tid": tid, "ts": 1000, "dur": length, "args": {"Python id": tid}})
    for step in range(steps):
        begin = 1000 + step * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 3}",
                       "pid": 9, "tid": 1, "ts": begin + 1, "dur": 998})
        for call in range(40):
            link = step * 40 + call + 1
            at = begin + 2 + call * 24
            host = {"ph": "X", "pid": 9, "tid": 1 + call % 2}
            events.append({**host, "cat": "cpu_op", "name": f"aten::op{call % 7}", "ts": at,
                           "dur": 20, "args": {"External id": link, "Input Dims": [[call, 8]],
                                               "note": "x" * noise.randrange(900)}})
            events.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 5,
                           "dur": 4, "args": {"correlation": link}})
            events.append({"ph": "X", "cat": "kernel", "name": f"k{call % 5}", "pid": 0, "tid": 7,
                           "ts": at + 1500, "dur": 15, "args": {"correlation": link, "stream": 7}})
    noise.shuffle(events)
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
            "traceEvents": events}


class Window(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else json.dumps(text).encode())
        return path

    def check_cut(self, path, cut, window, *flags):
        by_hand = self.write("by_hand.json", cut.text(*window))
        expected = tables(by_hand)
        found = tables(path, *flags)
        self.assertEqual(sorted(expected), sorted(found))
        self.assertGreater(len(expected), 3)
        for name, text in expected.items():
            self.assertEqual(text, found[name], f"{path} {flags}: {name}")

    def test_windows_of_real_recordings(self):
        program.need_data()
        for name, share in (("qwen1.5-0.5b-h100", (0.3, 0.6)), ("norm-layers", (0.5, 0.9)),
                            ("resnet-recompute-mi300x", (0.2, 0.5)), ("cpu-only", (0.1, 0.4)),
                            ("bert-small-mi300x", (0.0, 0.5))):
            with self.subTest(name):
                path = program.DATA / "traces" / name / "trace.json.gz"
                with gzip.open(path) as file:
                    cut = Cut(json.load(file))
                # Whole microseconds, told in milliseconds.
                times = [round((cut.last - cut.begin) * Decimal(s) / 1000) for s in share]
                window = [cut.begin + t * 1000 for t in times]
                self.check_cut(path, cut, window, f"--from={times[0] / 1000}",
                               f"--to={times[1] / 1000}")

    def test_steps_of_a_recording(self):
        cut = Cut(large())
        path = self.write("large.json", cut.document)
        for first, last in ((8, 9), (3, 3), (62, 62), (10, 40)):
            self.check_cut(path, cut, cut.steps(first, last), f"--steps={first}-{last}")

    def test_containers_do_not_matter(self):
        text = json.dumps(large()).encode()
        members = b"".join(gzip.compress(text[at:at + 300_000])
                           for at in range(0, len(text), 300_000))
        flags = ["--steps", "20-22"]
        plain = tables(self.write("a.json", text), *flags)
        self.assertEqual(plain, tables(self.write("b.json.gz", gzip.compress(text)), *flags))
        self.assertEqual(plain, tables(self.write("c.json.gz", members), *flags))

    def load(self, path, **window):
        return program.ask("load_trace", trace=str(path), **window)

    def refused(self, path, **window):
        ran = program.call("load_trace", trace=str(path), **window)
        self.assertNotEqual(ran.returncode, 0)
        return ran.stderr

    def test_a_window_is_a_trace_of_its_own(self):
        path = self.write("large.json", large())
        whole = self.load(path)
        part = self.load(path, steps="20-22")
        self.assertNotEqual(whole["trace"], part["trace"])
        self.assertEqual(part, self.load(path, steps="20-22"))
        self.assertEqual(part["part"]["steps"], "20-22")
        self.assertEqual(part["steps"], "3 (20-22)")
        self.assertEqual(part["events"], whole["events"])
        self.assertLess(part["part"]["events"], whole["events"] / 5)
        self.assertIn("part_of_recording", [row[0] for row in part["rows"]])
        self.assertIn("cut_by_window", [row[0] for row in part["rows"]])
        self.assertNotIn("part", whole)

    def test_what_is_not_there(self):
        path = self.write("large.json", large(10))
        self.assertIn("the recording has 3-12", self.refused(path, steps="9-20"))
        self.assertIn("expected a number or a range", self.refused(path, steps="9:20"))
        self.assertIn("empty; the recording lasts from 0 to", self.refused(path, from_ms=3, to_ms=3))
        self.assertIn("behind the end", self.refused(path, from_ms=1e6, to_ms=2e6))
        self.assertIn("give one of them", self.refused(path, steps="5", from_ms=1))
        gap = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1,
                                "ts": ts, "dur": 5} for ts in (100, 9_000_000)]}
        path = self.write("gap.json", gap)
        self.assertIn("no event lies between", self.refused(path, from_ms=10, to_ms=20))
        self.assertIn("marks none", self.refused(path, steps="1"))
        # Over the end is up to the end.
        self.assertEqual(self.load(path, from_ms=10, to_ms=1e9)["part"]["events"], 1)

    def test_damaged_files(self):
        text = json.dumps(large()).encode()
        squeezed = gzip.compress(text)
        cut_off = self.write("cut.json", text[:len(text) * 2 // 3])
        squeezed_off = self.write("cut.json.gz", squeezed[:len(squeezed) * 2 // 3])
        broken = bytearray(squeezed)
        broken[len(broken) // 2:len(broken) // 2 + 4] = b"\0\0\0\0"
        for path in (cut_off, squeezed_off, self.write("broken.json.gz", bytes(broken))):
            with self.subTest(path.name):
                part = self.load(path, from_ms=5, to_ms=9)
                self.assertTrue(part["partial"])
                self.assertIn("partial", [row[0] for row in part["rows"]])
                self.assertGreater(part["part"]["events"], 10)

    def test_marks_in_pairs(self):
        """Begin and end events of a call may lie far from each other in the file."""
        events = [{"ph": "B", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 10 * i}
                  for i in range(1, 9000)]
        events += [{"ph": "E", "pid": 1, "tid": 1, "ts": 10 * i + 5} for i in range(1, 9000)]
        path = self.write("pairs.json", {"traceEvents": events})
        part = self.load(path, from_ms=10, to_ms=20)
        self.assertEqual(part["part"]["events"], 1000)


class Restart(unittest.TestCase):
    def test_a_second_window_reads_only_what_it_needs(self):
        """Of 90 MB of text, in one process: text_bytes_read is what the windows went through."""
        element = ('{"ph":"X","cat":"cpu_op","name":"aten::op%d","pid":1,"tid":1,"ts":%d,"dur":50,'
                   '"args":{"note":"%s"}}')
        note = "n" * 150
        text = '{"traceEvents":[' + ",".join(
            element % (i % 9, 1000 + 100 * i, note) for i in range(400_000)) + "]}"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "a.json.gz"):
                path = pathlib.Path(folder) / name
                packed = zlib.compressobj(1, wbits=31)
                path.write_bytes(text.encode() if name == "a.json"
                                 else packed.compress(text.encode()) + packed.flush())
                for begin in (0, 20_000, 39_990):
                    part = program.ask("load_trace", trace=str(path), from_ms=begin,
                                       to_ms=begin + 10)["part"]
                    self.assertEqual(part["events"], 100)
                    self.assertLess(part["text_bytes_read"], 10_000_000)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
