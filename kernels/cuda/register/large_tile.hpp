// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The large tile of `register`, for filters that its other kernels are not compiled for: up to 31x31 taps.
#pragma once

#include <memory>
#include <string>

#include "convolve/arithmetic.hpp"
#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// Else `why` says why not. Frames of any layout, in single precision.
bool serves_large_tile(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, std::string& why);
std::unique_ptr<Plan> make_large_tile(const PlanDesc& desc, const Arithmetic& arithmetic);

}  // namespace convolve::cuda
