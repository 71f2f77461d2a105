#!/usr/bin/env python3
"""Digests of a training job of any number of ranks, with faults in it whose place is known.

    rank_fleet.py RANKS FOLDER [--slow-rank RANK=FACTOR] [--slow-host HOST=FACTOR] [--slow-cpu RANK=FACTOR]
                  [--slow-link HOST-HOST=FACTOR] [--steps N] [--pipeline N] [--jitter SHARE] [--seed N]
                  [--bare] [--silent]

Eight ranks a host are one tensor-parallel group; hosts in a row are the stages of a pipeline, whose ranks of
one place meet in pairs; replicas of a stage meet in groups of eight hosts that share their weights, and those
groups in one more. Each collective begins when its last rank comes and takes as long as its bytes need. The
stages do different work: the last has the output layer. Standard library only."""

import argparse
import json
import pathlib
import random

TENSOR = 8  # ranks of a host
SHARDS = 8  # hosts that share weights
LAYERS = 7  # of a stage, two collectives each way
START_NS = 10**9
BYTES_PER_NS = {"inside": 200.0, "between": 20.0}
# Elements of two bytes.
MESSAGES = {"tensor": 16 << 20, "pipeline": 8 << 20, "shards": 24 << 20, "replicas": 6 << 20}
KERNELS = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "send_recv": "SendRecv",
           "reduce_scatter": "ReduceScatter_Sum_bf16_RING_LL", "allgather": "AllGather_RING_LL"}
KERNEL_NAMES = [("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", 0.7),
                ("flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>", 0.2),
                ("vectorized_layer_norm_kernel<c10::BFloat16, float>", 0.1)]


