# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filters of NumPy arrays, by the kernels of the element's CPU backend."""
from __future__ import annotations

import numbers
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _kernels

_DTYPES = (np.uint8, np.uint16, np.float32)


def filter2d(image: npt.NDArray[Any], kernel: npt.ArrayLike, **options: Any) -> npt.NDArray[Any]:
    """Filter an image with a 2D kernel: out = clamp(round(scale * sum(tap * in) + bias * range)).

    Args:
        image: shape (height, width) or (height, width, components), 1 to 4 components, each filtered alone; dtype
            uint8, uint16 or float32. Read only. Arrays whose columns are not contiguous are copied first.
        kernel: shape (rows, columns); ints, floats or fractions.Fraction. The centre of n taps is tap n // 2. Ints and
            fractions give the exactly rounded sum where its magnitude fits 24 bits; other results are within one
            code value of the exact one.
        options: those of filter3d.

    Returns:
        A new array of the image's shape and dtype, or `out`.

    Raises:
        TypeError: the dtype is not served, or a tap is no number.
        ValueError: a shape, size or option is wrong; the message names it and what is allowed.
    """
    kernel = np.asarray(kernel, dtype=_tap_type(kernel))
    if kernel.ndim != 2:
        raise ValueError(f"a 2D kernel has shape (rows, columns); this one has {kernel.ndim} axes")
    image = np.asarray(image)
    out: Optional[npt.NDArray[Any]] = options.pop("out", None)
    result = filter3d(image[np.newaxis], kernel[np.newaxis], out=None if out is None else out[np.newaxis], **options)
    filtered: npt.NDArray[Any] = result[0]
    return filtered if out is None else out


def filter3d(frames: npt.NDArray[Any], kernel: npt.ArrayLike, *, operation: str = "correlate", scale: float = 1.0,
             normalize: bool = False, bias: float = 0.0, border_mode: str = "replicate", border_value: float = 0.0,
             bits: Optional[int] = None, algorithm: str = "auto", threads: int = 0,
             out: Optional[npt.NDArray[Any]] = None) -> npt.NDArray[Any]:
    """Filter frames with a 3D kernel, over time, rows and columns.

    Args:
        frames: shape (frames, height, width) or (frames, height, width, components), oldest frame first; as in
            filter2d. A 3D array is always without components.
        kernel: shape (depth, rows, columns), oldest frame first; at most 15 frames deep.
        operation: "correlate" applies taps as written, "convolve" flips every axis, and the centre with it.
        scale: multiplies the sum.
        normalize: divides by the sum of taps where that is not 0.
        bias: added last, as a fraction of the range (0.5: mid grey); of 1 for float32.
        border_mode: "constant", "replicate", "reflect", "reflect-101" or "wrap": what stands in for samples and
            frames outside.
        border_value: 0 to 1, the level outside for "constant", as a fraction of the range.
        bits: significant bits of a uint16 sample, 9 to 16 (16); results are clamped to them. float32 is not clamped.
        algorithm: "auto", "direct", "separable" or "matrix", as in the element.
        threads: at most so many; 0: one a core.
        out: a C-contiguous array of the frames' shape and dtype that overlaps them nowhere; a new one by default.

    Returns:
        `out`. One output frame for each input frame.

    Raises:
        TypeError, ValueError: as filter2d.
    """
    kernel = np.asarray(kernel, dtype=_tap_type(kernel))
    if kernel.ndim != 3 or kernel.size == 0:
        raise ValueError(f"a 3D kernel has shape (depth, rows, columns), none of them 0; this one has {kernel.shape}")
    frames = np.asarray(frames)
    if frames.dtype not in _DTYPES:
        raise TypeError(f"frames of {frames.dtype} are not served; uint8, uint16 and float32 are")
    if frames.ndim not in (3, 4) or frames.size == 0 or (frames.ndim == 4 and frames.shape[3] > 4):
        raise ValueError(f"an array of shape {frames.shape} is no image: (height, width) or (height, width, components) "
                         "with 1 to 4 components, after the frames' axis for 3D")
    if bits is None:
        bits = 8 * min(frames.itemsize, 2)
    if out is None:
        out = np.empty(frames.shape, frames.dtype)
    elif out.shape != frames.shape or out.dtype != frames.dtype or not out.flags.c_contiguous:
        raise ValueError(f"out is {out.dtype} of shape {out.shape}; a C-contiguous array of {frames.dtype} of shape "
                         f"{frames.shape} is needed")
    elif np.may_share_memory(out, frames):
        raise ValueError("out shares memory with the frames; they are filtered into another array")
    source = _with_components(frames)
    if not _rows_contiguous(source):
        source = np.ascontiguousarray(source)
    depth, rows, columns = kernel.shape
    _kernels.filter_frames(source, _with_components(out), [_tap(tap) for tap in kernel.ravel().tolist()],
                           depth, rows, columns, operation, scale, normalize, bias, border_mode, border_value, bits,
                           algorithm, threads)
    return out


def _tap_type(kernel: npt.ArrayLike) -> Any:
    """The dtype that keeps a kernel's taps as they are: objects where ints, floats and fractions may mix."""
    return kernel.dtype if isinstance(kernel, np.ndarray) else object


def _tap(tap: Any) -> Any:
    """A tap as the binding takes it: int, float, or numerator and denominator."""
    if isinstance(tap, numbers.Integral):
        return int(tap)
    if isinstance(tap, numbers.Rational):
        return (int(tap.numerator), int(tap.denominator))
    if isinstance(tap, numbers.Real):
        return float(tap)
    raise TypeError(f"a tap is {tap!r}; taps are ints, floats or fractions, in rows of equal length")


def _with_components(frames: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return frames if frames.ndim == 4 else frames[..., np.newaxis]


def _rows_contiguous(frames: npt.NDArray[Any]) -> bool:
    """Whether columns and components lie one behind another; rows and frames may lie anywhere, bottom-up too."""
    _, _, width, components = frames.shape
    item = frames.itemsize
    return ((components == 1 or frames.strides[3] == item) and (width == 1 or frames.strides[2] == components * item)
            and frames.strides[1] % item == 0 and frames.strides[0] % item == 0 and frames.flags.aligned)
