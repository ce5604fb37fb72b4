// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/arithmetic.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "convolve/is_whole.hpp"

namespace convolve {

std::vector<const Component*> all_components(const FrameLayout& layout) {
  std::vector<const Component*> all;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) all.push_back(&layout.plane[p].component[c]);
  return all;
}

namespace {

// The largest magnitude that (in - z) can have.
double largest_input(const FrameLayout& layout, const Component& component, bool constant_border) {
  const double largest = std::max(component.zero, layout.max_value() - component.zero);
  return constant_border ? std::max(largest, std::abs(component.ghost - component.zero)) : largest;
}

}  // namespace

double largest_input(const FrameLayout& layout, bool constant_border, std::span<const Component* const> components) {
  if (layout.type == SampleType::f32) return 1;
  double largest = 0;
  for (const Component* component : components)
    if (component->filtered) largest = std::max(largest, largest_input(layout, *component, constant_border));
  return largest;
}

namespace {

// What roundings() is where all taps at once come to `direct`.
double with_direct(const Filter& filter, double direct) {
  const double all = filter.sum_abs();
  const double passes = (filter.depth() + filter.height() + filter.width()) * all;
  return std::min(std::max(direct, passes), filter.count() * all) + 2 * all;
}

}  // namespace

// The sum of what single precision rounds, at the most, of inputs of 1: each multiply-add a partial sum, whatever the
// order, so that the k-th is at most the k largest taps'; each tap itself; the offset's sum. Passes along the axes of a
// filter that factors round as many partial sums as it has taps along them, each of at most all taps.
double roundings(const Filter& filter) {
  std::vector<double> largest_first;
  for (const double tap : filter.taps()) largest_first.push_back(std::abs(tap));
  std::sort(largest_first.begin(), largest_first.end(), std::greater<>());
  double partial = 0, direct = 0;
  for (const double tap : largest_first) direct += partial += tap;
  return with_direct(filter, direct);
}

namespace {

double largest_input(const FrameLayout& layout, bool constant_border) {
  return largest_input(layout, constant_border, all_components(layout));
}

// Sums below this are exact in single precision.
constexpr double exact_sums = 1 << 24;

// How many code values a sum can be off by that rounds so much, in f32 of inputs of 1. Less than `largest_rounding`
// keeps it within one of the right sample.
constexpr double largest_rounding = 0.95;
double rounding_error(double roundings, double input) {
  return roundings * input * std::numeric_limits<float>::epsilon() / 2;
}

// Whether all taps at once may be summed in single precision. Most filters are so far from rounding too much, or from
// rounding little enough, that the number of their taps says it: to sort those of a large one takes milliseconds.
bool fits_single(const Filter& filter, double input) {
  const double all = filter.sum_abs(), at_most = (filter.count() + 2) * all;
  if (rounding_error(at_most, input) < largest_rounding) return true;
  // Partial sums are the least where all taps are alike.
  const double at_least = with_direct(filter, (filter.count() + 1) / 2.0 * all);
  return rounding_error(at_least, input) < largest_rounding &&
         rounding_error(roundings(filter), input) < largest_rounding;
}

void take_exact_taps(Arithmetic& arithmetic, const ExactTaps& exact, Accumulator accumulator) {
  arithmetic.accumulator = accumulator;
  arithmetic.coefficients.assign(exact.taps.begin(), exact.taps.end());
  arithmetic.divisor = static_cast<double>(exact.divisor);
  arithmetic.exact_taps = true;
}

double magnitude_of(const ExactTaps& exact) {
  double magnitude = 0;
  for (const std::int32_t n : exact.taps) magnitude += std::abs(static_cast<double>(n));
  return magnitude;
}

// The effective taps, in single precision where that is within one code value.
Arithmetic real_arithmetic(const Filter& filter, const FrameLayout& layout, double input) {
  Arithmetic arithmetic;
  arithmetic.coefficients = filter.taps();
  const bool single = layout.type == SampleType::f32 || fits_single(filter, input);
  arithmetic.accumulator = single ? Accumulator::single : Accumulator::double_;
  return arithmetic;
}

}  // namespace

Arithmetic choose_arithmetic(const Filter& filter, const FrameLayout& layout, bool constant_border) {
  return choose_arithmetic(filter, layout, constant_border, all_components(layout));
}

Arithmetic choose_arithmetic(const Filter& filter, const FrameLayout& layout, bool constant_border,
                             std::span<const Component* const> components) {
  const double input = largest_input(layout, constant_border, components);
  if (layout.type == SampleType::f32 || !filter.exact()) return real_arithmetic(filter, layout, input);
  const double magnitude = magnitude_of(*filter.exact());
  bool some_fit = false, all_fit = true, whole_ghosts_alone = true;
  for (const Component* component : components) {
    if (!component->filtered) continue;
    const bool fits = magnitude * largest_input(layout, *component, constant_border) < exact_sums;
    some_fit |= fits;
    all_fit &= fits;
    whole_ghosts_alone &= !constant_border || is_whole(component->ghost);
  }
  if (!some_fit) return real_arithmetic(filter, layout, input);
  const bool in_single = whole_ghosts_alone || fits_single(filter, input);
  Arithmetic arithmetic;
  take_exact_taps(arithmetic, *filter.exact(), all_fit && in_single ? Accumulator::exact : Accumulator::double_);
  return arithmetic;
}

