// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for windows of frames, and for packed 4:2:2: any bytes whose neighbours of the same
// component are at even steps.
//
// The column pass of tensor_passes.cuh does not ask which component a byte is of, and the weight of a frame may as well
// be in its column: V = C1 X1 + C2 X2 + ..., frame after frame into the same registers, of all blocks of 16 bytes that
// a warp's part of the tile reaches. The row pass then runs once. Its operands change places, H' = R' V', as a lane has
// V of neighbouring bytes:
//
//   frames 1 to 5     X: 32 rows x 16 bytes ──C──> + V: 16 rows x 16 bytes, ten or twelve blocks side by side
//   then, once        R': 16 bytes out x 16 bytes of V, for each of the three or five blocks around them; where
//                     neighbours are an even number of bytes apart, every second one of 32 bytes out x 32 bytes of V
//
// Which component a byte is of stands in R' alone: a tap at every byte, or at every second, third or fourth one, and of
// packed 4:2:2 at every second one where the byte out is luma, else at every fourth.
//
// Frames of ghost cells, which stand in beyond the ends of a stream under a constant border, are not read: H starts at
// what these would add.
#pragma once

#include "cuda/common/border_map.cuh"
#include "cuda/common/epilogue.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/tensor_frames.hpp"
#include "cuda/separable/tensor_passes.cuh"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda::tensor {

/// Where a frame's rows of a tile lie in shared memory, with the blocks that sets reach on either side.
template <int margin>
struct FramesShape {
  static constexpr int blocks = FramesTile::bytes / block_bytes + 2 * margin;
  static constexpr int pitch = (blocks | 1) * block_bytes, rows = FramesTile::rows + 2 * max_radius;
  /// As row_offset() of tensor_input.cuh: what ldmatrix takes lies in different banks.
  static constexpr __host__ __device__ int offset(int row) { return row * pitch + (row + 1) / 8 * 32; }
  static constexpr int bytes = offset(rows);
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// These rows, with the border's cells in place.
template <int margin>
struct FramesWindow : FramesShape<margin> {
  using Shape = FramesShape<margin>;
  using Shape::blocks, Shape::pitch, Shape::rows, Shape::offset;
  /// Where the lane's row of a band of 16 lies. Products take 32 rows, of which the first and the last meet no tap:
  /// what stands in for those that the window does not have is of no interest.
  static __device__ __forceinline__ int row_of(int band, int lane) {
    const int row = 16 * band + Products<Epilogue::saturate, 1>::row_of(lane) - (radius - max_radius);
    return offset(min(max(row, 0), rows - 1));
  }

