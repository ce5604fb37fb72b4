#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an application in Python sees of the element: properties of each kind, set and read back, and what errors and
warnings say. A binding throws where a message is not UTF-8 or a value has no type that it knows.

Exit status 77: PyGObject is not there.
"""
import sys
import tempfile
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)


def message(properties, kinds):
    """The text of the first message of these kinds that a pipeline of one frame posts; None where it ends without."""
    pipeline = Gst.parse_launch(
        "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=16,height=8 ! "
        f"videoconvolve name=f {properties} ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    found = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, kinds | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    if found is None:
        return "nothing within ten seconds"
    if found.type == Gst.MessageType.ERROR:
        return found.parse_error()[0].message
    return found.parse_warning()[0].message if found.type == Gst.MessageType.WARNING else None


def error_of_file(content):
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(content)
        file.flush()
        return message(f"kernel-location={file.name}", Gst.MessageType.ERROR).replace(file.name, "FILE")


class Properties(unittest.TestCase):
    def setUp(self):
        self.element = Gst.ElementFactory.make("videoconvolve")
        self.assertIsNotNone(self.element)

    def test_each_writable_property_takes_the_value_that_it_has(self):
        for spec in self.element.list_properties():
            if spec.name in ("bank", "kernel", "region-boxes") or not spec.flags & GObject.ParamFlags.WRITABLE:
                continue  # arrays of arrays, which the binding has no type for
            if spec.owner_type.name != "GstVideoConvolve" or not spec.flags & GObject.ParamFlags.READABLE:
                continue
            with self.subTest(spec.name):
                before = self.element.get_property(spec.name)
                self.element.set_property(spec.name, before)
                self.assertEqual(self.element.get_property(spec.name), before)

    def test_scalars_enums_and_flags_come_back_as_they_were_set(self):
        for name, value in {"radius": 3, "sigma": 1.5, "normalize": True, "bias": -0.25, "n-threads": 2,
                            "kernel-location": "/tmp/kernel.txt", "cuda-device-id": 1}.items():
            self.element.set_property(name, value)
            self.assertEqual(self.element.get_property(name), value, name)
        for name, nick in {"preset": "sobel-x", "border-mode": "reflect-101", "backend": "cpu", "window": "causal",
                           "operation": "convolve", "algorithm": "separable"}.items():
            Gst.util_set_object_arg(self.element, name, nick)
            self.assertEqual(self.element.get_property(name).value_nick, nick)
        Gst.util_set_object_arg(self.element, "components", "luma+alpha")
        self.assertEqual(self.element.get_property("components").value_nicks, ["luma", "alpha"])

    def test_a_value_beyond_its_range_is_refused_and_changes_nothing(self):
        with self.assertRaises((TypeError, ValueError, OverflowError)):
            self.element.set_property("radius", "three")
        self.assertEqual(self.element.get_property("radius"), 1)

    def test_a_kernel_given_as_text_filters(self):
        pipeline = Gst.parse_launch(
            "appsrc name=in format=time caps=video/x-raw,format=GRAY8,width=4,height=1,framerate=1/1 ! "
            "videoconvolve name=f backend=cpu border-mode=constant ! fakesink name=out sync=false signal-handoffs=true")
        Gst.util_set_object_arg(pipeline.get_by_name("f"), "kernel", "<<1,3,5,3,1>>")
        frames = []
        pipeline.get_by_name("out").connect(
            "handoff", lambda sink, buffer, pad: frames.append(buffer.extract_dup(0, buffer.get_size())))
        pipeline.set_state(Gst.State.PLAYING)
        source = pipeline.get_by_name("in")
        source.emit("push-buffer", Gst.Buffer.new_wrapped(bytes([8, 2, 5, 4])))
        source.emit("end-of-stream")
        end = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(end.type, Gst.MessageType.EOS)
        # 5*8+3*2+5; 3*8+5*2+3*5+4; 8+3*2+5*5+3*4; 2+3*5+5*4
        self.assertEqual(frames, [bytes([51, 53, 51, 37])])


class Messages(unittest.TestCase):
    def test_broken_bytes_are_shown_as_numbers(self):
        self.assertIn('FILE:1:3: "\\xff\\xfe" is not a number', error_of_file(b"1 \xff\xfe 2\n"))
        self.assertIn('FILE:1:3: "\\xc3" is not a number', error_of_file(b"1 \xc3\n"))
        self.assertIn('FILE:1:3: "\u00e4" is not a number', error_of_file(b"1 \xc3\xa4\n"))

    def test_utf16_files_are_refused_with_the_remedy(self):
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            text = error_of_file("1 2 1\n".encode(encoding))
            self.assertRegex(text, r"^FILE:1:[12]: .*UTF-16.*UTF-8", encoding)

    def test_decimal_commas_are_refused_with_the_remedy(self):
        self.assertIn('FILE:1:1: "0,25" may be a number with a decimal comma', error_of_file(b"0,25 0,5 0,25\n"))

    def test_an_error_names_the_property_and_the_value(self):
        text = message("kernel=<<1,2>,<3>>", Gst.MessageType.ERROR)
        self.assertIn("row 2 of the kernel has 1 taps", text)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(verbosity=1)
