// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Staging for rings of samples as they are, of 8 and 16 bits: what engines over integers read.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// The staging's function is null where samples are of another type.
Staging make_copy_staging(const PlanDesc& desc, const ComponentGroup& group);

}  // namespace convolve::cpu
