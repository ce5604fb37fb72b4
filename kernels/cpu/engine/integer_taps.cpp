// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/engine/integer_taps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "convolve/is_whole.hpp"

namespace convolve::cpu {
namespace {

constexpr double sample_limit = 255, sum_limit = 2147483647.0;

bool whole_byte(double v) {
  return is_whole(v) && v >= 0 && v <= sample_limit;
}

}  // namespace

bool holds_bytes(const FrameLayout& layout, Border border, const ComponentGroup& group) {
  return layout.type == SampleType::u8 && layout.shift == 0 &&
         std::all_of(group.component, group.component + group.components, [&](const Component* component) {
           return whole_byte(component->zero) && (!has_ghost_cells(border) || whole_byte(component->ghost));
         });
}

std::optional<IntegerTaps> make_integer_taps(const Arithmetic& arithmetic, const FrameLayout& layout, Border border,
                                             const ComponentGroup& group, int largest, double weight) {
  if (arithmetic.accumulator == Accumulator::double_ || !holds_bytes(layout, border, group)) return std::nullopt;
  double most = sample_limit;
  for (int c = 0; c < group.components; ++c) most = std::max(most, sample_limit + group.component[c]->zero);
  const std::vector<double>& taps = arithmetic.coefficients;
  const double magnitude = magnitude_of(taps);
  double peak = 0;
  for (const double tap : taps) peak = std::max(peak, std::abs(tap));

  IntegerTaps result;
  double scale = 1;
  if (arithmetic.accumulator == Accumulator::exact) {
    if (peak > largest || magnitude * most > sum_limit) return std::nullopt;
  } else {
    if (peak == 0) return std::nullopt;
    const double half_a_step = 0.5 * static_cast<double>(taps.size());
    scale = std::min(largest / peak, (sum_limit / most - half_a_step) / magnitude);
    if (!(scale > 0) || !std::isfinite(scale)) return std::nullopt;
    double error = 0;
    for (const double tap : taps) error += std::abs(std::nearbyint(tap * scale) - tap * scale);
    if (!(error / scale * sample_limit * weight <= max_error)) return std::nullopt;
  }
  for (const double tap : taps) {
    result.taps.push_back(static_cast<std::int32_t>(std::nearbyint(tap * scale)));
    result.sum += result.taps.back();
  }
  result.gain = 1 / scale;
  result.divisor = scale;
  return result;
}

namespace {

constexpr int largest_byte_tap = 127, largest_wide_tap = 32767;

// Taps over `divisor`, rounded so that their sum is the nearest there is to that of the taps.
struct RoundedTaps {
  std::vector<double> taps;
  double error = 0;  // the most that a result moves by

  // Within the error `most`: else only that it is not.
  RoundedTaps(const std::vector<double>& real, double sum, double divisor, double most) {
    const auto over = [&](std::size_t i) { return taps[i] - real[i] * divisor; };
    double rounded = 0, moved = 0;
    for (std::size_t i = 0; i < real.size(); ++i) {
      rounded += taps.emplace_back(std::nearbyint(real[i] * divisor));
      moved += std::abs(over(i));
    }
    error = 0.5 * moved / divisor * sample_limit;
    if (error >= most) return;
    // Those that were rounded the other way by the most go one step further.
    const double lack = std::nearbyint(sum * divisor) - rounded, step = lack > 0 ? 1 : -1;
    std::vector<std::size_t> first(real.size());
    std::iota(first.begin(), first.end(), std::size_t{0});
    const auto many = std::min(static_cast<std::ptrdiff_t>(std::abs(lack)), std::ssize(first));
    std::partial_sort(first.begin(), first.begin() + many, first.end(),
                      [&](std::size_t a, std::size_t b) { return step * over(a) < step * over(b); });
    for (std::ptrdiff_t i = 0; i < many; ++i) taps[first[static_cast<std::size_t>(i)]] += step;
    // Samples, and the level that is taken off them, are 0 to 255: at the worst all errors of one sign count in full.
    double above = 0, below = 0;
    for (std::size_t i = 0; i < taps.size(); ++i) (over(i) > 0 ? above : below) += std::abs(over(i));
    error = std::max(above, below) / divisor * sample_limit;
  }
};

}  // namespace

std::optional<IntegerTaps> make_byte_taps(const Arithmetic& arithmetic, const FrameLayout& layout, Border border,
                                          const ComponentGroup& group, ByteTaps preferred,
                                          std::optional<std::size_t> wide) {
  const auto largest_tap = [&](std::size_t i) { return i == wide ? largest_wide_tap : largest_byte_tap; };
  const auto fit = [&](const auto& integers) {
    for (std::size_t i = 0; i < integers.size(); ++i)
      if (std::abs(integers[i]) > largest_tap(i)) return false;
    return true;
  };
  if (arithmetic.accumulator != Accumulator::single) {
    auto exact = make_integer_taps(arithmetic, layout, border, group, wide ? largest_wide_tap : largest_byte_tap);
    return exact && fit(exact->taps) ? exact : std::nullopt;
  }
  const std::vector<double>& taps = arithmetic.coefficients;
  // Divisors so far apart that taps are rounded anew, up to the largest that there is; in a time that does not grow.
  constexpr double most_divisor = 1 << 24;
  double largest = most_divisor, magnitude = 0, sum = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    if (taps[i] != 0) largest = std::min(largest, std::floor((largest_tap(i) + 0.5) / std::abs(taps[i])));
    magnitude += std::abs(taps[i]);
    sum += taps[i];
  }
  if (magnitude == 0 || !holds_bytes(layout, border, group)) return std::nullopt;
  const bool small = preferred == ByteTaps::small;
  const int tries = std::clamp(50000 / static_cast<int>(taps.size()), 8, 300);
  const double step = std::max(1.0, std::floor(largest * (small ? 0.6 : 0.15) / tries));
  IntegerTaps result;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < tries && largest - i * step >= 1; ++i) {
    const double divisor = largest - i * step;
    // Small taps that are near: as errors are about in inverse proportion to the divisor, its square prefers small
    // ones.
    const double weight = small ? divisor * divisor : 1, most = std::min(max_byte_error, least / weight);
    const RoundedTaps rounded(taps, sum, divisor, most);
    if (rounded.error >= most || !fit(rounded.taps)) continue;
    least = rounded.error * weight;
    result.taps.assign(rounded.taps.begin(), rounded.taps.end());
    result.divisor = divisor;
  }
  if (result.taps.empty()) return std::nullopt;
  result.gain = 1 / result.divisor;
  for (const std::int32_t tap : result.taps) result.sum += tap;
  return result;
}

void set_shape_and_quantization(Kernel& kernel, const PlanDesc& desc, const Arithmetic& arithmetic,
                                const ComponentGroup& group, const IntegerTaps& taps) {
  kernel.depth = desc.filter.depth();
  kernel.height = desc.filter.height();
  kernel.width = desc.filter.width();
  kernel.components = group.components;
  Quantization& q = kernel.quantization = make_quantization(arithmetic, desc.layout, group);
  q.gain = static_cast<float>(q.gain * taps.gain);
  q.divisor *= taps.divisor;
}

}  // namespace convolve::cpu
