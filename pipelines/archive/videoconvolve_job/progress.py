# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One line of progress for a whole job: tqdm's bar where tqdm is installed, else a line a segment. All on stderr."""
from __future__ import annotations

import pathlib
import sys
from typing import Any

from .job import Job


def _bar(total: int) -> Any:
    """A bar of tqdm over `total` frames, or None."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="frame", file=sys.stderr, dynamic_ncols=True)


class Progress:
    """Counts the frames of segments that came to their end, and keeps those that failed."""

    def __init__(self, job: Job, numbers: list[int]) -> None:
        self._job = job
        self._left = len(numbers)
        self._bar = _bar(sum(job.segments[n].range.frames or 0 for n in numbers))
        self.failed: dict[int, str] = {}

    def report(self, number: int, reason: str | None) -> None:
        """One segment has come to its end: `reason` says why it failed, or is None."""
        self._left -= 1
        segment = self._job.segments[number]
        name = pathlib.Path(self._job.inputs[segment.input].path).name
        if reason is not None:
            self.failed[number] = reason
        line = f"segment {number} of {name}: " + ("done" if reason is None else f"FAILED: {reason}")
        if self._bar is None:
            print(f"{line}, {self._left} to go", file=sys.stderr)
            return
        if reason is not None:
            self._bar.write(line, file=sys.stderr)
        self._bar.update(segment.range.frames or 0)

    def close(self) -> None:
        """Ends the bar's line."""
        if self._bar is not None:
            self._bar.close()
