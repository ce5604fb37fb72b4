#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch's conv2d, CuPy's correlate and its fftconvolve (cuFFT) as peers, on 4K frames; prints JSON rows of bench's form.

Times are medians of CUDA events over rotating buffers of random samples, launched one by one (both allocate, so a
graph would not show what their users get). Whichever of the two is absent is left out.
"""
import json
import statistics
import sys

WIDTH, HEIGHT, PAIRS, RUNS = 3840, 2160, 6, 15
SIDES = (3, 5, 7, 9, 11, 15, 31)
FOURIER_SIDES = (15, 31)  # a transform's time hardly depends on the filter's size


def row(runner, layout, side, us, copy_us):
    return {"name": f"{runner}/{layout}/{side}x{side}/real", "us": us, "copy_us": copy_us, "times_copy": us / copy_us}


def torch_rows():
    import torch
    import torch.nn.functional as functional

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    frames = [torch.rand(1, 1, HEIGHT, WIDTH, device="cuda") for _ in range(PAIRS)]
    outs = [torch.empty_like(frame) for frame in frames]

    def median_us(call):
        times = []
        for i in range(RUNS + 3):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for j in range(PAIRS):
                call(j)
            stop.record()
            stop.synchronize()
            if i >= 3:
                times.append(start.elapsed_time(stop) * 1000 / PAIRS)
        return statistics.median(times)

    copy_us = median_us(lambda i: outs[i].copy_(frames[i]))
    rows = []
    for side in SIDES:
        taps = torch.rand(1, 1, side, side, device="cuda")
        us = median_us(lambda i: functional.conv2d(frames[i], taps, padding="same"))
        rows.append(row("torch/conv2d", "F32", side, us, copy_us))
    return rows


def cupy_rows():
    import cupy
    from cupyx.scipy import ndimage, signal

    stream = cupy.cuda.get_current_stream()

    def median_us(call):
        times = []
        for i in range(RUNS + 3):
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record(stream)
            for j in range(PAIRS):
                call(j)
            stop.record(stream)
            stop.synchronize()
            if i >= 3:
                times.append(cupy.cuda.get_elapsed_time(start, stop) * 1000 / PAIRS)
        return statistics.median(times)

    rows = []
    for layout, dtype in (("F32", cupy.float32), ("GRAY8", cupy.uint8)):
        frames = [cupy.random.randint(0, 256, (HEIGHT, WIDTH)).astype(dtype) for _ in range(PAIRS)]
        outs = [cupy.empty_like(frame) for frame in frames]
        copy_us = median_us(lambda i: cupy.copyto(outs[i], frames[i]))
        for side in SIDES:
            taps = cupy.random.rand(side, side).astype(cupy.float32)
            us = median_us(lambda i: ndimage.correlate(frames[i], taps, output=outs[i], mode="nearest"))
            rows.append(row("cupy/correlate", layout, side, us, copy_us))
            if dtype == cupy.float32 and side in FOURIER_SIDES:
                us = median_us(lambda i: signal.fftconvolve(frames[i], taps, mode="same"))
                rows.append(row("cupy/fftconvolve", layout, side, us, copy_us))
    return rows


def main():
    rows, context = [], {"frame": f"{WIDTH}x{HEIGHT}"}
    for name, measure in (("torch", torch_rows), ("cupy", cupy_rows)):
        try:
            rows += measure()
            context[name] = sys.modules[name].__version__
        except ImportError:
            print(f"{name} is not installed: left out", file=sys.stderr)
    json.dump({"context": context, "benchmarks": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
