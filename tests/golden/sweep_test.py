#!/usr/bin/env python3
"""Sweeps as a user meets them: the truth that their generator wrote down is found, the damaged one gives
a warning for each damage, odd directories cost themselves only, inputs stay as they are, files are the
user's documents' files, and two sweeps are compared in one page."""

import csv
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402

csv.field_size_limit(1 << 24)
SWEEPS = program.DATA / "sweep/input"
BASE, SECOND, DAMAGED = "sweep_20251121_155219", "sweep_20251124_222204", "sweep_20251212_141317"


def sweep(*arguments, fails=False):
    """The structured answer of `jarvis sweep ...`."""
    ran = subprocess.run([program.BINARY, "sweep", *map(str, arguments), "--json"],
                         capture_output=True, text=True, timeout=300)
    if (ran.returncode != 0) != fails:
        raise AssertionError(f"sweep {arguments}: exit {ran.returncode}: {ran.stderr}{ran.stdout}")
    return ran.stderr if fails else json.loads(ran.stdout)


def codes(answer):
    return sorted((w["code"], w["config"], w["rank"]) for w in answer["warnings"])


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def work(ts, dur):
    return kernel(ts, dur, int(ts), stream=0, name="elementwise_kernel")


def comm(ts, dur, world, channels, threads):
    return kernel(ts, dur, int(ts), stream=4, grid=[channels, 1, 1], block=[threads, 1, 1],
                  **collective("allreduce", "Float", world, 256, 256))


def state_of(folder):
    return sorted((str(p), p.stat().st_size, hashlib.sha256(p.read_bytes()).hexdigest())
                  for p in pathlib.Path(folder).rglob("*") if p.is_file())


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)


class Truth(Case):
    def test_best_configuration_straggler_and_pareto_set(self):
        truth = json.loads((SWEEPS / BASE / "generator.json").read_text())
        answer = sweep("recommend", "--sweep-dir", SWEEPS / BASE)
        self.assertEqual(answer["best"], "512thread_28ch")
        self.assertTrue(answer["complete"])
        self.assertEqual(answer["confidence"], "medium")  # one step
        # By the starts alone 76 %, with clocks aligned 74.5 %; by more than these may be wrong:
        self.assertIn(f"rank {truth['straggler_rank']} arrives last in 70 %", answer["summary"])
        by_config = {row[0]: dict(zip(answer["columns"], row)) for row in answer["rows"]}
        for config in truth["ground_truth"]:
            row = by_config[f"{config['threads']}thread_{config['channels']}ch"]
            self.assertAlmostEqual(row["gemm_us"], config["mean_gemm_us"], delta=0.01)
        # More channels cost GEMMs more, whatever the threads.
        for threads in (256, 512):
            slow = [by_config[f"{threads}thread_{c}ch"]["gemm_slow_pct"] for c in (28, 42, 56, 70)]
            self.assertEqual(slow, sorted(slow))
        self.assertFalse(by_config["256thread_70ch"]["pareto"])  # others are better in all three

    def test_each_objective(self):
        for objective, best in (("exposed_comm", "512thread_70ch"),
                                ("gemm_stability", "256thread_28ch")):
            self.assertEqual(sweep("recommend", SWEEPS / BASE, "--objective", objective)["best"], best)

    def test_scan_says_what_was_launched(self):
        answer = sweep("scan", "--sweep-dir", SWEEPS / BASE)
        launched = dict(zip(program.column(answer, "config"), program.column(answer, "launched")))
        self.assertEqual(launched["256thread_42ch"], "42x256")
        self.assertEqual(launched["512thread_70ch"], "70x512")
        self.assertEqual(answer["device"], "AMD Instinct MI300X")
        self.assertEqual(answer["traces"], 64)
        self.assertEqual(answer["warnings"], [])


