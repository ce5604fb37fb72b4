// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for windows of frames: any bytes whose neighbours of the same component are at even
// steps.
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

#include "cuda/common/epilogue.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/tensor_frames.hpp"
#include "cuda/separable/tensor_frames_input.cuh"
#include "cuda/separable/tensor_passes.cuh"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda::tensor {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/// V of the blocks that a warp's sets reach; as Products::Half has it: of rows g and g + 8, even bytes, then odd ones.
template <int margin>
using FramesColumns = std::uint32_t[FramesTile::sets + 2 * margin][4];

/// A frame's column pass: the column's matrix, and where the lane's row of the leftmost block lies.
struct ColumnPass {
  std::uint32_t column[4], where, at;

  __device__ __forceinline__ ColumnPass(const uint4& taps, std::uint32_t where, std::uint32_t at)
      : column{taps.x, taps.y, taps.z, taps.w}, where(where), at(at) {}

  /// The bytes of 32 rows of block b, as halves; `odd`: every second byte from the first or from the second one on.
  static __device__ __forceinline__ void widen(std::uint32_t (&samples)[4], const std::uint32_t (&pairs)[4], int odd) {
#pragma unroll
    for (int i = 0; i < 4; ++i) samples[i] = __byte_perm(pairs[i], 0, odd ? 0x4341 : 0x4240);
  }
  /// Adds block b's sums to V.
  template <int count>
  __device__ __forceinline__ void add(std::uint32_t (&v)[count][4], int b) const {
    std::uint32_t pairs[4], samples[4];
    ptx::load_matrices_here(pairs, at + b * block_bytes);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      widen(samples, pairs, j);
      std::uint32_t sum[2] = {v[b][2 * j], v[b][2 * j + 1]};
      ptx::mma_f16_sparse(sum, column, samples, sum, where);
      v[b][2 * j] = sum[0], v[b][2 * j + 1] = sum[1];
    }
  }
};

/// The row pass of a warp's sets, to its outlet. `rows`: where the lane's words of the row's matrices lie.
template <int margin, bool scaled>
struct RowPass {
  const FramesArgs& args;
  const FramesPlane& plane;
  const FramesColumns<margin>& v;
  std::uint32_t rows, to;

  __device__ __forceinline__ void load(std::uint32_t (&row)[4], int i) const {
    const uint4 taps = ptx::load_shared(rows + FramesTile::matrix_bytes * i);
    row[0] = taps.x, row[1] = taps.y, row[2] = taps.z, row[3] = taps.w;
  }
  static __device__ __forceinline__ int first_byte() { return (threadIdx.x & 31) >> 2 << 1 & 3; }
  __device__ __forceinline__ void scale(float (&code)[4]) const {
    if (scaled)
#pragma unroll
      for (float& c : code) c = __fmul_rn(c, args.gain);
  }

  /// Filters components whose neighbours are an odd number of bytes apart: each 16 bytes by the blocks around them.
  /// Sums are of the even bytes and of the odd ones, of two rows each.
  __device__ __forceinline__ void make_all() const {
    const float even = plane.from[first_byte()], odd = plane.from[first_byte() + 1];
#pragma unroll
    for (int s = 0; s < FramesTile::sets; ++s) {
      float code[2][4] = {{even, even, odd, odd}, {even, even, odd, odd}};
#pragma unroll
      for (int b = 0; b < 2 * margin + 1; ++b) {
        std::uint32_t row[4];
        load(row, b);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const std::uint32_t right[2] = {v[s + b][k], v[s + b][2 + k]};
          ptx::mma_f16(code[k], row, right, code[k]);
        }
      }
      std::uint32_t words[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        scale(code[k]);
        words[k] = pack_bytes(code[k][0], code[k][2], code[k][1], code[k][3]);
      }
      ptx::store_matrices(to + block_bytes * s, words);
    }
  }

  /// Filters components that are in even bytes or in odd ones: 32 bytes at a time, even and odd ones apart, by pairs of
  /// blocks. Sums are of one byte of the first 16 and of the same of the last 16, of two rows each.
  __device__ __forceinline__ void make_apart() const {
    const float from[2] = {plane.from[first_byte()], plane.from[first_byte() + 1]};
#pragma unroll
    for (int s = 0; s < FramesTile::sets; s += 2) {
      float code[2][2][4];  // of even and of odd bytes
#pragma unroll
      for (int odd = 0; odd < 2; ++odd)
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
          for (float& c : code[odd][k]) c = from[odd];
#pragma unroll
      for (int n = 0; n < 2 * (margin + 1); ++n) {
        const int odd = n / (margin + 1), b = s + 2 * (n % (margin + 1));
        std::uint32_t row[4];
        load(row, n);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const std::uint32_t right[2] = {v[b][2 * odd + k], v[b + 1][2 * odd + k]};
          ptx::mma_f16(code[odd][k], row, right, code[odd][k]);
        }
      }
      store_apart(code, s);
    }
  }

 private:
  /// Stores the sums of 32 bytes as samples.
  __device__ __forceinline__ void store_apart(float (&code)[2][2][4], int s) const {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd)
#pragma unroll
      for (int k = 0; k < 2; ++k) scale(code[odd][k]);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      std::uint32_t words[2];
