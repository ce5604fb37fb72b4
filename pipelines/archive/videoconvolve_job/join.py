# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""join: the parts of an input one after the other, as they were coded, with the other streams of the source beside them.

Matroska rounds times to milliseconds, so each packet gets the time that its record holds. Decoding times are made anew
for the whole video: the k-th packet decodes at the k-th smallest presentation time less a delay that is the same for
all, the smallest that lets no packet be decoded after it is shown.
"""
from __future__ import annotations

import itertools
import pathlib
import threading
from typing import Any

from .errors import InputError, JobError
from .gst import Gst, check, make, parse, picture, quoted, running, wait_for_end
from .job import Job, sha256_of
from .packets import Reader
from .parts import Part, Record

MUXERS = {".mkv": "matroskamux", ".webm": "webmmux", ".mp4": "mp4mux", ".mov": "qtmux"}
QUEUED_BYTES = 8 << 20
TIME_ZERO_NS = 3600 * 10**9


def outputs(job: Job, target: pathlib.Path, is_folder: bool) -> dict[int, pathlib.Path]:
    """Where the output of each input goes: `target` itself, or a file named as the source in that folder.

    Raises InputError where one file would have to hold several inputs, or two would have the same name.
    """
    numbers = [n for n, source in enumerate(job.inputs) if source.error is None]
    if not is_folder:
        if len(job.inputs) > 1:
            raise InputError(f"{target}: the job has {len(job.inputs)} inputs; name a folder (one that is there, or ending in /)")
        return {numbers[0]: target}
    result = {n: target / (pathlib.Path(job.inputs[n].path).stem + ".mkv") for n in numbers}
    if len(set(result.values())) < len(result):
        raise InputError(f"{target}: two inputs have the same file name; plan them in jobs of their own")
    return result


def good_parts(job: Job, folder: pathlib.Path, number: int) -> list[tuple[Part, Record]]:
    """The parts of an input with their records, in order. Raises JobError that names the segments that are not done."""
    numbers = job.of_input(number)
    found, missing = [], []
    for n in numbers:
        part = Part(folder, n)
        record = part.record(job.id)
        if record is None or sha256_of(part.video) != record.sha256:
            missing.append(str(n))
        else:
            found.append((part, record))
    if missing:
        raise JobError(f"{job.inputs[number].path}: segments {', '.join(missing)} of {len(numbers)} are not done, or damaged; run them")
    return found


def decoding_times(pts: list[int]) -> list[int]:
    """Decoding times for packets with these presentation times (ns), in the order of decoding. May be below zero."""
    in_order = sorted(pts)
    delay = max((shown - own for shown, own in zip(in_order, pts)), default=0)
    return [t - delay for t in in_order]


class _Feeder:
    """Puts the packets of all parts into an appsrc."""

    def __init__(self, source: Any, pipeline: Any, origin: int, pts: list[int]) -> None:
        self._source, self._pipeline = source, pipeline
        # Buffers hold no times below zero, and decoding may start before 0: the segment puts 0 at TIME_ZERO_NS.
        shift = TIME_ZERO_NS - origin
        self._times = iter([(p + shift, d + shift) for p, d in zip(pts, decoding_times(pts))])
        self._segment = Gst.Segment()
        self._segment.init(Gst.Format.TIME)
        self._segment.start = self._segment.position = TIME_ZERO_NS
        self._caps: str | None = None

    def feed(self, part: Part, record: Record) -> None:
        """Puts one part's packets in. Raises InputError where the part does not fit those before it."""
        if self._caps is None:
            self._caps = record.coded_caps
        elif record.coded_caps != self._caps:
            here, before = (picture(Gst.Caps.from_string(caps)) for caps in (record.coded_caps, self._caps))
            told = f"its picture is {' '.join(here)}, and that of the part before it {' '.join(before)}" if here != before else \
                f"its video ({record.coded_caps}) is not of the kind of the part before it ({self._caps})"
            raise InputError(f"{part.video}: {told}: the parts cannot be joined without coding them anew")
        count = 0
        with Reader(part.video) as reader:
            for packet, (pts, dts) in zip(reader, itertools.islice(self._times, len(record.packets))):
                while self._source.get_property("current-level-bytes") > QUEUED_BYTES:
                    check(self._pipeline, 20 * Gst.MSECOND)
                buffer = packet.sample.get_buffer().copy()
                buffer.pts, buffer.dts = pts, dts
                self._source.emit("push-sample", Gst.Sample.new(buffer, Gst.Caps.from_string(self._caps), self._segment, None))
                count += 1
        if count != len(record.packets):
            raise JobError(f"{part.video}: {count} packets, and {len(record.packets)} were written")


