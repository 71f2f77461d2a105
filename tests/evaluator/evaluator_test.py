#!/usr/bin/env python3
"""Our own reports are good, and the judges notice when they are not.

Every trace of $JARVIS_TEST_DATA/traces and cases is analysed; the fair report of each must score
at least 95 with the evaluator beside this file, and `validate` must find nothing. Without the data
the trace in examples/ stands in. Then reports are broken on purpose: the evaluator must take points
for it, and `validate` must name the fault.

    evaluator_test.py [-v]      program: $JARVIS_BINARY; prints the table of scores
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "golden"))
import evaluator  # noqa: E402
import program  # noqa: E402

SCORE_MIN = 95.0
FAIR = "standalone_analysis_fair.md"
ITEMS = list(evaluator.WEIGHTS)


def traces():
    """(name, path, platform)."""
    found = []
    for folder in sorted((program.DATA / "traces").glob("*/")):
        for path in sorted(folder.glob("*.json.gz")):
            stem = path.name.removesuffix(".json.gz")
            found.append((folder.name + ("" if stem == "trace" else "/" + stem), path, ""))
    for folder in sorted((program.DATA / "cases").glob("*/")):
        found += [(folder.name + "/" + path.stem, path, "MI300X")
                  for path in sorted(folder.glob("*.json"))]
    return found or [("example", program.EXAMPLE, "")]


def analyze(path, folder, platform="", *flags):
    command = [program.BINARY, "analyze", str(path), "--output-dir", str(folder), *flags]
    if platform:
        command += ["--platform", platform]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


class Scores(unittest.TestCase):
    def test_our_reports_are_good(self):
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            jobs = [(name, pathlib.Path(folder) / str(i), path, platform)
                    for i, (name, path, platform) in enumerate(traces())]
            runs = list(pool.map(lambda job: analyze(job[2], job[1], job[3]), jobs))
            table = ["%-34s" % "trace" + "".join("%11s" % item for item in ITEMS) + "   total"]
            for (name, out, _, _), ran in zip(jobs, runs):
                with self.subTest(name):
                    self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
                    self.assertNotIn("faults.", ran.stdout)
                    score = evaluator.evaluate(out)
                    table.append("%-34s" % name +
                                 "".join("%11.1f" % score.items[item] for item in ITEMS) +
                                 "%8.1f" % score.total)
                    self.assertGreaterEqual(score.total, SCORE_MIN, score.lost)
            print("\n".join(table))


# What is done to a report, the item that must lose points (None: this is no evaluator's business),
# and the code that validate must give.
BREAKS = [
    ("a figure in prose changes",
     lambda text: re.sub(r"(\*\*Issue\*\*.*?)(\d+\.\d+) ms", r"\g<1>98765.43 ms", text, count=1),
     "numbers", "number"),
    ("a figure in a table changes",
     lambda text: re.sub(r"(\| GPU: GEMMs \|) [\d.]+ ms", r"\1 98765.43 ms", text, count=1),
     "numbers", "table"),
    ("a heading goes",
     lambda text: text.replace("## Detailed Analysis", "## Details", 1), "structure", "structure"),
    ("a link leads nowhere",
     lambda text: text.replace("(#detail-f1)", "(#detail-f999)", 1), "structure", "link"),
    ("all paths of a recommendation go",
     lambda text: re.sub(r"(\*\*Path [AB]\*\* .*\n)+", "", text, count=1), "paths", "paths"),
    ("a path is empty",
     lambda text: re.sub(r"(\*\*Path [AB]\*\*[^:]*:).*\n", r"\1\n", text, count=1), "paths", "paths"),
    ("a root cause is claimed",
     lambda text: text.replace("**Issue**: ", "**Issue**: Low occupancy is the root cause. ", 1),
     "claims", "claim"),
    ("more than the roof is praised",
     lambda text: text.replace("**Issue**: ", "**Issue**: It reaches 138 % of its roof. ", 1),
     "claims", "claim"),
    ("a finding is left out",
     lambda text: re.sub(r"### \S+ Priority 1: (?s:.*?)(?=### )", "", text, count=1),
     "coverage", "coverage"),
    ("two recommendations change places",
     lambda text: text.replace("Priority 1:", "Priority @:").replace("Priority 2:", "Priority 1:")
     .replace("Priority @:", "Priority 2:"), "priority", "coverage"),
    ("a title names nothing",
     lambda text: re.sub(r"(Priority 1: ).*", r"\1Something is slow", text, count=1),
     "priority", "coverage"),
    ("the summary is long",
     lambda text: text.replace("### Top Bottlenecks",
                               "\n".join(f"Line {i}." for i in "abcdefghij") +
                               "\n\n### Top Bottlenecks", 1), "brevity", "brevity"),
    ("a recommendation is long",
     lambda text: text.replace("**Impact**: ", "More.\n\nMore.\n\nMore.\n\nMore.\n\n**Impact**: ", 1),
     "brevity", "brevity"),
    ("a saving is impossible",
     lambda text: re.sub(r"(\*\*Impact\*\*: )Saves (up to |about )?[\d.]+( to [\d.]+)? ms", r"\1Saves 99999 ms",
                         text, count=1), "limits", "limits"),
    ("a placeholder stays",
     lambda text: text.replace("**Issue**: ", "**Issue**: <Brief Title> takes X ms. ", 1),
     "structure", "placeholder"),
    ("a table goes",
     lambda text: re.sub(r"\| Category \| Time .*\n(\|.*\n)+", "", text, count=1), None, "table"),
]


class Faults(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name) / "out"
        ran = analyze(program.EXAMPLE, cls.folder)
        assert ran.returncode == 0, ran.stderr
        cls.fair = (cls.folder / FAIR).read_text(encoding="utf-8")
        cls.score = evaluator.evaluate(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def setUp(self):
        self.addCleanup((self.folder / FAIR).write_text, self.fair, encoding="utf-8")

    def validate(self):
        return program.ask("validate", trace=str(program.EXAMPLE), output_dir=str(self.folder))

    def test_the_report_is_good_as_it_is(self):
        self.assertGreaterEqual(self.score.total, SCORE_MIN, self.score.lost)
        answer = self.validate()
        self.assertEqual((answer["valid"], answer["rows"]), (True, []))

    def test_every_planted_fault_is_found(self):
        for what, broken, item, code in BREAKS:
            with self.subTest(what):
                text = broken(self.fair)
                self.assertNotEqual(text, self.fair, "nothing was broken")
                (self.folder / FAIR).write_text(text, encoding="utf-8")
                answer = self.validate()
                self.assertFalse(answer["valid"])
                self.assertIn(code, [row[0] for row in answer["rows"]], answer["rows"])
                for row in answer["rows"]:
                    self.assertEqual(row[1], FAIR)
                    self.assertTrue(row[4], "every fault says how to mend it")
                if item is not None:
                    self.assertLess(evaluator.evaluate(self.folder).items[item],
                                    self.score.items[item])

    def test_broken_reports_fall_below_the_mark(self):
        text = self.fair
        for what, broken, _, _ in BREAKS:
            if what != "a finding is left out":  # it would take the other faults with it
                text = broken(text)
        (self.folder / FAIR).write_text(text, encoding="utf-8")
        self.assertLess(evaluator.evaluate(self.folder).total, 75)

    def test_other_documents_are_checked_too(self):
        for name, old, new, code in (
                ("analysis.md", "kind=p_item category=", "kind=p_item category=none", "marker"),
                ("analysis.md", "<!-- reasoning-candidate", "<!-- reasoning", "marker"),
                ("analysis.md", "## System-Level Optimizations", "## System", "structure"),
                ("standalone_analysis_rough.md", "## Tree Analysis", "## Trees", "structure"),
                ("category_findings/gemm_findings.md", "**Insight**: ",
                 "**Insight**: Bank conflicts slow it down. ", "claim")):
            with self.subTest(name, code=code):
                path = self.folder / name
                text = path.read_text(encoding="utf-8")
                self.addCleanup(path.write_text, text, encoding="utf-8")
                self.assertIn(old, text)
                path.write_text(text.replace(old, new, 1), encoding="utf-8")
                answer = self.validate()
                self.assertIn([code, name], [row[:2] for row in answer["rows"]])
                path.write_text(text, encoding="utf-8")

    def test_a_missing_document_is_a_fault(self):
        path = self.folder / "category_findings/gemm_findings.md"
        text = path.read_text(encoding="utf-8")
        self.addCleanup(path.write_text, text, encoding="utf-8")
        path.unlink()
        self.assertIn(["missing", "category_findings/gemm_findings.md"],
                      [row[:2] for row in self.validate()["rows"]])


class Words(unittest.TestCase):
    """An agent's words: kept, checked, and never able to change a figure."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "out"
        program.ask("render_report", trace=str(program.EXAMPLE), output_dir=str(self.folder))

    def write(self, **texts):
        return program.call("write_findings", trace=str(program.EXAMPLE),
                            output_dir=str(self.folder), **{"finding": "f1", **texts})

    def test_words_are_kept_when_reports_are_written_again(self):
        self.assertEqual(self.write(insight="The head is the costliest part.").returncode, 0)
        self.assertEqual(self.write(path_a="Ask the model's owner.").returncode, 0)
        for _ in range(2):
            for name in (FAIR, "analysis.md"):
                text = (self.folder / name).read_text(encoding="utf-8")
                self.assertIn("The head is the costliest part.", text)
                self.assertIn("Ask the model's owner.", text)
            answer = program.ask("render_report", trace=str(program.EXAMPLE),
                                 output_dir=str(self.folder))
            self.assertIn("0 faults", answer["summary"])

    def test_what_is_refused(self):
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for texts, message in (
                ({"insight": "Occupancy is low."}, "Kernel running slower than expected"),
                ({"insight": "It takes 98765.43 ms."}, "no table says 98765.43 ms"),
                ({"action": "Line one.\nLine two."}, "one line"),
                ({"action": "<!-- impact-begin -->"}, "comments"),
                ({"path_b": "| a | b |"}, "tables"),
                ({"insight": "It reaches 150 % of the roof."}, "Anomaly"),
                ({"finding": "f999", "insight": "It is slow."}, "no finding"),
                ({}, "nothing is given")):
            with self.subTest(texts):
                ran = self.write(**texts)
                self.assertEqual(ran.returncode, 1)
                self.assertIn(message, ran.stderr)
        after = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(before, after)

    def test_words_for_another_trace_are_left_out(self):
        self.assertEqual(self.write(insight="The head is the costliest part.").returncode, 0)
        twins = [path for path in self.folder.rglob("*_findings.json")
                 if "costliest part" in path.read_text(encoding="utf-8")]
        self.assertEqual(len(twins), 1)
        twins[0].write_text(twins[0].read_text(encoding="utf-8").replace('"trace_id": "t_',
                                                                         '"trace_id": "t_0'),
                            encoding="utf-8")
        answer = program.ask("render_report", trace=str(program.EXAMPLE),
                             output_dir=str(self.folder), overwrite=True)
        self.assertTrue(any("left out" in note for note in answer["notes"]))
        self.assertNotIn("costliest part", (self.folder / FAIR).read_text(encoding="utf-8"))

    def test_a_report_that_somebody_changed_is_not_replaced_unasked(self):
        path = self.folder / FAIR
        path.write_text(path.read_text(encoding="utf-8") + "\nmine\n", encoding="utf-8")
        ran = program.call("render_report", trace=str(program.EXAMPLE), output_dir=str(self.folder))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("[exists]", ran.stderr)
        self.assertIn("mine", path.read_text(encoding="utf-8"))

    def test_the_same_analysis_gives_the_same_bytes(self):
        other = self.folder.parent / "other"
        files = []
        for folder in (other, other.parent / "third"):
            self.assertEqual(analyze(program.EXAMPLE, folder).returncode, 0)
            files.append({path.relative_to(folder): path.read_bytes()
                          for path in folder.rglob("*.md")})
        self.assertGreater(len(files[0]), 5)
        self.assertEqual(files[0], files[1])


