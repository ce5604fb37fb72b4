# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays in CUDA memory: those of other libraries seen by one form, and DeviceArray for those that belong to none."""
from __future__ import annotations

import dataclasses
import sys
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _kernels

_CUDA_DEVICES = (2, 13)  # DLPack's numbers: CUDA memory, and managed memory
_LEGACY_STREAM = 1


@dataclasses.dataclass(frozen=True)
class View:
    """Where an array's samples lie in CUDA memory, and when they may be read.

    Strides are in bytes. `stream` is the handle of the stream whose work the samples come after; 1 is the legacy
    default stream. `keep` holds the memory.
    """
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    readonly: bool
    stream: int
    keep: Any


class DeviceArray:
    """An array in the memory of an NVIDIA GPU, for any library that takes such arrays.

    cupy.asarray(array) and torch.from_dlpack(array) see the same memory without a copy, by the CUDA Array Interface
    (version 3) and DLPack. It holds its memory as long as it, or what was made of it, is alive.

    Attributes:
        shape: of a plane of video (height, width), or (height, width, components) where they are interleaved.
        strides: bytes from one element to the next, for each axis; rows may lie further apart than they are long.
        dtype: NumPy's.
        device: number of the GPU.
        readonly: whether it may only be read. Its capsules say so to consumers of DLPack 1.0 or later; others get a
            BufferError.
    """

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: npt.DTypeLike, device: int,
                 owner: Any, *, readonly: bool = False, stream: Optional[int] = None) -> None:
        """Describe memory that `owner` holds; `stream` is the one whose work it waits for, None for finished work."""
        self.shape = shape
        self.strides = strides
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.device = device
        self.readonly = readonly
        self._address = address
        self._owner = owner
        self._stream = stream

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def address(self) -> int:
        """Address of the first element.

        Raises:
            RuntimeError: the array was released.
        """
        if self._owner is None:
            raise RuntimeError("the array was released, and its memory is no longer its own")
        return self._address

    def release(self) -> None:
        """Give the memory back now, once the GPU has done all that is queued: a buffer of GStreamer's is unmapped.

        What other libraries made of the array may no longer be used. Calling it again does nothing.
        """
        owner, self._owner = self._owner, None
        if hasattr(owner, "release"):
            owner.release()

    def __enter__(self) -> DeviceArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self.address, self.readonly), "stream": self._stream}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA_DEVICES[0], self.device

    def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> object:
        """Return a capsule; work on `stream` (None: the legacy default stream; -1: no matter) comes after the array's."""
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError(f"this array gives its own memory on GPU {self.device} and no copies")
        versioned = max_version is not None and max_version[0] >= 1
        if self.readonly and not versioned:
            raise BufferError("this array may only be read, which DLPack can say from version 1.0 on; use "
                              "cupy.asarray(array), or a version of the consumer that asks for 1.0")
        consumer = _LEGACY_STREAM if stream is None else stream
        if self._stream is not None and consumer not in (-1, self._stream):
            _kernels.order_streams(self.device, self._stream, consumer)
        code = {"i": 0, "u": 1, "f": 2}[self.dtype.kind]
        size = self.dtype.itemsize
        return _kernels.make_dlpack(self.address, list(self.shape), [stride // size for stride in self.strides], code,
                                    8 * size, self.device, self.readonly, self._owner, versioned)

    def __repr__(self) -> str:
        return (f"DeviceArray(shape={self.shape}, strides={self.strides}, dtype={self.dtype}, device={self.device}"
                f"{', readonly' if self.readonly else ''})")


def is_cuda(array: Any) -> bool:
    """Whether an array is in CUDA memory, by what it says itself."""
    if isinstance(array, np.ndarray):
        return False
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return bool(array.is_cuda)
    if hasattr(array, "__cuda_array_interface__"):
        return True
    return hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in _CUDA_DEVICES


def view(array: Any, what: str) -> View:
    """See an array in CUDA memory; `what` is its name in messages.

    Raises:
        TypeError: its dtype is one that no array here has, or it needs a gradient.
        ValueError: its description is not one that can be.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _view_torch(torch, array, what)
    if hasattr(array, "__cuda_array_interface__"):
        return _view_interface(array, what)
    capsule = array.__dlpack__(stream=_LEGACY_STREAM)
    address, shape, strides, code, bits, readonly = _kernels.read_dlpack(capsule)
    kind = {0: "i", 1: "u", 2: "f"}.get(code)
    if kind is None or bits not in (8, 16, 32, 64):
        raise TypeError(f"{what} has elements of DLPack's type code {code} with {bits} bits; uint8, uint16 and float32 "
                        "are served")
    dtype: np.dtype[Any] = np.dtype(f"{kind}{bits // 8}")
    return View(address, tuple(shape), tuple(step * dtype.itemsize for step in strides), dtype, readonly, _LEGACY_STREAM,
                capsule)


def _view_torch(torch: Any, tensor: Any, what: str) -> View:
    """A tensor's stream is PyTorch's current one of its GPU, which its interface does not tell."""
    if tensor.requires_grad:
        raise TypeError(f"{what} is a tensor that requires a gradient, which filters have none of; pass tensor.detach()")
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in ("uint8", "uint16", "float32"):
        raise TypeError(f"{what} of {name} are not served; uint8, uint16 and float32 are: tensor.to(torch.float32), say")
    dtype: np.dtype[Any] = np.dtype(name)
    stream = torch.cuda.current_stream(tensor.device).cuda_stream or _LEGACY_STREAM
    return View(tensor.data_ptr(), tuple(tensor.shape), tuple(step * dtype.itemsize for step in tensor.stride()), dtype,
                False, stream, tensor)


def _view_interface(array: Any, what: str) -> View:
    interface = array.__cuda_array_interface__
    dtype: np.dtype[Any] = np.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides = contiguous_strides(shape, dtype.itemsize)
    address, readonly = interface["data"]
    stream = interface.get("stream")
    if stream == 0:
        raise ValueError(f"{what} names stream 0 in its __cuda_array_interface__, where the standard has 1 for the legacy "
                         "default stream and 2 for that of each thread")
    if interface.get("mask") is not None:
        raise ValueError(f"{what} has a mask, which filters do not know; fill its elements first")
    return View(address or 0, shape, tuple(strides), dtype, bool(readonly), stream or _LEGACY_STREAM, array)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides of an array whose elements lie one behind another, in bytes."""
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(extent, 1))
    return tuple(strides[:len(shape)])


def empty_like(array: Any, seen: View, order: tuple[int, ...]) -> Any:
    """Make an array of the same kind, shape, dtype and GPU, whose axes lie in memory in this order, outermost first.

    PyTorch's and CuPy's are their own, which their allocators order by the stream; others get a DeviceArray.
    """
    permuted = tuple(seen.shape[axis] for axis in order)
    back = tuple(order.index(axis) for axis in range(len(order)))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.empty(permuted, dtype=array.dtype, device=array.device).permute(back)
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, cupy.ndarray):
        with array.device:
            return cupy.empty(permuted, array.dtype).transpose(back)
    memory = _kernels.CudaMemory(seen.dtype.itemsize * int(np.prod(seen.shape)), _kernels.device_of(seen.address))
    steps = contiguous_strides(permuted, seen.dtype.itemsize)
    return DeviceArray(memory.address, seen.shape, tuple(steps[axis] for axis in back), seen.dtype, memory.device, memory,
                       stream=seen.stream)
