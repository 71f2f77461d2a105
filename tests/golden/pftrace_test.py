#!/usr/bin/env python3
"""Traces of Perfetto in their own form (.pftrace) as input: made ones here, and the samples of
$JARVIS_TEST_DATA/traces/inputs with what is known of them, when they are there.

    pftrace_test.py [unittest arguments]
"""

import json
import pathlib
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import profile_messages as pb  # noqa: E402
import program  # noqa: E402

SAMPLES = program.DATA / "traces/inputs"
EXPECTED = program.DATA / "expected/inputs"
START = 1_000_000_000


def trace():
    made = pb.Packets()
    made.track(1, process=(77, "python3")).track(2, parent=1, thread=(77, 77))
    made.track(3, "COMPUTE AGENT [2] STREAM [0] (GPU)", 1).track(4, "THREAD 1 (78)", 1)
    made.track(5, "COPY to AGENT [2] STREAM [0]", 1)
    made.slice(2, "marker_api", "step 0", START, START + 900_000, tid=77)
    made.slice(2, "hip_api", "hipLaunchKernel", START + 1000, START + 6000, corr_id=1, tid=77)
    made.slice(4, "hip_api", "hipMemcpyAsync", START + 2000, START + 9000, corr_id=2, tid=78)
    # The edges of the slice were moved; the annotations have the times.
    made.slice(3, "kernel_dispatch", "Cijk_Ailk_Bljk_BBS_MT128x128x64", START + 10_500, START + 500_500,
               begin_ns=START + 10_000, end_ns=START + 510_000, corr_id=1, agent="2", grid_size=65536)
    made.slice(5, "memory_copy", "MEMORY_COPY_HOST_TO_DEVICE", START + 520_000, START + 530_000,
               corr_id=2, src_agent="0", dst_agent="2", copy_bytes=4096)
    return made


def rows(path, sql):
    return program.ask("query", trace=str(path), sql=sql)["rows"]


class Made(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, data, name="results.pftrace"):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(data)
        return path

    def test_work_has_the_tools_own_times(self):
        path = self.write(trace().written(), "a.json")
        self.assertEqual(rows(path, "select device, kind, dur_ns, launch_id is not null from gpu_work "
                                    "order by start_ns"),
                         [["0", "kernel", 500_000, 1], ["0", "memcpy", 10_000, 1]])

    def test_packed_packets_give_the_same(self):
        plain = trace().written()
        packed = pb.message(1, pb.message(50, zlib.compress(plain)))
        answers = [program.ask("gpu_timeline", trace=str(self.write(data, name)))["rows"]
                   for name, data in (("plain", plain), ("packed", packed))]
        self.assertEqual(*answers)

    def test_a_part_of_a_recording(self):
        path = self.write(trace().written())
        whole = program.ask("load_trace", trace=str(path))
        part = program.ask("load_trace", trace=str(path), from_ms=0.0, to_ms=0.0015)
        self.assertEqual((whole["gpu_events"], part["gpu_events"]), (2, 1))
        self.assertEqual(part["dialect"], whole["dialect"])

    def test_losses_are_told(self):
        end_first = pb.Packets()
        end_first.packet(pb.number(8, 5), pb.message(11, pb.number(9, 2), pb.number(11, 3)))
        for data in (trace().written()[:-3], end_first.written() + trace().written()):
            self.assertTrue(program.ask("load_trace", trace=str(self.write(data)))["partial"])

    def test_tracks_in_a_circle_are_whole(self):
        made = trace()
        made.track(10, "a", 11).track(11, "b", 10)
        made.slice(10, "other", "x", START, START + 5)
        facts = program.ask("load_trace", trace=str(self.write(made.written())))
        self.assertFalse(facts["partial"])

    def test_categories_of_torch_are_known(self):
        made = pb.Packets()
        made.track(1, process=(9, "python")).track(2, parent=1, thread=(9, 10))
        made.slice(2, "cpu_op", "aten::mm", START, START + 900)
        self.assertEqual(rows(self.write(made.written()), "select kind, name from host_calls"),
                         [["op", "aten::mm"]])


class Samples(unittest.TestCase):
    def test_agents(self):
        if not SAMPLES.is_dir():
            self.skipTest("no samples: set JARVIS_TEST_DATA")
        for folder in sorted(SAMPLES.glob("pftrace-*")):
            expected = json.loads((EXPECTED / folder.name / "pftrace.json").read_text())
            path = next(iter(sorted(folder.iterdir())))
            found = {int(row[0]): row[1:] for row in rows(
                path, "select device, count(*), sum(dur_ns) from gpu_work group by device")}
            for place, agent in enumerate(sorted(expected["agents"], key=lambda a: int(a["agent"]))):
                self.assertEqual(found[place][0], agent["events"])
                self.assertEqual(found[place][1], agent["sum_ns"])


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
