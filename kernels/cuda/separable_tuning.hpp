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
  static constexpr int warps = 4;   ///< side by side in a block
  static constexpr int blocks = 4;  ///< resident on a multiprocessor: bounds the registers, sets the number of steps
  static constexpr int most_steps = 2;
};

}  // namespace convolve::cuda
