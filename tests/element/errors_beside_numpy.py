#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors reach a Python application that imported NumPy before GStreamer.

PyPI's NumPy 2 brings a libgcc of its own, and libgstreamer brings libunwind: an exception of the plugin that is
unwound by either ends the process. The plugin therefore holds its own unwinder. PYTHONPATH says which NumPy is meant.
Exit status 77: NumPy or PyGObject is not there.
"""
import subprocess
import sys

FAULTS = {
    "kernel=<<1,2>,<3>>": "row 2 of the kernel has 1 taps",
    "kernel-location=/no/such/kernel.txt": "/no/such/kernel.txt: No such file",
    "backend=cpu preset=sharpen algorithm=cached-halo": 'algorithm "cached-halo"',
}


def message_of(properties):
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    Gst.init(None)
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers=1 ! videoconvolve {properties} ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type != Gst.MessageType.ERROR:
        return "no error"
    return message.parse_error()[0].message


def main():
    try:
        import numpy
        import gi  # noqa: F401
    except ImportError as error:
        print("skipped:", error)
        return 77
    if len(sys.argv) > 1:
        print(message_of(sys.argv[1]))
        return 0
    failures = 0
    for properties, words in FAULTS.items():
        run = subprocess.run([sys.executable, __file__, properties], capture_output=True, text=True, timeout=60)
        good = run.returncode == 0 and words in run.stdout
        failures += not good
        print("ok" if good else f"FAILED, status {run.returncode}", properties, run.stdout.strip(), sep=": ")
    print(f"NumPy {numpy.__version__}: {len(FAULTS)} faults, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
