#!/usr/bin/env python3
"""Traces of hostile shapes: every kind goes through the whole analysis, and what is written grows with the trace.

Bytes written stand for work here, as they are the same on every machine; growth.py has the times."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import hostile_shapes  # noqa: E402

JARVIS = os.environ["JARVIS_BINARY"]


def analyze(trace, out):
    return subprocess.run([JARVIS, "analyze", trace, "--output-dir", out], capture_output=True, text=True)


def bytes_in(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


class HostileShapes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def make(self, kind, n):
        path = os.path.join(self.folder, "%s_%d.json" % (kind, n))
        hostile_shapes.write(kind, n, path)
        return path

    def test_every_kind_is_analysed(self):
        for kind in hostile_shapes.KINDS:
            with self.subTest(kind):
                done = analyze(self.make(kind, 40), os.path.join(self.folder, kind))
                # 1 is a verdict on what was written; a call that fails says so instead.
                self.assertIn(done.returncode, (0, 1))
                self.assertIn("Reports, tables and findings", done.stdout, done.stderr)

    def test_deep_calls_are_written_in_proportion(self):
        for kind in ("nested", "nested_py", "nested_mod", "stagger_cpu", "annots"):
            with self.subTest(kind):
                sizes = []
                for n in (600, 2400):
                    out = os.path.join(self.folder, "%s_%d" % (kind, n))
                    self.assertIn("Reports, tables and findings", analyze(self.make(kind, n), out).stdout)
                    sizes.append(bytes_in(out))
                self.assertLess(sizes[1], 5 * sizes[0])

    def test_it_is_said_where_calls_nest_too_deep(self):
        for n, said in ((500, False), (520, True)):
            answer = subprocess.run([JARVIS, "call", "load_trace", json.dumps({"trace": self.make("nested", n)})],
                                    capture_output=True, text=True, check=True)
            codes = [row[0] for row in json.loads(answer.stdout)["rows"]]
            self.assertEqual("deep_nesting" in codes, said, codes)


if __name__ == "__main__":
    unittest.main()
