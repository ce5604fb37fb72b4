// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend's algorithms: what each serves, and how it makes the engine of a group. `auto` takes the engine of
// the least cost.
#pragma once

#include "cpu/amx/matrix.hpp"
#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

bool direct_serves(const PlanDesc& desc);
Engine make_direct(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

bool separable_serves(const PlanDesc& desc);
Engine make_separable(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

struct AlgorithmEntry {
  Algorithm algorithm;
  bool (*serves)(const PlanDesc& desc);
  EngineMaker make;
  bool serves_banks = false;  ///< also PlanDesc::bank; else such cases are refused before `serves` is asked
};

inline constexpr AlgorithmEntry algorithm_table[]{
    {Algorithm::direct, direct_serves, make_direct, true},
    {Algorithm::separable, separable_serves, make_separable},
    {Algorithm::matrix, matrix_serves, make_matrix},
};

}  // namespace convolve::cpu
