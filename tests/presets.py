#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads each set of presets/GstVideoConvolve.prs by GstPreset and holds the element's properties against the file."""
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
    print(f"{len(names)} sets loaded and run")


if __name__ == "__main__":
    main()
