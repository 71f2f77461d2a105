#!/usr/bin/env python3
"""A user's words over the catalogue of fixes: they stand in the reports, what is wrong with them is
refused, and whatever they say, no figure and no order changes: all texts of all fixes are replaced
by random words, and the reports of both held against each other. So are those of a program whose
phrases are all reworded (reword_phrases.py), built beside ours. Beside the bundled example on up
to five traces of $JARVIS_TEST_DATA/traces when they are there."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from reword_phrases import MARK, reworded  # noqa: E402

WORDS = {"catalogue": ("label", "evidence", "path_a", "path_b"), "actions": ("what", "why")}
SAMPLES = ("bert-small-h100", "vgg13-h100", "triton-compiled", "timesformer-h100",
           "sam2-eager-a100")
REWORDED = os.environ.get("JARVIS_REWORDED_BINARY")
FIGURE = re.compile(r"\d+(?:\.\d+)?(?= ?(?:ms|%|us|µs)\b)")


def lines_of(text):
    return text if isinstance(text, str) else " ".join(text)


def shipped():
    """id -> key -> text."""
    texts = {}
    for folder, keys in WORDS.items():
        for path in sorted((program.SOURCE / "src/levers" / folder).glob("*.json")):
            fix = json.loads(path.read_text(encoding="utf-8"))
            texts[fix["id"]] = {key: lines_of(fix[key]) for key in keys if key in fix}
    return texts


def analyze(trace, out, extension=None, timeout=600, binary=program.BINARY):
    more = ["--extension", str(extension)] if extension else []
    return subprocess.run([binary, "analyze", str(trace), "--output-dir", str(out), *more],
                          capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "JARVIS_CACHE": "off"})


def samples():
    found = [program.EXAMPLE]
    for name in SAMPLES:
        traces = sorted((program.DATA / "traces" / name).glob("*.json*"))
        found += [path for path in traces if path.stat().st_size < 6_000_000][:1]
    return found


class Fixes(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def extension(self, fixes):
        path = self.folder / "words.json"
        path.write_text(json.dumps({"fixes": fixes}), encoding="utf-8")
        return path

    def same_markdown(self, ours, theirs):
        ours, theirs = ours.splitlines(), theirs.splitlines()
        self.assertEqual(len(ours), len(theirs))
        told = 0
        for a, b in zip(ours, theirs):
            if MARK not in b.lower():
                self.assertEqual(a, b)
            elif a.startswith("|"):
                told += 1
                cells = a.split(" | "), b.split(" | ")
                self.assertEqual(len(cells[0]), len(cells[1]), b)
                for x, y in zip(*cells):
                    if MARK not in y.lower():
                        self.assertEqual(x, y)
            else:
                told += 1
                self.assertEqual(FIGURE.findall(a), FIGURE.findall(b), (a, b))
        return told

    def same_json(self, ours, theirs, where):
        if isinstance(ours, dict) and isinstance(theirs, dict):
            self.assertEqual(list(ours), list(theirs), where)
            for key in ours:
                self.same_json(ours[key], theirs[key], f"{where}/{key}")
        elif isinstance(ours, list) and isinstance(theirs, list):
            self.assertEqual(len(ours), len(theirs), where)
            for i, (a, b) in enumerate(zip(ours, theirs)):
                self.same_json(a, b, f"{where}/{i}")
        elif not (isinstance(theirs, str) and MARK in theirs.lower()):
            self.assertEqual(ours, theirs, where)

    def same_reports(self, ours, theirs):
        names = sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file())
        self.assertEqual(names, sorted(path.relative_to(theirs) for path in theirs.rglob("*")
                                       if path.is_file()))
        told = 0
        for name in names:
            with self.subTest(file=str(name)):
                a, b = ours / name, theirs / name
                if name.suffix == ".md":
                    told += self.same_markdown(a.read_text(encoding="utf-8"),
                                               b.read_text(encoding="utf-8"))
                elif name.suffix == ".csv":
                    self.assertEqual(a.read_bytes(), b.read_bytes())
                elif name.suffix == ".json" and "metadata" not in name.parts:
                    self.same_json(json.loads(a.read_text(encoding="utf-8")),
                                   json.loads(b.read_text(encoding="utf-8")), str(name))
        return told

    def test_random_words_change_no_figure_and_no_order(self):
        rng = random.Random(7)
        others = [{"id": fix, **{key: reworded(text, rng) for key, text in texts.items()}}
                  for fix, texts in shipped().items()]
        for number, trace in enumerate(samples()):
            with self.subTest(trace=str(trace)):
                ours, theirs = self.folder / f"{number}a", self.folder / f"{number}b"
                for out, fixes in ((ours, []), (theirs, others)):
                    ran = analyze(trace, out, self.extension(fixes))
                    self.assertEqual(ran.returncode, 0, ran.stderr[-500:])
                self.assertGreater(self.same_reports(ours, theirs), 5)

    @unittest.skipUnless(REWORDED and os.path.exists(REWORDED),
                         "no program with reworded phrases was built")
    def test_reworded_phrases_change_no_figure_and_no_order(self):
        for number, trace in enumerate(samples()):
            with self.subTest(trace=str(trace)):
                ours, theirs = self.folder / f"{number}a", self.folder / f"{number}b"
                printed = []
                for out, binary in ((ours, program.BINARY), (theirs, REWORDED)):
                    ran = analyze(trace, out, binary=binary)
                    self.assertEqual(ran.returncode, 0, ran.stderr[-500:])
                    printed.append(" ".join(ran.stdout.split()).replace(str(out), "OUT"))
                self.assertGreater(self.same_reports(ours, theirs), 5)
                self.assertIn(MARK, printed[1].lower())
                self.assertEqual(*(FIGURE.findall(text) for text in printed))

    def test_words_of_the_house_stand_in_the_reports(self):
        analyze(program.EXAMPLE, self.folder / "ours")
        report = (self.folder / "ours/standalone_analysis_fair.md").read_text(encoding="utf-8")
        # Some action that this report begins with.
        found = [(fix, key) for fix, texts in shipped().items() for key, text in texts.items()
                 if key in ("what", "path_a", "path_b") and "{" not in text
                 and text.split(". ")[0][1:60] in report]
        self.assertTrue(found)
        fix, key = found[0]
        words = self.extension([{"id": fix, key: "pass `--our-flag` to the launcher"}])
        ran = analyze(program.EXAMPLE, self.folder / "theirs", words)
        self.assertEqual(ran.returncode, 0, ran.stderr[-500:])
        theirs = (self.folder / "theirs/standalone_analysis_fair.md").read_text(encoding="utf-8")
        self.assertIn("ass `--our-flag` to the launcher", theirs)
        self.assertEqual(analyze(program.EXAMPLE, self.folder / "example",
                                 program.SOURCE / "examples/extensions/words.json").returncode, 0)
        # Beside performance models in one file, and of the tools as well.
        both = self.folder / "both.json"
        both.write_text(json.dumps({"rows": [{"override": "softmax.fwd", "per_element": 8}],
                                    "fixes": json.loads(words.read_text())["fixes"]}))
        program.ask("perf_report", trace=str(program.EXAMPLE), extension=str(both),
                    output_dir=str(self.folder / "tables"))
        found = program.ask("prioritize", trace=str(program.EXAMPLE), extension=str(both))
        self.assertIn("findings", json.dumps(found))

    def refused(self, extension, *texts):
        path = self.folder / "refused.json"
        path.write_text(extension if isinstance(extension, str) else json.dumps(extension))
        ran = analyze(program.EXAMPLE, self.folder / "no", path)
        self.assertEqual(ran.returncode, 1, ran.stdout[-500:])
        for text in ("refused.json", *texts):
            self.assertIn(text, ran.stderr)

    def test_words_that_cannot_stand_are_refused(self):
        self.refused("{", "expected")
        self.refused({"fixes": {}}, '"fixes": expected a list')
        self.refused({"fixes": [{"id": "tf32"}]}, "fix tf32", "expected the id of a fix")
        self.refused({"fixes": [{"id": "tf32_off", "order": 1}]}, 'fix tf32_off, "order": expected')
        self.refused({"fixes": [{"id": "tf32_off", "path_b": "Set {flag}."}]},
                     'fix tf32_off, "path_b": ', "{environment}", "not {flag}")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
