// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend's LumaDifference: one launch a pair of frames.
#pragma once

#include <memory>

#include "convolve/luma_difference.hpp"
#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// Throws std::bad_alloc where memory ran out, else PlanError.
std::unique_ptr<LumaDifference> make_luma_difference(const Device& device, const LumaDesc& desc);

}  // namespace convolve::cuda
