// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Taps for kernels that sum the two bytes of 16-bit samples as components of their own, each over all frames and limbs
// in 32 bits: temporal_u16.cu. Host code only.
#pragma once

#include <string>

#include "convolve/plan.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

/// Four bytes of a plane's pixels of 16-bit samples, or of two pixels of one, from byte `first` on.
PlaneMasks u16_byte_masks(const FrameLayout& layout, const PlaneLayout& plane, int first);

/// What real sums may be off by: their samples stay within one code value of the right ones.
inline constexpr double max_byte_taps_error = 0.95;

/// True where the filter can be had in at most three limbs; else `why` says what is in the way. The epilogue is one of
/// two:
///   quotient  (256 * high + low) * gain, of which 32 bits hold what counts: exact sums of code values
///   scaled    256 * gain * high + gain * low + level, in single precision
/// `start` and `level` are the low bytes', and so is `base`, the quantizer's offset.
bool make_u16_byte_taps(const PlanDesc& desc, MatrixTaps& taps, std::string& why);

}  // namespace convolve::cuda
