// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The column pass of separable's kernels for large filters, and sums to samples: see large.cuh.
#pragma once

#include <type_traits>

#include "cuda/common/epilogue.cuh"
#include "cuda/common/frame.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/separable/large.hpp"
#include "cuda/separable/large_products.cuh"

namespace convolve::cuda::large {

constexpr int sums_pitch = 2 * ColumnTile::bytes;  ///< bytes of a row of V in shared memory
constexpr int sums_pieces = sums_pitch / 16;       ///< of 16 bytes; piece i of row r lies at place i ^ r % 8

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// `count` rows of V from row `top` of the frame on, to shared memory.
__device__ __forceinline__ void load_sums(const Args& args, const Plane& plane, std::uint8_t* shared, int left, int top,
                                          int count) {
  static_assert(sums_pieces == 8 && threads % 64 == 0);
  const int piece = threadIdx.x % sums_pieces, first = threadIdx.x / sums_pieces;
  const std::uint16_t* from = plane.sums + left + 8 * piece;
  std::uint8_t* to = shared + first * sums_pitch + (piece ^ first % 8) * 16;
  const std::uint32_t ghost = plane.ghost_sums[piece & 1];
  // Rows far below the frame meet no tap of an output that is there.
  const int last = plane.height - 1 + args.centre_y + ColumnTile::rows;
#pragma unroll 4
  for (int r = first; r < count; r += threads / sums_pieces, to += threads / sums_pieces * sums_pitch) {
    const int y = place_of(plane.rows, plane.simple, args.border, min(top + r, last));
    if (y >= 0)
      ptx::copy_async_past_l1(ptx::address_in_shared(to), from + static_cast<std::ptrdiff_t>(y) * plane.pitch);
    else
      *reinterpret_cast<uint4*>(to) = {ghost, ghost, ghost, ghost};
  }
  ptx::wait_for_all_copies();
}

/// Stores a lane's samples: rows g and g + 8 of 16, bytes 8 t to 8 t + 7 of a warp's 32.
struct Samples8 {
  const Args& args;
  const Plane& plane;
  int x, y;  ///< of the lane's first byte in the frame, and of row g of the first 16

  /// Sums (i, k) as samples of row y + below + 8 i, for i < n: eight of component k % components.
  template <int n, class Sums>
  __device__ __forceinline__ void store(const Sums& sum, int below) const {
    const int rows = plane.height - y - below, there = plane.row_bytes - x;
    if (there <= 0) return;
    const bool whole = plane.out_wide && there >= 8;
    std::uint64_t was[n] = {};
    if (args.centre != 0 || plane.passthrough)
#pragma unroll
      for (int i = 0; i < n; ++i)
        if (8 * i < rows) was[i] = load(plane.in + (y + below + 8 * i) * plane.in_stride + x, whole, there);
    std::uint8_t* to = plane.out + (y + below) * plane.out_stride + x;
#pragma unroll
    for (int i = 0; i < n; ++i, to += 8 * plane.out_stride) {
      if (8 * i >= rows) return;
      const std::uint32_t in[2] = {static_cast<std::uint32_t>(was[i]), static_cast<std::uint32_t>(was[i] >> 32)};
      float value[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) value[k] = as_float(sum(i, k), k);
      if (args.centre != 0)
#pragma unroll
        for (int k = 0; k < 8; ++k)  // a byte in the mantissa of 2^23 is 2^23 + that byte
          value[k] = fmaf(args.centre,
                          __uint_as_float(__byte_perm(in[k / 4], 0x4B000000, 0x7440 | (k & 3))) - 8388608.f, value[k]);
      divide<std::is_integral_v<decltype(sum(0, 0))>>(value);
      std::uint32_t word[2];
#pragma unroll
      for (int w = 0; w < 2; ++w) {
        const float* v = value + 4 * w;
        word[w] = (pack_bytes(v[0], v[1], v[2], v[3]) & ~plane.passthrough) | (in[w] & plane.passthrough);
      }
      if (whole)
        *reinterpret_cast<uint2*>(to) = {word[0], word[1]};
      else
        store_bytes(to, word[0] | std::uint64_t{word[1]} << 32, there);
    }
  }

 private:
  __device__ float as_float(float sum, int) const {
    return sum;
  }
  __device__ float as_float(int sum, int k) const {
    return __int2float_rn(sum + plane.start[k & 3]);
  }
  template <bool exact>
  __device__ void divide(float (&value)[8]) const {
    if (exact && args.divisor != 0)
#pragma unroll
      for (int k = 0; k < 8; ++k) value[k] = remainder_value(value[k], args.gain, plane.level[k & 3], args.divisor);
    else
#pragma unroll
      for (int k = 0; k < 8; ++k)
        value[k] = __fmaf_rn(value[k], args.gain, exact ? __fmul_rn(value[k], args.gain_low) : plane.level[k & 3]);
  }
  static __device__ std::uint64_t load(const std::uint8_t* from, bool whole, int there) {
    if (whole) return __ldg(reinterpret_cast<const unsigned long long*>(from));
    std::uint64_t bytes = 0;
#pragma unroll 1
    for (int k = 0; k < min(there, 8); ++k) bytes |= std::uint64_t{__ldg(from + k)} << 8 * k;
    return bytes;
  }
  static __device__ void store_bytes(std::uint8_t* to, std::uint64_t bytes, int there) {
#pragma unroll 1
    for (int k = 0; k < min(there, 8); ++k, bytes >>= 8) to[k] = static_cast<std::uint8_t>(bytes);
  }
};

/// V in shared memory, as the column pass of a warp reads it: 32 columns, from piece `piece` of the rows on, and rows
/// from block `first` of 16 on.
struct SumsView {
  std::uint32_t at;
  int piece, first;

