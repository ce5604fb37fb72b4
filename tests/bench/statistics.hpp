// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Order statistics of timings. All take their samples by value and may be asked of one sample or more.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace convolve::bench {

/// The sample whose place in their order is nearest to `fraction` of the way from the least to the largest.
inline double percentile(std::vector<double> samples, double fraction) {
  const auto rank = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(samples.size() - 1)));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(rank), samples.end());
  return samples[rank];
}

inline double median(std::vector<double> samples) {
  return percentile(std::move(samples), 0.5);
}

}  // namespace convolve::bench
