#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is asked of the rows of a result file. asked.py FILE.json...: prints the rows that miss it, and how many do not.

On CUDA: times the copy, at most, by layout, class of taps and side; over several frames, the copy is of all of them and
the output; faster than each peer; regions and changes by what they take of the streaming thread, too. A change of frames
in system memory has no limit: the thread waits there until the frame has crossed to the GPU and back, and its time holds
that wait. Such rows are printed, with the reason, and not counted. On the CPU, one thread: times as fast as OpenCV's filter
of the same kind, as VapourSynth and as FFmpeg, at least. Exits with 1 where a row misses.
"""
import sys

import results

FACTORING = ("separable-integer", "separable-real", "box")
BANKS = ("sobel-magnitude", "kirsch-max")
INTEGER_BYTES = {31: 6}
REAL_BYTES = {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.0, 31: 10}
UNSHARP = {3: 1.2, 5: 1.25, 7: 1.25, 15: 1.35}
REAL_WORDS, SEPARABLE_WORDS = {3: 1.2, 5: 1.5, 7: 1.8, 15: 2.8}, {3: 1.2, 5: 1.3, 7: 1.35, 15: 1.7}
REAL_WIDE, SEPARABLE_WIDE = {3: 1.3, 5: 1.6, 7: 2.0, 15: 3.5}, {3: 1.3, 5: 1.35, 7: 1.4, 15: 1.8}
SEPARABLE_422 = {3: 1.25, 5: 1.3, 7: 1.3, 15: 1.4}
BYTES = ("GRAY8", "NV12", "RGBA", "RGB", "YUY2", "UYVY")

CUDA = {
    ("GRAY8", "integer"): {3: 1.15, 5: 1.2, 7: 1.3, 15: 2.0} | INTEGER_BYTES,
    ("GRAY8", "real"): REAL_BYTES,
    ("NV12", "integer"): INTEGER_BYTES,
    ("NV12", "real"): {3: 1.3, 5: 1.45, 7: 1.65, 15: 3.0, 31: 10},
    ("RGBA", "integer"): INTEGER_BYTES,
    ("RGBA", "real"): {3: 1.25, 5: 1.4, 7: 1.6, 15: 3.2, 31: 10},
    ("RGB", "integer"): INTEGER_BYTES,
    ("RGB", "real"): {3: 1.2, 5: 1.4, 7: 1.6, 15: 3.0, 31: 10},
    ("YUY2", "integer"): INTEGER_BYTES,
    ("YUY2", "real"): REAL_BYTES,
    ("UYVY", "real"): REAL_BYTES,
    ("GRAY16", "real"): REAL_WORDS,
    ("P010", "real"): REAL_WORDS,
    ("I420_10", "real"): REAL_WORDS,
    ("ARGB64", "real"): REAL_WIDE,
    ("AYUV64", "real"): REAL_WIDE,
    ("F32", "real"): {7: 1.5},
    ("GRAY8", "rank-2-real"): UNSHARP,
    ("NV12", "rank-2-real"): UNSHARP,
    ("RGBA", "rank-2-real"): UNSHARP,
}
CUDA_SEPARABLE = {
    "GRAY8": {3: 1.25, 5: 1.25, 7: 1.25, 15: 1.25},
    "NV12": {3: 1.3, 5: 1.3, 7: 1.3, 15: 1.3},
    "RGBA": {3: 1.25, 5: 1.25, 7: 1.25, 15: 1.25},
    "RGB": {3: 1.2, 5: 1.25, 7: 1.25, 15: 1.4},
    "YUY2": SEPARABLE_422,
    "UYVY": SEPARABLE_422,
    "GRAY16": SEPARABLE_WORDS,
    "P010": SEPARABLE_WORDS,
    "I420_10": SEPARABLE_WORDS,
    "ARGB64": SEPARABLE_WIDE,
    "AYUV64": SEPARABLE_WIDE,
}
CUDA_OVER_TIME = {"real": {1: 1.5, 3: 1.6, 7: 2.6}, "separable-real": {3: 1.4, 7: 1.5}}
MAGNITUDE_OF_TWO = 1.3
LARGE_SEPARABLE = ((63, 1.6), (255, 3.0))  # up to this side
REGIONS = {"regions-cuda/blur/NV12/10%-1": {"times_copy": 0.25, "enqueue_us": 25}}
CHANGE_US = 30  # of the streaming thread, frames in CUDA memory

CPU = {
    ("GRAY8", "integer"): {3: 5, 5: 7, 7: 9, 11: 8, 15: 6, 31: 1},
    ("GRAY8", "real"): {3: 3, 5: 5, 7: 5, 11: 5.5, 15: 4.5, 31: 1},
    ("GRAY16", "integer"): {3: 10, 5: 10, 7: 10},
    ("GRAY16", "real"): {3: 10, 5: 10, 7: 10},
    ("GRAY8", "sobel-magnitude"): {3: 3},
}
AMX = {
    ("GRAY8", "integer"): {3: 5, 5: 9, 7: 14, 11: 28, 15: 35, 31: 1},
    ("GRAY8", "real"): {3: 3, 5: 6, 7: 9, 11: 15, 15: 18, 31: 1},
}
AVX2 = {
    ("GRAY8", "integer"): {3: 3, 5: 4, 7: 5, 11: 4.5, 15: 4, 31: 1},
    ("GRAY8", "real"): {3: 2.5, 5: 3.5, 7: 4, 11: 3.5, 15: 3.2, 31: 1},
    ("GRAY16", "integer"): {},
    ("GRAY16", "real"): {},
}
LARGE_FACTORING = ("vs_sepFilter2D", "vs_GaussianBlur", "vs_boxFilter")  # at least as fast as each, from 31x31 on
FFMPEG_SOBEL = 3
CENTRE_TAP = 1.25  # a centre tap plus a separable filter, beside the separable one


def cuda(kernel):
    """The most copies that a results.Kernel may take, or None."""
    if kernel.depth > 1:
        return CUDA_OVER_TIME.get(kernel.taps, {}).get(kernel.side)
    if kernel.taps == "sobel-magnitude":
        return MAGNITUDE_OF_TWO
    if kernel.taps not in FACTORING:
        return CUDA.get((kernel.layout, kernel.taps), {}).get(kernel.side)
    if kernel.side > 15:
        large = [most for side, most in LARGE_SEPARABLE if kernel.side <= side]
        return large[0] if large and kernel.layout in BYTES else None
    if kernel.layout == "GRAY8" and kernel.taps == "separable-integer":
        return 1.2
    return CUDA_SEPARABLE.get(kernel.layout, {}).get(kernel.side)


def cpu(kernel, what_ran):
    """How many times as fast as OpenCV's filter, or None; `what_ran` is the row's label."""
    if kernel.depth > 1:
        return None
    table = CPU | (AMX if ", amx," in what_ran else AVX2 if is_avx2(what_ran) else {})
    return table.get((kernel.layout, kernel.taps), {}).get(kernel.side)


def vapoursynth(what_ran):
    """How many times as fast as VapourSynth; `what_ran` is the row's label."""
    return 1.5 if is_avx2(what_ran) else 2


