#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""compass.py [--check]: makes docs/compass.png, Kirsch's eight masks and what each gives of a disc, from what the element gives.

Columns: the masks, north first and on to the left by 45 degrees each; then the disc. Rows: the taps, as the element's answer to
one bright sample, 0 being mid grey; what each makes of the disc, and last the largest of the eight (preset=kirsch). --check is
as in radius_strip.py. GStreamer must find the element (GST_PLUGIN_PATH).
"""
import pathlib
import sys

import numpy as np
from radius_strip import Gst, run, write_or_check

PICTURE = pathlib.Path(__file__).resolve().parent / "compass.png"
SIDE, GAP = 96, 4
RING = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))  # clockwise from the upper left corner


def mask(turns):
    """Kirsch's north mask, turned to the left by 45 degrees so many times."""
    taps = np.zeros((3, 3), int)
    for place, (y, x) in enumerate(RING):
        taps[y, x] = 5 if (place + turns) % 8 < 3 else -3
    return taps


def filtered(grey, properties):
    height, width = grey.shape
    out = run(f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={width},height={height},framerate=1/1 ! "
              f"videoconvolve backend=cpu {properties}", grey.tobytes())
    return np.frombuffer(out, np.uint8).reshape(height, -1)[:, :width]


def kernel(taps):
    return 'kernel="<' + ",".join("<" + ",".join(map(str, row)) + ">" for row in taps) + '>"'


def compass():
    y, x = np.indices((SIDE, SIDE)) - (SIDE - 1) / 2
    disc = np.clip(40 * (SIDE / 3 - np.hypot(y, x)) + 128, 0, 255).astype(np.uint8)
    point = np.zeros((3, 4), np.uint8)
    point[1, 1] = 25  # 5 and -3 times it stay in 8 bits about mid grey
    answers = [filtered(point, f"{kernel(mask(t))} operation=convolve border-mode=constant bias=0.5")[:, :3] for t in range(8)]
    slopes = [filtered(disc, f"{kernel(mask(t))} scale=0.25") for t in range(8)]
    # An exact scale: with 0.3 real taps could differ by a code value between one kernel and a bank.
    largest = filtered(disc, "preset=kirsch scale=0.25")
    if (np.max(slopes, axis=0) != largest).any():
        sys.exit("preset=kirsch is not the largest of Kirsch's eight masks")
    rows = [[a.repeat(SIDE // 3, 0).repeat(SIDE // 3, 1) for a in answers] + [disc], slopes + [largest]]
    step = SIDE + GAP
    image = np.full((2 * step - GAP, 9 * step, 3), 255, np.uint8)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            image[i * step:i * step + SIDE, j * step:j * step + SIDE] = cell[:, :, None]
    return image


if __name__ == "__main__":
    Gst.init(None)
    write_or_check(PICTURE, compass())
