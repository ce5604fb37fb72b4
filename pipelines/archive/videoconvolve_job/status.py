# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""status: what is done, what failed and why. Compares sizes alone, so that it is quick over many parts."""
from __future__ import annotations

import pathlib
from dataclasses import dataclass

from .job import Job
from .parts import Part


@dataclass(frozen=True)
class InputStatus:
    """One input: how many of its segments are done, their frames, why others failed (by segment), unfinished files."""

    path: str
    error: str | None
    note: str | None
    segments: int
    done: int
    frames: int
    failures: dict[int, str]
    unfinished: int

    @property
    def complete(self) -> bool:
        """True where nothing of this input is left to do."""
        return self.error is None and self.done == self.segments


def status(job: Job, folder: pathlib.Path) -> list[InputStatus]:
    """The state of each input, in the order of the job."""
    result = []
    for number, source in enumerate(job.inputs):
        numbers = job.of_input(number)
        parts = {n: Part(folder, n) for n in numbers}
        records = {n: part.record(job.id) for n, part in parts.items()}
        failures = {n: reason for n, part in parts.items() if records[n] is None and (reason := part.failure()) is not None}
        result.append(InputStatus(source.path, source.error, source.note, len(numbers),
                                  sum(r is not None for r in records.values()),
                                  sum(len(r.frames) for r in records.values() if r is not None), failures,
                                  sum(len(part.leftovers()) for part in parts.values())))
    return result


def text(states: list[InputStatus]) -> str:
    """The states as lines for a terminal."""
    lines = []
    for state in states:
        if state.error is not None:
            lines.append(f"{state.path}: left out: {state.error}")
            continue
        unfinished = f", {state.unfinished} unfinished files" if state.unfinished else ""
        lines.append(f"{state.path}: {state.done} of {state.segments} segments, {state.frames} frames{unfinished}")
        if state.note is not None:
            lines.append(f"  not cut: {state.note}")
        lines += [f"  segment {n} failed: {reason}" for n, reason in sorted(state.failures.items())]
    return "\n".join(lines)
