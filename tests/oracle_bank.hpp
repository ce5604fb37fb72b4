// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The oracle of banks: what several kernels over one frame give, by the definition.
#pragma once

#include <vector>

#include "oracle.hpp"

namespace oracle {

enum class Combination { magnitude, sum_abs, max_abs, max };

/// The output of one component of one frame. Each kernel lies about its own centre and is summed by itself, in long
/// double over the kernels' common divisor: with integer taps, whole levels and sums below 2^31 all is exact but the
/// root of a magnitude. The sums are combined unrounded, and the result is rounded once.
Plane filter_bank(const std::vector<Kernel>& bank, Combination combination, const Plane& in, Edge edge,
                  const Levels& levels);

}  // namespace oracle
