# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filters of arrays, by the kernels of the element: of NumPy arrays on the CPU, of arrays in CUDA memory on their GPU."""
from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Optional, overload

import numpy as np
import numpy.typing as npt

from . import _kernels, cuda_memory

_DTYPES = ("uint8", "uint16", "float32")


@dataclasses.dataclass(frozen=True)
class _Options:
    """The options of a call."""
    operation: str
    scale: float
    normalize: bool
    bias: float
    border_mode: str
    border_value: float
    bits: Optional[int]
    algorithm: str
    threads: int


@overload
def filter2d(image: npt.NDArray[Any], kernel: npt.ArrayLike, *, operation: str = ..., scale: float = ...,
             normalize: bool = ..., bias: float = ..., border_mode: str = ..., border_value: float = ...,
             bits: Optional[int] = ..., algorithm: str = ..., threads: int = ...,
             out: Optional[npt.NDArray[Any]] = ...) -> npt.NDArray[Any]: ...
@overload
def filter2d(image: Any, kernel: npt.ArrayLike, *, operation: str = ..., scale: float = ..., normalize: bool = ...,
             bias: float = ..., border_mode: str = ..., border_value: float = ..., bits: Optional[int] = ...,
             algorithm: str = ..., threads: int = ..., out: Optional[Any] = ...) -> Any: ...
def filter2d(image: Any, kernel: npt.ArrayLike, *, operation: str = "correlate", scale: float = 1.0,
             normalize: bool = False, bias: float = 0.0, border_mode: str = "replicate", border_value: float = 0.0,
             bits: Optional[int] = None, algorithm: str = "auto", threads: int = 0, out: Optional[Any] = None) -> Any:
    """Filter an image with a 2D kernel: out = clamp(round(scale * sum(tap * in) + bias * range)).

    Args:
        image: shape (height, width) or (height, width, components), 1 to 4 components, each filtered alone; dtype
            uint8, uint16 or float32. Read only. Host memory: a NumPy array, or what np.asarray takes; where columns
            are not contiguous it is copied first. CUDA memory: a CuPy array, a PyTorch tensor, or anything with
            __cuda_array_interface__ or __dlpack__. Components may be interleaved there, or planes of their own, as those
            of tensor.permute(1, 2, 0) are; rows may lie anywhere.
        kernel: shape (rows, columns); ints, floats or fractions.Fraction, in host memory. The centre of n taps is tap
            n // 2. Ints and fractions give the exactly rounded sum where its magnitude fits 24 bits; other results are
            within one code value of the exact one, those of fractions whose terms take more than 64 bits too.
        operation, scale, normalize, bias, border_mode, border_value, bits, algorithm, threads, out: as in filter3d.

    Returns:
        A new array of the image's kind, shape and dtype, or `out`. In CUDA memory: on the image's GPU; the work is
        queued on its stream and may not have run yet. PyTorch's and CuPy's current stream, else the one that
        the array's interface names, else the legacy default stream. Images of other libraries give a DeviceArray.

    Raises:
        TypeError: the dtype is not served, a tap is no number, or host and CUDA memory are mixed.
        ValueError: a shape, size, stride or option is wrong; the message names it and what is allowed.
        RuntimeError: this build has no CUDA backend, or the GPU failed.
    """
    taps = _taps_of(kernel)
    if taps.ndim != 2:
        raise ValueError(f"a 2D kernel has shape (rows, columns); this one has {taps.ndim} axes")
    options = _Options(operation, scale, normalize, bias, border_mode, border_value, bits, algorithm, threads)
    return _filter(image, taps[np.newaxis], options, out, axes_before=0)


@overload
def filter3d(frames: npt.NDArray[Any], kernel: npt.ArrayLike, *, operation: str = ..., scale: float = ...,
             normalize: bool = ..., bias: float = ..., border_mode: str = ..., border_value: float = ...,
             bits: Optional[int] = ..., algorithm: str = ..., threads: int = ...,
             out: Optional[npt.NDArray[Any]] = ...) -> npt.NDArray[Any]: ...