  static __device__ __forceinline__ int line_of(const FramesArgs& args, const FramesPlane& plane, int y) {
    return static_cast<unsigned>(y) < static_cast<unsigned>(plane.height) ? y
                                                                          : border_index(args.border, y, plane.height);
  }
  /// A column of blocks, byte by byte, all threads at once: the frame's sides, and what is not aligned.
  static __device__ __forceinline__ void gather(const FramesArgs& args, const FramesPlane& plane, int frame,
                                                std::uint8_t* memory, int block, int left, int top) {
    constexpr int together = FramesTile::threads / block_bytes, before = 16;  // pixels: no dividend is below 0
    const int own = block * block_bytes + static_cast<int>(threadIdx.x) % block_bytes, byte = left + own;
    const int step = plane.step[byte & 1];
    int x = byte >> (step >> 1), first = byte & (step - 1);
    if (step == 3) x = (byte + 3 * before) / 3 - before, first = byte - 3 * x;
    x = border_index(args.border, x, plane.length[byte & 1]);
    const std::uint8_t* const in = plane.in[frame] + (step * x + first);
    const auto ghost = static_cast<std::uint8_t>(plane.ghost >> 8 * (byte & 3));
#pragma unroll 4
    for (int i = threadIdx.x / block_bytes; i < args.lines; i += together) {
      const int line = line_of(args, plane, top - args.above + i);
      memory[offset(max_radius - args.above + i) + own] =
          line < 0 || x < 0 ? ghost : __ldg(in + line * plane.in_stride[frame]);
    }
  }
  /// Starts to load the rows of a frame where all that the tile reaches is inside it.
  static __device__ __forceinline__ void load_inner(const FramesArgs& args, const FramesPlane& plane, int frame,
                                                    std::uint8_t* memory, int left, int top) {
    constexpr int main = FramesTile::bytes / block_bytes, together = FramesTile::threads / main;
    constexpr int others = blocks - main, others_together = FramesTile::threads / others;
    static_assert(together % 8 == 0 && others_together % 8 == 0);
    const int id = threadIdx.x, lines = args.lines, above = args.above;
    const std::ptrdiff_t stride = plane.in_stride[frame];
    const std::uint8_t* const first = plane.in[frame] + ((top - above) * stride + left);
    const auto copy = [&](int row, int at, int step) {
      const std::uint8_t* from = first + (row * stride + at);
      std::uint32_t to = ptx::address_in_shared(memory) + offset(max_radius - above + row) + at;
#pragma unroll
      for (int i = 0; i < rows; i += step, from += step * stride, to += step * pitch + step / 8 * 32)
        if (row + i < lines) ptx::copy_async_past_l1(to, from);
    };
    copy(id / main, id % main * block_bytes, together);
    copy(id / others, (main + id % others) * block_bytes, others_together);
  }
  /// Starts to load the rows of a frame.
  static __device__ __forceinline__ void load(const FramesArgs& args, const FramesPlane& plane, int frame,
                                              std::uint8_t* memory, int x, int top) {
    const int left = x - margin * block_bytes, row_bytes = plane.row_bytes;
    const auto whole = [&](int at) { return plane.wide && at >= 0 && at + block_bytes <= row_bytes; };
    const bool columns = whole(left) && whole(left + (blocks - 1) * block_bytes);
    if (columns && top >= args.above && top - args.above + args.lines <= plane.height)
      load_inner(args, plane, frame, memory, left, top);
    else
      load_outer(args, plane, frame, memory, left, top);
  }

 private:
  static __device__ __noinline__ void load_outer(const FramesArgs& args, const FramesPlane& plane, int frame,
                                                 std::uint8_t* memory, int left, int top) {
    const int row_bytes = plane.row_bytes;
    const auto whole = [&](int at) { return plane.wide && at >= 0 && at + block_bytes <= row_bytes; };
    const std::uint8_t* const in = plane.in[frame] + left;
    const std::ptrdiff_t stride = plane.in_stride[frame];
    const int pieces = args.lines * blocks;
#pragma unroll 2
    for (int k = threadIdx.x; k < pieces; k += FramesTile::threads) {
      const int i = k / blocks, at = (k - i * blocks) * block_bytes;
      if (!whole(left + at)) continue;
      const int line = line_of(args, plane, top - args.above + i);
      std::uint8_t* const to = memory + offset(max_radius - args.above + i) + at;
      if (line >= 0)
        ptx::copy_async_past_l1(ptx::address_in_shared(to), in + (line * stride + at));
      else
        *reinterpret_cast<uint4*>(to) = {plane.ghost, plane.ghost, plane.ghost, plane.ghost};
    }
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      const int at = left + block * block_bytes;
      if (!whole(at) && at < row_bytes + margin * block_bytes) gather(args, plane, frame, memory, block, left, top);
    }
  }
};

/// V of the blocks that a warp's sets reach; as Products::Half has it: of rows g and g + 8, even bytes, then odd ones.
template <int margin>
using FramesColumns = std::uint32_t[FramesTile::sets + 2 * margin][4];

/// Adds a frame's column pass. `at`: where the lane's row of the leftmost block lies.
template <int count>
__device__ __forceinline__ void add_columns(std::uint32_t (&v)[count][4], const uint4& taps, std::uint32_t where,
                                            std::uint32_t at) {
  const std::uint32_t column[4] = {taps.x, taps.y, taps.z, taps.w};
#pragma unroll
  for (int b = 0; b < count; ++b) {
    std::uint32_t pairs[4];
    ptx::load_matrices_here(pairs, at + b * block_bytes);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      std::uint32_t samples[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) samples[i] = __byte_perm(pairs[i], 0, j ? 0x4341 : 0x4240);
      std::uint32_t sum[2] = {v[b][2 * j], v[b][2 * j + 1]};
      ptx::mma_f16_sparse(sum, column, samples, sum, where);
      v[b][2 * j] = sum[0], v[b][2 * j + 1] = sum[1];
    }
  }
}

