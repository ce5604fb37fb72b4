# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many frames around a segment decide about the frames within it.

The element itself is asked: a centered window of n frames adds the latency of those after its centre, which stands at
frame n / 2 (counted from 0). So `after` frames of latency mean a depth of 2 * after + 1 or 2 * after + 2, and the halo
takes the larger: `after + 1` frames before, one too many at odd depths (and where the filter has no depth at all, which
is one frame a segment). A causal window looks back over all of its frames.
"""
from __future__ import annotations

import pathlib
from dataclasses import dataclass
from typing import Any

from .errors import InputError, JobError
from .gst import Gst, check, make, parse_bin, running

ELEMENT = "videoconvolve"
START_TIMEOUT_S = 20


@dataclass(frozen=True)
class Halo:
    """frames before and after a segment that its outputs depend on; all frames up to `hold` ns before it count as well."""

    before: int
    after: int
    hold: int


def elements(filter_text: str) -> tuple[Any, list[Any]]:
    """The bin that `filter_text` (what follows `videoconvolve` in a launch line) stands for, and its elements in order.

    Raises InputError for a fault in the text, or an element in it that may carry something from frame to frame of which
    nothing is known here.
    """
    line = parse_bin(f"{ELEMENT} {filter_text}", f"--filter '{filter_text}'")
    found, iterator = [], line.iterate_sorted()
    while (item := iterator.next())[0] == Gst.IteratorResult.OK:
        found.append(item[1])
    for element in found:
        if element.get_factory().get_name() != ELEMENT:
            raise InputError(f"--filter '{filter_text}': '{element.get_factory().get_name()}' may carry something from frame to frame, "
                             f"and how far is not known here; only {ELEMENT} elements may stand in a filter")
    return line, found[::-1]  # iterate_sorted starts at the sink


def _option(element: Any, name: str, default: Any) -> Any:
    """A property's value; `default` where this version of the element does not have it."""
    return element.get_property(name) if element.find_property(name) else default


def _frames_ahead(element: Any) -> int:
    """The latency of the element's filter in frames, with a centered window. Raises InputError with the element's reason."""
    pipeline = Gst.Pipeline.new(None)
    source, sink = parse_bin("videotestsrc ! capsfilter caps=video/x-raw,format=I420,width=32,height=32,framerate=1/1", "probe"), make("fakesink")
    # The plan may be made where no GPU is; taps and sizes are refused on the CPU just the same.
    element.set_property("backend", "cpu")
    element.set_property("algorithm", "auto")
    element.set_property("window", "centered")
    for part in (source, element, sink):
        pipeline.add(part)
    source.link(element)
    element.link(sink)
    try:
        with running(pipeline, Gst.State.PAUSED):
            for _ in range(START_TIMEOUT_S * 10):
                check(pipeline)
                if pipeline.get_state(100 * Gst.MSECOND)[0] == Gst.StateChangeReturn.SUCCESS:
                    break
            query = Gst.Query.new_latency()
            if not element.get_static_pad("src").query(query):
                raise InputError("the element does not answer the LATENCY query")
            return int(query.parse_latency()[1] // Gst.SECOND)
    except JobError as error:
        raise InputError(f"--filter: {error}") from None


def _of_element(element: Any) -> Halo:
    causal = element.get_property("window").value_nick == "causal"
    # A scene cut is a difference between two neighbours: at the window's rim the outer one stands just outside of it.
    scene = 1 if _option(element, "scene-threshold", 0) > 0 else 0
    hold = int(_option(element, "region-hold", 0))
    ahead = _frames_ahead(element)
    if causal:
        return Halo(2 * ahead + 1 + scene, 0, hold)
    return Halo(ahead + 1 + scene, ahead + scene, hold)


def halo_of(filter_text: str) -> Halo:
    """The halo of all the filter's elements in a row. Raises InputError for a fault in the text."""
    line, found = elements(filter_text)
    for element in found:
        line.remove(element)
    parts = [_of_element(element) for element in found]
    return Halo(sum(p.before for p in parts), sum(p.after for p in parts), sum(p.hold for p in parts))


def kernel_files(filter_text: str) -> list[pathlib.Path]:
    """The files of taps that the filter reads, in order. Raises InputError for a fault in the text."""
    paths = [_option(element, "kernel-location", None) for element in elements(filter_text)[1]]
    return [pathlib.Path(path) for path in paths if path]
