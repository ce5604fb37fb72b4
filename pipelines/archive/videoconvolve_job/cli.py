# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command: plan, run, status, join, verify."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from typing import Any, Sequence

from . import __version__
from .errors import InputError, JobError
from .exit_codes import FAILED, INCOMPLETE, NO_RETRY

# Where an array of tasks tells each of them its number.
INDEX_VARIABLES = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX")


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text}: give a number above 0, at most 1000000")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: give 1 or more")
    return value


def _none_or_more(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text}: give 0 or more")
    return value


def _plan(options: Any) -> int:
    from .gst import seconds
    from .plan import plan
    job = plan(options.inputs, options.output, options.filter, options.seconds, options.encoder, options.convert, options.lossless)
    for number, source in enumerate(job.inputs):
        segments = [job.segments[n] for n in job.of_input(number)]
        if source.error is not None:
            print(f"left out: {source.error}", file=sys.stderr)
        else:
            note = f" (not cut: {source.note})" if source.note else ""
            print(f"{source.path}: {len(segments)} segments, {sum(s.range.frames or 0 for s in segments)} frames{note}")
    hold = f", and all of {seconds(job.halo.hold)} before" if job.halo.hold else ""
    print(f"{len(job.segments)} segments, numbered from 0; halo: {job.halo.before} frames before and {job.halo.after} after{hold}")
    return INCOMPLETE if any(source.error for source in job.inputs) else 0


def _segment_number(options: Any) -> int | None:
    """The one segment that this process is to do, from --segment or an array's variable; None where it is to do all."""
    if options.segment is not None or options.engine is not None:
        return None if options.segment is None else int(options.segment)
    for name in INDEX_VARIABLES:
        if text := os.environ.get(name):
            if not text.isdigit():
                raise InputError(f"{name}={text}: it must be a segment's number")
            return int(text)
    return None


def _run(options: Any) -> int:
    from .worker import run_segment
    number = _segment_number(options)
    if number is not None:
        made = run_segment(options.job, number, options.any_version)
        print(f"segment {number}: {'done' if made else 'was done already'}")
        return 0
    return _run_all(options)


def _run_all(options: Any) -> int:
    """Runs what is left to do on an engine, and names what failed."""
    from .job import load
    from .parts import Part
    from .progress import Progress
    job = load(options.job)
    numbers = [n for n in range(len(job.segments)) if not Part(options.job, n).is_good(job.id)]
    progress = Progress(job, numbers)
    folder = options.job.absolute()
    if not numbers:
        print("all segments were done already")
    elif options.engine == "ray":
        from .engine_ray import run_ray
        run_ray(folder, numbers, options.address, options.per_gpu, options.retries, options.any_version, progress.report)
    else:
        from .engine_local import run_local
        run_local(folder, numbers, options.workers, options.per_gpu, options.retries, options.any_version, progress.report)
    progress.close()
    for number, reason in sorted(progress.failed.items()):
        print(f"segment {number} failed: {reason}", file=sys.stderr)
    return INCOMPLETE if progress.failed else 0


def _status(options: Any) -> int:
    from .job import load
    from .status import status, text
    states = status(load(options.job), options.job)
    print(text(states))
    return 0 if all(state.complete for state in states) else INCOMPLETE


def _each_input(options: Any, what: Any) -> int:
    """Calls what(number, path or None) for each readable input; those that fail are named, and the others go on."""
    from .job import load
    from .join import outputs
    job = load(options.job)
    target, failed = options.output, any(source.error for source in job.inputs)
    if target is None:
        targets: dict[int, Any] = {n: None for n, source in enumerate(job.inputs) if source.error is None}
    else:
        is_folder = target.is_dir() or options.output_text.endswith("/")
        targets = outputs(job, target, is_folder)
        if is_folder:
            target.mkdir(parents=True, exist_ok=True)
    for source in job.inputs:
        if source.error is not None:
            print(f"left out: {source.error}", file=sys.stderr)
    for number, path in targets.items():
        try:
            print(what(job, number, path))
        except JobError as error:
            failed = True
            print(f"videoconvolve-job: {error}", file=sys.stderr)
    return INCOMPLETE if failed else 0


