#!/usr/bin/env python3
"""How long examples/slurm takes on this machine alone: a job's traces are made into digests by an array of
tasks and reduced by one more job, against the same tree of plain processes and one process for all.

    slurm_speed.py JARVIS MAKE_TRACE [RANKS] [TASKS] [MEGABYTES]

Slurm (munged, slurmctld, slurmd) is started for it, with as many processors as the machine has. Prints the
clock time of each, and whether the tables are equal. Standard library only."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests/slurm"), str(ROOT / "tests/golden")]
JARVIS, MAKE_TRACE = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
os.environ["JARVIS_BINARY"] = JARVIS
from array_job_test import Cluster  # noqa: E402

# One process digests every N-th trace, as a task of the array does.
TASK = ('i=0; find "$1" -name "*.json.gz" | sort | while read -r f; do '
        'if [ $((i % $3)) = "$4" ]; then "$JARVIS" digest "$f" -o "$2/task_$4" >/dev/null; fi; '
        'i=$((i + 1)); done')


def clock(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def reduce(digests, out):
    subprocess.run([JARVIS, "collectives", str(digests), "--output-dir", str(out)], check=True,
                   stdout=subprocess.DEVNULL)


def by_processes(traces, out, tasks):
    digests = out / "digests"
    subprocess.run(["xargs", "-P", str(os.cpu_count()), "-I{}", "bash", "-c", TASK, "task",
                    str(traces), str(digests), str(tasks), "{}"], check=True, text=True,
                   input="\n".join(map(str, range(tasks))), env={**os.environ, "JARVIS": JARVIS})
    reduce(digests, out / "report")


def by_slurm(cluster, traces, out, tasks):
    cluster.environment["JARVIS"] = JARVIS
    submitted = cluster.run("bash", str(ROOT / "examples/slurm/submit"), str(traces), str(out), str(tasks))
    if submitted.returncode != 0:
        sys.exit(submitted.stderr)
    done = cluster.wait_for(lambda: cluster.run("squeue", "-h").stdout.strip() == "", 600)
    if not done:
        sys.exit("the jobs do not end\n" + cluster.logs())


def tables(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def main():
    ranks, tasks, size = [int(sys.argv[i]) if len(sys.argv) > i else default
                          for i, default in ((3, 256), (4, 64), (5, 8))]
    with tempfile.TemporaryDirectory(prefix="jarvis_slurm_") as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        traces = path / "traces"
        subprocess.run([MAKE_TRACE, "--out", str(traces / "x.json.gz"), "--ranks", str(ranks),
                        "--target-bytes", f"{size}M"], check=True, stdout=subprocess.DEVNULL)
        for truth in traces.glob("*.truth.json"):
            truth.unlink()
        (path / "cluster").mkdir()
        cluster = Cluster(path / "cluster")
        try:
            failure = cluster.up()
            times = {}
            if failure:
                print(f"Slurm does not run here: {failure}")
            else:
                times[f"Slurm, {tasks} tasks"] = clock(
                    lambda: by_slurm(cluster, traces, path / "slurm", tasks))
        finally:
            cluster.down()
        times[f"plain processes, {tasks} tasks"] = clock(
            lambda: by_processes(traces, path / "plain", tasks))
        times["one process, no digests"] = clock(lambda: reduce(traces, path / "direct/report"))
        print(f"{ranks} traces of {size} MB of JSON, {os.cpu_count()} processors")
        for what, seconds in times.items():
            print(f"  {what:28} {seconds:6.1f} s")
        expected = tables(path / "direct/report")
        for folder in ("slurm", "plain"):
            if (path / folder).exists():
                same = tables(path / folder / "report") == expected
                print(f"  tables of {folder}: {'equal' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