std::vector<double> frame_weights(const Filter& filter, const Arithmetic& arithmetic) {
  if (!combines_frames(filter)) return {};
  if (!arithmetic.exact_taps) return filter.time_factor();
  return {filter.exact_time_factor().begin(), filter.exact_time_factor().end()};
}

std::vector<double> spatial_coefficients(const Filter& filter, const Arithmetic& arithmetic) {
  if (!combines_frames(filter)) return arithmetic.coefficients;
  const Filter space = filter.space_filter();
  if (!arithmetic.exact_taps) return space.taps();
  return {space.exact()->taps.begin(), space.exact()->taps.end()};
}

SpaceFactors in_numbers_of(const Arithmetic& arithmetic, SpaceFactors factors) {
  if (arithmetic.exact_taps) {
    factors.column.assign(factors.exact_column.begin(), factors.exact_column.end());
    factors.row.assign(factors.exact_row.begin(), factors.exact_row.end());
  }
  return factors;
}

std::vector<SpaceFactors> low_rank_terms(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                                         bool constant_border) {
  const bool frames = filter.depth() > 1;
  if (arithmetic.exact_taps || (frames && filter.time_factor().empty())) return {};
  std::vector<SpaceFactors> terms =
      frames ? filter.space_filter().space_terms(max_terms) : filter.space_terms(max_terms);
  double all = 0;
  for (const SpaceFactors& term : terms) all += magnitude_of(term.column) * magnitude_of(term.row);
  if (frames) all *= magnitude_of(filter.time_factor());
  const double roundings = all * (filter.depth() + filter.height() * terms.size() + filter.width() + 2);
  if (arithmetic.accumulator == Accumulator::single &&
      rounding_error(roundings, largest_input(layout, constant_border)) >= largest_rounding)
    return {};
  return terms;
}

Arithmetic low_rank_arithmetic(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                               bool constant_border) {
  if (arithmetic.accumulator != Accumulator::double_ || arithmetic.exact_taps || filter.rank() == 1) return arithmetic;
  Arithmetic single = arithmetic;
  single.accumulator = Accumulator::single;
  return low_rank_terms(filter, single, layout, constant_border).empty() ? arithmetic : single;
}

Arithmetic frame_factors_arithmetic(const Filter& filter, const Arithmetic& arithmetic, const FrameLayout& layout,
                                    bool constant_border, std::span<const Component* const> components) {
  if (layout.type == SampleType::f32) return arithmetic;
  Arithmetic result = arithmetic;
  double all = 0;
  for (const FrameFactors& frame : filter.frame_factors())
    all += magnitude_of(frame.factors.column) * magnitude_of(frame.factors.row) + std::abs(frame.centre);
  const double input = largest_input(layout, constant_border, components);
  const double roundings = all * (filter.depth() * (filter.height() + 1.0) + filter.width() + 2);
  const bool in_single = rounding_error(roundings, input) < largest_rounding;
  if (!arithmetic.exact_taps)
    result.accumulator = in_single ? Accumulator::single : Accumulator::double_;
  else if (all * arithmetic.divisor * input >= exact_sums)
    result.accumulator = Accumulator::double_;
  return result;
}

Quantizer make_quantizer(const Arithmetic& arithmetic, const FrameLayout& layout, const Component& component) {
  Quantizer q;
  const double offset = component.zero + component.bias;
  q.divisor = arithmetic.divisor;
  q.wide_offset = offset;
  q.offset = static_cast<float>(offset);
  if (layout.type == SampleType::f32) {
    q.max = std::numeric_limits<float>::infinity();
    return q;
  }
  q.max = static_cast<float>(layout.max_value());
  if (arithmetic.accumulator == Accumulator::double_) {
    q.division = Division::doubles;
  } else if (arithmetic.accumulator == Accumulator::single) {
    // f32 itself has to hold offset to a fraction of a code value.
    if (std::abs(offset) > 4.0 * layout.max_value()) q.division = Division::doubles;
  } else {
    const double divisor = arithmetic.divisor;
    q.gain = static_cast<float>(1 / divisor);
    q.gain_low = static_cast<float>(1 / divisor - static_cast<double>(q.gain));
    // Multiples of 2^-k up to 2^(22-k) are exact beside rounding_bias = 1.5 * 2^(23-k).
    const int k = 22 - (layout.bits + 1);
    const double grid = std::ldexp(1.0, -k);
    q.rounding_bias = static_cast<float>(1.5 * std::ldexp(1.0, 23 - k));
    // |quotient| <= max + |offset| in the range that matters; the gain and the product are each rounded by 2^-24 at
    // most.
    const double error = 2.0 * (layout.max_value() + 1 + std::abs(offset)) * std::ldexp(1.0, -24);
    const bool offset_fits = std::abs(offset) <= layout.max_value() && is_whole(2 * offset);
    const double from_tie = 0.5 / divisor;  // what any other quotient is from one at least
    if (!offset_fits || divisor > (1 << 20))
      q.division = Division::doubles;
    else if (divisor == 1)
      q.rounding_bias = 0;
    else if (from_tie > grid / 2 + error && grid / 2 > error)
      q.division = Division::product;
    else if (from_tie > error)  // of two sums, each rounded by 2^-24 at most
      q.division = Division::two_products;
    else
      q.division = Division::remainder;
  }
  return q;
}

}  // namespace convolve
