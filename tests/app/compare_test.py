#!/usr/bin/env python3
"""jarvis compare as a command: what it writes, the gate and its exit codes, on traces made here; and
on the real pairs, that both directions mirror and that a trace is equal to itself.

    compare_test.py [unittest arguments]
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

GATE = 3
MM = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2}
ADD = {"Input Dims": [[8192, 8192]] * 2, "Input type": ["float"] * 2}


def trace_of(mm_us, add_us, device="NVIDIA H100 80GB HBM3", steps=2):
    events = []

    def event(cat, name, ts, dur, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur,
                       "pid": 0 if cat == "kernel" else 100, "tid": tid, "args": args})

    for step in range(steps):
        start = 10_000 * step
        event("user_annotation", f"ProfilerStep#{step}", start, 9_000, 100)
        for number, (name, us, args) in enumerate((("aten::mm", mm_us, MM),
                                                   ("aten::add", add_us, ADD))):
            at = start + 10 + 3_000 * number
            event("cpu_op", name, at, 50, 100, **args)
            event("cuda_runtime", "cudaLaunchKernel", at + 1, 5, 100,
                  correlation=2 * step + number + 1)
            event("kernel", f"kernel_of_{name}", at + 100, us, 7, stream=7, device=0,
                  correlation=2 * step + number + 1)
    return {"deviceProperties": [{"id": 0, "name": device}], "traceEvents": events}


def run(*arguments):
    return subprocess.run([program.BINARY, "compare", *map(str, arguments)], capture_output=True,
                          text=True, timeout=300, check=False)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, *arguments, **options):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(trace_of(*arguments, **options)), encoding="utf-8")
        return path


class Gate(Folder):
    def judge(self, code, base, other, *arguments):
        ran = run(other, base, *arguments)  # the candidate first
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout

    def test_what_passes_and_what_does_not(self):
        base = self.write("base", 200, 300)
        same = self.write("same", 200, 301)
        slower = self.write("slower", 260, 300, steps=3)
        self.judge(0, base, same, "--fail-on", "total > +5%")
        said = self.judge(GATE, base, slower, "--fail-on", "total > +5%")
        self.assertIn("1 of 1 conditions broken", said)
        # The rows that broke it; a step, though one trace has two steps and the other three.
        self.assertIn("FAIL total > +5%: 0.56 ms, baseline 0.5 ms, +12.00 %", said)
        self.assertIn("grew: aten::mm", said)
        self.assertNotIn("grew: aten::add", said)
        for code, condition in ((0, "total > +15%"), (0, "total > +0.1ms"), (GATE, "total>+50us"),
                                (GATE, "total >= 0.5ms"), (GATE, "op:aten::mm > +20%"),
                                (0, "op:aten::add > +1%"), (GATE, "op:* > +20% and > +0.01ms"),
                                (0, "op:* > +20% and > +0.1ms"), (GATE, "category:G*M > +1%"),
                                (GATE, "kernel:kernel_of_aten::mm > +1%"), (0, "total < -1%"),
                                (GATE, "unexpected > 0.05ms"), (0, "comparability < 80")):
            with self.subTest(condition):
                said = self.judge(code, base, slower, "--fail-on", condition)
                self.assertEqual(code == GATE, f"FAIL {condition}" in said, said)
        # Several conditions: each that is broken is said.
        said = self.judge(GATE, base, slower, "--fail-on", "total > +5%", "--fail-on", "idle > 900s"
                          .replace("900s", "900000ms"), "--fail-on=op:aten::mm > +20%")
        self.assertIn("2 of 3 conditions broken", said)

    def test_gate_judges_the_steady_steps(self):
        """An outlier step is in no figure of the gate, whichever side has it."""
        def with_outlier(name, factor):
            trace = trace_of(200, 300, steps=6)
            for event in trace["traceEvents"]:
                late = event["ts"] >= 50_000
                if late and event["name"] == "kernel_of_aten::add":
                    event["dur"] *= factor
                if late and event["name"].startswith("ProfilerStep"):
                    event["dur"] += 300 * (factor - 1)
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps(trace), encoding="utf-8")
            return path
        odd, even = with_outlier("odd", 500), with_outlier("even", 1)
        for condition in ("total > +5%", "busy > +5%", "op:* > +5%", "category:* > +5%",
                          "kernel:* > +5%", "window > +5%", "exposed_copy > +1ms"):
            with self.subTest(condition):
                self.judge(0, even, odd, "--fail-on", condition)
                self.judge(0, odd, even, "--fail-on", condition)
        said = self.judge(GATE, even, odd, "--fail-on", "total > 0.4ms")
        self.assertIn("0.5 ms, baseline 0.5 ms", said)

    def test_noise_between_runs(self):
        base = self.write("base", 200, 300)
        slower = self.write("slower", 220, 310)
        self.judge(GATE, base, slower, "--fail-on", "total > +5%")
        # Runs that differ by more than that among themselves do not show it.
        wild = [self.write(f"wild{i}", us, 300) for i, us in enumerate((150, 250, 260))]
        calm = [self.write(f"calm{i}", us, 300) for i, us in enumerate((199, 201, 200))]
        more = [self.write(f"more{i}", us, 310) for i, us in enumerate((219, 221, 220))]

        def runs(paths):
            return ",".join(map(str, paths))

        said = self.judge(0, base, slower, "--fail-on", "total > +5%", "--baseline-runs",
                          runs(wild), "--runs", runs(more))
        self.assertIn("noise", said)
        self.judge(GATE, base, slower, "--fail-on", "total > +5%", "--baseline-runs", runs(calm),
                   "--runs", runs(more))

    def test_what_cannot_be_compared_does_not_pass(self):
        base = self.write("base", 200, 300)
        empty = self.folder / "empty.json"
        empty.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 0, "dur": 1, "pid": 1,
             "tid": 1}]}), encoding="utf-8")
        for pair in ((base, empty), (empty, base), (empty, empty)):
            self.assertIn("not comparable", self.judge(GATE, *pair, "--fail-on", "total > +500%"))

    def test_units_of_different_kinds_do_not_pass(self):
        base = self.write("base", 200, 300)
        bare = trace_of(200, 300, steps=1)
        bare["traceEvents"] = [event for event in bare["traceEvents"]
                               if event["cat"] != "user_annotation"]
        other = self.folder / "bare.json"
        other.write_text(json.dumps(bare), encoding="utf-8")
        self.assertIn("units of different kinds (recording, step)",
                      self.judge(GATE, base, other, "--fail-on", "total > +500%"))

    def test_conditions_that_are_none(self):
        base = self.write("base", 200, 300)
        for condition, text in (("total", "a comparison"), ("total > 5", "needs a unit"),
                                ("totl > 5%", "not a metric"), ("total > x%", "no number"),
                                ("op: > 5%", "not a metric"), ("unexpected > +5%", "time of its own"),
                                ("comparability < 80%", "a number from 0 to 100")):
            with self.subTest(condition):
                ran = run(base, base, "--fail-on", condition)
                self.assertEqual(ran.returncode, 2)
                self.assertIn(text, ran.stderr)
        ran = run(base, base, "--fail-on", "op:nothing > 5%")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("of that name", ran.stderr)

    def test_how_the_file_is_written_does_not_count(self):
        base = self.write("base", 200, 300)
        spaced = self.folder / "spaced.json"
        spaced.write_text(json.dumps(json.loads(base.read_text(encoding="utf-8")), indent=3),
                          encoding="utf-8")
        answer = json.loads(run(base, spaced, "--json").stdout)
        self.assertEqual(answer["comparability"]["verdict"], "equal work")
        self.judge(0, base, spaced, "--fail-on", "comparability < 100")

    def test_json_stays_json(self):
        base = self.write("base", 200, 300)
        slower = self.write("slower", 260, 300)
        ran = run(slower, base, "--json", "--fail-on", "total > +5%")
        self.assertEqual(ran.returncode, GATE)
        self.assertEqual(json.loads(ran.stdout)["comparability"]["score"], 100)
        self.assertIn("FAIL total", ran.stderr)


class Reports(Folder):
    def test_what_analyze_wrote_is_a_report(self):
        folders = []
        for name, us in (("a", 200), ("b", 260)):
            folders.append(self.folder / f"out_{name}")
            ran = subprocess.run([program.BINARY, "analyze", self.write(name, us, 300),
                                  "--output-dir", folders[-1]], capture_output=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
        for a, b in (folders, [folder / "perf_report.xlsx" for folder in folders]):
            ran = run(b, a, "--output-dir", self.folder / "out", "--names", "b,a")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(ran.stdout.splitlines()[0], f"Candidate: b ({b}); baseline: a ({a})")
            with open(self.folder / "out/ops_summary.csv", newline="", encoding="utf-8") as file:
                rows = {row["name"]: row for row in csv.DictReader(file)}
            self.assertAlmostEqual(
                float(rows["aten::mm"]["total_direct_kernel_time_ms__b_over_a"]), 1.3)
        # By name, in any place; with --compat the baseline is first, as with the reference's program.
        for words in (("--baseline", folders[0], folders[1]), (folders[0], "--candidate", folders[1]),
                      (*folders, "--compat", "tracelens"),
                      (folders[1], "--baseline", folders[0], "--compat", "tracelens")):
            with self.subTest(words):
                ran = run(*words, "--output-dir", self.folder / "named", "--overwrite")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(ran.stdout.splitlines()[0],
                                 f"Candidate: {folders[1]}; baseline: {folders[0]}")
        # As the reference's program is called: the workbook by its path, sheets as words.
        ran = run(*(folder / "perf_report.xlsx" for folder in folders), "--output_xlsx_path",
                  self.folder / "pasted" / "both.xlsx", "--sheets", "gpu_timeline", "ops_summary")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.folder / "pasted" / "both.xlsx").is_file())
        self.assertFalse((self.folder / "pasted" / "kernel_summary.csv").exists())

    def test_two_traces_have_a_page_and_a_picture(self):
        a, b = self.write("a", 200, 300), self.write("b", 260, 300)
        ran = run(b, a)
        self.assertIn("jarvis view with the same two traces", ran.stdout)
        out, image = self.folder / "with_page", self.folder / "changes.png"
        ran = run(b, a, "--output-dir", out, "--image", image)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("jarvis view", ran.stdout)
        self.assertIn(f"{out}/comparison.html", ran.stdout)
        self.assertIn("<title>", (out / "comparison.html").read_text(encoding="utf-8"))
        self.assertEqual(image.read_bytes()[:4], b"\x89PNG")
        self.assertIn("--image goes with two runs",
                      run(a, b, a, "--image", image, "--output-dir", out).stderr)

    def test_an_analysis_against_another_trace(self):
        a, b = self.write("a", 200, 300), self.write("b", 260, 300)
        out = self.folder / "out"
        ran = subprocess.run([program.BINARY, "analyze", b, "--compare", a, "--output-dir", out],
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(ran.stdout.endswith(" comparative_analysis_rough.md\n"), ran.stdout)
        self.assertIn("\nCompared with the baseline: No difference: ", ran.stdout)
        self.assertIn("aten::mm", (out / "comparative_analysis_fair.md").read_text("utf-8"))
        for name in ("comparison.xlsx", "comparison_csvs/compare_by_op.csv", "perf_report.xlsx",
                     "baseline_perf_report.xlsx", "baseline_perf_report_csvs/gpu_timeline.csv",
                     "standalone_analysis_fair.md"):
            self.assertTrue((out / name).is_file(), name)

    def fair(self, *arguments):
        out = self.folder / "out"
        ran = run(*arguments, "--output-dir", out, "--overwrite")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        rough = (out / "comparative_analysis_rough.md").read_text(encoding="utf-8")
        for section in ("Analysis Process Summary", "Raw Data Exploration", "Tree Analysis",
                        "TraceLens Gaps", "Questions for Further Investigation"):
            self.assertIn(f"\n## {section}\n", rough)
        return (out / "comparative_analysis_fair.md").read_text(encoding="utf-8")

    def test_what_is_beyond_the_hardware_is_recommended(self):
        h100 = self.write("h", 200, 300)
        # The bandwidths explain 190 us for the sum: 560 are three times that.
        text = self.fair(self.write("m", 152, 560, device="AMD Instinct MI300X"), h100)
        self.assertRegex(text, "^# .* Performance Comparison: H100-SXM vs MI300X\n")
        for section in ("Executive Summary", "Recommendations for MI300X", "Detailed Comparison",
                        "Appendix"):
            self.assertIn(f"\n## {section}\n", text)
        self.assertIn("**Element-wise**: 0.560 ms where the baseline takes 0.300 ms", text)
        self.assertNotIn("Product**: 0.152 ms where", text)
        self.assertNotRegex(text, r"(?i)winner|better platform")

    def test_equal_traces_have_no_finding(self):
        h100 = self.write("h", 200, 300)
        text = self.fair(h100, self.write("again", 200, 300))
        self.assertIn("every difference is 0", text)
        self.assertNotIn("not explained", text)

    def test_names_in_traces_are_text(self):
        path = self.write("h", 200, 300)
        odd = self.folder / "odd.json"
        odd.write_text(path.read_text(encoding="utf-8").replace(
            "aten::add", "evil | {} `x`\\n\\n# Heading"), encoding="utf-8")
        text = self.fair(path, odd)
        self.assertNotIn("\n# Heading", text)
        self.assertIn("evil / {} 'x'", text)

    def test_same_bytes_each_time(self):
        pair = self.write("h", 200, 300), self.write("m", 280, 560, device="AMD Instinct MI300X")
        files = []
        for number in range(2):
            self.fair(*pair)
            files.append({path.name: path.read_bytes()
                          for path in (self.folder / "out").iterdir()})
        self.assertEqual(files[0], files[1])


class RealPairs(Folder):
    PAIRS = ("qwen1.5-0.5b", "bert-small", "vit-nsfw")

    def setUp(self):
        super().setUp()
        if not (program.DATA / "traces").is_dir():
            self.skipTest("no traces")

    def rows(self, a, b, by):
        out = self.folder / f"{a.parent.name}-{b.parent.name}"
        ran = run(a, b, "--output-dir", out, "--overwrite")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(out / f"compare_by_{by}.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {(row[by], row.get("shape", ""), row["candidate_calls"] and row["baseline_calls"]):
                row for row in rows[2:]}

    def test_both_directions_mirror(self):
        turned = {"slower than expected": "faster than expected",
                  "faster than expected": "slower than expected",
                  "only in candidate": "only in baseline", "only in baseline": "only in candidate"}
        for name in self.PAIRS:
            a, b = (program.DATA / f"traces/{name}-{device}/trace.json.gz"
                    for device in ("h100", "mi300x"))
            for by in ("op", "category"):
                one = sorted(self.rows(a, b, by).values(), key=lambda row: sorted(row.items()))
                other = {(row[by], row.get("shape"), row["candidate_ms"], row["baseline_ms"]): row
                         for row in self.rows(b, a, by).values()}
                self.assertEqual(len(one), len(other))
                for row in one:
                    back = other[(row[by], row.get("shape"), row["baseline_ms"],
                                  row["candidate_ms"])]
                    self.assertEqual(back["verdict"], turned.get(row["verdict"], row["verdict"]))
                    for column in ("expected_candidate_over_baseline", "expected_with_fixed_cost"):
                        if row[column]:
                            self.assertAlmostEqual(float(row[column]) * float(back[column]), 1)
                    if row["verdict"] in ("slower than expected", "faster than expected"):
                        # Every such row is beyond what both expectations explain.
                        ratio = float(row["candidate_over_baseline"])
                        bounds = [float(row["expected_candidate_over_baseline"]),
                                  float(row["expected_with_fixed_cost"])]
                        if row["verdict"].startswith("slower"):
                            self.assertGreater(ratio, 1.149 * max(bounds))
                        else:
                            self.assertLess(ratio, min(bounds) / 1.149)

    def test_a_trace_is_equal_to_itself(self):
        for path in sorted((program.DATA / "traces").glob("*/trace.json.gz")):
            if path.stat().st_size > 1_000_000:
                continue
            with self.subTest(path.parent.name):
                ran = run(path, path, "--json", "--limit", 200)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                answer = json.loads(ran.stdout)
                columns = answer["columns"]
                gpu = answer["comparability"]["score"] > 0
                self.assertEqual(answer["comparability"]["verdict"],
                                 "same file" if gpu else "not comparable")
                for row in answer["rows"][2:]:
                    cells = dict(zip(columns, row))
                    self.assertEqual(cells["candidate_ms"], cells["baseline_ms"])
                    self.assertEqual(cells["unexpected_ms"], 0)
                    self.assertEqual(cells["verdict"], "as expected")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
