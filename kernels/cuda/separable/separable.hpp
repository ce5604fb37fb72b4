// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `separable`: a column pass and a row pass, both on chip.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry separable;

/// Whether a plan of `separable`, for a filter of up to 15 taps an axis, would run on the tensor cores.
bool separable_on_tensor_cores(const Device& device, const PlanDesc& desc);

}  // namespace convolve::cuda
