// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass of separable's kernels for large filters: see large.cuh.
#pragma once

#include "cuda/common/by_components.cuh"
#include "cuda/common/frame.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/separable/large.hpp"
#include "cuda/separable/large_products.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// The pixel that byte `at` of a row belongs to, which may lie before the row.
template <int C>
__device__ __forceinline__ int pixel_of(int at) {
  constexpr int before = 4096;  // pixels, more than a tap reaches
  return C == 3 ? static_cast<int>(static_cast<unsigned>(at + 3 * before) / 3) - before : at >> (C / 2);
}

/// A pair of packed 4:2:2, at byte `at` of a row, some of which may lie beside the frame.
__device__ __forceinline__ std::uint32_t pair_at(const Args& args, const Plane& plane, const std::uint8_t* row,
                                                 int at) {
  std::uint32_t word = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const bool luma = (i & 1) == args.pairs.luma_at;
    const int x = luma ? place_of(args.pairs.luma_columns, plane.simple, args.border, (at + i) >> 1)
                       : place_of(plane.columns, plane.simple, args.border, at >> 2);
    const int from = luma ? 2 * x + args.pairs.luma_at : 4 * x + i;
    word |= (x < 0 ? plane.ghost >> 8 * i & 255 : std::uint32_t{__ldg(row + from)}) << 8 * i;
  }
  return word;
}

/// Four bytes of a row from byte `at` on, some of which may lie beside the frame.
template <int C, bool pairs = false>
__device__ __forceinline__ std::uint32_t word_at(const Args& args, const Plane& plane, const std::uint8_t* row,
                                                 int at) {
  if (pairs) return pair_at(args, plane, row, at);
  std::uint32_t word = 0;
  if (C == 4 && plane.wide) {
    const int x = place_of(plane.columns, plane.simple, args.border, at >> 2);
    return x < 0 ? plane.ghost : __ldg(reinterpret_cast<const std::uint32_t*>(row) + x);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int pixel = pixel_of<C>(at + i), x = place_of(plane.columns, plane.simple, args.border, pixel);
    const int c = C == 3 ? at + i - 3 * pixel : i & (C - 1);
    word |= (x < 0 ? plane.ghost >> 8 * i & 255 : std::uint32_t{__ldg(row + x * C + c)}) << 8 * i;
  }
  return word;
}

/// The part of a row that is loaded: `window` bytes, a tile's pixels and what its taps reach beside it.
template <int C>
struct RowWindow {
  int first, bytes;  ///< where it begins in the frame's row, and its size
  int begin, end;    ///< bytes from `begin` to `end` of it lie inside of the frame, in whole pieces of 16
  int words;         ///< of four bytes beside those

  /// Positions farther from the frame than the taps reach are left out: no output meets them.
  __device__ RowWindow(const Args& args, const Plane& plane, int left, int window)
      : first((left - row_margin(args.centre_x)) * C),
        bytes(min(window, (plane.row_bytes - first + args.reach_x * C + 15) & ~15)),
        begin(plane.wide ? min(max(-first, 0), bytes) : bytes),
        end(plane.wide ? max(begin, min(plane.row_bytes - first, bytes) & ~15) : bytes),
        words((bytes - (end - begin)) / 4) {}
};

/// The row of the frame that row `y` stands for, of a tile of `rows` rows. Rows far below the frame meet no tap of an
/// output that is there.
template <int rows>
__device__ __forceinline__ int row_at(const Args& args, const Plane& plane, int y) {
  return place_of(plane.rows, plane.simple, args.border, min(y, plane.height - 1 + args.centre_y + rows));
}

/// `rows` rows from `top` on, which may lie beside the frame, to shared memory by so many warps: the pieces inside of
/// the frame. In the background: ptx::wait_for_all_copies().
template <int C, int rows, int warps>
__device__ __forceinline__ void load_pieces(const Args& args, const Plane& plane, std::uint8_t* shared,
                                            const RowWindow<C>& window, int top, int pitch) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
