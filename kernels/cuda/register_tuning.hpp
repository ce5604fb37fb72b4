// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register's numbers.
#pragma once

#include <array>

namespace convolve::cuda {

/// Warps of a block, one above the other; what a warp makes is 32 threads wide.
inline constexpr int register_warps = 4;

/// Filters up to this wide have a kernel of their own width class; narrower ones are padded with zero taps.
inline constexpr std::array register_classes{3, 5, 7, 15};

/// Up to this width, filters no taller than wide are padded to squares, whose rows are unrolled where it pays in
/// code: the taps are operands of the multiply-adds then.
inline constexpr int register_unrolled = 7;
constexpr bool register_unrolls(int bytes, int components, int width) {
  return width <= register_unrolled && components == 1 && (bytes == 4 || width <= 5);
}

/// Blocks to be resident on a multiprocessor, by the kernel's own count of components: bounds the registers.
constexpr int register_blocks(int bytes, int components, int width) {
  return components == 1 && bytes > 1 && width <= 5 ? 6 : components == 1 && width <= register_unrolled ? 4 : 2;
}

/// Frames loaded at once where the window's frames are combined.
constexpr int register_batch(int bytes, int components) {
  return bytes * components == 1 ? 5 : bytes * components == 2 ? 3 : 2;
}

/// What a thread accumulates: groups of four pixels by rows.
constexpr int register_groups(int bytes, int components) {
  return bytes == 1 && components == 1 ? 2 : 1;
}
constexpr int register_rows(int bytes, int components, int width) {
  return components >= 3 || (width > register_unrolled && bytes * components > 1) ? 4 : 8;
}

}  // namespace convolve::cuda
