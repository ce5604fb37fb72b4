#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""denoise.py OUT_DIR: adds noise to a still scene, takes it out over a window of frames, and measures the PSNR.

The scene is a photograph (Debian's mate-backgrounds), with fresh Gaussian noise of sigma 10 (of 255) on the luma of
each frame. Writes OUT_DIR/99-temporal-denoise.original.png (the noisy frame) and .filtered.png, and prints the PSNR of
both against the clean frame. An example of an application that feeds the element and reads from it.
"""
import pathlib
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PHOTOGRAPH = "/usr/share/backgrounds/mate/nature/RainDrops.jpg"
WIDTH, HEIGHT, FRAMES, SIGMA = 1280, 720, 15, 10
PROPERTIES = "preset=temporal-denoise temporal-radius=2 radius=0 components=luma"
CAPS = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=30/1"


def fail(message):
    sys.exit(f"denoise: {message}")


def pull(sink):
    sample = sink.emit("try-pull-sample", 20 * Gst.SECOND)
    if sample is None:
        fail("no frame came within 20 s")
    return sample


def pixels(sample):
    buffer = sample.get_buffer()
    return np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)


def luma(frame):
    return frame[:WIDTH * HEIGHT]


def psnr(a, b):
    return 10 * np.log10(255 ** 2 / np.mean((a.astype(float) - b.astype(float)) ** 2))


def write_png(frame, path):
    image = GstVideo.video_convert_sample(
        Gst.Sample.new(Gst.Buffer.new_wrapped(frame.tobytes()), Gst.Caps.from_string(CAPS), None, None),
        Gst.Caps.from_string("image/png"), 10 * Gst.SECOND).get_buffer()
    path.write_bytes(image.extract_dup(0, image.get_size()))


def scene():
    pipeline = Gst.parse_launch(
        f"filesrc location={PHOTOGRAPH} ! jpegdec ! videoconvert ! videoscale ! {CAPS.replace(',framerate=30/1', '')} "
        "! appsink name=sink")
    pipeline.set_state(Gst.State.PLAYING)
    frame = pixels(pull(pipeline.get_by_name("sink")))
    pipeline.set_state(Gst.State.NULL)
    return frame


def main():
    if len(sys.argv) != 2:
        fail("usage: denoise.py OUT_DIR")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    Gst.init(None)
    if not pathlib.Path(PHOTOGRAPH).exists():
        fail(f"{PHOTOGRAPH} is missing: install mate-backgrounds")
    clean = scene()
    random = np.random.default_rng(1)
    noisy = []
    for _ in range(FRAMES):
        frame = clean.copy()
        frame[:WIDTH * HEIGHT] = np.clip(np.rint(luma(clean) + random.normal(0, SIGMA, WIDTH * HEIGHT)), 0, 255)
        noisy.append(frame)

    pipeline = Gst.parse_launch(
        f'appsrc name=src format=time caps="{CAPS}" ! videoconvolve name=filter {PROPERTIES} ! appsink name=sink')
    src, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    for i, frame in enumerate(noisy):
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts, buffer.duration = i * Gst.SECOND // 30, Gst.SECOND // 30
        src.emit("push-buffer", buffer)
    src.emit("end-of-stream")
    filtered = [pixels(pull(sink)) for _ in range(FRAMES)]
    if sink.emit("try-pull-sample", 20 * Gst.SECOND) is not None:
        fail("more frames came out than went in")
    element = pipeline.get_by_name("filter")
    ran = f'{element.get_property("active-backend")}/{element.get_property("active-algorithm")}'
    pipeline.set_state(Gst.State.NULL)

    before = np.mean([psnr(luma(f), luma(clean)) for f in noisy])
    after = np.mean([psnr(luma(f), luma(clean)) for f in filtered])
    print(f"temporal-denoise         {FRAMES:5} frames of a still scene with noise of sigma {SIGMA}: "
          f"PSNR {before:.2f} dB before, {after:.2f} dB after (+{after - before:.2f}), ran on {ran}")
    middle = FRAMES // 2
    write_png(noisy[middle], out / "99-temporal-denoise.original.png")
    write_png(filtered[middle], out / "99-temporal-denoise.filtered.png")
    (out / "99-temporal-denoise.label").write_text(
        f"temporal-denoise: {before:.1f} dB before, {after:.1f} dB after\npreset=temporal-denoise temporal-radius=2 radius=0\n")
    if after - before < 3:
        fail("the gain is under 3 dB")


if __name__ == "__main__":
    main()
