// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers that `matrix` was tuned with; measured on an H200, see tests/bench/results.
#pragma once

namespace convolve::cuda {

struct MatrixTile {
  int rows;             ///< output rows of a warp's tile; even
  int blocks_resident;  ///< blocks an SM is to hold: bounds the registers of a thread
};

/// By components of a plane (1, 2, 4) and the most of any plane of the frame, rows above and below the centre, and
/// 8-bit digits of a tap.
constexpr MatrixTile matrix_tile(int components, int most, int reach, int digits) {
  if (components == 1 && most == 1) return digits == 1 ? MatrixTile{22, 6} : MatrixTile{16, reach <= 2 ? 6 : 5};
  if (components == 1) return {digits == 1 || reach <= 2 ? 22 : 26, 4};
  if (components == 2) return {10, 4};
  if (digits == 2 && reach != 2) return reach == 1 ? MatrixTile{12, 4} : MatrixTile{14, 3};
  return {8, 4};
}

}  // namespace convolve::cuda
