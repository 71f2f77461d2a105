#!/usr/bin/env python3
"""Programs whose true dependencies are known: a random program is run on a small machine of host threads,
streams and waits, and what a profiler would have recorded of the run is written as a Kineto trace. Run again
with a change made (a kernel faster, the host faster), the machine says what the change is worth, which is what
`what_if` has to tell from the first run's trace alone.

    programs.py SEED OUT.json [--kernel NAME=FACTOR]... [--host FACTOR] [--stall FACTOR]

The machine's rules are the machine's, not the simulation's: jitter comes per instruction, so that a change
does not draw it anew; launches block when the queue is full; a wait may go unrecorded.
"""

import argparse
import dataclasses
import json
import math
import random

MAIN, AUTOGRAD = "1001", "1002"
COMPUTE, SIDE = 7, 20
BIG = "big_gemm"


@dataclasses.dataclass
class Change:
    """What is made different: durations by kernel name, time of the host's own work, of its stalls."""

    kernels: dict = dataclasses.field(default_factory=dict)
    all_kernels: float = 1.0
    host: float = 1.0
    stall: float = 1.0

    def kernel(self, name):
        return self.kernels.get(name, self.all_kernels)


@dataclasses.dataclass
class Machine:
    """Microseconds, drawn once for each program."""

    seed: int
    launch_latency: float
    stream_gap: float
    wait_return: float
    queue: int
    whole_microseconds: bool
    clock_offset: float  # of the GPU's clock


