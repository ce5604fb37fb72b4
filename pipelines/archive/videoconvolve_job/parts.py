# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a segment leaves in job/parts: the coded video, and a record of its frames that makes it count as done.

    000012.mkv                    the part; its times are those of the source
    000012.json                   its record; written last
    000012.mkv.HOST-PID.part      one that is being written, or was when its worker died
    000012.error.txt              why the last attempt failed
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
from dataclasses import asdict, dataclass
from typing import Iterator

from .errors import JobError
from .job import sha256_of, write_atomically


@dataclass(frozen=True)
class Record:
    """What is known of a finished part.

    job: the id of its job. size, sha256: of the part's file. caps, coded_caps: of what the encoder got and gave. frames: of each,
    its pts in ns (the source's) and its hash (hashes.py). packets: pts of the coded packets in their order.
    decoder: the element that ran. seconds: how long it took.
    """

    job: str
    size: int
    sha256: str
    caps: str
    coded_caps: str
    frames: list[tuple[int, str]]
    packets: list[int]
    decoder: str
    versions: dict[str, str]
    seconds: float


class Part:
    """The files of one segment."""

    def __init__(self, folder: pathlib.Path, number: int) -> None:
        self._stem = folder / "parts" / f"{number:06d}"
        self.video = self._stem.with_suffix(".mkv")
        self.record_path = self._stem.with_suffix(".json")
        self.error_path = self._stem.with_suffix(".error.txt")

    def record(self, job_id: str) -> Record | None:
        """The record of a part that this job made and whose file has the right size; None for any other."""
        try:
            content = json.loads(self.record_path.read_text(encoding="utf-8"))
            content["frames"] = [(pts, digest) for pts, digest in content["frames"]]
            record = Record(**content)
            right = record.job == job_id and self.video.stat().st_size == record.size
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return record if right else None

    def is_good(self, job_id: str) -> bool:
        """True where the part is done and each of its bytes is as it was written."""
        record = self.record(job_id)
        return record is not None and sha256_of(self.video) == record.sha256

    @contextlib.contextmanager
    def writing(self) -> Iterator[pathlib.Path]:
        """A file to write the video to, which is removed again where the block fails. Takes leftovers of dead workers away."""
        for leftover in self.leftovers():
            if _is_dead(leftover):
                leftover.unlink(missing_ok=True)
        temporary = self.video.with_name(f"{self.video.name}.{os.uname().nodename}-{os.getpid()}.part")
        try:
            yield temporary
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def finish(self, temporary: pathlib.Path, record: Record) -> None:
        """Puts the video in its place, then its record. Raises JobError where the disk is full."""
        try:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.rename(self.video)
            write_atomically(self.record_path, json.dumps(asdict(record), separators=(",", ":")) + "\n")
            self.error_path.unlink(missing_ok=True)
        except OSError as error:
            raise JobError(f"{self.video}: {error.strerror}") from None

    def leftovers(self) -> list[pathlib.Path]:
        """Files of attempts at this segment that have not come to an end."""
        return sorted(self.video.parent.glob(f"{self._stem.name}.*.part"))

    def note_failure(self, message: str) -> None:
        """Leaves the reason for `status`, where there is room on the disk for it."""
        with contextlib.suppress(OSError):
            self.error_path.write_text(message + "\n", encoding="utf-8")

    def failure(self) -> str | None:
        """The reason that the last attempt left, or None."""
        try:
            return self.error_path.read_text(encoding="utf-8").strip()
        except OSError:
            return None


def _is_dead(leftover: pathlib.Path) -> bool:
    """True where the worker that wrote the file ran on this machine and is gone."""
    host, _, pid = leftover.name.split(".", 2)[2].removesuffix(".part").rpartition("-")
    if host != os.uname().nodename or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(pid) == os.getpid()
