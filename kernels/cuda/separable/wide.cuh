// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for wide filters of bytes with real taps by warpgroups: both passes in one kernel. Compute capability 9.0.
//
// Each warpgroup goes down a strip of the frame by itself, 64 rows a step. Both passes are products of halves with sums
// in single precision:
//
//   row pass       V(64 rows, strip) = rows of the frame(64 rows, window) * banded taps(window, strip)
//   column pass    out(64 rows, strip) = banded taps(64 rows, rows of the last steps) * V(rows of the last steps,
//   strip)
//
// What is multiplied from the left is in registers: rows of the frame as they were loaded (wide_input.cuh), a product
// for each component, and the column's taps. What stands to the right lies in shared memory: the row's taps, once for a
// block, and V in a ring of slots of 64 rows, as halves, so that each row is filtered once. Nothing waits for another
// warpgroup; several of them keep the tensor cores busy while one loads, rounds or stores.
//
// A byte b is the half b * 2^-24, a subnormal number, as in strips (large.cuh): the taps and the error are theirs.
#pragma once

#include "cuda/common/epilogue.cuh"
#include "cuda/common/hopper/ptx.cuh"
#include "cuda/common/launch.hpp"
#include "cuda/matrix/hopper/products.cuh"
#include "cuda/separable/wide_input.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <int n>
__device__ __forceinline__ void hold(float (&sum)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) ptx::hide_behind_memory(sum[i]);
}

/// Makes samples of a lane's sums: of rows y and y + 8.
template <class S>
struct Samples {
  static constexpr int words = S::columns / 16;  ///< of a lane's row
  /// Bytes that are stored at once, and from one such vector of a lane to its next.
  static constexpr int vector = S::C == 3 ? 8 : 16, stride = S::C == 4 ? 64 : vector;
  const Args& args;
  const Plane& plane;
  int x;  ///< byte of the lane's first vector

  __device__ __forceinline__ Samples(const Args& args, const Plane& plane, int left, int lane)
      : args(args), plane(plane), x(left * S::C + (S::C == 4 ? 16 : 4 * words) * (lane & 3)) {}

  __device__ __forceinline__ void store(const float (&sum)[S::columns / 2], int y) const {
    const int there = plane.row_bytes - x;
#pragma unroll
    for (int h = 0; h < 2; ++h, y += 8) {
      if (y >= plane.height || there <= 0) return;
      std::uint32_t in[words] = {}, out[words];
      const bool reads = args.centre != 0 || plane.passthrough[0] != 0;
      if (reads) load(in, plane.in + y * plane.in_stride + x, there);
#pragma unroll
      for (int k = 0; k < words; ++k) {
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int pixel = (4 * k + e) / S::C, c = (4 * k + e) % S::C;
          v[e] = sum[c * (S::pixels / 2) + pixel / 2 * 4 + 2 * h + pixel % 2];
          if (args.centre != 0)  // a byte in the mantissa of 2^23 is 2^23 + that byte
            v[e] = fmaf(args.centre, __uint_as_float(__byte_perm(in[k], 0x4B000000, 0x7440 | e)) - 8388608.f, v[e]);
          v[e] = __fmaf_rn(v[e], args.gain, plane.level[c]);
        }
        out[k] = pack_bytes(v[0], v[1], v[2], v[3]);
      }
      if (reads)
#pragma unroll
        for (int k = 0; k < words; ++k) {
          const std::uint32_t kept = plane.passthrough[S::C == 3 ? k % 3 : 0];
          out[k] = (out[k] & ~kept) | (in[k] & kept);
        }
      store_row(out, plane.out + y * plane.out_stride + x, there);
    }
  }

 private:
  __device__ __forceinline__ void load(std::uint32_t (&to)[words], const std::uint8_t* from, int there) const {
#pragma unroll
    for (int k = 0; k < 4 * words / vector; ++k, from += stride, there -= stride) {
      std::uint32_t* const w = to + k * vector / 4;
      if (plane.wide && there >= vector) {
#pragma unroll
        for (int i = 0; i < vector / 4; i += 2) {
          const uint2 v = __ldg(reinterpret_cast<const uint2*>(from) + i / 2);
          w[i] = v.x, w[i + 1] = v.y;
        }
      } else {
#pragma unroll
        for (int b = 0; b < vector; ++b)
          if (b < there) w[b / 4] |= std::uint32_t{__ldg(from + b)} << b % 4 * 8;
      }
    }
  }
  __device__ __forceinline__ void store_row(const std::uint32_t (&from)[words], std::uint8_t* to, int there) const {
#pragma unroll
    for (int k = 0; k < 4 * words / vector; ++k, to += stride, there -= stride) {
      const std::uint32_t* const w = from + k * vector / 4;
      if (plane.wide && there >= vector) {
        if constexpr (vector == 16)
          *reinterpret_cast<uint4*>(to) = {w[0], w[1], w[2], w[3]};
        else
          *reinterpret_cast<uint2*>(to) = {w[0], w[1]};
      } else {
#pragma unroll
        for (int b = 0; b < vector; ++b)
          if (b < there) to[b] = static_cast<std::uint8_t>(w[b / 4] >> b % 4 * 8);
      }
    }
  }
};

