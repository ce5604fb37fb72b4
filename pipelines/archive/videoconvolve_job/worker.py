# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run --segment N: decodes, filters and encodes one segment. Every engine runs this, and nothing else.

    Reader -> appsrc ! decodebin ! [halo and segment] ! filter ! [segment] ! encoder ! matroskamux ! .part file

The first mark keeps what decoders may give beyond the halo from the filter; the second drops the outputs of the halo.
"""
from __future__ import annotations

import contextlib
import itertools
import pathlib
import time
from typing import Any, Iterable, Iterator

from . import __version__
from .cuts import Range
from .errors import InputError, JobError
from .gst import Gst, check, parse, picture, quoted, running, seconds, versions, wait_for_end
from .hashes import FrameHasher
from .job import Input, Job, Segment, load, sha256_of
from .packets import Packet, Reader, range_digest, with_parameter_sets
from .parts import Part, Record

QUEUED_BYTES = 8 << 20  # of coded video before the decoder


def _from_start(packets: Iterator[Packet], segment: Segment) -> Iterator[Packet]:
    """Of the packets from the file's start on, those from the segment's first one on."""
    return itertools.islice(packets, segment.range.first_packet, None)


def _from_index(reader: Reader, packets: Iterator[Packet], segment: Segment, source: Input) -> Iterator[Packet]:
    """The packets from the segment's first one on, found by the file's index; none where the index does not lead there."""
    if segment.key_pts is None or not reader.seek(segment.key_pts, source.stream_origin):
        return
    for packet in packets:
        if packet.pts == segment.key_pts and packet.digest.hex() == segment.key:
            yield packet
            yield from packets
        elif packet.key and packet.pts is not None and packet.pts > segment.key_pts:
            return


class _ParameterSets:
    """The parameter sets that a decoder knows which has seen every packet so far, in the order in which they last came.

    In a byte-stream a parser may put them before its first packet alone, which is not a later segment's first one.
    """

    def __init__(self) -> None:
        self._units: dict[bytes, None] = {}

    def watch(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        """Gives the packets on, and keeps their parameter sets."""
        for packet in packets:
            for unit in packet.parameter_sets:
                self._units.pop(unit, None)
                self._units[unit] = None
            yield packet

    def before(self, packet: Packet) -> Packet:
        """The packet that decoding starts at, with the parameter sets that it lacks."""
        missing = [unit for unit in self._units if unit not in packet.parameter_sets]
        return with_parameter_sets(packet, missing) if missing else packet


class _OtherPacketsError(InputError):
    """The file did not give the packets that were planned."""


def segment_packets(source: Input, segment: Segment, by_index: bool) -> Iterator[Packet]:
    """The packets that the decoder gets, in order.

    by_index: go to them by the file's index, else read the file from its start. Raises _OtherPacketsError, which names the
    file, where they are not those that were planned; some may have been given by then.
    """
    wanted, path = segment.range, pathlib.Path(source.path)
    digests: list[bytes] = []
    known = _ParameterSets()
    with Reader(path) as reader:
        packets = known.watch(reader)
        found = _from_index(reader, packets, segment, source) if by_index else _from_start(packets, segment)
        reason = ""
        try:
            for packet in itertools.islice(found, wanted.packets):
                yield packet if digests else known.before(packet)
                digests.append(packet.digest)
        except InputError as error:  # the plan read all of it
            reason = f" ({str(error).removeprefix(f'{path}: ')})"
    if reason or range_digest(iter(digests)) != segment.digest:
        raise _OtherPacketsError(f"{path}: its video is not what it was when the job was planned, "
                                 f"from {seconds(wanted.halo_start or 0)} on{reason}; plan it anew")


class _Recorder:
    """The probes of one run: lets the right frames through and keeps what the record needs."""

    def __init__(self, wanted: Range, path: str) -> None:
        self._range, self._path = wanted, path
        self._hasher: FrameHasher | None = None
        self.caps = self.coded_caps = ""
        self.frames: list[tuple[int, str]] = []
        self.packets: list[int] = []
        self.fault: Exception | None = None

    @staticmethod
    def _within(buffer: Any, start: int | None, end: int | None) -> bool:
        return (start is None or buffer.pts >= start) and (end is None or buffer.pts < end)

    def decoded(self, _: Any, info: Any) -> Any:
        """Before the filter: frames of the halo and the segment go on."""
        keep = self._within(info.get_buffer(), self._range.halo_start, self._range.halo_end)
        return Gst.PadProbeReturn.OK if keep else Gst.PadProbeReturn.DROP

    def filtered(self, _: Any, info: Any) -> Any:
        """After the filter: frames of the segment go on."""
        keep = self._within(info.get_buffer(), self._range.start, self._range.end)
        return Gst.PadProbeReturn.OK if keep else Gst.PadProbeReturn.DROP

    def negotiated(self, _: Any, info: Any) -> Any:
        """At the encoder: what frames are to come. Encoders and muxers refuse others than they began with in words of their own."""
        event = info.get_event()
        if event.type != Gst.EventType.CAPS:
            return Gst.PadProbeReturn.OK
        try:
            caps = event.parse_caps()
            # What changes before the segment's first frame is not in its video.
            if self.frames and caps.to_string() != self.caps:
                before, after = picture(Gst.Caps.from_string(self.caps)), picture(caps)
                told = f"its picture changes from {' '.join(before)} to {' '.join(after)}" if before != after else \
                    f"its video changes from {self.caps} to {caps.to_string()}"
                raise InputError(f"{self._path}: {told} after {seconds(self.frames[-1][0])}; "
                                 "split the file there and plan the pieces as inputs of their own")
            self._hasher, self.caps = FrameHasher(caps), caps.to_string()
        except Exception as error:  # as below
            self.fault = self.fault or error
        return Gst.PadProbeReturn.OK

    def encoding(self, _: Any, info: Any) -> Any:
        """At the encoder: each frame is hashed."""
        try:
            buffer = info.get_buffer()
            if self.fault is None and self._hasher is not None:
                self.frames.append((buffer.pts, self._hasher.digest(buffer)))
        except Exception as error:  # kept for the thread that waits: nothing may leave a probe
            self.fault = self.fault or error
        return Gst.PadProbeReturn.OK

    def encoded(self, pad: Any, info: Any) -> Any:
        """After the encoder: times of the packets in their order. An encoder may shift its pts and its segment alike."""
        buffer = info.get_buffer()
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
            self.coded_caps = pad.get_current_caps().to_string()
            self.packets.append(segment.to_running_time(Gst.Format.TIME, buffer.pts))
        return Gst.PadProbeReturn.OK


def _description(job: Job, target: pathlib.Path) -> str:
    """The launch line of one run."""
    queue = "queue max-size-buffers=4 max-size-bytes=0 max-size-time=0"
    return (f"appsrc name=source format=time ! decodebin name=decoder ! {queue} name=decoded ! {job.convert} "
            f"! videoconvolve {job.filter} ! {queue} name=filtered ! {job.convert} ! identity name=encoding "
            f"! {job.encoder} ! identity name=encoded ! matroskamux ! filesink location={quoted(target)}")


def _decoder_of(pipeline: Any) -> str:
    """The factory's name of the decoder that decodebin chose; empty where the video was not coded."""
    iterator = pipeline.get_by_name("decoder").iterate_recurse()
    while (item := iterator.next())[0] == Gst.IteratorResult.OK:
        factory = item[1].get_factory()
        if factory is not None and "Decoder/Video" in (factory.get_metadata("klass") or ""):
            return str(factory.get_name())
    return ""


