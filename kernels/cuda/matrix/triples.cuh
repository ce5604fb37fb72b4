// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, bytes of three components in turn, as RGB has them, over several frames: sparse banded products.
//
// The taps are the left matrix here, the image is the right one: of a row of the filter, one output has a tap at every
// third byte, so that of four neighbouring bytes at most two meet taps, and the left matrix is 2:4 sparse as it stands.
// A set is 16 bytes of 8 rows. It reaches the block of 16 bytes that it lies in and those beside it: three blocks for
// each row of the filter, of which a product (m16n8k64) takes any four. ldmatrix hands blocks of 8 rows out as the
// right matrix wants them.
//
//   right: lane 4n + t holds bytes 4t to 4t + 3 of row n, of four blocks
//   sums:  lane 4g + t holds bytes 2g and 2g + 1 of rows 2t and 2t + 1, as stmatrix stores them transposed
//
// A block makes a tile of 192 bytes by 64 rows, a warp half of 16 rows of it; its sums stay in registers while the
// frames of the window go by in shared memory, the next one's rows on their way while this one's products are made.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/common/border_map.cuh"
#include "cuda/common/epilogue.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/ptx.cuh"
#include "cuda/matrix/taps.hpp"
#include "cuda/matrix/triples.hpp"

namespace convolve::cuda::triples {

struct TripleArgs {
  const std::uint8_t* in[max_taps];
  std::ptrdiff_t in_stride[max_taps];
  unsigned char tap_frame[max_taps];  ///< whose taps each of the frames that are there takes
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int depth, frames;  ///< of the window; of those, the ones that are there
  int width, height, row_bytes, tiles_x;
  Border border;
  std::uint8_t ghost;
  bool wide, out_wide;  ///< addresses and strides allow 16 bytes at once
  const uint4* taps;    ///< [frame][product][limb], 32 lanes of each, then which columns of the products are there
  Epilogue epilogue;
  float gain, gain_low, level;
  int start;  ///< of the sums
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// A frame's rows of a tile in shared memory, with a block on either side, and the border's cells in place.
template <int radius>
struct TripleWindow {
  static constexpr int blocks = tile_bytes / block_bytes + 2, pitch = (blocks | 1) * block_bytes;
  static constexpr int rows = tile_rows + 2 * radius, bytes = rows * pitch, together = threads / 16;

