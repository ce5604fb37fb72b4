# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""--engine ray: one Ray task a segment. Ray places them, shares out the GPUs, and starts anew what died."""
from __future__ import annotations

import importlib
import pathlib
from typing import Any, Callable, Sequence

from .errors import InputError

PACKAGE = pathlib.Path(__file__).resolve().parent


def _segment(folder: str, number: int, any_version: bool) -> str | None:
    """Runs in a process of Ray's: the reason where another attempt is no use, else None. Ray retries what it raises."""
    # Imported here: GStreamer is to start in Ray's worker, after Ray has said which GPU is the worker's own.
    from videoconvolve_job.worker import run_segment
    try:
        run_segment(pathlib.Path(folder), number, any_version)
    except InputError as error:
        return str(error)
    return None


def _resources(ray: Any, per_gpu: int | None) -> dict[str, float]:
    """What each task asks for: a share of a GPU where the cluster has any or `per_gpu` was given, else one core."""
    if per_gpu is None:
        per_gpu = 1 if ray.cluster_resources().get("GPU", 0) > 0 else 0
    return {"num_gpus": 1 / per_gpu, "num_cpus": 1} if per_gpu > 0 else {"num_cpus": 1}


def run_ray(folder: pathlib.Path, numbers: Sequence[int], address: str | None, per_gpu: int | None, retries: int,
            any_version: bool, report: Callable[[int, str | None], None]) -> None:
    """Runs the segments; calls report(number, reason or None) as each comes to its end.

    address: of a running cluster, such as `ray://head:10001`; None starts Ray on this machine. per_gpu: tasks that share a
    GPU; None: one a GPU where there are GPUs. `folder` and the inputs must have the same paths on all machines.
    Raises InputError where Ray is not installed.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise InputError("Ray is not installed for this Python: pip install ray, or take --engine local") from None
    where: dict[str, Any] = {"address": address} if address else {"address": "local", "include_dashboard": False}
    ray.init(log_to_driver=False, runtime_env={"py_modules": [str(PACKAGE)]}, **where)
    try:
        # max_calls=1: a process for each task, so that a GPU given to one task is not still held by the process of another.
        task = ray.remote(max_calls=1, max_retries=retries, retry_exceptions=True, **_resources(ray, per_gpu))(_segment)
        pending = {task.remote(str(folder), n, any_version): n for n in numbers}
        while pending:
            done, _ = ray.wait(list(pending))
            number = pending.pop(done[0])
            try:
                report(number, ray.get(done[0]))
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", None)
                report(number, str(cause or error).strip().splitlines()[0])
    finally:
        ray.shutdown()
