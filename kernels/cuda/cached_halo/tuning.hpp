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

/// The columns to either side of the centre for which kernels are compiled; narrower filters are padded with zeros.
inline constexpr std::array radii{1, 2, 3, 4, 7};

/// The shapes that are worth their compile time: all in 8 bits, fewer in 16, one for the many taps of deep filters.
constexpr bool compiled(int radius, int sample_bytes, bool many_taps) {
  if (many_taps) return radius == 7;
  return sample_bytes != 2 || radius == 2 || radius == 4 || radius == 7;
}

/// Rows of outputs a thread. Their input rows are all held in registers; 8 spill.
inline constexpr int rows = 4;

/// Blocks that share a multiprocessor: the registers are shared out for as many. One more spills.
inline constexpr int blocks = 2;

/// Columns beside the tile that the filter can reach, in whole groups of 4.
constexpr int margin(int radius) {
  return (radius + 3) / 4 * 4;
}

/// A tile is a column of strips of each of its `components`.
constexpr int strips(int components) {
  return warps / components;
}

}  // namespace convolve::cuda::cached_halo_tuning
