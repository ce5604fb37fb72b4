#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kernel-string with levels=code beside FFmpeg, ImageMagick and VapourSynth on frames of several planes and of 16 bits:
which planes a string filters, and that every sample of theirs is within one code value. FFmpeg gets frames with rows and
columns mirrored around them, for the reason that kernel_strings_test.py gives. Exit status 77: PyGObject or NumPy is not there.
"""
import os
import random
import shutil
import sys

from kernel_strings_test import MIRRORED, WIDTH, Gst, filtered_bytes, np, numbers, quoted, record, run

HEIGHT = 38  # even: planes lie one behind the other without padding

# GStreamer's name: depth, and the sizes of the planes
FORMATS = {
    "GRAY16_LE": (16, [(HEIGHT, WIDTH)]),
    "I420": (8, [(HEIGHT, WIDTH)] + 2 * [(HEIGHT // 2, WIDTH // 2)]),
    "Y444_10LE": (10, 3 * [(HEIGHT, WIDTH)]),
    "GBR": (8, 3 * [(HEIGHT, WIDTH)]),
    "RGBP": (8, 3 * [(HEIGHT, WIDTH)]),
    "RGB": (8, [(HEIGHT, WIDTH, 3)]),
}
FFMPEG = {"GRAY16_LE": "gray16le", "I420": "yuv420p", "Y444_10LE": "yuv444p10le", "GBR": "gbrp"}
VAPOURSYNTH = {"GRAY16_LE": "GRAY16", "I420": "YUV420P8", "Y444_10LE": "YUV444P10", "RGBP": "RGB24"}
IMAGEMAGICK = {"GRAY16_LE": ["-depth", "16", "-endian", "LSB", "gray:-"], "RGB": ["-depth", "8", "rgb:-"]}

SCRIPT = """
import sys
import numpy, vapoursynth
data = sys.stdin.buffer.read()
core = vapoursynth.core
clip = core.std.BlankClip(format=vapoursynth.FORMAT, width=WIDTH, height=HEIGHT, length=1)
def fill(n, f):
    frame, at = f.copy(), 0
    for p in range(frame.format.num_planes):
        plane = numpy.asarray(frame[p])
        plane[:] = numpy.frombuffer(data, plane.dtype, plane.size, at).reshape(plane.shape)
        at += plane.nbytes
    return frame
out = core.std.Convolution(core.std.ModifyFrame(clip, clip, fill), ARGUMENTS).get_frame(0)
for p in range(out.format.num_planes):
    sys.stdout.buffer.write(numpy.ascontiguousarray(out[p]).tobytes())
