// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/passes.hpp"

#include <algorithm>
#include <cmath>

namespace convolve::cpu::dot {
namespace {

constexpr double sample_limit = 255, word_limit = 32767;
constexpr double sum_limit = 0x1p31 - 0x1p24;  // beside what rounding adds

}  // namespace

std::optional<QuantizedPasses> quantize_passes(const PlanDesc& desc, const Arithmetic& arithmetic,
                                               const ComponentGroup& group, const std::vector<double>& column,
                                               const std::vector<double>& row, double centre) {
  const bool exact = arithmetic.accumulator == Accumulator::exact;
  const double column_magnitude = magnitude_of(column), row_magnitude = magnitude_of(row);
  Arithmetic part = arithmetic;
  part.coefficients = row;
  std::optional<IntegerTaps> along = make_integer_taps(part, desc.layout, desc.border, group, 32767, column_magnitude);
  if (!along) return std::nullopt;
  QuantizedPasses passes{std::move(*along)};
  double max_sum = 0;
  for (const int tap : passes.along.taps) max_sum += std::abs(tap) * sample_limit;
  while (max_sum / (1 << passes.shift) > word_limit - 1) ++passes.shift;
  if (exact && passes.shift > 0) {
    // Samples less 128 have half of the magnitude.
    if (max_sum / sample_limit * 128 > word_limit - 1) return std::nullopt;
    passes.shift = 0;
    passes.less_128 = true;
  }
  passes.unit = std::ldexp(passes.along.gain, passes.shift);
  double error = 0;
  if (!exact) {
    const double peak = std::abs(
        *std::max_element(column.begin(), column.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    if (peak == 0) return std::nullopt;
    passes.scale = std::min(word_limit / peak, 65000 / column_magnitude);
    if (centre != 0) {
      const double all = (column_magnitude * row_magnitude + std::abs(centre)) * sample_limit;
      passes.scale = std::min(
          {passes.scale, sum_limit * passes.unit / all, (word_limit - 1) * fine * passes.unit / std::abs(centre)});
    }
    const double gain = passes.along.gain;
    for (const double tap : row) error += std::abs(std::nearbyint(tap / gain) * gain - tap);
    error *= sample_limit * column_magnitude;
    if (passes.shift > 0) error += 0.5 * passes.unit * column_magnitude;
  }
  for (const double tap : column) {
    const auto rounded = static_cast<std::int32_t>(std::nearbyint(tap * passes.scale));
    error += std::abs(rounded / passes.scale - tap) * sample_limit * row_magnitude;
    if (std::abs(rounded) > word_limit) return std::nullopt;
    passes.down.push_back(rounded);
  }
  const double centre_unit = exact ? 1 : fine * passes.unit / passes.scale;
  if (std::abs(centre) > word_limit * centre_unit) return std::nullopt;
  passes.centre = static_cast<std::int32_t>(std::nearbyint(centre / centre_unit));
  error += std::abs(passes.centre * centre_unit - centre) * sample_limit;
  if (error > max_error || column_magnitude * passes.scale > 65500) return std::nullopt;
  return passes;
}

std::shared_ptr<PackedRows> pack_rows(const QuantizedPasses& passes, const ComponentGroup& group, int width,
                                      bool pairs) {
  const int components = group.components;
  auto packed = std::make_shared<PackedRows>(
      PackedRows{WindowOrder(components, pairs), {}, passes.shift, pack_words(passes.along.taps, width, pairs)});
  for (int p = 0; p < components; ++p) {
    auto& start = packed->start.emplace_back();
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < max_lanes; ++lane) {
        const double zero = passes.less_128 ? 128 : group.component[(p + sample_of(b, lane)) % components]->zero;
        start[b][lane] =
            static_cast<std::int32_t>(-zero * static_cast<double>(passes.along.sum) + ((1 << passes.shift) >> 1));
      }
  }
  return packed;
}

std::vector<std::int32_t> pack_column(const std::vector<std::int32_t>& down, int rows) {
  const int height = static_cast<int>(down.size());
  const auto tap = [&](int i) { return static_cast<std::uint32_t>(i >= 0 && i < height ? down[i] : 0) & 0xffff; };
  const int last = (height + rows - 2) / 2;  // of the pairs of ring rows
  std::vector<std::int32_t> words;
  for (int j = 0; j <= last; ++j)
    for (int i = j == last ? rows - 2 : 0; i < (j == 0 ? 2 : rows); ++i)
      words.push_back(static_cast<std::int32_t>(tap(2 * j - i) | tap(2 * j + 1 - i) << 16));
  return words;
}

}  // namespace convolve::cpu::dot
