# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""verify: decodes parts or a joined video and holds each frame against what was recorded.

A lossless encoder has to give back the very frames that the filter gave. A lossy one is held to the parts: a joined video
decodes to the frames that its parts decode to.
"""
from __future__ import annotations

import itertools
import pathlib
from typing import Any, Iterator

from .errors import JobError
from .gst import Gst, check, parse, quoted, running, seconds
from .hashes import FrameHasher
from .job import Job
from .join import good_parts
from .parts import Record

# Matroska keeps times to the millisecond.
TIME_TOLERANCE_NS = 1_000_000


def _time(path: pathlib.Path, sample: Any) -> int:
    """When a frame is shown, ns. MP4 says by an edit list where time 0 is; GStreamer lets Matroska's start at its first frame."""
    pts = sample.get_buffer().pts
    if path.suffix.lower() in (".mkv", ".webm"):
        return int(pts)
    return int(sample.get_segment().to_stream_time(Gst.Format.TIME, pts))


def decoded(path: pathlib.Path, caps: str) -> Iterator[tuple[int, str]]:
    """Time (ns) and hash of each frame of a file, in order, in the pixel format of `caps`. Raises JobError naming the file."""
    pixels = Gst.Caps.from_string(caps).get_structure(0).get_string("format")
    pipeline = parse(f"filesrc location={quoted(path)} ! decodebin ! videoconvert ! video/x-raw,format={pixels} "
                     "! appsink name=sink sync=false max-buffers=8", str(path))
    sink = pipeline.get_by_name("sink")
    hasher: FrameHasher | None = None
    try:
        with running(pipeline):
            while True:
                sample = sink.emit("try-pull-sample", Gst.SECOND)
                if sample is not None:
                    hasher = hasher or FrameHasher(sample.get_caps())
                    yield _time(path, sample), hasher.digest(sample.get_buffer())
                elif check(pipeline) or sink.get_property("eos"):
                    return
    except JobError as error:
        raise JobError(f"{path}: {error}") from None


def _compare(name: str, expected: Iterator[tuple[int, str]], actual: Iterator[tuple[int, str]]) -> int:
    """The number of frames, where all are alike; raises JobError that names the first that is not."""
    count = 0
    for wanted, got in itertools.zip_longest(expected, actual):
        if wanted is None or got is None:
            raise JobError(f"{name}: {'more' if wanted is None else 'fewer'} frames than were recorded: {count} are alike")
        if abs(wanted[0] - got[0]) > TIME_TOLERANCE_NS:
            raise JobError(f"{name}: frame {count} is at {seconds(got[0])}, and was recorded at {seconds(wanted[0])}")
        if wanted[1] != got[1]:
            raise JobError(f"{name}: frame {count}, at {seconds(got[0])}, is not the one that was recorded")
        count += 1
    return count


def _recorded(records: list[Record], origin: int) -> Iterator[tuple[int, str]]:
    return ((pts - origin, digest) for record in records for pts, digest in record.frames)


def verify_input(job: Job, folder: pathlib.Path, number: int, joined: pathlib.Path | None) -> int:
    """Checks the parts of one input, or a video joined from them; returns the number of frames found alike.

    Raises JobError that names the file and the first frame that differs.
    """
    parts = good_parts(job, folder, number)
    records = [record for _, record in parts]
    origin = job.inputs[number].running_origin
    if joined is not None:
        if job.lossless:
            expected = _recorded(records, origin)
        else:
            expected = ((t - origin, digest) for part, record in parts for t, digest in decoded(part.video, record.caps))
        return _compare(str(joined), expected, decoded(joined, records[0].caps))
    count = 0
    for part, record in parts:
        frames = decoded(part.video, record.caps)
        if not job.lossless:  # what a lossy encoder made of a frame is not known, so only count and times are compared
            frames = ((t, digest) for (t, _), (_, digest) in itertools.zip_longest(frames, record.frames, fillvalue=(0, "")))
        count += _compare(str(part.video), iter(record.frames), frames)
    return count