  /// This lane's row of four matrices: `row` of those of block `block` on, and piece `of_lane` of the warp's.
  __device__ std::uint32_t row_of_lane(int block, int row, int of_lane) const {
    return at + (16 * (first + block) + row) * sums_pitch + ((piece + of_lane) ^ row % 8) * 16;
  }
};

/// 64 rows of a warp's 32 columns. Of halves at once: unit j of V meets unit o of the outputs with unit j - o of the
/// matrix, as in the row pass.
__device__ __forceinline__ void filter_columns(Halves, const Args& args, const SumsView& sums, const uint4* taps,
                                               const Samples8& samples) {
  constexpr int units = ColumnTile::warp_rows / 16;
  const int lane = threadIdx.x & 31, count = args.column_units, steps = count + units - 1;
  float sum[units][4][4] = {};
  Matrix<Halves> matrix[units], next;
  next.load(taps, 0);
#pragma unroll 1
  for (int base = 0; base < steps; base += units)
#pragma unroll
    for (int s = 0; s < units; ++s) {
      const int j = base + s;
      if (s > 0 && j >= steps) break;
      matrix[s] = next;
      // Two matrices of 16 rows by 8 places, of pieces 2 i and 2 i + 1.
      std::uint32_t right[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        ptx::load_matrices_here(right[i], sums.row_of_lane(j, lane & 15, 2 * i + (lane >> 4)));
      if (j + 1 < count) next.load(taps, j + 1);
#pragma unroll
      for (int o = 0; o < units; ++o)
        if (j - o >= 0 && j - o < count)
#pragma unroll
          for (int u = 0; u < 4; ++u)
            ptx::mma_f16(sum[o][u], matrix[(s - o + units) % units].word[0], right[u / 2] + u % 2 * 2, sum[o][u]);
    }
  samples.store<2 * units>([&](int i, int k) { return sum[i / 2][k / 2][i % 2 * 2 + k % 2]; }, 0);
}

/// The column pass of limbs: 32 rows at a time, with sums of V's low and of its high limbs.
__device__ __forceinline__ void filter_columns(Limbs, const Args& args, const SumsView& sums, const uint4* taps,
                                               const Samples8& samples) {
  const int lane = threadIdx.x & 31;
#pragma unroll 1
  for (int unit = 0; unit < ColumnTile::warp_rows / 32; ++unit) {
    int low[2][4][4] = {}, high[2][4][4] = {};
    Matrix<Limbs> next;
    next.load(taps, 0);
#pragma unroll 1
    for (int i = 0; i < args.column_units; ++i) {
      const Matrix<Limbs> matrix = next;
      if (i + 1 < args.column_units) next.load(taps, i + 1);
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        std::uint32_t v[4];
        ptx::load_matrices_here(v, sums.row_of_lane(2 * (unit + i), lane, u));
        const std::uint32_t low_limbs[2] = {__byte_perm(v[0], v[1], 0x6420), __byte_perm(v[2], v[3], 0x6420)};
        const std::uint32_t high_limbs[2] = {__byte_perm(v[0], v[1], 0x7531), __byte_perm(v[2], v[3], 0x7531)};
#pragma unroll
        for (int part = 0; part < 2; ++part) {
          ptx::mma_s8_u8(low[part][u], matrix.word[part], low_limbs, low[part][u]);
          ptx::mma_s8_s8(high[part][u], matrix.word[part], high_limbs, high[part][u]);
        }
      }
    }
    samples.store<4>(
        [&](int i, int k) {
          const int at = i % 2 * 2 + k % 2;
          return low[i / 2][k / 2][at] + 256 * high[i / 2][k / 2][at];
        },
        32 * unit);
  }
}

/// Copies a warp's samples, where nothing is filtered.
__device__ __forceinline__ void copy_columns(const Samples8& samples) {
  samples.store<ColumnTile::warp_rows / 8>([](int, int) { return 0.f; }, 0);
}

#endif

template <class Numbers>
__global__ void __launch_bounds__(threads, resident) column_kernel(const __grid_constant__ Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint8_t shared[];
  pdl_wait();
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_column_block) ++p;
  const Plane& plane = args.plane[p];
  const int tile = blockIdx.x - plane.first_column_block, tile_y = tile / plane.column_tiles_x;
  const int left = (tile - tile_y * plane.column_tiles_x) * ColumnTile::bytes, top = tile_y * ColumnTile::rows;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int below = warp / ColumnTile::across * ColumnTile::warp_rows;
  const Samples8 samples{args, plane, left + warp % ColumnTile::across * 32 + 8 * (lane & 3),
                         top + below + (lane >> 2)};
  if (plane.passthrough == ~0u) return copy_columns(samples);
  load_sums(args, plane, shared, left, top - args.centre_y, ColumnTile::rows + (args.column_units - 1) * Numbers::unit);
  __syncthreads();
  if (top + below >= plane.height) return;
  const SumsView sums{ptx::address_in_shared(shared), 4 * (warp % ColumnTile::across), below / 16};
  filter_columns(Numbers{}, args, sums, plane.column_taps + lane, samples);
#endif
}

}  // namespace convolve::cuda::large
