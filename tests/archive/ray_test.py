#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ray_test.py: a job on a Ray of this machine, one worker of it killed in its midst. Run by a Python that has Ray."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from support import COMMAND, ArchiveTest, clip, plain, segments


class OnRay(ArchiveTest):
    def test_same_frames_though_a_worker_is_killed(self):
        source = clip("open-gop.mp4", self.folder)
        self.plan(source)
        self.assertEqual(len(segments(self.job)), 7)
        command = [sys.executable, COMMAND, "run", self.job, "--engine", "ray"]
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            engine = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"})
        killed, deadline = False, time.monotonic() + 100
        while not killed and engine.poll() is None and time.monotonic() < deadline:
            for leftover in (self.job / "parts").glob("*.mkv.*.part"):
                os.kill(int(leftover.name.removesuffix(".part").rpartition("-")[2]), signal.SIGKILL)
                killed = True
                break
        status = engine.wait(timeout=150)
        log_text = pathlib.Path(self.folder / "log").read_text(encoding="utf-8")
        self.assertTrue(killed, f"no worker was found at its work\n{log_text}")
        self.assertEqual(status, 0, log_text)
        self.assert_same_frames(self.joined(), plain(source, self.folder / "plain.mkv"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
