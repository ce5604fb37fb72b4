#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""radius_strip.py [--check]: makes docs/radius.png, what blurs of growing radius are and do, from what the element gives.

Columns: the radii below. Rows: the taps of gaussian-blur, as the element's answer to one bright sample, the largest of
them white; then gaussian-blur and box-blur of a test picture. With --check nothing is written, and the picture that is
there must be the one that would be, up to two levels. GStreamer must find the element (GST_PLUGIN_PATH).
"""
import pathlib
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

PICTURE = pathlib.Path(__file__).resolve().parent / "radius.png"
RADII = (1, 3, 7, 15, 31, 63, 127)
SIDE, SHOWN, GAP = 257, 128, 4  # a frame holds 255 taps; of the pictures every second sample is shown


def run(description, data=None):
    """The samples that leave the pipeline, as bytes; its first frame comes from `data` where it has an appsrc."""
    pipeline = Gst.parse_launch(description + " ! appsink name=out sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    if data is not None:
        source = pipeline.get_by_name("in")
        source.emit("push-buffer", Gst.Buffer.new_wrapped(data))
        source.emit("end-of-stream")
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 20 * Gst.SECOND)
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if sample is None:
        sys.exit(f"{description}: {error.parse_error()[0].message if error else 'no frame'}")
    return sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())


def rgb_of(data, height, width):
    stride = -(-3 * width // 4) * 4
    return np.frombuffer(data, np.uint8).reshape(height, stride)[:, :3 * width].reshape(height, width, 3)


def taps(radius):
    """A column of the strip: the taps, of half size too."""
    frame = np.zeros((SIDE, SIDE + 1), "<u2")
    frame[SIDE // 2, SIDE // 2] = 65535
    # 16 bits and the largest scale that no tap clips at keep enough of the widest Gaussian.
    sigma = (2 * radius + 1) / 6
    scale = min(256.0, 2 * np.pi * sigma * sigma / 2)
    out = run(f"appsrc name=in format=time caps=video/x-raw,format=GRAY16_LE,width={SIDE + 1},height={SIDE},framerate=1/1 ! "
              f"videoconvolve backend=cpu preset=gaussian-blur radius={radius} scale={scale} border-mode=constant", frame.tobytes())
    levels = np.frombuffer(out, "<u2").reshape(SIDE, SIDE + 1).astype(float)
    grey = np.rint(255 * levels / levels.max()).astype(np.uint8)[:2 * SHOWN:2, :2 * SHOWN:2]
    return np.repeat(grey[:, :, None], 3, axis=2)


def blurred(preset, radius):
    size = 2 * SHOWN
    return rgb_of(run(f"videotestsrc pattern=smpte num-buffers=1 ! video/x-raw,format=RGB,width={size},height={size} ! "
                      f"videoconvolve backend=cpu preset={preset} radius={radius}"), size, size)[::2, ::2]


def strip():
    rows = [[taps(r) for r in RADII]] + [[blurred(preset, r) for r in RADII] for preset in ("gaussian-blur", "box-blur")]
    step = SHOWN + GAP
    image = np.full((len(rows) * step - GAP, len(RADII) * step, 3), 255, np.uint8)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            image[i * step:i * step + SHOWN, j * step:j * step + SHOWN] = cell
    return image


def write_or_check(picture, image):
    """Writes the PNG; with --check it must be there already, up to two levels."""
    height, width = image.shape[:2]
    if "--check" in sys.argv[1:]:
        there = rgb_of(run(f'filesrc location="{picture}" ! pngdec ! videoconvert ! video/x-raw,format=RGB'), height, width)
        if abs(there.astype(int) - image).max() > 2:
            sys.exit(f"docs/{picture.name} is not what the element does: {sys.argv[0]} makes it anew")
        return
    caps = f"video/x-raw,format=RGB,width={width},height={height},framerate=1/1"
    picture.write_bytes(run(f"appsrc name=in format=time caps={caps} ! pngenc snapshot=true", image.tobytes()))


if __name__ == "__main__":
    Gst.init(None)
    write_or_check(PICTURE, strip())
