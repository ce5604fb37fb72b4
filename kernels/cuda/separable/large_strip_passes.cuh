// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row pass and the column pass of a warp of a strip, V in registers: see large_strips.cuh.
#pragma once

#include "cuda/separable/large_pairs.cuh"
#include "cuda/separable/large_strip_samples.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// What a word's second and third byte count. From memory: products with what the compiler does not know are no
/// permutes and shifts, of which there are enough.
struct Places {
  int second = 1 << 8;
  std::uint32_t third = 1 << 16;

  __device__ void load(const uint4* from) {
    const uint2 v = *reinterpret_cast<const uint2*>(from);
    second = static_cast<int>(v.x), third = v.y;
  }
};

/// A banded matrix of `units` units, this lane's words of it: in registers, or in shared memory.
template <int units, int parts, bool in_registers>
struct BandedMatrix {
  uint4 word[in_registers ? units : 1][parts];
  std::uint32_t at;

  /// `from`: of this lane, in device memory; `shared`: of this lane as well.
  __device__ void load(const uint4* from, int stored_parts, std::uint32_t shared) {
    at = shared;
    if constexpr (in_registers)
#pragma unroll
      for (int i = 0; i < units; ++i)
#pragma unroll
        for (int part = 0; part < parts; ++part) word[i][part] = __ldg(from + 32 * (i * stored_parts + part));
  }
  __device__ uint4 get(int unit, int part, int stored_parts) const {
    if constexpr (in_registers)
      return word[unit][part];
    else
      return ptx::load_shared(at + (unit * stored_parts + part) * matrix_bytes);
  }
  static constexpr int matrix_bytes = 32 * sizeof(uint4);
};

/// The sum of byte b of word w of row 8 r of what a lane stores, of those by tile and component.
template <int C, bool pairs, class Sum, int columns>
__device__ __forceinline__ Sum sum_of_byte(const Sum (&sum)[columns][2][4], int r, int w, int b) {
  if constexpr (C == 1 || pairs)
    return sum[w][b / 2][2 * r + b % 2];
  else if constexpr (C == 2)
    return sum[b % 2][w][2 * r + b / 2];
  else if constexpr (C == 3)
    return sum[(4 * w + b) % 3][(4 * w + b) / 6][2 * r + (4 * w + b) / 3 % 2];
  else
    return sum[b][w / 2][2 * r + w % 2];
}

/// What a warp makes of a strip; `pairs`: of packed 4:2:2, whose pairs of pixels are pixels of four bytes, and whose
/// tiles are in the place of components: see large_pairs.cuh.
template <class Numbers, int C, int units, bool pairs>
struct StripPasses {
  using Shape = Strip<Numbers, units>;
  using Sum = typename Numbers::Sum;
  static constexpr int unit = Numbers::unit, parts = Numbers::parts, tiles = StripWarp<C>::tiles;
  static constexpr int row_tiles = unit / 8;  ///< of 8 rows of the frame, a step's
  static constexpr int row_parts =
      tiles < parts && !pairs ? tiles : parts;                ///< of the row matrix, that this warp takes
  static constexpr int shift = parts == 1 ? 1 : 0;            ///< units that the second tile lies after the first
  static constexpr int window = units + (tiles - 1) * shift;  ///< units of a row
  static constexpr int at_once = C == 4 ? 1 : 2;              ///< row tiles
  /// V of a unit takes the place of the oldest one's, and `units` steps are one round of a loop; 1: it moves instead.
  static constexpr int turns = parts == 1 && units <= 3 ? units : 1;
  static constexpr bool keeps_start = units * unit <= 64;
  BandedMatrix<units, row_parts, true> row;
  BandedMatrix<units, parts, Shape::column_taps_in_registers> column;
  Sum start[4];  ///< what V starts at, as a product takes it
  Places places;
  std::uint32_t v[units][tiles * C][2][2 * parts];  ///< V by unit, tile and component, half of the tile