/// A warp's output on its way through shared memory.
struct FramesOutlet {
  static constexpr int row_bytes = FramesTile::sets * block_bytes, pitch = row_bytes + 16, size = 16 * pitch;
};

/// A matrix of a row, as a lane holds it.
__device__ __forceinline__ void load_row(std::uint32_t (&to)[4], const FramesPlane& plane, int i) {
  const uint4 taps = __ldg(plane.rows + 32 * i + (threadIdx.x & 31));
  to[0] = taps.x, to[1] = taps.y, to[2] = taps.z, to[3] = taps.w;
}

/// The row pass of components whose neighbours are an odd number of bytes apart, to the warp's outlet: each 16 bytes by
/// the blocks around them. Sums are of the even bytes and of the odd ones, of two rows each.
template <int margin, bool scaled>
__device__ __forceinline__ void make_rows_of_all(const FramesArgs& args, const FramesPlane& plane,
                                                 const FramesColumns<margin>& v, std::uint32_t to) {
  constexpr int reached = 2 * margin + 1;
  std::uint32_t row[reached][4];
#pragma unroll
  for (int b = 0; b < reached; ++b) load_row(row[b], plane, b);
  const int byte = (threadIdx.x & 31) >> 2 << 1 & 3;
  const float even = plane.from[byte], odd = plane.from[byte + 1];
#pragma unroll
  for (int s = 0; s < FramesTile::sets; ++s) {
    std::uint32_t words[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float code[4] = {even, even, odd, odd};
#pragma unroll
      for (int b = 0; b < reached; ++b) {
        const std::uint32_t right[2] = {v[s + b][k], v[s + b][2 + k]};
        ptx::mma_f16(code, row[b], right, code);
      }
      if (scaled)
#pragma unroll
        for (float& c : code) c = __fmul_rn(c, args.gain);
      words[k] = pack_bytes(code[0], code[2], code[1], code[3]);
    }
    ptx::store_matrices(to + block_bytes * s, words);
  }
}

/// That of components that are in even bytes or in odd ones: 32 bytes at a time, even and odd ones apart, by pairs of
/// blocks. Sums are of one byte of the first 16 and of the same of the last 16, of two rows each.
template <int margin, bool scaled>
__device__ __forceinline__ void make_rows_apart(const FramesArgs& args, const FramesPlane& plane,
                                                const FramesColumns<margin>& v, std::uint32_t to) {
  constexpr int reached = margin + 1;
  const int byte = (threadIdx.x & 31) >> 2 << 1 & 3;
  std::uint32_t row[2][reached][4];
#pragma unroll
  for (int b = 0; b < 2 * reached; ++b) load_row(row[b / reached][b % reached], plane, b);
  const float from[2] = {plane.from[byte], plane.from[byte + 1]};
#pragma unroll
  for (int s = 0; s < FramesTile::sets; s += 2) {
    std::uint32_t words[2][2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float code[2][4];
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
#pragma unroll
        for (float& c : code[odd]) c = from[odd];
#pragma unroll
        for (int b = 0; b < reached; ++b) {
          const std::uint32_t right[2] = {v[s + 2 * b][2 * odd + k], v[s + 2 * b + 1][2 * odd + k]};
          ptx::mma_f16(code[odd], row[odd][b], right, code[odd]);
        }
        if (scaled)
#pragma unroll
          for (float& c : code[odd]) c = __fmul_rn(c, args.gain);
      }
#pragma unroll
      for (int h = 0; h < 2; ++h)
        words[h][k] = pack_bytes(code[0][2 * h], code[1][2 * h], code[0][2 * h + 1], code[1][2 * h + 1]);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) ptx::store_matrices(to + block_bytes * (s + h), words[h]);
  }
}

