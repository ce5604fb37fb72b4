// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for wide filters of bytes with real taps by warpgroups: what the kernel is given, and its numbers. See
// wide.cuh.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda::wide {

constexpr int step_rows = 64;
/// Bytes of a row of tiles that lie swizzled (map.hpp), since they have no room for a pitch without bank conflicts: a
/// lane has 32 of them, and 16 of two rows of four lanes are in different banks.
constexpr int swizzled_row = 128;

/// Pieces that lanes have under way, as many as there are registers for, where there are no tiles.
constexpr int pieces_ahead(int components, int chunks, bool pairs, bool boxes) {
  if (components == 1) return chunks;
  if (components == 2) return chunks == 4 ? 7 : 3;
  if (components == 3) return 3;
  return chunks < 5 ? 5 : pairs && !boxes ? 3 : 6;
}

/// Whether rows of a strip's window come to shared memory, as a tile of 16 rows that a warp has for itself
/// (wide_tiles.cuh). Measured on one H100, 2026-11-26.
constexpr bool has_tiles(int components, int chunks) {
  return components < 3 ? chunks < 4 : components == 3 ? chunks < 5 : chunks == 2;
}

/// Whether samples go from shared memory to the frame, as tiles of a warp's rows of a step: of three components, of
/// which lanes would store every other half of a sector. Measured on one H100, 2026-11-26: of three components 2 to 5 %
/// less time; of four, whose lanes store whole sectors, 2 to 6 % more. For 129 to 193 taps there is no room.
constexpr bool stores_tiles(int components, int chunks) {
  return components == 3 && chunks != 4;
}

/// Blocks of 8 by 8 of the column's taps.
constexpr int column_blocks_of(int chunks) {
  return 8 * chunks + 7;
}

/// Of packed 4:2:2 by a ring: blocks of 8 by 8 of luma's taps, 7 for each of the distances from 32 pixels of the window
/// to 32 of the strip.
constexpr int band_blocks_of(int chunks) {
  return 7 * (2 * chunks - 1);
}

/// Of boxes: a sum along a row is so many times its upper limb, and its lower one.
constexpr int limb_of(int chunks) {
  return chunks < 4 ? 128 : 255;
}
constexpr int most_box_width(int chunks) {
  return limb_of(chunks) == 128 ? 128 : 255;
}

/// What rows of the frame are multiplied with.
enum class RowTaps : std::uint8_t {
  halves,  ///< real taps as halves: V is halves
  bytes,   ///< real taps as bytes, where samples are hardly less exact (LargeTaps): V is halves
  ones     ///< boxes: V is exact, as two limbs
};

/// A warpgroup's work: strips of a plane of C components, under filters that take in up to `chunks` times 64 rows for
/// 64 rows of output, and as many more pixels than a strip has. `most_groups` warpgroups side by side are a block.
/// `ring`: rows come to a ring that warpgroups share (wide_ring.cuh).
template <int components, int chunks_, int most_groups, bool pairs_ = false, RowTaps row = RowTaps::halves,
          bool ring_ = false>
