// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What separable by warpgroups (large_groups.cuh) computes with. Host mathematics.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/separable/large_taps.hpp"

namespace convolve::cuda {

/// With limbs, LargeTaps has everything. With halves, the row's taps are 16-bit integers whose sums end as the bits of
/// a float, and V = v_gain * that float + v_level.
struct GroupTaps {
  LargeTaps taps;
  std::int32_t row_start = 0;
  float v_gain = 1, v_level = 0;
};

/// How many units of 32 pixels a window takes that begins at whole pieces of 16 pixels, and units of rows.
int group_units(int width, int centre_x, int height);
/// Pixels from the beginning of a strip's window to the strip.
int group_before(int centre_x);

/// The taps for warpgroups of a filter that `taps` were made of; false where a result could be off by a code value.
bool make_group_taps(const PlanDesc& desc, const FrameFactors& frame, const LargeTaps& taps, GroupTaps& to);

/// The left matrices as the 128 threads of a warpgroup hold them, four words a product: [limb][product][thread][4].
std::vector<std::uint32_t> group_row_matrices(const GroupTaps& taps, int centre_x, int units);
std::vector<std::uint32_t> group_column_matrices(const GroupTaps& taps, int units);

}  // namespace convolve::cuda
