// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels on the tensor cores as their plan sees them: arguments, and which kernel a case takes.
#pragma once

#include "convolve/bank.hpp"
#include "cuda/matrix/dense.cuh"

namespace convolve::cuda {

inline constexpr int bank_tensor_radius = 1;  ///< rows above and below the centre

/// What the sums of a component start from: 1.5 * 2^23. Those bits plus a sum, read as a float, are 1.5 * 2^23 + sum,
/// of either sign, up to 2^22 away.
inline constexpr std::int32_t bank_sum_start = 0x4B400000;
inline constexpr double bank_sum_offset = 0x1.8p23;

/// Taps of all kernels, one after the other, and their levels; `gain` and the levels' `base` turn what the kernels
/// combine to into samples.
struct BankTensorArgs {
  MatrixArgs matrix;
  int kernels;
  float rounding_bias;  ///< taken away from the value, so that exact ties stay ties
  float divisor;        ///< of exact roots
  /// By plane, component and kernel: a sum of 0 that is read as a float.
  float none[max_planes][max_components][max_bank];
};
static_assert(sizeof(BankTensorArgs) <= 4096);

using BankTensorKernel = void (*)(BankTensorArgs);

/// The kernel for sums that are combined like this. `exact_root`: the root of a magnitude is an approximate one, and
/// next to a tie a comparison of squares decides. `components`: the most of a plane. `pair`: of banks of two.
BankTensorKernel bank_tensor_kernel(Combine combine, bool exact_root, int components, bool pair);

}  // namespace convolve::cuda
