// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {

// Folds step by step, as one would with a pencil: each reflection or turn brings i nearer.
std::int64_t fold(Edge edge, std::int64_t i, std::int64_t n) {
  while (i < 0 || i >= n) switch (edge) {
      case Edge::constant:
        return -1;
      case Edge::replicate:
        i += i < 0 ? 1 : -1;
        break;
      case Edge::reflect:
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
        break;
      case Edge::reflect_101:
        i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
        break;
      case Edge::wrap:
        i += i < 0 ? n : -n;
        break;
    }
  return i;
}

std::int64_t rounded_quotient(std::int64_t sum, std::int64_t divisor, double offset) {
  __extension__ using Wide = __int128;
  constexpr int fraction_bits = 60;
  const Wide denominator = static_cast<Wide>(divisor) << fraction_bits;
  const Wide numerator = static_cast<Wide>(sum) * (Wide{1} << fraction_bits) +
                         static_cast<Wide>(std::ldexp(offset, fraction_bits)) * divisor;
  Wide floor = numerator / denominator, rest = numerator % denominator;
  if (rest < 0) {
    rest += denominator;
    --floor;
  }
  const bool up = 2 * rest > denominator || (2 * rest == denominator && floor % 2 != 0);
  return static_cast<std::int64_t>(floor + (up ? 1 : 0));
}

Plane filter(const Kernel& kernel, const std::vector<const Plane*>& window, Edge edge, const Levels& levels) {
  if (static_cast<int>(window.size()) != kernel.depth)
    throw std::logic_error("the window is not as deep as the filter");
  const Plane* some = *std::find_if(window.begin(), window.end(), [](const Plane* p) { return p != nullptr; });
  const int width = some->width, height = some->height;
  const bool exact = kernel.divisor > 0 && levels.bits > 0 && levels.zero == std::floor(levels.zero);
  const bool fractional_ghost = levels.ghost != std::floor(levels.ghost);
  const bool ghost_frames = std::count(window.begin(), window.end(), nullptr) > 0;
  const auto sees_ghost = [&](int x, int y) {
    if (ghost_frames) return true;
    const int left = x - kernel.centre_x, top = y - kernel.centre_y;
    return edge == Edge::constant &&
           (left < 0 || top < 0 || left + kernel.width > width || top + kernel.height > height);
  };
  const double ghost = levels.ghost - levels.zero;

  Plane out{width, height, std::vector<double>(static_cast<std::size_t>(width) * height)};
  std::vector<double> sums(width), row(width + kernel.width - 1);
  for (int y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::size_t tap = 0;
    for (int t = 0; t < kernel.depth; ++t)
      for (int j = 0; j < kernel.height; ++j) {
        // The row with its ghost cells on both sides, as differences from the zero level.
        const std::int64_t from = window[t] ? fold(edge, y + j - kernel.centre_y, height) : -1;
        for (int x = 0; x < static_cast<int>(row.size()); ++x) {
          const std::int64_t at = from < 0 ? -1 : fold(edge, x - kernel.centre_x, width);
          row[x] = at < 0 ? ghost : window[t]->samples[from * width + at] - levels.zero;
        }
        for (int i = 0; i < kernel.width; ++i, ++tap) {
          const double weight = kernel.divisor == 0 ? kernel.taps[tap]
                                : exact             ? static_cast<double>(kernel.integers[tap])
                                                    : static_cast<double>(kernel.integers[tap]) / kernel.divisor;
          for (int x = 0; x < width; ++x) sums[x] += weight * row[x + i];
        }
      }
    for (int x = 0; x < width; ++x) {
      double& result = out.samples[static_cast<std::size_t>(y) * width + x];
      const double offset = levels.zero + levels.offset;
      if (exact && fractional_ghost && sees_ghost(x, y)) {
        result = std::nearbyint(sums[x] / static_cast<double>(kernel.divisor) + offset);
      } else if (exact) {
        // Sums of integers below 2^52 are exact in double precision.
        if (std::abs(sums[x]) >= 0x1p52) throw std::logic_error("the sum is too large to be exact");
        result = static_cast<double>(rounded_quotient(static_cast<std::int64_t>(sums[x]), kernel.divisor, offset));
      } else {
        result = levels.bits == 0 ? sums[x] + offset : std::nearbyint(sums[x] + offset);
      }
      if (levels.bits > 0) result = std::clamp(result, 0.0, std::ldexp(1.0, levels.bits) - 1);
    }
  }
  return out;
}

std::vector<Plane> filter_sequence(const Kernel& kernel, const std::vector<Plane>& frames, Edge edge, Edge time_edge,
                                   const Levels& levels) {
  const auto count = static_cast<std::int64_t>(frames.size());
  std::vector<Plane> out;
  for (std::int64_t t = 0; t < count; ++t) {
    std::vector<const Plane*> window;
    for (int i = 0; i < kernel.depth; ++i) {
      const std::int64_t from = fold(time_edge, t + i - kernel.centre_t, count);
      window.push_back(from < 0 ? nullptr : &frames[from]);
    }
    out.push_back(filter(kernel, window, edge, levels));
  }
  return out;
}

}  // namespace oracle
