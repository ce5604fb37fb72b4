# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GStreamer element that this package carries."""
from __future__ import annotations

import pathlib


def plugin_path() -> pathlib.Path:
    """Return the path of the plugin's shared library inside this package.

    Its folder can be given to other programs as GST_PLUGIN_PATH.
    """
    return pathlib.Path(__file__).with_name("libgstconvolve.so")


def register() -> None:
    """Make the element `videoconvolve` known to GStreamer in this process.

    Initialises GStreamer where nobody has. Calling it again does nothing. An element that is known already, from an
    installed package say, stays.

    Raises:
        ImportError: PyGObject is not installed.
        RuntimeError: GStreamer (1.22 or later) could not load the plugin; the message says why.
    """
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GLib, Gst

    Gst.init(None)
    if Gst.ElementFactory.find("videoconvolve"):
        return
    try:
        Gst.Plugin.load_file(str(plugin_path()))
    except GLib.Error as error:
        raise RuntimeError(f"GStreamer could not load {plugin_path()}: {error.message}") from error
