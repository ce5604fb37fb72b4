// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers that `matrix` was tuned with; measured on an H200, see tests/bench/results.
#pragma once

namespace convolve::cuda {

struct MatrixTile {
  int rows;             ///< output rows of a warp's tile; even
  int blocks_resident;  ///< blocks an SM is to hold, and no more: bounds the registers of a thread
};

/// By components of a plane (1 to 4) and the most of any plane of the frame, rows above and below the centre, and
/// 8-bit limbs of a tap.
constexpr MatrixTile matrix_tile(int components, int most, int radius, int limbs) {
  // One plane of one component: at 4K all tiles at once, or nearly.
  if (most == 1 && limbs == 1) return radius == 1 ? MatrixTile{26, 5} : MatrixTile{22, 6};
  if (most == 1) return radius == 1 ? MatrixTile{22, 6} : radius == 2 ? MatrixTile{26, 5} : MatrixTile{16, 5};
  if (most == 2) {
    const int blocks_resident = limbs == 1 || radius == 1 ? 5 : 4;
    if (components == 2) return {10, blocks_resident};
    return {limbs == 1 || radius <= 2 ? 22 : 26, blocks_resident};
  }
  if (most == 3) return {limbs == 1 && radius == 3 ? 10 : 8, radius == 1 ? 5 : 4};
  if (limbs == 2 && radius == 3) return {14, 3};
  return {8, limbs == 2 && radius == 1 ? 5 : 4};
}

/// The tile of packed 4:2:2, which is one plane whose pixels are pairs.
constexpr MatrixTile packed_422_tile(int radius, int limbs) {
  return {8, radius == 1 ? 5 : radius == 3 && limbs == 2 ? 3 : 4};
}

}  // namespace convolve::cuda
