// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Scene cuts: how much two frames differ. Where neighbours differ by more than the property scene-threshold says, the
// window starts anew, so that no filter over time blends two scenes.
#pragma once

#include <gst/video/video.h>

#include "convolve/plane.hpp"

namespace convolve {

/// The mean absolute difference of two frames' luma, as a fraction of its nominal range; of RGB, of the luma by BT.709.
/// Both images lie in host memory and are of the format, size and range of `info`.
double mean_luma_difference(const Image& a, const Image& b, const GstVideoInfo& info);

}  // namespace convolve
