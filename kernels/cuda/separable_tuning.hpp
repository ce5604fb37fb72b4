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

/// The kernel on the tensor cores: a block makes a tile of so many bytes of bands of 16 rows.
struct TensorTile {
  static constexpr int bands = 4, rows = 16 * bands, bytes = 256;
  /// Of one component two warps share a band, for a frame is less than one wave of blocks.
  static constexpr int warps(int components) { return components == 1 ? 2 * bands : bands; }
  static constexpr int threads(int components) { return 32 * warps(components); }
  /// Blocks to be resident on a multiprocessor: bounds the registers.
  static constexpr int blocks(int components) { return components == 3 ? 6 : 4; }
};

}  // namespace convolve::cuda
