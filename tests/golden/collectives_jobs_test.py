#!/usr/bin/env python3
"""The report about all ranks of whole jobs: those that experts worked out, the 8 ranks of a real one, digests that are
wrong, and merged files."""

import gzip
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from collectives_support import Case, table, number, tables_of, rows_of, lines_of  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402

MEGATRON = program.DATA / "traces/megatron-tp8-a100"
DLRM = program.DATA / "traces/dlrm-a2a-v100"
LIGHTLLM = program.DATA / "traces/lightllm-decode-h200"


class Verdicts(Case):
    """Whole jobs whose causes experts worked out by hand; within 3 % of their figures."""

    def within(self, value, expected):
        self.assertAlmostEqual(value, expected, delta=0.03 * expected)

    @unittest.skipUnless(DLRM.is_dir(), f"no traces in {DLRM}")
    def test_one_rank_that_stops(self):
        answer, out = self.report(DLRM)
        self.assertTrue(answer["summary"].startswith(
            "rank 2 stops for 1,001 ms twice before its all_to_all (host in Python or blocked inside "),
            answer["summary"])
        # Two of the three stops, as the base has two of the three steps.
        lever = answer["verdict"]["levers"][0]
        self.within(lever["saved_ms"], 2985 * 2 / 3)
        self.within(answer["verdict"]["base_ms"], 2270)
        # The allocator's flush lies in the first step.
        self.assertNotIn("cudaMalloc", json.dumps(answer["verdict"]))
        rows = rows_of(answer)
        self.assertEqual([row["role"] for row in rows], ["victim", "victim", "cause", "victim"])
        for row, comm in zip(table(out, "rank_summary"), (3223.5, 3234.6, 110.0, 3232.0)):
            self.within(float(row["communication (ms)"]), comm)
        # The first of three steps is cold, and in no figure of the base.
        for row, compute in zip(rows, (377.7, 381.1, 371.8, 381.7)):
            self.assertLess(row["compute_ms"], 2 / 3 * compute)
            self.within(row["base_ms"], 2270)
            self.assertAlmostEqual(row["wait_ms"] + row["transfer_ms"] + row["unmatched_ms"],
                                   row["exposed_comm_ms"], delta=0.003)
        text = "\n".join(lines_of(out))
        self.assertIn("| all_to_all | 16 | 84.3 | 90.7 | 3,133 |", text)
        self.assertIn("| AllReduce | 15 | 13.0 | 19.3 |", text)
        self.assertIn("transfer is bandwidth cannot be told", text)
        # The late rank computes least: what it does after its stop is no more work.
        self.assertNotRegex(text, "rank 2: last.*more GPU work")
        self.assertNotIn("even out", json.dumps(answer["verdict"]))
        self.assertIn("work that the others had done while they waited for it before", text)
        # 126 ms are little of the recording, which holds the stop, and much of what that leaves.
        self.assertIn("5.5 %; 45 % of what number 1 leaves", text)
        self.assertIn("the same length each time", answer["summary"])
        # The annotations show that it is on.
        self.assertIn("TrainPipelineSparseDist is on", text)
        self.assertNotIn("rank 3 of 4", text)
        self.assertNotIn("CLOCKS_APART", "\n".join(answer["notes"]))

    @unittest.skipUnless(LIGHTLLM.is_dir(), f"no traces in {LIGHTLLM}")
    def test_uneven_experts_within_a_replay(self):
        answer, out = self.report(LIGHTLLM)
        verdict = answer["verdict"]
        # One base, that of each rank's own analysis; the largest comes first.
        self.within(verdict["base_ms"], 107)
        self.assertRegex(answer["summary"], r"^53 % of the recording is exposed communication "
                                            r"\(mean of the ranks: waiting 12\.\d ms, transfer 43")
        self.assertIn("takes 101 ms instead of 107", answer["summary"])
        places = [one["place"] for one in verdict["then"] + verdict["levers"]]
        self.assertEqual(sorted(places), list(range(1, len(places) + 1)))
        sizes = {one["place"]: one.get("saved_ms", one.get("at_most_ms"))
                 for one in verdict["then"] + verdict["levers"]}
        self.assertEqual(sorted(sizes.values(), reverse=True), [sizes[i] for i in sorted(sizes)])
        self.assertIn("hide the transfers", verdict["then"][0]["change"])
        self.assertIn("`internode_ll` sends over RDMA", verdict["then"][0]["path_a"])
        self.assertNotIn("narrower", json.dumps(verdict))
        lever = verdict["levers"][0]
        self.assertRegex(lever["change"], r"`fp8_gemm_kernel.*before `combine`.*\[inferred: uneven "
                                          r"tokens per expert\].*starts last 52 of 58")
        # Switches are those of the engine that its kernels name, LightLLM, and of no other.
        self.assertIn("LightLLM `--enable_decode_microbatch_overlap`", json.dumps(verdict))
        self.assertNotIn("--enable-", json.dumps(verdict))
        # Each way has a bound of its own, and none of them is the whole line.
        self.within(verdict["then"][0]["path_a_at_most_ms"], 29.1)
        self.within(verdict["then"][0]["path_b_at_most_ms"], 18.2)
        self.assertIn("uneven load", verdict["then"][0]["change"])
        self.assertIn("itself takes longer under more load", lever["path_a"])
        self.assertAlmostEqual(lever["saved_ms"], 6, delta=0.5)
        self.assertIn("Tokens per expert are not recorded", " ".join(verdict["not_told"]))
        text = "\n".join(lines_of(out))
        for words in ("its host", "batch sizes", "tables", "211"):
            self.assertNotIn(words, json.dumps(verdict))
        self.assertNotIn("its host was later", text)
        self.assertIn("starts last 52 of 58", text)

    @unittest.skipUnless(MEGATRON.is_dir(), f"no traces in {MEGATRON}")
    def test_hosts_without_a_processor(self):
        answer, out = self.report(MEGATRON)
        self.assertTrue(answer["summary"].startswith("the hosts of all 8 ranks do not get the "
                                                     "processor"), answer["summary"])
        self.assertIn("common 4.00 ms tick", answer["summary"])
        self.assertIn("exactly 6 of the 8 processes stand still at once, as where 2 cores are shared",
                      answer["summary"])
        # What all hosts lose makes no rank a slow one.
        self.assertNotIn("slow_ranks", answer["fleet"])
        self.assertIn("No rank is slow by itself", answer["fleet"]["text"])
        levers = answer["verdict"]["levers"]
        self.within(levers[0]["saved_ms"], 420)
        self.assertLess(levers[1]["saved_ms"], 25)  # the late ranks alone
        self.assertNotIn("path_a", levers[1])  # a part of the first
        self.assertRegex(answer["workload"], r"Parallelism: tensor parallel 8\.$")  # not of one rank
        self.assertNotIn(", rank", answer["workload"])
        # From where the last rank begins: one base for all shares.
        self.assertIn("the recorded step takes 187 ms instead of 603 (69 % less); rank 0 starts "
                      "30.5 ms late, times are from its start", answer["summary"])
        self.assertAlmostEqual(answer["verdict"]["base_ms"], 603.2, delta=1)
        then = answer["verdict"]["then"]
        self.within(then[0]["at_most_ms"], 50.1)
        self.assertIn("scaled_dot_product_attention", then[1]["path_a"])
        self.assertNotIn("tp-comm-overlap", json.dumps(then))  # of layers that are not there
        self.within(answer["verdict"]["lost_ms"], 404)
        rows = rows_of(answer)
        self.assertEqual([row["rank"] for row in rows if row["role"] == "starved, comes last"],
                         [0, 6])
        self.assertNotIn("cause", [row["role"] for row in rows])
        self.assertEqual((rows[0]["last"], rows[6]["last"]), (32, 25))
        for rank, lost in ((0, 195), (6, 181), (2, 25)):
            self.within(rows[rank]["lost_ms"], lost)
        for row, busy in zip(rows, (373, 613, 545, 605, 627, 623, 398, 614)):
            self.within(row["busy_ms"], busy)
        text = "\n".join(lines_of(out))
        self.assertIn("| AllReduce | 84 | 50.1 | 241 | 495 |", text)
        self.assertRegex(text, r"of 67.1 MB, 81 calls a rank: 0.5[89] ms at best, (199|20[0-3]) GB/s")

    def test_a_rank_without_a_trace_is_named_where_all_others_wait(self):
        args = collective("allreduce", "Float", 3, 1 << 20, 1 << 20)
        for longest, named in ((300_000, True), (1_100, False)):
            lengths = [1_000, 1_010, longest, 1_000, 1_020, longest, 1_000, 1_010]
            for rank in (0, 1):
                at, events = 0, []
                for i, length in enumerate(lengths):
                    events.append(kernel(at, length, i + 1, **args))
                    at += length + 500
                write(self.path / f"in{longest}/rank{rank}.json", trace(events, rank, 3))
            answer, out = self.report(self.path / f"in{longest}")
            check = self.assertIn if named else self.assertNotIn
            check("rank 2, of which there is no trace, is probably late", answer["summary"])
            check("waiting for ranks without a trace", answer["summary"])

    def test_a_thousand_ranks_fit(self):
        args = collective("allreduce", "Float", 1000, 1024, 1024, ranks="[0]")
        events = [kernel(1000 * i, 100 + i % 3, i + 1, **args) for i in range(5)]
        write(self.path / "in/rank0.json", trace(events, 0, 1000))
        made = program.ask("digest", traces=[str(self.path / "in")], output_dir=str(self.path / "d"))
        digest = json.loads(pathlib.Path(made["files"][0]["path"]).read_text())
        digest["ledger"]["base_ns"] = [0, 500_000_000]
        digest["ledger"]["sums_ns"][0] = 500_000_000
        for rank in range(1000):
            digest["rank"], digest["trace_id"] = rank, f"t_{rank}"
            for i in range(5):
                late = 40_000_000 if rank == 77 and i else 0
                digest["calls"][i][1:3] = [i * 100_000_000 + late, 41_000_000 - late]
            write(self.path / f"many/{rank}.json", json.dumps(digest))
        answer, out = self.report(self.path / "many")
        self.assertLess(len(json.dumps(answer)), 7000)
        self.assertIn("rank 77 comes last 4 times", answer["summary"])
        self.assertLess(len(lines_of(out)), 120)


