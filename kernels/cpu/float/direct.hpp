// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Any filter in floating point, all of its taps at once.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

Engine make_float_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

}  // namespace convolve::cpu
