#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CV-CUDA's conv2d, gaussian and averageblur as peers, on 4K frames of GRAY8 and RGBA; prints JSON rows of bench's form.

Needs the packages cvcuda-cu13 and torch, which owns the frames. Samples are random, buffers rotate over four times the L2,
times are medians of events, beside a graph of copies, as in bench. CV-CUDA refuses to be captured into a graph, so that
its calls are launched one after the other ("replay" false), behind a kernel that spins until they are all in the stream.
`enqueue_us` is the host's time for a call.
"""
import json
import statistics
import sys
import time

import cvcuda
import torch

WIDTH, HEIGHT, RUNS = 3840, 2160, 15
SPIN_CYCLES = 10_000_000  # some 5 ms: longer than the host takes to launch what is timed
SIDES = (3, 5, 7, 9, 11, 15, 31)
LAYOUTS = (("GRAY8", 1, cvcuda.Format.U8), ("RGBA", 4, cvcuda.Format.RGBA8))


def median_us(stream, work):
    """Of `work()`, in microseconds, by events; two runs do not count."""
    times = []
    with torch.cuda.stream(stream):
        for i in range(RUNS + 2):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(SPIN_CYCLES)
            start.record(stream)
            work()
            stop.record(stream)
            stop.synchronize()
            if i >= 2:
                times.append(start.elapsed_time(stop) * 1000)
    return statistics.median(times)


def measure(stream, call):
    """What a row says of `call(i)`: of some two milliseconds of calls, one after the other."""
    with torch.cuda.stream(stream):
        call(0)
        stream.synchronize()
        before = time.perf_counter()
        for i in range(4):
            call(i)
        enqueue_us = (time.perf_counter() - before) / 4 * 1e6
        stream.synchronize()
        rough_us = (time.perf_counter() - before) / 4 * 1e6
    count = min(96, max(4, int(2000 / rough_us)))
    us = median_us(stream, lambda: [call(i) for i in range(count)]) / count
    return {"us": us, "replay": False, "enqueue_us": enqueue_us}


def copied_us(stream, copy, count=96):
    """Of a copy, replayed in a graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(count):
            copy(i)
    return median_us(stream, graph.replay) / count


def batch_of(tensor, form):
    batch = cvcuda.ImageBatchVarShape(1)
    batch.pushback(cvcuda.as_image(tensor, form))
    return batch


def operators(stream, components, form, l2_bytes):
    """What copies, and what makes a call of each operator for a side."""
    pairs = max(6, -(-4 * l2_bytes // (2 * WIDTH * HEIGHT * components)))
    ins = [torch.randint(0, 256, (HEIGHT, WIDTH, components), dtype=torch.uint8, device="cuda") for _ in range(pairs)]
    outs = [torch.empty_like(frame) for frame in ins]
    in_tensors, out_tensors = ([cvcuda.as_tensor(x, "HWC") for x in frames] for frames in (ins, outs))
    in_batches, out_batches = ([batch_of(x, form) for x in frames] for frames in (ins, outs))
    anchors = cvcuda.as_tensor(torch.full((1, 2), -1, dtype=torch.int32, device="cuda"), "NC")
    edge, there = cvcuda.Border.REPLICATE, cvcuda.as_stream(stream)

    def copy(i):
        outs[i % pairs].copy_(ins[i % pairs])

    def conv2d(side):
        taps = torch.rand((side, side, 1), device="cuda")
        kernel = batch_of(taps / taps.sum(), cvcuda.Format.F32)
        return lambda i: cvcuda.conv2d_into(out_batches[i % pairs], in_batches[i % pairs], kernel, anchors, edge, stream=there)

    def gaussian(side):
        size, sigma = (side, side), (side / 6, side / 6)  # as the Gaussian preset has it
        return lambda i: cvcuda.gaussian_into(out_tensors[i % pairs], in_tensors[i % pairs], size, sigma, edge, stream=there)

    def averageblur(side):
        size = (side, side)
        return lambda i: cvcuda.averageblur_into(out_tensors[i % pairs], in_tensors[i % pairs], size, (-1, -1), edge, stream=there)

    return copy, (("conv2d", "real", conv2d), ("gaussian", "separable-real", gaussian), ("averageblur", "box", averageblur))


def main():
    stream, rows = torch.cuda.Stream(), []
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    for layout, components, form in LAYOUTS:
        copy, makers = operators(stream, components, form, l2_bytes)
        copy_us = copied_us(stream, copy)
        for name, taps, make in makers:
            for side in SIDES:
                row = {"name": f"cvcuda/{name}/{layout}/{side}x{side}/{taps}"}
                try:
                    row |= measure(stream, make(side))
                except (RuntimeError, ValueError) as error:
                    print(f"{row['name']}: {error}", file=sys.stderr)
                    continue
                rows.append(row | {"copy_us": copy_us, "times_copy": row["us"] / copy_us})
    context = {"gpu": torch.cuda.get_device_name(), "frame": f"{WIDTH}x{HEIGHT}", "cvcuda": cvcuda.__version__}
    json.dump({"context": context, "benchmarks": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