"""


def dtype_of(name):
    return np.dtype("u1" if FORMATS[name][0] == 8 else "<u2")


def planes_of(data, name):
    planes, at = [], 0
    for shape in FORMATS[name][1]:
        count = int(np.prod(shape))
        planes.append(np.frombuffer(data, dtype_of(name), count, at).reshape(shape).astype(int))
        at += count * dtype_of(name).itemsize
    return planes


def ffmpeg(data, name, string):
    """FFmpeg's output where its own borders are out of reach."""
    raw, margin = ["-f", "rawvideo", "-pix_fmt", FFMPEG[name]], 2 * MIRRORED
    margins = [margin * plane.shape[1] // WIDTH for plane in planes_of(data, name)]
    mirrored = [np.pad(plane, m, mode="reflect").astype(dtype_of(name)) for plane, m in zip(planes_of(data, name), margins)]
    size = f"{WIDTH + 2 * margin}x{HEIGHT + 2 * margin}"
    out = run(["ffmpeg", "-v", "error", *raw, "-s", size, "-i", "-", "-vf", "convolution=" + string, *raw, "-"],
              b"".join(plane.tobytes() for plane in mirrored))
    planes, at = [], 0
    for plane, m in zip(mirrored, margins):
        planes.append(np.frombuffer(out, plane.dtype, plane.size, at).reshape(plane.shape)[m:-m, m:-m])
        at += plane.nbytes
    return b"".join(plane.tobytes() for plane in planes)


def imagemagick(data, name, string):
    ends = IMAGEMAGICK[name]
    scale, kernel = string.split(";", 1)
    return run(["convert", "-size", f"{WIDTH}x{HEIGHT}", *ends, "-define", scale, "-morphology", "Convolve", kernel, *ends], data)


def vapoursynth(data, name, string):
    text = SCRIPT.replace("FORMAT", VAPOURSYNTH[name]).replace("ARGUMENTS", ", ".join(string.split()))
    text = text.replace("HEIGHT", str(HEIGHT)).replace("WIDTH", str(WIDTH))
    return run([os.environ["VAPOURSYNTH_PYTHON"], "-c", text], data)


def ffmpeg_strings(rng, name):
    one = len(FORMATS[name][1]) == 1
    strings = []
    for planes in ("0",) if one else ("0", "12", "012", "0123"):
        for count in (9, 25, 49):
            matrix, bias = numbers(rng, count), rng.choice([0, 7, 100])
            strings.append(":".join(f"{p}m='{matrix}':{p}bias={bias}" for p in planes))
    return strings + ["0bias=10"] + ([] if one else ["1bias=9:2bias=9"])


def imagemagick_strings(rng, name):
    return [f"convolve:scale=!;{kernel}" for kernel in (
        "Gaussian:0x1.5", "Disk:3", "LoG:0x1", "Comet:0x2+90", "Sobel:45", "FreiChen:15", "Binomial:2", "4x3+0+2: 1,2,3,4,5,6,7,8,9,1,2,3")]


def vapoursynth_strings(rng, name):
    one = len(FORMATS[name][1]) == 1
    strings = []
    for planes in ("[0]",) if one else ("[0]", "[1,2]", "[0,1,2]", "0"):
        for count in (9, 25, 121):
            strings.append(f"matrix=[{numbers(rng, count, ',')}] bias={rng.choice([0, 40])} planes={planes}")
    return strings + ["matrix=[1,2,1] mode='hv'", "matrix=[1,0,-1] mode='h' saturate=0"]


def check(data, name, grammar, peer, strings):
    worst, failures = 0, 0
    for string in strings:
        got = filtered_bytes(data, name, HEIGHT, {"kernel-string": quoted(grammar + string), "levels": "code"})
        if isinstance(got, str):
            print(f"FAILED: {name} {grammar}{string}: {got}")
            failures += 1
            continue
        expected = peer(data, name, string)
        record(grammar + string, name, FORMATS[name][0], HEIGHT, data, expected)
        for p, (found, wanted) in enumerate(zip(planes_of(got, name), planes_of(expected, name))):
            off = abs(found - wanted)
            worst = max(worst, int(off.max()))
            if off.max() > 1:
                print(f"FAILED: {name} {grammar}{string}: plane {p}: {(off > 1).sum()} samples off, by up to {off.max()}")
                failures += 1
    print(f"{name} {grammar} {len(strings)} strings, {failures} failures, at most {worst} code values off")
    return failures


def main():
    Gst.init(None)
    seed = random.randrange(1 << 32) if len(sys.argv) < 2 else int(sys.argv[1])
    print("seed", seed)
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    failures = 0
    for there, grammar, peer, names, strings in (
            (shutil.which("ffmpeg"), "ffmpeg:", ffmpeg, FFMPEG, ffmpeg_strings),
            (shutil.which("convert"), "im:", imagemagick, IMAGEMAGICK, imagemagick_strings),
            (os.environ.get("VAPOURSYNTH_PYTHON"), "vs:", vapoursynth, VAPOURSYNTH, vapoursynth_strings)):
        if not there:
            print(grammar, "skipped: its program is not there" + (": set VAPOURSYNTH_PYTHON to a Python that has it" if grammar == "vs:" else ""))
            continue
        for name in names:
            data = b"".join(noise.integers(0, 1 << FORMATS[name][0], shape).astype(dtype_of(name)).tobytes() for shape in FORMATS[name][1])
            failures += check(data, name, grammar, peer, strings(rng, name))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
