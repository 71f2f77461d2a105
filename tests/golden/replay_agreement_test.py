#!/usr/bin/env python3
"""Replayed kernels without a capture against the same kernels with it: categories by name agree
with those by op for nearly all GPU time, and layers do not depend on the capture.

    replay_agreement_test.py [unittest arguments]
"""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

import program

AGREE_MIN = 0.98
LAYER_OFF_MAX = 0.01
# One kind of work; ops of some libraries name it more exactly than a kernel can.
SAME = {"rmsnorm": "norm_fwd", "layernorm": "norm_fwd"}


def captured_traces():
    return sorted(path for path in (program.DATA / "traces").glob("*/trace.json.gz")
                  if (path.parent / "capture").is_dir())


def categories(folder):
    manifest = json.loads((folder / "category_data/category_manifest.json").read_text())
    times = {}
    for category in manifest["categories"]:
        ms = category.get("gpu_kernel_time_ms")
        if ms is None:
            continue
        name = SAME.get(category["name"], category["name"])
        times[name] = times.get(name, 0.0) + ms
    return times


def layers(folder):
    """Blocks of the replayed graph, and milliseconds of one; None where nothing repeats in it."""
    text = (folder / "standalone_analysis_fair.md").read_text()
    count = re.search(r"\| Blocks that repeat[^|]*\| (\d+) \|", text)
    block = re.search(r"\| A block \| ([\d.]+) ms \|", text)
    return (int(count.group(1)), float(block.group(1))) if count and block else None


class Agreement(unittest.TestCase):
    def test_names_tell_what_a_capture_tells(self):
        with_blocks = 0
        for trace in captured_traces():
            with self.subTest(trace.parent.name), tempfile.TemporaryDirectory() as folder:
                with_blocks += self.check(trace, pathlib.Path(folder))
        self.assertGreaterEqual(with_blocks, 2)

    def check(self, trace, folder):
        alone = folder / "alone" / trace.name
        alone.parent.mkdir()
        shutil.copyfile(trace, alone)
        for name, path in (("merged", trace), ("unmerged", alone)):
            program.ask("category_filter", trace=str(path), platform="MI300X",
                        output_dir=str(folder / name))
        merged, unmerged = categories(folder / "merged"), categories(folder / "unmerged")
        total = sum(merged.values())
        self.assertAlmostEqual(total, sum(unmerged.values()), delta=total / 1000)
        shared = sum(min(ms, unmerged.get(name, 0.0)) for name, ms in merged.items())
        self.assertGreaterEqual(shared / total, AGREE_MIN, f"{merged} {unmerged}")
        with_capture, without = layers(folder / "merged"), layers(folder / "unmerged")
        if with_capture is None:
            self.assertIsNone(without)
            return 0
        self.assertIsNotNone(without)
        self.assertEqual(without[0], with_capture[0])
        self.assertAlmostEqual(without[1], with_capture[1], delta=LAYER_OFF_MAX * with_capture[1])
        return 1


if __name__ == "__main__":
    program.need_data()
    unittest.main()