#pragma unroll 1
  for (int r = warp; r < rows; r += warps) {
    const int y = row_at<rows>(args, plane, top + r);
    std::uint8_t* to = shared + r * pitch;
    if (y < 0) {
      for (int i = 16 * lane; i < window.bytes; i += 16 * 32)
        *reinterpret_cast<uint4*>(to + i) = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    } else {
      const std::uint8_t* from = plane.in + y * plane.in_stride + window.first;
      for (int i = window.begin + 16 * lane; i < window.end; i += 16 * 32)
        ptx::copy_async_past_l1(ptx::address_in_shared(to + i), from + i);
    }
  }
}

/// Where row r of a strip lies in shared memory, whose rows of packed 4:2:2 are an odd multiple of 64 bytes apart.
/// There neither loads of luma, 32 bytes of four rows at once, nor those of chroma, 64 bytes of two, meet a bank twice.
template <bool skewed>
__device__ __forceinline__ int row_start(int r, int pitch) {
  return r * pitch + (skewed ? (r & 2) / 2 * pair_rows_apart : 0);
}

/// Word k of the cells beside those pieces, counted along each row: its row of the frame, its byte of the frame's row,
/// and where it lies in shared memory.
struct BesideWord {
  int y, at, cell;
};
template <int C, int rows, bool skewed = false>
__device__ __forceinline__ BesideWord beside_word(const Args& args, const Plane& plane, const RowWindow<C>& window,
                                                  int k, int top, int pitch) {
  const int r = k / window.words, word = 4 * (k - r * window.words);
  const int i = word < window.begin ? word : word - window.begin + window.end;
  return {row_at<rows>(args, plane, top + r), window.first + i, row_start<skewed>(r, pitch) + i};
}

/// Those cells, a word to a thread, whatever their number in a row; from word `first` on.
template <int C, int rows, int warps, bool pairs = false, bool skewed = false>
__device__ __forceinline__ void load_beside(const Args& args, const Plane& plane, std::uint8_t* shared,
                                            const RowWindow<C>& window, int top, int pitch, int first = 0) {
#pragma unroll 1
  for (int k = first + threadIdx.x; k < window.words * rows; k += 32 * warps) {
    const BesideWord word = beside_word<C, rows, skewed>(args, plane, window, k, top, pitch);
    if (word.y >= 0)
      *reinterpret_cast<std::uint32_t*>(shared + word.cell) =
          word_at<C, pairs>(args, plane, plane.in + word.y * plane.in_stride, word.at);
  }
}

/// Both.
template <int C, int rows, int warps>
__device__ __forceinline__ void load_rows(const Args& args, const Plane& plane, std::uint8_t* shared, int left, int top,
                                          int bytes, int pitch) {
  const RowWindow<C> window(args, plane, left, bytes);
  load_pieces<C, rows, warps>(args, plane, shared, window, top, pitch);
  load_beside<C, rows, warps>(args, plane, shared, window, top, pitch);
}

/// Asks the second level cache for such rows: see prefetch.cuh. Eight lanes have a row, which is some cache lines.
template <int C, int rows, int warps>
__device__ __forceinline__ void ask_for_rows(const Args& args, const Plane& plane, int left, int top, int window) {
  constexpr int lanes = 8;
  const int first = max((left - row_margin(args.centre_x)) * C, 0) + static_cast<int>(threadIdx.x) % lanes * cache_line;
  const int end = min(left * C + window, plane.row_bytes);
#pragma unroll 1
  for (int r = threadIdx.x / lanes; r < rows; r += 32 * warps / lanes) {
    const std::uint8_t* row = plane.in + min(max(top + r, 0), plane.height - 1) * plane.in_stride;
#pragma unroll 1
    for (int at = first; at < end; at += lanes * cache_line) prefetch_line(row + at);
  }
}

/// The words of a unit of pixels that a lane takes: four of each component from pixel 4 t on, and with units of 32
/// pixels four from 16 + 4 t on; of rows g and g + 8 of each band.
template <class Numbers, int C>
struct RowInput {
  static constexpr int bands = RowTile<C>::bands, fours = Numbers::unit / 16;
  std::uint32_t word[bands][2][fours][C];

