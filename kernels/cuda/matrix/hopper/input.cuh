// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wgmma.cu: its tiles, its arguments, and how the input of a tile comes into shared memory.
//
// A sample of 16 bits is two components here: its low byte, then its high one. Samples of fewer bits are moved up
// first, so that their highest bit is that of the high byte, but for planes of which some components are copied.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/common/border_map.cuh"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/sample_plane.hpp"
#include "cuda/matrix/dense.cuh"
#include "cuda/matrix/hopper/products.cuh"
#include "cuda/matrix/hopper/shape.hpp"
#include "cuda/matrix/packed_422.cuh"

namespace convolve::cuda {

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Four pixels of 8 bytes.
template <>
struct Unit<8> {
  struct __align__(16) Word {
    uint4 first, last;  ///< two pixels each
  };
};

#endif

}  // namespace convolve::cuda

namespace convolve::cuda::wgmma {

/// The epilogues that the kernel has for samples of 8 bits. A quotient is sum * (gain + gain_low) + level.
inline constexpr std::array wgmma_epilogues{Epilogue::magic_number, Epilogue::biased_magic_number, Epilogue::quotient};

struct WgmmaPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  EdgeAxis across, down;                     ///< pixels
  unsigned first_tile, tiles_x, reciprocal;  ///< reciprocal: 2^32 / tiles_x, rounded up
  std::uint32_t ghost;                       ///< as in MatrixPlane
  std::uint8_t components, passthrough_components;
  bool aligned;               ///< groups of pixels can be loaded and stored as words
  std::uint8_t up;            ///< bits that samples of 16 bits are moved up by
  int last_x;                 ///< where the last tile of a row begins at the latest
  std::uint32_t mask;         ///< the bits of two samples of 16 bits that are theirs, once moved up
  std::uint32_t last_ghost;   ///< of the last two of four components of 16 bits
  int start[max_components];  ///< of the sums
  float level[max_components];
};

/// A step of sums of 16-bit samples: one byte of the samples by one limb of the taps.
struct U16Product {
  int left, right;  ///< where the byte's rows and the limb's taps begin
  int shift;        ///< of the sums, behind it: by 8 bits to the left, none, or, rounded, to the right
  bool starts;      ///< which is the last time: they start then
};

struct WgmmaArgs {
  WgmmaPlane plane[max_planes];
  const uint4* taps;  ///< [limb][row, last first][512 bytes]
  int planes, limbs;
  unsigned tiles;
  std::uint8_t epilogue;  ///< its place in `wgmma_epilogues`
  float gain, gain_low;
  // For 16-bit samples:
  U16Product product[2 * U16Taps::max_limbs];
  int products;
  SampleNumbers numbers;
};

using WgmmaKernel = void (*)(WgmmaArgs);

/// Samples of packed 4:2:2 of 8 bits, whose pixels are pairs here; `luma`: the byte of a pair's first. A tile's input
/// is four components: the luma of its first half, that of its second half, and the chroma in the order of its bytes.
template <int luma>
struct PairSample {
  std::uint8_t byte;
};
template <class Sample>
constexpr int luma_byte = -1;
template <int luma>
constexpr int luma_byte<PairSample<luma>> = luma;

#if defined(__CUDACC__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A tile of a plane.
struct Tile {
  const WgmmaPlane* plane;
  int x, y;  ///< its first pixel

  __device__ __forceinline__ Tile(const WgmmaArgs& args, unsigned number) {
    int p = 0;
    while (p + 1 < args.planes && number >= args.plane[p + 1].first_tile) ++p;
    plane = &args.plane[p];
    number -= plane->first_tile;
    const unsigned row = plane->tiles_x == 1 ? number : __umulhi(number, plane->reciprocal);
    // The last of a row or column move back over what their neighbours make too, where the plane is large enough.
    x = min(static_cast<int>(number - row * plane->tiles_x) * tile_width, plane->last_x);
    y = min(static_cast<int>(row) * tile_rows, max(plane->down.length - tile_rows, 0));
  }
};

