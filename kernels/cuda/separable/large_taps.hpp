// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What separable's tensor kernels for large filters (large.cuh) compute with: the taps as the banded matrices hold
// them, and what turns sums into samples. Host code only.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"

namespace convolve::cuda {

enum class LargeNumbers : std::uint8_t {
  halves,  ///< half precision, sums in single precision: real taps
  limbs    ///< 8-bit integers, sums of 32 bits, row sums as two limbs: integer taps, exact
};

/// Pixels, or rows, that a product takes in, and makes.
constexpr int unit_of(LargeNumbers numbers) {
  return numbers == LargeNumbers::halves ? 16 : 32;
}

/// The row pass makes V = row_scale * sum(row * in) + row_start of bytes, the column pass H = sum(column * V). A sample
/// is H + start, then `centre` times the input is added, then it is divided: multiplied by `gain`, and `level` added.
/// Of exact taps it is multiplied by `gain` and `gain_low`, or, with a `divisor`, remainder_value() divides. With a
/// `whole` the bits of H + start + beside are a float of 2^23 or more, and fma(that, gain, rounding - whole) - rounding
/// does as well: so strips divide (Magic numbers, kernels/README.md).
struct LargeTaps {
  LargeNumbers numbers = LargeNumbers::halves;
  std::vector<double> column, row;  ///< as the matrices hold them
  double row_start = 0, row_scale = 1;
  double error = 0;      ///< of real taps: what samples may be off by,
  double magnitude = 0;  ///< and of what the taps of a column and a row are at the most together
  float gain = 1, gain_low = 0, divisor = 0, whole = 0, rounding = 0, centre = 0;
  std::int32_t beside = 0;
  std::array<std::array<std::int32_t, max_components>, max_planes> start{};
  std::array<std::array<float, max_components>, max_planes> level{};
  std::array<std::array<std::uint16_t, max_components>, max_planes> ghost{};  ///< V of a row of ghost cells, its bits
};

/// The taps of a filter of one frame that is a column times a row, and `frame.centre` more at the centre; false where
/// the result could be off by a code value, or where exact taps do not fit.
bool make_large_taps(const PlanDesc& desc, const Arithmetic& arithmetic, const FrameFactors& frame, LargeTaps& taps);
/// Real taps, for which make_large_taps() is true, those of the row as whole numbers of 0 to 255, since products of
/// bytes take half the time of those of halves: V is halves all the same. The numbers add up to what the taps do, so
/// that an even frame is as exact as by halves. False where the row's taps are of either sign, or where samples could
/// be off by half a code value. (Of Gaussian blurs of 63 to 255 pixels they may be by 0.2 to 0.45.)
bool make_large_taps_of_bytes(const PlanDesc& desc, const FrameFactors& frame, LargeTaps& taps);

/// How many units the row pass takes in for a unit of outputs, and the column pass likewise. The row pass begins at a
/// whole group of four pixels: `large_lead` before the first pixel that a tap meets.
inline int large_lead(int centre_x) {
  return (4 - centre_x % 4) % 4;
}
inline int large_column_units(int unit, int taps) {
  return (taps - 2 + unit) / unit + 1;
}
inline int large_row_units(int unit, int taps, int centre_x) {
  return large_column_units(unit, taps + large_lead(centre_x));
}

/// The banded matrices, unit after unit, as the lanes of a warp hold them: words [part][lane][4], `unit / 16` parts.
std::vector<std::uint32_t> large_row_matrices(const LargeTaps& taps, int centre_x, int components);
std::vector<std::uint32_t> large_column_matrices(const LargeTaps& taps, int units);
/// The row pass' as the left operand, as strips have it.
std::vector<std::uint32_t> large_strip_matrices(const LargeTaps& taps, int centre_x, int units);

/// Both of integer taps in three units of 16 at the most, as large_byte_strips.cuh has them, of the column first.
std::vector<std::uint32_t> large_byte_strip_matrices(const LargeTaps& taps, int centre_x);

/// The value of an output row, in bytes from a group of 32 on, that V holds at place p of the group. V's order is such
/// that a lane that holds neighbours of the row pass stores whole vectors, and one of the column pass ends with eight
/// neighbouring bytes.
constexpr int large_byte_of(int p) {
  return p % 8 / 2 * 8 + p / 8 * 2 + p % 2;
}

}  // namespace convolve::cuda
