# SPDX-FileCopyrightText: 2026 The videoconvolve developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolution of images and video with any 2D or 3D filter.

filter2d and filter3d run the CPU kernels of the GStreamer element videoconvolve on NumPy arrays, without GStreamer;
register makes the element itself known to GStreamer, for PyGObject.
"""
from .arrays import filter2d, filter3d
from .element import plugin_path, register

__all__ = ["filter2d", "filter3d", "plugin_path", "register"]
