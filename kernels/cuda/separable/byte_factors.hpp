// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the plans for bytes on the tensor cores (tensor.cu, large.cu) ask alike of a case. Host code only.
#pragma once

#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "cuda/common/half.hpp"

namespace convolve::cuda {

double sum_of(const std::vector<double>& taps);

/// How far ghost levels that are rounded to whole code values can move a sum of column times row.
double ghost_rounding(const PlanDesc& desc, const SpaceFactors& factors);

/// True where samples are bytes and so are ghost levels, once rounded, no factor is all zeros, and sums need no double
/// precision.
bool is_of_bytes(const PlanDesc& desc, const Arithmetic& arithmetic, const SpaceFactors& factors);

}  // namespace convolve::cuda
