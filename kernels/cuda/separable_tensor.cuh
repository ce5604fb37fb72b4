// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for bytes: both passes are banded matrix products chained through registers.
//
// A warp owns a strip of 64 output bytes and marches down it, 16 rows a step. Its window is `blocks` blocks of 16 bytes
// of two chunks of 16 rows: eight columns of byte pairs a block, as ldmatrix hands them out transposed. Byte j of the
// pairs is tile j, the 16 (or 32) x 8 operand of the column pass: V = C X, with C the banded matrix of the column. V's
// fragments lie as the left operand of the row pass wants them, H = V R: 32 pixels of window for a set of 16 pixels of
// output, whose columns are dealt out so that a lane ends with four neighbouring pixels of two rows.
//
// Real taps: half precision throughout, samples as subnormal halves (a byte is b * 2^-24), V less its middle level, H
// as a fraction of 255 less a half; the plan bounds the error and serves the case only where that is within one code
// value. Integer taps: 8-bit operands, 32-bit sums, V as two 8-bit digits; exact.
#pragma once

#include "cuda/rounding.cuh"
#include "cuda/separable_products.cuh"
#include "cuda/separable_window.cuh"

namespace convolve::cuda::tensor {

__host__ __device__ constexpr int sets_of(int components) {
  return 4 / components;
}

/// The matrices' fragments of one lane, and the two passes with them. Fragments come from memory, so that the compiler
/// keeps them in registers.
template <bool exact, int C>
struct Products;

template <int C>
struct Products<false, C> {
  static constexpr int blocks = blocks_of(C);
  std::uint32_t column[2][4], row[2][4];  ///< by chunk; by group of outputs, for the window's two halves
  std::uint32_t start[2], from[C][2];     ///< what V and H start at
  std::uint32_t partial[blocks][2][2];    ///< V of the next step, tile by tile: rows g and g + 8
  std::uint32_t value[blocks][2][2];      ///< V

  __device__ void prepare(const TensorPlane& plane, int lane) {
    const auto load = [&](std::uint32_t(&to)[4], int i) {
      const uint4 v = __ldg(plane.fragments + i);
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    };
#pragma unroll
    for (int i = 0; i < 2; ++i) load(column[i], 32 * i + lane), load(row[i], 32 * (2 + i) + lane);
    std::uint32_t v[4];
    load(v, 128);
    start[0] = v[0], start[1] = v[1];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if (c % 2 == 0) load(v, 129 + c / 2);
      from[c][0] = v[c % 2 * 2], from[c][1] = v[c % 2 * 2 + 1];
    }
  }
  /// Two rows' byte pairs of each half of a chunk to a tile's operand.
  static __device__ void tile(std::uint32_t (&part)[2], std::uint32_t x, std::uint32_t y, int j) {
    part[0] = __byte_perm(x, 0, j ? 0x4341 : 0x4240);
    part[1] = __byte_perm(y, 0, j ? 0x4341 : 0x4240);
  }
  /// Block b of the chunk below; of the strip's first chunk.
  __device__ void columns(int b, std::uint32_t x, std::uint32_t y) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      std::uint32_t part[2];
      tile(part, x, y, j);
      mma_f16_k16(value[b][j], column[1], part[0], part[1], partial[b][j]);
      mma_f16_k16(partial[b][j], column[0], part[0], part[1], start);
    }
  }
  __device__ void first_columns(int b, std::uint32_t x, std::uint32_t y) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      std::uint32_t part[2];
      tile(part, x, y, j);
      mma_f16_k16(partial[b][j], column[0], part[0], part[1], start);
    }
  }
  /// A lane's four pixels of set s, of rows g and g + 8.
  __device__ void rows(std::uint32_t (&words)[2][C], int s, const TensorArgs&, bool skip_last) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      std::uint32_t code[C][2];
