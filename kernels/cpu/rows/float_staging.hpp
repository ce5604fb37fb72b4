// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Staging to ring elements in floating point: single precision where Arithmetic allows it.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Several frames are staged at once where the filter factors over time, see combines_frames().
void make_float_staging(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic,
                        const ComponentGroup& group);

}  // namespace convolve::cpu
