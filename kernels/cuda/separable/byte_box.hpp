// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Boxes of bytes by running sums: what the kernel is given, and its numbers. See byte_box.cuh.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "convolve/border.hpp"
#include "convolve/host_device.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/border_map.cuh"
#include "cuda/common/sample_plane.hpp"

namespace convolve::cuda::byte_box {

/// What a row's bytes are: one to four components in turn, or packed 4:2:2.
enum class Kind : std::uint8_t { one, two, three, four, pairs };

/// How sums become samples. Codes are read from the bits of a float: those of sums that need no limits.
enum class Way : std::uint8_t {
  codes,       ///< sums read as floats: one multiply-add. Sums down the columns are less than 2^15
  wide_codes,  ///< sums converted: one multiply-add
  wide,        ///< the same, two products and a level, with limits
};

constexpr int max_words = 12;

/// Of a block: bounds the registers.
constexpr int most_warps(PlaneMix mix) {
  return mix == PlaneMix::three ? 12 : 16;
}
constexpr int most_signed_rows = 128;  ///< whose sums of bytes are less than 2^15

constexpr int rows_at_once(Kind kind) {
  return kind == Kind::three ? 4 : kind == Kind::one || kind == Kind::two ? 6 : 12;  // measured
}

/// The numbers of a kernel whose tiles have `warps` warps.
template <Kind kind, int warps_>
struct Shape {
  static constexpr int warps = warps_, threads = 32 * warps;
  static constexpr int vectors = kind == Kind::three ? 3 : 1;  ///< 16 bytes of a row each: a thread's own
  static constexpr int words = 4 * vectors, bytes = 16 * vectors;
  static constexpr int batch = kind == Kind::three ? 1 : 2;  ///< rows between two barriers
  static constexpr int at_once = rows_at_once(kind);         ///< rows that are under way for sums of rows
  static constexpr int chains = kind == Kind::one ? 1 : kind == Kind::two ? 2 : kind == Kind::four ? 4 : 3;
  static constexpr int numbers = batch * chains;                                    ///< that are summed over lanes
  static constexpr int slots = static_cast<int>(std::bit_ceil(unsigned{numbers}));  ///< of them and of zeros
  static constexpr int pad = warps == 1 || kind == Kind::three ? 18
                             : warps == 2                      ? 34
                                                               : 66;  ///< threads' columns of zeros before a row
  static constexpr int pitch = threads + pad;    ///< words from a thread's word to its next
  static constexpr int stream_words = words * pitch, row_words = 2 * stream_words;
  static constexpr int span = threads * bytes;  ///< of a tile, in bytes
  /// The chain of sums that sample j of a thread belongs to. Of packed 4:2:2 sample 0 is luma, whatever comes first.
  static CONVOLVE_HD constexpr int chain_of(int j) {
    return kind == Kind::one     ? 0
           : kind == Kind::two   ? j % 2
           : kind == Kind::three ? j % 3
           : kind == Kind::four  ? j % 4
           : j % 2 == 0          ? 0
                                 : 1 + j / 2 % 2;
  }
  /// True where pairs of samples may have to be made of two words.
  static CONVOLVE_HD constexpr bool may_funnel(int stream) {
    return kind != Kind::four && !(kind == Kind::pairs && stream == 1);
  }
};

/// How a pair of samples is made of a word and the next, as byte-permute selectors.
constexpr std::uint32_t whole_words = 0x3210, two_words = 0x5432;

/// Where a thread's samples of one end of the window lie in shared memory, of even ones and odd ones: words from the
/// thread's first on, and how a pair is made of two of them.
struct Ends {
  std::int32_t offset[2][max_words + 1];  ///< in bytes
  std::uint32_t select[2];
};

struct Plane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  Ends enters, leaves;
  int components, pixels, row_bytes, height;
  EdgeAxis lines;  ///< rows beside the frame
  int first_block, tiles_x;
  int outputs, lead;       ///< bytes of a tile: outputs, and what it begins before these
  int back, first_thread;  ///< a thread's outputs begin before its columns; the first that makes any
  int before, after;       ///< bytes that the window reaches beside a pixel
  bool wide, out_wide;     ///< addresses and strides allow 16 bytes
  bool passes_some, passes_all;
  std::uint32_t passthrough, ghost;  ///< words: the bytes that are not filtered; ghost cells
  std::uint32_t start[4];            ///< of sums, by chain
  float level[4];                    ///< what is added to quotients
};

struct Args {
  Plane plane[max_planes];
  int planes;
  Border border;
  int height, centre_y;       ///< of the filter
  int rows, groups;           ///< of a tile; tiles of a block, one below the other
  int unit_rows, tile_units;  ///< of the sums that tiles begin with: rows, and how many a tile has
  int window_units, rest;     ///< rows of a window less its last row: whole units, and rows beyond
  bool adds_all_before;       ///< each unit's sums become those of all before
  int group_bytes;            ///< of shared memory
  int luma_at;                ///< of packed 4:2:2: the byte of two that is luma
  float gain, gain_low, whole;
};
static_assert(sizeof(Args) <= 4000);

}  // namespace convolve::cuda::byte_box
