#!/usr/bin/env python3
"""The report about all ranks: worked numbers, and ranks that are missing, wrong or twice."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, table, number  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402


class Numbers(Case):
    BOTH = ({}, {"compat": "tracelens"})

    def test_latency_skew_and_bandwidth(self):
        args = collective("allreduce", "Float", 4, 1048576, 1048576)
        self.ranks(lambda r: [kernel(1000 + 10 * r, 100 - 10 * r, 1, **args)])
        for options in self.BOTH:
            _, out = self.report(**options)
            row = table(out, "nccl_implicit_sync")[0]
            self.near(row, collective_id="0_0", comm_latency=70, avg_wait_time=15.0)
            self.near(row, **{"skew in start time": 30, "skew in end time": 0,
                              "earliest arrival rank": 0, "algo bw (GB/s)": 55.80357142857143,
                              "bus bw (GB/s)": 83.70535714285714, "rank_0_wait_time": 30})

    def test_gather_counts_what_comes_out(self):
        args = collective("_allgather_base", "BFloat16", 4, 262144, 1048576)
        self.ranks(lambda r: [kernel(1000 + 10 * r, 90 - 10 * r, 1, **args)])
        for options in self.BOTH:
            _, out = self.report(**options)
            self.near(table(out, "nccl_implicit_sync")[0],
                      **{"Full msg size (MB)": 2, "algo bw (GB/s)": 32.552083333333336,
                         "bus bw (GB/s)": 24.4140625})

    @staticmethod
    def ten(rank, **args):
        return [kernel(10**6 + 50 * rank + 1000 * i + rank * (5 if i % 3 == 0 else 2),
                       50 + 3 * rank, i + 1, **args) for i in range(10)]

    def test_without_groups_and_on_one_stream_order_is_all_there_is(self):
        self.ranks(lambda r: self.ten(r))
        _, out = self.report(compat="tracelens", agg_metrics=["mean", "std"])
        rows = table(out, "nccl_implicit_sync")
        self.assertEqual([row["collective_id"] for row in rows], [str(i) for i in range(10)])
        self.near(rows[0], comm_latency=50, avg_wait_time=82.5)
        self.near(rows[0], **{"skew in start time": 165, "earliest arrival rank": 0,
                              "skew in end time": 174})
        self.near(rows[1], comm_latency=50, avg_wait_time=78.0)
        self.near(rows[1], **{"skew in start time": 156, "skew in end time": 165})
        self.assertEqual({row["algo bw (GB/s)"] for row in rows}, {""})
        summary = table(out, "nccl_summary_implicit_sync")[0]
        self.assertEqual(list(summary)[:4] + ["bus bw (GB/s)_mean" in summary],
                         ["Collective name", "dtype", "In msg nelems", "Process Group Name", False])
        self.assertEqual([summary[c] for c in list(summary)[:4]], ["Unknown"] * 3 + ["all"])
        self.near(summary, comm_latency_mean=50.0, comm_latency_std=0.0, count=10)
        self.near(summary, **{"skew in start time_mean": 159.6,
                              "skew in start time_std": 4.6475800154489,
                              "skew in end time_mean": 168.6, "Total comm latency (ms)": 0.5})

    def test_without_groups_and_on_two_streams(self):
        self.ranks(lambda r: [kernel(1000 * i + r, 50, i + 1, stream=7 + i % 2) for i in range(4)])
        _, out = self.report(compat="tracelens")
        self.assertEqual({row["collective_id"] for row in table(out, "nccl_long")},
                         {f"Unknown_Group_{i}" for i in range(4)})

    def test_with_groups(self):
        args = collective("_allgather_base", "BFloat16", 4, 40960, 163840)
        self.ranks(lambda r: self.ten(r, **args))
        _, out = self.report(compat="tracelens")
        self.near(table(out, "nccl_implicit_sync")[0],
                  **{"Full msg size (MB)": 0.3125, "algo bw (GB/s)": 6.103515625,
                     "bus bw (GB/s)": 4.57763671875})
        rows = [[float(row[c]) for c in list(row)[:8]] for row in table(out, "straggler_summary")]
        self.assertEqual(rows, [[3, 0, 0, 10, 0, 100, 10, 590], [2, 532, 53.2, 0, 0, 0, 10, 560],
                                [1, 1064, 106.4, 0, 0, 0, 10, 530],
                                [0, 1596, 159.6, 0, 10, 0, 10, 500]])

    def test_who_comes_last(self):
        args = collective("_allgather_base", "BFloat16", 4, 40960, 163840)
        # Rank 3 comes 300 late each time, rank 2 by less than clocks are good for.
        self.ranks(lambda r: [kernel(10**6 + 1000 * i + (0, 0, 5, 300)[r],
                                     350 - (0, 0, 5, 300)[r], i + 1, **args) for i in range(10)])
        _, out = self.report()
        rows = [[float(row[c]) for c in list(row)[:8]] for row in table(out, "straggler_summary")]
        self.assertEqual(rows, [[3, 0, 0, 10, 0, 100, 10, 500], [2, 2950, 295, 0, 0, 0, 10, 3450],
                                [0, 3000, 300, 0, 0, 0, 10, 3500],
                                [1, 3000, 300, 0, 10, 0, 10, 3500]])
        self.assertEqual({row["last rank"] for row in table(out, "nccl_implicit_sync")}, {"3"})

    def test_no_time_no_bandwidth(self):
        args = collective("allreduce", "Float", 2, 1024, 1024)
        self.ranks(lambda r: [kernel(1000, 0, 1, **args)], world=2)
        for options in self.BOTH:
            _, out = self.report(**options)
            row = table(out, "nccl_implicit_sync")[0]
            self.assertEqual((row["algo bw (GB/s)"], row["bus bw (GB/s)"]), ("", ""))

    def test_no_collective_at_all(self):
        self.ranks(lambda r: [kernel(1000, 5, 1, name="gemm")], world=2)
        answer, out = self.report(compat="tracelens")
        self.assertIn("no communication kernel", answer["summary"])
        for name in ("nccl_long", "nccl_implicit_sync", "straggler_summary"):
            self.assertEqual(table(out, name), [])

    def test_a_nameless_reduction_is_named_after_its_kernel(self):
        self.ranks(lambda r: [kernel(1000, 5, 1, name="vllm_cross_device_reduce_kernel")], world=2)
        _, out = self.report(compat="tracelens")
        self.assertEqual({row["Collective name"] for row in table(out, "nccl_long")}, {"allreduce"})

    def test_what_counts_as_a_collective(self):
        args = collective("allreduce", "Float", 2, 8, 8)
        plain = kernel(1000, 5, 1, **args)
        del plain["args"]["correlation"]
        bare = kernel(2000, 5, 2, **args)
        bare["args"] = {}
        op = kernel(3000, 5, 3, **args) | {"cat": "cpu_op"}
        self.ranks(lambda r: [plain, op, bare], world=1)
        _, out = self.report(compat="tracelens")
        self.assertEqual([float(row["ts"]) for row in table(out, "nccl_long")], [1000])
        _, out = self.report()
        self.assertEqual([float(row["ts"]) for row in table(out, "nccl_long")], [1000, 2000])

    def test_ranks_that_do_not_agree(self):
        self.ranks(lambda r: [kernel(1000, 5, 1, **collective(
            "allreduce", "Float" if r else "Half", 2, 8, 8))], world=2)
        for options in self.BOTH:
            answer, out = self.report(**options)
            self.assertIn("metadata mismatch", "\n".join(answer["notes"]))
            self.assertEqual(len(table(out, "nccl_implicit_sync")), 1)

    def test_covered_by_computation(self):
        args = collective("allreduce", "Float", 2, 8, 8)
        self.ranks(lambda r: [kernel(1000, 100, 1, **args),
                              kernel(1050, 80, 2, name="gemm", stream=1)], world=2)
        _, out = self.report()
        self.near(table(out, "nccl_long")[0], **{"covered by computation": 50})
        self.near(table(out, "nccl_implicit_sync")[0], **{"covered by computation (%)": 50})
        self.near(table(out, "rank_summary")[0], **{"communication (ms)": 0.1,
                                                    "covered by computation (%)": 50})


class AllToAllV(Case):
    @staticmethod
    def call(ts, dur, splits, dtype, i, world=4):
        args = collective("all_to_allv", dtype, world, sum(splits), sum(splits), "pg_default")
        args["In split size"] = str(splits)
        args["Out split size"] = str(splits)
        return kernel(ts, dur, i, name="ncclDevKernel_SendRecv", **args)

    def test_balanced(self):
        self.ranks(lambda r: [self.call(1000 + 10 * r, 500, [1024] * 4, "BFloat16", 1),
                              self.call(5000 + 5 * r, 800, [2048] * 4, "BFloat16", 2)])
        _, out = self.report(compat="tracelens", agg_metrics=["mean", "std", "min", "max"])
        rows = table(out, "nccl_all2allv")
        self.assertEqual([row["collective_id"] for row in rows], ["pg_default_1", "pg_default_0"])
        self.near(rows[0], size_imbalance=1.0)
        self.near(rows[0], **{"total data communicated (MB)": 0.0625,
                              "total nelems communicated": 32768, "wall_time (us)": 815,
                              "throughput (GB/s)": 0.07488976226993865,
                              "max_rank_throughput (GB/s)": 0.019073486328125,
                              "skew in start time": 15, "skew in end time": 15,
                              "rank_1_skew in start time": 5, "rank_1_skew in end time": 10})
        self.near(rows[1], **{"total data communicated (MB)": 0.03125, "wall_time (us)": 530,
                              "throughput (GB/s)": 0.05758033608490566, "skew in end time": 30})
        summary = table(out, "nccl_summary_all2allv")[0]
        self.near(summary, count=2, size_imbalance_mean=1)
        self.near(summary, **{"total data communicated (MB)_mean": 0.046875,
                              "total data communicated (MB)_std": 0.02209708691207961,
                              "wall_time (us)_mean": 672.5, "wall_time (us)_std": 201.52543263816605,
                              "Total wall_time (us)": 1345, "Total wall_time (ms)": 1.345,
                              "throughput (GB/s)_mean": 0.06623504917742215,
                              "max_rank_dur (us)_mean": 650, "skew in start time_max": 30})
        heat = table(out, "nccl_all2allv_heatmap")
        self.assertEqual(len(heat), 16)
        for row in heat:
            self.near(row, total_sent_MB=0.005859375, avg_sent_MB=0.0029296875, count=2)

    def test_imbalanced(self):
        self.ranks(lambda r: [self.call(1000, 200 + 100 * r, [2000 if r == 0 else 250] * 4,
                                        "Float", 1)])
        _, out = self.report(compat="tracelens")
        self.near(table(out, "nccl_all2allv")[0], size_imbalance=2.909090909090909)
        self.near(table(out, "nccl_all2allv")[0],
                  **{"total data communicated (MB)": 0.041961669921875, "wall_time (us)": 500,
                     "avg_rank_dur (us)": 350, "throughput (GB/s)": 0.08195638656616211,
                     "max_rank_throughput (GB/s)": 0.14901161193847656,
                     "min_rank_throughput (GB/s)": 0.007450580596923828, "skew in end time": 300})
        heat = {(row["src_rank"], row["dst_rank"]): float(row["total_sent_MB"])
                for row in table(out, "nccl_all2allv_heatmap")}
        self.assertAlmostEqual(heat["0", "3"], 0.00762939453125)
        self.assertAlmostEqual(heat["2", "1"], 0.00095367431640625)

    def test_a_rank_that_sends_nothing(self):
        sent = {0: [500] * 4, 1: [375] * 4, 2: [0] * 4, 3: [250] * 4}
        self.ranks(lambda r: [self.call(1000, 10 if r == 2 else 100, sent[r], "Half", 1)])
        _, out = self.report(compat="tracelens")
        row = table(out, "nccl_all2allv")[0]
        self.near(row, **{"total data communicated (MB)": 0.00858306884765625,
                          "wall_time (us)": 100, "throughput (GB/s)": 0.08381903171539307,
                          "skew in start time": 0, "skew in end time": 90})
        heat = {(r["src_rank"], r["dst_rank"]): float(r["total_sent_MB"])
                for r in table(out, "nccl_all2allv_heatmap")}
        self.assertEqual(heat["2", "0"], 0)

    def test_splits_that_cannot_be_read_and_worlds_that_are_too_large(self):
        def broken(rank):
            event = self.call(1000, 5, [1, 2], "Float", 1, 2)
            event["args"]["In split size"] = "[1, 2,"
            return [event]
        self.ranks(broken, world=2)
        _, out = self.report()
        self.assertFalse((out / "nccl_all2allv_heatmap.csv").exists())
        for world, code in ((2048, "HEATMAP_SKIPPED"), (512, "HEATMAP_LARGE")):
            write(self.path / f"w{world}/rank0.json",
                  trace([self.call(1000, 5, [1] * world, "Float", 1, world)], 0, world))
            answer, _ = self.report(self.path / f"w{world}")
            self.assertIn(code, "\n".join(answer["notes"]))

    def test_destinations_are_ranks_not_positions(self):
        def events(rank):
            event = self.call(1000, 5, [10, 20], "Float", 1, 2)
            event["args"]["Process Group Ranks"] = "[1, 3]"
            return [event] if rank in (1, 3) else [kernel(1, 1, 1, name="gemm")]
        self.ranks(events)
        targets = []
        for options in ({}, {"compat": "tracelens"}):
            _, out = self.report(**options)
            targets.append({row["dst_rank"] for row in table(out, "nccl_all2allv_heatmap")})
        self.assertEqual(targets, [{"1", "3"}, {"0", "1"}])

    def test_only_reductions_make_no_sheet(self):
        self.ranks(lambda r: [kernel(1, 1, 1, **collective("allreduce", "Float", 2, 8, 8))], world=2)
        _, out = self.report()
        self.assertFalse((out / "nccl_all2allv.csv").exists())


class Nodes(Case):
    def spans(self, group, world=8, **options):
        write(self.path / "in/rank0.json",
              trace([kernel(1, 1, 1, **collective("allreduce", "Float", 4, 8, 8, ranks=group))],
                    0, world))
        _, out = self.report(**options)
        row = table(out, "nccl_long")[0]
        return row.get("node_id"), row.get("node_span")

    def test_spans(self):
        for group, per_node, span in (("[0,1,2,3]", 4, "intra_node"), ("[0,1,4]", 4, "inter_node"),
                                      ("(0, 1)", 2, "intra_node"), ("0, 2, 4", 2, "inter_node"),
                                      ("[]", 2, "unknown"), ("x", 2, "unknown"),
                                      ("{0, 1}", 2, "unknown"), ("groups 2 and 5", 4, "inter_node")):
            with self.subTest(group):
                self.assertEqual(self.spans(group, gpus_per_node=per_node), ("0", span))

    def test_nothing_is_known_of_nodes(self):
        self.assertEqual(self.spans("[0]"), (None, None))
        self.assertEqual(self.spans("[]", world=None, gpus_per_node=2)[1], None)


class Ranks(Case):
    ARGS = collective("allreduce", "Float", 4, 1048576, 1048576)

    def event(self, rank, **more):
        return [kernel(1000 + 10 * rank, 100 - 10 * rank, 1, **self.ARGS, **more)]

    def test_a_missing_rank_makes_it_partial(self):
        self.ranks(self.event)
        (self.path / "in/rank2_trace.json").unlink()
        answer, out = self.report()
        self.assertEqual((answer["ranks"], answer["world_size"], answer["missing_ranks"],
                          answer["complete"]), (3, 4, "2", False))
        row = table(out, "nccl_implicit_sync")[0]
        self.assertEqual((row["ranks present"], row["complete"]), ("3", "False"))
        self.near(row, comm_latency=70)
        self.assertIn("RANK_MISSING", {r["code"] for r in table(out, "warnings")})

    def test_ranks_come_from_the_traces(self):
        for rank in range(4):
            write(self.path / "in" / f"rank{3 - rank}.json", trace(self.event(rank), rank, 4))
        answer, out = self.report()
        self.assertEqual(sum("[RANK_CONFLICT]" in note for note in answer["notes"]), 4)
        self.assertIn("named after rank 3, but its trace says rank 0", "\n".join(answer["notes"]))
        self.near(table(out, "nccl_implicit_sync")[0], **{"earliest arrival rank": 0})

    def test_two_traces_of_one_rank(self):
        self.ranks(self.event)
        write(self.path / "in/z_other.json", trace(self.event(0, note=1), 1, 4))
        write(self.path / "in/z_same.json", trace(self.event(3), 3, 4))
        answer, out = self.report()
        notes = "\n".join(answer["notes"])
        self.assertIn("rank1_trace.json and z_other.json both say that they are rank 1", notes)
        self.assertIn("z_same.json is the same trace as rank3_trace.json", notes)
        self.assertEqual(len(table(out, "nccl_long")), 4)

    def test_traces_that_do_not_say(self):
        for rank in range(2):
            write(self.path / "in" / f"host_rank{rank}.json", trace(self.event(rank)))
        write(self.path / "in/zzz.json", trace(self.event(2)))
        answer, out = self.report()
        notes = "\n".join(answer["notes"])
        self.assertIn("rank 1 is assumed from its name", notes)
        self.assertIn("zzz.json: neither its trace nor its name", notes)
        self.assertEqual([row["rank"] for row in table(out, "rank_summary")], ["0", "1", "2"])

    def test_a_world_that_only_groups_speak_of(self):
        for rank in (0, 1, 3):
            write(self.path / "in" / f"rank{rank}.json", trace(self.event(rank)))
        answer, _ = self.report()
        self.assertEqual((answer["world_size"], answer["missing_ranks"]), (4, "2"))
        self.assertIn("[WORLD_SIZE_ASSUMED]", "\n".join(answer["notes"]))

    def test_worlds_that_do_not_agree(self):
        for rank, world in ((0, 4), (1, 4), (2, 2)):
            write(self.path / "in" / f"rank{rank}.json", trace(self.event(rank), rank, world))
        answer, _ = self.report()
        self.assertEqual(answer["world_size"], 4)
        self.assertIn("[WORLD_SIZE_MISMATCH] rank2.json", "\n".join(answer["notes"]))

    def test_damaged_and_foreign_files_cost_themselves_only(self):
        self.ranks(self.event)
        whole = json.dumps(trace(self.event(3) * 3, 3, 4))
        write(self.path / "in/rank3_trace.json",
              '{"distributedInfo": {"rank": 3, "world_size": 4}, ' + whole[1:-60])
        write(self.path / "in/notes.json", '{"a": 1}')
        (self.path / "in/empty.json").write_text("")
        answer, _ = self.report()
        notes = "\n".join(answer["notes"])
        self.assertEqual((answer["ranks"], answer["complete"]), (4, False))
        for text in ("[NOT_A_TRACE] notes.json", "[NOT_A_TRACE] empty.json", "[TRACE_TRUNCATED] rank3"):
            self.assertIn(text, notes)

    def test_nothing_usable_is_an_error(self):
        write(self.path / "in/notes.json", '{"a": 1}')
        for traces in (self.path / "in", self.path / "no_such"):
            ran = program.call("collectives", traces=[str(traces)], output_dir=str(self.path / "o"))
            self.assertEqual(ran.returncode, 1)
            self.assertFalse((self.path / "o").exists())
        ran = program.call("collectives", traces=[str(self.path)], agg_metrics=["mode"],
                           output_dir=str(self.path / "o"))
        self.assertEqual(ran.returncode, 1)

    def test_stretches_that_differ_are_aligned(self):
        def events(rank):
            kept = range(0 if rank < 3 else 2, 10)
            return [kernel(1000 * i + 10 * rank, 100 - 10 * rank, i + 1, **self.ARGS) for i in kept]
        self.ranks(events)
        answer, out = self.report()
        self.assertIn("[RANKS_SHIFTED] rank 3", "\n".join(answer["notes"]))
        rows = table(out, "nccl_implicit_sync")
        self.assertEqual([row["ranks present"] for row in rows], ["3"] * 2 + ["4"] * 8)
        for row in rows[2:]:
            self.near(row, comm_latency=70)

    def test_running_numbers_match_before_order(self):
        def events(rank):
            kept = range(0 if rank < 3 else 2, 6)
            return [kernel(1000 * i + 10 * rank, 100 - 10 * rank, i + 1, **self.ARGS, Seq=i + 40)
                    for i in kept]
        self.ranks(events)
        _, out = self.report()
        self.assertEqual([(row["collective_id"], row["ranks present"]) for row in
                          table(out, "nccl_implicit_sync")],
                         [(f"0_{i + 40}", "3" if i < 2 else "4") for i in range(6)])

    def test_clocks_that_are_apart_by_a_constant_are_put_on_one(self):
        self.ranks(lambda r: [kernel(1000 * i + 10**6 * r, 50, i + 1, **self.ARGS)
                              for i in range(5)])
        answer, out = self.report()
        self.assertNotIn("CLOCKS_APART", str(answer.get("notes")))
        self.assertEqual({row["skew in start time"] for row in table(out, "nccl_implicit_sync")},
                         {"0.0"})

    def test_clocks_that_run_apart_are_noticed(self):
        self.ranks(lambda r: [kernel((1000 + 370 * r) * i, 50, i + 1, **self.ARGS)
                              for i in range(5)], world=2)
        answer, _ = self.report()
        self.assertIn("[CLOCKS_APART] in 4 of 5", "\n".join(answer["notes"]))

    def test_clocks_with_other_bases_are_put_on_one(self):
        for rank in range(2):
            write(self.path / "in" / f"rank{rank}.json", trace(
                [kernel(5000 - 1000 * rank + 10 * rank, 100 - 10 * rank, 1, **self.ARGS)], rank, 2,
                baseTimeNanoseconds=10**18 + rank * 10**6))
        write(self.path / "in/rank2.json", trace(  # a trace without a base counts as the others do
            [kernel(5020, 80, 1, **self.ARGS)], 2, 3))
        _, out = self.report()
        self.near(table(out, "nccl_implicit_sync")[0], **{"skew in start time": 20})

    def test_jobs_are_compared_by_traces_digests_and_tables_alike(self):
        for job, latency in (("a", 10), ("b", 15)):
            for rank in range(2):
                calls = [kernel(100 * number, latency, number,
                                **collective("allreduce", "Float", 2, 1024, 1024))
                         for number in (1, 2)]
                write(self.path / job / f"rank{rank}.json", trace(calls, rank, 2))
        program.ask("digest", traces=[str(self.path / "b")], output_dir=str(self.path / "digests"))
        program.ask("collectives", traces=[str(self.path / "b")],
                    output_dir=str(self.path / "tables"))
        for number, other in enumerate(("b", "digests", "tables")):
            out = self.path / f"compared{number}"
            program.ask("compare", candidate=str(self.path / other), baseline=str(self.path / "a"),
                        output_dir=str(out))
            [row] = table(out / "comparison_csvs", "nccl_summary_implicit_sync")
            self.assertEqual([float(row[f"comm_latency_mean__candidate_{other}"])
                              for other in ("minus_baseline", "over_baseline")], [5, 1.5])
            self.assertEqual([row["rank"] for row in table(out / "comparison_csvs", "rank_summary")],
                             ["0", "1"])

    def test_groups_without_a_name_that_are_not_the_world_stay_apart(self):
        op = {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 10,
              "dur": 50, "args": {"External id": 5, "Input type": ["TensorList"] + ["Scalar"] * 7,
                                  "Input Dims": [[[8, 4]], [], [], [], [], [], [], []],
                                  "Concrete Inputs": ["", "9", "77", "0", "", "[]", "[]", "2"]}}
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 1,
                  "tid": 1, "ts": 20, "dur": 5, "args": {"correlation": 1}}
        self.ranks(lambda r: [op, launch, kernel(
            100 + r, 50, 1, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL")])
        answer, out = self.report()
        self.assertEqual(answer["unmatched_kernels"], 4)
        self.assertIn("GROUP_UNKNOWN", "\n".join(answer["notes"]))
        row = table(out, "nccl_long")[0]
        self.near(row, **{"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 32,
                          "known by": "record_param_comms", "collective_id": ""})
        self.assertEqual(table(out, "nccl_implicit_sync"), [])


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
