# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One hash a frame: SHA-256 of its samples, plane after plane, rows without padding.

That is what `ffmpeg -i FILE -f framehash -hash sha256 -` prints for the same pixels, so that anybody can check a part
with another program.
"""
from __future__ import annotations

import hashlib
from typing import Any

from .errors import JobError
from .gst import Gst, GstVideo


class FrameHasher:
    """Hashes frames of one format; made from the caps of a raw video stream. May be used from any one thread."""

    def __init__(self, caps: Any) -> None:
        info = GstVideo.VideoInfo.new_from_caps(caps)
        if info is None:
            raise JobError(f"no raw video: {caps.to_string()}")
        self._info = info
        self._rows = [self._plane_rows(plane) for plane in range(info.finfo.n_planes)]

    def _plane_rows(self, plane: int) -> tuple[int, int]:
        """Bytes that hold samples in each row of the plane, and its rows."""
        info, finfo = self._info, self._info.finfo
        width = rows = 0
        for component in range(finfo.n_components):
            if finfo.plane[component] == plane:
                samples = -((-info.width) >> finfo.w_sub[component])
                width = max(width, samples * finfo.pixel_stride[component])
                rows = max(rows, -((-info.height) >> finfo.h_sub[component]))
        return width, rows

    def digest(self, buffer: Any) -> str:
        """The hash of one frame, as hex. Raises JobError for a buffer that cannot be read or is too small."""
        meta = GstVideo.buffer_get_video_meta(buffer)
        layout = meta if meta is not None else self._info
        ok, mapped = buffer.map(Gst.MapFlags.READ)
        if not ok:
            raise JobError("a frame's memory cannot be read")
        try:
            data, result = memoryview(mapped.data), hashlib.sha256()
            for plane, (width, rows) in enumerate(self._rows):
                offset, stride = layout.offset[plane], layout.stride[plane]
                if offset + stride * (rows - 1) + width > len(data):
                    raise JobError(f"a frame of {len(data)} bytes is smaller than its caps say")
                if stride == width:
                    result.update(data[offset:offset + width * rows])
                    continue
                for row in range(offset, offset + stride * rows, stride):
                    result.update(data[row:row + width])
            return result.hexdigest()
        finally:
            buffer.unmap(mapped)