struct Shape {
  static constexpr int C = components, chunks = chunks_, groups = most_groups;
  static constexpr int pixels = C == 1 ? 64 : 32, columns = C * pixels;  ///< of a strip; bytes of its rows
  static constexpr bool ring = ring_, tiles = ring || has_tiles(C, chunks);
  static constexpr bool swizzled = C == 1 && chunks == 2;
  /// What a lane loads of a row at once, as halves four pixels a product. Four lanes load neighbours.
  static constexpr int piece_bytes = C == 1 ? (swizzled ? 32 : 16) : C == 3 ? 24 : 16;
  static constexpr int piece_words = piece_bytes / 4, piece_pixels = piece_bytes / C;
  static constexpr int products_of_piece = piece_pixels / 4;
  /// Pieces that are loaded ahead. They divide those of a window.
  static constexpr int ahead = tiles ? 1 : pieces_ahead(C, chunks, pairs_, row == RowTaps::ones);
  static constexpr int of_pieces = 4 * piece_pixels, of_turns = of_pieces * ahead;
  static constexpr int window = (step_rows * (chunks - 1) + pixels + of_turns - 1) / of_turns * of_turns;  ///< pixels
  static constexpr int pieces = window / of_pieces;
  static constexpr int row_products = window / 16, column_products = 4 * chunks;
  static constexpr bool boxes = row == RowTaps::ones;  ///< taps are equal, and sums exact
  static constexpr int limb = limb_of(chunks);
  using Sum = std::conditional_t<boxes, std::int32_t, float>;  ///< of the column pass
  /// Of packed 4:2:2 pixels are pairs; luma meets pieces from `first_luma` on.
  static constexpr bool pairs = pairs_;
  static constexpr int first_luma = chunks - 1, luma_pieces = 2 * chunks;
  /// The row's taps are halves, of 16 pixels a product, or bytes, of 32.
  static constexpr bool byte_rows = row != RowTaps::halves;
  static constexpr int row_tap_bytes = byte_rows ? 1 : 2;
  /// Of a ring of pairs, blocks of 8 by 8 of luma's taps are there once each, where they are halves.
  static constexpr bool bands = ring_ && pairs && !byte_rows;
  /// Taps beside the frame are in no product of the window, but meet the frame's first and last pixels on their own:
  /// in one more product (PairSums in wide_rows.cuh), or by lanes (add_edge_pixels() in wide_byte_rows.cuh).
  static constexpr bool edges = bands || row == RowTaps::bytes;
  static constexpr int luma_taps_bytes = bands   ? band_blocks_of(chunks) * 128
                                         : pairs ? luma_pieces * (2 * of_pieces) * (2 * pixels) * row_tap_bytes
                                                 : 0;
  static constexpr int row_taps_bytes =
      luma_taps_bytes + (byte_rows ? (window + 31) / 32 * 32 : window) * pixels * row_tap_bytes;
  /// Rows of a tile lie so that lanes read them without bank conflicts: 8 bytes of four rows at a time, or 16 of two.
  static constexpr int tile_row = window * C, tile_pitch = C == 4 ? tile_row + 64 : tile_row;  ///< bytes
  static_assert(!tiles || swizzled == (tile_pitch == swizzled_row));
  static constexpr int tile_bytes = 16 * tile_pitch;
  /// What comes to a ring at once is a stage: all rows of a step, of so many bytes that lanes read them without bank
  /// conflicts. As many are under way as there is memory for (one H100, 2026-11-26: the more, the faster).
  static constexpr int stage_row = C == 3 ? 288 : 192, stage_bytes = step_rows * stage_row;
  static constexpr int stages = window * C / stage_row, pieces_of_stage = pieces / stages;
  static constexpr int ring_stages = C == 3 ? 5 : 6;
  static constexpr int read_ahead = 2;  ///< pieces in registers, so that stages are empty early
  /// The column's, which saves reads of shared memory, but with rows of bytes no time (one H100, 2026-11-27).
  static constexpr bool left_in_registers = ring && C == 4 && !byte_rows;
  static constexpr int tiles_bytes = ring    ? ring_stages * stage_bytes
                                     : tiles ? 4 * groups * tile_bytes + (4 * groups * 8 + 127) / 128 * 128
                                             : 0;
  /// Of the tiles of samples: all 16 rows of a warp, or 8 at a time, where shared memory is short.
  static constexpr int out_rows = chunks == 3 ? 8 : 16;
  static constexpr int out_bytes = stores_tiles(C, chunks) ? out_rows * columns : 0;
  static constexpr int staged_bytes = tiles_bytes + 4 * groups * out_bytes;  ///< before the tables
  /// Whether what a centre tap meets is asked for before the row pass: no registers hold pieces under way, nor has the
  /// first level cache the frame.
  static constexpr bool reads_early = tiles && !ring && (C == 1 || groups < 4);
  /// Of V, 64 rows each: a step writes where a step `groups` before has read.
  static constexpr int slots = chunks + groups - (tiles && C > 2 ? 1 : 0), slot_bytes = step_rows * columns * 2;
  static constexpr int phases = 4;  ///< barriers that steps have in turn
  /// What sums of a column begin with: rows of a product of ones (send_starts() in wide_rows.cuh), or one number, which
  /// is faster where registers are short, of four components without tiles (one H100, 2026-11-26).
  static constexpr bool start_products = (tiles || C <= 2) && !byte_rows;
  static constexpr int start_bytes = bands ? 16 : start_products ? 32 : 4;  ///< of a column
  /// Of rows of bytes with edges: of a column, that of all components, what taps on either side of the frame add up to.
  static constexpr int edge_bytes = (pairs ? 3 : 1) * pixels * 8;
  static constexpr int offsets_at =
      row_taps_bytes + (edges && !bands ? edge_bytes : columns * start_bytes);  ///< of pieces, in a table
  static constexpr int table_bytes = offsets_at + pieces * 16;
  /// Products of a component that are sent at once: fewer take fewer registers.
  static constexpr int products_at_once =
      byte_rows ? products_of_piece : std::min(products_of_piece, tiles&& C == 3 ? 1 : 4);
  static constexpr int column_bytes = column_blocks_of(chunks) * 128;
  static constexpr int repeated_bytes = 16 * columns;  ///< of a ring: a group of 8 rows of V that are alike
  static constexpr int memory = staged_bytes + table_bytes + column_bytes + slots * slot_bytes + (phases + 1) * 8 +
                                (ring ? 2 * repeated_bytes + 2 * groups * stages * 8 : 0);
  /// The slot `steps` after another.
  static constexpr int slot_after(int slot, int steps) {
    return slot + steps < slots ? slot + steps : slot + steps - slots;
  }
};

