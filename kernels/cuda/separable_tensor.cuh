// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for bytes: both passes are banded matrix products chained through registers.
//
// A block has a tile of 256 bytes by 64 rows, whose input lies in shared memory; a warp makes 16 rows of it, from left
// to right, in sets of 16 pixels. The column pass takes blocks of 16 bytes of 32 rows: eight columns of byte pairs, as
// ldmatrix hands them out transposed. Byte j of the pairs is tile j, the 32 x 8 operand: V = C X, with C the banded
// matrix of the column. V's fragments lie as the left operand of the row pass wants them, H = V R: 32 pixels of window
// for a set, half of which are those of the set before; the set's columns are dealt out so that a lane ends with four
// neighbouring pixels of two rows.
//
// `halves`: half precision, samples as subnormal halves (a byte is b * 2^-24), V less its middle level, H in single
// precision. The plan serves real taps so where the error stays within one code value, integer ones where there is
// none: where |V| <= 2048 of its units. `digits`: 8-bit operands, 32-bit sums, V as two 8-bit digits; exact.
#pragma once

#include "cuda/rounding.cuh"
#include "cuda/separable_products.cuh"
#include "cuda/separable_window.cuh"

namespace convolve::cuda::tensor {

enum class Sums : std::uint8_t {
  real,     ///< halves; the sample is H
  halves,   ///< the sample is H * gain
  digits,   ///< the sample is H + the bits of 2^23, read as a float, * gain + offset: one product, where that is right
  snapped,  ///< digits, and a Quantizer
};

__host__ __device__ constexpr bool in_halves(Sums sums) {
  return sums == Sums::real || sums == Sums::halves;
}

/// A half of a set's window as the left operand of the row pass, by component: V, for digits its low and its high ones.
template <Sums sums, int C>
struct Half {
  std::uint32_t v[C][4];
};

/// The 32 rows of a lane's blocks of 16 bytes that come in next, one set's: byte pairs of rows 8 i to 8 i + 7.
template <int C>
struct Blocks {
  std::uint32_t pairs[C][4];

  __device__ void load(std::uint32_t at) {
#pragma unroll
    for (int b = 0; b < C; ++b) load_matrices(pairs[b], at + b * block_bytes);
  }
};

/// The matrices' fragments of one lane, and the two passes with them. Fragments come from memory, so that the compiler
/// keeps them in registers.
template <Sums sums, int C>
struct Products;

template <Sums sums, int C>
requires(in_halves(sums)) struct Products<sums, C> {
  using Part = Half<sums, C>;
  std::uint32_t column[4], where;  ///< of 32 rows, sparse
  std::uint32_t row[2][4];         ///< by group of outputs, for the window's two halves
  std::uint32_t start[2];          ///< what V and H start at
  float from[C][4];

  __device__ void prepare(const TensorPlane& plane, int lane) {
    const auto load = [&](std::uint32_t(&to)[4], int i) {
      const uint4 v = __ldg(plane.fragments + i);
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    };
#pragma unroll
    for (int i = 0; i < 2; ++i) load(row[i], 32 * (1 + i) + lane);
    load(column, lane);
    where = __ldg(reinterpret_cast<const std::uint32_t*>(plane.fragments + 96) + lane);
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(plane.fragments + 104));
    start[0] = v.x, start[1] = v.y;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const float4 f = __ldg(reinterpret_cast<const float4*>(plane.fragments + 105 + c));
      from[c][0] = f.x, from[c][1] = f.y, from[c][2] = f.z, from[c][3] = f.w;
    }
  }
  /// The row of the window that a lane's address for ldmatrix is of: row 16 + i beside row i.
  static __device__ int row_of(int lane) {
    return (lane >> 3) * 4 + (lane >> 1 & 3) + 16 * (lane & 1);
  }
  __device__ void columns(Part& part, const Blocks<C>& blocks) const {
    std::uint32_t value[C][2][2];  ///< by block, tile, rows g and g + 8
#pragma unroll
    for (int b = 0; b < C; ++b) {
      const std::uint32_t(&m)[4] = blocks.pairs[b];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t selector = j ? 0x4341 : 0x4240;
        std::uint32_t samples[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) samples[i] = __byte_perm(m[i], 0, selector);
        mma_f16_sparse(value[b][j], column, samples, start, where);
      }
    }
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = i & 1, b = i >> 1;
        if constexpr (C == 1)
          part.v[c][i] = value[0][b][k];
        else if constexpr (C == 2)
          part.v[c][i] = value[b][c][k];
        else
          part.v[c][i] = __byte_perm(value[2 * b][c & 1][k], value[2 * b + 1][c & 1][k], c & 2 ? 0x7632 : 0x5410);
      }
  }
  /// Component c of a lane's four pixels of a set, of rows g and g + 8.
  __device__ void rows(float (&code)[2][4], const Part& left, const Part& right, int c, const TensorArgs& args) const {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      float e[4], d[4];
      mma_f32(e, left.v[c], row[n][0], row[n][1], from[c]);
      mma_f32(d, right.v[c], row[n][2], row[n][3], e);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i >> 1][2 * n + (i & 1)] = sums == Sums::real ? d[i] : __fmul_rn(d[i], args.gain);
    }
  }
};