def _process(job: Job, segment: Segment, target: pathlib.Path) -> tuple[_Recorder, str]:
    """Runs the segment into `target`; returns what was recorded, and the decoder's name.

    An index may lead astray, or past pictures that belong to the segment; the file is read from its start then.
    """
    if segment.range.first_packet > 0:
        with contextlib.suppress(_OtherPacketsError):
            return _attempt(job, segment, target, by_index=True)
    return _attempt(job, segment, target, by_index=False)


def _attempt(job: Job, segment: Segment, target: pathlib.Path, by_index: bool) -> tuple[_Recorder, str]:
    recorder = _Recorder(segment.range, job.inputs[segment.input].path)
    pipeline = parse(_description(job, target), "the job's pipeline")
    for name, pad, probe in (("decoded", "sink", recorder.decoded), ("filtered", "sink", recorder.filtered),
                             ("encoding", "src", recorder.encoding), ("encoded", "src", recorder.encoded)):
        pipeline.get_by_name(name).get_static_pad(pad).add_probe(Gst.PadProbeType.BUFFER, probe)
    pipeline.get_by_name("encoding").get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, recorder.negotiated)
    source = pipeline.get_by_name("source")
    source.set_property("max-bytes", 0)
    try:
        with running(pipeline):
            for packet in segment_packets(job.inputs[segment.input], segment, by_index):
                # Waiting here, not in appsrc, so that an error further down is seen.
                while source.get_property("current-level-bytes") > QUEUED_BYTES:
                    check(pipeline, 20 * Gst.MSECOND)
                source.emit("push-sample", packet.sample)
            source.emit("end-of-stream")
            wait_for_end(pipeline)
            decoder = _decoder_of(pipeline)
    except _OtherPacketsError:
        raise
    except JobError:
        if recorder.fault is None:
            raise
    if recorder.fault is not None:  # it came first, and says more than what followed from it
        raise recorder.fault
    return recorder, decoder