def is_avx2(what_ran):
    return ", avx2," in what_ran


def change(name):
    """The most microseconds of the streaming thread that a change may take in the row of this name, or None."""
    return CHANGE_US if name.startswith("changes/cuda-memory/") else None


def is_peer(taps, peer):
    """Whether a peer's row on CUDA with its class of taps stands beside ours with these."""
    if taps in BANKS or peer in BANKS:
        return peer == taps
    return peer == "real" or (peer == taps and taps in FACTORING)


def cuda_peers(rows):
    """(Kernel, row) of the rows of others' programs on the GPU."""
    return [(kernel, row) for kernel, row in results.kernels(rows)
            if kernel.runner not in ("cuda", "cpu1", "cpu2", "ffmpeg", "vapoursynth", "python1")]


def cuda_lines(rows):
    """(name, figure, what is asked of it, whether it is met) of the rows of `auto` on CUDA, regions and changes."""
    peers = cuda_peers(rows)
    for kernel, row in results.kernels(rows):
        if (kernel.runner, kernel.algorithm) != ("cuda", "auto"):
            continue
        name = f"{kernel.layout} {kernel.shape} {kernel.taps}"
        if most := cuda(kernel):
            yield name, f"{row['times_copy']:.2f} copies", f"{most:g} at most", row["times_copy"] <= most
        for peer, theirs in peers:
            if (peer.layout, peer.shape) == (kernel.layout, kernel.shape) and is_peer(kernel.taps, peer.taps):
                yield name, f"{row['us']:.1f} us", f"ahead of {peer.runner} {peer.algorithm}: {theirs['us']:.1f}", row["us"] < theirs["us"]
    for name, limits in REGIONS.items():
        for key, most in limits.items():
            if name in rows:
                yield name, f"{key} {rows[name][key]:.2f}", f"{most} at most", rows[name][key] <= most
    for name, row in rows.items():
        if most := change(name):
            yield name, f"{row['change_us']:.0f} us", f"{most} at most", row["change_us"] <= most


