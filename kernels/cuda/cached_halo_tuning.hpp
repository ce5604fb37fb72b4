// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo's numbers: what a thread makes, and how a block's warps share out a tile.
#pragma once

#include <array>

namespace convolve::cuda::cached_halo_tuning {

inline constexpr int warps = 8;         ///< of a block
inline constexpr int tile_height = 16;  ///< rows, where the warps suffice
inline constexpr int strip_width =
    128;  ///< a warp makes a strip of 128 x rows outputs, a lane 4 neighbours in each row

/// The columns to either side of the centre for which a kernel is compiled; narrower filters are padded with zeros.
inline constexpr std::array reaches{1, 2, 3, 4, 5, 7};

/// Rows of outputs a thread. Their input rows are all held in registers.
constexpr int rows(int reach) {
  return reach <= 3 ? 8 : 4;
}

/// Columns beside the tile that travel with its wide loads: whole groups of 4.
constexpr int margin(int reach) {
  return (reach + 3) / 4 * 4;
}

/// A tile is `across` x `down` strips of each of its `components`.
struct Strips {
  int across, down;
};
constexpr Strips strips(int reach, int components) {
  const int most = warps / components;
  const int down = tile_height / rows(reach) < most ? tile_height / rows(reach) : most;
  return {warps / (components * down), down};
}

}  // namespace convolve::cuda::cached_halo_tuning
