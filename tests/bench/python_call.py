#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""videoconvolve.filter2d on NumPy arrays beside cv2.filter2D, one thread each; prints rows of bench's form.

A row's name is python1/filter2d/LAYOUT@WIDTHxHEIGHT/SHAPE/TAPS. Ours, OpenCV's and a copy (np.copyto) take turns on the
same frames and write into arrays that are there already. The frames of a size rotate over more than the caches, but for those
of 64x64, which show what a call costs by itself: filter2d makes its plan anew each time. Times are the process's CPU
time, which leaves out what others took; a row's are medians. Integer taps are divided by their sum; cv2 gets the quotients.
Needs the package videoconvolve (python/test.sh builds it into build-wheel/venv) and cv2:

    build-wheel/venv/bin/python tests/bench/python_call.py [--quick] >raw/python.json
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import cv2
import numpy as np
import videoconvolve

SIZES = ((64, 64), (1920, 1080), (3840, 2160))
SIDES = (3, 5, 7, 9, 11, 15)
DTYPES = {"GRAY8": np.uint8, "F32": np.float32}
ROTATED_BYTES = 128 << 20


def frames_of(dtype, width, height, draw):
    """Random frames, and as many outputs, of more bytes than caches hold."""
    count = 4 if width < 100 else max(4, ROTATED_BYTES // (2 * width * height * np.dtype(dtype).itemsize))
    shape = (count, height, width)
    frames = draw.integers(0, 256, shape, dtype=np.uint8) if dtype == np.uint8 else draw.random(shape, dtype=np.float32)
    return frames, np.zeros_like(frames)


def taps_of(kind, side, draw):
    """(taps and options for filter2d, the same filter for cv2.filter2D)."""
    if kind == "integer":
        taps = draw.integers(-30, 91, (side, side))
        taps[0, 0] += max(0, 1 - taps.sum())  # the sum is a divisor
        return taps, {"normalize": True}, (taps / taps.sum()).astype(np.float32)
    taps = draw.random((side, side)) - 0.3
    taps /= np.abs(taps).sum()
    return taps, {}, taps.astype(np.float32)


def cpu_us(work):
    start = time.process_time_ns()
    work()
    return (time.process_time_ns() - start) / 1000


def check(ours, theirs, what):
    """The two have to be the same filter: within a code value, or of f32 within its rounding."""
    apart = np.abs(ours.astype(np.float64) - theirs).max()
    limit = 1 if ours.dtype == np.uint8 else 1e-4 * max(1, np.abs(theirs).max())
    if apart > limit:
        raise SystemExit(f"{what}: filter2d and cv2.filter2D are {apart} apart")


def row(frames, outs, kind, side, iterations, draw):
    taps, options, theirs = taps_of(kind, side, draw)
    works = {
        "us": lambda i: videoconvolve.filter2d(frames[i], taps, threads=1, border_mode="replicate", out=outs[i], **options),
        "filter2D_us": lambda i: cv2.filter2D(frames[i], -1, theirs, dst=outs[i], borderType=cv2.BORDER_REPLICATE),
        "copy_us": lambda i: np.copyto(outs[i], frames[i]),
    }
    works["us"](0)
    ours = outs[0].copy()
    works["filter2D_us"](0)
    check(ours, outs[0], f"{side}x{side} {kind}, {frames.shape}, {frames.dtype}")
    times = {name: [] for name in works}
    for i in range(iterations):
        for turn, (name, work) in enumerate(works.items()):
            times[name].append(cpu_us(lambda: work((i * len(works) + turn) % len(frames))))
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {**medians, "times_copy": medians["us"] / medians["copy_us"], "vs_filter2D": medians["filter2D_us"] / medians["us"]}


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(": ")[1].strip() for line in file if line.startswith("model name")), "unknown")


def commit_of(folder):
    try:
        said = subprocess.run(["git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True,
                              text=True, check=False).stdout.strip()
    except FileNotFoundError:  # git
        said = ""
    return said or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small frames, twice: that it works")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    draw = np.random.default_rng(1)
    rows = []
    for width, height in SIZES[:1] if options.quick else SIZES:
        for layout, dtype in DTYPES.items():
            frames, outs = frames_of(dtype, width, height, draw)
            iterations = 2 if options.quick else 200 if width < 100 else 15
            for side in SIDES:
                for kind in ("integer", "real"):
                    name = f"python1/filter2d/{layout}@{width}x{height}/{side}x{side}/{kind}"
                    rows.append({"name": name, **row(frames, outs, kind, side, iterations, draw)})
    commit = commit_of(os.path.dirname(os.path.abspath(__file__)))
    context = {"commit": commit, "processor": processor(), "opencv": cv2.__version__, "numpy": np.__version__}
    json.dump({"context": context, "benchmarks": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