def _check_frames(recorder: _Recorder, source: Input, wanted: Range) -> None:
    """Raises InputError where the decoder did not give the frames that the packets promise."""
    got = len(recorder.frames)
    if got == 0 or wanted.frames is not None and got != wanted.frames:
        raise InputError(f"{source.path}: {wanted.frames or 'some'} frames were to come from {seconds(wanted.start or 0)} to "
                         f"{seconds(wanted.end)}, and {got} came out of the decoder: the video is damaged there")


def _check_machine(job: Job, source: Input) -> None:
    """Raises InputError where the file, the taps or the versions here are not those that the job was planned with."""
    path = pathlib.Path(source.path)
    if not path.is_file():
        raise InputError(f"{path}: no such file on this machine")
    if path.stat().st_size != source.size:
        raise InputError(f"{path}: it has {path.stat().st_size} bytes, and had {source.size} when the job was planned; plan it anew")
    for taps, digest in job.files.items():
        if not pathlib.Path(taps).is_file() or sha256_of(pathlib.Path(taps)) != digest:
            raise InputError(f"{taps}: these taps are not those that the job was planned with")


def differing_versions(job: Job) -> list[str]:
    """What has another version here than where the job was planned, as text."""
    here = {"videoconvolve-job": __version__, **versions()}
    return [f"{name} {here.get(name, '(none)')} (planned with {version})"
            for name, version in job.versions.items() if here.get(name) != version]


def run_segment(folder: pathlib.Path, number: int, any_version: bool = False) -> bool:
    """Makes part `number` of the job in `folder`; False where it was there already, whole.

    Raises InputError where another attempt would fail alike, JobError where it might not.
    """
    job = load(folder)
    if not 0 <= number < len(job.segments):
        raise InputError(f"segment {number}: the job has segments 0 to {len(job.segments) - 1}")
    part = Part(folder, number)
    if part.is_good(job.id):
        return False
    segment = job.segments[number]
    source = job.inputs[segment.input]
    try:
        if (differing := differing_versions(job)) and not any_version:
            raise InputError(f"other versions here: {', '.join(differing)}; plan anew, or take --any-version if the frames may differ")
        _check_machine(job, source)
        begin = time.monotonic()
        with part.writing() as target:
            recorder, decoder = _process(job, segment, target)
            _check_frames(recorder, source, segment.range)
            part.finish(target, Record(job.id, target.stat().st_size, sha256_of(target), recorder.caps, recorder.coded_caps, recorder.frames,
                                       recorder.packets, decoder, versions(), round(time.monotonic() - begin, 3)))
    except JobError as error:
        part.note_failure(str(error))
        raise
    return True
