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

/// The kernel on the tensor cores: a warp makes 64 bytes of 16 rows in each of its steps down the frame.
struct TensorTile {
  static constexpr int warps = 4;  ///< of a block, each on its own
  /// A warp sends for all its input at once: that many steps fit shared memory, and pay.
  static constexpr int most_steps(int components) { return components == 4 ? 4 : 2; }
  /// Blocks to be resident on a multiprocessor: bounds the registers, sets the number of steps.
  static constexpr int blocks(bool exact, int components) {
    return components == 4 ? 3 : components == 1 && !exact ? 5 : 4;
  }
};

}  // namespace convolve::cuda