  /// The matrices, and what V starts at. `shared`: of the column matrix, where it lies there.
  __device__ void load(const Args& args, const Plane& plane, std::uint8_t* shared) {
    constexpr int words = units * parts * 32;
    const int lane = threadIdx.x & 31;
    if constexpr (Shape::taps_bytes > 0)
      for (int i = threadIdx.x; i < words; i += 32 * strip_warps(C))
        reinterpret_cast<uint4*>(shared)[i] = __ldg(plane.column_taps + i);
    row.load(plane.row_taps + lane, parts, 0);
    column.load(plane.column_taps + lane, parts, ptx::address_in_shared(shared) + 16 * lane);
    // From memory, so that the compiler keeps four registers in place of copying one before each product. Where
    // registers are short, a constant takes none.
    using Four = std::conditional_t<std::is_integral_v<Sum>, int4, float4>;
    const Four from = *reinterpret_cast<const Four*>(plane.row_taps + words);
    const Sum value[4] = {from.x, from.y, from.z, from.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) start[i] = keeps_start ? value[i] : static_cast<Sum>(args.row_start);
    if constexpr (parts > 1 && keeps_start) places.load(plane.row_taps + words + 1);
  }
  /// The place of unit k of V, counted from the oldest, once `turn` units have come since the places began anew.
  static __device__ constexpr int place(int k, int turn) {
    return turns == 1 ? k : (k + turn + 1) % units;
  }
  __device__ __forceinline__ void move_up() {
    if (turns > 1) return;
#pragma unroll
    for (int i = 0; i + 1 < units; ++i)
#pragma unroll
      for (int k = 0; k < tiles * C * 4 * parts; ++k) (&v[i][0][0][0])[k] = (&v[i + 1][0][0][0])[k];
  }
  /// Row sums of the next unit of rows; `from`: this lane's first pixels.
  __device__ __forceinline__ void filter_rows(const std::uint8_t* from, int pitch, int turn) {
    move_up();
#pragma unroll
    for (int first = 0; first < row_tiles; first += at_once) {
      Sum sum[at_once][tiles][C][4];
      uint4 matrix[row_parts], before = {};
#pragma unroll
      for (int j = 0; j < window; ++j) {
        if (j < units)
#pragma unroll
          for (int part = 0; part < row_parts; ++part) matrix[part] = row.get(j, part, parts);
#pragma unroll
        for (int r = 0; r < at_once; ++r) {
          std::uint32_t word[parts][C];
#pragma unroll
          for (int four = 0; four < parts; ++four)
            load_words<C>(word[four], from + 8 * (first + r) * pitch + (j * unit + 16 * four) * C);
#pragma unroll
          for (int c = 0; c < C; ++c) {
            std::uint32_t pixels[2];
            Numbers::template right<C>(pixels, word, c);
#pragma unroll
            for (int i = 0; i < tiles; ++i)
              if (j - i * shift >= 0 && j - i * shift < units)
                Numbers::multiply_right(sum[r][i][c], i * shift ? before : matrix[i < row_parts ? i : 0], pixels,
                                        j == i * shift ? start : sum[r][i][c]);
          }
        }
        before = matrix[0];
      }
#pragma unroll
      for (int r = 0; r < at_once; ++r)
#pragma unroll
        for (int i = 0; i < tiles * C; ++i)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const auto& of = sum[r][i / C][i % C];
            Numbers::keep(v[place(units - 1, turn)][i][h], first + r, of[2 * h], of[2 * h + 1], places.third);
          }
    }
  }
  /// The same of packed 4:2:2; `luma`: the bytes of this lane's first two pixels of luma, `chroma` those of its first
  /// pair of which chroma is taken in.
  __device__ __forceinline__ void filter_pair_rows(const std::uint8_t* luma, const std::uint8_t* chroma, int pitch,
                                                   const Pairs& selectors, int turn) {
    move_up();
#pragma unroll
    for (int r = 0; r < row_tiles; ++r, luma += 8 * pitch, chroma += 8 * pitch) {
      Sum sum[4][4];
      uint4 matrix[parts], before = {};
#pragma unroll
      for (int j = 0; j < units + shift; ++j) {
        if (j < units)
#pragma unroll
          for (int part = 0; part < parts; ++part) matrix[part] = row.get(j, part, parts);
        std::uint32_t pixels[2];
        luma_operand<Numbers>(pixels, luma + j * 2 * unit, selectors);
        if (j < units) Numbers::multiply_right(sum[0], matrix[0], pixels, j == 0 ? start : sum[0]);
        if (j >= shift)
          Numbers::multiply_right(sum[1], shift ? before : matrix[parts - 1], pixels, j == shift ? start : sum[1]);
        before = matrix[0];
        if (j == units) continue;
        std::uint32_t either[2][2];
        chroma_operands<Numbers>(either, chroma + j * 4 * unit, selectors);
#pragma unroll
        for (int c = 0; c < 2; ++c)
          Numbers::multiply_right(sum[2 + c], matrix[0], either[c], j == 0 ? start : sum[2 + c]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          Numbers::keep(v[place(units - 1, turn)][i][h], r, sum[i][2 * h], sum[i][2 * h + 1], places.third);
    }
  }
  /// The outputs that those end.
  template <class Samples>
  __device__ __forceinline__ void filter_columns(Samples& samples, int turn) const {
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      Sum sum[tiles * C][2][4] = {};
#pragma unroll
      for (int limb = parts - 1; limb >= 0; --limb) {
#pragma unroll
        for (int k = 0; k < units; ++k) {
          const uint4 matrix = column.get(k, part, parts);
#pragma unroll
          for (int i = 0; i < tiles * C; ++i)
#pragma unroll
            for (int h = 0; h < 2; ++h) Numbers::multiply_sums(sum[i][h], matrix, v[place(k, turn)][i][h], limb);
        }
        if (limb)
#pragma unroll
          for (int i = 0; i < tiles * C; ++i)
#pragma unroll
            for (int k = 0; k < 8; ++k)
              (&sum[i][0][0])[k] = places.second * (&sum[i][0][0])[k] + samples.plane.start[i % C];
      }
      if (C == 3 && part > 0) samples.finish();  // 16 rows are what waits to go to the frame
      samples.store([&](int r, int w, int b) { return sum_of_byte<C, pairs>(sum, r, w, b); });
    }
  }
};

#endif

}  // namespace convolve::cuda::large