#pragma unroll
      for (int k = 0; k < 2; ++k)
        words[k] = pack_bytes(code[0][k][2 * h], code[1][k][2 * h], code[0][k][2 * h + 1], code[1][k][2 * h + 1]);
      ptx::store_matrices(to + block_bytes * (s + h), words);
    }
  }
};

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

/// The plane that this block makes a tile of.
__device__ __forceinline__ const FramesPlane& plane_of_block(const FramesArgs& args) {
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  return args.plane[p];
}

/// A block's tile, and the frames on their way to it.
template <int margin>
struct FramesBlock {
  using In = FramesWindow<margin>;
  using Memory = FramesMemory<margin>;
  static constexpr int stages = Memory::stages;
  const FramesPlane& plane;
  std::uint8_t* const memory;
  const std::uint32_t base;  ///< the memory's address
  const int tile, x, top;    ///< the tile's number, first byte and first row
  const In in;
  const bool mends;

  __device__ __forceinline__ FramesBlock(const FramesArgs& args, uint4* memory)
      : plane(plane_of_block(args)),
        memory(reinterpret_cast<std::uint8_t*>(memory)),
        base(ptx::address_in_shared(memory)),
        tile(static_cast<int>(blockIdx.x) - plane.first_block),
        x(tile % plane.tiles_x * FramesTile::bytes),
        top(tile / plane.tiles_x * FramesTile::rows),
        in{{}, args, plane, x - margin * block_bytes, top},
        mends(in.has_cells_to_mend()) {}

  /// Asks for a tile's rows of the first frame, which is not the newest one in the window.
  __device__ __forceinline__ void prefetch(int x, int top) const {
    prefetch_rows<FramesTile::rows, FramesTile::bytes / cache_line, FramesTile::threads>(
        plane.in[0] + top * plane.in_stride[0] + x, plane.in_stride[0], static_cast<int>(threadIdx.x),
        plane.height - top, plane.row_bytes - x);
  }
  /// Starts to copy the first frames, and the row's matrices with the first, once the stream is there. Block-wide.
  __device__ __forceinline__ void start(int wave, int frames) const {
    if (static_cast<int>(blockIdx.x) < wave) prefetch(x, top);
    in.fill(memory, stages);
    pdl_wait();
    const int id = threadIdx.x;
    static_assert(32 * FramesTile::max_matrices <= FramesTile::threads);
    if (id < 32 * plane.matrices) ptx::copy_async_past_l1(base + Memory::rows + 16 * id, plane.rows + id);
    for (int s = 0; s < stages; ++s) send(s, s, frames);
    const int later = tile + wave, later_top = later / plane.tiles_x * FramesTile::rows;
    if (later_top < plane.height) prefetch(later % plane.tiles_x * FramesTile::bytes, later_top);
  }
  /// Starts to copy a frame, if there is one of that number. Block-wide.
  __device__ __forceinline__ void send(int frame, int stage, int frames) const {
    if (frame < frames) in.send(frame, memory + stage * In::bytes);
    ptx::commit_copies();
  }
  /// Waits for the frame that was sent for `stages` calls of send() ago. Block-wide.
  __device__ __forceinline__ void wait(int frame, int stage) const {
    ptx::wait_for_copies<stages - 1>();
    __syncthreads();
    if (!mends) return;
    in.mend(frame, memory + stage * In::bytes);
    __syncthreads();
  }
};

#endif

/// `apart`: the components of all planes are in even bytes or in odd ones.
template <int margin, bool apart, bool scaled>
__global__ void __launch_bounds__(FramesTile::threads, FramesTile::resident)
    frames_kernel(const __grid_constant__ FramesArgs args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Block = FramesBlock<margin>;
  using In = typename Block::In;
  extern __shared__ uint4 shared[];
  const Block block(args, shared);
  const int frames = args.frames;
  block.start(args.wave, frames);

  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31;
  const int band = warp % FramesTile::bands, part = warp / FramesTile::bands * FramesOutlet::row_bytes;
  const std::uint32_t where = __ldg(args.chosen + lane), at = block.base + part + In::row_of(band, lane);
  FramesColumns<margin> v;
  std::uint8_t* const outlet = block.memory + warp * FramesOutlet::size;
  const RowPass<margin, scaled> row_pass{args, block.plane, v, block.base + Block::Memory::rows + 16 * lane,
                                         ptx::address_in_shared(outlet) + (lane & 15) * FramesOutlet::pitch};
#pragma unroll
  for (auto& of_block : v)
#pragma unroll
    for (std::uint32_t& pair : of_block) pair = args.start;
#pragma unroll 1
  for (int frame = 0; frame < frames; ++frame) {
    const int stage = frame % Block::stages;
    const ColumnPass columns(__ldg(args.columns + 32 * args.tap_frame[frame] + lane), where, at + stage * In::bytes);
    block.wait(frame, stage);
#pragma unroll
    for (int b = 0; b < FramesTile::sets + 2 * margin; ++b) columns.add(v, b);
    __syncthreads();
    block.send(frame + Block::stages, stage, frames);
  }
  if constexpr (apart)
    row_pass.make_apart();
  else
    row_pass.make_all();
  __syncwarp();
  leave(block.plane, outlet, block.x + part, block.top + 16 * band);
#endif
}

}  // namespace convolve::cuda::tensor
