// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for wide filters of bytes with real taps by warpgroups: what the kernel is given, and its numbers. See
// wide.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda::wide {

constexpr int step_rows = 64;

constexpr int pieces_ahead(int components, int chunks) {
  if (components == 1) return chunks;
  if (components == 2) return chunks == 2 ? 3 : chunks == 3 ? 5 : chunks == 4 ? 7 : 3;
  if (components == 3) return chunks == 2 ? 3 : chunks == 3 ? 5 : chunks == 4 ? 4 : 3;
  return chunks == 2 ? 6 : chunks < 5 ? 5 : 3;
}

/// A warpgroup's work: strips of a plane of C components, under filters that take in up to `chunks` times 64 rows for
/// 64 rows of output, and as many more pixels than a strip has. `most_groups` warpgroups side by side are a block.
template <int components, int chunks_, int most_groups>
struct Shape {
  static constexpr int C = components, chunks = chunks_, groups = most_groups;
  static constexpr int pixels = C == 1 ? 64 : 32, columns = C * pixels;  ///< of a strip; bytes of its rows
  /// What a lane loads of a row at once, as halves four pixels a product. Four lanes load neighbours.
  static constexpr int piece_bytes = C == 3 ? 24 : 16, piece_words = piece_bytes / 4, piece_pixels = piece_bytes / C;
  static constexpr int products_of_piece = piece_pixels / 4;
  /// Pieces that are loaded ahead, as many as there are registers for: they divide the pieces of a window.
  static constexpr int ahead = pieces_ahead(C, chunks);
  static constexpr int of_pieces = 4 * piece_pixels, of_turns = of_pieces * ahead;
  static constexpr int window = (step_rows * (chunks - 1) + pixels + of_turns - 1) / of_turns * of_turns;  ///< pixels
  static constexpr int pieces = window / of_pieces;
  static constexpr int row_products = window / 16, column_products = 4 * chunks;
  static constexpr int row_taps_bytes = window * pixels * 2;
  static constexpr int slots = chunks + 1, slot_bytes = step_rows * columns * 2;  ///< of V, 64 rows each
  static constexpr int memory = row_taps_bytes + groups * slots * slot_bytes;
};

/// Warpgroups of a block, by the registers that they need.
constexpr int groups_of(PlaneMix mix, int chunks) {
  return chunks < 4 && (mix == PlaneMix::one || mix == PlaneMix::one_and_two) ? 3 : 2;
}

/// Whether the compiler knows which plane a block works on: what is read of a plane at a place of run time is slow, but
/// where registers are short it takes fewer of them (measured on one H100, 2026-11-26).
constexpr bool knows_planes(PlaneMix mix, int chunks) {
  return chunks > 3 || mix == PlaneMix::one || mix == PlaneMix::four;
}

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  const uint4* row_taps;
  int width, height, row_bytes, components;
  int first_block, blocks_x, steps;  ///< steps: of outputs of a block
  int before;                        ///< pixels that a strip's window begins before it
  EdgeAxis columns, rows;
  /// The byte of the frame's piece that a piece beside it at byte x is made of: scale * x + offset.
  int low_scale, low_offset, high_scale, high_offset;
  bool wide;                               ///< addresses and strides allow whole pieces
  bool whole;                              ///< and pieces beside the frame are made of one of the frame's each
  bool copied;                             ///< nothing is filtered
  std::uint32_t passthrough[3], ghost[3];  ///< word i of a row has number i % 3 (of three components), or any
  std::uint8_t ghost_byte[4];
  float level[4];
};

struct Args {
  Plane plane[max_planes];
  const uint4* column_taps;
  int planes, centre_y;
  float row_start, gain, centre;
};

}  // namespace convolve::cuda::wide