#pragma unroll
      for (int c = 0; c < C; ++c) {
        std::uint32_t d[2] = {};
        if (C < 4 || c < 3 || !skip_last) {
          std::uint32_t a[2][4];
#pragma unroll
          for (int h = 0; h < 2; ++h)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              if constexpr (C == 1) {
                a[h][i] = value[s + h][i >> 1][i & 1];
              } else if constexpr (C == 2) {
                a[h][i] = value[2 * s + 2 * h + (i >> 1)][c][i & 1];
              } else {
                const int b = 4 * h + 2 * (i >> 1);
                a[h][i] = __byte_perm(value[b][c & 1][i & 1], value[b + 1][c & 1][i & 1], c & 2 ? 0x7632 : 0x5410);
              }
            }
          std::uint32_t e[2];
          mma_f16_k16(e, a[0], row[n][0], row[n][1], from[c]);
          mma_f16_k16(d, a[1], row[n][2], row[n][3], e);
        }
        code[c][0] = codes_of_halves(d[0]);
        code[c][1] = codes_of_halves(d[1]);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if constexpr (C == 1) {
          words[h][0] = n == 0 ? code[0][h] : __byte_perm(words[h][0], code[0][h], 0x6420);
        } else {
          const std::uint32_t low = __byte_perm(code[0][h], code[1][h], 0x6240);
          if constexpr (C == 2) {
            words[h][n] = low;
          } else {
            const std::uint32_t high = __byte_perm(code[2][h], code[3][h], 0x6240);
            words[h][2 * n] = __byte_perm(low, high, 0x5410);
            words[h][2 * n + 1] = __byte_perm(low, high, 0x7632);
          }
        }
      }
    }
  }
};

template <int C>
struct Products<true, C> {
  static constexpr int blocks = blocks_of(C);
  std::uint32_t column[4], row[4];
  std::uint32_t upper[blocks][2];  ///< the chunk above, tile by tile
  int sums[blocks][2][4];          ///< V
  int constant[C];                 ///< of TensorPlane
  float offset[C];

  __device__ void prepare(const TensorPlane& plane, int lane) {
    const uint4 v = __ldg(plane.fragments + lane), w = __ldg(plane.fragments + 32 + lane);
    column[0] = v.x, column[1] = v.y, column[2] = v.z, column[3] = v.w;
    row[0] = w.x, row[1] = w.y, row[2] = w.z, row[3] = w.w;
#pragma unroll
    for (int c = 0; c < C; ++c) constant[c] = plane.constant[c], offset[c] = plane.offset[c];
  }
  /// As signed bytes, less 128.
  __device__ void first_columns(int b, std::uint32_t x, std::uint32_t y) {
    upper[b][0] = __byte_perm(x, y, 0x6420) ^ 0x80808080;
    upper[b][1] = __byte_perm(x, y, 0x7531) ^ 0x80808080;
  }
  __device__ void columns(int b, std::uint32_t x, std::uint32_t y) {
    const std::uint32_t above[2] = {upper[b][0], upper[b][1]};
    first_columns(b, x, y);
#pragma unroll
    for (int j = 0; j < 2; ++j) mma_s8_s8(sums[b][j], column, above[j], upper[b][j]);
  }
  static __device__ void digits(std::uint32_t& low, std::uint32_t& high, int s0, int s1, int s2, int s3) {
    const std::uint32_t first = __byte_perm(s0, s1, 0x5410), second = __byte_perm(s2, s3, 0x5410);
    low = __byte_perm(first, second, 0x6420);
    high = __byte_perm(first, second, 0x7531);
  }
  /// A lane's four pixels of set s, of rows g and g + 8.
  __device__ void rows(std::uint32_t (&words)[2][C], int s, const TensorArgs& args, bool skip_last) const {
    float code[2][4][C];  ///< by row, pixel and component
#pragma unroll
    for (int c = 0; c < C; ++c) {
      std::uint32_t low[4], high[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int r = 2 * (i & 1), h = i >> 1;
        if constexpr (C == 1) {
          const int(&v)[2][4] = sums[s + h];
          digits(low[i], high[i], v[0][r], v[1][r], v[0][r + 1], v[1][r + 1]);
        } else if constexpr (C == 2) {
          const int b = 2 * s + 2 * h;
          digits(low[i], high[i], sums[b][c][r], sums[b][c][r + 1], sums[b + 1][c][r], sums[b + 1][c][r + 1]);
        } else {
          const int b = 4 * h, j = c & 1, k = r + (c >> 1);
          digits(low[i], high[i], sums[b][j][k], sums[b + 1][j][k], sums[b + 2][j][k], sums[b + 3][j][k]);
        }
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        int d[4] = {};
        if (C < 4 || c < 3 || !skip_last) {
          int e[4];
          mma_s8_s8(e, high, row[2 * n], row[2 * n + 1]);
#pragma unroll
          for (int i = 0; i < 4; ++i) e[i] = e[i] * 256 + constant[c];
          mma_u8_s8(d, low, row[2 * n], row[2 * n + 1], e);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
          code[i >> 1][2 * n + (i & 1)][c] =
              __fadd_rn(__fmaf_rn(static_cast<float>(d[i]), args.gain, offset[c]), -args.snap);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* v = code[h][0];
#pragma unroll
      for (int w = 0; w < C; ++w) words[h][w] = pack_bytes(v[4 * w], v[4 * w + 1], v[4 * w + 2], v[4 * w + 3]);
    }
  }
};

/// Four transposed 8 x 8 matrices of byte pairs: the two halves of a chunk, of two neighbouring blocks.
__device__ __forceinline__ void load_matrices(std::uint32_t (&m)[4], const void* row_of_lane) {
#if __CUDA_ARCH__ >= 800
  const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(row_of_lane));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(from)
               : "memory");
#else
  __trap();
#endif
}

