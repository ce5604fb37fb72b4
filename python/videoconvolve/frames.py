# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's frames in CUDA memory, as arrays."""
from __future__ import annotations

from typing import Any, Union

from . import _kernels
from .cuda_memory import DeviceArray


def cuda_array(buffer: Any, caps: Any, plane: int = 0) -> DeviceArray:
    """See one plane of a GStreamer buffer in CUDA memory as an array, without a copy.

    The buffer stays mapped as long as the array, or what DLPack made of it, is alive; at the end, or at release(), the
    map waits for all that is queued on the GPU. What was written there by GStreamer has been written when this returns.

        with videoconvolve.cuda_array(sample.get_buffer(), sample.get_caps()) as luma:
            mean = float(cupy.asarray(luma).mean())

    Args:
        buffer: a Gst.Buffer whose memory is CUDA memory, as of caps with memory:CUDAMemory.
        caps: its Gst.Caps, or their text: raw video.
        plane: of its format's planes: 0 of NV12 is luma, 1 both chromas.

    Returns:
        An array of uint8, or uint16 for more than 8 bits (in place, so that P010's values are times 64), of shape
        (rows, columns), or (rows, columns, components) where the plane has several interleaved: (rows, columns / 2, 2)
        for NV12's chroma, 4 components for RGBx. Rows are as far apart as they are in the buffer. It may be written
        where the buffer is writable, that is where nobody else holds it. Those of an appsink's samples are not; a copy by
        buffer.copy_deep(), which the GPU makes, is.

    Raises:
        TypeError: `buffer` is no Gst.Buffer, or `caps` are neither caps nor text.
        ValueError: the buffer's memory is not CUDA memory, or the caps are not of raw video.
        IndexError: the format has no such plane.
        RuntimeError: the buffer cannot be mapped as the caps say, or this build has no CUDA backend.
    """
    if not _kernels.have_cuda:
        raise RuntimeError("this build of videoconvolve has no CUDA backend: build the wheel where nvcc and "
                           "gstreamer-cuda-1.0 are")
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    if not isinstance(buffer, Gst.Buffer):
        raise TypeError(f"a Gst.Buffer is needed, and this is {buffer!r}")
    if not isinstance(caps, (str, Gst.Caps)):
        raise TypeError(f"Gst.Caps, or their text, are needed, and these are {caps!r}")
    from . import _frames

    text: Union[str, Any] = caps if isinstance(caps, str) else caps.to_string()
    # The hash of a boxed object in PyGObject is its address.
    mapped = _frames.MappedPlane(hash(buffer), text, plane, buffer)
    return DeviceArray(mapped.address, tuple(mapped.shape), tuple(mapped.strides), f"u{mapped.bytes}", mapped.device, mapped,
                       readonly=mapped.readonly)
