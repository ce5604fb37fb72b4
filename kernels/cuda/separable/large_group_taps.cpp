// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/large_group_taps.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/separable/byte_factors.hpp"

namespace convolve::cuda {
namespace {

constexpr double middle = 128;  ///< V is the row pass of samples less this
constexpr int limb = 256;

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

double tap_at(const std::vector<double>& taps, int i) {
  return i >= 0 && i < static_cast<int>(taps.size()) ? taps[i] : 0;
}

/// The row's taps times 2^scale as integers of 16 bits, and what their sums of bytes can be in units of 256.
struct RowTaps {
  int scale = 0;
  double error = 0;  ///< the sum of what the taps are off by, in their own units
  double below = 0, above = 0;

  RowTaps(const std::vector<double>& taps, std::vector<double>& to) : scale(14 - std::ilogb(largest_of(taps))) {
    round(taps, to);
    if (below + above >= 0x1p23 || high_of(largest_of(to)) > 127) --scale, round(taps, to);
  }
  static double high_of(double tap) { return std::floor(tap / limb); }

 private:
  void round(const std::vector<double>& taps, std::vector<double>& to) {
    to.clear();
    error = below = 0, above = 256;
    for (const double tap : taps) {
      to.push_back(std::nearbyint(std::ldexp(tap, scale)));
      error += std::abs(std::ldexp(to.back(), -scale) - tap);
      const double high = 255 * high_of(to.back());
      (high < 0 ? below : above) += std::abs(high);
      above += 255;
    }
  }
};

bool real_taps(const PlanDesc& desc, const FrameFactors& frame, GroupTaps& to) {
  const SpaceFactors& f = frame.factors;
  LargeTaps& taps = to.taps;
  const RowTaps row(f.row, taps.row);
  if (row.below + row.above >= 0x1p23) return false;
  const int column_scale = 14 - std::ilogb(largest_of(f.column));
  double column_error = 0;
  for (std::size_t i = 0; i < f.column.size(); ++i)
    column_error += std::abs(std::ldexp(taps.column[i], -column_scale) - f.column[i]);
  // The row pass' integer counts 2^(8 - scale); what its shift cuts off is half of one on average.
  const double unit = std::ldexp(1.0, 8 - row.scale), row_sum = sum_of(taps.row) / limb;
  const double zero = std::nearbyint(middle * row_sum), off = (zero + 0.5 - middle * row_sum) * unit;
  to.row_start = static_cast<std::int32_t>(float_bits + row.below);
  const double row_magnitude = magnitude_of(f.row) + row.error,
               column_magnitude = magnitude_of(f.column) + column_error;
  const double v = middle * row_magnitude + 2 * unit;
  const int v_scale = 13 - std::ilogb(v);
  to.v_gain = static_cast<float>(std::ldexp(unit, v_scale));
  to.v_level = static_cast<float>(-(0x1p23 + row.below + zero) * std::ldexp(unit, v_scale));
  taps.gain = static_cast<float>(std::ldexp(1.0, -v_scale - column_scale));
  taps.centre = static_cast<float>(frame.centre / taps.gain);
  const double v_error = middle * row.error + unit / 2 + std::ldexp(half_rounding(std::ldexp(v, v_scale)), -v_scale);
  const double error = v_error * column_magnitude + v * column_error;
  const double all = sum_of(f.row) * sum_of(f.column), shifted = off * sum_of(f.column);
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double level = middle * all + shifted - c.zero * (all + frame.centre) + c.zero + c.bias;
    taps.level[p][i] = static_cast<float>(level);
    const double rounded = (2 * v * column_magnitude + std::abs(level) + 255 * std::abs(frame.centre)) * 0x1p-17;
    return error + rounded + ghost_rounding(desc, f) < max_sample_error;
  });
}

/// The pixel of a strip that row m of the row pass' product makes, so that a lane of the column pass ends with 16
/// neighbouring bytes.
int pixel_of(int m) {
  const int group = m / 8, t = m % 8 / 2, e = m % 2;
  return 16 * t + 2 * group + e;
}

/// Visits (row, first column, thread's word) of a product's left matrix: a word has the columns from there on.
template <class Word>
void each_word(bool halves, int product, std::vector<std::uint32_t>& words, const Word& word) {
  for (int thread = 0; thread < 128; ++thread)
    for (int w = 0; w < 4; ++w) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + w % 2 * 8, t = thread % 4;
      words.push_back(halves ? word(row, 16 * product + 8 * (w / 2), t) : word(row, 32 * product + 16 * (w / 2), t));
    }
}

}  // namespace

int group_before(int centre_x) {
  return (centre_x + 15) / 16 * 16;
}
int group_units(int width, int centre_x, int height) {
  const int pixels = 63 + width + group_before(centre_x) - centre_x, rows = 63 + height;
  return (std::max(pixels, rows) + 31) / 32;
}

bool make_group_taps(const PlanDesc& desc, const FrameFactors& frame, const LargeTaps& taps, GroupTaps& to) {
  to.taps = taps;
  if (taps.numbers == LargeNumbers::halves) return real_taps(desc, frame, to);
  to.row_start = static_cast<std::int32_t>(taps.row_start);
  for (auto& plane : to.taps.start)
    for (std::int32_t& start : plane) start += taps.beside;
  return true;
}

std::vector<std::uint32_t> group_row_matrices(const GroupTaps& taps, int centre_x, int units) {
  std::vector<std::uint32_t> words;
  const int lead = group_before(centre_x) - centre_x;
  const bool halves = taps.taps.numbers == LargeNumbers::halves;
  for (int part = 0; part < (halves ? 2 : 1); ++part)
    for (int i = 0; i < units; ++i)
      each_word(false, i, words, [&](int m, int from, int t) {
        std::uint32_t word = 0;
        for (int e = 0; e < 4; ++e) {
          const double tap = tap_at(taps.taps.row, from + 4 * t + e - lead - pixel_of(m));
          const double high = halves ? RowTaps::high_of(tap) : tap;
          const int value = static_cast<int>(part == 0 ? high : tap - limb * high);
          word |= (static_cast<std::uint32_t>(value) & 255) << 8 * e;
        }
        return word;
      });
  return words;
}

std::vector<std::uint32_t> group_column_matrices(const GroupTaps& taps, int units) {
  std::vector<std::uint32_t> words;
  const bool halves = taps.taps.numbers == LargeNumbers::halves;
  for (int i = 0; i < (halves ? 2 * units : units); ++i)
    each_word(halves, i, words, [&](int m, int from, int t) {
      std::uint32_t word = 0;
      if (halves)
        for (int e = 0; e < 2; ++e)
          word |= std::uint32_t{half_bits(tap_at(taps.taps.column, from + 2 * t + e - m))} << 16 * e;
      else
        for (int e = 0; e < 4; ++e) {
          const double tap = tap_at(taps.taps.column, from + e / 2 * 8 + 2 * t + e % 2 - m);
          word |= (static_cast<std::uint32_t>(static_cast<int>(tap)) & 255) << 8 * e;
        }
      return word;
    });
  return words;
}

}  // namespace convolve::cuda
