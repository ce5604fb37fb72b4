// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/fixed16/packing.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/engine/integer_taps.hpp"

namespace convolve::cpu::fixed16 {
namespace {

constexpr double sample_limit = 255, word_limit = 32767;
constexpr int most_bits = 7;  // of a fraction: what saturates is then beyond 255

bool is_mirrored(const std::vector<double>& taps) {
  if (taps.size() < 3 || taps.size() % 2 == 0) return false;
  const double near = 1e-9 * magnitude_of(taps);
  for (std::size_t i = 0; i < taps.size() / 2; ++i)
    if (std::abs(taps[i] - taps[taps.size() - 1 - i]) > near) return false;
  return true;
}

// How the taps of an axis are compiled and summed.
struct Sums {
  Axis axis{};
  Words taps;
  int bits = 0;        // a sum is a fraction of 2^-bits code values
  double max_sum = 0;  // of a sum
  double error = 0;    // of a sum, in code values, beside that of what is summed
};

// Real taps over elements with fractions of 2^-bits code values and within +-max_sum. As many bits as `limit` leaves
// room for, at most `most`. False: none.
bool fix(Sums& sums, const std::vector<double>& taps, bool mirrored, int in_bits, double in_max_sum, double limit,
         int most) {
  double peak = 0;
  for (const double tap : taps) peak = std::max(peak, std::abs(tap));
  if (peak == 0) return false;
  sums.axis = {static_cast<int>(taps.size()), mirrored};
  const std::size_t products = mirrored ? (taps.size() + 1) / 2 : taps.size();
  for (sums.bits = most; sums.bits > 0; --sums.bits) {
    const double unit = std::ldexp(1.0, 15 + sums.bits - in_bits);
    if (peak * unit > word_limit) continue;
    sums.taps.clear();
    double total = 0, moved = 0;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const double tap = std::nearbyint(taps[mirrored ? std::min(i, taps.size() - 1 - i) : i] * unit);
      if (i < products) sums.taps.push_back(static_cast<std::int16_t>(tap));
      total += std::abs(tap);
      moved += std::abs(tap / unit - taps[i]);
    }
    const double rounding = 0.5 * static_cast<double>(products);
    sums.max_sum = in_max_sum * total / 32768 + rounding;
    sums.error = std::ldexp(moved * in_max_sum, -in_bits) + std::ldexp(rounding, -sums.bits);
    if (sums.max_sum <= limit) return true;
  }
  return false;
}

std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Words words_of(const std::vector<double>& values) {
  Words words;
  for (const double value : values) words.push_back(static_cast<std::int16_t>(static_cast<std::int64_t>(value)));
  return words;
}

// The most bits of a fraction that hold a centre tap times 2^8, and its product with any sample plus the offset. The
// sum down the column is added to that with saturation, so that the two need not fit together.
int bits_beside_centre(const ComponentGroup& group, const std::vector<double>& offset, double centre) {
  double most = 0;
  for (std::size_t i = 0; centre != 0 && i < offset.size(); ++i) {
    const double black = offset[i] - centre * group.component[i % group.components]->zero;
    most = std::max({most, std::abs(black), std::abs(black + centre * sample_limit)});
  }
  const auto fits = [&](int bits) {
    return std::abs(std::nearbyint(std::ldexp(centre, 8 + bits))) <= (centre > 0 ? word_limit + 1 : word_limit) &&
           std::ldexp(most, bits) <= word_limit - 1;
  };
  int bits = most_bits;
  while (bits > 0 && !fits(bits)) --bits;
  return bits;
}

template <class Value>
Words pattern_of(const ComponentGroup& group, Value value) {
  std::vector<double> values;
  for (int i = 0; i < pattern_length; ++i) values.push_back(value(*group.component[i % group.components]));
  return words_of(values);
}

}  // namespace

