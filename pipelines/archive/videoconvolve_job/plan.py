# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""plan: reads the packets of each input and writes job.json."""
from __future__ import annotations

import pathlib

from . import __version__
from .cuts import cut, whole, why_whole
from .errors import InputError
from .gst import parse_bin, picture, seconds, versions
from .halo import Halo, halo_of, kernel_files
from .job import Input, Job, Segment, save, sha256_of
from .packets import Reader, range_digest

DEFAULT_ENCODER = "avenc_ffv1"
DEFAULT_CONVERT = "videoconvert"


def plan_input(number: int, path: pathlib.Path, halo: Halo, length: int) -> tuple[Input, list[Segment]]:
    """One input and its segments of at least `length` ns. Raises InputError, which names the file, where it cannot be read."""
    pts: list[int | None] = []
    keys, shown, digests = [], [], []
    mapping = None
    size: tuple[str, ...] = ()
    with Reader(path) as reader:
        for packet in reader:
            new = packet.sample.get_segment()
            # A further edit has a stream time of its own; Matroska's demuxer may only move the start, after its first packet.
            if mapping is not None and new.time != mapping.time:
                raise InputError(f"{path}: its edit list holds several edits; copy it into one timeline first (ffmpeg -i IN -c copy OUT.mkv)")
            mapping = new
            # One output holds pictures of one size. The parsers of some codecs tell it; of others the worker sees it.
            here = picture(packet.sample.get_caps()) or size
            if size and here != size:
                raise InputError(f"{path}: its picture changes from {' '.join(size)} to {' '.join(here)} after {len(pts)} frames "
                                 f"({seconds(packet.pts or 0)}); "
                                 "split the file there and plan the pieces as inputs of their own")
            size = here
            pts.append(packet.pts)
            keys.append(packet.key)
            shown.append(packet.shown)
            digests.append(packet.digest)
    if mapping is None:
        raise InputError(f"{path}: it holds no video packet")
    note = why_whole(pts, keys, shown)
    ranges = whole(len(pts), mapping.start) if note else cut(pts, keys, shown, halo, length)
    segments = [Segment(number, r, pts[r.first_packet], digests[r.first_packet].hex(),
                        range_digest(iter(digests[r.first_packet:r.first_packet + r.packets]))) for r in ranges]
    return Input(str(path), path.stat().st_size, sha256_of(path), stream_origin=mapping.start - mapping.time,
                 running_origin=mapping.start - mapping.base, note=note), segments


def plan(paths: list[pathlib.Path], folder: pathlib.Path, filter_text: str, seconds: float,
         encoder: str = DEFAULT_ENCODER, convert: str = DEFAULT_CONVERT, lossless: bool = False) -> Job:
    """Plans the job and writes it into `folder`; returns it.

    A file that cannot be read is in the job with its error and no segments. Raises InputError for a fault in the filter or
    the encoder, and where no file at all can be read.
    """
    for path in kernel_files(filter_text):
        if not path.is_absolute():
            raise InputError(f"kernel-location={path}: give the whole path, as workers may run in another folder")
    halo = halo_of(filter_text)
    parse_bin(encoder, f"--encoder '{encoder}'")
    parse_bin(convert, f"--convert '{convert}'")
    inputs: list[Input] = []
    segments: list[Segment] = []
    for path in paths:
        path = path.absolute()
        try:
            found, its_segments = plan_input(len(inputs), path, halo, int(seconds * 1e9))
        except (InputError, OSError) as error:
            found, its_segments = Input(str(path), error=str(error)), []
        inputs.append(found)
        segments += its_segments
    if not segments:
        raise InputError("; ".join(i.error or "" for i in inputs) or "no input was given")
    files = {str(path): sha256_of(path) for path in kernel_files(filter_text)}
    job = Job(filter_text, encoder, convert, lossless or encoder == DEFAULT_ENCODER, halo,
              {"videoconvolve-job": __version__, **versions()}, files, inputs, segments)
    return save(job, folder)