class Files(Case):
    def test_the_users_files_and_untouched_inputs(self):
        before = state_of(SWEEPS / BASE)
        answer = sweep("pipeline", "--sweep-dir", SWEEPS / BASE, "--output-dir", self.path, "--png")
        self.assertEqual(state_of(SWEEPS / BASE), before)
        for name in ("256thread/individual_reports/perf_28ch_rank0.xlsx",
                     "512thread/collective_reports/collective_70ch.xlsx",
                     "comparisons/compare_42ch_rank7_across_threads.xlsx",
                     "top5_gemm_kernels_time_variance.csv",
                     "top5_gemm_kernels_time_variance_with_timestamps.csv",
                     "top5_gemm_kernels_time_variance_with_collective_overlap.csv",
                     "rocprof_top5_kernels.yaml", "rocprof_top5_kernels_kernel_list.txt",
                     "top5_gemm_kernels_with_rocprof.csv", "rocprof_kernels.csv",
                     "gpu_timeline_all_configs_geomean.xlsx",
                     "gemm_kernel_stability.csv", "gpu_timeline_all_configs_mean.xlsx",
                     "nccl_master_all_configs.xlsx", "nccl_master_all_configs.csv",
                     "plots/variance_by_threads_boxplot.png", "plots/variance_by_channels_boxplot.svg",
                     "plots/variance_by_ranks_boxplot.png", "plots/variance_violin_combined.svg",
                     "plots/variance_thread_channel_interaction.svg"):
            self.assertTrue((self.path / name).is_file(), name)
        reports = list(self.path.glob("*thread/individual_reports/*.xlsx"))
        self.assertEqual(len(reports), 64)
        self.assertTrue(answer["complete"])
        # Again into the same place: the same bytes.
        first = state_of(self.path)
        sweep("pipeline", "--sweep-dir", SWEEPS / BASE, "--output-dir", self.path, "--png")
        self.assertEqual(state_of(self.path), first)

    def test_workbooks_open(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("no openpyxl")
        sweep("gpu-timeline", SWEEPS / DAMAGED, "--output-dir", self.path)
        book = openpyxl.load_workbook(self.path / "gpu_timeline_all_configs_mean.xlsx")
        self.assertEqual(book.sheetnames[:4],
                         ["All_Data", "Pivot_Time_ms", "Pivot_Percent", "Summary_By_Config"])

    def test_one_step_writes_its_files_only(self):
        answer = sweep("gemm-variance", SWEEPS / BASE, "--output-dir", self.path, "--rank-by",
                       "overlap_cost", "--limit", "4")
        self.assertEqual(len(answer["rows"]), 4)
        self.assertFalse((self.path / "plots").exists())
        self.assertFalse((self.path / "256thread").exists())
        costs = {}
        for row in rows_of(self.path / "gemm_kernel_stability.csv"):
            costs[row["threads"], row["channels"], row["rank"], row["op"], row["dims"],
                  row["kernel_name"]] = row["overlap_cost_us"]
        self.assertEqual(len(costs), 640)
        rows = rows_of(self.path / "top5_gemm_kernels_time_variance_with_timestamps.csv")
        self.assertEqual(len(rows), 320)
        for row in rows:  # each extreme is of a call of that row
            for end in ("min", "max"):
                self.assertAlmostEqual(float(row[f"kernel_time_{end}_us"]),
                                       float(row[f"{end}_duration_found_us"]), delta=0.001)

    def test_default_place_and_foreign_files(self):
        copied = self.path / "sweep"
        shutil.copytree(SWEEPS / DAMAGED, copied)
        sweep("comms", copied)
        out = copied / "tracelens_analysis"
        self.assertTrue((out / "nccl_master_all_configs.csv").is_file())
        (out / "nccl_master_all_configs.csv").write_text("mine")
        self.assertIn("changed since", sweep("comms", copied, fails=True))
        self.assertEqual((out / "nccl_master_all_configs.csv").read_text(), "mine")


class Damage(Case):
    def test_every_damage_of_the_damaged_sweep(self):
        answer = sweep("pipeline", SWEEPS / DAMAGED, "--output-dir", self.path)
        self.assertFalse(answer["complete"])
        self.assertEqual(codes(answer),
                         [("RANK_MISSING", "256thread_28ch", None),
                          ("RANK_MISSING", "256thread_56ch", None),
                          ("RANK_MISSING", "512thread_56ch", None),
                          ("TRACE_TRUNCATED", "256thread_28ch", 2)])
        ranks = dict(zip(program.column(answer, "config"), program.column(answer, "ranks")))
        self.assertEqual(ranks, {"256thread_28ch": 3, "256thread_56ch": 3, "512thread_28ch": 4})
        self.assertEqual(len(rows_of(self.path / "sweep_warnings.csv")), 4)
        self.assertEqual(sweep("scan", SWEEPS / DAMAGED)["other"], ["tmpthread"])

    def make(self, configs, world, events=None):
        """A small sweep of our own."""
        for threads, channels in configs:
            for rank in range(world):
                made = events(rank, threads, channels) if events else [
                    comm(1000, 50 + rank, world, channels, threads), work(900, 80)]
                write(self.path / f"s/{threads}thread/nccl_{channels}channels/torch_profiler/"
                      f"rank{rank}/trace.json", trace(made, rank, world))
        return self.path / "s"

    def test_ten_and_more_ranks(self):
        folder = self.make([(256, 28)], 12)
        answer = sweep("scan", folder)
        self.assertEqual(program.column(answer, "ranks"), [12])
        self.assertNotIn("RANK_MISSING", [code for code, _, _ in codes(answer)])

    def test_axes_that_had_no_effect(self):
        folder = self.make([(256, 28), (512, 28)], 2, lambda rank, t, c: [
            comm(1000, 50, 2, c, 256), work(900, 80)])
        answer = sweep("scan", folder)
        self.assertIn(("CONFIG_MISMATCH", "512thread_28ch", None), codes(answer))
        self.assertNotIn(("CONFIG_MISMATCH", "256thread_28ch", None), codes(answer))
        self.assertEqual(sweep("recommend", folder)["confidence"], "low")

    def test_numeric_order_and_other_names(self):
        folder = self.make([(1024, 8), (256, 8), (256, 28)], 1)
        (folder / "tmpthread/nccl_xchannels").mkdir(parents=True)
        (folder / "256thread/nccl_xchannels").mkdir()
        answer = sweep("scan", folder)
        self.assertEqual(program.column(answer, "config"),
                         ["256thread_8ch", "256thread_28ch", "1024thread_8ch"])
        self.assertEqual(answer["other"], ["256thread/nccl_xchannels", "tmpthread"])

    def test_two_traces_of_a_rank_and_a_rank_that_is_another(self):
        folder = self.make([(256, 28)], 2)
        rank0 = folder / "256thread/nccl_28channels/torch_profiler/rank0"
        shutil.copy(rank0 / "trace.json", rank0 / "host_1.2.pt.trace.json")
        write(folder / "256thread/nccl_28channels/torch_profiler/rank1/trace.json",
              trace([work(1, 2)], 3, 4))
        found = [code for code, _, _ in codes(sweep("scan", folder))]
        self.assertIn("MULTIPLE_TRACES", found)
        self.assertIn("RANK_CONFLICT", found)
        self.assertIn("WORLD_SIZE_MISMATCH", found)

    def test_no_gpu_work_no_json_no_collectives(self):
        folder = self.make([(256, 28), (256, 42)], 2, lambda rank, t, c: [work(900, 80)])
        top = folder / "256thread/nccl_28channels/torch_profiler"
        write(top / "rank0/trace.json", trace([], 0, 2))
        (top / "rank1/trace.json").write_text("no trace at all")
        found = codes(sweep("scan", folder))
        self.assertIn(("TRACE_UNREADABLE", "256thread_28ch", 1), found)
        self.assertTrue({("TRACE_EMPTY", "256thread_28ch", 0),
                         ("TRACE_UNREADABLE", "256thread_28ch", 0)} & set(found))
        self.assertIn(("NO_COLLECTIVES", "256thread_42ch", None), found)
        self.assertIn(("NO_GEMM", "256thread_42ch", None), found)

    def test_other_axes(self):
        for algo in ("ring", "tree"):
            for size in (2, 16):
                write(self.path / f"s/algo_{algo}/buffer_{size}/torch_profiler/rank0/t.json",
                      trace([work(900, 80)], 0, 1))
        answer = sweep("pipeline", self.path / "s", "--output-dir", self.path / "out")
        self.assertEqual(program.column(answer, "config"),
                         ["algo_ring_buffer_2", "algo_ring_buffer_16", "algo_tree_buffer_2",
                          "algo_tree_buffer_16"])
        rows = rows_of(self.path / "out/tables/individual_gpu_timeline.csv")
        self.assertEqual({(row["algo"], row["buffer"]) for row in rows},
                         {("ring", "2"), ("ring", "16"), ("tree", "2"), ("tree", "16")})

    def test_threads_and_channels_below_another_axis(self):
        for proto in ("LL", "Simple"):
            for threads in (256, 512):
                write(self.path / f"s/proto_{proto}/{threads}thread/nccl_28channels/torch_profiler/"
                      "rank0/t.json", trace([comm(1000, 50, 1, 28, 256), work(900, 80)], 0, 1))
        answer = sweep("scan", self.path / "s")
        self.assertEqual(answer["axes"], ["proto", "threads", "channels"])
        self.assertEqual([config for code, config, _ in codes(answer) if code == "CONFIG_MISMATCH"],
                         ["proto_LL_512thread_nccl_28channels",
                          "proto_Simple_512thread_nccl_28channels"])

    def test_nothing_there_is_one_clear_error(self):
        self.assertIn("no directory", sweep("scan", self.path / "nowhere", fails=True))
        self.assertIn("no run in", sweep("scan", self.path, fails=True))
        folder = self.make([(256, 28)], 1)
        for path in folder.rglob("*.json"):
            path.write_text("{")
        self.assertIn("can be used", sweep("scan", folder, fails=True))
        self.assertIn("no configuration", sweep("pipeline", SWEEPS / BASE, "--configs", "7thread_1ch",
                                                "--output-dir", self.path / "o", fails=True))


class Compare(Case):
    def test_three_sweeps(self):
        answer = sweep("compare", "--sweep1", SWEEPS / BASE, "--sweep2", SWEEPS / SECOND,
                       "--sweep-dir", SWEEPS / DAMAGED, "--label1", "Base ROCm", "--label2",
                       "<script>alert(1)</script>", "--labels", "cut", "--output-dir", self.path)
        self.assertIn("step time -4.3 % over 8 configurations", answer["summary"])
        self.assertIn("cut does other work", answer["summary"])
        page = (self.path / "sweep_comparison.html").read_text(encoding="utf-8")
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert(1)", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/", ""))
        metrics = rows_of(self.path / "sweep_comparison_metrics.csv")
        step = {row["config"]: row for row in metrics
                if row["metric"] == "Step time" and row["sweep"].startswith("<script>")}
        self.assertEqual(len(step), 8)
        for row in step.values():
            self.assertEqual(row["verdict"], "better")
            self.assertTrue(-6 < float(row["change_pct"]) < -3)
        other = [row for row in metrics if row["sweep"] == "cut" and row["verdict"] == "better"]
        self.assertEqual(other, [])

    def test_a_sweep_against_itself_differs_in_nothing(self):
        sweep("compare", SWEEPS / BASE, SWEEPS / BASE, "--output-dir", self.path)
        verdicts = {row["verdict"] for row in rows_of(self.path / "sweep_comparison_metrics.csv")}
        self.assertEqual(verdicts, {"baseline", "within noise"})
        lists = {row["list"] for row in rows_of(self.path / "sweep_comparison_kernels.csv")}
        self.assertEqual(lists, set())


if __name__ == "__main__":
    program.need_data()
    unittest.main()
