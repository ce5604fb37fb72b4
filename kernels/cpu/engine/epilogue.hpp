// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ways in which the engines that sum integers (dot/, fixed16/, amx/) make code values of sums, once for all of
// them. Engines that sum in floats go by Division (convolve/arithmetic.hpp) alone.
#pragma once

#include <cstdint>

namespace convolve::cpu {

/// How the sum of a sample's products becomes the code value that is clamped and stored. An engine has some of these;
/// those who make its taps choose the cheapest that is right.
enum class Epilogue : std::uint8_t {
  saturate,        ///< The sum is the code value, but for clamping.
  product,         ///< One multiply-add by the gain and the offset; its result is rounded to an integer.
  biased_product,  ///< One multiply-add with the rounding bias, which leaves the integer in the low bits of 16-bit
                   ///< results.
  two_products,    ///< The reciprocal is two floats, so that ties stay ties.
  division,        ///< In whatever way Division says, one by one.
  // The ways of 16-bit fixed point, where start values are among the sums:
  fraction,    ///< The sum is a fraction of a power of two, and is rounded by a multiplication that keeps high bits.
  power_of_2,  ///< The sum is divided by a power of two, ties to even.
  odd,         ///< The sum is divided by an odd number, which has no ties.
  even,        ///< The sum is divided by an even number; what the quotient leaves tells ties, which go to even.
};

}  // namespace convolve::cpu