def _request_pad(mux: Any, caps: Any) -> Any:
    """A new pad of the muxer for audio or subtitles with these caps, or None where it cannot hold them."""
    for template in mux.get_pad_template_list():
        if template.name_template.startswith(("audio", "subtitle")) and template.get_caps().can_intersect(caps):
            return mux.request_pad(template, None, None)
    return None


def _link_other_streams(pipeline: Any, refused: list[str], found: threading.Event) -> None:
    """Links the source's audio and subtitles to the muxer as they are found; video goes nowhere.

    Adds to `refused` what the muxer cannot hold; sets `found` when no more streams will come.
    """
    mux = pipeline.get_by_name("mux")

    def seen(*_: Any) -> Any:
        found.set()
        return Gst.PadProbeReturn.REMOVE

    def take(_: Any, pad: Any) -> None:
        caps = pad.get_current_caps() or pad.query_caps(None)
        kind = caps.get_structure(0).get_name()
        target = None if kind.startswith(("video/", "image/")) else _request_pad(mux, caps)
        if target is None and not kind.startswith(("video/", "image/")):
            refused.append(kind)
        # Without limits: the source is read faster than the video comes, and holding it up could starve the muxer.
        sink = make("queue" if target else "fakesink")
        for name in ("max-size-buffers", "max-size-bytes", "max-size-time") if target else ():
            sink.set_property(name, 0)
        pipeline.add(sink)
        if target is None:
            sink.set_property("sync", False)
            sink.set_property("async", False)
        pad.link(sink.get_static_pad("sink"))
        # parsebin exposes all of its pads before it lets the first packet through any of them.
        pad.add_probe(Gst.PadProbeType.BUFFER, seen)
        if target is not None:
            sink.get_static_pad("src").link(target)
        sink.sync_state_with_parent()

    pipeline.get_by_name("parser").connect("pad-added", take)


def join_input(job: Job, folder: pathlib.Path, number: int, target: pathlib.Path) -> None:
    """Writes the output of one input. Raises JobError, and leaves nothing behind, where that cannot be done."""
    parts = good_parts(job, folder, number)
    source = job.inputs[number]
    muxer = MUXERS.get(target.suffix.lower())
    if muxer is None:
        raise InputError(f"{target}: its name must end in one of {', '.join(MUXERS)}")
    temporary = target.with_name(target.name + ".part")
    pipeline = parse(f"appsrc name=video format=time handle-segment-change=true {muxer} name=mux ! filesink location={quoted(temporary)} "
                     f"filesrc location={quoted(pathlib.Path(source.path))} ! parsebin name=parser", str(target))
    refused: list[str] = []
    found = threading.Event()
    _link_other_streams(pipeline, refused, found)
    video = pipeline.get_by_name("video")
    video.set_property("max-bytes", 0)
    video.link_pads("src", pipeline.get_by_name("mux"), "video_%u")
    feeder = _Feeder(video, pipeline, source.running_origin, [t for _, record in parts for t in record.packets])
    try:
        with running(pipeline):
            # A muxer takes no stream after its first packet, so the video waits until all others are known.
            while not found.wait(0.05):
                check(pipeline)
            if refused:
                raise InputError(f"{target}: {muxer} cannot hold {', '.join(refused)} of the source; take another container, such as .mkv")
            for part, record in parts:
                feeder.feed(part, record)
            video.emit("end-of-stream")
            wait_for_end(pipeline)
        temporary.rename(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
