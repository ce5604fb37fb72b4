// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where one fused multiply-add divides exact sums of 16 bits, which make_quantizer() leaves to longer ways: those have
// to be right where the product is rounded by itself as well.
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

}  // namespace convolve::cuda