  __device__ void load(const std::uint8_t* from, int pitch) {
#pragma unroll
    for (int band = 0; band < bands; ++band)
#pragma unroll
      for (int row = 0; row < 2; ++row)
#pragma unroll
        for (int four = 0; four < fours; ++four)
          load_words<C>(word[band][row][four], from + (16 * band + 8 * row) * pitch + 16 * four * C);
  }
};

template <class Numbers, int C>
struct RowSums {
  static constexpr int bands = RowTile<C>::bands, units = RowTile<C>::pixels / Numbers::unit;
  typename Numbers::Sum value[bands][units][C][Numbers::tiles][4];

  __device__ void start(float from) {
#pragma unroll
    for (int i = 0; i < bands * units * C * Numbers::tiles * 4; ++i)
      (&value[0][0][0][0][0])[i] = static_cast<typename Numbers::Sum>(from);
  }

  /// Unit j of the input meets unit o of the outputs with unit j - o of the matrix. The last `units` of those stay in
  /// registers, unit i in place i % units; what the next step takes is on its way meanwhile.
  __device__ void multiply(const std::uint8_t* from, int pitch, const uint4* taps, int count) {
    Matrix<Numbers> matrix[units], next;
    RowInput<Numbers, C> input;
    next.load(taps, 0);
    input.load(from, pitch);
    const int steps = count + units - 1;
#pragma unroll 1
    for (int base = 0; base < steps; base += units)
#pragma unroll
      for (int s = 0; s < units; ++s) {
        const int j = base + s;
        if (s > 0 && j >= steps) break;
        matrix[s] = next;
        std::uint32_t left[bands][C][4];
#pragma unroll
        for (int band = 0; band < bands; ++band)
#pragma unroll
          for (int c = 0; c < C; ++c) Numbers::template left<C>(left[band][c], input.word[band], c);
        if (j + 1 < count) next.load(taps, j + 1);
        if (j + 1 < steps) input.load(from + (j + 1) * Numbers::unit * C, pitch);
#pragma unroll
        for (int o = 0; o < units; ++o)
          if (j - o >= 0 && j - o < count) add(left, matrix[(s - o + units) % units], o);
      }
  }

  /// V of those of a lane's rows that lie before row `end`: `place` says where a row's 16 bytes lie, piece after piece.
  template <class Place>
  __device__ void store(const Place& place, int end, int t) const {
#pragma unroll
    for (int band = 0; band < bands; ++band)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = 16 * band + 8 * h;
        if (row < end) store_row([&](int piece) { return place(row, piece); }, band, h, t);
      }
  }

 private:
  __device__ void add(const std::uint32_t (&left)[bands][C][4], const Matrix<Numbers>& matrix, int o) {
#pragma unroll
    for (int band = 0; band < bands; ++band)
#pragma unroll
      for (int c = 0; c < C; ++c)
#pragma unroll
        for (int tile = 0; tile < Numbers::tiles; ++tile) {
          const std::uint32_t(&b)[4] = matrix.word[tile / 2];
          Numbers::multiply(value[band][o][c][tile], left[band][c], b + tile % 2 * 2);
        }
  }
  /// Row h of two of a band. A group is 32 bytes of output, four pieces, whose order in V large_byte_of() says.
  template <class Place>
  __device__ void store_row(const Place& place, int band, int h, int t) const {
    constexpr int tiles_of_group = C == 3 ? 1 : 4 / C, all = units * Numbers::tiles;
    const auto pair = [&](int tile, int c0, int e0, int c1, int e1) {
      const auto& of = value[band][tile / Numbers::tiles];
      return Numbers::stored(of[c0][tile % Numbers::tiles][2 * h + e0], of[c1][tile % Numbers::tiles][2 * h + e1]);
    };
#pragma unroll
    for (int group = 0; group < all / tiles_of_group; ++group) {
      const int tile = group * tiles_of_group;
      if constexpr (C == 1) {
        *reinterpret_cast<uint4*>(place(4 * group + t)) = {pair(tile, 0, 0, 0, 1), pair(tile + 1, 0, 0, 0, 1),
                                                           pair(tile + 2, 0, 0, 0, 1), pair(tile + 3, 0, 0, 0, 1)};
      } else if constexpr (C == 2) {
        *reinterpret_cast<uint4*>(place(4 * group + t)) = {pair(tile, 0, 0, 1, 0), pair(tile, 0, 1, 1, 1),
                                                           pair(tile + 1, 0, 0, 1, 0), pair(tile + 1, 0, 1, 1, 1)};
      } else if constexpr (C == 3) {
        // Six bytes of two neighbouring pixels, two by two.
        const std::uint32_t sums[3] = {pair(tile, 0, 0, 1, 0), pair(tile, 2, 0, 0, 1), pair(tile, 1, 1, 2, 1)};
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          const int byte = 24 * tile + 6 * t + 2 * k;
          *reinterpret_cast<std::uint32_t*>(place(byte / 32 * 4 + byte % 8 / 2) + byte % 32 / 8 * 4) = sums[k];
        }
      } else {
#pragma unroll
        for (int c = 0; c < 4; c += 2)
          *reinterpret_cast<uint2*>(place(4 * group + t % 2 * 2 + c / 2) + t / 2 * 8) = {pair(tile, c, 0, c + 1, 0),
                                                                                         pair(tile, c, 1, c + 1, 1)};
      }
    }
  }
};

