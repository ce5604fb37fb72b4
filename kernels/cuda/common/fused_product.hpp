// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where fused multiply-adds divide exact sums that make_quantizer() leaves to longer ways: those have to be right
// where the product is rounded by itself as well. All but the last are for sums of 16-bit samples.
#pragma once

#include <optional>

#include "convolve/arithmetic.hpp"

namespace convolve::cuda {

/// The `bias` with which fma(sum, gain, offset + bias) - bias, rounded to an integer and clamped, is right for a
/// component's exact sums, ties included; null where there is none. All components of a frame have the same one.
///
/// By a power of two all of it is exact, and the bias is 0. Else it is 2^bits, so that values in range are rounded to
/// multiples of 2^(bits - 23): ties are among those and stay where they are, and no other value comes onto one.
std::optional<float> fused_product_bias(const Arithmetic& arithmetic, const FrameLayout& layout,
                                        const Component& component);

/// Whether fma(sum, gain, sum * gain_low), rounded to an integer and clamped, is right for a component's exact sums,
/// ties included, whose offset is 0. All that it rounds is the quotient, to the nearest float: ties are floats, and no
/// other quotient is so near to one.
bool two_products_divide(const Arithmetic& arithmetic, const FrameLayout& layout, const Component& component);

/// True where a product with the reciprocal and one with what that lacks divide exact sums right, the quotient being
/// rounded to an integer before the component's offset is added. As a float it is rounded once: ties are where they
/// were, and no other value may come onto one.
bool two_products_divide_before_offset(const Arithmetic& arithmetic, const FrameLayout& layout,
                                       const Component& component);

/// True where fma(sum, gain, sum * gain_low) rounds to the sample that sum / divisor does, for whole sums of bytes that
/// hold the offset as well. Both products are off by less than 2^-40 before their sum is rounded to single precision.
/// In reach of 0 to 255 that rounding is by 2^-17 at most, and a quotient that is no tie lies farther from one where
/// the divisor is below 2^16. A power of two needs no second product, and its quotients are not rounded at all.
/// `centre`: the tap beside the factors, whose product is added to a sum; else 0.
bool two_products_divide_with_offset(const Arithmetic& arithmetic, const Component& c, double centre);

}  // namespace convolve::cuda