/// A warpgroup.
template <class S>
struct Worker {
  const Args& args;
  std::uint32_t row_taps, ring;  ///< in shared memory
  int warp, lane;
  Input<S> input;
  uint4 column[S::column_products];

  __device__ __forceinline__ Worker(const Args& args, const Plane& plane, std::uint32_t memory, int group, int left)
      : args(args),
        row_taps(memory),
        ring(memory + S::row_taps_bytes + group * S::slots * S::slot_bytes),
        warp(__shfl_sync(~0u, threadIdx.x >> 5 & 3, 0)),
        lane(threadIdx.x & 31),
        input(plane, left, lane) {}
  __device__ __forceinline__ void load_column_taps() {
#pragma unroll
    for (int i = 0; i < S::column_products; ++i) column[i] = __ldg(args.column_taps + i * 128 + (threadIdx.x & 127));
  }
  /// The first of this lane's rows of a step.
  __device__ int row() const {
    return 16 * warp + (lane >> 2);
  }

  /// V of the step's rows to a slot. `more`: another step follows, whose first pieces are loaded.
  __device__ __forceinline__ void filter_rows(int slot, bool more) {
    constexpr int of_product = 32 * S::pixels;
    float sum[S::C][S::pixels / 2];
#pragma unroll
    for (int c = 0; c < S::C; ++c) {
#pragma unroll
      for (int i = 0; i < S::pixels / 2; ++i) sum[c][i] = args.row_start;
      hold(sum[c]);
    }
    const MatrixDescriptor right = describe_matrix(row_taps, of_product / 2, 128);
#pragma unroll
    for (int p = 0; p < S::pieces; ++p) {
      uint4 left[S::products_of_piece][S::C];
      constexpr int ahead = S::ahead;
      if (input.beside) input.mend(p % ahead, p);
#pragma unroll
      for (int j = 0; j < S::products_of_piece; ++j)
#pragma unroll
        for (int c = 0; c < S::C; ++c) {
          const auto& v = input.piece[p % ahead];
          left[j][c] = {input.halves(v[0], j, 0, c), input.halves(v[1], j, 0, c), input.halves(v[0], j, 1, c),
                        input.halves(v[1], j, 1, c)};
          ptx::hold_matrix(left[j][c]);
        }
      if (p + ahead < S::pieces)
        input.load(p % ahead, input.now, p + ahead);
      else if (more)
        input.load(p % ahead, input.next, p + ahead - S::pieces);
      ptx::wgmma_fence();
#pragma unroll
      for (int j = 0; j < S::products_of_piece; ++j)
#pragma unroll
        for (int c = 0; c < S::C; ++c)
          ptx::multiply_halves(sum[c], left[j][c], moved(right, (p * S::products_of_piece + j) * of_product), true);
      ptx::wgmma_commit();
      if (p + 1 < S::pieces) ptx::wait_for_products_but_last();
    }
    ptx::wgmma_wait();
#pragma unroll
    for (int c = 0; c < S::C; ++c) hold(sum[c]);
    store_sums(sum, ring + slot * S::slot_bytes);
    ptx::fence_shared_for_wgmma();
  }

  /// Sends the products of the rows of all slots but one, from slot `first` on.
  __device__ __forceinline__ void send_columns(float (&sum)[S::columns / 2], int first) const {
    constexpr int of_product = 32 * S::columns;
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sum[i] = 0;
    ptx::wgmma_fence();
#pragma unroll
    for (int s = 0; s < S::chunks; ++s) {
      const MatrixDescriptor right = describe_matrix(ring + first * S::slot_bytes, of_product / 2, 128);
#pragma unroll
      for (int i = 0; i < 4; ++i) ptx::multiply_halves(sum, column[4 * s + i], moved(right, i * of_product), s + i > 0);
      first = first + 1 == S::slots ? 0 : first + 1;
    }
    ptx::wgmma_commit();
  }

