# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer as the package uses it: one place that loads it, and pipelines that end when their block ends."""
from __future__ import annotations

import contextlib
import pathlib
from typing import Any, Iterator

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstApp, GstVideo  # noqa: E402  (GstApp gives appsrc and appsink their methods)

from .errors import InputError, JobError  # noqa: E402

__all__ = ["Gst", "GstApp", "GstVideo", "check", "make", "parse", "picture", "quoted", "running", "seconds", "versions", "wait_for_end"]

Gst.init(None)

# Plugins whose version decides about the bits of a frame.
PLUGINS_THAT_COUNT = ("convolve", "libav", "videoconvertscale")


def seconds(nanoseconds: int | None) -> str:
    """A time in ns as text for a message, `12.345 s`; `the end` for None."""
    return "the end" if nanoseconds is None else f"{nanoseconds / 1e9:.3f} s"


def picture(caps: Any) -> tuple[str, ...]:
    """What caps of coded or raw video say of its pictures, as words of a message: `160x90`, `I420`. What they do not say is left out."""
    fields = caps.get_structure(0)
    (has_width, width), (has_height, height) = fields.get_int("width"), fields.get_int("height")
    return ((f"{width}x{height}",) if has_width and has_height else ()) + tuple(filter(None, (fields.get_string("format"),)))


def quoted(path: pathlib.Path) -> str:
    """`path` as a value in a launch line."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def versions() -> dict[str, str]:
    """Versions of GStreamer and of the plugins that decide about a frame's bits, by name; those not installed are left out."""
    found = {"gstreamer": ".".join(str(n) for n in Gst.version()[:3])}
    for name in PLUGINS_THAT_COUNT:
        plugin = Gst.Registry.get().find_plugin(name)
        if plugin is not None:
            found[name] = plugin.get_version()
    return found


def make(factory: str) -> Any:
    """A new element. Raises InputError with the factory's name where GStreamer has none of it."""
    element = Gst.ElementFactory.make(factory, None)
    if element is None:
        raise InputError(f"GStreamer has no element '{factory}' here: install the plugin that holds it, or set GST_PLUGIN_PATH")
    return element


def parse(description: str, what: str) -> Any:
    """The pipeline of a launch line. Raises InputError that names `what` and GStreamer's reason where it has a fault."""
    try:
        return Gst.parse_launch(description)
    except GLib.Error as error:
        raise InputError(f"{what}: {error.message}") from None


def parse_bin(description: str, what: str) -> Any:
    """The bin of a launch line, with ghost pads at its ends. Raises as parse() does."""
    try:
        return Gst.parse_bin_from_description(description, True)
    except GLib.Error as error:
        raise InputError(f"{what}: {error.message}") from None


@contextlib.contextmanager
def running(pipeline: Any, state: Any = Gst.State.PLAYING) -> Iterator[Any]:
    """Sets the pipeline to `state` for the block, and to NULL after it, whatever happens."""
    try:
        if pipeline.set_state(state) == Gst.StateChangeReturn.FAILURE:
            check(pipeline)
            raise JobError("the pipeline did not start, and gave no reason")
        yield pipeline
    finally:
        pipeline.set_state(Gst.State.NULL)


def _raise(message: Any) -> None:
    error, detail = message.parse_error()
    # GStreamer's detail reads "file(line): function (): path:\n<the reason>".
    reason = (detail or "").strip().splitlines()[-1:] or [""]
    if error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NO_SPACE_LEFT):
        raise JobError(f"the disk is full ({message.src.get_name()}: {error.message})")
    raise JobError(f"{message.src.get_name()}: {error.message} {reason[0]}".strip())


def check(pipeline: Any, wait_ns: int = 0) -> bool:
    """True where the pipeline has come to its end; False after `wait_ns` without news. Raises JobError for its error."""
    message = pipeline.get_bus().timed_pop_filtered(wait_ns, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    if message is None:
        return False
    if message.type == Gst.MessageType.ERROR:
        _raise(message)
    return True


def wait_for_end(pipeline: Any) -> None:
    """Waits until the pipeline has come to its end. Raises JobError for its error."""
    while not check(pipeline, 100 * Gst.MSECOND):
        pass
