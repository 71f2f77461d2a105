#!/usr/bin/env python3
"""Reports with a baseline trace against the reference's own, every cell; and what the default
owes for any pair of traces: no GPU time is lost, shared times are split, pairs mirror each other.

    trace_diff_tables_test.py [unittest arguments]
"""

import csv
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

csv.field_size_limit(1 << 30)

AGENT = {"platform": "MI300X", "pseudo_ops": True, "group_by_num_kernels": True,
         "include_call_stack": True}
TRACES = program.DATA / "traces"


def trace_of(name):
    return str(TRACES / name / "trace.json.gz")


def references():
    """Candidate, baseline and the folder of the reference's tables."""
    yield (trace_of("qwen1.5-0.5b-mi300x"), trace_of("qwen1.5-0.5b-h100"),
           program.DATA / "expected/compare/tracediff-qwen-mi300x-vs-h100")
    for case in sorted((program.DATA / "cases").glob("*/trace2.json")):
        yield (str(case.with_name("trace1.json")), str(case),
               case.parent / "reference/perf_report_trace1_csvs")


def call(primary, comparison, out, **options):
    return "perf_report", {"trace": primary, "baseline": comparison, "output_dir": str(out),
                           **options}


def tables(out):
    return {path.stem: list(csv.DictReader(path.read_text(encoding="utf-8").splitlines(True)))
            for path in pathlib.Path(out).glob("*.csv")}


def report(*arguments, **options):
    program.tool_answers([call(*arguments, **options)])
    return tables(arguments[2])


def total(rows, column):
    return math.fsum(float(row[column]) for row in rows if row[column])


class Compatible(unittest.TestCase):
    def test_every_cell_of_every_table_agrees(self):
        pairs = list(references())
        self.assertGreaterEqual(len(pairs), 3)
        for primary, comparison, expected in pairs:
            with self.subTest(expected.name), tempfile.TemporaryDirectory() as out:
                report(primary, comparison, out, compat="tracelens", **AGENT)
                self.assertEqual({path.name for path in pathlib.Path(out).glob("*.csv")},
                                 {path.name for path in expected.glob("*.csv")})
                ran = subprocess.run(
                    [sys.executable, "-B", str(program.DATA / "tools/compare_tables.py"),
                     str(expected), out], capture_output=True, text=True, check=False)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                self.assertIn("100.000 %", ran.stdout)

    def test_the_example_of_the_specification(self):
        with tempfile.TemporaryDirectory() as out:
            rows = report(trace_of("bert-small-h100"), trace_of("bert-small-mi300x"), out,
                          compat="tracelens")["unified_perf_summary"]
        row = next(row for row in rows if "flash_attention" in row["name"])
        self.assertEqual(row["lca_id"], "80; 160; 240; 320")
        self.assertEqual(row["lca_name"], "; ".join(["aten::_flash_attention_forward"] * 4))
        self.assertEqual(row["lca_count_trace2"], "4.0")
        self.assertEqual(row["speedup (trace2/trace1)"], "3.0382805816937553")
        self.assertAlmostEqual(float(row["delta_us (trace2 - trace1)"]), 76.247796875, places=6)

    def test_identical_traces_have_zero_differences(self):
        with tempfile.TemporaryDirectory() as out:
            made = report(*[trace_of("bert-small-h100")] * 2, out, compat="tracelens")
        self.assertEqual(len(made["diff_stats"]), 61)
        self.assertNotIn("source", made["diff_stats"][0])
        for row in made["unified_perf_summary"]:
            self.assertEqual(row["speedup (trace2/trace1)"], "1.0")
            # P14: two time bases.
            self.assertAlmostEqual(float(row["delta_us (trace2 - trace1)"]), 0, places=2)

    def test_a_trace_without_ops_is_an_error(self):
        ran = program.call("perf_report", trace=trace_of("bert-small-h100"),
                           baseline=trace_of("gpu-only-mi210"), compat="tracelens")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("no host ops", ran.stderr)