@overload
def filter3d(frames: Any, kernel: npt.ArrayLike, *, operation: str = ..., scale: float = ..., normalize: bool = ...,
             bias: float = ..., border_mode: str = ..., border_value: float = ..., bits: Optional[int] = ...,
             algorithm: str = ..., threads: int = ..., out: Optional[Any] = ...) -> Any: ...
def filter3d(frames: Any, kernel: npt.ArrayLike, *, operation: str = "correlate", scale: float = 1.0,
             normalize: bool = False, bias: float = 0.0, border_mode: str = "replicate", border_value: float = 0.0,
             bits: Optional[int] = None, algorithm: str = "auto", threads: int = 0, out: Optional[Any] = None) -> Any:
    """Filter frames with a 3D kernel, over time, rows and columns.

    Args:
        frames: shape (frames, height, width) or (frames, height, width, components), oldest frame first; otherwise as
            in filter2d. A 3D array is always without components.
        kernel: shape (depth, rows, columns), oldest frame first; at most 15 frames deep.
        operation: "correlate" applies taps as written, "convolve" flips every axis, and the centre with it.
        scale: multiplies the sum.
        normalize: divides by the sum of taps where that is not 0.
        bias: added last, as a fraction of the range (0.5: mid grey); of 1 for float32.
        border_mode: "constant", "replicate", "reflect", "reflect-101" or "wrap": what stands in for samples and
            frames outside.
        border_value: 0 to 1, the level outside for "constant", as a fraction of the range.
        bits: significant bits of a uint16 sample, 9 to 16 (16); results are clamped to them. float32 is not clamped.
        algorithm: "auto", or one of the element's: "direct", "separable" or "matrix" on the CPU, "cached-halo" and
            others on a GPU.
        threads: at most so many; 0: one a core. Of the CPU alone.
        out: an array of the frames' shape and dtype that overlaps them nowhere; a new one by default. C-contiguous in
            host memory; on the same GPU in CUDA memory, its components arranged as those of the frames.

    Returns:
        As filter2d. One output frame for each input frame.

    Raises:
        TypeError, ValueError, RuntimeError: as filter2d.
    """
    taps = _taps_of(kernel)
    if taps.ndim != 3 or taps.size == 0:
        raise ValueError(f"a 3D kernel has shape (depth, rows, columns), none of them 0; this one has {taps.shape}")
    options = _Options(operation, scale, normalize, bias, border_mode, border_value, bits, algorithm, threads)
    return _filter(frames, taps, options, out, axes_before=1)


def _filter(frames: Any, taps: npt.NDArray[Any], options: _Options, out: Optional[Any], axes_before: int) -> Any:
    """Filter in the memory that the frames are in; `axes_before` counts the axes before an image's rows."""
    if not cuda_memory.is_cuda(frames):
        if out is not None and cuda_memory.is_cuda(out):
            raise TypeError("the frames are in host memory and out is in CUDA memory; both have to be in one: "
                            "cupy.asarray(frames) or tensor.cuda() copies frames to the GPU")
        return _filter_host(np.asarray(frames), taps, options, out, axes_before)
    if not _kernels.have_cuda:
        raise RuntimeError("the frames are in CUDA memory, and this build of videoconvolve has no CUDA backend: build the "
                           "wheel where nvcc and gstreamer-cuda-1.0 are, or pass frames in host memory")
    if out is not None and not cuda_memory.is_cuda(out):
        raise TypeError("the frames are in CUDA memory and out is in host memory; both have to be in one: make out with "
                        "cupy.empty_like(frames) or torch.empty_like(frames)")
    return _filter_cuda(frames, taps, options, out, axes_before)


