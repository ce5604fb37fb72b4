#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""slurm_test.py: the example's array on a Slurm of one node in a folder of its own; one worker is killed in its midst.

Without cgroups (proctrack/pgid, task/none), so that it runs in a container. Needs root, slurm-wlm and munge.
"""
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

from support import COMMAND, ROOT, ArchiveTest, clip, plain, run, segments

SCRIPT = ROOT / "pipelines" / "archive" / "examples" / "slurm-array.sh"
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=600
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)


class OnSlurm(ArchiveTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.daemons = []
        self.addCleanup(self.stop)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, controller=free_port(), node=free_port(), cpus=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration), "VIDEOCONVOLVE_JOB": str(COMMAND)}
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        wait_until((self.folder / "munge.socket").exists, 20, "munged's start")
        self.start("slurmctld", "-D", "-f", self.configuration)
        self.start("slurmd", "-D", "-f", self.configuration)
        wait_until(lambda: "idle" in self.slurm("sinfo", "-h", "-o", "%T", check=False).stdout, 60, f"an idle node\n{self.logs()}")

    def start(self, *command):
        self.daemons.append(subprocess.Popen([str(c) for c in command], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def slurm(self, *command, **options):
        return run(*command, env=self.environment, **options)

    def logs(self):
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("slurm*.log"))

    def test_same_frames_though_a_worker_is_killed(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        count = len(segments(self.job))
        self.assertEqual(count, 7)
        self.slurm("sbatch", f"--array=0-{count - 1}", f"--output={self.folder}/task-%a.log", f"--chdir={self.folder}", SCRIPT, self.job)
        leftovers = []
        wait_until(lambda: leftovers.extend((self.job / "parts").glob("*.mkv.*.part")) or leftovers, 60, f"a worker's start\n{self.logs()}")
        os.kill(int(leftovers[0].name.removesuffix(".part").rpartition("-")[2]), signal.SIGKILL)
        killed = int(leftovers[0].name.split(".")[0])

        def ended():
            # A task that was requeued waits two minutes unless told otherwise.
            waiting = self.slurm("squeue", "-h", "-r", "-o", "%i %r").stdout.split("\n")
            for line in waiting:
                if line.endswith("BeginTime"):
                    self.slurm("scontrol", "update", f"JobId={line.split()[0]}", "StartTime=now", check=False)
            return not any(waiting)
        wait_until(ended, 200, f"the array's end\n{self.logs()}")
        attempts = pathlib.Path(self.folder / f"task-{killed}.log").read_text()
        self.assertIn("Killed", attempts)
        self.assertIn(f"segment {killed}: done", attempts)
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