  /// A column of blocks, byte by byte, all threads at once: the frame's sides, and what is not aligned.
  static __device__ __noinline__ void gather(const TripleArgs& args, int frame, std::uint8_t* to, int at, int top) {
    constexpr int before = 16;  // pixels, so that no dividend is below 0
    const int byte = at + static_cast<int>(threadIdx.x & 15) + 3 * before;
    const int x = border_index(args.border, byte / 3 - before, args.width);
    const std::uint8_t* const in = args.in[frame] + (3 * x + byte % 3);
#pragma unroll
    for (int i = 0; i < rows; i += together) {
      const int row = i + static_cast<int>(threadIdx.x >> 4);
      if (i + together > rows && row >= rows) continue;
      const int line = border_index(args.border, top - radius + row, args.height);
      to[row * pitch + (threadIdx.x & 15)] = line < 0 || x < 0 ? args.ghost : __ldg(in + line * args.in_stride[frame]);
    }
  }
  /// Starts to load the tile's rows of a frame.
  static __device__ __forceinline__ void load(const TripleArgs& args, int frame, std::uint8_t* to, int x, int top) {
    const auto whole = [&](int at) { return args.wide && at >= 0 && at + block_bytes <= args.row_bytes; };
    const int block = threadIdx.x & 15, own = x + (block - 1) * block_bytes;
    if (block < blocks && whole(own)) {
      const std::uint8_t* const in = args.in[frame] + own;
      const std::ptrdiff_t stride = args.in_stride[frame];
#pragma unroll
      for (int i = 0; i < rows; i += together) {
        const int row = i + static_cast<int>(threadIdx.x >> 4), y = top - radius + row;
        if (i + together > rows && row >= rows) continue;
        const bool inner = static_cast<unsigned>(y) < static_cast<unsigned>(args.height);
        const int line = inner ? y : border_index(args.border, y, args.height);
        std::uint8_t* const cells = to + row * pitch + block * block_bytes;
        const std::uint32_t ghosts = 0x01010101u * args.ghost;
        if (line >= 0)
          ptx::copy_async_past_l1(ptx::address_in_shared(cells), in + line * stride);
        else
          *reinterpret_cast<uint4*>(cells) = {ghosts, ghosts, ghosts, ghosts};
      }
    }
    if (args.wide && x > 0 && x + tile_bytes + block_bytes <= args.row_bytes) return;
#pragma unroll 1
    for (int b = 0; b < blocks; ++b) {
      const int at = x + (b - 1) * block_bytes;
      if (!whole(at) && at < args.row_bytes + block_bytes) gather(args, frame, to + b * block_bytes, at, top);
    }
  }
};

__device__ __forceinline__ float value_of(const TripleArgs& args, int sum) {
  if (args.epilogue == Epilogue::magic_number) return __fmaf_rn(__int_as_float(sum), args.gain, -0x1p23f * args.gain);
  const float whole = __int2float_rn(sum);
  if (args.epilogue == Epilogue::saturate) return whole;
  if (args.epilogue == Epilogue::quotient) return __fmaf_rn(whole, args.gain, __fmul_rn(whole, args.gain_low));
  return __fmaf_rn(whole, args.gain, args.level);
}

/// Adds a frame's products to the sums of a warp's sets, [half of its rows][set].
template <int radius, int limbs>
__device__ __forceinline__ void add_frame(int (&sum)[2][sets][4], const uint4* taps, const std::uint32_t (&where)[3],
                                          std::uint32_t blocks_at) {
  constexpr int taps_y = 2 * radius + 1, pitch = TripleWindow<radius>::pitch;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    int high[sets][4] = {};
    std::uint32_t block[taps_y][sets + 2];
#pragma unroll
    for (int m = 0; m < products(radius); ++m) {
      // Rows of the filter that no product before has taken from.
#pragma unroll
      for (int j = 0; j < taps_y; ++j)
        if ((m == 0 ? 0 : (4 * m - 1) / 3 + 1) <= j && j <= (4 * m + 3) / 3)
#pragma unroll
          for (int q = 0; q < 2; ++q) {
            std::uint32_t four[4];
            ptx::load_rows(four, blocks_at + (8 * h + j) * pitch + 4 * q * block_bytes);
#pragma unroll
            for (int i = 0; i < 4; ++i) block[j][4 * q + i] = four[i];
          }
#pragma unroll
      for (int d = 0; d < limbs; ++d) {
        const uint4 left = __ldg(taps + (m * limbs + d) * 32);
#pragma unroll
        for (int s = 0; s < sets; ++s) {
          std::uint32_t right[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int slot = 4 * m + i;
            right[i] = slot < 3 * taps_y ? block[slot / 3][s + slot % 3] : block[taps_y - 1][s];
          }
          ptx::mma_s8_u8_sparse(d + 1 < limbs ? high[s] : sum[h][s], left, right, where[m % 3]);
        }
      }
    }
    if (limbs > 1)
#pragma unroll
      for (int s = 0; s < sets; ++s)
#pragma unroll
        for (int e = 0; e < 4; ++e) sum[h][s][e] += 256 * high[s][e];
  }
}

/// A warp's samples, by way of shared memory, to the frame.
__device__ __forceinline__ void finish_sets(const TripleArgs& args, const int (&sum)[2][sets][4], std::uint8_t* outlet,
                                            int x, int y) {
  constexpr int pitch = outlet_pitch;
  const int lane = threadIdx.x & 31;
  const std::uint32_t to = ptx::address_in_shared(outlet) + (lane & 15) * pitch;
#pragma unroll
  for (int s = 0; s < sets; ++s) {
    std::uint32_t words[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      words[h] = pack_bytes(value_of(args, sum[h][s][0]), value_of(args, sum[h][s][2]), value_of(args, sum[h][s][1]),
                            value_of(args, sum[h][s][3]));
    ptx::store_matrices(to + block_bytes * s, words);
  }
  __syncwarp();
#pragma unroll
  for (int n = 0; n < 16 * sets / 32; ++n) {
    const int piece = lane + 32 * n, row = piece / sets, column = piece % sets, piece_x = x + block_bytes * column;
    if (y + row >= args.height) continue;
    const std::uint8_t* const from = outlet + row * pitch + block_bytes * column;
    std::uint8_t* const out = args.out + (y + row) * args.out_stride + piece_x;
    if (args.out_wide && piece_x + block_bytes <= args.row_bytes)
      __stcs(reinterpret_cast<uint4*>(out), *reinterpret_cast<const uint4*>(from));
    else
#pragma unroll 1
      for (int e = 0; e < min(block_bytes, args.row_bytes - piece_x); ++e) out[e] = from[e];
  }
}

#endif

template <int radius, int limbs>
__global__ void __launch_bounds__(threads, blocks_resident) triples_kernel(const __grid_constant__ TripleArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using In = TripleWindow<radius>;
  __shared__ alignas(16) std::uint8_t memory[2 * In::bytes];
  static_assert(threads / 32 * 16 * outlet_pitch <= 2 * In::bytes);
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31, band = warp >> 1, half = warp & 1;
  const int tile_y = blockIdx.x / args.tiles_x, x = (blockIdx.x - tile_y * args.tiles_x) * tile_bytes;
  const int top = tile_y * tile_rows;
  const uint4* const chosen = args.taps + taps_of(radius, limbs) * args.depth + lane;
  const uint4 first = __ldg(chosen);
  const std::uint32_t where[3] = {first.x, first.y, first.z};
  int sum[2][sets][4];
#pragma unroll
  for (int i = 0; i < 8 * sets; ++i) sum[i / (4 * sets)][i / 4 % sets][i % 4] = args.start;
  const int offset = (16 * band + (lane & 7)) * In::pitch + (sets * half + (lane >> 3)) * block_bytes;
  const std::uint32_t blocks_at = ptx::address_in_shared(memory) + offset;
  pdl_wait();
  const int frames = args.frames;
#pragma unroll 1
  for (int frame = 0; frame < 2; ++frame) {
    if (frame < frames) In::load(args, frame, memory + frame * In::bytes, x, top);
    ptx::commit_copies();
  }
#pragma unroll 1
  for (int frame = 0; frame < frames; ++frame) {
    const int stage = (frame & 1) * In::bytes;
    ptx::wait_for_copies<1>();
    __syncthreads();
    add_frame<radius, limbs>(sum, args.taps + taps_of(radius, limbs) * args.tap_frame[frame] + lane, where,
                             blocks_at + stage);
    __syncthreads();
    if (frame + 2 < frames) In::load(args, frame + 2, memory + stage, x, top);
    ptx::commit_copies();
  }
  finish_sets(args, sum, memory + warp * 16 * outlet_pitch, x + sets * block_bytes * half, top + 16 * band);
#endif
}

}  // namespace convolve::cuda::triples
