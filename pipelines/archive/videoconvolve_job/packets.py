# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The coded packets of a file's video, in the order of decoding, without decoding any."""
from __future__ import annotations

import hashlib
import pathlib
import threading
from dataclasses import dataclass, replace
from typing import Any, Iterable, Iterator

from .errors import InputError, JobError
from .gst import Gst, check, make, parse, running
from .keyframes import Coding

DIGEST_BYTES = 16
START_TIMEOUT_S = 60
# Longer than any encoder puts between decoding a picture and showing it.
SEEK_MARGIN_NS = 2 * 10**9


@dataclass(frozen=True)
class Packet:
    """One coded picture.

    pts: presentation timestamp in ns as the demuxer gives it, or None. shown: False where the file's edit list hides it.
    key: a decoder may start here. digest: hash of the coded picture. sample: GStreamer's buffer with its caps and segment.
    parameter_sets: those in the packet, of H.264 and HEVC as byte-stream; such a stream's caps hold none.
    """

    pts: int | None
    shown: bool
    key: bool
    digest: bytes
    sample: Any
    parameter_sets: list[bytes]


def _coding(caps: Any) -> Coding:
    """How packets with these caps are to be read."""
    structure = caps.get_structure(0)
    codec = structure.get_value("codec_data") if structure.has_field("codec_data") else None
    return Coding(structure.get_name(), structure.get_string("stream-format"),
                  codec.extract_dup(0, codec.get_size()) if codec else None)


def _packet(sample: Any) -> Packet:
    buffer, segment, coding = sample.get_buffer(), sample.get_segment(), _coding(sample.get_caps())
    data = buffer.extract_dup(0, buffer.get_size())
    pts = None if buffer.pts == Gst.CLOCK_TIME_NONE else buffer.pts
    key = not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT) and coding.is_random_access(data)
    shown = pts is not None and pts >= segment.start and (segment.stop == Gst.CLOCK_TIME_NONE or pts < segment.stop)
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for picture in coding.pictures(data):
        digest.update(picture)
    return Packet(pts, shown, key, digest.digest(), sample, coding.parameter_sets(data))


def with_parameter_sets(packet: Packet, units: Iterable[bytes]) -> Packet:
    """The packet with these parameter sets before its own bytes."""
    old = packet.sample.get_buffer()
    buffer = Gst.Buffer.new_wrapped(b"".join(b"\0\0\0\1" + unit for unit in units)).append(old.copy())
    buffer.pts, buffer.dts, buffer.duration = old.pts, old.dts, old.duration
    buffer.set_flags(old.get_flags())
    return replace(packet, sample=Gst.Sample.new(buffer, packet.sample.get_caps(), packet.sample.get_segment(), None))


class Reader:
    """Reads one file's packets; use it in a `with` block, from one thread. Other streams of the file are thrown away."""

    def __init__(self, path: pathlib.Path) -> None:
        """Opens the file. Raises InputError that names it where it is absent, damaged or holds no video."""
        self.path = path
        if not path.is_file():
            raise InputError(f"{path}: no such file")
        self._sink: Any = None
        self._found = threading.Event()
        self._pipeline = parse("filesrc name=source ! parsebin name=parser", str(path))
        self._pipeline.get_by_name("source").set_property("location", str(path))
        parser = self._pipeline.get_by_name("parser")
        parser.connect("pad-added", self._take)

    def _take(self, _: Any, pad: Any) -> None:
        """Gives the first video stream to an appsink, and every other stream to a fakesink."""
        kind = (pad.get_current_caps() or pad.query_caps(None)).get_structure(0).get_name()
        if self._sink is None and kind.startswith(("video/", "image/")):
            sink = self._sink = make("appsink")
            sink.set_property("max-buffers", 64)
        else:
            sink = make("fakesink")
        sink.set_property("sync", False)
        sink.set_property("async", False)  # no waiting for the other streams' first packets
        self._pipeline.add(sink)
        pad.link(sink.get_static_pad("sink"))
        sink.sync_state_with_parent()
        if sink is self._sink:
            self._found.set()

    def __enter__(self) -> Reader:
        self._running = running(self._pipeline)
        try:
            self._running.__enter__()
            for _ in range(START_TIMEOUT_S * 10):
                ended = check(self._pipeline)
                if self._found.wait(0.1) or ended:
                    break
            if self._sink is None:
                raise InputError("it holds no video that GStreamer can find")
        except JobError as error:
            self._pipeline.set_state(Gst.State.NULL)
            raise InputError(f"{self.path}: {error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._pipeline.set_state(Gst.State.NULL)

    def seek(self, pts: int, origin: int) -> bool:
        """Goes to a key frame well before `pts` (ns; `origin` is the pts of stream time 0); False where it cannot.

        Not to one that stands at `pts`: parsers drop what comes before the time of a seek, and the pictures of an open
        GOP that are shown before its key frame follow it.
        """
        if self._sink.emit("try-pull-sample", START_TIMEOUT_S * Gst.SECOND) is None:  # the demuxer is ready when this is there
            return False
        flags = Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT | Gst.SeekFlags.SNAP_BEFORE
        return bool(self._sink.send_event(Gst.Event.new_seek(
            1.0, Gst.Format.TIME, flags, Gst.SeekType.SET, max(0, pts - origin - SEEK_MARGIN_NS), Gst.SeekType.NONE, 0)))

    def __iter__(self) -> Iterator[Packet]:
        """The packets from here to the end. Raises InputError that names the file where it is damaged."""
        while True:
            sample = self._sink.emit("try-pull-sample", Gst.SECOND)
            if sample is not None:
                yield _packet(sample)
                continue
            try:
                check(self._pipeline)
            except JobError as error:
                raise InputError(f"{self.path}: {error}") from None
            if self._sink.get_property("eos"):
                return


def range_digest(digests: Iterator[bytes]) -> str:
    """One hash, as hex, for a run of packets, from the digests of each in the order of decoding."""
    whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for digest in digests:
        whole.update(digest)
    return whole.hexdigest()
