// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend's algorithms: what each serves, and how it makes the engine of a group.
#pragma once

#include <memory>
#include <string>

#include "cpu/row_plan.hpp"

namespace convolve::cpu {

bool direct_serves(const PlanDesc& desc);
std::unique_ptr<Plan> make_direct(const PlanDesc& desc, const Threads& threads);

bool separable_serves(const PlanDesc& desc);
std::unique_ptr<Plan> make_separable(const PlanDesc& desc, const Threads& threads);

}  // namespace convolve::cpu