 private:
  /// As halves, so that products find blocks of 8 columns by 8 rows, columns apart.
  __device__ __forceinline__ void store_sums(const float (&sum)[S::C][S::pixels / 2], std::uint32_t slot) const {
    const std::uint32_t at =
        slot + (2 * warp + (lane >> 3 & 1)) * (16 * S::columns) + (lane >> 4) * 128 + (lane & 7) * 16;
#pragma unroll
    for (int c = 0; c < S::C; ++c)
#pragma unroll
      for (int j = 0; j < S::pixels / 8; j += 2) {
        const float* const s = sum[c] + 4 * j;
        const std::uint32_t word[4] = {ptx::pack_halves(s[0], s[1]), ptx::pack_halves(s[2], s[3]),
                                       ptx::pack_halves(s[4], s[5]), ptx::pack_halves(s[6], s[7])};
        ptx::store_matrices_transposed(at + (c * (S::pixels / 8) + j) * 128, word);
      }
  }
};

/// Copies a block's strips, of which nothing is filtered.
template <class S>
__device__ __forceinline__ void copy_block(const Plane& plane, int left, int top, int rows) {
  constexpr int bytes = S::groups * S::columns;
  const int first = left * S::C, end = min(first + bytes, plane.row_bytes);
  pdl_wait();
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * (bytes / 16); i += 128 * S::groups) {
    const int y = top + i / (bytes / 16), x = first + i % (bytes / 16) * 16;
    if (y >= plane.height) break;
#pragma unroll 1
    for (int b = x; b < min(x + 16, end); ++b)
      plane.out[y * plane.out_stride + b] = __ldg(plane.in + y * plane.in_stride + b);
  }
}

template <class S>
__device__ __forceinline__ void filter_block(const Args& args, const Plane& plane, std::uint8_t* memory) {
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), block = blockIdx.x - plane.first_block;
  const int band = block / plane.blocks_x, top = band * plane.steps * step_rows;
  const int block_left = (block - band * plane.blocks_x) * S::groups * S::pixels;
  if (plane.copied) return copy_block<S>(plane, block_left, top, plane.steps * step_rows);
  for (int i = threadIdx.x; i < S::row_taps_bytes / 16; i += 128 * S::groups)
    reinterpret_cast<uint4*>(memory)[i] = __ldg(plane.row_taps + i);
  ptx::fence_shared_for_wgmma();
  const int left = block_left + group * S::pixels;
  const bool works = left < plane.width;
  Worker<S> worker(args, plane, ptx::address_in_shared(memory), group, left);
  int y = top - args.centre_y + worker.row();
  pdl_wait();
  worker.input.set_next_rows(y);
  if (works) worker.input.load_first();
  worker.load_column_taps();
  __syncthreads();
  if (!works) return;
  const Samples<S> samples(args, plane, left, worker.lane);
  const int outputs = min(plane.steps, (plane.height - top + step_rows - 1) / step_rows);
  const int steps = outputs + S::chunks - 1;
  int slot = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    worker.input.now = worker.input.next;
    y += step_rows;
    worker.input.set_next_rows(y);
    worker.filter_rows(slot, step + 1 < steps);
    ptx::wait_at_warpgroup_barrier(1 + group);
    slot = slot + 1 == S::slots ? 0 : slot + 1;  // the oldest, which the next step writes
    const int ready = step - (S::chunks - 1);
    if (ready >= 0) {
      float sum[S::columns / 2];
      worker.send_columns(sum, slot + 1 == S::slots ? 0 : slot + 1);
      ptx::wgmma_wait();
      hold(sum);
      samples.store(sum, top + ready * step_rows + worker.row());
    }
  }
}

#endif

template <PlaneMix mix, int chunks>
__global__ void __launch_bounds__(128 * groups_of(mix, chunks), 1) wide_kernel(const __grid_constant__ Args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) std::uint8_t memory[];
  constexpr int groups = groups_of(mix, chunks);
  int p = 0;
  if constexpr (!knows_planes(mix, chunks))
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  if constexpr (mix == PlaneMix::four || mix == PlaneMix::three) {
    filter_block<Shape<max_components_of(mix), chunks, groups>>(args, args.plane[p], memory);
  } else if constexpr (mix == PlaneMix::one_and_two) {
    if (static_cast<int>(blockIdx.x) < args.plane[1].first_block)
      filter_block<Shape<1, chunks, groups>>(args, args.plane[p], memory);
    else
      filter_block<Shape<2, chunks, groups>>(args, args.plane[knows_planes(mix, chunks) ? 1 : p], memory);
  } else if (args.planes == 1) {
    filter_block<Shape<1, chunks, groups>>(args, args.plane[0], memory);
  } else {
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
    filter_block<Shape<1, chunks, groups>>(args, args.plane[p], memory);
  }
#endif
}

}  // namespace convolve::cuda::wide
