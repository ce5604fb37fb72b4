// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Strips (large_strips.cuh) of integer taps of which 48 pixels or rows hold all that 16 outputs reach: up to 31 taps an
// axis, and some of up to 33. Units are of 16, as halves have them, and a sum takes in three of them: one product of
// two units and one of the third.
//
//   row pass       sum = T(0) T(1) times x(i) x(i + 1), then T(2) times x(i + 2)
//   column pass    V's places are taken in turn; those of places 0 and 1 are one product whatever their age:
//
//     newest in place    0             1             2
//     places 0 and 1     C(2) C(0)     C(1) C(2)     C(0) C(1)
//     place 2            C(1)          C(0)          C(2)
#pragma once

#include "cuda/separable/large_strip_passes.cuh"

namespace convolve::cuda::large {

struct LimbsOf16 {
  using Sum = int;
  static constexpr int unit = 16, parts = 1;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// What a warp makes of a strip: as the general StripPasses, which says what the members are.
template <int C, bool pairs>
struct StripPasses<LimbsOf16, C, 3, pairs> {
  static constexpr int unit = 16, tiles = StripWarp<C>::tiles, columns = tiles * C, turns = 3;
  uint4 row[2];     ///< T(0) and T(1), T(1) and T(2)
  uint4 column[3];  ///< by turn, of places 0 and 1
  int start[4];     ///< what V starts at
  Places places;
  std::uint32_t v[columns][2][2][3];  ///< V by tile and component, half of the tile, limb, place

  __device__ void load(const Args& args, const Plane& plane, std::uint8_t*) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < 2; ++i) row[i] = __ldg(plane.row_taps + 32 * i + lane);
#pragma unroll
    for (int i = 0; i < 3; ++i) column[i] = __ldg(plane.column_taps + 32 * i + lane);
    // From memory, so that the compiler keeps four registers in place of copying one before each product.
    const int4 from = *reinterpret_cast<const int4*>(plane.row_taps + 64);
    start[0] = from.x, start[1] = from.y, start[2] = from.z, start[3] = from.w;
    places.load(plane.row_taps + 65);
  }
  /// Row sums of the next unit of rows; `from`: this lane's first pixels.
  __device__ __forceinline__ void filter_rows(const std::uint8_t* from, int pitch, int turn) {
    std::uint32_t before[columns][2];
#pragma unroll
    for (int r = 0; r < 2; ++r, from += 8 * pitch) {
      constexpr int words = 2 + tiles;
      std::uint32_t word[words][C];
      int sum[columns][4];
#pragma unroll
      for (int j = 0; j < words; ++j) load_words<C>(word[j], from + 16 * j * C);
#pragma unroll
      for (int c = 0; c < C; ++c) {
        std::uint32_t pixels[words];
#pragma unroll
        for (int j = 0; j < words; ++j) pixels[j] = Limbs::samples<C>(word[j], c);
        add_row(sum[c], pixels);
        if constexpr (tiles == 2) add_next_row(sum[1], pixels + 1);
      }
      keep(sum, before, r, turn);
    }
  }
  /// The same of packed 4:2:2.
  __device__ __forceinline__ void filter_pair_rows(const std::uint8_t* luma, const std::uint8_t* chroma, int pitch,
                                                   const Pairs& selectors, int turn) {
    std::uint32_t before[columns][2];
#pragma unroll
    for (int r = 0; r < 2; ++r, luma += 8 * pitch, chroma += 8 * pitch) {
      std::uint32_t pixels[4], either[2][3];
      int sum[columns][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const uint2 four = *reinterpret_cast<const uint2*>(luma + 32 * j);
        pixels[j] = __byte_perm(four.x, four.y, selectors.luma);
      }
#pragma unroll
      for (int j = 0; j < 3; ++j) {
        const uint4 four = *reinterpret_cast<const uint4*>(chroma + 64 * j);
        const std::uint32_t low = __byte_perm(four.x, four.y, selectors.chroma),
                            high = __byte_perm(four.z, four.w, selectors.chroma);
        either[0][j] = __byte_perm(low, high, 0x6420);
        either[1][j] = __byte_perm(low, high, 0x7531);
      }
      add_row(sum[0], pixels);
      add_next_row(sum[1], pixels + 1);
#pragma unroll
      for (int c = 0; c < 2; ++c) add_row(sum[2 + c], either[c]);
      keep(sum, before, r, turn);
    }
  }
  /// The outputs that those end.
  template <class Samples>
  __device__ __forceinline__ void filter_columns(Samples& samples, int turn) const {
    const uint4 two = column[turn], one = column[(turn + 1) % 3];
    int sum[columns][2][4] = {};
    const auto add = [&](int limb) {
#pragma unroll
      for (int i = 0; i < columns; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) ptx::mma_s8_u8(sum[i][h], &two.x, v[i][h][limb], sum[i][h]);
#pragma unroll
      for (int i = 0; i < columns; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) ptx::mma_s8_u8_of_16(sum[i][h], &one.x, v[i][h][limb][2], sum[i][h]);
    };
    add(1);
#pragma unroll
    for (int i = 0; i < columns; ++i)
#pragma unroll
      for (int k = 0; k < 8; ++k) (&sum[i][0][0])[k] = places.second * (&sum[i][0][0])[k] + samples.plane.start[i % C];
    add(0);
    samples.store([&](int r, int w, int b) { return sum_of_byte<C, pairs>(sum, r, w, b); });
  }

 private:
  /// Of pixels of three units.
  __device__ __forceinline__ void add_row(int (&sum)[4], const std::uint32_t* pixels) const {
    ptx::mma_s8_u8(sum, &row[0].x, pixels, start);
    ptx::mma_s8_u8_of_16(sum, &row[1].z, pixels[2], sum);
  }
  /// The same, but that the last two are neighbours in registers.
  __device__ __forceinline__ void add_next_row(int (&sum)[4], const std::uint32_t* pixels) const {
    ptx::mma_s8_u8(sum, &row[1].x, pixels + 1, start);
    ptx::mma_s8_u8_of_16(sum, &row[0].x, pixels[0], sum);
  }
  /// Sums of rows 8 r to 8 r + 7 of the unit; `before`: as pairs, those of r = 0 for r = 1.
  __device__ __forceinline__ void keep(const int (&sum)[columns][4], std::uint32_t (&before)[columns][2], int r,
                                       int turn) {
#pragma unroll
    for (int i = 0; i < columns; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::uint32_t pair = places.third * static_cast<std::uint32_t>(sum[i][2 * h + 1]) + sum[i][2 * h];
        if (r == 0) {
          before[i][h] = pair;
        } else {
          v[i][h][0][turn] = __byte_perm(before[i][h], pair, 0x6420);
          v[i][h][1][turn] = __byte_perm(before[i][h], pair, 0x7531);
        }
      }
  }
};

#endif

}  // namespace convolve::cuda::large