def not_asked(rows):
    """A line for each change on CUDA that has no limit, with the reason."""
    for name, row in rows.items():
        if name.startswith("changes/cuda") and not change(name):
            yield (f"{name}: {row['change_us']:.0f} us; nothing is asked, as the thread waits until the frame has crossed "
                   f"to the GPU and back, {row['plain_thread_cpu_us']:.0f} us without a change")


def cpu_lines(rows):
    """The same for the rows of one thread on the CPU."""
    for kernel, row in results.kernels(rows):
        if (kernel.runner, kernel.algorithm) != ("cpu1", "auto"):
            continue
        name, label = f"{kernel.layout} {kernel.shape} {kernel.taps}", row.get("label", "")
        asked = {"vs_filter2D": cpu(kernel, label), "vs_Sobel_magnitude": cpu(kernel, label)}
        if kernel.side >= 31 and kernel.layout == "GRAY8":
            asked |= {key: 1 for key in LARGE_FACTORING}
        for key, least in asked.items():
            if key in row and least:
                yield name, f"{key} {row[key]:.2f}", f"{least:g} at least", row[key] >= least
        plain = rows.get(f"cpu1/auto/{kernel.layout}/{kernel.shape}/separable-real")
        if kernel.taps == "rank-2-real" and kernel.depth == 1 and plain:
            ratio = row["us"] / plain["us"]
            yield name, f"{ratio:.2f} times separable", f"{CENTRE_TAP} at most", ratio <= CENTRE_TAP
    for kernel, row in results.kernels(rows):
        name = f"{kernel.layout} {kernel.shape} {kernel.taps}"
        if kernel.runner == "vapoursynth":
            ratio, least = row["us"] / row["ours_us"], vapoursynth(row["label"])
            yield name, f"vs_VapourSynth {ratio:.2f}", f"{least:g} at least", ratio >= least
        ours = rows.get(f"cpu1/auto/{kernel.layout}/{kernel.shape}/{kernel.taps}")
        if (kernel.runner, kernel.algorithm) == ("ffmpeg", "sobel") and ours:
            ratio = row["us"] / ours["us"]
            yield name, f"vs_FFmpeg_sobel {ratio:.1f}", f"{FFMPEG_SOBEL} at least", ratio >= FFMPEG_SOBEL


def main():
    missed = 0
    for path in sys.argv[1:]:
        _, rows = results.load([path])
        lines = [*cuda_lines(rows), *cpu_lines(rows)]
        for name, figure, limit, met in lines:
            if not met:
                print(f"{name}: {figure}; {limit}")
                missed += 1
        for line in not_asked(rows):
            print(line)
        print(f"{path}: {sum(met for *_, met in lines)} of {len(lines)} are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
