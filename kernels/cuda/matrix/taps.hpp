// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// MatrixTaps: a filter's taps as signed 8-bit limbs, and what turns their sums back into samples.
//
// A tap is `fixed * unit`, fixed = limb or 256 * high + low, or the same with a third limb. Exact filters keep their
// integers, the unit being one over the divisor; others are rounded to a power of two, their sum kept, and refused
// where that could cost more than `max_error` code values. Host code only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/byte_planes.hpp"
#include "cuda/common/epilogue.hpp"

namespace convolve::cuda {

/// What a kernel does with the sums of a tap's limbs, which decides the epilogues that its taps may ask for.
enum class LimbSums : std::uint8_t {
  separate,        ///< Each limb's sums are read as floats of their own; exact sums are joined as integers.
  separate_float,  ///< As `separate`; exact sums of one limb are read as floats, too, where that is right.
  joined,          ///< The limbs' sums are joined as integers first.
  joined_biased,   ///< As `joined`, and the kernel has Epilogue::biased_magic_number.
};

const char* name(Epilogue epilogue);  ///< as plans of `matrix` describe themselves

struct MatrixTaps {
  static constexpr double max_error = 0.45;

  int limbs = 1;
  Epilogue epilogue = Epilogue::saturate;
  std::vector<std::int32_t> fixed;             ///< as Filter::taps()
  float gain = 1, gain_low = 0;                ///< the unit, and what it lacks of the true reciprocal
  static constexpr float rounding_bias = 512;  ///< of Epilogue::biased_magic_number
  std::int32_t real_start = 0;                 ///< real: what the sums of either limb start from, to read as floats
  /// By plane and component, levels and bias: exact, what a sum starts from; real, what is added to its value, less
  /// what the float readings are off by.
  std::array<std::array<std::int32_t, max_components>, max_planes> start{};
  std::array<std::array<float, max_components>, max_planes> base{};
  std::array<std::array<float, max_components>, max_planes> level{};  ///< real, scaled: levels and bias alone

  std::int32_t limb(int d, std::size_t tap) const;           ///< d = 0: the highest
  std::vector<std::int8_t> limbs_from_highest(int d) const;  ///< of all taps
};

/// Makes the taps. Returns false where they do not fit into `max_limbs` limbs (over two: with joined sums alone), and
/// says in `why` what is in the way.
bool make_matrix_taps(const PlanDesc& desc, LimbSums how, MatrixTaps& taps, std::string& why, int max_limbs = 2);

/// Taps for samples of 16 bits, or of fewer that are moved up to the highest of 16, whose low and high bytes are
/// multiplied by themselves. The product of byte b and limb d, numbered from the lowest, has weight b + d.
///
/// Sums that begin with the highest weight are multiplied by 256 from one to the next, and exact where the taps are;
/// those that begin with the lowest are divided and rounded, so that 32 bits hold what counts of them.
struct U16Taps {
  static constexpr int max_limbs = 3;
  static constexpr double max_error = 0.95;  ///< samples stay within one code value of the right ones

  bool down = false;  ///< from the highest weight to the lowest
  int limbs = 1;
  int lowest = 0;  ///< weight of the products that are made; 1: what low bytes and low limbs lack is within the error
  std::vector<std::int32_t> fixed;  ///< as Filter::taps()
  float scale = 1;                  ///< of the sums, to sums of code values by coefficients of Arithmetic
  /// By plane and component: what is added to the sums of the last weight.
  std::array<std::array<std::int32_t, max_components>, max_planes> start{};

  std::int32_t limb(int d, std::size_t tap) const;           ///< d = 0: the lowest
  std::vector<std::int8_t> limbs_from_highest(int d) const;  ///< of all taps; d = 0: the highest
};

/// The arithmetic that makes samples of those sums, which are exact or near enough: never double precision.
Arithmetic u16_arithmetic(const PlanDesc& desc);

/// True where the filter can be had in at most so many limbs; else `why` says what is in the way.
bool make_u16_taps(const PlanDesc& desc, int max_limbs, U16Taps& taps, std::string& why);

}  // namespace convolve::cuda
