# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which packets a decoder can start at, by the coded bytes.

Containers and parsers flag every intra picture of H.264 as a key frame, also one that later pictures reach back across.
A segment that started there would decode to other pixels than the whole file does, so for H.264 and HEVC the flag alone
does not count: the packet must hold a unit that the standards define as a point of random access.
"""
from __future__ import annotations

from typing import Iterator

H264_IDR, H264_SEI, H264_SLICES = 5, 6, range(1, 6)
SEI_RECOVERY_POINT = 6
HEVC_RANDOM_ACCESS = range(16, 22)  # BLA, IDR and CRA pictures
HEVC_SLICES = range(0, 32)
H264_PARAMETER_SETS, HEVC_PARAMETER_SETS = range(7, 9), range(32, 35)


def length_prefixed(data: bytes, length_size: int) -> Iterator[bytes]:
    """The units of a packet in which each unit stands behind its length of `length_size` bytes (avc, hvc1)."""
    position = 0
    while position + length_size <= len(data):
        size = int.from_bytes(data[position:position + length_size], "big")
        position += length_size
        yield data[position:position + size]
        position += size


def start_coded(data: bytes) -> Iterator[bytes]:
    """The units of a packet in which each unit stands behind the bytes 0, 0, 1 (byte-stream)."""
    start = data.find(b"\0\0\1")
    while start >= 0:
        following = data.find(b"\0\0\1", start + 3)
        yield data[start + 3:following if following >= 0 else len(data)]
        start = following


def _is_exact_recovery_point(sei: bytes) -> bool:
    """True where the SEI unit holds a recovery point of zero frames: the pictures from here on are right at once.

    A count above zero announces a gradual refresh, which reaches the right pixels only later.
    """
    position = 1
    while position + 2 <= len(sei) and sei[position] != 0x80:
        numbers = []
        for _ in range(2):  # the payload's type, then its size, each in bytes of 255 and a last one
            value = 0
            while position < len(sei) and sei[position] == 255:
                value += 255
                position += 1
            value += sei[position] if position < len(sei) else 0
            position += 1
            numbers.append(value)
        if numbers[0] == SEI_RECOVERY_POINT:
            # The count is an Exp-Golomb number, and of those only 0 starts with a set bit.
            return position < len(sei) and sei[position] & 0x80 != 0
        position += numbers[1]
    return False


def _h264(units: Iterator[bytes]) -> bool:
    for unit in units:
        if not unit:
            continue
        kind = unit[0] & 31
        if kind == H264_SEI and _is_exact_recovery_point(unit):
            return True
        if kind in H264_SLICES:
            return kind == H264_IDR
    return False


def _hevc(units: Iterator[bytes]) -> bool:
    for unit in units:
        if unit and unit[0] >> 1 & 63 in HEVC_SLICES:
            return unit[0] >> 1 & 63 in HEVC_RANDOM_ACCESS
    return False


class Coding:
    """How a stream's packets are to be read, from GStreamer's caps.

    media_type and stream_format: as in the caps (`video/x-h264`, `avc`). codec_data: the decoder's configuration, or None.
    """

    def __init__(self, media_type: str, stream_format: str | None, codec_data: bytes | None) -> None:
        self._h264 = media_type == "video/x-h264"
        self._has_units = media_type in ("video/x-h264", "video/x-h265")
        self._length_size = 0  # of units behind their length; 0: behind start codes
        if self._has_units and stream_format != "byte-stream" and codec_data:
            self._length_size = (codec_data[4 if self._h264 else 21] & 3) + 1

    def _units(self, data: bytes) -> Iterator[bytes]:
        return length_prefixed(data, self._length_size) if self._length_size else start_coded(data)

    def is_random_access(self, data: bytes) -> bool:
        """True where a decoder may start at this packet, which its container or parser has flagged as a key frame.

        For formats other than H.264 and HEVC the flag is enough.
        """
        if not self._has_units:
            return True
        return _h264(self._units(data)) if self._h264 else _hevc(self._units(data))

    def pictures(self, data: bytes) -> Iterator[bytes]:
        """The bytes of the packet's coded pictures.

        GStreamer's parsers put the parameter sets before the first packet after a seek once more, so that they are no
        part of what tells one packet from another. Of other formats it is the whole packet.
        """
        if not self._has_units:
            yield data
            return
        for unit in self._units(data):
            if unit and ((unit[0] & 31) in H264_SLICES if self._h264 else (unit[0] >> 1 & 63) in HEVC_SLICES):
                yield unit

    def parameter_sets(self, data: bytes) -> list[bytes]:
        """The parameter sets that the packet holds, where decoders look for them in packets alone (byte-stream); else none."""
        if not self._has_units or self._length_size:
            return []
        return [unit for unit in self._units(data)
                if unit and ((unit[0] & 31) in H264_PARAMETER_SETS if self._h264 else (unit[0] >> 1 & 63) in HEVC_PARAMETER_SETS)]
