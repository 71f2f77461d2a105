"""What the tests of sweeps share: a folder with a sweep in it, processes, the program."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402

JOB = pathlib.Path(__file__).with_name("sweep_job.py")
SECONDS = 60


def job(ranks=2):
    return [sys.executable, "-B", str(JOB), "{run_dir}", str(ranks)]


def lives(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(") ")[2][0] not in "ZX"


def wait_for(what, seconds=SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


class SweepCase(unittest.TestCase):
    """self.sweep does not exist yet; self.behave says what its runs do."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="jarvis_sweep_")
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name)
        self.sweep = self.path / "S"
        self.started = []
        self.addCleanup(self.stop_started)

    def stop_started(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()

    def behave(self, **runs):
        """t256c28="fail 1": the first attempt of 256thread/nccl_28channels fails."""
        lines = []
        for run, what in runs.items():
            threads, channels = run[1:].split("c")
            lines.append(f"{threads}thread/nccl_{channels}channels {what}\n")
        (self.path / "behaviour").write_text("".join(lines))

    def run_of(self, threads, channels):
        return self.sweep / f"{threads}thread/nccl_{channels}channels"

    def arguments(self, *flags, command=None, nproc=2, threads="256", channels="28,42"):
        return ["--output-dir", str(self.sweep), "--threads", threads, "--channels", channels,
                "--nproc", str(nproc), *flags, "--", *(command or job(nproc))]

    def plan(self, *flags, **more):
        return subprocess.run([program.BINARY, "sweep", "plan", *self.arguments(*flags, **more)],
                              capture_output=True, text=True, timeout=SECONDS, cwd=self.path)

    def run_sweep(self, *flags, **more):
        return subprocess.run([program.BINARY, "sweep", "run", *self.arguments("--yes", *flags,
                                                                               **more)],
                              capture_output=True, text=True, timeout=SECONDS, cwd=self.path)

    def start(self, command, **more):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   cwd=self.path, **more)
        self.started.append(process)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def innocent(self):
        """Somebody else's process that a kill by name would hit."""
        (self.path / "elsewhere").mkdir()
        script = self.path / "elsewhere/train.py"
        script.write_text("import time\ntime.sleep(300)\n")
        return self.start([sys.executable, str(script), "torchrun"], env={
            **os.environ, "JARVIS_SWEEP_RUN": "another"})

    def pids(self, run):
        file = run / "pids"
        self.assertTrue(wait_for(lambda: file.exists() and len(file.read_text().split()) == 3))
        return [int(pid) for pid in file.read_text().split()]

    def assert_gone(self, pids, seconds=SECONDS):
        self.assertTrue(wait_for(lambda: not any(lives(pid) for pid in pids), seconds),
                        [pid for pid in pids if lives(pid)])

    def record(self):
        return json.loads((self.sweep / "sweep.json").read_text())

    def statuses(self):
        return {run["directory"]: run["status"] for run in self.record()["runs"]}

    def attempts(self, threads, channels):
        file = self.path / f"attempts.{threads}thread.nccl_{channels}channels"
        return file.stat().st_size if file.exists() else 0


def main():
    program.need_binary()
    unittest.main()
