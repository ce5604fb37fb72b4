// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for large filters on the tensor cores: what the three kernels are given, and their numbers. See large.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/large_taps.hpp"

namespace convolve::cuda::large {

constexpr int warps = 4, threads = 32 * warps;
constexpr int resident = 4;  ///< blocks of a multiprocessor: bounds the registers

/// The row pass: a warp makes `bands` times 16 rows of `pixels`, all components of them; a block's warps lie side by
/// side. Sums fill 64 registers of a lane whatever the number of components.
template <int C>
struct RowTile {
  static constexpr int bands = C == 1 ? 2 : 1, rows = 16 * bands;
  static constexpr int pixels = C > 2 ? 32 : 64, width = warps * pixels, bytes = width * C;
};

/// The column pass: a warp makes 64 rows of 32 bytes; a block two by two of those.
struct ColumnTile {
  static constexpr int across = 2, bytes = 32 * across, warp_rows = 64, rows = warp_rows * warps / across;
};

/// Both passes in one kernel. A warp makes `tiles` tiles of 16 pixels, all components of them.
template <int C>
struct StripWarp {
  static constexpr int tiles = C == 1 ? 2 : 1, pixels = 16 * tiles;
};
/// Warps of a block; `components`: the most that a plane has.
CONVOLVE_HD constexpr int strip_warps(int components) {
  return components > 2 ? 6 : 8;
}
constexpr int strip_resident = 2;  ///< blocks of a multiprocessor: bounds the registers
template <class Numbers, int units>
struct Strip {
  static constexpr int stages =
      64 / Numbers::unit + 1 + (Numbers::unit == 32);  ///< units of rows that lie in shared memory
  /// Where there are more units, the taps of the column pass do not fit the registers and lie in shared memory.
  static constexpr bool column_taps_in_registers = units * Numbers::unit <= 64;
  static constexpr int taps_bytes = column_taps_in_registers ? 0 : units * Numbers::parts * 512;
};

/// Whether a block may go on with a second strip, in a kernel of up to so many components: it costs the first row sums
/// of that, and registers. Where it is faster, measured.
template <class Numbers, int units>
CONVOLVE_HD constexpr bool goes_on(int components) {
  return units * Numbers::unit <= 64 && (components == 3 || (components == 1 && Numbers::parts > 1));
}

/// Units of rows that going on with a second strip costs as much as, of a kernel of so many units.
CONVOLVE_HD constexpr int strip_gap(int units) {
  return units - 1;
}

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  std::uint16_t* sums;  ///< V: `pitch` values a row
  const uint4 *row_taps, *column_taps;
  int width, height, row_bytes, components, pitch;
  int first_row_block, row_tiles_x, first_column_block, column_tiles_x;  ///< of two passes
  int first_strip, strips_x, strip_units;  ///< of one: the first block, strips, units of rows of each
  /// Strips, or all of them one after the other with a gap before each, are `sequences` of so many units of rows, which
  /// are dealt out to blocks: `share` units each, and one more to the first `more` of a sequence. The blocks of all
  /// sequences take turns, so that those with one more come first.
  int sequences, sequence_units, share, more;
  std::uint32_t passthrough, ghost;  ///< words: the bytes that are not filtered, ghost cells; of three components, all
                                     ///< of which are filtered alike, any word
  std::uint32_t ghost_sums[2];       ///< V of ghost cells: of components 0 and 1, 2 and 3
  EdgeAxis columns, rows;
  bool simple;          ///< one fold suffices on either axis, so that edges are linear
  bool wide, out_wide;  ///< addresses and strides allow 16 bytes, and 8
  float level[4];
  std::int32_t start[4];
};

/// Packed 4:2:2 in strips: what of a row's words is luma, as byte-permute selectors.
struct Pairs {
  int luma_at;                              ///< the byte of each two that is luma
  std::uint32_t luma, luma_halves, chroma;  ///< of two words the four samples, of one its two as halves
  std::uint32_t in_turn;  ///< luma and chroma of two samples each in turn, of the lower half of two words
  EdgeAxis luma_columns;
};

struct Args {
  Plane plane[max_planes];
  int planes;
  Border border;
  int centre_x, centre_y, reach_x, row_units, column_units;
  float row_start, gain, gain_low, divisor, centre, whole, rounding, whole_level;
  Pairs pairs;  ///< of packed 4:2:2, whose plane has pairs for pixels; Plane::level and start are by StripPasses' tile
};

/// A block of the row pass reads a row from that many pixels before its tile on.
CONVOLVE_HD constexpr int row_margin(int centre_x) {
  return (centre_x + 15) / 16 * 16;
}
/// Bytes of that.
CONVOLVE_HD constexpr int row_window(int unit, int units, int centre_x, int tile_pixels, int components) {
  const int pixels = row_margin(centre_x) - (centre_x + 3) / 4 * 4 + tile_pixels + unit * (units - 1);
  return (pixels + 15) / 16 * 16 * components;
}
/// Bytes of a row that a block reads of a strip, whose warps take in `units` units from their first pixel on.
CONVOLVE_HD constexpr int strip_window(int unit, int units, int centre_x, int strip_pixels, int components) {
  return row_window(unit, units, centre_x, strip_pixels + (components == 1 ? 0 : unit - 16), components);
}
/// Bytes by which every other two rows of packed 4:2:2 begin farther on in shared memory, with integer taps in units of
/// 16. With units of 32 it makes no difference, and the kernels of real taps have no registers left for it.
constexpr int pair_rows_apart = 32;
template <class Numbers>
constexpr bool skews_pairs = Numbers::unit == 16 && std::is_integral_v<typename Numbers::Sum>;
/// Three components: a warp's words on their way through shared memory, 48 bytes of 16 rows, so that 24 lanes store 16
/// bytes each and no sector is written thrice.
struct TripleOutlet {
  static constexpr int row_words = 12, pieces = 3, lanes = 8 * pieces, bytes = 16 * 4 * row_words;
};
/// Shared memory for what stands beside the frame: see StripLoader.
CONVOLVE_HD constexpr int strip_cells_bytes(int window) {
  return 2 * window;
}
/// Bytes from row to row in shared memory, such that the lanes of a load lie in different banks.
CONVOLVE_HD constexpr int row_pitch(int window, int components) {
  const int piece = 16 * components;
  return ((window + piece - 1) / piece | 1) * piece;
}

/// The same of strips, some of whose rows begin farther on where they are skewed: see row_start().
CONVOLVE_HD constexpr int strip_pitch(int window, int components, bool skewed) {
  return row_pitch(skewed ? window + pair_rows_apart : window, components);
}

}  // namespace convolve::cuda::large
