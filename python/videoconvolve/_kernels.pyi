# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
from collections.abc import Sequence
from typing import Any, Union

import numpy.typing as npt

# Whether this build has the CUDA backend: all below filter_frames is there only with it.
have_cuda: bool

# Frames have shape (frames, height, width, components). A tap is an int, a float, or numerator and denominator. The
# arguments have no names in the binding, hence the slash.
def filter_frames(frames: npt.NDArray[Any], out: npt.NDArray[Any], taps: Sequence[Union[int, float, tuple[int, int]]],
                  depth: int, height: int, width: int, operation: str, scale: float, normalize: bool, bias: float,
                  border: str, border_value: float, bits: int, algorithm: str, threads: int, /) -> None: ...

# Addresses and strides in bytes; `stream` is a handle, or 1 for the legacy default stream and 2 for the thread's own.
def filter_cuda_frames(frames: int, frames_strides: Sequence[int], out: int, out_strides: Sequence[int],
                       shape: tuple[int, int, int, int], planar: bool, dtype: str, stream: int,
                       taps: Sequence[Union[int, float, tuple[int, int]]], depth: int, height: int, width: int,
                       operation: str, scale: float, normalize: bool, bias: float, border: str, border_value: float,
                       bits: int, algorithm: str, /) -> None: ...

# The number of the GPU whose memory an address is in.
def device_of(address: int, /) -> int: ...

# Later work on the second stream comes after what is queued on the first.
def order_streams(device: int, first: int, second: int, /) -> None: ...

# Waits for all that is queued on a GPU.
def synchronize(device: int, /) -> None: ...

# Address, shape, strides in elements, DLPack's type code, bits, and whether it may only be read.
def read_dlpack(capsule: object, /) -> tuple[int, list[int], list[int], int, int, bool]: ...
def make_dlpack(address: int, shape: Sequence[int], strides: Sequence[int], code: int, bits: int, device: int,
                readonly: bool, owner: object, versioned: bool, /) -> object: ...

class CudaMemory:
    def __init__(self, size: int, device: int, /) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> int: ...