# Of two platforms, of one with itself, of two models, without GPU work, ops or launches.
PAIRS = [("qwen1.5-0.5b-mi300x", "qwen1.5-0.5b-h100"), ("bert-small-h100", "bert-small-h100"),
         ("owlv2-mi300x", "norm-layers"), ("cpu-only", "bert-small-h100"),
         ("gpu-only-mi210", "norm-layers"), ("resnet-recompute-mi300x", "bert-small-mi300x"),
         ("sglang-decode-mi300x", "vllm-decode-mi300x"), ("simple-add", "triton-compiled")]


class Default(unittest.TestCase):
    def test_no_time_is_lost(self):
        with tempfile.TemporaryDirectory() as out:
            calls = []
            for i, (a, b) in enumerate(PAIRS):
                calls += [call(trace_of(a), trace_of(b), f"{out}/ab{i}"),
                          call(trace_of(b), trace_of(a), f"{out}/ba{i}")]
            program.tool_answers(calls)
            for i, pair in enumerate(PAIRS):
                with self.subTest(pair):
                    ab, ba = tables(f"{out}/ab{i}"), tables(f"{out}/ba{i}")
                    self.check(ab, [ab, ba], pair)
                    self.check_mirrored(ab, ba)

    def check(self, made, reports, pair):
        stats, summary = made["diff_stats"], made["diff_summary"]
        for side in (1, 2):
            rows = [row for row in stats if row["source"] == f"trace{side}"]
            kernels_us = total(rows, "kernel_time")
            everything = reports[side - 1]["coverage"][0]
            self.assertEqual(len(rows), int(everything["gpu events"]))
            self.assertAlmostEqual(kernels_us, float(everything["time ms"]) * 1e3, delta=1e-3)
            # Busy times: work of one group on several streams counts once.
            self.assertLessEqual(total(summary, f"time_trace{side}_us"), kernels_us * (1 + 1e-9))
        if "unified_perf_summary" not in made:
            return
        # A12: the rows' times add up to what the traces have below common calls.
        linked = [row for row in summary if row["lca_name"] != "(unlinked)"]
        rows = made["unified_perf_summary"]
        for side in (1, 2):
            met = [row for row in linked if int(row["kernels_trace1"]) > 0]
            seen = total(rows, f"lca_total_kernel_time_trace{side}_us")
            self.assertLessEqual(seen, total(linked, f"time_trace{side}_us") * (1 + 1e-9))
            if side == 1:
                self.assertAlmostEqual(seen, total(met, "time_trace1_us"), delta=1e-3)
        if pair[0] == pair[1]:
            for row in rows:
                self.assertIn(row["delta_us (trace2 - trace1)"], ("0.0", ""))
            self.assertEqual({row["difference"] for row in summary}, {"equal"})

    def check_mirrored(self, ab, ba):
        for side, other in ((1, 2), (2, 1)):
            self.assertAlmostEqual(total(ab["diff_summary"], f"time_trace{side}_us"),
                                   total(ba["diff_summary"], f"time_trace{other}_us"), delta=1e-3)
            self.assertEqual(self.lcas(ab, side), self.lcas(ba, other))

    def lcas(self, made, side):
        """What is compared with what: the LCA of each GPU event of one side."""
        return {row["gpu_op_uid"]: row["lowest_common_ancestor_id"]
                for row in made["diff_stats"] if row["source"] == f"trace{side}"}

    def test_the_same_bytes_twice(self):
        with tempfile.TemporaryDirectory() as out:
            for name in ("a", "b"):
                report(trace_of("vit-nsfw-h100"), trace_of("vit-nsfw-mi300x"), f"{out}/{name}")
            for path in pathlib.Path(out, "a").glob("*.csv"):
                self.assertEqual(path.read_bytes(), pathlib.Path(out, "b", path.name).read_bytes())

    def test_a_shared_ancestor_is_split(self):
        """Four kernels of 1,160 us against one fused kernel of 800 us."""
        case = program.DATA / "cases/test01_moe_fused_vs_unfused"
        with tempfile.TemporaryDirectory() as out:
            rows = report(str(case / "trace1.json"), str(case / "trace2.json"),
                          out)["unified_perf_summary"]
        self.assertAlmostEqual(total(rows, "lca_total_kernel_time_trace1_us"), 1160)
        self.assertAlmostEqual(total(rows, "lca_total_kernel_time_trace2_us"), 800)
        self.assertAlmostEqual(total(rows, "delta_us (trace2 - trace1)"), -360)
        self.assertEqual({row["lca_shared"] for row in rows}, {"1 of 1"})