bool pack_fractions(Packed& packed, const ComponentGroup& group, const std::vector<double>& offset,
                    const Factors& factors, double centre) {
  const auto& [weights, given_column, given_row] = factors;
  // The magnitudes of a row that come to 1 leave its sums as many bits as samples have.
  const double gain = magnitude_of(given_row);
  const std::vector<double> row = times(given_row, 1 / gain), column = times(given_column, gain);
  const bool mirrored_row = is_mirrored(row), mirrored_column = is_mirrored(column);
  const double row_limit = mirrored_row ? word_limit / 2 : word_limit;
  const double column_limit = mirrored_column ? word_limit / 2 : word_limit;
  const double after_frames = magnitude_of(column) * magnitude_of(row), after_row = magnitude_of(column);
  int bits = weights.empty() && mirrored_row ? 6 : 7;
  const int scale = 1 << bits;
  double max_sum = sample_limit * scale, error = 0;
  packed.staging->scale = scale;
  packed.staging->zero = pattern_of(group, [&](const Component& c) { return c.zero * scale; });
  packed.staging->ghost = pattern_of(group, [&](const Component& c) { return (c.ghost - c.zero) * scale; });
  Sums sums;
  if (!weights.empty()) {
    if (!fix(sums, weights, false, bits, max_sum, row_limit, 14)) return false;
    packed.staging->weights = sums.taps;
    bits = sums.bits;
    max_sum = sums.max_sum;
    error += sums.error * after_frames;
  }
  if (!fix(sums, row, mirrored_row, bits, max_sum, column_limit, 14)) return false;
  error += sums.error * after_row;
  packed.row->taps = sums.taps;
  packed.along = sums.axis;
  const int column_bits = bits_beside_centre(group, offset, centre);
  if (!fix(sums, column, mirrored_column, sums.bits, sums.max_sum, word_limit, column_bits)) return false;
  error += sums.error + std::ldexp(0.5, -sums.bits);
  if (centre != 0) error += std::ldexp(1.0, -sums.bits);  // of the tap and of its product
  packed.column->taps = sums.taps;
  packed.down = sums.axis;
  if (!(error <= max_fraction_error)) return false;
  packed.column->less_centre = static_cast<std::int16_t>(-std::nearbyint(std::ldexp(centre, 8 + sums.bits)));
  for (std::size_t i = 0; i < offset.size(); ++i) {
    const double value = offset[i] - centre * group.component[i % group.components]->zero;
    const double start = std::nearbyint(std::ldexp(value, sums.bits));
    if (!(std::abs(start) <= word_limit)) return false;
    packed.column->start.push_back(static_cast<std::int16_t>(start));
  }
  packed.column->multiplier = static_cast<std::int16_t>(1 << (15 - sums.bits));
  return true;
}

bool pack_integers(Packed& packed, const ComponentGroup& group, const std::vector<double>& offset, double divisor,
                   const Factors& factors) {
  const auto& [weights, column, row] = factors;
  constexpr double limit = 65535;
  double sum = 1;
  for (const auto* taps : {&weights, &column, &row}) {
    if (taps->empty()) continue;
    if (std::ranges::any_of(*taps, [](double tap) { return tap < 0; })) return false;
    sum *= magnitude_of(*taps);
  }
  if (sum * sample_limit > limit || divisor < 2 || divisor > limit) return false;
  const auto d = static_cast<std::int64_t>(divisor);
  PackedColumn& c = *packed.column;
  c.epilogue = (d & (d - 1)) == 0 ? Epilogue::power_of_2 : d % 2 ? Epilogue::odd : Epilogue::even;
  const std::int64_t half = c.epilogue == Epilogue::power_of_2 ? 0 : d / 2;
  double max_sum = 0;
  for (std::size_t i = 0; i < offset.size(); ++i) {
    const double zero = group.component[i % group.components]->zero;
    const double start = offset[i] * divisor - zero * sum + static_cast<double>(half);
    if (start < 0 || start != std::floor(start)) return false;
    max_sum = std::max(max_sum, start + sum * sample_limit);
    c.start.push_back(static_cast<std::int16_t>(static_cast<std::int64_t>(start)));
  }
  if (max_sum + (c.epilogue == Epilogue::power_of_2 ? divisor / 2 : 0) > limit) return false;
  // Divides as Granlund and Montgomery have it (PLDI 1994): by a reciprocal rounded up, by too little to max_sum the
  // next quotient; with as many bits as fit, of which `shift` are beyond 16.
  int shift = 0;
  const auto reciprocal = [&](int bits) { return ((std::int64_t{1} << (16 + bits)) + d - 1) / d; };
  while (c.epilogue != Epilogue::power_of_2 && reciprocal(shift + 1) <= 65535) ++shift;
  const std::int64_t multiplier = reciprocal(shift), excess = multiplier * d - (std::int64_t{1} << (16 + shift));
  if (max_sum * static_cast<double>(excess) >= std::ldexp(1.0, 16 + shift)) return false;
  c.multiplier = static_cast<std::int16_t>(multiplier);
  if (shift > 0) c.second = static_cast<std::int16_t>(1 << (16 - shift));
  c.divisor = static_cast<std::int16_t>(d);
  c.half = static_cast<std::int16_t>(d / 2 - 1);
  const auto pack = [](const std::vector<double>& taps, Axis& axis) {
    axis = {static_cast<int>(taps.size()), is_mirrored(taps)};
    Words words = words_of(taps);
    if (axis.mirrored) words.resize((taps.size() + 1) / 2);
    return words;
  };
  packed.row->taps = pack(row, packed.along);
  c.taps = pack(column, packed.down);
  packed.staging->weights = words_of(weights);
  packed.staging->zero = Words(pattern_length);
  packed.staging->ghost = pattern_of(group, [](const Component& component) { return component.ghost; });
  return true;
}

}  // namespace convolve::cpu::fixed16
