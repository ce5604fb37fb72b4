# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The element that the package carries, through PyGObject."""
import numpy as np
import pytest

import videoconvolve

gi = pytest.importorskip("gi", reason="PyGObject is not installed")


def test_register_makes_the_element_known_and_it_filters():
    videoconvolve.register()
    videoconvolve.register()
    from gi.repository import Gst

    pipeline = Gst.parse_launch(
        "appsrc name=src format=time caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 "
        "! videoconvolve preset=box-blur radius=2 ! appsink name=sink")
    image = np.random.default_rng(1).integers(0, 256, (48, 64), np.uint8)
    pipeline.set_state(Gst.State.PLAYING)
    source, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    source.emit("push-buffer", Gst.Buffer.new_wrapped(image.tobytes()))
    source.emit("end-of-stream")
    sample = sink.emit("try-pull-sample", 20 * Gst.SECOND)
    assert sample is not None
    data = sample.get_buffer()
    got = np.frombuffer(data.extract_dup(0, data.get_size()), np.uint8).reshape(48, 64)
    pipeline.set_state(Gst.State.NULL)
    np.testing.assert_array_equal(got, videoconvolve.filter2d(image, np.ones((5, 5), int), normalize=True))
