// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// OpenCV's filters as peers of the CPU rows, where OpenCV is there at build time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convolve/plan.hpp"
#include "convolve/region.hpp"

namespace convolve::bench {

struct Peer {
  std::string name;  ///< "filter2D", "sepFilter2D", "GaussianBlur", "boxFilter", "Sobel_magnitude"
  std::function<void(const Image& in, const Image& out)> run;
};

/// The peers that can do the case on `threads` threads: 2D filters over planes of interleaved components. Empty where
/// none can, and without OpenCV.
std::vector<Peer> opencv_peers(const PlanDesc& desc, unsigned threads);

/// GaussianBlur in place over the region of each plane, one call a region, with a kernel as large as a cell of
/// `cells` along the longer side, as privacy filters written with OpenCV have it. Null without OpenCV.
std::function<void(const Image& frame)> opencv_region_blur(const RegionDesc& desc, const std::vector<Region>& regions,
                                                           int cells);

}  // namespace convolve::bench
