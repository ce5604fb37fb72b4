# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a video is cut: plain arithmetic on the times of its packets.

    frames by time   ... k . . i . . . . . . . . . j . . ...     k: a key frame, where decoding starts
                         |halo|       segment      |halo|        i: first frame of the segment; j: first of the next

A segment starts where the halo before it starts at a key frame, so that no frame is decoded in vain before the halo.
Frames are sorted by time; packets stand in the order of decoding, which B-frames make another one.
"""
from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Sequence

from .halo import Halo


@dataclass(frozen=True)
class Range:
    """One segment of a file. Times are pts in ns; packets are counted from 0 in the order of decoding.

    start, end: the frames with start <= pts < end are the segment's. halo_start, halo_end: those the filter gets.
    frames, halo_before, halo_after: how many these are. first_packet, packets: what the decoder gets.
    A file that cannot be cut has no start, no end and no `frames`: whatever comes out of the decoder counts.
    """

    start: int | None
    end: int | None
    halo_start: int | None
    halo_end: int | None
    frames: int | None
    halo_before: int
    halo_after: int
    first_packet: int
    packets: int


def whole(packets: int, shown_from: int) -> list[Range]:
    """The single range of a file that cannot be cut, whose edit list shows it from the pts `shown_from` (ns) on."""
    return [Range(None, None, shown_from, None, None, 0, 0, 0, packets)]


def why_whole(pts: Sequence[int | None], keys: Sequence[bool], shown: Sequence[bool]) -> str | None:
    """The reason why a file with these packets cannot be cut, as text for the user; None where it can."""
    if not any(keys):
        return "no packet is a point where decoding may start"
    if any(t is None for t in pts):
        return "packets without a timestamp"
    if len(set(pts)) < len(pts):
        return "packets that share a timestamp"
    if not any(key and visible for key, visible in zip(keys, shown)):
        return "its edit list shows no packet where decoding may start"
    return None


def _decodable_from(key: int, order: Sequence[int], earliest_after: Sequence[int]) -> bool:
    """True where the frame at `key` and all frames after it come no earlier in decoding than it does."""
    return earliest_after[key] >= order[key]


def cut(pts: Sequence[int | None], keys: Sequence[bool], shown: Sequence[bool], halo: Halo, length: int) -> list[Range]:
    """The ranges of one file, in order, each at least `length` ns long, but for the last, which has at least half of that.

    pts: the time of each packet; keys: decoding may start there; shown: the file's edit list shows it. Frames that no
    decoder could give (before the first key frame) belong to no range. Needs why_whole() to be None.
    """
    first = keys.index(True)
    start = pts[first] or 0
    # The frames by time: (pts, packet).
    frames = sorted((t, i) for i, t in enumerate(pts) if i >= first and t is not None and t >= start and shown[i])
    times, order = [t for t, _ in frames], [i for _, i in frames]
    earliest_after = list(order)
    for i in range(len(order) - 2, -1, -1):
        earliest_after[i] = min(earliest_after[i], earliest_after[i + 1])

    # (first frame of the range, frame at which decoding starts for it). The first range starts at the true border.
    starts = [(0, 0)]
    for key in range(len(frames)):
        if not keys[order[key]] or not _decodable_from(key, order, earliest_after):
            continue
        begin = max(key + halo.before, bisect.bisect_left(times, times[key] + halo.hold))
        if begin >= len(frames):
            break
        if times[begin] - times[starts[-1][0]] >= length and times[-1] - times[begin] >= length // 2:
            starts.append((begin, key))

    ranges = []
    for number, (begin, key) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else len(frames)
        halo_end = min(end + halo.after, len(frames))
        first_packet = order[key] if number > 0 else first
        last_packet = max(order[key:halo_end])
        ranges.append(Range(times[begin], times[end] if end < len(frames) else None,
                            times[key], times[halo_end] if halo_end < len(frames) else None,
                            end - begin, begin - key, halo_end - end, first_packet, last_packet - first_packet + 1))
    return ranges
