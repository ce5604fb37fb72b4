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

/// The case with bytes in the place of 16-bit samples: twice as many components, the low byte's before the high one's.
PlanDesc as_bytes(const PlanDesc& desc);

/// What real sums may be off by: their samples stay within one code value of the right ones.
inline constexpr double max_byte_taps_error = 0.95;

/// True where the filter can be had in at most three limbs; else `why` says what is in the way. Indices of components
/// are those of as_bytes(). The epilogue is one of two:
///   quotient  (256 * high + low) * gain, of which 32 bits hold what counts: exact sums of code values
///   scaled    256 * gain * high + gain * low + level, in single precision
/// `level` is a low byte's, and so is `base`, the quantizer's offset.
bool make_u16_byte_taps(const PlanDesc& desc, MatrixTaps& taps, std::string& why);

}  // namespace convolve::cuda