/// A step's output on its way through shared memory, to leave in pieces of neighbouring lanes: the first strip of one
/// component begins at 8 bytes.
template <int C>
struct Pieces {
  using Piece = std::conditional_t<C == 1, uint2, uint4>;
  static constexpr int bytes = sizeof(Piece), in_row = strip_bytes / bytes, rows = 32 / in_row;

  /// Of `lines` rows, to row 0 of `out`; `at` is this lane's place in the row.
  static __device__ __forceinline__ void store(const std::uint8_t* cells, int lane, std::uint8_t* out,
                                               std::ptrdiff_t stride, bool whole, bool pieces, int lines, int at,
                                               int row_bytes) {
    const std::uint8_t* from = cells + lane / in_row * pitch_of(C) + lane % in_row * bytes;
    Piece piece[step_rows / rows];
#pragma unroll
    for (int n = 0; n < step_rows / rows; ++n)
      piece[n] = *reinterpret_cast<const Piece*>(from + n * rows * pitch_of(C));
    if (whole) {
#pragma unroll
      for (int n = 0; n < step_rows / rows; ++n) *reinterpret_cast<Piece*>(out + n * rows * stride) = piece[n];
    } else {
      pieces = pieces && at >= 0 && at + bytes <= row_bytes;
#pragma unroll
      for (int n = 0; n < step_rows / rows; ++n)
        if (lane / in_row + n * rows < lines) {
          if (pieces)
            *reinterpret_cast<Piece*>(out + n * rows * stride) = piece[n];
          else if (at + bytes > 0 && at < row_bytes)
#pragma unroll 1
            for (int e = max(0, -at); e < min(bytes, row_bytes - at); ++e)
              out[n * rows * stride + e] = from[n * rows * pitch_of(C) + e];
        }
    }
  }
};

/// Kept in a register: parameters of a plane, read again and again, wait for constant memory each time.
template <class T>
__device__ __forceinline__ T kept(T value) {
  if constexpr (sizeof(T) == 8)
    asm("" : "+l"(value));
  else
    asm("" : "+r"(value));
  return value;
}