/// The input rows of a tile of C components in shared memory, one plane a component. By so many warpgroups of a block,
/// from `first_group` on.
template <class Sample, WgmmaShape shape, int C, int first_group, int warpgroups>
struct Input {
  static constexpr bool wide = sizeof(Sample) == 2, pairs = luma_byte<Sample> >= 0;
  static constexpr int height = shape.height, margin = shape.margin, pitch = shape.pitch(), rows = shape.input_rows();
  static constexpr int group = C >= 4 ? 4 : 8, groups = pitch / group;  ///< pixels that are loaded at a time
  static constexpr int threads = 128 * warpgroups;
  static constexpr int rows_at_once = threads / groups, batch = C != 3 ? 6 : shape.has_long_windows() ? 4 : 3;
  struct Loaded {
    std::uint32_t word[group * C / 4];
  };

  static __device__ __forceinline__ int number() {
    return static_cast<int>((threadIdx.y - first_group) * 128 + threadIdx.x);
  }

  /// Single components are on their way on return, others there.
  static __device__ __forceinline__ void load(std::uint8_t* memory, const Tile& tile) {
    const WgmmaPlane& plane = *tile.plane;
    if (plane.aligned) {
      if (tile.y >= height / 2 && tile.y - height / 2 + rows <= plane.down.length)
        load_groups<true>(memory, plane, tile.x, tile.y);
      else
        load_groups<false>(memory, plane, tile.x, tile.y);
    }
    if (!plane.aligned || tile.x == 0 || tile.x + tile_width + margin > plane.across.length)
      load_rest(memory, plane, tile.x, tile.y);
  }

  /// Asks for a tile's own rows. For a warpgroup.
  static __device__ __forceinline__ void prefetch_tile(const Tile& tile) {
    const WgmmaPlane& plane = *tile.plane;
    prefetch_rows<tile_rows, C * tile_width / cache_line, 128>(
        plane.in + tile.y * plane.in_stride + static_cast<std::ptrdiff_t>(tile.x) * C, plane.in_stride,
        static_cast<int>(threadIdx.x), plane.down.length - tile.y, (plane.across.length - tile.x) * C);
  }

  /// Asks for the frame's part of several components, which are loaded through registers, few at a time.
  static __device__ __forceinline__ void prefetch(const Tile& tile) {
    const WgmmaPlane& plane = *tile.plane;
    const int row = tile.y - height / 2 + number();
    if (C == 1 || !plane.aligned || number() >= rows || row < 0 || row >= plane.down.length) return;
    const int begin = max(tile.x - margin, 0),
              end = min(tile.x + tile_width + margin, plane.across.length / group * group);
    const std::uint8_t* from = plane.in + row * plane.in_stride + static_cast<std::ptrdiff_t>(begin) * C;
    int bytes = (end - begin) * C;
    if (C == 3) {  // whole multiples of 16
      const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
      from -= before;
      bytes = bytes + before & ~15;
    }
    ptx::prefetch_l2(from, bytes);
  }

