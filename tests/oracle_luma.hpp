// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle of scene cuts: how much two frames differ in luma, by the definition.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle.hpp"

namespace oracle {

/// The sum over all pixels of |weights[0] * (a[0] - b[0]) + weights[1] * (a[1] - b[1]) + ...|, of planes of one size
/// whose samples are whole numbers.
std::uint64_t luma_difference(const std::vector<Plane>& a, const std::vector<Plane>& b,
                              const std::vector<int>& weights);

}  // namespace oracle