class Job:
    def __init__(self, ranks, steps=5, pipeline=4, jitter=0.01, seed=1, slow_rank=(), slow_host=(),
                 slow_cpu=(), slow_link=(), bare=False, silent=False):
        self.ranks, self.steps, self.jitter, self.bare = ranks, steps, jitter, bare
        self.silent = silent
        self.hosts = max(1, ranks // TENSOR)
        self.stages = pipeline if self.hosts % pipeline == 0 else 1
        self.replicas = self.hosts // self.stages
        self.random = random.Random(seed)
        self.factor = [dict(slow_rank).get(r, 1.0) * dict(slow_host).get(r // TENSOR, 1.0)
                       for r in range(ranks)]
        self.cpu = [dict(slow_cpu).get(r, 1.0) for r in range(ranks)]
        self.links = {frozenset(pair): factor for pair, factor in slow_link}
        self.now = [START_NS + self.random.randrange(10**6) for _ in range(ranks)]
        self.kinds = [[] for _ in range(ranks)]
        self.kind_of = [{} for _ in range(ranks)]
        self.calls = [[] for _ in range(ranks)]  # kind, start, duration
        self.arrivals = [[] for _ in range(ranks)]
        self.step_rows = [[] for _ in range(ranks)]
        self.work = [0] * ranks  # computed since the call before
        self.late = [0] * ranks  # of the time since then, the host's alone
        self.sums = [[0, 0] for _ in range(ranks)]  # computed, communicated; of the step

    def compute(self, rank, ns):
        work = ns * self.factor[rank] * (1 + self.random.gauss(0, self.jitter))
        self.work[rank] += int(work)
        self.late[rank] += int(ns * (self.cpu[rank] - 1))

    def kind(self, rank, name, message, group):
        key = (name, message, group[0], group[-1], len(group))
        if key not in self.kind_of[rank]:
            self.kind_of[rank][key] = len(self.kinds[rank])
            elements = MESSAGES[message]
            out = elements * len(group) if name == "allgather" else \
                elements // len(group) if name == "reduce_scatter" else elements
            stream = 20 + sorted(MESSAGES).index(message)
            keys = [f"{message}_{group[0]}", str(list(group)), name, len(group), "BFloat16", elements,
                    out, "[]", "[]", stream]
            self.kinds[rank].append({"recorded": keys, "known": keys, "known_by": "kernel_args",
                                     "kernel": f"ncclDevKernel_{KERNELS[name]}(ncclDevKernelArgs)",
                                     "local_group": 0})
        return self.kind_of[rank][key]

    def cost(self, name, message, group):
        hosts = sorted({rank // TENSOR for rank in group})
        size = 2 * MESSAGES[message] * (len(group) if name == "allgather" else 1)
        moved = size * (2 if name == "allreduce" else 1) * (len(group) - 1) / len(group)
        slowest = max([1.0] + [self.links.get(frozenset(pair), 1.0)
                               for pair in zip(hosts, hosts[1:] + hosts[:1])])
        rate = BYTES_PER_NS["between" if len(hosts) > 1 else "inside"]
        return 20_000 + moved / rate * slowest * (1 + abs(self.random.gauss(0, self.jitter)))

    def meet(self, name, message, group):
        """All ranks of the group come when their work is done and go together."""
        starts = [self.now[rank] + self.work[rank] + self.late[rank] for rank in group]
        end = max(starts) + int(self.cost(name, message, group))
        for rank, start in zip(group, starts):
            work, late = self.work[rank], self.late[rank]
            # A slow host launches at the last moment; others have launched long before.
            self.arrivals[rank].append([8_000, 8_000, 8_000, work, work] if late > 0 else
                                       [2_000_000, None, 0, work, work])
            self.calls[rank].append((self.kind(rank, name, message, group), start, end - start))
            self.sums[rank][0] += work
            self.sums[rank][1] += end - start
            self.now[rank], self.work[rank], self.late[rank] = end, 0, 0

    def host_ranks(self, replica, stage):
        first = (replica * self.stages + stage) * TENSOR
        return range(first, min(first + TENSOR, self.ranks))

    def layers(self, replica, stage, forward):
        ranks = self.host_ranks(replica, stage)
        ns = 400_000 if forward else 800_000
        for layer in range(LAYERS):
            for _ in range(2):
                last = stage == self.stages - 1 and layer == LAYERS - 1
                for rank in ranks:
                    self.compute(rank, ns * (2.5 if last else 1))
                if len(ranks) > 1:
                    self.meet("allreduce", "tensor", ranks)

    def hand_over(self, replica, stage):
        for here, there in zip(self.host_ranks(replica, stage), self.host_ranks(replica, stage + 1)):
            self.meet("send_recv", "pipeline", [here, there])

    def share(self):
        for stage in range(self.stages):
            for place in range(min(TENSOR, self.ranks)):
                column = [(r * self.stages + stage) * TENSOR + place for r in range(self.replicas)]
                groups = [column[i:i + SHARDS] for i in range(0, len(column), SHARDS)]
                for name in ("reduce_scatter", "allgather"):
                    for group in groups:
                        for _ in range(3):
                            if len(group) > 1:
                                self.meet(name, "shards", group)
                firsts = list(zip(*groups)) if len(groups) > 1 and len(set(map(len, groups))) == 1 else []
                for group in firsts:
                    self.meet("allreduce", "replicas", group)

    def step(self, number):
        begin = list(self.now)
        for replica in range(self.replicas):
            for stage in range(self.stages):
                self.layers(replica, stage, True)
                if stage + 1 < self.stages and not self.silent:
                    self.hand_over(replica, stage)
            for stage in reversed(range(self.stages)):
                self.layers(replica, stage, False)
                if stage > 0 and not self.silent:
                    self.hand_over(replica, stage - 1)
        self.share()
        for rank in range(self.ranks):
            computed, communicated = self.sums[rank]
            self.step_rows[rank].append([number, begin[rank], self.now[rank] - begin[rank],
                                         computed + communicated, computed, communicated])
            self.sums[rank] = [0, 0]

    def run(self):
        for number in range(3, 3 + self.steps):
            self.step(number)
        return self

    def digest(self, rank):
        rows = self.step_rows[rank]
        start, end = rows[0][1], rows[-1][1] + rows[-1][2]
        busy, computed, exposed = (sum(row[i] for row in rows) for i in (3, 4, 5))
        us = {"computation": computed, "exposed_comm": exposed, "exposed_memcpy": 0, "busy": busy,
              "idle": end - start - busy, "total": end - start, "total_comm": exposed,
              "total_memcpy": 0}
        digest = {
            "format": "jarvis-rank-digest", "version": 3, "source": f"rank{rank}.json",
            "trace_id": f"t_{rank:08x}", "rank": rank, "world_size": self.ranks, "named_rank": None,
            "devices": TENSOR, "device": "NVIDIA H100 80GB HBM3", "base_ns": 0, "damage": "",
            "timeline_us": {name: ns / 1000 for name, ns in us.items()}, "kinds": self.kinds[rank],
            "calls": [[kind, ts, dur, ts / 1000, dur / 1000, 0, None, 5]
                      for kind, ts, dur in self.calls[rank]],
            "facts": {"span_ns": [start, end, start, end],
                      "wait_ns": 0, "launches": 10 * len(self.calls[rank]), "left_out": 0, "names": [""], "pieces": [],
                      "waits": [], "arrivals": self.arrivals[rank], "tail": [None, None, 0, 0, 0]}}
        if not self.bare:
            digest["host"] = f"node-{rank // TENSOR:04}"
            digest["steps"] = rows
            pieces, base = self.exposed(rank), sum(row[2] for row in rows)
            idle = base - computed - sum(pieces[1::2])
            digest["ledger"] = {"unit": "step", "count": len(rows), "bound": "GPU-bound",
                                "sums_ns": [base, busy, computed, 0, idle, 0, 0, 0, idle, 0, 0, 0],
                                "exposed_communication_ns": pieces}
            digest["kernels"] = {"list": [[name, 100 * len(rows), int(share * computed)]
                                          for name, share in KERNEL_NAMES], "rest": [0, 0]}
        return digest

    def exposed(self, rank):
        """Pieces of communication: the distance from the one before, the length."""
        pieces, last = [], 0
        for start, end in sorted((ts, ts + dur) for _, ts, dur in self.calls[rank]):
            if pieces and start <= last:
                pieces[-1] += max(0, end - last)
            elif end > start:
                pieces += [start - last, end - start]
            last = max(last, end)
        return pieces

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for rank in range(self.ranks):
            text = json.dumps(self.digest(rank), separators=(",", ":"))
            (folder / f"rank_{rank:05}.digest.json").write_text(text + "\n", encoding="utf-8")


def fault(text):
    place, factor = text.split("=")
    return (tuple(map(int, place.split("-"))) if "-" in place else int(place)), float(factor)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ranks", type=int)
    parser.add_argument("folder")
    for name in ("--slow-rank", "--slow-host", "--slow-cpu", "--slow-link"):
        parser.add_argument(name, type=fault, action="append", default=[])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--pipeline", type=int, default=4)
    parser.add_argument("--jitter", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bare", action="store_true", help="without hosts, steps and kernels")
    parser.add_argument("--silent", action="store_true", help="stages hand nothing over")
    arguments = vars(parser.parse_args())
    folder = arguments.pop("folder")
    Job(**arguments).run().write(folder)


if __name__ == "__main__":
    main()
