// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// OpenCV's filters as peers of the CPU rows, where OpenCV is there at build time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convolve/plan.hpp"

namespace convolve::bench {

struct Peer {
  std::string name;  ///< "filter2D", "sepFilter2D", "GaussianBlur", "boxFilter", "Sobel_magnitude"
  std::function<void(const Image& in, const Image& out)> run;
};

/// The peers that can do the case on `threads` threads: 2D filters over planes of interleaved components. Empty where
/// none can, and without OpenCV.
std::vector<Peer> opencv_peers(const PlanDesc& desc, unsigned threads);

}  // namespace convolve::bench
