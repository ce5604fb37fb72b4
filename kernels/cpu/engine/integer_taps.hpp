// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// IntegerTaps: a filter over 8-bit samples in integers, for the kernels that form 32-bit sums of products.
//
// sum(tap * (in - z)) becomes scale * (sum(integer * in) - z * sum(integer)). Exact filters keep their own integers;
// others are rounded to multiples of 1 / scale where that moves no result by more than a quarter of a code value, or,
// to taps of one byte, by less than a code value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// The most that rounding taps and sums may move a result by, in code values.
inline constexpr double max_error = 0.25;
/// The same of make_byte_taps(): what is left to one code value is more than the rounding of gains and offsets.
inline constexpr double max_byte_error = 0.95;

/// Whether samples are bytes, and so are the levels that stand for zero and for what is outside the frame.
bool holds_bytes(const FrameLayout& layout, Border border, const ComponentGroup& group);

struct IntegerTaps {
  std::vector<std::int32_t> taps;  ///< [depth][height][width]
  double gain = 1;                 ///< what a sum is multiplied by, before the quantizer's own gain
  double divisor = 1;              ///< 1 / gain
  std::int64_t sum = 0;
};

/// For the coefficients of `arithmetic`: taps of magnitude at most `largest`, such that every sum fits 31 bits. Nothing
/// where the layout, its levels, the accumulator or the error bound rule integers out. `weight`: what later multiplies
/// the sums' errors.
std::optional<IntegerTaps> make_integer_taps(const Arithmetic& arithmetic, const FrameLayout& layout, Border border,
                                             const ComponentGroup& group, int largest, double weight = 1);

/// Which real taps of a byte are taken, of those that are near enough: where each product costs as much, the nearest;
/// where many or large ones need a sum or a product more, small ones.
enum class ByteTaps : std::uint8_t { nearest, small };

/// The same for taps of one byte, of magnitude 127 at the most, but for the one at `wide`, which has 16 bits. Real taps
/// become integers over a whole divisor, of which the sum is that of the taps, as nearly as may be: what is level stays
/// level. Of many divisors one is taken that moves no result by more than max_byte_error.
std::optional<IntegerTaps> make_byte_taps(const Arithmetic& arithmetic, const FrameLayout& layout, Border border,
                                          const ComponentGroup& group, ByteTaps preferred,
                                          std::optional<std::size_t> wide = std::nullopt);

/// Sets the kernel's shape, and a quantization that takes the sums of these taps.
void set_shape_and_quantization(Kernel& kernel, const PlanDesc& desc, const Arithmetic& arithmetic,
                                const ComponentGroup& group, const IntegerTaps& taps);

}  // namespace convolve::cpu