class Program:
    """A list of instructions, each a tuple (what, ...)."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.code = []
        draw = self.draw
        self.host_mean = draw.choice([4, 8, 20, 40])
        self.kernel_mean = draw.choice([5, 20, 60, 150])
        self.two_streams = draw.random() < 0.6
        self.backward = draw.random() < 0.5
        self.reads_result = draw.random() < 0.7
        self.unrecorded_wait = not self.reads_result and draw.random() < 0.4
        self.pageable = draw.random() < 0.5
        self.stalls = draw.random() < 0.3
        self.layers = draw.randint(4, 14)
        self.machine = Machine(
            seed=seed,
            launch_latency=draw.uniform(5, 12),
            stream_gap=draw.uniform(0.8, 2.0),
            wait_return=draw.uniform(4, 10),
            queue=draw.choice([10**9, 10**9, 300]),
            whole_microseconds=draw.random() < 0.3,
            clock_offset=draw.choice([0, 0, -40, 20]),
        )
        self.kernels = [("kernel_%d" % i, self.lognormal(self.kernel_mean, 1.0)) for i in range(8)]
        self.kernels[0] = (BIG, self.kernel_mean * 8)
        for _ in range(draw.randint(3, 6)):
            self.iteration()
        self.code.append(("device_sync", MAIN))

    def lognormal(self, mean, sigma=0.6):
        return mean * math.exp(self.draw.gauss(0, sigma))

    def describe(self):
        return "host %g kernel %g%s%s%s%s%s%s" % (
            self.host_mean, self.kernel_mean, " streams" * self.two_streams, " backward" * self.backward,
            " item" * self.reads_result, " unrecorded" * self.unrecorded_wait, " pageable" * self.pageable,
            " stalls" * self.stalls)

    def layer(self, thread, op):
        for _ in range(self.draw.randint(3, 7)):
            name, mean = self.draw.choice(self.kernels)
            self.code.append(("host", thread, self.lognormal(self.host_mean), op))
            self.code.append(("launch", thread, COMPUTE, name, mean * math.exp(self.draw.gauss(0, 0.02))))

    def iteration(self):
        code, draw = self.code, self.draw
        code.append(("host", MAIN, self.lognormal(800, 0.8), "aten::load"))
        kind = "Pageable" if self.pageable else "Pinned"
        code.append(("copy", MAIN, COMPUTE, "Memcpy HtoD (%s -> Device)" % kind, self.lognormal(60), self.pageable))
        for i in range(self.layers):
            if self.stalls and i == self.layers // 2:
                code.append(("stall", MAIN, self.lognormal(3000, 0.5)))
            self.layer(MAIN, "aten::op")
            if self.two_streams and i % 3 == 2:
                code += [("record", MAIN, COMPUTE, 0), ("wait_event", MAIN, SIDE, 0),
                         ("launch", MAIN, SIDE, "ncclDevKernel_AllReduce", self.lognormal(self.kernel_mean * 6)),
                         ("record", MAIN, SIDE, 1)]
                if draw.random() < 0.5:
                    code.append(("wait_event", MAIN, COMPUTE, 1))
        if self.two_streams:
            code.append(("wait_event", MAIN, COMPUTE, 1))
        if self.backward:
            code.append(("hand_over", MAIN, AUTOGRAD))
            for _ in range(self.layers):
                self.layer(AUTOGRAD, "autograd::engine::evaluate_function: OpBackward0")
            code.append(("hand_over", AUTOGRAD, MAIN))
        if self.reads_result:
            code.append(("copy", MAIN, COMPUTE, "Memcpy DtoH (Device -> Pageable)", 2.0, True))
        elif self.unrecorded_wait:
            code.append(("unrecorded_sync", MAIN, COMPUTE))
        else:
            code.append(("stream_sync", MAIN, COMPUTE))
        code.append(("host", MAIN, self.lognormal(300, 0.8), "aten::post"))


class Run:
    """One run of a program: `wall` in microseconds, and the events that a profiler would record."""

    def __init__(self, program, change=None):
        self.program = program
        self.machine = program.machine
        self.change = change or Change()
        self.now = {MAIN: 0.0, AUTOGRAD: 0.0}
        self.stream_end = {COMPUTE: 0.0, SIDE: 0.0}
        self.awaited = {COMPUTE: 0.0, SIDE: 0.0}  # by streams, of events
        self.events = {}
        self.starts = []
        self.calls, self.works, self.ops = [], [], []
        self.correlation = 0
        self.rank, self.world = None, None
        for place, instruction in enumerate(program.code):
            self.step(place, instruction)

    @property
    def wall(self):
        return max(max(self.now.values()), max(self.stream_end.values()))

    def step(self, place, instruction):
        self.noise = random.Random((self.machine.seed * 100003 + place) * 64 + (self.rank or 0))
        getattr(self, instruction[0])(*instruction[1:])

    def jitter(self, sigma):
        rare = self.noise.expovariate(1 / 30) if self.noise.random() < 0.004 else 0
        return abs(self.noise.gauss(0, sigma)) + rare

    def call(self, thread, name, begin, end, correlation=None):
        self.calls.append((begin, end, thread, name, correlation))
        self.now[thread] = end

    def host(self, thread, micros, op):
        total = micros * self.change.host + self.jitter(0.3)
        begin, parts = self.now[thread], max(1, int(total / 60))
        for i in range(parts):  # ops within long host work
            self.ops.append((begin + total * i / parts, begin + total * (i + 1) / parts, thread, op))
        self.now[thread] += total

    def stall(self, thread, micros):
        self.now[thread] += micros * self.change.stall

    def submit(self, thread, stream, name, micros):
        micros *= self.change.kernel(name)
        begin = self.now[thread]
        ready = self.awaited[stream] + 2 + self.jitter(0.5) if self.awaited[stream] else 0
        start = max(begin + self.machine.launch_latency + self.jitter(0.6),
                    self.stream_end[stream] + self.machine.stream_gap + self.jitter(0.25), ready)
        end = begin + 4 + self.jitter(0.8)
        if len(self.starts) >= self.machine.queue:
            end = max(end, self.starts[-self.machine.queue] + 4 + self.jitter(0.5))
        self.awaited[stream] = 0.0
        self.stream_end[stream] = start + micros
        self.starts.append(start)
        self.correlation += 1
        return begin, end, start

    def launch(self, thread, stream, name, micros):
        begin, end, start = self.submit(thread, stream, name, micros)
        self.works.append((start, self.stream_end[stream], stream, name, self.correlation, "kernel"))
        self.call(thread, "cudaLaunchKernel", begin, end, self.correlation)

    def copy(self, thread, stream, name, micros, waits):
        begin, end, start = self.submit(thread, stream, name, micros)
        self.works.append((start, self.stream_end[stream], stream, name, self.correlation, "gpu_memcpy"))
        if waits:
            end = max(end, self.stream_end[stream] + self.machine.wait_return + self.jitter(0.8))
        self.call(thread, "cudaMemcpyAsync", begin, end, self.correlation)

    def record(self, thread, stream, event):
        self.events[event] = self.stream_end[stream]
        self.call(thread, "cudaEventRecord", self.now[thread], self.now[thread] + 1)
        self.now[thread] += 0.3

    def wait_event(self, thread, stream, event):
        self.awaited[stream] = max(self.awaited[stream], self.events.get(event, 0.0))
        self.call(thread, "cudaStreamWaitEvent", self.now[thread], self.now[thread] + 1)
        self.now[thread] += 0.3

    def wait_for(self, thread, until, name):
        begin = self.now[thread]
        end = max(begin + 2, until + self.machine.wait_return + self.jitter(0.8))
        if name:
            self.call(thread, name, begin, end)
        self.now[thread] = end + 0.5

    def stream_sync(self, thread, stream):
        self.wait_for(thread, self.stream_end[stream], "cudaStreamSynchronize")

    def unrecorded_sync(self, thread, stream):
        self.wait_for(thread, self.stream_end[stream], None)

    def device_sync(self, thread):
        self.wait_for(thread, max(self.stream_end.values()), "cudaDeviceSynchronize")

    def hand_over(self, giver, taker):
        self.now[taker] = max(self.now[taker], self.now[giver] + 60 + self.jitter(5))

    def trace(self):
        """The run as a Kineto trace."""
        base = 1_000_000.0

        def event(category, name, begin, end, pid, tid, args):
            begin, end = begin + base, end + base
            if self.machine.whole_microseconds:
                begin, end = float(round(begin)), float(round(end))
            begin, end = round(begin, 3), round(end, 3)
            return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin,
                    "dur": round(end - begin, 3), "args": args}

        out = [event("cpu_op", name, begin, end, 1, int(thread), {"External id": 10**6 + i})
               for i, (begin, end, thread, name) in enumerate(self.ops)]
        for begin, end, thread, name, correlation in self.calls:
            args = {} if correlation is None else {"correlation": correlation}
            out.append(event("cuda_runtime", name, begin, end, 1, int(thread), args))
        offset = self.machine.clock_offset
        for begin, end, stream, name, correlation, category in self.works:
            out.append(event(category, name, begin + offset, end + offset, 0, stream,
                             {"device": 0, "stream": stream, "correlation": correlation}))
        out.sort(key=lambda e: e["ts"])
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                 "traceEvents": out}
        if self.world:
            trace["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.world}
        return trace


@dataclasses.dataclass
class RankCode:
    """What one rank of a job runs; its collectives are those of the others."""

    machine: Machine
    code: list


class Job:
    """Several ranks that run the same program, each at its own pace, with collectives between. One of them stands
    still now and then. A collective ends on every rank when the last one has come and the data is moved."""

    def __init__(self, seed):
        self.draw = draw = random.Random(seed + 500000)
        program = Program.__new__(Program)
        program.draw = draw
        self.world = draw.choice([2, 4])
        self.late = draw.randrange(self.world)
        self.host_mean, self.kernel_mean = draw.choice([4, 8, 20]), draw.choice([20, 60, 150])
        self.transfer = draw.uniform(100, 800)
        self.waits = draw.random() < 0.5  # for the GPU, after each iteration
        self.stall = draw.uniform(3000, 30000)
        self.machine = Machine(seed, draw.uniform(5, 12), draw.uniform(0.8, 2.0), draw.uniform(4, 10), 10**9,
                               False, 0)
        shared = self.structure()
        self.ranks = [RankCode(self.machine, self.own(rank, shared)) for rank in range(self.world)]

    def describe(self):
        return "%d ranks, host %g kernel %g transfer %.0f stall %.0f%s" % (
            self.world, self.host_mean, self.kernel_mean, self.transfer, self.stall, " waits" * self.waits)

    def structure(self):
        """Instructions with means, the same for every rank."""
        draw, code = self.draw, []
        kernels = [("kernel_%d" % i, self.kernel_mean * math.exp(draw.gauss(0, 0.8))) for i in range(6)]
        for _ in range(draw.randint(4, 8)):
            code.append(("host", MAIN, 400, "aten::load"))
            for layer in range(draw.randint(3, 6)):
                for _ in range(draw.randint(3, 8)):
                    code.append(("host", MAIN, self.host_mean, "aten::op"))
                    code.append(("launch", MAIN, COMPUTE, *draw.choice(kernels)))
                if layer == 1:
                    code.append(("stall", MAIN, self.stall))
                code += [("record", MAIN, COMPUTE, 0), ("wait_event", MAIN, SIDE, 0),
                         ("collective", MAIN, SIDE, self.transfer),
                         ("record", MAIN, SIDE, 1), ("wait_event", MAIN, COMPUTE, 1)]
            if self.waits:
                code.append(("stream_sync", MAIN, COMPUTE))
        code.append(("device_sync", MAIN))
        return code

    def own(self, rank, shared):
        own = []
        for one in shared:
            if one[0] == "host":
                one = (*one[:2], one[2] * math.exp(self.draw.gauss(0, 0.3)), one[3])
            if one[0] == "stall":
                one = (*one[:2], one[2] * self.draw.uniform(0.95, 1.05) if rank == self.late else 0.0)
            own.append(one)
        return own


class JobRun:
    """One run of a job; `change` is of every rank."""

    def __init__(self, job, change=None):
        self.runs = []
        for rank in range(job.world):
            run = Run(RankCode(job.machine, []), change)
            run.rank, run.world = rank, job.world
            self.runs.append(run)
        for place in range(len(job.ranks[0].code)):
            instructions = [code.code[place] for code in job.ranks]
            if instructions[0][0] == "collective":
                self.meet(instructions)
                continue
            for run, instruction in zip(self.runs, instructions):
                run.step(place, instruction)
        self.wall = max(run.wall for run in self.runs)

    def meet(self, instructions):
        started = []
        for run, (_, thread, stream, transfer) in zip(self.runs, instructions):
            begin, end, start = run.submit(thread, stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0)
            run.call(thread, "cudaLaunchKernel", begin, end, run.correlation)
            started.append(start)
        end = max(started) + transfer
        for run, (_, _, stream, _), start in zip(self.runs, instructions, started):
            run.stream_end[stream] = end
            run.works.append((start, end, stream, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", run.correlation,
                              "kernel"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME=FACTOR")
    parser.add_argument("--host", type=float, default=1.0)
    parser.add_argument("--stall", type=float, default=1.0)
    arguments = parser.parse_args()
    kernels = {name: float(factor) for name, factor in (one.split("=") for one in arguments.kernel)}
    run = Run(Program(arguments.seed), Change(kernels, 1.0, arguments.host, arguments.stall))
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(run.trace(), file)
    print("%s: %.1f us" % (arguments.out, run.wall))


if __name__ == "__main__":
    main()
