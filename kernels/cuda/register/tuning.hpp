// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register's numbers.
#pragma once

#include <array>
#include <cstddef>

namespace convolve::cuda {

/// Register tile: warps of a block, one above the other; what a warp makes is 32 threads wide.
inline constexpr int register_warps = 4;

/// Filters up to this wide have a kernel of their own width class; narrower ones are padded with zero taps.
inline constexpr std::array register_classes{3, 5, 7, 15};

/// Row stream: the number of width classes that it serves, and the widest of them.
inline constexpr std::size_t row_stream_classes = 3;
inline constexpr int row_stream_width = register_classes[row_stream_classes - 1];

/// Register tile: blocks to be resident on a multiprocessor, by the kernel's own count of components: bounds the
/// registers.
constexpr int register_blocks(int bytes, int components, int width) {
  return components == 1 && bytes > 1 && width <= 5 ? 6 : components == 1 && width <= row_stream_width ? 4 : 2;
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
  return components >= 3 || (width > row_stream_width && bytes * components > 1) ? 4 : 8;
}

/// Row stream: pixels that a thread makes of a row. A row costs it some forty instructions beside the arithmetic.
constexpr int row_stream_pixels(int components, int width) {
  return components == 1 || (components == 3 && width <= 5) ? 8 : 4;
}
/// Rows that are under way: two or three where the memory is what limits, and for floats, which are used where they
/// arrive.
constexpr int row_stream_ahead(int bytes, int components, int width) {
  if (bytes == 2 && components <= 2 && width <= 5) return width <= 3 ? 3 : 2;
  if (bytes == 4 && width <= 3) return 3;
  return bytes == 4 || width <= 3 ? 2 : 1;
}
/// Floats: which row is asked for meanwhile, of those after the rows that are under way.
inline constexpr int row_stream_further = 2;
/// Row stream: blocks to be resident on a multiprocessor: bounds the registers.
constexpr int row_stream_blocks(int bytes) {
  return bytes == 4 ? 4 : 1;
}
/// Row stream in half precision: pixels that a thread makes of a row, and rows that are under way.
inline constexpr int half_stream_span = 8, half_stream_ahead = 3;
/// Leaving out sums of rows outside the range costs a branch a filter row.
constexpr bool row_stream_skips(int width) {
  return width > 3;
}

}  // namespace convolve::cuda
