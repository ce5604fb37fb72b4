// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// folded_planes() of sample_plane.hpp for kernels that know how often they round.
#pragma once

#include <optional>

#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda {

/// `all_roundings`: what single precision rounds at the most, of inputs of 1, as roundings() has it of sums in any
/// order.
std::optional<FoldedPlanes> folded_planes(const PlanDesc& desc, const Arithmetic& arithmetic, double all_roundings,
                                          int start_roundings);

}  // namespace convolve::cuda