  /// Loads the groups of pixels that lie in the frame, or above or below it. `inside`: all rows are the frame's.
  template <bool inside>
  static __device__ __forceinline__ void load_groups(std::uint8_t* memory, const WgmmaPlane& plane, int x, int y) {
    const int id = number(), first = id / groups, column = group * (id - first * groups);
    const int at = x - margin + column;
    if (first >= rows_at_once || at < 0 || at + group > plane.across.length) return;
    const int y0 = y - height / 2 + first;
    std::uint8_t* to = memory + first * pitch + column;
    const std::uint8_t* in = plane.in + static_cast<std::ptrdiff_t>(at) * C;
    const std::uint8_t* next = in + y0 * plane.in_stride;
    const std::ptrdiff_t step = rows_at_once * plane.in_stride;
#pragma unroll
    for (int r0 = 0; r0 < rows; r0 += batch * rows_at_once) {
      Loaded loaded[batch];
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        const int r = r0 + b * rows_at_once;
        if (r >= rows || (r + rows_at_once > rows && first >= rows - r)) break;
        const std::uint8_t* from = next;
        bool ghost = false;
        if (inside) {
          next += step;
        } else {
          const int row = min(y0 + r, plane.down.length + height / 2 - 1), stands = edge_index(plane.down, row);
          ghost = plane.down.ghost && stands != row;
          from = in + stands * plane.in_stride;
        }
        if (C == 1) {
          if (ghost)
            *reinterpret_cast<uint2*>(to + r * pitch) = {plane.ghost, plane.ghost};
          else
            ptx::copy_async<8>(ptx::address_in_shared(to + r * pitch), from);
        } else {
          load(loaded[b], from);
          if (ghost) fill(loaded[b], plane);
        }
      }
      if constexpr (C > 1) {
#pragma unroll
        for (int b = 0; b < batch; ++b) {
          const int r = r0 + b * rows_at_once;
          if (r >= rows || (r + rows_at_once > rows && first >= rows - r)) break;
          if constexpr (pairs)
            put_pairs(to + r * pitch, column, loaded[b]);
          else
            put(to + r * pitch, plane, loaded[b]);
        }
      }
    }
  }

  static __device__ __forceinline__ void load(Loaded& to, const std::uint8_t* from) {
    if constexpr (C == 3) {
#pragma unroll
      for (int i = 0; i < 6; i += 2) {
        const uint2 v = __ldg(reinterpret_cast<const uint2*>(from + 4 * i));
        to.word[i] = v.x, to.word[i + 1] = v.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < group * C / 4; i += 4) {
        const uint4 v = __ldg(reinterpret_cast<const uint4*>(from + 4 * i));
        to.word[i] = v.x, to.word[i + 1] = v.y, to.word[i + 2] = v.z, to.word[i + 3] = v.w;
      }
    }
  }
  /// The plane's ghost is the first of the words; of three components the others are its bytes turned round.
  static __device__ __forceinline__ void fill(Loaded& to, const WgmmaPlane& plane) {
#pragma unroll
    for (int i = 0; i < group * C / 4; ++i) {
      const std::uint32_t ghost = C == 8 && i % 2 == 1 ? plane.last_ghost : plane.ghost;
      to.word[i] = C != 3 || i % 3 == 0 ? ghost : __byte_perm(ghost, 0, i % 3 == 1 ? 0x1021 : 0x2102);
    }
  }
  /// Two samples of 16 bits.
  static __device__ __forceinline__ std::uint32_t moved_up(const WgmmaPlane& plane, std::uint32_t two) {
    return wide ? two << plane.up & plane.mask : two;
  }

  /// The components of a group apart.
  static __device__ __forceinline__ void put(std::uint8_t* to, const WgmmaPlane& plane, const Loaded& pixels) {
    // Words of 8 bytes a pixel are taken as two pixels of four, in turn.
    constexpr int fours = group / 4, parts = C == 8 ? 2 : 1, bytes = C / parts;
    std::uint32_t apart[fours][C];
#pragma unroll
    for (int h = 0; h < fours; ++h)
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        Word<bytes> four;
#pragma unroll
        for (int i = 0; i < bytes; ++i) word_of(four, i) = moved_up(plane, pixels.word[h * C + parts * i + part]);
        std::uint32_t of_part[bytes];
        planar(four, of_part);
#pragma unroll
        for (int c = 0; c < bytes; ++c) apart[h][bytes * part + c] = of_part[c];
      }
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if constexpr (fours == 2)
        *reinterpret_cast<uint2*>(to + c * shape.input_bytes()) = {apart[0][c], apart[1][c]};
      else
        *reinterpret_cast<std::uint32_t*>(to + c * shape.input_bytes()) = apart[0][c];
    }
  }

  /// The place of the luma of pair `column` in the row of either half of the tile; outside the row where that half does
  /// not hold it. The halves are as wide as the tile has pairs, with a margin of as many pixels.
  static constexpr int luma_column(int half, int column) {
    return 2 * column - margin - half * tile_width;
  }
  static constexpr bool in_row(int column) {
    return column >= 0 && column < pitch;
  }

  /// Stores four pairs, from the row's `column` on: their chroma at `to`, their luma where put_pair() has it.
  static __device__ __forceinline__ void put_pairs(std::uint8_t* to, int column, const Loaded& four) {
    constexpr Packed422Order order = packed_422_order(luma_byte<Sample>);
    const std::uint32_t ab = __byte_perm(four.word[0], four.word[1], order.chroma),
                        cd = __byte_perm(four.word[2], four.word[3], order.chroma);
    *reinterpret_cast<std::uint32_t*>(to + 2 * shape.input_bytes()) = __byte_perm(ab, cd, 0x6420);
    *reinterpret_cast<std::uint32_t*>(to + 3 * shape.input_bytes()) = __byte_perm(ab, cd, 0x7531);
    const uint2 luma = {luma_of(order, four.word[0], four.word[1]), luma_of(order, four.word[2], four.word[3])};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (const int n = luma_column(half, column); in_row(n))
        *reinterpret_cast<uint2*>(to - column + half * shape.input_bytes() + n) = luma;
  }
  /// Stores one pair, whose position may lie outside the frame. `from`, `row`: the frame's row and the tile's.
  static __device__ __forceinline__ void put_pair(std::uint8_t* row, int column, const WgmmaPlane& plane,
                                                  const std::uint8_t* from, int x, bool ghost) {
    const EdgeAxis luma = luma_axis(plane.across);
#pragma unroll
    for (int byte = 0; byte < 4; ++byte) {
      const bool is_luma = byte % 2 == luma_byte<Sample>;
      const int at =
          is_luma ? 2 * edge_index(luma, 2 * x + byte / 2) + luma_byte<Sample> : 4 * edge_index(plane.across, x) + byte;
      const auto sample = static_cast<std::uint8_t>(ghost ? plane.ghost >> 8 * byte : __ldg(from + at));
      if (!is_luma) {
        row[(2 + byte / 2) * shape.input_bytes() + column] = sample;
        continue;
      }
#pragma unroll
      for (int half = 0; half < 2; ++half)
        if (const int n = luma_column(half, column) + byte / 2; in_row(n)) row[half * shape.input_bytes() + n] = sample;
    }
  }

  /// The pixels that are in no such group.
  static __device__ __forceinline__ void load_rest(std::uint8_t* memory, const WgmmaPlane& plane, int x, int y) {
    const int x0 = x - margin, y0 = y - height / 2, width = plane.across.length;
    const int end = min(pitch, width - x0 + margin), left = plane.aligned && x0 < 0 ? margin : 0;
    const int right = plane.aligned ? min((width - x0) / group * group, end) : 0, columns = left + end - right;
    if (columns == 0) return;
#pragma unroll 4
    for (int i = number(); i < rows * columns; i += threads) {
      const int r = i / columns, n = i - r * columns, column = n < left ? n : right + n - left;
      const int of_frame_x = x0 + column, of_frame_y = min(y0 + r, plane.down.length + height / 2 - 1);
      const int px = edge_index(plane.across, of_frame_x), row = edge_index(plane.down, of_frame_y);
      const bool ghost = plane.down.ghost && (px != of_frame_x || row != of_frame_y);
      if constexpr (pairs) {
        put_pair(memory + r * pitch, column, plane, plane.in + row * plane.in_stride, of_frame_x, ghost);
      } else {
        const std::uint8_t* from = plane.in + row * plane.in_stride + static_cast<std::ptrdiff_t>(px) * C;
        std::uint8_t* to = memory + r * pitch + column;
#pragma unroll
        for (int c = 0; c < C; c += sizeof(Sample)) {
          const std::uint32_t outside = c < 4 ? plane.ghost >> 8 * c : plane.last_ghost >> 8 * (c - 4);
          std::uint32_t sample = ghost ? outside : __ldg(reinterpret_cast<const Sample*>(from + c));
          sample = moved_up(plane, sample);
          to[c * shape.input_bytes()] = static_cast<std::uint8_t>(sample);
          if (wide) to[(c + 1) * shape.input_bytes()] = static_cast<std::uint8_t>(sample >> 8);
        }
      }
    }
  }
};

#endif

}  // namespace convolve::cuda::wgmma
