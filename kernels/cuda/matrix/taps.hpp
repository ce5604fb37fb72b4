// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// MatrixTaps: a filter's taps as signed 8-bit digits, and what turns their sums back into samples.
//
// A tap is `fixed * unit`, fixed = digit or 256 * high + low, or the same with a third digit. Exact filters keep their
// integers, the unit being one over the divisor; others are rounded to a power of two, their sum kept, and refused
// where that could cost more than `most_error` code values. Host code only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/byte_planes.hpp"

namespace convolve::cuda {

enum class MatrixFinish : std::uint8_t {
  pack,      ///< the sum is the sample
  quotient,  ///< sum / divisor, as a product with a two-term reciprocal: ties stay where they are
  real,      ///< two digits whose sums are read as floats
  scaled,    ///< (256 * high + low) * unit + level
  reading,   ///< the sum from the bits of 2^23 on, read as a float, less 2^23, * unit: one product, where that is right
  lifted,    ///< the same + lift - lift, which rounds off what the product is not right to, so that ties stay ties
};

/// Which of them a kernel has. Digits' sums are read as floats apart, where the filter is of one frame, or joined
/// first. `apart_float`: apart, and exact sums of one digit as floats too, where that is right.
enum class MatrixReading : std::uint8_t { apart, apart_float, joined, lifted };

const char* name(MatrixFinish finish);

struct MatrixTaps {
  static constexpr double most_error = 0.45;

  int digits = 1;
  MatrixFinish finish = MatrixFinish::pack;
  std::vector<std::int32_t> fixed;    ///< as Filter::taps()
  float gain = 1, gain_low = 0;       ///< the unit, and what it lacks of the true reciprocal
  static constexpr float lift = 512;  ///< of MatrixFinish::lifted
  std::int32_t real_start = 0;        ///< real: what the sums of either digit start from, to read as floats
  /// By plane and component, levels and bias: exact, what a sum starts from; real, what is added to its value, less
  /// what the float readings are off by.
  std::array<std::array<std::int32_t, max_components>, max_planes> start{};
  std::array<std::array<float, max_components>, max_planes> base{};
  std::array<std::array<float, max_components>, max_planes> level{};  ///< real, scaled: levels and bias alone

  std::int32_t digit(int d, std::size_t tap) const;  ///< d = 0: the highest
};

/// True where the filter can be had in so many digits, of more than two joined sums alone; else `why` says what is in
/// the way.
bool make_matrix_taps(const PlanDesc& desc, MatrixReading how, MatrixTaps& taps, std::string& why, int most_digits = 2);

/// The same for samples of 16 bits, or fewer that are moved up to the highest of 16: of these, low byte and high byte
/// by themselves. The product of byte b and digit d, numbered from the lowest, has weight b + d.
///
/// Sums that begin with the highest weight are multiplied by 256 from one to the next, and exact where the taps are;
/// those that begin with the lowest are divided and rounded, so that 32 bits hold what counts of them.
struct WideTaps {
  static constexpr int most_digits = 3;
  static constexpr double most_error = MatrixTaps::most_error;

  bool down = false;  ///< from the highest weight to the lowest
  int digits = 1;
  int lowest = 0;  ///< weight of the products that are made; 1: what low bytes and low digits lack is within the error
  std::vector<std::int32_t> fixed;  ///< as Filter::taps()
  float scale = 1;                  ///< of the sums, to sums of code values by coefficients of Arithmetic
  /// By plane and component: what is added to the sums of the last weight.
  std::array<std::array<std::int32_t, max_components>, max_planes> start{};

  std::int32_t digit(int d, std::size_t tap) const;  ///< d = 0: the lowest
};

/// What the sums become samples by: theirs is no rounding that would ask for double precision.
Arithmetic wide_arithmetic(const PlanDesc& desc);

/// True where the filter can be had in at most so many digits; else `why` says what is in the way.
bool make_wide_taps(const PlanDesc& desc, int most_digits, WideTaps& taps, std::string& why);

}  // namespace convolve::cuda
