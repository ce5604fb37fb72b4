#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filtered frames as NumPy arrays: numpy_frames.py [FILE]

Decodes a file, or takes GStreamer's test picture, and prints the mean of each filtered frame's luma.
"""
import pathlib
import sys

import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402  # pylint: disable=wrong-import-position,unused-import

Gst.init(None)
source = ("filesrc name=file ! decodebin ! videoconvert" if len(sys.argv) > 1 else
          "videotestsrc num-buffers=5 pattern=ball")
pipeline = Gst.parse_launch(f"{source} ! video/x-raw,format=GRAY8 ! videoconvolve preset=sobel-x bias=0.5 ! "
                            "appsink name=out sync=false")
if len(sys.argv) > 1:  # not in the text above, which blanks and quotation marks of a path would end
    pipeline.get_by_name("file").set_property("location", str(pathlib.Path(sys.argv[1]).resolve()))
pipeline.set_state(Gst.State.PLAYING)
sink, bus, message = pipeline.get_by_name("out"), pipeline.get_bus(), None
while not sink.is_eos():
    sample = sink.try_pull_sample(Gst.SECOND // 5)  # pull_sample() waits on where an error ends the stream before its end
    if not sample:
        if message := bus.pop_filtered(Gst.MessageType.ERROR):
            break
        continue
    shape = sample.get_caps().get_structure(0)
    width, height = shape.get_value("width"), shape.get_value("height")
    buffer = sample.get_buffer()
    found, view = buffer.map(Gst.MapFlags.READ)
    if not found:
        sys.exit("a frame cannot be read")
    stride = view.size // height  # rows may be padded
    frame = numpy.frombuffer(view.data, numpy.uint8).reshape(height, stride)[:, :width]
    print(f"{buffer.pts / Gst.SECOND:.3f} s: mean {frame.mean():.2f}")
    buffer.unmap(view)
message = message or bus.pop_filtered(Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message:
    sys.exit(message.parse_error()[0].message)