@unittest.skipUnless(MEGATRON.is_dir(), f"no traces in {MEGATRON}")


class RealRanks(Case):
    def test_collectives_without_kernel_args(self):
        answer, out = self.report(MEGATRON)
        self.assertEqual((answer["ranks"], answer["complete"], answer["collectives"],
                          answer["collective_kernels"]), (8, True, 84, 8 * 84))
        rows = table(out, "nccl_implicit_sync")
        self.assertEqual(len(rows), 84)
        for row in rows:
            self.assertEqual((row["ranks present"], row["Collective name"], row["Group size"]),
                             ("8", "allreduce", "8"))
            self.assertLess(float(row["skew in end time"]), 100)  # they end together
        self.near(rows[0], comm_latency=662, dtype="Half")
        self.near(rows[0], **{"Full msg size (MB)": 64, "bus bw (GB/s)": 64 / 1024 / 662e-6 * 1.75})
        self.assertEqual({row["known by"] for row in table(out, "nccl_long")},
                         {"record_param_comms"})

    def test_a_missing_rank(self):
        files = [MEGATRON / f"rank{rank}.json.gz" for rank in range(8) if rank != 5]
        answer, out = self.report(*files)
        self.assertEqual((answer["ranks"], answer["missing_ranks"], answer["complete"]),
                         (7, "5", False))
        self.assertEqual({row["ranks present"] for row in table(out, "nccl_implicit_sync")}, {"7"})

    def test_digests_give_the_same_bytes(self):
        digests = self.path / "digests"
        for rank in range(8):  # as a scheduler's tasks would
            subprocess.run([program.BINARY, "digest", str(MEGATRON / f"rank{rank}.json.gz"), "-o",
                            str(digests)], check=True, stdout=subprocess.DEVNULL, timeout=60)
        self.assertEqual(len(list(digests.glob("*.digest.json"))), 8)
        for options in ({}, {"compat": "tracelens"}):
            first, traced = self.report(MEGATRON, **options)
            second, digested = self.report(digests, **options)
            self.assertEqual(tables_of(traced), tables_of(digested))
            self.assertEqual(first["summary"], second["summary"])
        mixed = [MEGATRON / "rank0.json.gz", *sorted(digests.glob("*.digest.json"))[1:]]
        _, out = self.report(*mixed)
        self.assertEqual(len(table(out, "nccl_implicit_sync")), 84)

    def test_merged_ranks_read_back_as_they_were(self):
        merged = program.ask("merge_ranks", traces=[str(MEGATRON)],
                             output_dir=str(self.path / "merged"))
        file = merged["files"][0]["path"]
        loaded = program.ask("load_trace", trace=file)
        self.assertIn("8 ranks (0-7)", json.dumps(loaded))
        answer, out = self.report(file)
        self.assertIn("1 files hold several ranks", "\n".join(answer["notes"]))
        _, apart = self.report(MEGATRON)
        ours, theirs = tables_of(out), tables_of(apart)
        del ours["rank_summary.csv"], theirs["rank_summary.csv"]
        self.assertEqual(ours, theirs)
        ours, theirs = table(out, "rank_summary"), table(apart, "rank_summary")
        for row in ours + theirs:
            del row["file"]
        self.assertEqual(ours, theirs)

    def test_merged_ranks_are_unique_and_named(self):
        merged = program.ask("merge_ranks", traces=[str(MEGATRON)],
                             output_dir=str(self.path / "merged"))
        with gzip.open(merged["files"][0]["path"], "rt", encoding="utf-8") as file:
            document = json.load(file)
        rank_of_pid, flows = {}, {}
        for event in document["traceEvents"]:
            if event.get("name") == "process_name":
                rank = int(event["args"]["name"].split(":")[0].removeprefix("rank "))
                self.assertNotIn(event["pid"], rank_of_pid)
                rank_of_pid[event["pid"]] = rank
        for event in document["traceEvents"]:
            if event["ph"] in "sf":
                flows.setdefault(event["id"], set()).add(rank_of_pid[event["pid"]])
        self.assertEqual(set(rank_of_pid.values()), set(range(8)))
        self.assertEqual({len(ranks) for ranks in flows.values()}, {1})
        originals = sum(len(json.load(gzip.open(MEGATRON / f"rank{rank}.json.gz"))["traceEvents"])
                        for rank in range(8))
        named = sum(event.get("name") in ("process_name", "process_labels", "process_sort_index",
                                          "merged_by") for event in document["traceEvents"])
        dropped = 0
        for rank in range(8):
            with gzip.open(MEGATRON / f"rank{rank}.json.gz") as file:
                dropped += sum(event.get("name") in ("process_name", "process_labels",
                                                     "process_sort_index")
                               for event in json.load(file)["traceEvents"])
        self.assertEqual(len(document["traceEvents"]) - named, originals - dropped)