template <Sums sums, int C>
struct Products {
  using Part = Half<sums, C>;
  std::uint32_t column[4], row[4];
  int start[4];  ///< what V starts at
  int from[C];   ///< what H's last digit starts at
  float offset[C];

  __device__ void prepare(const TensorPlane& plane, int lane) {
    const uint4 v = __ldg(plane.fragments + lane), w = __ldg(plane.fragments + 32 + lane);
    column[0] = v.x, column[1] = v.y, column[2] = v.z, column[3] = v.w;
    row[0] = w.x, row[1] = w.y, row[2] = w.z, row[3] = w.w;
    const int4 s = __ldg(reinterpret_cast<const int4*>(plane.fragments + 64));
    start[0] = s.x, start[1] = s.y, start[2] = s.z, start[3] = s.w;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int4 f = __ldg(reinterpret_cast<const int4*>(plane.fragments + 65 + c));
      from[c] = f.x, offset[c] = __int_as_float(f.y);
    }
  }
  static __device__ void digits(std::uint32_t& low, std::uint32_t& high, int s0, int s1, int s2, int s3) {
    const std::uint32_t first = __byte_perm(s0, s1, 0x5410), second = __byte_perm(s2, s3, 0x5410);
    low = __byte_perm(first, second, 0x6420);
    high = __byte_perm(first, second, 0x7531);
  }
  static __device__ int row_of(int lane) {
    return lane;
  }
  __device__ void columns(Part& part, const Blocks<C>& blocks) const {
    int v[C][2][4];  ///< by block and tile
#pragma unroll
    for (int b = 0; b < C; ++b) {
      const std::uint32_t(&m)[4] = blocks.pairs[b];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const std::uint32_t selector = j ? 0x7531 : 0x6420;
        mma_s8_u8(v[b][j], column, __byte_perm(m[0], m[1], selector), __byte_perm(m[2], m[3], selector), start);
      }
    }
#pragma unroll
    for (int c = 0; c < C; ++c)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int r = 2 * i;
        std::uint32_t &low = part.v[c][i], &high = part.v[c][2 + i];
        if constexpr (C == 1) {
          digits(low, high, v[0][0][r], v[0][1][r], v[0][0][r + 1], v[0][1][r + 1]);
        } else if constexpr (C == 2) {
          digits(low, high, v[0][c][r], v[0][c][r + 1], v[1][c][r], v[1][c][r + 1]);
        } else {
          const int j = c & 1, k = r + (c >> 1);
          digits(low, high, v[0][j][k], v[1][j][k], v[2][j][k], v[3][j][k]);
        }
      }
  }
  __device__ void rows(float (&code)[2][4], const Part& left, const Part& right, int c, const TensorArgs& args) const {
    const std::uint32_t low[4] = {left.v[c][0], left.v[c][1], right.v[c][0], right.v[c][1]};
    const std::uint32_t high[4] = {left.v[c][2], left.v[c][3], right.v[c][2], right.v[c][3]};
    const int nothing[4] = {};
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      int e[4], d[4];
      mma_s8_s8(e, high, row[2 * n], row[2 * n + 1], nothing);
#pragma unroll
      for (int i = 0; i < 4; ++i) e[i] = e[i] * 256 + from[c];
      mma_u8_s8(d, low, row[2 * n], row[2 * n + 1], e);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        code[i >> 1][2 * n + (i & 1)] =
            sums == Sums::digits ? __fmaf_rn(__int_as_float(d[i]), args.gain, args.offset)
                                 : __fadd_rn(__fmaf_rn(__int2float_rn(d[i]), args.gain, offset[c]), -args.snap);
    }
  }
};