/// The row pass of a warp: rows from `first` on of those in shared memory, pixels from `x` on of the tile. Rows and
/// `end` count from row g of those on, for RowSums::store().
template <class Numbers, int C, class Place>
__device__ __forceinline__ void filter_rows(const Args& args, const Plane& plane, const std::uint8_t* shared, int pitch,
                                            int first, int x, int end, const Place& place) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int beside = row_margin(args.centre_x) - (args.centre_x + 3) / 4 * 4;
  RowSums<Numbers, C> sums;
  sums.start(args.row_start);
  sums.multiply(shared + (first + g) * pitch + (beside + x + 4 * t) * C, pitch, plane.row_taps + lane, args.row_units);
  sums.store(place, end, t);
}

template <class Numbers, int C>
__device__ __forceinline__ void filter_row_tile(const Args& args, const Plane& plane, std::uint8_t* shared) {
  using Tile = RowTile<C>;
  if (plane.passthrough == ~0u) return pdl_wait();
  const int tile = blockIdx.x - plane.first_row_block, tile_y = tile / plane.row_tiles_x;
  const int left = (tile - tile_y * plane.row_tiles_x) * Tile::width, top = tile_y * Tile::rows;
  const int window = row_window(Numbers::unit, args.row_units, args.centre_x, Tile::width, C);
  const int pitch = row_pitch(window, C);
  ask_for_rows<C, Tile::rows, warps>(args, plane, left, top, window);
  pdl_wait();
  load_rows<C, Tile::rows, warps>(args, plane, shared, left, top, window, pitch);
  ptx::wait_for_all_copies();
  __syncthreads();
  const int x = static_cast<int>(threadIdx.x >> 5) * Tile::pixels, g = threadIdx.x >> 2 & 7;
  if (left + x >= plane.width) return;
  std::uint16_t* to = plane.sums + static_cast<std::ptrdiff_t>(top + g) * plane.pitch + (left + x) * C;
  filter_rows<Numbers, C>(args, plane, shared, pitch, 0, x, plane.height - top - g, [&](int row, int piece) {
    return reinterpret_cast<std::uint8_t*>(to + static_cast<std::ptrdiff_t>(row) * plane.pitch + 8 * piece);
  });
}

#endif

template <class Numbers, PlaneMix mix>
__global__ void __launch_bounds__(threads, resident) row_kernel(const __grid_constant__ Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint8_t shared[];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_row_block) ++p;
  const Plane& plane = args.plane[p];
  by_components<mix>(plane.components, [&](auto C) { filter_row_tile<Numbers, C>(args, plane, shared); });
#endif
}

}  // namespace convolve::cuda::large