def _filter_host(frames: npt.NDArray[Any], taps: npt.NDArray[Any], options: _Options, out: Optional[npt.NDArray[Any]],
                 axes_before: int) -> npt.NDArray[Any]:
    _check_frames(frames.shape, frames.dtype, axes_before)
    if out is None:
        out = np.empty(frames.shape, frames.dtype)
    elif not isinstance(out, np.ndarray):
        raise TypeError(f"out is a {type(out).__name__}; a NumPy array is needed, which the result is written to")
    elif not out.flags.writeable:
        raise ValueError("out may only be read; an array that may be written is needed")
    elif out.shape != frames.shape or out.dtype != frames.dtype or not out.flags.c_contiguous:
        raise ValueError(f"out is {out.dtype} of shape {out.shape}; a C-contiguous array of {frames.dtype} of shape "
                         f"{frames.shape} is needed")
    elif np.may_share_memory(out, frames):
        raise ValueError("out shares memory with the frames; they are filtered into another array")
    if options.threads < 0:
        raise ValueError(f"threads is {options.threads}; it is 0, for one a core, or more")
    source = _with_all_axes(frames, axes_before)
    if not _rows_contiguous(source):
        source = np.ascontiguousarray(source)
    _kernels.filter_frames(source, _with_all_axes(out, axes_before), *_arguments(taps, options, frames.dtype),
                           options.threads)
    return out


def _filter_cuda(frames: Any, taps: npt.NDArray[Any], options: _Options, out: Optional[Any], axes_before: int) -> Any:
    source = cuda_memory.view(frames, "the array of frames")
    _check_frames(source.shape, source.dtype, axes_before)
    shape, strides = _all_axes(source, axes_before)
    planar = _is_planar(shape, strides, source.dtype.itemsize, "the frames")
    if out is None:
        axes = tuple(range(len(source.shape)))
        out = cuda_memory.empty_like(frames, source, axes[:axes_before] + axes[-1:] + axes[axes_before:-1] if planar else axes)
    target = cuda_memory.view(out, "out")
    if target.shape != source.shape or target.dtype != source.dtype:
        raise ValueError(f"out is {target.dtype} of shape {target.shape}; {source.dtype} of shape {source.shape} is needed")
    if target.readonly:
        raise ValueError("out may only be read; an array that may be written is needed")
    _, out_strides = _all_axes(target, axes_before)
    if _is_planar(shape, out_strides, source.dtype.itemsize, "out") != planar:
        raise ValueError(f"the components of the frames are {'planes' if planar else 'interleaved'}, and those of out are "
                         "not (strides " f"{source.strides} and {target.strides}); make out with torch.empty_like or "
                         "cupy.empty_like, or leave it to the function")
    _check_overlap(source, target)
    device = _kernels.device_of(target.address)
    if target.stream != source.stream:
        _kernels.order_streams(device, target.stream, source.stream)
    _kernels.filter_cuda_frames(source.address, strides, target.address, out_strides, shape, planar, source.dtype.name,
                                source.stream, *_arguments(taps, options, source.dtype))
    if target.stream != source.stream:
        _kernels.order_streams(device, source.stream, target.stream)
    return out


def _check_frames(shape: tuple[int, ...], dtype: np.dtype[Any], axes_before: int) -> None:
    if dtype.name not in _DTYPES or not dtype.isnative:
        raise TypeError(f"frames of {dtype if dtype.isnative else dtype.str} are not served; uint8, uint16 and float32 of "
                        "this machine's byte order are")
    axes = len(shape) - axes_before
    if axes not in (2, 3) or 0 in shape or (axes == 3 and shape[-1] > 4):
        raise ValueError(f"an array of shape {shape} is no image: (height, width) or (height, width, components) "
                         "with 1 to 4 components, after the frames' axis for 3D; components that come first go last by "
                         "array.transpose(1, 2, 0), tensor.permute(1, 2, 0)")


def _taps_of(kernel: npt.ArrayLike) -> npt.NDArray[Any]:
    """The kernel with its taps as they are: as objects, where ints, floats and fractions may mix."""
    if cuda_memory.is_cuda(kernel):
        raise TypeError("the kernel is in CUDA memory, and its taps are read on the host: pass kernel.get() (CuPy) or "
                        "kernel.cpu().numpy() (PyTorch)")
    return np.asarray(kernel, dtype=kernel.dtype if isinstance(kernel, np.ndarray) else object)


def _arguments(taps: npt.NDArray[Any], options: _Options, dtype: np.dtype[Any]) -> tuple[
        list[Any], int, int, int, str, float, bool, float, str, float, int, str]:
    """The kernel and the options as the binding takes them."""
    depth, rows, columns = taps.shape
    bits = 8 * min(dtype.itemsize, 2) if options.bits is None else options.bits
    return ([_tap(tap) for tap in taps.ravel().tolist()], depth, rows, columns, options.operation, options.scale,
            options.normalize, options.bias, options.border_mode, options.border_value, bits, options.algorithm)