ARGS = collective("allreduce", "Float", 4, 1048576, 1048576)


class HostileDigests(Case):
    def setUp(self):
        super().setUp()
        write(self.path / "in/rank0.json", trace([kernel(1000, 100, 1, **ARGS)], 0, 1))
        made = program.ask("digest", traces=[str(self.path / "in")],
                           output_dir=str(self.path / "digests"))
        self.text = pathlib.Path(made["files"][0]["path"]).read_text()

    def refused(self, text):
        file = write(self.path / "bad/x.digest.json", text)
        ran = program.call("collectives", traces=[file], output_dir=str(self.path / "o"))
        self.assertEqual(ran.returncode, 1, ran.stdout)
        return ran.stderr

    def changed(self, change):
        digest = json.loads(self.text)
        change(digest)
        return self.refused(json.dumps(digest))

    def test_each_is_one_clear_error(self):
        for change, text in (
                (lambda d: d.update(version=4), "version is 4; this jarvis reads versions 1 to 3"),
                (lambda d: d.update(calls=5), "calls is no list"),
                (lambda d: d["calls"][0].pop(), "calls[0] is no list of 8 values"),
                (lambda d: d["calls"][0].__setitem__(0, 9), "calls[0][0] is not between 0 and 0"),
                (lambda d: d["calls"][0].__setitem__(2, -1), "calls[0][2] is not between 0"),
                (lambda d: d["calls"][0].__setitem__(3, 1e300), "calls[0][3] is out of range"),
                (lambda d: d["calls"][0].__setitem__(5, 10**9), "calls[0][5] is not between"),
                (lambda d: d["calls"][0].__setitem__(7, 64), "calls[0][7] is not between"),
                (lambda d: d["kinds"][0]["known"].append(1), "kinds[0].known is no list of 10"),
                (lambda d: d["kinds"][0]["known"].__setitem__(0, [[]]), "kinds[0].known[0]"),
                (lambda d: d["kinds"][0].update(known_by="hearsay"), "known_by is none of"),
                (lambda d: d.update(rank="0"), "rank is no whole number"),
                (lambda d: d.update(source=7), "source is no text"),
                (lambda d: d["timeline_us"].update(busy=None), "timeline_us.busy is no number"),
                (lambda d: d.pop("facts"), "facts is no object"),
                (lambda d: d["facts"].update(names=[]), "facts.names does not begin with an empty"),
                (lambda d: d["facts"].update(pieces=7), "facts.pieces is no list of at most 4096"),
                (lambda d: d["facts"].update(pieces=[[0, 1, 0, 1, "empty", 0, 0, 5]]),
                 "facts.pieces[0][7] is not between 0 and 0"),
                (lambda d: d["facts"].update(pieces=[[0, 9, 0, 1, "bed", 0, 0, 0]]),
                 "facts.pieces[0][4] is none of its values"),
                (lambda d: d["facts"].update(pieces=[[0, 9, 0, 1, "op", 0, 0, 0]] * 2),
                 "facts.pieces[1] begins before the one before it ends"),
                (lambda d: d["facts"].update(waits=[[0, -1, 0]]), "facts.waits[0][1] is not between"),
                (lambda d: d["facts"].update(arrivals=[]), "facts.arrivals is not one for each call"),
                (lambda d: d["facts"].update(work=[]), "facts.work is not one for each call"),
                (lambda d: d["facts"]["work"].__setitem__(0, 7), "facts.work[0] is no list of at"),
                (lambda d: d["facts"]["work"].__setitem__(0, [[0]]), "facts.work[0] is no list of p"),
                (lambda d: d["facts"]["work"].__setitem__(0, [[0, 0]]), "facts.work[0] is not betw"),
                (lambda d: d["facts"]["work"].__setitem__(0, [[9999, 1]]), "facts.work[0] is not be"),
                (lambda d: d["facts"].update(span_ns=[None, None, None, 5]), "facts.span_ns has a"),
                (lambda d: d["facts"].update(tail=None), "facts.tail is no list of 5 values"),
                (lambda d: d.update(host=5), "host is no text"),
                (lambda d: d["facts"].update(wait_ns=-1), "facts.wait_ns is not between 0"),
                (lambda d: d["ledger"].update(count=0), "ledger.count is not between 1"),
                (lambda d: d["ledger"].update(sums_ns=[1]), "ledger.sums_ns is no list of 12 values"),
                (lambda d: d["ledger"].update(exposed_communication_ns=[1]),
                 "ledger.exposed_communication_ns is no list of pairs"),
                (lambda d: d["ledger"].update(base_ns=[1]), "ledger.base_ns is no list of pairs"),
                (lambda d: d["ledger"].update(exposed_communication_ns=[5, 5, 0, 5]),
                 "ledger.exposed_communication_ns[0][2] is not between 1"),
                (lambda d: d.update(steps=7), "steps is no list of at most 512"),
                (lambda d: d.update(steps=[[1, 0, 5, 5, 5, 0]] * 513), "steps is no list of at most"),
                (lambda d: d.update(steps=[[1, 0, 5]]), "steps[0] is no list of 6 values"),
                (lambda d: d.update(steps=[[1, 0, -5, 0, 0, 0]]), "steps[0][2] is not between 0"),
                (lambda d: d.update(steps=[[1, 0, 5, 6, 0, 0]]), "steps[0][3] is not between 0 and 5"),
                (lambda d: d.update(steps=[[1, 0, 5, 4, 3, 2]]), "steps[0][5] is not between 0 and 1"),
                (lambda d: d.update(kernels=[]), "kernels.list is no list of at most 32"),
                (lambda d: d["kernels"].pop("rest"), "kernels.rest is not there"),
                (lambda d: d["kernels"].update(rest=[1]), "kernels.rest is no list of 2 values"),
                (lambda d: d["kernels"].update(list=[["k", 1, 10**18]]), "kernels.list[0]: its time"),
                (lambda d: d["kernels"].update(list=[["k", -1, 1]]), "kernels.list[0]: its count"),
                (lambda d: d["kernels"].update(list=[[1, 1, 1]]), "kernels.list[0][0] is no text")):
            with self.subTest(text):
                self.assertIn(text, self.changed(change))
        self.assertIn("is no JSON", self.refused(self.text[:-20]))
        self.assertIn("is no JSON", self.refused(self.text.replace('"kinds":', '"kinds":' + "[" * 500)))

    def test_the_first_version_is_read_without_facts(self):
        digest = json.loads(self.text)
        digest["version"] = 1
        del digest["facts"]
        file = write(self.path / "old/x.digest.json", json.dumps(digest))
        old, _ = self.report(file)
        self.assertEqual((old["ranks"], old["collectives"]), (1, 1))

    def test_the_second_version_is_read_without_a_ledger(self):
        digest = json.loads(self.text)
        digest["version"] = 2
        del digest["ledger"]
        digest["facts"]["sums_ns"] = [9, 8, 7, 6, 5, digest["facts"].pop("wait_ns"), 0, 0]
        old, out = self.report(write(self.path / "old/x.digest.json", json.dumps(digest)))
        self.assertEqual((old["ranks"], old["collectives"]), (1, 1))
        self.assertFalse((out / "ledger.csv").exists())
        self.assertEqual([row["busy_ms"] for row in rows_of(old)], [None])

    def test_members_that_came_later_may_be_missing(self):
        digest = json.loads(self.text)
        for member in ("host", "steps", "kernels"):
            del digest[member]
        whole, _ = self.report(write(self.path / "new/x.digest.json", self.text))
        older, _ = self.report(write(self.path / "older/x.digest.json", json.dumps(digest)))
        whole.pop("files"), older.pop("files")
        self.assertEqual(whole, older)

    def test_times_at_the_edge_do_no_harm(self):
        digest = json.loads(self.text)
        digest["base_ns"] = -2**63
        for rank in (0, 1):
            digest["rank"], digest["trace_id"] = rank, f"t_{rank}"
            digest["calls"][0][1] = (-1) ** rank * 3 * 10**18
            write(self.path / f"edge/{rank}.json", json.dumps(digest))
            digest["base_ns"] = 2**63 - 1
        answer, _ = self.report(self.path / "edge")
        self.assertEqual(answer["ranks"], 2)


