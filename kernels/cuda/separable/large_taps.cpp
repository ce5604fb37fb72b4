// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/large_taps.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/fused_product.hpp"
#include "cuda/common/half.hpp"
#include "cuda/separable/byte_factors.hpp"

namespace convolve::cuda {
namespace {

constexpr double sample_unit = 0x1p-24;  ///< A byte b as a half's bits is the subnormal b * 2^-24.
constexpr double middle = 128;           ///< V is the row pass of samples less this

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

/// Taps times 2^scale as halves, the largest in [2^14, 2^15), and how far they are off.
struct HalfTaps {
  int scale = 0;
  double error = 0;  ///< the sum of what the taps are off by, in their own units

  HalfTaps(const std::vector<double>& taps, std::vector<double>& to) : scale(14 - std::ilogb(largest_of(taps))) {
    to.clear();
    for (const double tap : taps) {
      to.push_back(half_value(half_bits(std::ldexp(tap, scale))));
      error += std::abs(std::ldexp(to.back(), -scale) - tap);
    }
  }
};

/// Taps as whole numbers of one byte, which add up to as many units as the taps do, and how far they are off.
struct ByteTaps {
  double unit = 0, error = 0;
  std::vector<double> taps;

  ByteTaps(const std::vector<double>& row, double per_tap) {
    for (const double tap : row) taps.push_back(std::round(tap * per_tap));
    unit = sum_of(row) / sum_of(taps);
    for (std::size_t i = 0; i < row.size(); ++i) error += std::abs(unit * taps[i] - row[i]);
  }
};
/// The best of some, of taps of one sign.
ByteTaps best_bytes(const std::vector<double>& row) {
  const double largest = sum_of(row) > 0 ? largest_of(row) : -largest_of(row);
  ByteTaps best(row, 255 / largest);
  for (int of_largest = 254; of_largest > 224; --of_largest)
    if (ByteTaps taps(row, of_largest / largest); taps.error < best.error) best = std::move(taps);
  return best;
}

/// Of taps whose row is set: V is `unit` times what the true row makes of samples less the middle, and the row's taps
/// are off by `row_error`. False where samples could be off by `most_error`.
bool real_taps(const PlanDesc& desc, const FrameFactors& frame, double unit, double row_error, double most_error,
               LargeTaps& taps) {
  const SpaceFactors& f = frame.factors;
  taps.numbers = LargeNumbers::halves;
  const HalfTaps column(f.column, taps.column);
  taps.gain = static_cast<float>(std::ldexp(1 / unit, -column.scale));
  taps.centre = static_cast<float>(frame.centre / taps.gain);
  const double row_magnitude = magnitude_of(f.row) + row_error,
               column_magnitude = magnitude_of(f.column) + column.error;
  const double v = middle * row_magnitude;
  const double v_error = middle * row_error + half_rounding(v * std::abs(unit)) / std::abs(unit);
  const double error = v_error * column_magnitude + v * column.error;
  const double all = sum_of(f.row) * sum_of(f.column);
  taps.magnitude = row_magnitude * column_magnitude;
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double level = middle * all - c.zero * (all + frame.centre) + c.zero + c.bias;
    taps.level[p][i] = static_cast<float>(level);
    taps.ghost[p][i] = half_bits(sum_of(taps.row) * std::nearbyint(c.ghost) * taps.row_scale + taps.row_start);
    // What single precision rounds of sums of some 300 products, 16 at a time.
    const double rounded = (2 * v * column_magnitude + std::abs(level) + 255 * std::abs(frame.centre)) * 0x1p-17;
    taps.error = std::max(taps.error, error + rounded + ghost_rounding(desc, f));
    return taps.error < most_error;
  });
}

bool half_taps(const PlanDesc& desc, const FrameFactors& frame, LargeTaps& taps) {
  const HalfTaps row(frame.factors.row, taps.row);
  taps.row_scale = sample_unit, taps.row_start = -middle * sum_of(taps.row) * sample_unit;
  return real_taps(desc, frame, std::ldexp(sample_unit, row.scale), row.error, max_sample_error, taps);
}