/// A warp's output on its way through shared memory, half a tile of 16 rows at a time. Sets of one component begin half
/// a set before the tile; their last half opens the next half tile.
template <int C>
struct Outlet {
  static constexpr int bytes = TensorTile::bytes / 2, sets = bytes / (16 * C), lead = C == 1 ? 8 : 0;
  /// Rows of words in different banks.
  static constexpr int pitch = C == 1 ? 144 : C == 2 ? 160 : 192, size = 16 * pitch + 16;
  static constexpr int in_row = bytes / 16, rows = 32 / in_row;
};

/// Bytes behind a window: a lane's last blocks, of no set, lie there.
constexpr int unread = 64;

/// Kept in a register: parameters of a plane, read again and again, wait for constant memory each time.
template <class T>
__device__ __forceinline__ T kept(T value) {
  if constexpr (sizeof(T) == 8)
    asm("" : "+l"(value));
  else
    asm("" : "+r"(value));
  return value;
}

template <Sums sums, int C, bool staged>
__device__ __forceinline__ void filter_tile(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* shared,
                                            Arrivals* arrived) {
  using In = Window<C, staged>;
  using Out = Outlet<C>;
  // From the shuffle the compiler knows that a warp agrees on it, and on the branches below.
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  // Bands of rows arrive one after the other: each scheduler has some of all of them.
  const int band = staged ? (warp + (blockIdx.x >> 7)) % TensorTile::warps : warp;
  const int tile = blockIdx.x - plane.first_block;
  const auto origin = [&](int tile) -> int2 {
    const int tile_y = plane.tiles_x == 1 ? tile : static_cast<int>(__umulhi(tile, plane.tiles_x_inverse));
    return {(tile - tile_y * plane.tiles_x) * TensorTile::bytes, tile_y * TensorTile::rows};
  };
  const auto [x, top] = origin(tile);
  if (tile < args.wave) prefetch_tile(plane, x, top);
  Products<sums, C> products;
  products.prepare(plane, lane);
  const In in{args, plane, shared, x - margin_of(C), top, arrived};
  const int y = top + 16 * band, lines = kept(plane.height) - y, row_bytes = kept(plane.row_bytes);
  const std::ptrdiff_t stride = kept(plane.out_stride);
  const std::uint32_t copied = kept(plane.copied);
  const bool skip_last = C == 4 && copied >> 24, wide = plane.out_wide;
  const bool inside = wide && lines >= 16 && x + TensorTile::bytes <= row_bytes;
  // This lane's piece of the output.
  int piece_x = x + lane % Out::in_row * 16;
  std::uint8_t* out = plane.out + (y + lane / Out::in_row) * stride + piece_x;
  in.load();
  if (tile + args.wave < plane.tiles) {
    const int2 next = origin(tile + args.wave);
    prefetch_tile(plane, next.x, next.y);
  }
  if (lines <= 0) return;
  in.wait(band);

  std::uint32_t blocks = settled(in.row(16 * band + products.row_of(lane)));
  std::uint8_t* const outlet = shared + In::bytes + unread + warp * Out::size + Out::lead;
  std::uint8_t* const words_at = outlet + g * Out::pitch + 4 * C * t;
  const std::uint8_t* const pieces_at = outlet + Out::lead + lane / Out::in_row * Out::pitch + lane % Out::in_row * 16;
  const std::uint8_t* kept_at = in.row(16 * band + reach + g) + margin_of(C) - Out::lead + 4 * C * t;

  std::uint32_t words[2][C];
  const auto put = [&](int slot) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      std::uint8_t* to = words_at + 8 * h * Out::pitch + 16 * C * slot;
      if constexpr (C == 1) *reinterpret_cast<std::uint32_t*>(to) = words[h][0];
      if constexpr (C == 2) *reinterpret_cast<uint2*>(to) = {words[h][0], words[h][1]};
      if constexpr (C == 4) *reinterpret_cast<uint4*>(to) = {words[h][0], words[h][1], words[h][2], words[h][3]};
    }
  };
  /// The next set, and what stays as it was, from this lane's bytes of the window.
  const auto make = [&](const auto& left, const auto& right, const std::uint8_t* was) {
    float code[2][4][C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      float of_component[2][4] = {};
      if (C < 4 || c < 3 || !skip_last) products.rows(of_component, left, right, c, args);
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int i = 0; i < 4; ++i) code[h][i][c] = of_component[h][i];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* v = code[h][0];
#pragma unroll
      for (int w = 0; w < C; ++w) words[h][w] = pack_bytes(v[4 * w], v[4 * w + 1], v[4 * w + 2], v[4 * w + 3]);
    }
    if (C > 1 && copied)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int w = 0; w < C; ++w) {
          const std::uint32_t before = *reinterpret_cast<const std::uint32_t*>(was + row_offset(C, 8 * h) + 4 * w);
          words[h][w] = (words[h][w] & ~copied) | (before & copied);
        }
  };

  /// Half a tile, a lane's pieces of which lie there, leaves for the frame.
  const auto leave = [&](const auto& piece_at) {
    uint4 piece[16 / Out::rows];
#pragma unroll
    for (int n = 0; n < 16 / Out::rows; ++n) piece[n] = *reinterpret_cast<const uint4*>(piece_at(n));
    if (inside) {
#pragma unroll
      for (int n = 0; n < 16 / Out::rows; ++n) *reinterpret_cast<uint4*>(out + n * Out::rows * stride) = piece[n];
    } else {
#pragma unroll
      for (int n = 0; n < 16 / Out::rows; ++n) {
        std::uint8_t* to = out + n * Out::rows * stride;
        if (lane / Out::in_row + n * Out::rows >= lines) continue;
        if (wide && piece_x + 16 <= row_bytes)
          *reinterpret_cast<uint4*>(to) = piece[n];
        else
#pragma unroll 1
          for (int e = 0; e < min(16, row_bytes - piece_x); ++e) to[e] = piece_at(n)[e];
      }
    }
    out += Out::bytes, piece_x += Out::bytes;
  };
  if (copied == ~0u) {
    const int row = 16 * band + reach + lane / Out::in_row;
    int at = margin_of(C) + lane % Out::in_row * 16;
#pragma unroll 1
    for (int half = 0; half < 2; ++half, at += Out::bytes)
      leave([&](int n) { return in.row(row + n * Out::rows) + at; });
    return;
  }

  // Sets overlap, so that none waits for its own products: of one component V is a set ahead, the blocks are another.
  constexpr int ahead = C == 1 ? 2 : 1;
  typename Products<sums, C>::Part part[ahead + 1];
  Blocks<C> next;
