// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle_luma.hpp"

namespace oracle {

std::uint64_t luma_difference(const std::vector<Plane>& a, const std::vector<Plane>& b,
                              const std::vector<int>& weights) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.front().samples.size(); ++i) {
    std::int64_t difference = 0;
    for (std::size_t c = 0; c < weights.size(); ++c)
      difference += weights[c] * static_cast<std::int64_t>(a[c].samples[i] - b[c].samples[i]);
    sum += static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
  }
  return sum;
}

}  // namespace oracle
