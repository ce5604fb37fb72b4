// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/engine/integer_taps.hpp"

#include <algorithm>
#include <cmath>

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
  q.divisor /= taps.gain;
}

}  // namespace convolve::cpu
