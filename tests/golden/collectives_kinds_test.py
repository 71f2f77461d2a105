#!/usr/bin/env python3
"""The report about all ranks, of kinds of jobs that people reported: pipelines, barriers, folders of
servers, and ranks that other tools merged into one file."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, table, number, rows_of, lines_of  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402

REPORTED = program.DATA / "cases/reported"
SENDRECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def hand_over(name, source, target, ranks, peers=True, **more):
    args = collective(name, "BFloat16", len(ranks), 1 << 20, 1 << 20, "1", str(ranks), **more)
    return {**args, **({"Src Rank": source, "Dst Rank": target} if peers else {})}


def launched(event, host=1000):
    """A kernel and its launch."""
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": host, "tid": host,
            "ts": event["ts"] - 4, "dur": 3, "args": {"correlation": event["args"]["correlation"]}}
    return [call, event]


def forward_pipeline(stages, microbatches=4, peers=True, rank_of=lambda stage: stage):
    """Each stage computes 1000 us a microbatch and hands it to the next in 70 us."""
    ranks = [rank_of(stage) for stage in range(stages)]
    files = []
    for stage in range(stages):
        events, ids = [], iter(range(100, 1000))
        for i in range(microbatches):
            begin = 1100 * (stage + i)
            if stage > 0:
                ready = 5 if i == 0 else begin - 1100 + 1065
                events += launched(kernel(ready, begin - 5 - ready, next(ids), 20, SENDRECV, **hand_over(
                    "recv", ranks[stage - 1], ranks[stage], ranks, peers)))
            events += launched(kernel(begin + 5, 1000, next(ids), 7, "gemm"))
            if stage + 1 < stages:
                events += launched(kernel(begin + 985, 70, next(ids), 20, SENDRECV, **hand_over(
                    "send", ranks[stage], ranks[stage + 1], ranks, peers)))
        files.append(events)
    return files


class Pipelines(Case):
    def give(self, files, **top):
        for rank, events in enumerate(files):
            write(self.path / "in" / f"rank{rank}.json", trace(events, rank, len(files), **top))

    def test_a_receive_that_waits_for_the_stage_before_is_nobodys_fault(self):
        self.give(forward_pipeline(4))
        answer, out = self.report()
        self.assertNotIn("RANKS_SHIFTED", str(answer))
        self.assertNotIn("all_to_all", str(answer))
        self.assertIn("12 sends with their receives of 24 calls.", answer["summary"])
        self.assertIn("pipeline's bubble", answer["summary"])
        self.assertEqual({row["role"] for row in rows_of(answer)}, {"neither"})
        self.assertEqual({row["last"] for row in rows_of(answer)}, {0})
        bubbles = [float(row["pipeline bubble (ms)"]) for row in table(out, "rank_summary")]
        for bubble, expected in zip(bubbles, (0, 0.98, 2.08, 3.18)):
            self.assertAlmostEqual(bubble, expected, delta=0.1)
        rows = table(out, "nccl_implicit_sync")
        self.assertEqual(len(rows), 12)
        for row in rows:
            self.assertAlmostEqual(number(row["comm_latency"]), 70, delta=0.01)
            self.assertAlmostEqual(number(row["bus bw (GB/s)"]) * 1.073741824, 29.96, delta=0.01)
        text = "\n".join(lines_of(out))
        self.assertIn("| send/recv | 12 | 0.84 |", text)
        self.assertRegex(text, r"send/recv of 2\.1 MB, .* 30 GB/s")

    def test_peers_are_places_in_the_group(self):
        files = forward_pipeline(2, rank_of=lambda stage: 4 * stage + 1)
        for stage, events in enumerate(files):
            for event in events:
                if "Src Rank" in event["args"]:
                    event["args"].update({"Src Rank": 0, "Dst Rank": 1})
            write(self.path / "in" / f"rank{stage}.json", trace(events, 4 * stage + 1, 8))
        answer, out = self.report()
        self.assertEqual(len(table(out, "nccl_implicit_sync")), 4)

    def test_of_two_stages_each_is_the_others_peer(self):
        self.give(forward_pipeline(2, peers=False))
        answer, out = self.report()
        self.assertIn("4 sends with their receives of 8 calls.", answer["summary"])
        self.assertEqual(len(table(out, "nccl_implicit_sync")), 4)

    def test_forward_and_backward_sends_are_links_of_their_own(self):
        events = {0: [], 1: []}
        for i in range(3):
            begin = 4000 * i
            for rank, name, ts, dur, source, target in (
                    (0, "send", begin + 1000, 70, 0, 1), (1, "recv", begin + 500, 570, 0, 1),
                    (1, "send", begin + 3000, 70, 1, 0), (0, "recv", begin + 1500, 1570, 1, 0)):
                events[rank] += launched(kernel(ts, dur, len(events[rank]) + 1, 20, SENDRECV,
                                                **hand_over(name, source, target, [0, 1])))
        self.give([events[0], events[1]])
        answer, out = self.report()
        self.assertIn("6 sends with their receives of 12 calls.", answer["summary"])
        self.assertEqual({row["role"] for row in rows_of(answer)}, {"neither"})

    def test_peers_that_are_not_recorded_are_said_and_not_guessed(self):
        self.give(forward_pipeline(4, peers=False))
        answer, out = self.report()
        self.assertNotIn("RANKS_SHIFTED", str(answer))
        self.assertIn("PEER_UNKNOWN", str(answer["notes"]))
        self.assertEqual(table(out, "nccl_implicit_sync"), [])

    def test_a_stage_without_a_trace_leaves_the_other_links(self):
        files = forward_pipeline(4)
        for rank in (0, 1, 3):
            write(self.path / "in" / f"rank{rank}.json", trace(files[rank], rank, 4))
        answer, out = self.report()
        self.assertEqual(len(table(out, "nccl_implicit_sync")), 4)
        self.assertNotIn("RANKS_SHIFTED", str(answer))

    def test_batches_of_sends_and_receives_meet(self):
        files = []
        for rank in (0, 1):
            args = hand_over("batch_isend_irecv", rank, 1 - rank, [0, 1])
            files.append([event for i in range(4) for event in launched(
                kernel(1000 * i + 100 * rank, 200 - 100 * rank, i + 1, 20, SENDRECV, **args))])
        self.give(files)
        answer, out = self.report()
        self.assertIn("4 sends with their receives of 8 calls.", answer["summary"])

    @unittest.skipUnless(REPORTED.is_dir(), f"no cases in {REPORTED}")
    def test_the_reported_pipeline(self):
        answer, out = self.report(REPORTED / "d5_pp4")
        self.assertEqual(len(table(out, "nccl_implicit_sync")), 12)
        self.assertRegex("\n".join(lines_of(out)), r"send/recv of 2\.1 MB, .* 30 GB/s")
        self.assertNotIn("RANKS_SHIFTED", str(answer))


class Barriers(Case):
    DEVICE = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]}

    def job(self, name, elements, dtype):
        args = collective(name, dtype, 2, elements, elements)

        def events_of(rank):
            events = []
            for i in range(4):
                begin, compute = 2000 * i, 900 if rank else 200
                events += launched(kernel(begin + 5, compute, 2 * i + 1, 7, "gemm"))
                events += launched(kernel(begin + 55 + compute, 945 - compute, 2 * i + 2, 20,
                                          ALLREDUCE, **args))
            return events
        self.ranks(events_of, 2, **self.DEVICE)
        return self.report()

    def test_a_barrier_is_no_reduction(self):
        for name in ("barrier", "all_reduce_barrier"):
            answer, out = self.job(name, 1, "Byte")
            for part in ("summary", "kinds", "fleet"):  # elsewhere kernels are named
                self.assertNotIn("AllReduce", str(answer[part]))
            self.assertNotIn("sequence parallelism", str(answer))
            self.assertIn("drop the barriers", str(answer["verdict"]["then"]))
            self.assertIn("| Barrier | 4 |", "\n".join(lines_of(out)))

    def test_a_small_reduction_is_no_barrier(self):
        answer, out = self.job("allreduce", 1, "Float")
        self.assertIn("| AllReduce | 4 |", "\n".join(lines_of(out)))
        self.assertNotIn("barrier", str(answer).lower())

    def test_ranks_that_see_one_device_each_may_share_a_node(self):
        _, out = self.job("allreduce", 1024, "Float")
        for name in ("nccl_long", "straggler_summary"):
            self.assertNotIn("node_id", table(out, name)[0])
        _, out = self.report(gpus_per_node=8)
        self.assertEqual({row["node_id"] for row in table(out, "nccl_long")}, {"0"})


ARGS = collective("allreduce", "BFloat16", 2, 1 << 20, 1 << 20)


def worker(rank, host=None, device=0, late=0):
    """Three collectives of a rank."""
    host = host if host is not None else 1000 + rank
    events = []
    for i in range(3):
        for event in (kernel(1000 * i + 5, 200 + late, 2 * i + 1, 7, "gemm"),
                      kernel(1000 * i + 300 + late, 100 - late, 2 * i + 2, 20, ALLREDUCE, **ARGS)):
            events += launched({**event, "pid": device}, host)
    return events


def idle_process():
    return [{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 900, "tid": 900,
             "ts": 10 * i, "dur": 3, "args": {"External id": i}} for i in range(20)]


class ServerFolders(Case):
    def test_processes_and_files_that_are_no_rank_are_named_and_left_out(self):
        folder = self.path / "in"
        for rank in (0, 1):
            write(folder / f"dp0_pp0_tp{rank}_rank{rank}.1769.pt.trace.json.gz",
                  trace(worker(rank), rank, 2))
        write(folder / "host_900.async_llm.1769.pt.trace.json.gz", trace(idle_process()))
        write(folder / "merged-1769.trace.json.gz",
              trace(worker(0, "[TP00] 1000", "[TP00] 0") + worker(1, "[TP01] 1001", "[TP01] 0"), 0, 2))
        (folder / "rank0-memory.pickle.gz").write_bytes(b"\x80\x04")
        (folder / "profiler_out_0.txt").write_text("Self CPU")
        answer, out = self.report()
        self.assertEqual([row["rank"] for row in rows_of(answer)], [0, 1])
        self.assertIn("2 of 2 ranks", answer["summary"])
        notes = "\n".join(answer["notes"])
        for code, name in (("NOT_A_RANK", "async_llm"), ("MERGED_LEFT_OUT", "merged-1769"),
                           ("FILES_LEFT_OUT", "rank0-memory.pickle.gz")):
            self.assertRegex(notes, rf"\[{code}\].*{name}")
        self.assertNotIn("RANK_ASSUMED", notes)

    def test_coordinates_in_names_are_ranks(self):
        for rank in (0, 1):
            write(self.path / "in" / f"1769.66-TP-{1 - rank}.trace.json", trace(worker(rank)))
        answer, out = self.report()
        self.assertEqual([row["file"] for row in table(out, "rank_summary")],
                         ["1769.66-TP-0.trace.json", "1769.66-TP-1.trace.json"])

    def test_a_rank_without_gpu_work_stays_where_it_says_what_it_is(self):
        write(self.path / "in/a.json", trace(worker(0), 0, 2))
        write(self.path / "in/b.json", trace(idle_process(), 1, 2))
        answer, out = self.report()
        self.assertEqual([row["rank"] for row in rows_of(answer)], [0, 1])


class MergedByOthers(Case):
    def ranks_of(self, events):
        write(self.path / "in.json", trace(events, 0, 2))
        answer, out = self.report(self.path / "in.json")
        return answer, out

    def test_labels_of_pids_and_devices_take_the_file_apart(self):
        for one, other in ((("[TP00] 1000", "[TP00] 0"), ("[TP01] 1001", "[TP01] 0")),
                           ((1000, 0), (1001, 1))):
            answer, out = self.ranks_of(worker(0, *one) + worker(1, *other, late=60))
            self.assertEqual([row["rank"] for row in rows_of(answer)], [0, 1])
            self.assertIn("3 collectives of 6 calls.", answer["summary"])
            self.assertEqual([round(row["compute_ms"], 3) for row in rows_of(answer)], [0.6, 0.78])

    def test_what_cannot_be_taken_apart_is_said(self):
        answer, out = self.ranks_of(worker(0, 1000, 0) + worker(1, 1001, 0))
        self.assertIn("RANKS_MIXED", "\n".join(answer["notes"]))

    def test_one_process_with_two_devices_is_one_rank(self):
        second = [{**event, "args": {**event["args"], "correlation": event["args"]["correlation"] + 50}}
                  for event in worker(0, 1000, 1)]
        answer, out = self.ranks_of(worker(0, 1000, 0) + second)
        self.assertEqual([row["rank"] for row in rows_of(answer)], [0])
        self.assertNotIn("several ranks", "\n".join(answer["notes"]))

    def test_devices_with_collectives_are_ranks_where_the_process_says_no_rank(self):
        def second(*kinds):
            return [{**event, "args": {**event["args"], "correlation": event["args"]["correlation"] + 50}}
                    for event in worker(0, 1000, 1) if not kinds or event["name"] in kinds]
        for more, ranks in ((second(), [0, 1]), (second("cudaLaunchKernel", "gemm"), [0])):
            write(self.path / "in.json", trace(worker(0, 1000, 0) + more))
            answer, out = self.report(self.path / "in.json")
            self.assertEqual([row["rank"] for row in rows_of(answer)], ranks)

    @unittest.skipUnless(REPORTED.is_dir(), f"no cases in {REPORTED}")
    def test_the_reported_files(self):
        for name in ("merged_sglang", "merged_concat_dev", "l3_merge_unique"):
            path = REPORTED / f"{name}.json.gz"
            rows = rows_of(program.ask("ops_summary", trace=str(path)))
            self.assertEqual((rows[0]["op"], rows[0]["gpu_ms"], rows[0]["count"]), ("aten::mm", 6.6, 30))
            self.assertAlmostEqual(sum(row["gpu_ms"] for row in rows), 8.408, delta=0.001)
            answer, out = self.report(path)
            self.assertEqual([row["rank"] for row in rows_of(answer)], [0, 1])


if __name__ == "__main__":
    unittest.main()
