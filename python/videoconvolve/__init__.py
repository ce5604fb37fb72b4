# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolution of images and video with any 2D or 3D filter.

filter2d and filter3d run the kernels of the GStreamer element videoconvolve without GStreamer: on NumPy arrays on the
CPU, on CuPy's, PyTorch's and other arrays in CUDA memory on their GPU. cuda_array gives a frame of GStreamer's in CUDA
memory as such an array. register makes the element itself known to GStreamer, for PyGObject.
"""
from .arrays import filter2d, filter3d
from .cuda_memory import DeviceArray
from .element import plugin_path, register
from .frames import cuda_array

__all__ = ["DeviceArray", "cuda_array", "filter2d", "filter3d", "plugin_path", "register"]
