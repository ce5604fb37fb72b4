// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The factors of a filter as separable's plans compute with them, and the plans that its files make.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "cuda/backend.hpp"

namespace convolve::cuda {

/// tap(t, y, x) = time[t] * column[y] * row[x]: integers over the arithmetic's divisor in the exact class, where every
/// intermediate sum is then exact as well, else effective taps.
struct Factors {
  std::vector<double> time, column, row;
};

/// Empty where the filter has none.
std::optional<Factors> factors_of(const Filter& filter, const Arithmetic& arithmetic);

/// Both passes as banded products on the tensor cores; null where that does not serve the case.
std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& factors);

}  // namespace convolve::cuda
