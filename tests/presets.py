#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads each set of presets/GstVideoConvolve.prs by GstPreset and holds the element's properties against the file; and
holds what a kernel string does once it was saved and loaded against what it did before."""
import configparser
import os
import pathlib
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "presets"
os.environ["GST_PRESET_PATH"] = str(FOLDER)
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()  # no presets of the user's

import gi  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402


KERNEL_STRINGS = (
    "ffmpeg:0m='0 -1 0 -1 5 -1 0 -1 0':0rdiv=1/2:0bias=3",
    "im:convolve:scale=50%!;3x3: 1,2,1\n2,4,2\t1,2,1",
    "im:Kirsch:@",
    "im:Sobel:>; Sobel:45",
    "vs:matrix=[1,2,1,2,4,2,1,2,1] divisor=16",
    "svg:order='3' kernelMatrix='1 0 -1 2 0 -2 1 0 -1' divisor='4' bias='0.5'",
)


def filtered(element):
    """The bytes of one frame of noise, or the error that comes in its place."""
    pipeline = Gst.Pipeline()
    source = Gst.parse_bin_from_description(
        "videotestsrc num-buffers=1 pattern=snow ! capsfilter caps=video/x-raw,format=GRAY8,width=32,height=16", True)
    sink = Gst.ElementFactory.make("appsink")
    for part in (source, element, sink):
        pipeline.add(part)
    source.link(element)
    element.link(sink)
    pipeline.set_state(Gst.State.PLAYING)
    sample = sink.emit("try-pull-sample", 20 * Gst.SECOND)
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        return error.parse_error()[0].message
    return sample.get_buffer().extract_dup(0, 32 * 16)


def check_kernel_strings():
    for number, text in enumerate(KERNEL_STRINGS):
        saved, loaded = (Gst.ElementFactory.make("videoconvolve") for _ in range(2))
        saved.set_property("kernel-string", text)
        if not Gst.Preset.save_preset(saved, f"test {number}") or not Gst.Preset.load_preset(loaded, f"test {number}"):
            sys.exit(f"{text!r} was not saved and loaded")
        got, wanted = filtered(loaded), filtered(saved)
        if isinstance(wanted, str) or got != wanted:
            sys.exit(f"{text!r} does something else once it was saved and loaded: "
                     f"{got if isinstance(got, str) else loaded.get_property('kernel-string')!r}")


def main():
    Gst.init(None)
    element = Gst.ElementFactory.make("videoconvolve")
    if element is None:
        sys.exit("GStreamer does not find videoconvolve; set GST_PLUGIN_PATH")
    file = configparser.ConfigParser()
    file.read(FOLDER / "GstVideoConvolve.prs")
    names = [name for name in file.sections() if name != "_presets_"]
    known = Gst.Preset.get_preset_names(element)
    if sorted(known) != sorted(names):
        sys.exit(f"GstPreset knows {known}, the file has {names}")
    for name in names:
        by_hand = Gst.ElementFactory.make("videoconvolve")
        if not Gst.Preset.load_preset(element, name):
            sys.exit(f"{name} was not loaded")
        for key, text in file[name].items():
            if key.startswith("_meta/"):
                continue
            spec = element.find_property(key)
            if spec is None:
                sys.exit(f"{name} sets {key}, which is no property")
            if key in ("kernel", "bank"):
                continue  # empty arrays, which PyGObject cannot read; they are held below
            Gst.util_set_object_arg(by_hand, key, text)
            got, wanted = element.get_property(key), by_hand.get_property(key)
            if got != wanted:
                sys.exit(f"{name}: {key} is {got}, not {wanted}")
        # A kernel or a bank that was set before would win over the set's preset; these cannot be started with.
        pipeline = Gst.parse_launch(
            "videotestsrc num-buffers=5 ! videoconvolve name=filter kernel=<<1,2>,<3>> kernel-location=/none bank=<<<1,2>,<3>>> ! fakesink")
        Gst.Preset.load_preset(pipeline.get_by_name("filter"), name)
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        if message is None or message.type == Gst.MessageType.ERROR:
            sys.exit(f"{name} did not run: {message.parse_error()[0].message if message else 'no end in 20 s'}")
    check_kernel_strings()
    print(f"{len(names)} sets loaded and run")


if __name__ == "__main__":
    main()