def _tap(tap: Any) -> Any:
    """A tap as the binding takes it: int, float, or numerator and denominator. Those have 64 bits there; what needs more,
    as Fraction(1e-9) does, is the nearest float."""
    if isinstance(tap, numbers.Rational) and max(abs(int(tap.numerator)), int(tap.denominator)) < 1 << 63:
        return int(tap) if isinstance(tap, numbers.Integral) else (int(tap.numerator), int(tap.denominator))
    if isinstance(tap, numbers.Real):
        try:
            return float(tap)
        except OverflowError as error:
            raise ValueError("a tap is beyond 1.8e308, the largest float") from error
    raise TypeError(f"a tap is {tap!r}; taps are ints, floats or fractions, in rows of equal length")


def _with_all_axes(frames: npt.NDArray[Any], axes_before: int) -> npt.NDArray[Any]:
    """As (frames, height, width, components)."""
    if axes_before == 0:
        frames = frames[np.newaxis]
    return frames if frames.ndim == 4 else frames[..., np.newaxis]


def _rows_contiguous(frames: npt.NDArray[Any]) -> bool:
    """Whether columns and components lie one behind another; rows and frames may lie anywhere, bottom-up too."""
    _, _, width, components = frames.shape
    item = frames.itemsize
    return ((components == 1 or frames.strides[3] == item) and (width == 1 or frames.strides[2] == components * item)
            and frames.strides[1] % item == 0 and frames.strides[0] % item == 0 and frames.flags.aligned)


def _all_axes(view: cuda_memory.View, axes_before: int) -> tuple[tuple[int, int, int, int], list[int]]:
    """Shape and strides as (frames, height, width, components)."""
    shape, strides = list(view.shape), list(view.strides)
    if axes_before == 0:
        shape.insert(0, 1)
        strides.insert(0, 0)
    if len(shape) == 3:
        shape.append(1)
        strides.append(view.dtype.itemsize)
    return (shape[0], shape[1], shape[2], shape[3]), strides


def _is_planar(shape: tuple[int, int, int, int], strides: list[int], item: int, what: str) -> bool:
    """Whether each component is a plane of its own, and not one of an interleaved pixel."""
    _, _, width, components = shape
    column = strides[2] if width > 1 else None
    if any(stride % item for stride in strides):
        raise ValueError(f"strides of {what} are {strides} bytes, which are not all a multiple of a sample's {item}; copy "
                         "them first: cupy.ascontiguousarray(array), tensor.contiguous()")
    if (components == 1 or strides[3] == item) and column in (None, components * item):
        return False
    if components > 1 and column in (None, item):
        return True
    raise ValueError(f"columns of {what} lie {strides[2]} bytes apart and components {strides[3]}; a GPU's kernels need "
                     f"contiguous pixels ({components * item} and {item}) or contiguous planes ({item} and any): copy them "
                     "first, by cupy.ascontiguousarray(array) or tensor.contiguous()")


def _extent(view: cuda_memory.View) -> tuple[int, int]:
    """The first byte of an array and the one after its last."""
    spans = [stride * (count - 1) for stride, count in zip(view.strides, view.shape)]
    return (view.address + sum(span for span in spans if span < 0),
            view.address + sum(span for span in spans if span > 0) + view.dtype.itemsize)


def _check_overlap(source: cuda_memory.View, target: cuda_memory.View) -> None:
    begin, end = _extent(source)
    out_begin, out_end = _extent(target)
    if out_begin < end and begin < out_end:
        raise ValueError("out shares memory with the frames; they are filtered into another array")
    room = target.dtype.itemsize
    for stride, count in sorted(zip(map(abs, target.strides), target.shape)):
        if count > 1 and stride < room:
            raise ValueError(f"elements of out share memory (its strides are {target.strides}); an array with an element "
                             "for each sample is needed")
        room = max(room, stride * (count - 1) + room)
