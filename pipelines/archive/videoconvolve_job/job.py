# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""job.json: what is to be done, written once by `plan` and only read by all else."""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
from dataclasses import asdict, dataclass, field
from typing import Any

from .cuts import Range
from .errors import InputError
from .halo import Halo

FORMAT = 1
FILE_NAME = "job.json"


@dataclass(frozen=True)
class Input:
    """One source file.

    size: bytes. sha256: of the file, as hex. stream_origin, running_origin: pts of stream and running time 0 in GStreamer's
    sense, ns; a seek counts by the first, other streams of the file line up by the second. note: why it could not be cut, or None.
    error: why it takes no part in the job, or None; then it has no segments and the other fields mean nothing.
    """

    path: str
    size: int = 0
    sha256: str = ""
    stream_origin: int = 0
    running_origin: int = 0
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Segment:
    """One piece of work: a range of one input.

    key_pts: pts of its first packet, ns. key, digest: hashes of its first packet and of all of its packets, as hex.
    """

    input: int
    range: Range
    key_pts: int | None
    key: str
    digest: str


@dataclass(frozen=True)
class Job:
    """A whole job. files: sha256 of each file of taps that the filter reads, by path. versions: of what plans and runs it."""

    filter: str
    encoder: str
    convert: str
    lossless: bool
    halo: Halo
    versions: dict[str, str]
    files: dict[str, str]
    inputs: list[Input]
    segments: list[Segment]
    id: str = field(default="")

    def of_input(self, number: int) -> list[int]:
        """The numbers of that input's segments, in order."""
        return [i for i, segment in enumerate(self.segments) if segment.input == number]


def sha256_of(path: pathlib.Path) -> str:
    """The SHA-256 of a file's bytes, as hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_atomically(path: pathlib.Path, text: str) -> None:
    """Writes a file that is there whole or not at all. Raises OSError, and leaves nothing behind, where the disk is full."""
    temporary = path.with_name(f"{path.name}.{os.uname().nodename}-{os.getpid()}.part")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def save(job: Job, folder: pathlib.Path) -> Job:
    """Writes the job into `folder`, which must not hold one yet, and returns it with its id: a hash of its content."""
    path = folder / FILE_NAME
    if path.exists():
        raise InputError(f"{path} is there already: take another folder, or remove it with all that was made for it")
    content = asdict(job)
    content["id"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps({"format": FORMAT, **content}, indent=1) + "\n")
    return load(folder)


def _read(folder: pathlib.Path) -> dict[str, Any]:
    path = folder / FILE_NAME
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no {FILE_NAME}: make one with 'videoconvolve-job plan'") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from None
    if content.pop("format", None) != FORMAT:
        raise InputError(f"{path} was written by another version of videoconvolve-job: plan the job anew")
    return content


def load(folder: pathlib.Path) -> Job:
    """The job in `folder`. Raises InputError where there is none that this version can read."""
    content = _read(folder)
    content["halo"] = Halo(**content["halo"])
    content["inputs"] = [Input(**values) for values in content["inputs"]]
    content["segments"] = [Segment(**{**values, "range": Range(**values["range"])}) for values in content["segments"]]
    return Job(**content)