#pragma unroll
  for (int i = 0; i < ahead; ++i, blocks += C * block_bytes) {
    next.load(blocks);
    products.columns(part[i], next);
  }
  next.load(blocks);
  const auto step = [&](int s) {
    products.columns(part[(s + ahead) % (ahead + 1)], next);
    blocks += C * block_bytes;
    next.load(blocks);
    make(part[s % (ahead + 1)], part[(s + 1) % (ahead + 1)], kept_at);
    kept_at += 16 * C;
  };
  // After so many sets the first part is part[0] again.
  const auto turn = [&](int sets) {
    typename Products<sums, C>::Part was[ahead + 1];
#pragma unroll
    for (int i = 0; i <= ahead; ++i) was[i] = part[i];
#pragma unroll
    for (int i = 0; i <= ahead; ++i) part[i] = was[(i + sets) % (ahead + 1)];
  };
  if (C == 1) {
    step(0);
    turn(1);
    put(0);
  }
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int s = 0; s < Out::sets; ++s) {
      step(s);
      put(C == 1 ? s + 1 : s);
    }
    turn(Out::sets);
    __syncwarp();
    leave([&](int n) { return pieces_at + n * Out::rows * Out::pitch; });
    __syncwarp();
    if (C == 1) put(0);
  }
}

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once: 1, 3 or 4.
template <Sums sums, int components>
__global__ void __launch_bounds__(tile_threads, TensorTile::blocks(components))
    tensor_kernel(const __grid_constant__ TensorArgs args) {
  // Of one component all blocks are resident at once.
  constexpr bool staged = components == 1;
  constexpr int most = components == 3 ? 2 : components;
  constexpr int bytes = Window<most, staged>::bytes + unread + TensorTile::warps * Outlet<most>::size;
  __shared__ alignas(16) std::uint8_t shared[bytes];
  __shared__ Arrivals arrived[TensorTile::warps];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const TensorPlane& plane = args.plane[p];
  if constexpr (components == 4) {
    filter_tile<sums, 4, staged>(args, plane, shared, arrived);
  } else if constexpr (components == 3) {
    if (plane.components == 1)
      filter_tile<sums, 1, staged>(args, plane, shared, arrived);
    else
      filter_tile<sums, 2, staged>(args, plane, shared, arrived);
  } else {
    filter_tile<sums, 1, staged>(args, plane, shared, arrived);
  }
}

}  // namespace convolve::cuda::tensor
