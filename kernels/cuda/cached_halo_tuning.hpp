// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo's numbers: what a thread makes, and how a block's warps share out a tile.
#pragma once

#include <array>

namespace convolve::cuda::cached_halo_tuning {

inline constexpr int warps = 8;  ///< of a block
inline constexpr int strip_width =
    128;  ///< a warp makes a strip of 128 x rows outputs, a lane 4 neighbours in each row

/// The columns to either side of the centre for which a kernel is compiled; narrower filters are padded with zeros.
inline constexpr std::array reaches{1, 2, 3, 4, 7};

/// Rows of outputs a thread. Their input rows are all held in registers.
constexpr int rows(int) {
  return 4;
}

/// Blocks that share a multiprocessor: the registers are shared out for as many.
constexpr int blocks(int reach) {
  return reach <= 4 ? 2 : 1;
}

/// Columns beside the tile that the filter can reach, in whole groups of 4.
constexpr int margin(int reach) {
  return (reach + 3) / 4 * 4;
}

/// A tile is a column of strips of each of its `components`.
constexpr int strips(int, int components) {
  return warps / components;
}

}  // namespace convolve::cuda::cached_halo_tuning
