// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU's LumaDifference: one thread, in frames of host memory.
#pragma once

#include <memory>

#include "convolve/luma_difference.hpp"

namespace convolve::cpu {

std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc);

}  // namespace convolve::cpu
