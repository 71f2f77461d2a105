"""Holds `what_if` to programs whose true dependencies are known (programs.py): the program's trace is asked what a
change would save, the program is run again with the change made, and the two are compared.

JARVIS_PROGRAMS says how many programs (default 60; 200 for the figures in docs/performance.md)."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import programs

JARVIS = os.environ.get("JARVIS_BINARY", "jarvis")
COUNT = int(os.environ.get("JARVIS_PROGRAMS", "60"))
# Of the wall time, at the 90th percentile of all questions; and how often the stated range must hold the answer.
ERROR_P90 = 0.5
JOBS = max(10, COUNT // 5)  # of several ranks
COVERED = 0.97 if COUNT >= 200 else 0.95  # one miss among few programs weighs more

QUESTIONS = [
    ("one kernel halved", [{"kernel": programs.BIG, "factor": 0.5}], programs.Change({programs.BIG: 0.5})),
    ("all kernels to a quarter", [{"kernel": "_", "factor": 0.25}], None),
    ("host halved", [{"host": {"from_ms": 0, "to_ms": 1e6}, "factor": 0.5}], programs.Change(host=0.5, stall=0.5)),
]


class Server:
    """One `jarvis serve` that answers tools/call on stdio."""

    def __init__(self):
        self.process = subprocess.Popen([JARVIS, "serve", "--profile", "full", "--allow-root", tempfile.gettempdir(),
                                         "--output-root", tempfile.gettempdir()], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.id = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "what_if_test", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.id:
                return answer

    def call(self, tool, arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def ask_jobs(server, folder):
    """Jobs of several ranks, one of which stands still: what is `collectives`' lever without it worth? The errors in
    percent of the job's wall time."""
    errors = []
    for seed in range(JOBS):
        job = programs.Job(seed)
        run = programs.JobRun(job)
        truth = run.wall - programs.JobRun(job, programs.Change(stall=0)).wall
        traces = os.path.join(folder, "job%d" % seed)
        os.mkdir(traces)
        for one in run.runs:
            with open(os.path.join(traces, "rank%d.json" % one.rank), "w", encoding="utf-8") as file:
                json.dump(one.trace(), file)
        verdict = server.call("collectives", {"traces": [traces], "output_dir": os.path.join(traces, "out")})["verdict"]
        said = 1000 * sum(lever["saved_ms"] for lever in verdict["levers"][:1])
        errors.append(abs(100 * (said - truth) / run.wall))
        late = verdict["levers"] and ("rank %d " % job.late) not in verdict["levers"][0]["change"]
        if errors[-1] > 2 or late:
            print("job %d true %.1f said %.1f of %.1f us: %s" % (seed, truth, said, run.wall, job.describe()))
    print("jobs %d; |error| of wall: p90 %.3f %%, most %.2f %%" % (
        len(errors), quantile(errors, 0.9), max(errors)))
    return errors


def main():
    server = Server()
    errors, naive, covered, widths, replay, worst = [], [], 0, [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.json")
        for seed in range(COUNT):
            program = programs.Program(seed)
            run = programs.Run(program)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(run.trace(), file)
            for name, changes, change in QUESTIONS:
                change = change or programs.Change(
                    {work[3]: 0.25 for work in run.works if work[5] == "kernel"})
                truth = run.wall - programs.Run(program, change).wall
                facts = server.call("what_if", {"trace": path, "changes": changes})
                saved, low, high = (1000 * facts[key] for key in ("saved_ms", "saved_low_ms", "saved_high_ms"))
                error = 100 * (saved - truth) / run.wall
                inside = low - 0.5 <= truth <= high + 0.5
                errors.append(abs(error))
                covered += inside
                widths.append(100 * (high - low) / run.wall)
                if change.host == 1:
                    gpu = sum((w[1] - w[0]) * (1 - change.kernel(w[3])) for w in run.works)
                    naive.append(abs(100 * (gpu - truth) / run.wall))
                if abs(error) > 2 or not inside:
                    worst.append("%4d %-24s true %9.1f said %9.1f (%9.1f..%9.1f) of %9.1f us: %s" % (
                        seed, name, truth, saved, low, high, run.wall, program.describe()))
            replay.append(abs(facts["replay_error_percent"]))
        of_jobs = ask_jobs(server, folder)
    server.stop()
    print("\n".join(worst[:40]))
    print("questions %d; |error| of wall: median %.3f %%, p90 %.3f %%, most %.2f %%; sum of GPU time instead: p90 %.1f %%" % (
        len(errors), quantile(errors, 0.5), quantile(errors, 0.9), max(errors), quantile(naive, 0.9)))
    print("range holds the truth in %.1f %%, median width %.2f %% of wall; replay error at most %.2f %%" % (
        100 * covered / len(errors), quantile(widths, 0.5), max(replay)))
    failed = []
    if quantile(errors, 0.9) > ERROR_P90:
        failed.append("the error at the 90th percentile is above %g %% of wall" % ERROR_P90)
    if quantile(of_jobs, 0.9) > ERROR_P90:
        failed.append("of jobs the error at the 90th percentile is above %g %% of wall" % ERROR_P90)
    if covered < COVERED * len(errors):
        failed.append("the range holds the truth in less than %g %%" % (100 * COVERED))
    for what in failed:
        print("FAILED:", what)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