def _join(options: Any) -> int:
    from .join import join_input

    def one(job: Any, number: int, path: pathlib.Path) -> str:
        join_input(job, options.job, number, path)
        return f"{path}: joined from {len(job.of_input(number))} segments"
    return _each_input(options, one)


def _verify(options: Any) -> int:
    from .verify import verify_input

    def one(job: Any, number: int, path: pathlib.Path | None) -> str:
        return f"{path or job.inputs[number].path}: {verify_input(job, options.job, number, path)} frames are as recorded"
    return _each_input(options, one)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="videoconvolve-job", description="videoconvolve over long videos, in segments.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    plan = commands.add_parser("plan", help="cut the inputs into segments and write job.json")
    plan.add_argument("inputs", nargs="+", type=pathlib.Path, metavar="IN")
    plan.add_argument("-o", "--output", required=True, type=pathlib.Path, metavar="JOB", help="folder of the job; it may be new")
    plan.add_argument("--filter", required=True, help="the element's properties, as in a launch line: 'preset=temporal-denoise'")
    plan.add_argument("--seconds", type=_positive, default=60, help="length of a segment, at least (60)")
    plan.add_argument("--encoder", default="avenc_ffv1", help="GStreamer's encoder with its properties (avenc_ffv1, which is lossless)")
    plan.add_argument("--lossless", action="store_true", help="the encoder gives back each frame as it was; verify holds it to that")
    plan.add_argument("--convert", default="videoconvert", help="elements before the filter and before the encoder (videoconvert)")
    plan.set_defaults(call=_plan)

    run = commands.add_parser("run", help="do one segment, or all that are not done")
    run.add_argument("job", type=pathlib.Path)
    run.add_argument("--segment", type=int, help=f"this one alone; without it and without --engine, the number in {' or '.join(INDEX_VARIABLES)}")
    run.add_argument("--engine", choices=("local", "ray"), help="who places the segments (local)")
    run.add_argument("--workers", type=_count, help="of the local engine: segments at a time, spread over the GPUs (--per-gpu on each; 1 without a GPU)")
    run.add_argument("--retries", type=_none_or_more, default=3, help="further attempts at a segment whose worker died or failed (3)")
    run.add_argument("--address", help="of the Ray cluster; without it Ray starts on this machine")
    run.add_argument("--per-gpu", type=_count, help="segments that share a GPU (1 where there are GPUs)")
    run.add_argument("--any-version", action="store_true", help="go on where GStreamer or a plugin has another version than where the job was planned")
    run.set_defaults(call=_run)

    state = commands.add_parser("status", help="what is done, what failed and why")
    state.add_argument("job", type=pathlib.Path)
    state.set_defaults(call=_status)

    join = commands.add_parser("join", help="put the parts together, with the source's audio and subtitles")
    join.add_argument("job", type=pathlib.Path)
    join.add_argument("output_text", metavar="OUT", help="a file, or for several inputs a folder")
    join.set_defaults(call=_join)

    verify = commands.add_parser("verify", help="decode the parts, or OUT, and compare each frame")
    verify.add_argument("job", type=pathlib.Path)
    verify.add_argument("output_text", nargs="?", metavar="OUT", help="what join wrote")
    verify.set_defaults(call=_verify)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status (exit_codes.py)."""
    options = _parser().parse_args(arguments)
    if "output_text" in options:
        options.output = pathlib.Path(options.output_text) if options.output_text else None
    try:
        return int(options.call(options))
    except InputError as error:
        print(f"videoconvolve-job: {error}", file=sys.stderr)
        return NO_RETRY
    except (JobError, OSError) as error:
        print(f"videoconvolve-job: {error}", file=sys.stderr)
        return FAILED
