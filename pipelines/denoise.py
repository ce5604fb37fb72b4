#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""denoise.py OUT_DIR: adds noise to still scenes, takes it out over a window of frames, and measures the PSNR.

The scenes are photographs (Debian's mate-backgrounds), with fresh Gaussian noise of sigma 10 (of 255) on the luma of
each frame. Writes OUT_DIR/99-temporal-denoise.original.png (a noisy frame) and .filtered.png, and prints the PSNR of
both against the clean frame. Then the same with a cut from one scene to another: the window mixes the two, a ghost,
unless scene-threshold keeps them apart; OUT_DIR/98-scene-cut.original.png and .filtered.png are the first frame after
the cut without and with it. An example of an application that feeds the element and reads from it.
"""
import pathlib
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PHOTOGRAPHS = [pathlib.Path("/usr/share/backgrounds/mate/nature") / name for name in ("RainDrops.jpg", "Wood.jpg")]
WIDTH, HEIGHT, FRAMES, SIGMA = 1280, 720, 15, 10
RADIUS = 2  # frames on each side
PROPERTIES = f"preset=temporal-denoise temporal-radius={RADIUS} radius=0 components=luma"
THRESHOLD = 0.1
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


def scene(photograph):
    if not photograph.exists():
        fail(f"{photograph} is missing: install mate-backgrounds")
    pipeline = Gst.parse_launch(
        f"filesrc location={photograph} ! jpegdec ! videoconvert ! videoscale ! {CAPS.replace(',framerate=30/1', '')} "
        "! appsink name=sink")
    pipeline.set_state(Gst.State.PLAYING)
    frame = pixels(pull(pipeline.get_by_name("sink")))
    pipeline.set_state(Gst.State.NULL)
    return frame


def noisy(clean, random):
    frame = clean.copy()
    frame[:WIDTH * HEIGHT] = np.clip(np.rint(luma(clean) + random.normal(0, SIGMA, WIDTH * HEIGHT)), 0, 255)
    return frame


def denoise(frames, properties):
    """Runs the frames through the element; returns what comes out, and the backend and algorithm that ran."""
    pipeline = Gst.parse_launch(
        f'appsrc name=src format=time caps="{CAPS}" ! videoconvolve name=filter {properties} ! appsink name=sink')
    src, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    for i, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts, buffer.duration = i * Gst.SECOND // 30, Gst.SECOND // 30
        src.emit("push-buffer", buffer)
    src.emit("end-of-stream")
    filtered = [pixels(pull(sink)) for _ in frames]
    if sink.emit("try-pull-sample", 20 * Gst.SECOND) is not None:
        fail("more frames came out than went in")
    element = pipeline.get_by_name("filter")
    ran = f'{element.get_property("active-backend")}/{element.get_property("active-algorithm")}'
    pipeline.set_state(Gst.State.NULL)
    return filtered, ran


def mean_psnr(frames, clean):
    return np.mean([psnr(luma(f), luma(c)) for f, c in zip(frames, clean)])


def write_pair(out, name, before, after, before_label, after_label):
    write_png(before, out / f"{name}.original.png")
    write_png(after, out / f"{name}.filtered.png")
    (out / f"{name}.original-label").write_text(before_label + "\n")
    (out / f"{name}.label").write_text(after_label + "\n")


def still_scene(out, clean, random):
    frames = [noisy(clean, random) for _ in range(FRAMES)]
    filtered, ran = denoise(frames, PROPERTIES)
    before, after = mean_psnr(frames, [clean] * FRAMES), mean_psnr(filtered, [clean] * FRAMES)
    print(f"temporal-denoise         {FRAMES:5} frames of a still scene with noise of sigma {SIGMA}: "
          f"PSNR {before:.2f} dB before, {after:.2f} dB after (+{after - before:.2f}), ran on {ran}")
    write_pair(out, "99-temporal-denoise", frames[FRAMES // 2], filtered[FRAMES // 2], f"noisy: {before:.1f} dB",
               f"temporal-denoise: {after:.1f} dB\n{PROPERTIES}")
    if after - before < 3:
        fail("the gain is under 3 dB")


def cut(out, scenes, random):
    clean = [scenes[i >= FRAMES // 2] for i in range(FRAMES)]
    frames = [noisy(frame, random) for frame in clean]
    mixed, _ = denoise(frames, PROPERTIES)
    apart, ran = denoise(frames, f"{PROPERTIES} scene-threshold={THRESHOLD}")
    at = slice(FRAMES // 2 - RADIUS, FRAMES // 2 + RADIUS)  # frames whose window has the cut in it
    before, ghost, after = (mean_psnr(each[at], clean[at]) for each in (frames, mixed, apart))
    print(f"scene-threshold={THRESHOLD}      {2 * RADIUS:5} frames around a cut: PSNR {before:.2f} dB before, "
          f"{ghost:.2f} dB without the threshold, {after:.2f} dB with it, ran on {ran}")
    write_pair(out, "98-scene-cut", mixed[FRAMES // 2], apart[FRAMES // 2],
               f"first frame after a cut, denoised without scene-threshold: {ghost:.1f} dB",
               f"the same with scene-threshold={THRESHOLD}: {after:.1f} dB\n{PROPERTIES}")
    if after - before < 2:
        fail("at the cut the gain is under 2 dB")
    if ghost >= before:
        fail("without the threshold there is no ghost: the two scenes are too much alike to show it")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        fail("usage: denoise.py OUT_DIR")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    Gst.init(None)
    scenes = [scene(photograph) for photograph in PHOTOGRAPHS]
    random = np.random.default_rng(1)
    still_scene(out, scenes[0], random)
    cut(out, scenes, random)


if __name__ == "__main__":
    main()
