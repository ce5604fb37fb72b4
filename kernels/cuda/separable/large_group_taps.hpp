// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The matrices of separable by warpgroups (large_groups.cuh), of integer taps. Host mathematics.
#pragma once

#include <cstdint>
#include <vector>

namespace convolve::cuda {

/// How many units of 32 pixels a window takes that begins at whole pieces of 16 pixels, and units of rows.
int group_units(int width, int centre_x, int height);
/// Pixels from the beginning of a strip's window to the strip.
int group_before(int centre_x);

/// The left matrices as the 128 threads of a warpgroup hold them, four words a product: [product][thread][4].
std::vector<std::uint32_t> group_row_matrices(const std::vector<double>& taps, int centre_x, int units);
std::vector<std::uint32_t> group_column_matrices(const std::vector<double>& taps, int units);

}  // namespace convolve::cuda
