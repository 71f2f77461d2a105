#!/usr/bin/env python3
"""Slow ranks, hosts and links of generated jobs, whose place is known: each is found by step, by collective
and by links, and a job without them has none, whatever its stages do. And that digests say of their traces
what is needed for it."""

import csv
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import program  # noqa: E402
from rank_fleet import Job  # noqa: E402
from rank_traces import kernel, trace, write  # noqa: E402

DLRM = program.DATA / "traces/dlrm-a2a-v100"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def answer(self, *traces, **arguments):
        return program.ask("collectives", traces=[str(t) for t in traces],
                           output_dir=str(self.path / "out"), overwrite=True, **arguments)

    def fleet(self, ranks, **faults):
        """What is said of a generated job, and its answer."""
        arguments = faults.pop("arguments", {})
        Job(ranks, **faults).run().write(self.path / "job")
        answer = self.answer(self.path / "job", **arguments)
        self.assertLess(len(json.dumps(answer)), 7000)
        return answer["fleet"], answer

    def rows(self, name):
        with open(self.path / f"out/{name}.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def named(self, fleet, kind):
        return [one["what"] for one in fleet.get(kind, [])]

    def finds(self, fleet, hosts=(), ranks=(), links=()):
        self.assertEqual((self.named(fleet, "slow_hosts"), self.named(fleet, "slow_ranks"),
                          self.named(fleet, "slow_links")), (list(hosts), list(ranks), list(links)))


class Faults(Case):
    def test_a_rank_a_host_and_a_link_at_once(self):
        fleet, answer = self.fleet(64, slow_rank=[(13, 1.1)], slow_host=[(5, 1.08)],
                                   slow_link=[((2, 3), 1.6)])
        self.finds(fleet, ["node-0005"], ["rank 13"],
                   ["the link between node-0002 and node-0003"])
        host, rank, link = (fleet[k][0] for k in ("slow_hosts", "slow_ranks", "slow_links"))
        self.assertAlmostEqual(host["longer_percent"], 8, delta=0.5)
        self.assertAlmostEqual(rank["longer_percent"], 10, delta=0.5)
        self.assertAlmostEqual(link["longer_percent"], 60, delta=5)
        self.assertEqual((host["where"], rank["where"]), ("ranks 40-47", "on node-0001"))
        self.assertEqual({one["because"] for one in (host, rank)}, {"more computing"})
        self.assertEqual({one["sure"] for one in (host, rank, link)}, {"sure"})
        self.assertTrue(answer["summary"].startswith("Slow: node-0005 (own work takes"))
        self.assertEqual([row["rank"] for row in self.rows("fleet_ranks") if row["slow"] == "True"],
                         ["13"])
        self.assertEqual(len(self.rows("fleet_ranks")), 64)
        self.assertEqual({row["group"] for row in self.rows("fleet_groups") if row["slow"] == "True"},
                         {f"pipeline_{rank}" for rank in range(16, 24)})
        report = (self.path / "out/ranks_analysis_fair.md").read_text()
        self.assertIn("## Which ranks, hosts and links are slow", report)
        self.assertIn("1.4826 x the median absolute deviation", report)
        self.assertLess(len(report.splitlines()), 120)

    def test_a_slow_host_processor_is_idle_time(self):
        fleet, _ = self.fleet(64, slow_cpu=[(21, 1.2)])
        self.finds(fleet, ranks=["rank 21"])
        self.assertEqual(fleet["slow_ranks"][0]["because"], "more idle time")

    def test_by_collectives_alone(self):
        fleet, _ = self.fleet(128, slow_rank=[(13, 1.1)], slow_host=[(9, 1.1)], bare=True,
                              pipeline=1)
        self.finds(fleet, ["host 9"], ["rank 13"])
        self.assertNotIn("because", fleet["slow_ranks"][0])
        self.assertIn("no steps are marked", " ".join(fleet["less"]))

    def test_hosts_are_as_given(self):
        fleet, _ = self.fleet(128, slow_host=[(5, 1.08)], pipeline=1,
                              arguments={"gpus_per_node": 4})
        self.assertEqual(sorted(self.named(fleet, "slow_hosts")), ["host 10", "host 11"])

    def test_which_link_of_many_hosts_is_not_known(self):
        # A ring of eight hosts, one of eight such rings: any of its links may be it.
        fleet, _ = self.fleet(512, slow_link=[((1, 2), 1.5)], pipeline=1)
        self.finds(fleet, links=["a link somewhere among " +
                                 ", ".join(f"node-{host:04}" for host in range(8))])

    def test_a_slow_rank_of_one_of_several_kinds_of_work(self):
        fleet, _ = self.fleet(64, silent=True, slow_rank=[(13, 1.1)])
        self.finds(fleet, ranks=["rank 13"])
        self.assertIn("16 ranks (24-31, 56-63) seem to do the same work as 48 others and take 21 %",
                      fleet["less"][0])

    def test_a_step_that_all_ranks_take_long_for(self):
        job = Job(32).run()
        for rank in range(32):
            for row in job.step_rows[rank][3:4]:
                row[2] += row[2] // 2
        job.write(self.path / "job")
        fleet = self.answer(self.path / "job")["fleet"]
        self.finds(fleet)
        self.assertEqual([step["step"] for step in fleet["odd_steps"]], [6])
        self.assertEqual([row["odd"] for row in self.rows("fleet_steps")],
                         ["False"] * 3 + ["True", "False"])


class CleanJobs(Case):
    def test_nothing_is_slow(self):
        for ranks, options in ((32, {}), (64, {"pipeline": 1}), (64, {"jitter": 0.05}),
                               (64, {"bare": True}), (128, {"silent": True, "seed": 3}),
                               (256, {"seed": 4})):
            with self.subTest(ranks=ranks, **options):
                fleet, answer = self.fleet(ranks, **options)
                self.finds(fleet)
                self.assertEqual(fleet["compared_ranks"], ranks)
                self.assertTrue(fleet["text"].startswith("No rank, host or link is slow"))
                # The rank that happens to come last most often is not named.
                self.assertTrue(answer["summary"].startswith(fleet["text"]), answer["summary"])

    def test_of_two_nobody_knows_which_is_usual(self):
        fleet, _ = self.fleet(2, slow_rank=[(1, 1.3)], pipeline=1)
        self.finds(fleet)
        self.assertEqual(fleet["compared_ranks"], 0)
        self.assertIn("cannot be told", fleet["text"])
        self.assertIn("own work of rank 1 takes 30 % longer than that of rank 0", fleet["less"][1])
        fleet, _ = self.fleet(16, slow_host=[(1, 1.3)], pipeline=1)
        self.finds(fleet)
        self.assertIn("own work of node-0001 takes 30 % longer than that of node-0000",
                      fleet["less"][0])


class ManyRanks(Case):
    def test_the_order_of_files_does_not_matter(self):
        Job(32, slow_rank=[(7, 1.2)]).run().write(self.path / "job")
        files = sorted((self.path / "job").iterdir())
        texts = []
        for order in (files, files[::-1]):
            answer = self.answer(*order)
            texts.append((json.dumps(answer["fleet"]),
                          [(self.path / f"out/fleet_{name}.csv").read_text()
                           for name in ("ranks", "hosts", "groups", "steps")]))
        self.assertEqual(*texts)

    def test_tables_too_long_for_a_workbook(self):
        Job(1280, steps=6).run().write(self.path / "job")
        answer = self.answer(self.path / "job")
        calls = answer["collective_kernels"]
        self.assertGreater(calls, 250_000)
        self.assertIn(f"nccl_long has {calls} rows and is a CSV file alone, not a sheet",
                      answer["notes"])
        rows = self.rows("nccl_long")
        self.assertEqual(len(rows), calls)
        self.assertEqual(rows[-1]["rank"], "1279")
        self.assertEqual({len(row) for row in rows}, {21})
        self.assertLess(len(json.dumps(answer)), 7000)


class TwoRuns(Case):
    def test_steps_and_kernels_are_compared_from_digests(self):
        Job(32).run().write(self.path / "before")
        Job(32, slow_host=[(host, 1.2) for host in range(4)], seed=2).run().write(self.path / "now")
        answer = program.ask("compare", candidate=str(self.path / "now"),
                             baseline=str(self.path / "before"), output_dir=str(self.path / "out"))
        self.assertRegex(answer["summary"], r"^A step takes \d+\.\d ms instead of \d+\.\d ms \(\d+ % "
                         r"more\): own time 20\.\d ms instead of 16\.8 ms \(20 % more\)")
        self.assertIn("Kernels of a rank that changed most, over its recording: `sm90_xmma_gemm", answer["summary"])
        steps = self.rows("comparison_csvs/fleet_steps")
        self.assertEqual([row["place"] for row in steps], list("12345"))
        kernels = self.rows("comparison_csvs/fleet_kernels")
        self.assertEqual(len(kernels), 3)
        for rows, column in ((steps, "median own time (ms)"), (kernels, "median of ranks (ms)")):
            for row in rows:
                self.assertAlmostEqual(float(row[f"{column}__candidate_over_baseline"]), 1.2,
                                       delta=0.01)


class DigestsOfTraces(Case):
    def digest(self, path):
        made = program.ask("digest", traces=[str(path)], output_dir=str(self.path / "digests"))
        return json.loads(pathlib.Path(made["files"][0]["path"]).read_text())

    @staticmethod
    def events():
        """Two steps; the host runs ahead, so the GPU ends each after its mark."""
        events, launch = [], 0
        for step in range(2):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 4}",
                           "pid": 1, "tid": 1, "ts": 1000 * step, "dur": 900})
            for name, start, dur, stream in (("gemm", 500, 600, 7), ("ncclDevKernel_AllReduce", 1000,
                                                                     300, 20), ("norm", 1310, 90, 7)):
                launch += 1
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                               "tid": 1, "ts": 1000 * step + 10 * launch, "dur": 5,
                               "args": {"correlation": launch}})
                events.append(kernel(1000 * step + start, dur, launch, stream, name))
        return events

    def test_steps_kernels_and_hosts(self):
        name = "gpu-node_07_2211.1698955360332661.pt.trace.json"
        digest = self.digest(write(self.path / "in" / name, trace(self.events(), 3, 8)))
        self.assertEqual(digest["host"], "gpu-node_07")
        # As the ledger has them, whose units run from mark to mark here, the last to its completion;
        # 100 us of each AllReduce run beside the product.
        self.assertEqual(digest["steps"], [[4, 0, 1000_000, 500_000, 500_000, 0],
                                           [5, 1000_000, 1400_000, 1280_000, 880_000, 400_000]])
        self.assertEqual(digest["kernels"], {"list": [["gemm", 2, 1200_000], ["norm", 2, 180_000]],
                                             "rest": [0, 0]})

    def test_many_kernels_are_summed(self):
        events = [kernel(1000 * i, 10 + i, i + 1, name=f"k{i}" + "x" * 300) for i in range(40)]
        digest = self.digest(write(self.path / "in/rank0.json", trace(events, 0, 1)))
        self.assertIsNone(digest["host"])
        kernels = digest["kernels"]
        self.assertEqual(len(kernels["list"]), 32)
        self.assertEqual(kernels["list"][0], ["k39" + "x" * 157, 1, 49_000])
        self.assertEqual(kernels["rest"], [8, sum(10 + i for i in range(8)) * 1000])
        self.assertLess(len(json.dumps(kernels)), 8000)

    @unittest.skipUnless(DLRM.is_dir(), f"no traces in {DLRM}")
    def test_the_rank_that_stalls_each_step(self):
        answer = self.answer(DLRM)
        self.assertEqual(self.named(answer["fleet"], "slow_ranks"), ["rank 2"])
        rank = answer["fleet"]["slow_ranks"][0]
        self.assertIn("3 of 3 steps", rank["above"])
        self.assertEqual(rank["because"], "more idle time")


if __name__ == "__main__":
    program.need_binary()
    unittest.main()