class Tool(unittest.TestCase):
    def ask(self, *pair, **options):
        return program.ask("trace_diff", candidate=trace_of(pair[0]), baseline=trace_of(pair[1]),
                           **options)

    def test_rows_and_roles_add_up_to_the_traces(self):
        pair = ("qwen1.5-0.5b-mi300x", "qwen1.5-0.5b-h100")
        for by in ("call", "role"):
            answer = self.ask(*pair, by=by, limit=200)
            self.assertEqual(answer["total"], answer["shown"])
            for side in ("trace1", "trace2"):
                self.assertAlmostEqual(math.fsum(program.column(answer, f"{side}_ms")),
                                       answer[side]["gpu_ms"], delta=0.05)
        roles = {row[0]: row for row in answer["rows"]}
        # Of kernels that the profiler linked to an op: 24 calls, the flash kernel of each.
        self.assertGreater(roles["attention"][1], 3.9)
        self.assertIn("less", roles["attention"][-1])
        for role in ("norm", "mlp up", "mlp down", "attention projections", "rotary embedding"):
            self.assertGreater(roles[role][1], 0)

    def test_frameworks_whose_stacks_differ_are_compared_by_role(self):
        answer = self.ask("sglang-decode-mi300x", "vllm-decode-mi300x", by="role", limit=50)
        roles = {row[0]: row[1:3] for row in answer["rows"]}
        for role in ("attention", "attention projections", "norm", "rotary embedding", "kv cache"):
            self.assertGreater(min(roles[role]), 0, role)
        self.assertEqual(roles["experts"][0], 0)
        self.assertGreater(roles["router"][1], 0)
        self.assertGreater(roles["mlp up"][0], 0)

    def test_identical_traces_and_traces_without_work(self):
        same = self.ask("bert-small-h100", "bert-small-h100")
        self.assertIn("No difference", same["summary"])
        self.assertEqual(set(program.column(same, "difference")), {"equal"})
        self.assertIn("neither has GPU work", self.ask("cpu-only", "cpu-only")["summary"])
        one = self.ask("cpu-only", "bert-small-h100")
        self.assertEqual(set(program.column(one, "difference")), {"in trace 2 only"})
        self.assertIn("as a whole", self.ask("sam-fast-a100", "owlv2-mi300x")["summary"])

    def test_a_place_side_by_side(self):
        pair = ("bert-small-h100", "bert-small-mi300x")
        uid = None
        for at in ("op1", "k1", "BertLayer", "aten::addmm"):
            answer = self.ask(*pair, at=at)
            self.assertIn(" | ", answer["text"])
            self.assertIn("trace 2 takes", answer["summary"])
        chain = program.ask("parent_chain", trace=trace_of(pair[0]), row="op1")
        uid = program.column(chain, "example_uid")[0]
        self.assertIn("1 place ", self.ask(*pair, at=str(uid))["summary"])

    def test_files(self):
        with tempfile.TemporaryDirectory() as out:
            answer = self.ask("bert-small-h100", "bert-small-mi300x", output_dir=out)
            names = {pathlib.Path(file["path"]).name for file in answer["files"]}
            self.assertEqual(names, {"diff_stats.csv", "diff_stats_unique_args_summary.csv",
                                     "diff_summary.csv", "diff_roles.csv", "merged_tree_output.txt"})
            tree = pathlib.Path(out, "merged_tree_output.txt").read_text(encoding="utf-8")
            self.assertTrue(tree.startswith("└── (trace)\n"))
            self.assertIn("aten::addmm", tree)
            made = tables(out)
            self.assertLess(len(made["diff_stats_unique_args_summary"]), len(made["diff_stats"]))
            self.assertEqual(sum(int(row["operation_count"])
                                 for row in made["diff_stats_unique_args_summary"]),
                             len(made["diff_stats"]))


if __name__ == "__main__":
    program.need_data()
    unittest.main()
