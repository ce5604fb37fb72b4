#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo.py INPUT OUT_DIR: filters INPUT (file, URI or /dev/videoN) in several ways.

For each way it writes OUT_DIR/NAME.mp4, one original and one filtered frame as PNG with a label, and prints what ran.
Called by demo.sh, which makes the contact sheet of them.
"""
import pathlib
import sys
import textwrap
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

# Name, the element's properties, and what to tell the reader of the contact sheet.
WAYS = [
    ("gaussian-blur", "preset=gaussian-blur radius=5"),
    ("motion-blur", "preset=motion-blur radius=7 angle=30"),
    ("sharpen", "preset=sharpen amount=1.5"),
    ("unsharp", "preset=unsharp radius=4 amount=2"),
    ("emboss", "preset=emboss angle=45 amount=2"),
    ("sobel-x", "preset=sobel-x bias=0.5"),
    ("sobel", "preset=sobel scale=0.5"),
    ("kirsch", "preset=kirsch scale=0.2"),
    ("laplacian-of-gaussian", "preset=laplacian-of-gaussian radius=3 scale=6 bias=0.5"),
    ("own-kernel", "kernel=<<-2,-1,0>,<-1,0,1>,<0,1,2>> bias=0.5"),
    ("temporal-difference", "preset=temporal-difference scale=4 bias=0.5"),
    ("temporal-mean", "preset=temporal-mean temporal-radius=7"),
    ("mask", "regions=inside region-boxes=<<540,260,200,120>> region-effect=pixelate region-cells=6"),
    ("filter-outside", "preset=gaussian-blur radius=9 regions=outside region-boxes=<<490,260,300,200>> "
                       "region-shape=ellipse region-feather=24"),
]
CAMERA_FRAMES = 150


def parse_quoted(value):
    """`value` as one word of gst_parse_launch()'s language."""
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def source(where):
    if where.startswith("/dev/video"):
        return f"v4l2src device={where} num-buffers={CAMERA_FRAMES} ! decodebin"
    uri = where if "://" in where else pathlib.Path(where).resolve().as_uri()
    return f"uridecodebin uri={parse_quoted(uri)}"


def write_png(buffer, caps, path):
    sample = GstVideo.video_convert_sample(
        Gst.Sample.new(buffer, caps, None, None), Gst.Caps.from_string("image/png"), 10 * Gst.SECOND)
    data = sample.get_buffer()
    path.write_bytes(data.extract_dup(0, data.get_size()))


class Snapshot:
    """Keeps the frame in the middle of the clip that passes a pad, and counts frames."""

    def __init__(self, pad, middle):
        self.middle, self.count, self.buffer, self.caps = middle, 0, None, None
        pad.add_probe(Gst.PadProbeType.BUFFER, self.on_buffer)

    def on_buffer(self, pad, info):
        buffer = info.get_buffer()
        self.count += 1
        if self.buffer is None or buffer.pts <= self.middle:
            self.buffer, self.caps = buffer.copy_deep(), pad.get_current_caps()
        return Gst.PadProbeReturn.OK


def fail(message):
    sys.exit(f"demo: {message}")


def duration_of(where):
    """The clip's length in ns, or 0 for a camera."""
    if where.startswith("/dev/video"):
        return 0
    pipeline = Gst.parse_launch(f"{source(where)} ! videoconvert ! fakesink")
    pipeline.set_state(Gst.State.PAUSED)
    message = pipeline.get_bus().timed_pop_filtered(
        20 * Gst.SECOND, Gst.MessageType.ASYNC_DONE | Gst.MessageType.ERROR)
    if message is None or message.type == Gst.MessageType.ERROR:
        reason = message.parse_error()[0].message if message else "nothing came within 20 s"
        pipeline.set_state(Gst.State.NULL)
        fail(f"{where} cannot be decoded: {reason}")
    duration = pipeline.query_duration(Gst.Format.TIME)[1]
    pipeline.set_state(Gst.State.NULL)
    return duration


def run(where, duration, number, name, properties, out):
    pipeline = Gst.parse_launch(
        f"{source(where)} ! queue ! videoconvert ! video/x-raw,format=I420 "
        f"! videoconvolve name=filter {properties} "
        f"! queue ! x264enc speed-preset=ultrafast quantizer=18 pass=quant ! mp4mux "
        f"! filesink location={parse_quoted(out / (name + '.mp4'))}")
    element = pipeline.get_by_name("filter")
    middle = duration // 2 if duration > 0 else 2 * Gst.SECOND
    before = Snapshot(element.get_static_pad("sink"), middle)
    after = Snapshot(element.get_static_pad("src"), middle)

    start = shown = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    ran = "?"
    try:
        while True:
            message = pipeline.get_bus().timed_pop_filtered(
                Gst.SECOND // 2, Gst.MessageType.EOS | Gst.MessageType.ERROR)
            backend, algorithm = element.get_property("active-backend"), element.get_property("active-algorithm")
            if backend and algorithm:
                ran = f"{backend}/{algorithm}"
            done = f"{100 * after.buffer.pts // duration:3}%" if duration > 0 and after.buffer else "..."
            frames = after.count
            if message is None:
                if sys.stdout.isatty():
                    print(f"\r{name:24} {frames:5} frames {done}", end="", flush=True)
                elif time.monotonic() - shown > 2:
                    shown = time.monotonic()
                    print(f"{name:24} {frames:5} frames {done}", flush=True)
                continue
            if message.type == Gst.MessageType.ERROR:
                error, debug = message.parse_error()
                fail(f"{name}: {error.message}\n{debug}")
            break
    finally:
        pipeline.set_state(Gst.State.NULL)
    seconds = time.monotonic() - start
    if before.count == 0 or after.count != before.count:
        fail(f"{name}: {before.count} frames went in and {after.count} came out")
    print(f"\r{name:24} {after.count:5} frames in, filtered and encoded: {after.count / seconds:6.1f} frames/s, "
          f"ran on {ran}", flush=True)
    stem = f"{number:02}-{name}"
    write_png(before.buffer, before.caps, out / f"{stem}.original.png")
    write_png(after.buffer, after.caps, out / f"{stem}.filtered.png")
    (out / f"{stem}.label").write_text(f"{name}\n{textwrap.fill(properties, 64, break_on_hyphens=False)}\n")


def main():
    if len(sys.argv) != 3:
        fail("usage: demo.py INPUT OUT_DIR")
    where, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    Gst.init(None)
    if Gst.ElementFactory.find("videoconvolve") is None:
        fail("GStreamer does not find videoconvolve; start this through demo.sh, or set GST_PLUGIN_PATH to the folder that "
             "./setup.sh --plugin prints last")
    duration = duration_of(where)
    for number, (name, properties) in enumerate(WAYS, 1):
        run(where, duration, number, name, properties, out)


if __name__ == "__main__":
    main()
