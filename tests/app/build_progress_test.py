#!/usr/bin/env python3
"""How far a build is goes by what its parts cost, not by their number."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/build_progress.py"
spec = importlib.util.spec_from_file_location("build_progress", SCRIPT)
build_progress = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build_progress)

SMALL_PARTS = 20
LARGE_BYTES = 2_000_000


class BuildProgress(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = pathlib.Path(self.folder.name)
        self.build = root / "build/release"
        (root / "src/few").mkdir(parents=True)
        unity = self.build / "src/CMakeFiles/large.dir/Unity"
        unity.mkdir(parents=True)
        large = root / "src/large.cpp"
        large.write_bytes(b"/" * LARGE_BYTES)
        (unity / "unity_0_cxx.cxx").write_text(f'#include "{large}"\n')
        self.large = "Building CXX object src/CMakeFiles/large.dir/Unity/unity_0_cxx.cxx.o"
        self.small = []
        for i in range(SMALL_PARTS):
            (root / f"src/few/{i}.cpp").write_bytes(b"/" * 1000)
            self.small.append(f"Building CXX object src/CMakeFiles/few.dir/few/{i}.cpp.o")
        parts = [*self.small, self.large, "Linking CXX executable jarvis"]
        self.plan = [f"[{i + 1}/{len(parts)}] {part}\n" for i, part in enumerate(parts)]

    def progress(self):
        return build_progress.Progress(self.build, self.plan)

    def test_a_large_part_counts_by_its_size(self):
        progress = self.progress()
        for part in self.small:
            progress.finish(part)
        # All but 2 of 22 parts are done after 60 s; the large one costs 3 times as much as they do.
        left = progress.seconds_left(60, 0)
        self.assertGreater(left, 120)
        self.assertLess(left, 300)
        progress.finish(self.large)
        self.assertLess(progress.seconds_left(200, 0), 1)

    def test_parts_that_are_being_made_are_half_done(self):
        progress = self.progress()
        for part in self.small:
            progress.finish(part)
        self.assertLess(progress.seconds_left(60, 1), progress.seconds_left(60, 0) / 2)

    def test_nothing_is_said_before_something_is_known(self):
        self.assertIsNone(self.progress().seconds_left(30, 0))

    def test_as_a_filter(self):
        plan = self.build / "plan"
        plan.write_text("".join(self.plan))
        log = self.build / "log"
        text = f"@1/22 1 {self.small[0]}\nnot a status\n@2/22 1 \xff{self.small[1]}\n"
        run = subprocess.run([sys.executable, SCRIPT, self.build, plan, log],
                             input=text.encode("latin-1"), capture_output=True, check=True)
        self.assertEqual(run.stderr, b"")
        self.assertEqual(log.read_bytes(), text.encode("latin-1"))


if __name__ == "__main__":
    unittest.main()
