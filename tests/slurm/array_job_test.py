#!/usr/bin/env python3
"""examples/slurm for real: a Slurm of this machine alone (munged, slurmctld, slurmd, each in a folder of
its own, without systemd), an array job over the ranks, and the report that it makes. Skipped where
Slurm is not installed or does not start."""

import getpass
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "golden"))
import program  # noqa: E402
from rank_traces import collective, kernel, trace, write  # noqa: E402

PROGRAMS = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo")
MEGATRON = program.DATA / "traces/megatron-tp8-a100"
START_SECONDS = 40
JOB_SECONDS = 120


def which(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Cluster:
    """One node: this machine."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self, *command):
        with open(self.folder / f"{pathlib.Path(command[0]).name}.out", "wb") as log:
            self.started.append(subprocess.Popen(command, stdout=log, stderr=log,
                                                 stdin=subprocess.DEVNULL, env=self.environment))

    def run(self, *command, timeout=30):
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                              env=self.environment)

    def wait_for(self, what, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(process.poll() is not None for process in self.started):
                return False
            try:
                if what():
                    return True
            except subprocess.TimeoutExpired:
                pass
            time.sleep(0.2)
        return False

    def up(self):
        """An empty text, or why it does not start."""
        munge_socket = self.folder / "munge.socket"
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        self.start(which("munged"), "--foreground", "--force", f"--socket={munge_socket}",
                   f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        if not self.wait_for(munge_socket.exists, START_SECONDS):
            return "munged does not start"
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        user = getpass.getuser()
        (self.folder / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={munge_socket}
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
SchedulerType=sched/backfill
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""", encoding="utf-8")
        self.start(which("slurmctld"), "-D")
        self.start(which("slurmd"), "-D", "-N", host)
        ready = self.wait_for(lambda: "idle" in self.run(which("sinfo"), "-h", "-o", "%T").stdout,
                              START_SECONDS)
        return "" if ready else "slurmctld or slurmd does not start"

    def down(self):
        for process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def logs(self):
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.out")))


class ArrayJob(unittest.TestCase):
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

    def traces(self):
        if MEGATRON.is_dir():
            return MEGATRON
        args = collective("allreduce", "Float", 8, 1048576, 1048576)
        for rank in range(8):
            write(self.path / f"traces/rank{rank}.json.gz", trace(
                [kernel(1000 * i + 10 * rank, 100 - 10 * rank, i + 1, **args) for i in range(20)],
                rank, 8))
        return self.path / "traces"

    def test_digests_are_mapped_and_reduced(self):
        out = self.path / "out"
        self.cluster.environment["JARVIS"] = program.BINARY
        self.cluster.environment["PATH"] += ":/usr/sbin:/usr/bin"
        submitted = self.cluster.run("bash", str(program.SOURCE / "examples/slurm/submit"),
                                     str(self.traces()), str(out), "4")
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertTrue(self.cluster.wait_for(
            lambda: self.cluster.run("squeue", "-h").stdout.strip() == "", JOB_SECONDS),
            self.cluster.logs())
        logs = "".join(path.read_text() for path in sorted(out.glob("*.log")))
        self.assertEqual(len(list(out.glob("digests/task_*/*.digest.json"))), 8, logs)
        self.assertEqual(len(list(out.glob("digest_*.log"))), 4)
        self.assertIn("8 of 8 ranks", (out / "report.txt").read_text())
        program.ask("collectives", traces=[str(self.traces())], output_dir=str(self.path / "direct"))
        for table in sorted((self.path / "direct").glob("*.csv")):
            self.assertEqual((out / "report" / table.name).read_text(), table.read_text(), table.name)


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
