#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""vapoursynth_peer.py BENCH [TARGET]: VapourSynth's std.Convolution beside bench's rows of one thread, 4K GRAY8, integer taps.

Needs Python 3.12 or later and the packages vapoursynth and numpy. Prints rows of bench's form.

TARGET is bench's --simd; with `avx2` VapourSynth is held to that, too (SetMaxCPU), and else it takes what it likes. Both
programs take turns, some frames each, so that what else the machine does hits both alike; `us` is the median CPU time of
VapourSynth's frames, its frame hand-over included, `ours_us` that of bench's median in the same turns. Frames of random
samples rotate over more than the caches of a core, as in bench.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import vapoursynth

WIDTH, HEIGHT, INPUTS, TURNS, FRAMES = 3840, 2160, 6, 6, 8
SIDES = (3, 5, 7, 9, 11)  # std.Convolution takes no others


def random_clip():
    """INPUTS frames of random samples, made once and kept, over and over."""
    samples = numpy.random.default_rng(1)

    def fill(n, f):
        frame = f.copy()
        numpy.asarray(frame[0])[:] = samples.integers(0, 256, (HEIGHT, WIDTH), numpy.uint8)
        return frame

    blank = vapoursynth.core.std.BlankClip(format=vapoursynth.GRAY8, width=WIDTH, height=HEIGHT, length=INPUTS)
    clip = blank.std.ModifyFrame(blank, fill)
    clip.std.SetVideoCache(mode=1, fixedsize=True, maxsize=INPUTS)
    for i in range(INPUTS):
        clip.get_frame(i).close()
    return clip.std.Loop(times=1000)


def frame_us(clip, first):
    """CPU time of one frame at a time, of all threads of this process."""
    times = []
    for i in range(first, first + FRAMES):
        start = time.process_time()
        clip.get_frame(i).close()
        times.append((time.process_time() - start) * 1e6)
    return times


def bench_us(bench, target, side, folder):
    out = f"{folder}/row.json"
    subprocess.run([bench, "--backend=cpu", f"--iterations={FRAMES}", *([f"--simd={target}"] if target else []),
                    f"--benchmark_filter=^cpu1/auto/GRAY8/{side}x{side}/integer/", f"--benchmark_out={out}"],
                   check=True, capture_output=True)
    row, = json.loads(pathlib.Path(out).read_text(encoding="utf-8"))["benchmarks"]
    return row["us"], row["label"]


def row_of(clip, bench, target, side, draw):
    filtered = clip.std.Convolution([draw.randint(-30, 90) for _ in range(side * side)])  # as bench's
    filtered.std.SetVideoCache(mode=0)
    frame_us(filtered, 0)
    theirs, ours, label = [], [], ""
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1, TURNS + 1):
            us, label = bench_us(bench, target, side, folder)
            ours.append(us)
            theirs += frame_us(filtered, turn * FRAMES)[1:]
    return {"name": f"vapoursynth/Convolution/GRAY8/{side}x{side}/integer", "us": statistics.median(theirs),
            "ours_us": statistics.median(ours), "label": f"beside {label}"}


def main():
    bench, target = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    core = vapoursynth.core
    core.num_threads = 1
    if target == "avx2":
        core.std.SetMaxCPU("avx2")
    clip, draw = random_clip(), random.Random(1)
    context = {"frame": f"{WIDTH}x{HEIGHT}", "vapoursynth": str(core.core_version.release_major)}
    json.dump({"context": context, "benchmarks": [row_of(clip, bench, target, side, draw) for side in SIDES]},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
