// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Separable filters of 8-bit samples by dot-product instructions or multiply-adds; see dot/direct.hpp.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// Both passes are dot products, with 16 bits between them. Only where that is exact, or within bounds. `centre`: one
/// more tap, beside the product of column and row; 0: none.
bool make_dot_separable(Engine& engine, const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group,
                        const std::vector<double>& column, const std::vector<double>& row, double centre = 0);

}  // namespace convolve::cpu
