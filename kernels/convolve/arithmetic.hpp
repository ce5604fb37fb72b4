// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numeric contract, once for both backends: which accumulator a filter needs, and how a sum becomes a sample.
//
//   out = clamp(round_to_even(sum(coefficient * (in - z)) / divisor + offset), 0, 2^bits - 1),  offset = z + bias
//
// Where the taps are integers over one divisor and every partial sum fits 24 bits, the sum is exact in f32 as in
// int32, and `Quantizer` yields the correctly rounded quotient, ties included. The reciprocal of the divisor is
// inexact, so that sum * reciprocal would flip exact ties; adding and taking away `rounding_bias` rounds the product to
// multiples of 2^-k first, which puts ties back where they are, while every other quotient is too far from a tie
// (at least 1 / (2 * divisor)) to be moved onto one. Where f32 has too few bits for that, the reciprocal's own rounding
// error joins in; beyond that, as with 16-bit samples, the remainder that the nearest even integer leaves decides,
// exactly; where that will not do either, doubles divide.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "convolve/filter.hpp"
#include "convolve/host_device.hpp"
#include "convolve/plane.hpp"

namespace convolve {

enum class Accumulator : std::uint8_t {
  exact,   ///< integer coefficients; f32 or int32 sums, both exact
  single,  ///< f32 sums are within one code value
  double_  ///< cancellation or depth ask for f64 sums
};

/// How a sum becomes the value that is rounded: the cheapest way that is right. What comes later is right too.
enum class Division : std::uint8_t {
  product,       ///< (sum * gain + (offset + rounding_bias)) - rounding_bias, fused or not
  two_products,  ///< fma(sum, gain, sum * gain_low) + offset
  remainder,     ///< remainder_value()
  doubles        ///< Quantizer::wide_value()
};

/// A sum to a sample, for one component.
struct Quantizer {
  Division division = Division::product;
  float gain = 1, gain_low = 0;  ///< 1 / divisor, and what it lacks
  float offset = 0;
  float rounding_bias = 0;  ///< added and taken away: rounds the value to multiples of 2^-k
  float max = 255;          ///< 2^bits - 1; infinity for f32 samples
  double divisor = 1, wide_offset = 0;

  /// The value before rounding to an integer; round it to nearest, ties to even, and clamp to [0, max].
  template <class Sum>
  CONVOLVE_HD double wide_value(Sum sum) const {
    return static_cast<double>(sum) / divisor + wide_offset;
  }
};

/// sum / divisor + offset to nearest, ties to even, in single precision; `gain` is 1 / divisor. Exact where a Quantizer
/// has Division::remainder, or an earlier one of an exact sum, and the result is within reach of its range; beyond, off
/// by too little to come back into it.
CONVOLVE_HD float remainder_value(float sum, float gain, float offset, float divisor) {
  constexpr float whole = 0x1.8p23f;  // added and taken away, it rounds to integers
  // A little less than 1 / divisor, by more than the rounding of both: what is a tie then rounds to 0.
  constexpr float less = 1 - 0x1p-22f;
  const float even = 2 * ((fmaf(sum, gain / 2, offset / 2) + whole) - whole);
  const float rest = fmaf(offset - even, divisor, sum);  // exact: at most a little more than the divisor
  return even + (fmaf(rest, gain * less, whole) - whole);
}

/// The components of all planes, in order. They are the layout's own.
std::vector<const Component*> all_components(const FrameLayout& layout);

/// The largest magnitude that (in - z) can have, over those of the components that are filtered; 1 for f32.
double largest_input(const FrameLayout& layout, bool constant_border, std::span<const Component* const> components);

/// The sum of what single precision rounds, at the most, of inputs of 1; each rounding is by 2^-24 of it.
double roundings(const Filter& filter);

/// What a plan computes with: chosen once, for all components of a frame or for some of them.
struct Arithmetic {
  Accumulator accumulator = Accumulator::single;
  std::vector<double> coefficients;  ///< what multiplies (in - z): exact integers, or the effective taps
  double divisor = 1;                ///< of exact integers, else 1
  bool exact_taps = false;           ///< the coefficients are exact integers; always so with Accumulator::exact
};

/// Chooses the accumulator for a filter over those of these components of `layout` that are filtered.
/// `constant_border`: their ghost levels take part in sums. A component whose exact sum fits 24 bits gets exact sums
/// whatever stands beside it: where others do not fit, or where a ghost level is no whole number and would round too
/// much in single precision, integer taps are summed in double precision. A sample that sees no such ghost level is
/// exact with either accumulator.
Arithmetic choose_arithmetic(const Filter& filter, const FrameLayout& layout, bool constant_border,
                             std::span<const Component* const> components);

/// Chooses one arithmetic for all components, for plans that sum them alike.
Arithmetic choose_arithmetic(const Filter& filter, const FrameLayout& layout, bool constant_border);

/// What frames are multiplied by before they are added up, in the numbers of the arithmetic; empty where the filter
/// does not combine frames.
std::vector<double> frame_weights(const Filter& filter, const Arithmetic& arithmetic);

/// What multiplies the sum of combined frames, [row][column]; of other filters all coefficients, [time][row][column].
std::vector<double> spatial_coefficients(const Filter& filter, const Arithmetic& arithmetic);

/// The factors with `column` and `row` in the numbers of the arithmetic: integers where its taps are exact.
SpaceFactors in_numbers_of(const Arithmetic& arithmetic, SpaceFactors factors);

inline constexpr int max_terms = 3;  ///< of a filter's sum of products of a column and a row

/// The terms, at most `max_terms`, that the spatial part of a filter without space factors is the sum of, for row
/// passes whose sums are then filtered by columns. Empty where there is no such sum, where the filter has frames that
/// do not factor, where sums are to be exact, and where terms that cancel would round too much in single precision.
std::vector<SpaceFactors> low_rank_terms(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                                         bool constant_border);

/// The arithmetic of such a sum, where `arithmetic` is that of all taps at once: passes along the axes round fewer
/// sums, so that single precision may do where those ask for double. The same where there is no such sum, and for
/// rank 1.
Arithmetic low_rank_arithmetic(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                               bool constant_border);

/// The arithmetic for passes along the axes of a filter that has frame_factors(), where `arithmetic` is that of all
/// taps at once: such sums are of other numbers, and a filter too large to be summed at once is summed in no other way.
Arithmetic frame_factors_arithmetic(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                                    bool constant_border, std::span<const Component* const> components);

/// The quantizer of one component under that arithmetic.
Quantizer make_quantizer(const Arithmetic& arithmetic, const FrameLayout& layout, const Component& component);

}  // namespace convolve
