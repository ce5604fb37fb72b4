// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters as banded matrix products on AMX tiles.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// 8-bit samples on processors with AMX.
bool matrix_serves(const PlanDesc& desc);
Engine make_matrix(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

}  // namespace convolve::cpu