/// The multiple of the divisor that sums are read beside as floats, divided by it, and what is added to the quotient
/// for a time: see LargeTaps::whole. No multiple where sums are not: where one could leave the floats of 2^23 to 2^24,
/// or the gain is off by so much that a quotient could round to another sample. Ties, of even divisors, ask for an
/// exact gain, or for a quotient that is rounded to multiples of 2^-14 first: ties are, and nothing else comes near
/// one.
void find_whole(const PlanDesc& desc, LargeTaps& taps, double divisor) {
  double above = 0, below = 0;  // what taps of either sign sum up to
  for (const double r : taps.row)
    for (const double c : taps.column) (r * c > 0 ? above : below) += r * c;
  double least = 0, most = 0;
  all_filtered(desc.layout, [&](const Component& c, int, int) {
    const double offset = (c.zero + c.bias) * divisor;
    least = std::min(least, offset - above * c.zero + below * (255 - c.zero));
    most = std::max(most, offset + above * (255 - c.zero) - below * c.zero);
    return true;
  });
  const double whole = std::ceil((0x1p23 - least) / divisor), largest = whole * divisor + most;
  const double off = std::abs(static_cast<double>(taps.gain) * divisor - 1), of_quotient = off * largest / divisor;
  if (largest >= 0x1p24) return;
  if (of_quotient + 0x1p-17 < 0.5 / divisor && (off == 0 || std::fmod(divisor, 2) == 1)) {
    taps.whole = static_cast<float>(whole);
  } else if (of_quotient < 0x1p-15 && of_quotient + 0x1p-15 < 1 / divisor) {
    taps.whole = static_cast<float>(whole);
    taps.rounding = 768;  // quotients within -256 and 256 are then floats of 2^9 to 2^10; no other is a sample
  }
}

bool exact_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const FrameFactors& frame, LargeTaps& taps) {
  const SpaceFactors f = in_numbers_of(arithmetic, frame.factors);
  if (!fits(f.column, -128, 127) || !fits(f.row, -128, 127)) return false;
  if (middle * magnitude_of(f.row) > 32767) return false;  // V's two limbs
  if (ghost_rounding(desc, f) / arithmetic.divisor >= max_sample_error) return false;
  taps.numbers = LargeNumbers::limbs;
  taps.column = f.column, taps.row = f.row;
  const double row_sum = sum_of(f.row), all = row_sum * sum_of(f.column), centre = frame.exact_centre;
  taps.row_start = -middle * row_sum;
  taps.centre = static_cast<float>(centre);
  taps.divisor = static_cast<float>(arithmetic.divisor);
  taps.gain = static_cast<float>(1 / arithmetic.divisor);
  // All components are divided in one way.
  const bool products = all_filtered(desc.layout, [&](const Component& c, int, int) {
    return two_products_divide_with_offset(arithmetic, c, centre);
  });
  if (products) {
    taps.gain_low = static_cast<float>(1 / arithmetic.divisor - static_cast<double>(taps.gain));
    taps.divisor = 0;
    if (centre == 0) find_whole(desc, taps, arithmetic.divisor);
    if (taps.whole != 0) taps.beside = static_cast<std::int32_t>(float_bits + taps.whole * arithmetic.divisor - 0x1p23);
  }
  return all_filtered(desc.layout, [&](const Component& c, int p, int i) {
    const double offset = c.zero + c.bias;
    const double start = middle * all - c.zero * (all + centre);
    taps.level[p][i] = products ? 0 : static_cast<float>(offset);
    taps.start[p][i] = static_cast<std::int32_t>(products ? start + offset * arithmetic.divisor : start);
    const double ghost = row_sum * (std::nearbyint(c.ghost) - middle);
    taps.ghost[p][i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(ghost));
    return make_quantizer(arithmetic, desc.layout, c).division != Division::doubles && c.zero == std::floor(c.zero);
  });
}

double at(const std::vector<double>& values, int i) {
  return i >= 0 && i < static_cast<int>(values.size()) ? values[i] : 0;
}

/// A word of a matrix: two halves, or four bytes.
template <class Tap>
std::uint32_t word_of(LargeNumbers numbers, Tap&& tap) {
  std::uint32_t word = 0;
  if (numbers == LargeNumbers::halves)
    for (int e = 0; e < 2; ++e) word |= std::uint32_t{half_bits(tap(e))} << 16 * e;
  else
    for (int e = 0; e < 4; ++e) word |= (static_cast<std::uint32_t>(static_cast<int>(tap(e))) & 255) << 8 * e;
  return word;
}

/// The output pixel of a unit that column n of the row pass' product `tile` makes, so that a lane of its sums, which
/// holds columns 2 t and 2 t + 1, holds what lies side by side in V.
int pixel_of(int components, int tile, int n) {
  const int t = n / 2, e = n % 2;
  if (components == 1 || components == 3) return 8 * tile + n;
  if (components == 2) return tile / 2 * 16 + t + 4 * e + tile % 2 * 8;
  return 8 * tile + t % 2 + t / 2 * 4 + 2 * e;
}

}  // namespace

bool make_large_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const FrameFactors& frame, LargeTaps& taps) {
  taps = {};
  if (!is_of_bytes(desc, arithmetic, frame.factors)) return false;
  return arithmetic.exact_taps ? exact_taps(desc, arithmetic, frame, taps) : half_taps(desc, frame, taps);
}

