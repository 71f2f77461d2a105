#!/usr/bin/env python3
"""jarvis perfetto: the trace's own events stay, ours are on a process of their own and nest, and a
damaged trace gives a file that is whole.

    perfetto_test.py [unittest arguments]
"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

ROUNDING_US = 1  # of times since 1970 as doubles


def annotated(trace, folder):
    out = pathlib.Path(folder) / "out.json.gz"
    ran = subprocess.run([program.BINARY, "perfetto", str(trace), "--output", str(out)],
                         capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    with gzip.open(out) as file:
        return json.load(file)["traceEvents"]


class Perfetto(unittest.TestCase):
    def check(self, path, events):
        with tempfile.TemporaryDirectory() as folder:
            all_events = annotated(path, folder)
        ours_from = next(event["pid"] for event in all_events
                         if event.get("name") == "process_name"
                         and event["args"]["name"] == "JARVIS")
        ours = [event for event in all_events if event.get("pid") == ours_from]
        others = [event for event in all_events[1:] if event.get("pid") != ours_from]
        self.assertEqual(others, events)
        return ours

    def test_what_is_found_stands_beside_what_was_recorded(self):
        with gzip.open(program.EXAMPLE) as file:
            events = json.load(file)["traceEvents"]
        ours = self.check(program.EXAMPLE, events)
        tracks = {event["tid"]: event["args"]["name"] for event in ours
                  if event["name"] == "thread_name"}
        for name in ("steps", "phases", "GPU idle, by cause", "critical path"):
            self.assertIn(name, tracks.values())
        self.assertTrue(any(name.startswith("1. ") for name in tracks.values()), tracks)
        counters = {event["name"] for event in ours if event["ph"] == "C"}
        self.assertIn("modelled TFLOPS/s", counters)
        self.assertIn("work launched and not begun", counters)
        for track in tracks:
            slices = sorted((event["ts"], -event["dur"]) for event in ours
                            if event["ph"] == "X" and event["tid"] == track)
            open_until = []
            for start, minus_dur in slices:
                while open_until and open_until[-1] <= start + ROUNDING_US:
                    open_until.pop()
                if open_until:
                    self.assertLessEqual(start - minus_dur, open_until[-1] + ROUNDING_US)
                open_until.append(start - minus_dur)

    def test_a_cut_trace_gives_a_whole_file(self):
        with gzip.open(program.EXAMPLE) as file:
            text = file.read()
        events = json.loads(text)["traceEvents"]
        with tempfile.TemporaryDirectory() as folder:
            cut = pathlib.Path(folder) / "cut.json"
            cut.write_bytes(text[:len(text) * 2 // 3])
            kept = annotated(cut, folder)
        ours = sum(event.get("pid", 0) == 2_000_000_001 for event in kept)
        self.assertEqual(kept[1:len(kept) - ours], events[:len(kept) - ours - 1])


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
