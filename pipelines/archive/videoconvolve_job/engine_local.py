# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""--engine local: workers on this machine, each segment in a process of its own, so that one that dies takes nothing along."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Callable, Sequence

from .exit_codes import NO_RETRY

PACKAGE_PARENT = pathlib.Path(__file__).resolve().parent.parent


def _attempt(command: Sequence[str], retries: int) -> str | None:
    """Runs the command until it goes through, at most 1 + retries times; the reason for the last failure, or None."""
    path = os.pathsep.join(filter(None, (str(PACKAGE_PARENT), os.environ.get("PYTHONPATH"))))
    reason = None
    for _ in range(1 + retries):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path})
        if done.returncode == 0:
            return None
        reason = (done.stderr.strip().splitlines() or [""])[-1]
        if done.returncode < 0:
            reason = f"the worker was killed by signal {-done.returncode}"
        if done.returncode == NO_RETRY:
            break
    return reason


def run_local(folder: pathlib.Path, numbers: Sequence[int], workers: int, retries: int, any_version: bool,
              report: Callable[[int, str | None], None]) -> None:
    """Runs the segments, `workers` at a time; calls report(number, reason or None) from this thread as each comes to its end."""
    options = ["--any-version"] if any_version else []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        tasks = {pool.submit(_attempt, [sys.executable, "-m", "videoconvolve_job", "run", str(folder), "--segment", str(n), *options],
                             retries): n for n in numbers}
        for task in as_completed(tasks):
            report(tasks[task], task.result())
