#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads each set of presets/GstVideoConvolve.prs by GstPreset, holds the element's properties against the file, and sees
other pixels; loads each after each other one, and after values that no set has: what it does hangs on nothing that was
set before; holds what a kernel string does once it was saved and loaded against what it did before; and holds strings
with marks, and absent ones, against what they were when they were saved."""
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
    'svg:order="3" kernelMatrix="1 0 -1 2 0 -2 1 0 -1" divisor="4" bias="0.5"',
)


def filtered(element):
    """The bytes of five frames of noise, or the error that comes in their place."""
    pipeline = Gst.Pipeline()
    source = Gst.parse_bin_from_description(
        "videotestsrc num-buffers=5 pattern=snow ! capsfilter caps=video/x-raw,format=GRAY8,width=32,height=16", True)
    sink = Gst.ElementFactory.make("appsink")
    for part in (source, element, sink):
        pipeline.add(part)
    source.link(element)
    element.link(sink)
    pipeline.set_state(Gst.State.PLAYING)
    samples = []
    while sample := sink.emit("try-pull-sample", 20 * Gst.SECOND):
        samples.append(sample)
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        return error.parse_error()[0].message
    if len(samples) != 5:
        return f"{len(samples)} frames came of 5"
    return b"".join(sample.get_buffer().extract_dup(0, 32 * 16) for sample in samples)


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


def check_strings():
    """Strings of all kinds are loaded as they were saved, also where a set of that name was there before."""
    strings = ("/a b/(1).txt", "Gesicht ü", "a;b*?", "back\\slash \\303", "\\\\", '"quoted"', "a'b\"c", "tab\tline\nend", "#~{}[]",
               "", "plain")
    for name in ("kernel-location", "kernel-string", "region-types"):
        for text in strings:
            saved, loaded = (Gst.ElementFactory.make("videoconvolve") for _ in range(2))
            saved.set_property(name, text)
            loaded.set_property(name, "another")
            Gst.Preset.save_preset(saved, "strings")
            Gst.Preset.load_preset(loaded, "strings")
            if (loaded.get_property(name) or "") != text:
                sys.exit(f"{name}={text!r} was loaded as {loaded.get_property(name)!r}")
            if saved.get_property(name) != (text or None):
                sys.exit(f"{name}={text!r} is read as {saved.get_property(name)!r}")
    Gst.Preset.delete_preset(saved, "strings")


# One value that no set has, of every property that decides the filter.
OTHER_VALUES = {
    "kernel-string": "vs:matrix=[1,2,1,2,4,2,1,2,1] divisor=16", "bank": "<<<1,2>>,<<3,4>>>", "kernel": "<<1,2>>",
    "kernel-location": "/none", "combine": "sum-abs", "preset": "gabor", "radius": "4", "sigma": "0.7", "sigma2": "3",
    "wavelength": "7", "amount": "3", "angle": "30", "temporal-radius": "3", "operation": "convolve", "scale": "2",
    "normalize": "true", "bias": "0.25", "levels": "code", "border-mode": "wrap", "border-value": "0.5",
    "components": "alpha", "window": "causal", "scene-threshold": "0.5",
}
# These say where and how a filter is applied, and stay as the user has them.
NOT_OF_THE_FILTER = {"backend", "algorithm", "cuda-device-id", "n-threads", "regions", "qos", "name", "parent"}


def values(element):
    """All that a GstPreset may hold, as text."""
    found = {}
    for name in Gst.Preset.get_property_names(element):
        if name in ("kernel", "bank", "region-boxes"):  # arrays, which PyGObject cannot read
            continue
        found[name] = element.get_property(name)
    return found


def check_nothing_is_left(names):
    """What a set does hangs on nothing that was set before it."""
    element = Gst.ElementFactory.make("videoconvolve")
    missing = [name for name in Gst.Preset.get_property_names(element)
               if name not in OTHER_VALUES and name not in NOT_OF_THE_FILTER and not name.startswith("region-")]
    if missing:
        sys.exit(f"{missing}: to be set by each set of presets/, or named in {sys.argv[0]}")
    for name in names:
        fresh = Gst.ElementFactory.make("videoconvolve")
        Gst.Preset.load_preset(fresh, name)
        wanted, picture = values(fresh), filtered(fresh)
        if isinstance(picture, str):
            sys.exit(f"{name} does not run: {picture}")
        for before in (None, *names):
            used = Gst.ElementFactory.make("videoconvolve")
            if before:
                Gst.Preset.load_preset(used, before)
            else:
                for key, text in OTHER_VALUES.items():
                    Gst.util_set_object_arg(used, key, text)
            Gst.Preset.load_preset(used, name)
            left = {key: value for key, value in values(used).items() if value != wanted[key] and key != "name"}
            if left or filtered(used) != picture:
                sys.exit(f"{name} after {before or 'other values'} leaves {left or 'a kernel or a bank'}")


def main():
    Gst.init(None)
    element = Gst.ElementFactory.make("videoconvolve")
    if element is None:
        sys.exit("GStreamer does not find videoconvolve; set GST_PLUGIN_PATH")
    file = configparser.ConfigParser()
    file.read(FOLDER / "GstVideoConvolve.prs")
    untouched = filtered(Gst.ElementFactory.make("videoconvolve"))
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
        started = Gst.parse_launch("videoconvolve kernel=<<1,2>,<3>> kernel-location=/none bank=<<<1,2>,<3>>>")
        Gst.Preset.load_preset(started, name)
        got = filtered(started)
        if isinstance(got, str):
            sys.exit(f"{name} did not run: {got}")
        if got == untouched:
            sys.exit(f"{name} changes no pixel")
    check_nothing_is_left(names)
    check_kernel_strings()
    check_strings()
    print(f"{len(names)} sets loaded, run and seen")


if __name__ == "__main__":
    main()
