#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""privacy.py INPUT OUT_DIR: hides the faces of INPUT (file, URI or /dev/videoN).

Writes OUT_DIR/privacy.mp4, and the first frame with a face before and after as privacy.before.png and
privacy.after.png. Faces are found by OpenCV's facedetect element, which tells of them in messages alone; here they
become the region-boxes of videoconvolve. Called by privacy.sh. PRIVACY_CASCADE names another cascade of OpenCV's.

facedetect goes on without a word where it has no cascade that it can read, and finds nothing: that is an error here.
"""
import os
import pathlib
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

CASCADE = os.environ.get("PRIVACY_CASCADE", "/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml")
CAMERA_FRAMES = 150
HOLD = 500000000


def fail(message):
    sys.exit(f"privacy: {message}")


def uri_of(where):
    return where if "://" in where else pathlib.Path(where).resolve().as_uri()


def png_of(buffer, caps):
    sample = GstVideo.video_convert_sample(
        Gst.Sample.new(buffer, caps, None, None), Gst.Caps.from_string("image/png"), 10 * Gst.SECOND)
    data = sample.get_buffer()
    return data.extract_dup(0, data.get_size())


class Faces:
    """Hands the faces that facedetect posts to videoconvolve, as its region-boxes. Messages come from the streaming
    thread, before their frame leaves the detector, and there is no queue between the two: each frame is hidden by its
    own faces, or by the last ones for HOLD nanoseconds."""

    def __init__(self, out, hide):
        self.out, self.hide, self.frames, self.found, self.searched = out, hide, 0, 0, 0
        self.held_since, self.pts = None, None

    def on_message(self, bus, message):
        structure = message.get_structure()
        if structure is None or structure.get_name() != "facedetect":
            return Gst.BusSyncReply.PASS
        self.searched += 1
        now = structure.get_uint64("timestamp")[1]
        # One structure a face inside of the message's own: {"face", x=(uint)10, ...}
        text = structure.to_string().replace("\\", "")
        boxes = re.findall(r"x=\(uint\)(\d+), y=\(uint\)(\d+), width=\(uint\)(\d+), height=\(uint\)(\d+)", text)
        self.found += len(boxes)
        if boxes:
            self.held_since = now
            Gst.util_set_object_arg(self.hide, "region-boxes", "<" + ",".join(f"<{','.join(b)}>" for b in boxes) + ">")
        elif self.held_since is not None and now > self.held_since + HOLD:
            self.held_since = None
            Gst.util_set_object_arg(self.hide, "region-boxes", "< >")
        return Gst.BusSyncReply.PASS

    def original(self, pad, info):
        buffer = info.get_buffer()
        self.frames += 1
        if self.held_since is not None and self.pts is None:
            self.pts = buffer.pts
            (self.out / "privacy.before.png").write_bytes(png_of(buffer.copy_deep(), pad.get_current_caps()))
        return Gst.PadProbeReturn.OK

    def picture(self, pad, info):
        buffer = info.get_buffer()
        if self.pts is not None and buffer.pts == self.pts:
            (self.out / "privacy.after.png").write_bytes(png_of(buffer.copy_deep(), pad.get_current_caps()))
        return Gst.PadProbeReturn.OK


def main():
    if len(sys.argv) != 3:
        fail("usage: privacy.py INPUT OUT_DIR")
    where, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    Gst.init(None)
    for element, package in (("videoconvolve", "the plugin of this project"), ("facedetect", "gstreamer1.0-opencv")):
        if Gst.ElementFactory.find(element) is None:
            fail(f"GStreamer does not find {element}: {package} is missing")
    if not os.access(CASCADE, os.R_OK):
        fail(f"{CASCADE} is missing, without which no face is found: Debian's opencv-data has it")
    camera = where.startswith("/dev/video")
    source = f"v4l2src name=source num-buffers={CAMERA_FRAMES} ! decodebin" if camera else "uridecodebin name=source"
    pipeline = Gst.parse_launch(
        f"{source} ! videoconvert ! video/x-raw,format=RGB "
        "! facedetect name=detector display=false updates=every_frame min-size-width=60 min-size-height=60 "
        "! videoconvolve name=hide regions=inside region-effect=pixelate region-shape=ellipse "
        "region-grow=0.15 region-feather=4 "
        "! videoconvert ! x264enc speed-preset=veryfast ! mp4mux ! filesink name=file")
    # As properties: in the pipeline's text, blanks and quotation marks would end them.
    if camera:
        pipeline.get_by_name("source").set_property("device", where)
    else:
        pipeline.get_by_name("source").set_property("uri", uri_of(where))
    pipeline.get_by_name("detector").set_property("profile", CASCADE)
    pipeline.get_by_name("file").set_property("location", str(out / "privacy.mp4"))
    faces = Faces(out, pipeline.get_by_name("hide"))
    bus = pipeline.get_bus()
    bus.set_sync_handler(faces.on_message)
    pipeline.get_by_name("detector").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, faces.original)
    pipeline.get_by_name("hide").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, faces.picture)
    pipeline.set_state(Gst.State.PLAYING)
    message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        error, debug = message.parse_error()
        fail(f"{error.message}\n{debug}")
    if faces.searched < faces.frames:
        fail(f"{faces.searched} of {faces.frames} frames were searched for faces, and the others are in {out}/privacy.mp4 as they "
             f"were: can OpenCV read {CASCADE}?")
    print(f"{faces.frames} frames, {faces.found} faces found and hidden: {out}/privacy.mp4")


if __name__ == "__main__":
    main()
