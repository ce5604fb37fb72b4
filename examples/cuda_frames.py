#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames in CUDA memory, by CuPy or PyTorch: cuda_frames.py [cupy | torch]

Takes frames from an appsink, makes the luma of a copy its negative, and sends that on through videoconvolve. No frame comes
to the host, but for the last step, which compares them with the same made by NumPy. Needs an NVIDIA GPU, PyGObject,
CuPy or PyTorch, and the package videoconvolve with its CUDA backend (python/README.md). Exits with 77 where there is no GPU.
"""
import importlib
import sys

import gi
import numpy

import videoconvolve

videoconvolve.register()
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PICTURE = "videotestsrc num-buffers=5 pattern=ball ! video/x-raw,format=NV12,width=320,height=240,framerate=25/1"
WIDTH, HEIGHT = 320, 240


def started(line):
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline


def pull(pipeline):
    """The buffer and the caps of the next frame, or None at the end of the stream."""
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 20 * Gst.SECOND)
    if sample is not None:
        return sample.get_buffer(), sample.get_caps()
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    if message:
        sys.exit(message.parse_error()[0].message)
    return None


def negative_in_place(buffer, caps, library):
    """The luma's negative, where it lies. The buffer has to be nobody else's."""
    with videoconvolve.cuda_array(buffer, caps) as luma:
        if library.__name__ == "torch":
            library.as_tensor(luma, device="cuda").bitwise_not_()
        else:
            samples_of = library.asarray(luma)
            library.invert(samples_of, out=samples_of)


def luma_of(buffer, caps):
    """A frame's luma, copied from system memory; its meta says how far apart rows are, where they are not as usual."""
    meta = GstVideo.buffer_get_video_meta(buffer)
    stride = meta.stride[0] if meta else GstVideo.VideoInfo.new_from_caps(caps).stride[0]
    return numpy.frombuffer(buffer.extract_dup(0, stride * HEIGHT), numpy.uint8).reshape(HEIGHT, stride)[:, :WIDTH]


library = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else "cupy")
if not Gst.ElementFactory.find("cudaupload"):
    print("there is no GPU, or GStreamer has no CUDA elements")
    sys.exit(77)

decoder = started(f"{PICTURE} ! cudaupload ! video/x-raw(memory:CUDAMemory) ! "
                  "appsink name=out sync=false max-buffers=2")
filtering = started("appsrc name=in format=time ! videoconvolve preset=box-blur radius=2 backend=cuda ! cudadownload ! "
                    "appsink name=out sync=false")
source = filtering.get_by_name("in")
while frame := pull(decoder):
    # The sample and the appsink hold that buffer too; what is written has to be one's own. The copy is the GPU's.
    buffer, caps = frame[0].copy_deep(), frame[1]
    negative_in_place(buffer, caps, library)
    source.set_property("caps", caps)
    source.emit("push-buffer", buffer)
source.emit("end-of-stream")

host = started(f"{PICTURE} ! appsink name=out sync=false")
originals = [luma_of(*frame) for frame in iter(lambda: pull(host), None)]
filtered = [luma_of(*frame) for frame in iter(lambda: pull(filtering), None)]
for pipeline in (decoder, filtering, host):
    pipeline.set_state(Gst.State.NULL)
if len(originals) != 5 or len(filtered) != 5:
    sys.exit(f"5 frames were expected, {len(originals)} and {len(filtered)} came")
for number, (before, after) in enumerate(zip(originals, filtered)):
    expected = videoconvolve.filter2d(~before, numpy.ones((5, 5), int), normalize=True)
    print(f"frame {number}: mean luma {before.mean():.1f}, {after.mean():.1f} after; "
          f"{numpy.count_nonzero(expected != after)} samples unlike the host's")
    if not numpy.array_equal(expected, after):
        sys.exit("the GPU and the host do not agree")
