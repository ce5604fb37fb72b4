# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""--engine local: workers on this machine, each segment in a process of its own, so that one that dies takes nothing along.

Where the machine has NVIDIA GPUs, the workers are spread over them in turn: each sees one alone (CUDA_VISIBLE_DEVICES).
"""
from __future__ import annotations

import os
import pathlib
import queue
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Callable, Sequence

from .exit_codes import NO_RETRY

PACKAGE_PARENT = pathlib.Path(__file__).resolve().parent.parent


def gpus() -> list[str]:
    """The GPUs that workers may use, as CUDA_VISIBLE_DEVICES names them: those of that variable, else all that nvidia-smi lists."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() not in ("", "-1")]
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    return [line.strip() for line in listed.stdout.splitlines() if line.startswith("GPU-")] if listed.returncode == 0 else []


def _attempt(command: Sequence[str], retries: int, free: queue.Queue[dict[str, str]]) -> str | None:
    """Runs the command until it goes through, at most 1 + retries times; the reason for the last failure, or None.

    free: what each worker that is not busy adds to its environment; one is taken for the command, and put back.
    """
    path = os.pathsep.join(filter(None, (str(PACKAGE_PARENT), os.environ.get("PYTHONPATH"))))
    own = free.get()
    try:
        return _run(command, retries, {**os.environ, **own, "PYTHONPATH": path})
    finally:
        free.put(own)


def _run(command: Sequence[str], retries: int, environment: dict[str, str]) -> str | None:
    reason = None
    for _ in range(1 + retries):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode == 0:
            return None
        reason = (done.stderr.strip().splitlines() or [""])[-1]
        if done.returncode < 0:
            reason = f"the worker was killed by signal {-done.returncode}"
        if done.returncode == NO_RETRY:
            break
    return reason


def run_local(folder: pathlib.Path, numbers: Sequence[int], workers: int | None, per_gpu: int | None, retries: int, any_version: bool,
              report: Callable[[int, str | None], None]) -> None:
    """Runs the segments, `workers` at a time; calls report(number, reason or None) from this thread as each comes to its end.

    workers: None for `per_gpu` on each GPU, or 1 where there is none. per_gpu: None for 1.
    """
    devices = gpus()
    if workers is None:
        workers = max(1, len(devices) * (per_gpu or 1))
    free: queue.Queue[dict[str, str]] = queue.Queue()
    for worker in range(workers):
        free.put({"CUDA_VISIBLE_DEVICES": devices[worker % len(devices)]} if devices else {})
    options = ["--any-version"] if any_version else []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        tasks = {pool.submit(_attempt, [sys.executable, "-m", "videoconvolve_job", "run", str(folder), "--segment", str(n), *options],
                             retries, free): n for n in numbers}
        for task in as_completed(tasks):
            report(tasks[task], task.result())
