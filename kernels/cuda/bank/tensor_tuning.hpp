// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers that banks on the tensor cores were tuned with; measured on an H100, see tests/bench/results.
#pragma once

#include "cuda/matrix/dense_tuning.hpp"

namespace convolve::cuda {

/// By components of a plane (1 to 4) and the most of any plane of the frame.
constexpr MatrixTile bank_tile(int components, int most) {
  if (most == 1) return {26, 5};
  if (most == 2) return {components == 2 ? 10 : 22, 5};
  return {8, components == 3 ? 5 : 4};
}

/// Pairs of rows of one component that a larger bank makes at a time, for each time that its taps are loaded.
inline constexpr int bank_steps = 4;

}  // namespace convolve::cuda
