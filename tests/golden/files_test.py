#!/usr/bin/env python3
"""The files of an analysis: each fits its schema, the numbers of one agree with those of another, and
what was planted into a generated trace is found in them, at its true size."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402

sys.path.insert(0, str(program.SOURCE / "tests" / "bench"))
import hostile_shapes  # noqa: E402

ROOT = pathlib.Path(os.environ.get("JARVIS_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
SCHEMAS = ROOT / "tools_schema" / "files"
DATA = pathlib.Path(os.environ.get("JARVIS_TEST_DATA", ROOT.parent / "shared"))
MAKE_TRACE = os.environ.get("MAKE_TRACE_BINARY", "")
SYSTEM = ("cpu_idle", "multi_kernel", "kernel_fusion")
# A planted bottleneck, the category and the subject of the finding about it.
PLANTED = {"tall_skinny_gemm": ("gemm", "aten::mm"),
           "unfused_rmsnorm": ("kernel_fusion", "DecoderLayer"),
           "launch_bound_token_count": ("cpu_idle", "launch_bound"),
           "exposed_all_reduce": ("multi_kernel", "communication")}
# Fixes that compute with fewer bits, which are ranked by less than they are expected to save.
INEXACT = {fix["id"] for fix in map(json.loads, (path.read_text(encoding="utf-8") for path in
                                                (ROOT / "src/levers/catalogue").glob("*.json")))
           if fix.get("inexact")}
csv.field_size_limit(1 << 30)  # a replayed graph has thousands of kernels in one cell
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, KINDS[name])


def breaches(value, schema, place="$"):
    """Where a value does not fit the part of JSON Schema that these schemas use."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(has_type(value, name) for name in types):
        yield f"{place}: {value!r:.80} is no {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r:.80} is not one of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: {name} is missing"
        rest = schema.get("additionalProperties", True)
        for name, part in value.items():
            if name in schema.get("properties", {}):
                yield from breaches(part, schema["properties"][name], f"{place}.{name}")
            elif rest is False:
                yield f"{place}: {name} is not in the schema"
            elif rest is not True:
                yield from breaches(part, rest, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for number, part in enumerate(value):
            yield from breaches(part, schema["items"], f"{place}[{number}]")


def schema_of(path):
    """The name of the schema of a written JSON file."""
    stem = path.stem
    if (SCHEMAS / f"{stem}.schema.json").exists():
        return stem
    if stem.endswith("_findings"):
        return "findings"
    for ending in ("tree_data", "metrics", "metadata"):
        if stem.endswith("_" + ending):
            return ending if ending == "tree_data" else "category_" + ending
    return None


class Files(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)
        self.schemas = {path.name.removesuffix(".schema.json"): json.loads(path.read_text())
                        for path in SCHEMAS.glob("*.json")}

    def write(self, trace, **arguments):
        self.answer = program.ask("category_filter", trace=str(trace), output_dir=str(self.out),
                                  **arguments)
        return {str(path.relative_to(self.out)): json.loads(path.read_text(encoding="utf-8"))
                for path in self.out.rglob("*.json")}

    def check(self, files):
        for name, content in files.items():
            schema = schema_of(pathlib.Path(name))
            self.assertIsNotNone(schema, name)
            self.assertEqual(list(breaches(content, self.schemas[schema])), [], name)
        manifest = files["category_data/category_manifest.json"]
        listed = {entry["path"] for entry in manifest["files"]}
        there = {str(path.relative_to(self.out)) for path in self.out.rglob("*.*")
                 if path.is_file() and path.name != ".jarvis-files"}
        # Documents are written again whenever somebody asks for them.
        documents = {name for name in there
                     if name.startswith(("category_findings/", "system_findings/"))
                     or name.endswith((".md", ".svg", ".html", ".jsonl"))
                     or name == "metadata/report_options.json"}
        self.assertGreater(len(documents), 5)
        self.assertEqual(there - listed - documents, {"category_data/category_manifest.json"})
        self.assertEqual(listed - there, set())
        self.check_numbers(files, manifest)

    def check_numbers(self, files, manifest):
        """No saving above the time there is; the ranking is that of the metrics."""
        priority = files["priority_data.json"]
        for finding in priority["findings"]:
            saving = finding["savings_ms"]
            source = files[finding["source"]["file"]]["category_findings"][finding["rank"] - 1]
            self.assertEqual(source["id"], finding["id"])
            self.assertEqual(source["savings_ms"], saving)
            for path in ("path_a", "path_b"):  # empty: no rule assessed it
                self.assertIsInstance(finding[path], list)
            if saving is None:
                continue
            self.assertLessEqual(saving["low"], saving["mid"] * 1.001 + 1e-6)
            self.assertLessEqual(saving["mid"], saving["high"] * 1.001 + 1e-6)
            # What the host would save is told by the replay: what waits for it is gone, too.
            if finding["category"] != "cpu_idle":
                self.assertLessEqual(saving["high"], finding["exclusive_ms"] * 1.001 + 1e-6)
        self.check_order(priority["findings"])
        combined = priority["combined"]
        self.assertLessEqual(combined["savings_ms"]["high"], (priority["baseline_ms"] or 0) + 1e-3)
        self.assertLessEqual(combined["savings_ms"]["mid"], combined["sum_of_parts_ms"] * 1.001 + 1e-3)
        gaps = files["category_data/idle_gaps.json"]
        self.assertAlmostEqual(sum(group["total_ms"] for group in gaps["summary"]),
                               gaps["idle_ms"] or 0, delta=0.01 + 0.002 * (gaps["idle_ms"] or 0))
        for entry in manifest["categories"]:
            if entry["name"] in SYSTEM:
                continue
            metrics = files[entry["metrics_file"]]
            with open(self.out / entry["csv_file"], newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            us = sum(float(row["Kernel Time (µs)_sum"]) for row in rows)
            self.assertAlmostEqual(us / 1000, metrics["total_time_ms"],
                                   delta=0.001 + 0.001 * us / 1000, msg=entry["name"])

    def check_order(self, findings):
        """Each saves the most beyond those before it; what waited for the host shows only then."""
        before = shown = None
        for finding in findings:
            walls = finding["wall_savings_ms"]
            after = [way["after_others"] for way in (walls["path_a"], walls["path_b"]) if way]
            if not after or walls["one_off"]:
                continue
            # Pinned uploads spare the host its waits.
            frees = finding["category"] in ("cpu_idle", "kernel_fusion") or finding["subject"].startswith("H2D")
            # As shown, as wide as alone: what is larger at both ends stands above.
            ways = [way for way in (walls["path_a"], walls["path_b"]) if way]
            best = max(ways, key=lambda way: way["mid"])
            # Nor is it known of what other work hides before how much shows after.
            frees = frees or after[0] > 1.01 * best["mid"]
            scale = after[0] / best["mid"] if best["mid"] else 0
            doubtful = finding["patterns"] and finding["patterns"][0]["pattern"] in INEXACT
            ranked = scale * (best["low"] + best["mid"]) / 2 if doubtful else after[0]
            ends = [best["low"] * scale, best["high"] * scale]
            above = shown is not None and all(a >= b for a, b in zip(shown, ends))
            if before is not None and not frees and not above:
                self.assertLessEqual(ranked, before * 1.001 + 1e-3, finding["id"])
            shown = ends
            before = None if frees else ranked

    def findings_of(self, files):
        return files["priority_data.json"]["findings"]


class ManyShapes(Files):
    """Of hundreds of shapes files and reports list those with the most time, tables have all."""
    SHAPES, LISTED = 260, 200

    def test_lists_are_cut_and_say_so(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        trace = pathlib.Path(folder.name) / "dims.json"
        hostile_shapes.write("dims", self.SHAPES, str(trace))
        files = self.write(trace)
        self.check(files)
        metrics = files["category_data/gemm_metrics.json"]
        left = metrics["operations_left_out"]
        self.assertEqual(len(metrics["operations"]), self.LISTED)
        self.assertEqual(left["count"], self.SHAPES - self.LISTED)
        listed_ms = sum(operation["time_ms"] for operation in metrics["operations"])
        self.assertAlmostEqual(listed_ms + left["time_ms"], metrics["total_time_ms"], places=3)
        with open(self.out / left["file"], newline="", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), self.SHAPES)
        cut = [f for f in self.findings_of(files) if f["member_count"] > self.LISTED]
        self.assertTrue(cut)
        for finding in cut:
            self.assertEqual(len(finding["members"]), self.LISTED)
        twins = {twin["finding"]: twin for twin in files["category_findings/gemm_findings.json"]}
        self.assertEqual(twins[cut[0]["id"]]["member_count"], cut[0]["member_count"])
        report = (self.out / "analysis.md").read_text(encoding="utf-8")
        self.assertIn(f"The first {self.LISTED} of {cut[0]['member_count']} are shown; "
                      "`category_data/gemm_ops.csv` has all.", report)
        self.assertLess(report.count("\n| `aten::mm`"), 3 * self.LISTED)
        answer = program.ask("validate", trace=str(trace), output_dir=str(self.out))
        self.assertEqual(answer["rows"], [])

    def test_without_drafts(self):
        answer = program.ask("category_filter", trace=str(program.EXAMPLE), output_dir=str(self.out),
                             drafts=False)
        self.assertIn("Wrote", answer["summary"])
        self.assertTrue((self.out / "priority_data.json").exists())
        self.assertEqual(list(self.out.rglob("*.md")) + list(self.out.rglob("*.html")), [])


class Planted(Files):
    def check_truth(self, trace, truth):
        files = self.write(trace)
        self.check(files)
        planted = json.loads(pathlib.Path(truth).read_text(encoding="utf-8"))["planted"]
        ranks = {}
        for one in planted:
            category, subject = PLANTED[one["name"]]
            found = [f for f in self.findings_of(files)
                     if f["category"] == category and f["subject"] == subject]
            self.assertTrue(found, one["name"])
            claimed = found[0]["savings_ms"]
            if one["name"] == "exposed_all_reduce":
                # One rank cannot tell waiting from transfer: its size is told, and no saving.
                self.assertIsNone(claimed)
                self.assertGreaterEqual(found[0]["exclusive_ms"], one["saving_ns"] / 1e6)
                continue
            if found[0]["category"] == "kernel_fusion":  # with other chains: those of the norm
                norms = [c["savings_ms"]["mid"] for c in files["category_data/fusion_candidates.json"]
                         if c["kind"] == "norm"]
                claimed = {"mid": sum(norms)}
            true_ms = one["saving_ns"] / 1e6
            with self.subTest(one["name"], claimed=claimed["mid"], true=true_ms):
                self.assertLessEqual(abs(claimed["mid"] / true_ms - 1), 0.15)
            ranks[one["name"]] = found[0]["global_rank"]
        # By their true savings; which of two that are within a tenth comes first is chance.
        sized = [one for one in planted if one["name"] in ranks]
        for one in sized:
            for other in sized:
                if one["saving_ns"] > 1.1 * other["saving_ns"]:
                    self.assertLess(ranks[one["name"]], ranks[other["name"]], ranks)
        # Nothing that was not planted comes before what was.
        saving = [f["global_rank"] for f in self.findings_of(files) if f["savings_ms"]]
        self.assertEqual(sorted(ranks.values()), saving[:len(ranks)])

    def test_bundled_trace(self):
        self.check_truth(program.EXAMPLE, program.EXAMPLE.parent / "transformer_step.truth.json")

    def make(self, *flags):
        if not MAKE_TRACE:
            self.skipTest("no MAKE_TRACE_BINARY")
        path = self.out / "made.json"
        subprocess.run([MAKE_TRACE, "--out", str(path), *flags], check=True, capture_output=True)
        trace = pathlib.Path(self.folder.name + ".json")
        truth = pathlib.Path(self.folder.name + ".truth.json")
        path.rename(trace)
        path.with_name("made.truth.json").rename(truth)
        self.addCleanup(trace.unlink)
        self.addCleanup(truth.unlink)
        return trace, truth

    def test_more_layers_and_another_seed(self):
        self.check_truth(*self.make("--layers", "6", "--steps", "2", "--seed", "7"))

    def test_clean_trace_has_nothing_to_fix(self):
        trace, _ = self.make("--clean", "--layers", "4", "--steps", "2")
        files = self.write(trace)
        self.check(files)
        priority = files["priority_data.json"]
        self.assertEqual(priority["findings"], [])
        self.assertIn("near_roof", priority["nothing_because"])
        answer = program.ask("category_analysis", trace=str(trace))
        self.assertIn("No finding", answer["summary"])
        self.assertIn("near", answer["summary"])

    def test_without_frames_and_with_another_gpu(self):
        trace, _ = self.make("--layers", "2", "--steps", "2", "--no-python-frames",
                             "--platform", "mi300x")
        files = self.write(trace)
        self.check(files)
        subjects = {(f["category"], f["subject"]) for f in self.findings_of(files)}
        self.assertIn(("gemm", "aten::mm"), subjects)
        self.assertIn(("cpu_idle", "launch_bound"), subjects)
        codes = {code["code"] for code in files["metadata/trace_quality.json"]}
        self.assertIn("no_stacks", codes)


class Cases(Files):
    """The reference's figures for its own cases, where it has no defect; those that differ on purpose
    are in docs/differences.md."""

    NAMES = ("conv_01_large_spatial_small_ch", "conv_04_depthwise", "conv_07_transposed",
             "elem_01_add_poor_bw", "sdpa_03_short_seq_overhead")

    def check_case(self, case):
        files = self.write(case / "trace.json", platform="MI300X")
        self.check(files)
        reference = case / "reference"
        wanted = json.loads((reference / "priority_data.json").read_text())
        ours = [f for f in self.findings_of(files) if f["tier"] == "compute_kernel"]
        # Elementwise ops whose wall time hardly shows are no finding of ours.
        categories = {f["category"] for f in ours} | {"conv_fwd", "sdpa_fwd"}
        expected = [f for f in wanted["findings"] if f["category"] in categories]
        self.assertEqual([f["category"] for f in ours], [f["category"] for f in expected])
        for mine, theirs in zip(ours, expected):
            for key in ("bound_type", "eff_bucket", "estimate_method"):
                self.assertEqual(mine[key], theirs[key])
            if theirs["library"] != "Unknown":  # it knows fewer libraries
                self.assertEqual(mine["library"], theirs["library"])
            for key in ("impact_score_low", "impact_score", "impact_score_high"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=0.05, msg=key)
            metrics = json.loads(
                (reference / f"category_data/{mine['category']}_metrics.json").read_text())
            operations = files[f"category_data/{mine['category']}_metrics.json"]["operations"]
            self.assertEqual(len(operations), len(metrics["operations"]))
            for a, b in zip(operations, metrics["operations"]):
                self.assertEqual((a["name"], a["count"]), (b["name"], b["count"]))
                self.assertAlmostEqual(a["time_ms"], b["time_ms"], delta=0.005)
                for key in ("efficiency_percent", "tflops_achieved"):
                    self.assertAlmostEqual(a["efficiency"][key], b["efficiency"][key], delta=0.06)

    def test_cases(self):
        if not (DATA / "cases").exists():
            self.skipTest("no cases: set JARVIS_TEST_DATA")
        for name in self.NAMES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.out = pathlib.Path(folder)
                self.check_case(DATA / "cases" / name)

    def test_fused_experts_are_modelled_and_nothing_is_claimed_above_the_roof(self):
        wanted = {"moe_02_few_experts_many_tokens": (48.2, True), "moe_04_top2_dense": (103.6, False)}
        for name, (efficiency, finding) in wanted.items():
            if not (DATA / "cases").exists():
                self.skipTest("no cases: set JARVIS_TEST_DATA")
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.out = pathlib.Path(folder)
                files = self.write(DATA / "cases" / name / "trace.json", platform="MI300X")
                self.check(files)
                metrics = files["category_data/moe_fused_metrics.json"]
                self.assertAlmostEqual(
                    metrics["operations"][0]["efficiency"]["efficiency_percent"], efficiency, delta=0.1)
                self.assertEqual(bool(metrics["category_findings"]), finding)
                self.assertEqual(bool(metrics["anomalies"]), not finding)

    def check_unrecorded(self, files):
        """While the GPU works on what is not in the trace it is not idle, and nothing is saved."""
        quality = {one["code"]: one for one in files["metadata/trace_quality.json"]}
        gaps = files["category_data/idle_gaps.json"]
        left_out = (files["priority_data.json"]["baseline_ms"] or 0) - (gaps["window_ms"] or 0)
        known = quality.get("unrecorded_gpu_work", {"ms": 0.0})["ms"]
        self.assertGreaterEqual(left_out, -0.01)
        if known:
            self.assertLessEqual(left_out, known + 0.01)
        for gap in gaps["top_gaps"]:
            self.assertLessEqual(gap["dur_us"] / 1000, gaps["idle_ms"] + 0.01)

    def test_every_trace_fits_the_schemas(self):
        traces = [path for path in sorted((DATA / "traces").glob("*/*.json.gz"))
                  if path.stat().st_size < 3_000_000]
        if not traces:
            self.skipTest("no traces: set JARVIS_TEST_DATA")
        for trace in traces:
            with self.subTest(trace.parent.name), tempfile.TemporaryDirectory() as folder:
                self.out = pathlib.Path(folder)
                files = self.write(trace)
                self.check(files)
                self.check_unrecorded(files)
                said = (files["priority_data.json"]["findings"]
                        or files["priority_data.json"]["nothing_because"])
                self.assertTrue(said, "an empty success")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