bool make_large_taps_of_bytes(const PlanDesc& desc, const FrameFactors& frame, LargeTaps& taps) {
  constexpr double most_error = 0.5;
  const std::vector<double>& f = frame.factors.row;
  const auto [least, most] = std::minmax_element(f.begin(), f.end());
  if (*least < 0 && *most > 0) return false;
  const ByteTaps row = best_bytes(f);
  taps = {};
  taps.row = row.taps;
  const double most_of_v = middle * sum_of(row.taps);
  taps.row_scale = std::ldexp(1, std::min(0, std::ilogb(largest_half / most_of_v)));
  taps.row_start = -most_of_v * taps.row_scale;
  return real_taps(desc, frame, taps.row_scale / row.unit, row.error, most_error, taps);
}

std::vector<std::uint32_t> large_row_matrices(const LargeTaps& taps, int centre_x, int components) {
  const int unit = unit_of(taps.numbers), lead = large_lead(centre_x);
  const int units = large_row_units(unit, static_cast<int>(taps.row.size()), centre_x);
  std::vector<std::uint32_t> words;
  for (int i = 0; i < units; ++i)
    for (int part = 0; part < unit / 16; ++part)
      for (int lane = 0; lane < 32; ++lane)
        for (int w = 0; w < 4; ++w) {
          const int g = lane / 4, t = lane % 4, half = w % 2, to = pixel_of(components, 2 * part + w / 2, g);
          words.push_back(word_of(taps.numbers, [&](int e) {
            const int from = taps.numbers == LargeNumbers::halves ? 4 * t + 2 * half + e : 16 * half + 4 * t + e;
            return at(taps.row, unit * i + from - lead - to);
          }));
        }
  return words;
}

std::vector<std::uint32_t> large_column_matrices(const LargeTaps& taps, int units) {
  const int unit = unit_of(taps.numbers);
  std::vector<std::uint32_t> words;
  for (int i = 0; i < units; ++i)
    for (int part = 0; part < unit / 16; ++part)
      for (int lane = 0; lane < 32; ++lane)
        for (int w = 0; w < 4; ++w) {
          const int g = lane / 4, t = lane % 4, to = 16 * part + g + w % 2 * 8;
          words.push_back(word_of(taps.numbers, [&](int e) {
            const int from =
                taps.numbers == LargeNumbers::halves ? w / 2 * 8 + 2 * t + e : w / 2 * 16 + e / 2 * 8 + 2 * t + e % 2;
            return at(taps.column, unit * i + from - to);
          }));
        }
  return words;
}

std::vector<std::uint32_t> large_strip_matrices(const LargeTaps& taps, int centre_x, int units) {
  const int unit = unit_of(taps.numbers), lead = large_lead(centre_x);
  std::vector<std::uint32_t> words;
  for (int i = 0; i < units; ++i)
    for (int part = 0; part < unit / 16; ++part)
      for (int lane = 0; lane < 32; ++lane)
        for (int w = 0; w < 4; ++w) {
          const int g = lane / 4, t = lane % 4, to = 16 * part + g / 2 * 4 + w % 2 * 2 + g % 2;
          words.push_back(word_of(taps.numbers, [&](int e) {
            const int from = taps.numbers == LargeNumbers::halves ? 4 * t + w / 2 * 2 + e : w / 2 * 16 + 4 * t + e;
            return at(taps.row, unit * i + from - lead - to);
          }));
        }
  return words;
}

std::vector<std::uint32_t> large_byte_strip_matrices(const LargeTaps& taps, int centre_x) {
  constexpr int unit = 16;
  const int lead = large_lead(centre_x);
  std::vector<std::uint32_t> words;
  const auto add = [&](int first, int second, auto&& tap) {
    for (int lane = 0; lane < 32; ++lane)
      for (int w = 0; w < 4; ++w)
        words.push_back(word_of(
            taps.numbers, [&](int e) { return tap(unit * (w < 2 ? first : second), lane / 4, lane % 4, w % 2, e); }));
  };
  const auto column = [&](int at_unit, int g, int t, int half, int e) {
    return at(taps.column, at_unit + e / 2 * 8 + 2 * t + e % 2 - g - half * 8);
  };
  const auto row = [&](int at_unit, int g, int t, int half, int e) {
    return at(taps.row, at_unit + 4 * t + e - lead - g / 2 * 4 - half * 2 - g % 2);
  };
  add(2, 0, column), add(1, 2, column), add(0, 1, column);
  add(0, 1, row), add(1, 2, row);
  return words;
}

}  // namespace convolve::cuda