template <bool exact, int C>
__device__ __forceinline__ void filter_strip(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* shared) {
  using Own = Window<C>;
  constexpr int blocks = Own::blocks, most = TensorTile::most_steps(C), sets = sets_of(C);
  // From the shuffle the compiler knows that a warp agrees on it, and on the branches below.
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int place = (blockIdx.x - plane.first_block) * TensorTile::warps + warp;
  const int band = plane.strips == 1 ? place : static_cast<int>(__umulhi(place, plane.strips_inverse));
  if (band >= plane.bands) return;
  const int left = (place - band * plane.strips) * strip_bytes - (C == 4 ? 32 : 16);
  const int top = band * args.steps * step_rows, height = kept(plane.height);
  const int steps = min(args.steps, (height - top + step_rows - 1) / step_rows);
  const bool sides = left < 0 || left + blocks * block_bytes > plane.row_bytes;
  const Own window{args, plane, shared + warp * window_bytes(C), left, top - reach, lane, sides};
  window.load(steps + 1);
  Products<exact, C> products;
  products.prepare(plane, lane);

  const auto each_block = [&](int chunk, auto&& use) {
    const std::uint8_t* from = window.row(chunk, lane & 15) + (lane >> 4) * block_bytes;
#pragma unroll
    for (int b = 0; b < blocks; b += 2) {
      std::uint32_t m[4];
      // An odd last block is read twice.
      load_matrices(m, b + 1 < blocks ? from + b * block_bytes : window.row(chunk, lane & 15) + b * block_bytes);
      use(b, m[0], m[1]);
      if (b + 1 < blocks) use(b + 1, m[2], m[3]);
    }
  };
  const bool mends = window.mends();
  wait_for_copies<most>();
  __syncwarp();
  if (mends) window.mend(0);
  each_block(0, [&](int b, std::uint32_t x, std::uint32_t y) { products.first_columns(b, x, y); });

  using Out = Pieces<C>;
  const int first = left + reach * C, row_bytes = kept(plane.row_bytes);  // output byte
  const bool pieces = plane.out_words, inside = pieces && first >= 0 && first + strip_bytes <= row_bytes;
  const std::uint32_t copied = kept(plane.copied);
  const bool skip_last = C == 4 && copied >> 24;
  const std::ptrdiff_t stride = kept(plane.out_stride);
  const int lane_at = first + lane % Out::in_row * Out::bytes;
  std::uint8_t* out = plane.out + (top + lane / Out::in_row) * stride + lane_at;
#pragma unroll 1
  for (int i = 0; i < steps; ++i, out += step_rows * stride) {
    commit_copies();  // an empty group: as many are pending in every step
    wait_for_copies<most>();
    __syncwarp();
    if (mends) window.mend(i + 1);
    each_block(i + 1, [&](int b, std::uint32_t x, std::uint32_t y) { products.columns(b, x, y); });
    std::uint32_t words[sets][2][C];
#pragma unroll
    for (int s = 0; s < sets; ++s) products.rows(words[s], s, args, skip_last);
    const int at = 4 * C * t;
    if (copied) {
#pragma unroll
      for (int s = 0; s < sets; ++s)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const auto* from =
              reinterpret_cast<const std::uint32_t*>(window.row(i + h, h ? g : g + 8) + reach * C + 16 * C * s + at);
#pragma unroll
          for (int w = 0; w < C; ++w) words[s][h][w] = (words[s][h][w] & ~copied) | (from[w] & copied);
        }
      __syncwarp();
    }
    // The chunk above is done with.
#pragma unroll
    for (int s = 0; s < sets; ++s)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        std::uint8_t* to = window.row(i, g + 8 * h) + 16 * C * s + at;
        if constexpr (C == 1) *reinterpret_cast<std::uint32_t*>(to) = words[s][h][0];
        if constexpr (C == 2) *reinterpret_cast<uint2*>(to) = {words[s][h][0], words[s][h][1]};
        if constexpr (C == 4)
          *reinterpret_cast<uint4*>(to) = {words[s][h][0], words[s][h][1], words[s][h][2], words[s][h][3]};
      }
    __syncwarp();
    const int lines = height - top - i * step_rows;
    Out::store(window.row(i, 0), lane, out, stride, inside && lines >= step_rows, pieces, lines, lane_at, row_bytes);
  }
}

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once: 1, 3 or 4.
template <bool exact, int components>
__global__ void __launch_bounds__(32 * TensorTile::warps, TensorTile::blocks(exact, components))
    tensor_kernel(const __grid_constant__ TensorArgs args) {
  __shared__ alignas(16) std::uint8_t shared[TensorTile::warps * window_bytes(components == 3 ? 2 : components)];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const TensorPlane& plane = args.plane[p];
  if constexpr (components == 4) {
    filter_strip<exact, 4>(args, plane, shared);
  } else if constexpr (components == 3) {
    if (plane.components == 1)
      filter_strip<exact, 1>(args, plane, shared);
    else
      filter_strip<exact, 2>(args, plane, shared);
  } else {
    filter_strip<exact, 1>(args, plane, shared);
  }
}

}  // namespace convolve::cuda::tensor