class MergedFiles(Case):
    def test_what_becomes_of_each_event(self):
        first = [{"ph": "M", "name": "process_name", "pid": 10, "tid": 0, "args": {"name": "python3"}},
                 {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
                 {"ph": "X", "cat": "cpu_op", "name": 'odd "name", {[', "pid": 10, "tid": 10, "ts": 1,
                  "dur": 5},
                 {"ph": "X", "cat": "python_function", "name": "f", "pid": 10, "tid": 10, "ts": 1,
                  "dur": 5, "args": {"Python id": 1}},
                 {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 42, "pid": 10, "tid": 10, "ts": 2},
                 {"ph": "s", "cat": "x", "name": "x", "id": "0x7", "pid": "Spans", "tid": 1, "ts": 2},
                 kernel(5, 5, 42)]
        second = [kernel(5, 5, 42), {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 10, "tid": 1,
                                     "ts": 1.5, "dur": 2, "args": {"External id": -3}}]
        write(self.path / "in/a.json", trace(first, 3, 8, baseTimeNanoseconds=10**18))
        write(self.path / "in/b.json.gz", trace(second, 7, 8, baseTimeNanoseconds=10**18 + 2500))
        answer = program.ask("merge_ranks", traces=[str(self.path / "in")], python_functions=False,
                             output_dir=str(self.path / "out"))
        with gzip.open(answer["files"][0]["path"], "rt", encoding="utf-8") as file:
            document = json.load(file)
        events = document["traceEvents"]
        self.assertEqual([r["rank"] for r in document["mergedRanks"]], [3, 7])
        self.assertEqual(document["distributedInfo"]["world_size"], 8)
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(sorted(names.values()),
                         ["rank 3: process (pid 0, GPU 0)", "rank 3: process (pid Spans)",
                          "rank 3: python3 (pid 10)", "rank 7: process (pid 0)",
                          "rank 7: process (pid 10)"])
        self.assertNotIn("python_function", {e.get("cat") for e in events})
        kernels = [e for e in events if e.get("cat") == "kernel"]
        self.assertEqual(len({e["args"]["correlation"] for e in kernels}), 2)
        self.assertEqual([e["args"]["rank"] for e in kernels], [3, 7])
        self.assertEqual([e["ts"] for e in kernels], [5, 7.5])
        flow = next(e for e in events if e["ph"] == "s" and e["cat"] == "ac2g")
        self.assertEqual(flow["id"], kernels[0]["args"]["correlation"])
        self.assertTrue(all(isinstance(e["id"], int) for e in events if e["ph"] == "s"))
        odd = next(e for e in events if e["name"].startswith("odd"))
        self.assertEqual((odd["name"], odd["args"]), ('odd "name", {[', {"rank": 3}))
        again = program.call("merge_ranks", traces=[answer["files"][0]["path"]],
                             output_dir=str(self.path / "again"))
        self.assertIn("is a merged trace already", again.stderr)
        self.assertEqual(list((self.path / "again").glob("*.tmp")), [])

    def test_files_that_others_merged_are_told_apart_too(self):
        events = []
        for rank in range(2):
            pid = 100 * rank + 1
            events.append({"ph": "M", "name": "process_name", "pid": pid,
                           "args": {"name": f"RANK {rank} - GPU"}})
            event = kernel(1000 + 10 * rank, 100 - 10 * rank, rank + 1,
                           **collective("allreduce", "Float", 2, 8, 8))
            event["pid"] = pid
            events.append(event)
        file = write(self.path / "fused.json", {"traceEvents": events})
        answer, out = self.report(file)
        self.assertEqual(answer["ranks"], 2)
        self.near(table(out, "nccl_implicit_sync")[0], **{"skew in start time": 10})


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
