// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Scene cuts: how much two frames differ. Where neighbours differ by more than the property scene-threshold says, the
// window starts anew, so that no filter over time blends two scenes. The backend sums the differences.
#pragma once

#include <gst/video/video.h>

#include <cstdint>

#include "convolve/luma_difference.hpp"

namespace convolve {

/// Which components of a format make luma, and with which weights: of RGB, those of BT.709.
LumaDesc luma_of(const GstVideoInfo& info);

/// The mean of what a LumaDifference of luma_of() summed, as a fraction of luma's nominal range.
double mean_luma_difference(std::uint64_t sum, const GstVideoInfo& info);

}  // namespace convolve