class Command(unittest.TestCase):
    def test_a_category_is_printed_as_the_script_did(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            self.assertEqual(analyze(program.EXAMPLE, out, "", "--reports", "fair").returncode, 0)
            self.assertEqual([(out / name).exists() for name in (FAIR, "analysis.md")],
                             [True, False])
            run = lambda *words: subprocess.run([program.BINARY, "category-analysis", *words],
                                                capture_output=True, text=True, timeout=60)
            ran = run("gemm", "--output-dir", str(out))
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            for heading in ("# GEMM Analysis Summary", "## Overview", "## Key Bottlenecks",
                            "## Additional Notes", "## Operations Breakdown", "`aten::mm`"):
                self.assertIn(heading, ran.stdout)
            ran = run("idle", "--output-dir", str(out))
            self.assertIn("# CPU / Idle Analysis Summary", ran.stdout)
            for words, message in ((("nonsense", "--output-dir", str(out)), "no category"),
                                   (("gemm", "--output-dir", folder + "/none"), "jarvis analyze"),
                                   (("gemm",), "usage")):
                ran = run(*words)
                self.assertNotEqual(ran.returncode, 0)
                self.assertIn(message, ran.stderr)

    def test_damage_is_an_error_and_never_a_report(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder) / "bad.json"
            bad.write_text("{\"traceEvents\": 5")
            ran = analyze(bad, pathlib.Path(folder) / "out")
            self.assertEqual(ran.returncode, 1)
            self.assertTrue(ran.stderr)
            ran = analyze(program.EXAMPLE, pathlib.Path(folder) / "out", "", "--reports", "nice")
            self.assertEqual(ran.returncode, 1)
            self.assertIn("reports", ran.stderr)


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
