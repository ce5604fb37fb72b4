// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// direct: sums of products for every layout, depth and border mode.
#pragma once

#include <memory>

#include "convolve/plan.hpp"

namespace convolve::cpu {

std::unique_ptr<Plan> make_direct(const PlanDesc& desc);

}  // namespace convolve::cpu