/// The warp's rows leave for the frame, and what is not filtered stays as it was.
__device__ __forceinline__ void leave(const FramesPlane& plane, const std::uint8_t* outlet, int x, int y) {
  constexpr int in_row = FramesOutlet::row_bytes / 16, together = 32 / in_row;
  const int lane = threadIdx.x & 31, piece = lane % in_row, at = x + 16 * piece;
  const std::uint32_t passthrough = plane.passthrough;
#pragma unroll
  for (int n = 0; n < 16; n += together) {
    const int row = n + lane / in_row;
    if (y + row >= plane.height) continue;
    const std::uint8_t* const from = outlet + row * FramesOutlet::pitch + 16 * piece;
    std::uint8_t* const to = plane.out + (y + row) * plane.out_stride + at;
    const std::uint8_t* const was = plane.centre + (y + row) * plane.centre_stride + at;
    if (plane.out_wide && at + 16 <= plane.row_bytes && (plane.wide || passthrough == 0)) {
      uint4 made = *reinterpret_cast<const uint4*>(from);
      if (passthrough) {
        const uint4 before = __ldg(reinterpret_cast<const uint4*>(was));
        made.x = (made.x & ~passthrough) | (before.x & passthrough);
        made.y = (made.y & ~passthrough) | (before.y & passthrough);
        made.z = (made.z & ~passthrough) | (before.z & passthrough);
        made.w = (made.w & ~passthrough) | (before.w & passthrough);
      }
      __stcs(reinterpret_cast<uint4*>(to), made);
      continue;
    }
#pragma unroll 1
    for (int e = 0; e < min(16, plane.row_bytes - at); ++e)
      to[e] = passthrough >> 8 * (e & 3) & 1 ? __ldg(was + e) : from[e];
  }
}

#endif

/// `apart`: the components of all planes are in even bytes or in odd ones.
template <int margin, bool apart, bool scaled>
__global__ void __launch_bounds__(FramesTile::threads, FramesTile::resident(margin, apart))
    frames_kernel(const __grid_constant__ FramesArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using In = FramesWindow<margin>;
  extern __shared__ uint4 shared[];
  auto* const memory = reinterpret_cast<std::uint8_t*>(shared);
  static_assert(FramesTile::threads / 32 * FramesOutlet::size <= In::bytes);
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const FramesPlane& plane = args.plane[p];
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31;
  const int band = warp % FramesTile::bands, part = warp / FramesTile::bands * FramesOutlet::row_bytes;
  const int tile = blockIdx.x - plane.first_block, tile_y = tile / plane.tiles_x;
  const int x = (tile - tile_y * plane.tiles_x) * FramesTile::bytes, top = tile_y * FramesTile::rows;
  // The first frames have been in the window for longest.
  if (static_cast<int>(blockIdx.x) < args.wave)
    prefetch_rows<FramesTile::rows, FramesTile::bytes / cache_line, FramesTile::threads>(
        plane.in[0] + top * plane.in_stride[0] + x, plane.in_stride[0], static_cast<int>(threadIdx.x),
        plane.height - top, plane.row_bytes - x);
  const std::uint32_t where = __ldg(args.chosen + lane);
  const std::uint32_t at = ptx::address_in_shared(memory) + part + In::row_of(band, lane);
  FramesColumns<margin> v;
#pragma unroll
  for (auto& block : v)
#pragma unroll
    for (std::uint32_t& pair : block) pair = args.start;
  pdl_wait();
  const int frames = args.frames;
  In::load(args, plane, 0, memory, x, top);
  ptx::commit_copies();
#pragma unroll 1
  for (int frame = 0; frame < frames; ++frame) {
    const int stage = (frame & 1) * In::bytes;
    if (frame + 1 < frames) In::load(args, plane, frame + 1, memory + (In::bytes - stage), x, top);
    ptx::commit_copies();
    const uint4 taps = __ldg(args.columns + 32 * args.tap_frame[frame] + lane);
    ptx::wait_for_copies<1>();
    __syncthreads();
    add_columns(v, taps, where, at + stage);
    __syncthreads();
  }
  std::uint8_t* const outlet = memory + warp * FramesOutlet::size;
  const std::uint32_t to = ptx::address_in_shared(outlet) + (lane & 15) * FramesOutlet::pitch;
  if constexpr (apart)
    make_rows_apart<margin, scaled>(args, plane, v, to);
  else
    make_rows_of_all<margin, scaled>(args, plane, v, to);
  __syncwarp();
  leave(plane, outlet, x + part, top + 16 * band);
#endif
}

}  // namespace convolve::cuda::tensor
