// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable's numbers.
#pragma once

namespace convolve::cuda {

/// The kernel through shared memory: outputs of a block, in samples of one component.
struct SharedTile {
  static constexpr int width = 64, height = 16, threads = 256;
};

/// The kernel on the tensor cores: a block makes a tile of so many bytes of 16 rows a warp.
struct TensorTile {
  static constexpr int warps = 4, rows = 16 * warps, bytes = 256;
  /// Blocks to be resident on a multiprocessor: bounds the registers.
  static constexpr int blocks(int components) { return components == 4 ? 4 : 6; }
};

}  // namespace convolve::cuda
