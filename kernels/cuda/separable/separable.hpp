// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `separable`: a column pass and a row pass. Both are on chip for filters of up to 15 taps an axis; what
// lies between them passes through device memory for most larger ones (large.cuh, passes.cu).
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry separable;

/// Whether a plan of `separable` would run on the tensor cores, whatever the size of the filter.
bool separable_on_tensor_cores(const Device& device, const PlanDesc& desc);
/// Whether it would be a stream of rows over several frames.
bool separable_streams_rows(const Device& device, const PlanDesc& desc);

}  // namespace convolve::cuda
