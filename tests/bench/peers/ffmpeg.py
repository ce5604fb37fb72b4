#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""FFmpeg's filters convolution and sobel as peers of the CPU rows, on one thread and 4K GRAY8; prints rows of bench's form.

A frame's time is the CPU time of a run with the filter less that of a run without it, over the frames. The random
integer taps are of bench's kind; FFmpeg takes 3x3, 5x5 and 7x7.
"""
import json
import random
import resource
import statistics
import subprocess
import sys

WIDTH, HEIGHT, FRAMES, RUNS = 3840, 2160, 24, 5


def cpu_seconds(graph):
    """CPU time of one ffmpeg run over random frames, decoded from nothing: a noise picture, looped."""
    source = f"nullsrc=s={WIDTH}x{HEIGHT}:r=30,format=gray,geq=lum='random(1)*255',loop=loop=-1:size=1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "error", "-filter_threads", "1", "-filter_complex_threads", "1",
         "-f", "lavfi", "-i", f"{source},{graph},trim=end_frame={FRAMES}", "-threads", "1", "-f", "null", "-"],
        check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    draw = random.Random(1)
    rows = []
    for side in (3, 5, 7):
        taps = " ".join(str(draw.randint(-30, 90)) for _ in range(side * side))
        graph = f"convolution=0m='{taps}':0rdiv={1 / max(1, sum(map(int, taps.split())))}"
        times = [cpu_seconds(graph) - cpu_seconds("null") for _ in range(RUNS)]
        rows.append({"name": f"ffmpeg/convolution/GRAY8/{side}x{side}/integer",
                     "us": statistics.median(times) / FRAMES * 1e6})
    times = [cpu_seconds("sobel") - cpu_seconds("null") for _ in range(RUNS)]
    rows.append({"name": "ffmpeg/sobel/GRAY8/3x3/sobel-magnitude", "us": statistics.median(times) / FRAMES * 1e6})
    version = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True).stdout.split()[2]
    json.dump({"context": {"frame": f"{WIDTH}x{HEIGHT}", "ffmpeg": version}, "benchmarks": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
