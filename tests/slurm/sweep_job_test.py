#!/usr/bin/env python3
"""The script that sweep plan writes for Slurm, on a Slurm of this machine alone: an array with a task a
run, then the table of runs. Skipped where Slurm is not installed or does not start."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "sweep"))
from array_job_test import JOB_SECONDS, PROGRAMS, Cluster, which  # noqa: E402
from sweep_support import job, program  # noqa: E402

TABLE = """256        28              SUCCESS
256        42              FAILED
"""


class SweepJob(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="jarvis_slurm_")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.path = pathlib.Path(cls.temporary.name)
        cls.path.chmod(0o755)
        (cls.path / "cluster").mkdir()
        cls.cluster = Cluster(cls.path / "cluster")
        cls.addClassCleanup(cls.cluster.down)
        failure = cls.cluster.up()
        if failure:
            raise unittest.SkipTest(f"{failure} here\n{cls.cluster.logs()}")

    def submit(self):
        submitted = self.cluster.run("bash", str(self.path / "S %d/run_sweep.sbatch"))
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertTrue(self.cluster.wait_for(
            lambda: self.cluster.run("squeue", "-h").stdout.strip() == "", JOB_SECONDS),
            self.cluster.logs())
        table = sorted((self.path / "S %d").glob("nccl_thread_sweep_summary_*.txt"))[-1].read_text()
        lines = [line[:37].rstrip() for line in table.splitlines()]
        return "".join(f"{line}\n" for line in lines if line.startswith("256"))

    def test_a_task_a_run_then_the_table(self):
        sweep = self.path / "S %d"
        (self.path / "behaviour").write_text("256thread/nccl_42channels fail 1\n")
        planned = subprocess.run(
            [program.BINARY, "sweep", "plan", "--format", "slurm", "-o", str(sweep), "-t", "256",
             "-c", "28,42", "-p", "2", "--workdir", str(self.path), "--", *job()],
            capture_output=True, text=True)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        self.cluster.environment["PATH"] += ":/usr/sbin:/usr/bin"
        self.assertEqual(self.submit(), TABLE)
        for number in (0, 1):
            self.assertIn("Running THREADS=256", (sweep / f"slurm_{number}.log").read_text())
        self.assertEqual(self.submit(), TABLE.replace("FAILED", "SUCCESS"))
        self.assertIn("Skipping THREADS=256, CHANNELS=28", (sweep / "slurm_0.log").read_text())


if __name__ == "__main__":
    program.need_binary()
    missing = [name for name in PROGRAMS if which(name) is None]
    if missing:
        program.skip(f"no Slurm on this machine: {', '.join(missing)} not found "
                     "(Debian: slurmctld slurmd slurm-client munge)")
    result = unittest.main(exit=False).result
    if result.skipped and not result.failures and not result.errors:
        program.skip("; ".join(reason for _, reason in result.skipped))
    sys.exit(0 if result.wasSuccessful() else 1)