/// Warpgroups of a block: as many as registers allow, or two, of two blocks on a multiprocessor. Measured on one H100,
/// 2026-11-26.
constexpr int groups_of(PlaneMix mix, int chunks) {
  if (chunks > 3) return 3;
  if (mix == PlaneMix::one_and_two || (mix == PlaneMix::one && chunks == 2)) return 2;
  return mix == PlaneMix::one || mix == PlaneMix::three ? 4 : 3;
}
/// Blocks that a multiprocessor holds.
constexpr int resident_of(PlaneMix mix, int chunks) {
  return groups_of(mix, chunks) == 2 ? 2 : 1;
}
/// Where boxes are faster than by running sums (one H100, 2026-11-26).
constexpr bool is_faster_for_boxes(PlaneMix mix, int chunks) {
  return mix == PlaneMix::none || chunks == 2 || (chunks == 3 && mix != PlaneMix::three);
}
template <PlaneMix mix, int chunks, int components, RowTaps row = RowTaps::halves>
using ShapeOf = Shape<components, chunks, groups_of(mix, chunks), mix == PlaneMix::none, row>;

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  const uint4* row_taps;          ///< tables: of inner strips, of the first ones, of the last ones
  const std::uint8_t* ghost_row;  ///< a window of ghost cells
  int width, height, row_bytes, components;
  int first_block, strips, steps;  ///< steps: of outputs of a block
  int low_strips, high_strip;      ///< the first strips, and from there on, have tables of their own
#ifdef __CUDACC__
  __device__ __forceinline__ int table_of(int strip) const {
    return strip < low_strips ? 1 + strip : strip >= high_strip ? 1 + low_strips + strip - high_strip : 0;
  }
#endif
  int before;  ///< pixels that a strip's window begins before it
  EdgeAxis rows;
  bool copied;                   ///< nothing is filtered
  bool wraps;                    ///< of tiles: left and right of the frame is its other side
  bool described;                ///< of tiles: to tensor copies
  bool bottom_up;                ///< of tiles of samples: rows lie in reverse
  std::uint32_t passthrough[3];  ///< word i of a row has number i % 3 (of three components), or any
  std::uint8_t ghost_byte[4];
  /// Of packed 4:2:2, permutes of bytes: two words' chroma, a word's luma as halves, and words to luma first and back.
  /// Of rows of bytes two words' luma.
  std::uint32_t chroma_bytes, luma_halves, turn;
  float level[4];
  float row_scale, row_start;  ///< of rows of bytes that become halves: V is sums times the scale, and the start
};

struct Args {
  Plane plane[max_planes];
  const uint4* column_taps;
  int planes, centre_y;
  float gain, centre;
  std::int32_t start;            ///< of boxes: what sums begin with,
  float whole;                   ///< and what is added to quotients, so that their lower bits are integers
  CUtensorMap rows[max_planes];  ///< of tiles: the planes as words
  CUtensorMap samples;           ///< of tiles of samples: the plane that is made, as bytes
  /// Where strips with tables of their own have blocks apart, since these take longer: the first one, and their steps,
  /// else 0.
  int edge_block, edge_steps;
};

}  // namespace convolve::cuda::wide
