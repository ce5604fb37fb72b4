// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for bytes: both passes are banded matrix products chained through registers.
//
// A block has a tile of 256 bytes by 64 rows, whose input lies in shared memory; a warp makes 16 rows of it, or half of
// them, from left to right, in sets of 16 pixels. The column pass takes blocks of 16 bytes of 32 rows: eight columns of
// byte pairs, as ldmatrix hands them out transposed. Byte j of the pairs is tile j, the 32 x 8 operand: V = C X, with C
// the banded matrix of the column. V's fragments lie as the left operand of the row pass wants them, H = V R: 32 pixels
// of window for a set, half of which are those of the set before; the set's columns are dealt out so that a lane ends
// with four neighbouring pixels of two rows.
//
// A tap at the centre beside the product, as unsharp masks have it, is added in the epilogue, from the window itself.
//
// Half precision: samples are subnormal halves (a byte is b * 2^-24), V is less its middle level, H in single
// precision. The plan serves real taps so where the error stays within one code value, integer ones where there is
// none: where |V| <= 2048 of its units. 8-bit operands: sums of 32 bits, V as two 8-bit limbs; exact.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/separable/packed_products.cuh"
#include "cuda/separable/tensor_input.cuh"
#include "cuda/separable/tensor_passes.cuh"

namespace convolve::cuda::tensor {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

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

/// Keeps a value in a register: parameters of a plane, read again and again, wait for constant memory each time.
template <class T>
__device__ __forceinline__ T in_register(T value) {
  ptx::hide(value);
  return value;
}

/// The address in shared memory of what is not written any more: no load of matrices from there moves up to before.
__device__ __forceinline__ std::uint32_t settled(const void* pointer) {
  std::uint32_t address = ptx::address_in_shared(pointer);
  ptx::hide_behind_memory(address);
  return address;
}

template <Epilogue epilogue, int C, int warps, bool staged, bool packed = false>
__device__ __forceinline__ void filter_tile(const TensorArgs& args, const TensorPlane& plane, std::uint8_t* shared,
                                            Arrivals* arrived) {
  using In = Window<C, 32 * warps, staged, packed>;
  using Out = Outlet<C>;
  constexpr int bands = TensorTile::bands, halves = 2 * bands / warps;  // of a tile, that a warp makes
  // From the shuffle the compiler knows that a warp agrees on it, and on the branches below.
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  // Bands of rows arrive one after the other: each scheduler has some of all of them.
  const int band = staged ? (warp + (blockIdx.x >> 7)) % bands : warp;
  const int skipped = warps > bands ? warp / bands * Out::bytes : 0;  // the other warp's half
  const int tile = blockIdx.x - plane.first_block;
  const auto origin = [&](int tile) -> int2 {
    const int tile_y = plane.tiles_x == 1 ? tile : static_cast<int>(__umulhi(tile, plane.tiles_x_inverse));
    return {(tile - tile_y * plane.tiles_x) * TensorTile::bytes, tile_y * TensorTile::rows};
  };
  const auto [x, top] = origin(tile);
  if (tile < args.wave) prefetch_tile<32 * warps>(plane, x, top);
  std::conditional_t<packed, PackedProducts<epilogue>, Products<epilogue, C>> products;
  products.prepare(plane, lane);
  const In in{args, plane, shared, x - margin_of(C), top, arrived};
  const int y = top + 16 * band, lines = in_register(plane.height) - y, row_bytes = in_register(plane.row_bytes);
  const std::ptrdiff_t stride = in_register(plane.out_stride);
  const std::uint32_t passthrough = in_register(plane.passthrough);
  const bool skip_last = C == 4 && !packed && passthrough >> 24, wide = plane.out_wide;
  const bool inside = wide && lines >= 16 && x + TensorTile::bytes <= row_bytes;
  // This lane's piece of the output.
  int piece_x = x + skipped + lane % Out::in_row * 16;
  std::uint8_t* out = plane.out + (y + lane / Out::in_row) * stride + piece_x;
  in.load();
  if (tile + args.wave < plane.tiles) {
    const int2 next = origin(tile + args.wave);
    prefetch_tile<32 * warps>(plane, next.x, next.y);
  }
  if (lines <= 0) return;
  in.wait(band);

  std::uint32_t blocks = settled(in.row(16 * band + products.row_of(lane)) + skipped);
  std::uint8_t* const outlet = shared + In::bytes + unread + warp * Out::size + Out::lead;
  std::uint8_t* const words_at = outlet + g * Out::pitch + 4 * C * t;
  const std::uint8_t* const pieces_at = outlet + Out::lead + lane / Out::in_row * Out::pitch + lane % Out::in_row * 16;
  const std::uint8_t* passthrough_at = in.row(16 * band + radius + g) + margin_of(C) - Out::lead + skipped + 4 * C * t;

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
  const auto make = [&](const auto& window, int first, const std::uint8_t* was) {
    float code[2][4][C];
#pragma unroll
    for (int c = 0; c < C; ++c) {
      float of_component[2][4] = {};
      if (C < 4 || c < 3 || !skip_last) products.rows(of_component, window, first, c, args);
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int i = 0; i < 4; ++i) code[h][i][c] = of_component[h][i];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float* const v = code[h][0];
      if constexpr (epilogue == Epilogue::centre_tap) {
#pragma unroll
        for (int w = 0; w < C; ++w) {
          const std::uint32_t in = products.word_at(was + row_offset(C, 8 * h) + 4 * w);
          // A byte in the mantissa of 2^23 is 2^23 + that byte.
#pragma unroll
          for (int b = 0; b < 4; ++b) {
            const float sample = __uint_as_float(__byte_perm(in, 0x4B000000, 0x7440 | b)) - 8388608.f;
            v[4 * w + b] = fmaf(args.centre, sample, v[4 * w + b]);
          }
        }
      }
#pragma unroll
      for (int w = 0; w < C; ++w) words[h][w] = products.word_of(v + 4 * w);
    }
    if (C > 1 && passthrough)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int w = 0; w < C; ++w) {
          const std::uint32_t before = *reinterpret_cast<const std::uint32_t*>(was + row_offset(C, 8 * h) + 4 * w);
          words[h][w] = (words[h][w] & ~passthrough) | (before & passthrough);
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
  if (passthrough == ~0u) {
    const int row = 16 * band + radius + lane / Out::in_row;
    int at = margin_of(C) + skipped + lane % Out::in_row * 16;
#pragma unroll 1
    for (int half = 0; half < halves; ++half, at += Out::bytes)
      leave([&](int n) { return in.row(row + n * Out::rows) + at; });
    return;
  }

  // Sets overlap, so that none waits for its own products: the next set's blocks are there already.
  typename Products<epilogue, C>::Halves window;
  Blocks<C> next;
  next.load(blocks);
  window.put(0, products.columns(next));
  blocks += C * block_bytes;
  next.load(blocks);
  /// A set whose window begins with half `first`.
  const auto step = [&](int first) {
    const auto fresh = products.columns(next);
    blocks += C * block_bytes;
    next.load(blocks);
    window.put(first ^ 1, fresh);
    make(window, first, passthrough_at);
    passthrough_at += 16 * C;
  };
  if (C == 1) {
    step(0);
    put(0);
  }
  static_assert(Out::sets % 2 == 0);
#pragma unroll 1
  for (int half = 0; half < halves; ++half) {
#pragma unroll
    for (int s = 0; s < Out::sets; ++s) {
      step(C == 1 ? (s + 1) % 2 : s % 2);
      put(C == 1 ? s + 1 : s);
    }
    __syncwarp();
    leave([&](int n) { return pieces_at + n * Out::rows * Out::pitch; });
    if (halves == 1) break;
    __syncwarp();
    if (C == 1) put(0);
  }
}

#endif

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once: 1, 3 or 4.
template <Epilogue epilogue, int components>
__global__ void __launch_bounds__(TensorTile::threads(components), TensorTile::blocks(components))
    tensor_kernel(const __grid_constant__ TensorArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  // The blocks of planes of one component are all resident at once.
  constexpr bool staged = components == 1;
  constexpr int most = components == 3 ? 2 : components, warps = TensorTile::warps(components);
  constexpr int bytes = Window<most, 32 * warps, staged>::bytes + unread + warps * Outlet<most>::size;
  __shared__ alignas(16) std::uint8_t shared[bytes];
  __shared__ Arrivals arrived[TensorTile::bands];
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const TensorPlane& plane = args.plane[p];
  if constexpr (components == 4) {
    filter_tile<epilogue, 4, warps, staged>(args, plane, shared, arrived);
  } else if constexpr (components == 3) {
    if (plane.components == 1)
      filter_tile<epilogue, 1, warps, staged>(args, plane, shared, arrived);
    else
      filter_tile<epilogue, 2, warps, staged>(args, plane, shared, arrived);
  } else {
    filter_tile<epilogue, 1, warps, staged>(args, plane, shared, arrived);
  }
#endif
}

/// The kernel for packed 4:2:2, which is a plane of pairs.
template <Epilogue epilogue>
__global__ void __launch_bounds__(TensorTile::threads(4), TensorTile::blocks(4))
    packed_kernel(const __grid_constant__ TensorArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int warps = TensorTile::warps(4);
  constexpr int bytes = Window<4, 32 * warps, false, true>::bytes + unread + warps * Outlet<4>::size;
  __shared__ alignas(16) std::uint8_t shared[bytes];
  filter_tile<epilogue, 4, warps, false, true>(args, args.plane[0], shared, nullptr);
#endif
}

}  // namespace convolve::cuda::tensor
