"""A training job for tests of sweeps: writes small traces, or does what its run is told to.

    sweep_job.py RUN_DIR RANKS

What a run does stands in the file behaviour beside RUN_DIR's sweep, a line a run: its directory, a
word, and a number of attempts after which it behaves. Standard library only.
"""

import gzip
import os
import pathlib
import signal
import subprocess
import sys
import time

RUN = pathlib.Path(sys.argv[1])
RANKS = int(sys.argv[2])
TRACE = '{"traceEvents": [{"name": "k", "ph": "X", "ts": 1, "dur": 2}]}\n'


def behaviour():
    """The first word that stands for this run, if its attempts are not over."""
    for folder in RUN.parents:
        plan = folder / "behaviour"
        if not plan.is_file():
            continue
        for line in plan.read_text().splitlines():
            name, word, attempts = line.split()
            seen = folder / f"attempts.{name.replace('/', '.')}"
            if any(RUN == below / name for below in (folder / "S", folder / "S %d", folder)):
                with open(seen, "a", encoding="utf-8") as log:
                    log.write("x")
                return word if seen.stat().st_size <= int(attempts) else "work"
    return "work"


def write_traces(missing=None, damaged=None):
    for rank in range(RANKS):
        if rank == missing:
            continue
        folder = RUN / "torch_profiler" / f"rank{rank}"
        folder.mkdir(parents=True, exist_ok=True)
        data = gzip.compress(TRACE.encode())
        (folder / "customer_trace_step10.json.gz").write_bytes(
            data[:-12] if rank == damaged else data)


def main():
    word = behaviour()
    print("working in", RUN, flush=True)
    print("on stderr", file=sys.stderr, flush=True)
    print("stdin:", repr(sys.stdin.read()), flush=True)
    (RUN / "env.txt").write_text("\n".join(f"{k}={v}" for k, v in sorted(os.environ.items())))
    (RUN / "fds.txt").write_text(" ".join(sorted(
        fd for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))))
    if word == "fail":
        sys.exit(3)
    if word in ("hang", "stubborn", "leave"):
        # As torchrun: workers in sessions of their own.
        stubborn = word == "stubborn"
        code = "import signal, time\n" + (
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if stubborn else "") + "time.sleep(300)"
        workers = [subprocess.Popen([sys.executable, "-c", code], start_new_session=own,
                                    stdin=subprocess.DEVNULL) for own in (False, True)]
        if stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (RUN / "pids").write_text(" ".join(str(p) for p in [os.getpid()] + [w.pid for w in workers]))
        if word == "leave":
            write_traces()
            return
        time.sleep(300)
    write_traces(missing=1 if word == "miss" else None, damaged=1 if word == "damage" else None)


main()
