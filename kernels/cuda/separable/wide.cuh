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
// The left matrix of the row pass is in registers: rows of the frame as they were loaded (wide_input.cuh), a product
// for each component. All else lies in shared memory: the taps of both passes, once for a block, whose warpgroups go
// down the same strip in bands of their own, and V in a ring of slots of 64 rows, as halves, so that each row is
// filtered once. Nothing waits for another warpgroup; several of them keep the tensor cores busy while one loads,
// rounds or stores. There is no code for borders: see wide_tables.hpp.
//
// A byte b is the half b * 2^-24, a subnormal number, as in strips (large.cuh): the taps and the error are theirs.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/separable/wide_any.cuh"
#include "cuda/separable/wide_input.cuh"
#include "cuda/separable/wide_rows.cuh"
#include "cuda/separable/wide_samples.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A warpgroup.
template <class S, class In>
struct Worker {
  std::uint32_t row_taps, column_taps, ring;  ///< in shared memory
  unsigned barrier;
  int warp, lane;
  In input;

  __device__ __forceinline__ Worker(const Plane& plane, std::uint32_t memory, int group, int left)
      : row_taps(memory),
        column_taps(memory + S::table_bytes),
        ring(column_taps + S::column_bytes + group * S::slots * S::slot_bytes),
        barrier(1 + group),
        warp(__shfl_sync(~0u, threadIdx.x >> 5 & 3, 0)),
        lane(threadIdx.x & 31),
        input(plane, left, lane, row_taps + S::row_taps_bytes + S::columns * 4) {}
  /// The first of this lane's rows of a step, of the two that it loads.
  __device__ __forceinline__ int row() const { return 16 * warp + (lane >> 2); }
  /// And of those that it makes: the column's left matrix has groups of 8 rows in reverse.
  __device__ __forceinline__ int made_row() const { return 56 - 16 * warp + (lane >> 2); }

  /// V of the step's rows to a slot. `more`: another step follows, whose first pieces are loaded.
  __device__ __forceinline__ void filter_rows(int slot, bool more) {
    constexpr int ahead = S::ahead;
    typename SumsOf<S>::Type sums(input.plane, row_taps, lane);
#pragma unroll
    for (int p = 0; p < S::pieces; ++p) {
      const typename SumsOf<S>::Type::Left left(sums, input.piece[p % ahead], p);
      if (p + ahead < S::pieces)
        input.load(p % ahead, input.now, p + ahead);
      else if (more)
        input.load(p % ahead, input.next, p + ahead - S::pieces);
      ptx::wgmma_fence();
      sums.multiply(left, row_taps, p);
      ptx::wgmma_commit();
      if (p + 1 < S::pieces) ptx::wait_for_products_but_last();
    }
    ptx::wgmma_wait();
    sums.hold_all();
    if constexpr (S::slots == S::chunks) ptx::wait_at_warpgroup_barrier(barrier);  // all warps have read the slot
    // Blocks of 8 columns of the lane's row, or that 8 below.
    sums.store(ring + slot * S::slot_bytes + (2 * warp + (lane >> 3 & 1)) * (16 * S::columns) + (lane >> 4) * 128 +
               (lane & 7) * 16);
    ptx::fence_shared_for_wgmma();
  }

  /// Sends the products of the rows of all slots but one, from slot `first` on.
  __device__ __forceinline__ void send_columns(float (&sum)[S::columns / 2], int first) const {
    constexpr int of_product = 32 * S::columns;
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sum[i] = 0;
    const MatrixDescriptor left = describe_matrix(column_taps, 128, 128);
    ptx::wgmma_fence();
#pragma unroll
    for (int s = 0; s < S::chunks; ++s) {
      const MatrixDescriptor right = describe_matrix(ring + first * S::slot_bytes, of_product / 2, 128);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        ptx::multiply_halves(sum, moved(left, (4 * s + i) * 256), moved(right, i * of_product), s + i > 0);
      first = first + 1 == S::slots ? 0 : first + 1;
    }
    ptx::wgmma_commit();
  }
};

/// Copies a block's part of a plane of which nothing is filtered.
template <class S>
__device__ __forceinline__ void copy_block(const Plane& plane, int left, int top) {
  constexpr int bytes = S::columns;
  const int rows = S::groups * plane.steps * step_rows;
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

template <class S, class In, class Out>
__device__ __forceinline__ void filter_block(const Args& args, const Plane& plane, std::uint8_t* memory) {
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), block = blockIdx.x - plane.first_block;
  const int bands = block / plane.strips, strip = block - bands * plane.strips, left = strip * S::pixels;
  const int top = (bands * S::groups + group) * plane.steps * step_rows;
  if (plane.copied) return copy_block<S>(plane, left, bands * S::groups * plane.steps * step_rows);
  const uint4* const table = plane.row_taps + plane.table_of(strip) * (S::table_bytes / 16);
  for (int i = threadIdx.x; i < S::table_bytes / 16; i += 128 * S::groups)
    reinterpret_cast<uint4*>(memory)[i] = __ldg(table + i);
  for (int i = threadIdx.x; i < S::column_bytes / 16; i += 128 * S::groups)
    reinterpret_cast<uint4*>(memory + S::table_bytes)[i] = __ldg(args.column_taps + i);
  ptx::fence_shared_for_wgmma();
  Worker<S, In> worker(plane, ptx::address_in_shared(memory), group, left);
  int y = top - args.centre_y + worker.row();
  pdl_wait();
  worker.input.set_next_rows(y);
  __syncthreads();
  if (top >= plane.height) return;
  worker.input.load_first();
  const Out samples(args, plane, left, worker.lane);
  const int outputs = min(plane.steps, (plane.height - top + step_rows - 1) / step_rows);
  const int steps = outputs + S::chunks - 1;
  int slot = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    worker.input.now = worker.input.next;
    y += step_rows;
    worker.input.set_next_rows(y);
    worker.filter_rows(slot, step + 1 < steps);
    ptx::wait_at_warpgroup_barrier(worker.barrier);
    slot = slot + 1 == S::slots ? 0 : slot + 1;  // the oldest, which the next step writes
    const int ready = step - (S::chunks - 1);
    if (ready >= 0) {
      float sum[S::columns / 2];
      worker.send_columns(sum, S::slots == S::chunks ? slot : slot + 1 == S::slots ? 0 : slot + 1);
      const int row = top + ready * step_rows + worker.made_row();
      typename Out::Words in = {};
      if (samples.reads) samples.load(in, row);
      ptx::wgmma_wait();
      hold(sum);
      if (samples.reads)
        samples.template store<true>(sum, in, row);
      else
        samples.template store<false>(sum, in, row);
    }
  }
}

template <bool any, class S>
__device__ __forceinline__ void filter_plane(const Args& args, const Plane& plane, std::uint8_t* memory) {
  if constexpr (any)
    filter_block<S, AnyInput<S>, AnySamples<S>>(args, plane, memory);
  else
    filter_block<S, Input<S>, Samples<S>>(args, plane, memory);
}

#endif

/// `any`: of any planes, else of those for which there are tables of strips.
template <PlaneMix mix, int chunks, bool any>
__global__ void __launch_bounds__(128 * groups_of(mix, chunks), resident_of(mix, chunks))
    wide_kernel(const __grid_constant__ Args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) std::uint8_t memory[];
  int p = 0;
  if constexpr (!knows_planes(mix, chunks))
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  if constexpr (mix == PlaneMix::four || mix == PlaneMix::three || mix == PlaneMix::none) {
    filter_plane<any, ShapeOf<mix, chunks, mix == PlaneMix::none ? 4 : max_components_of(mix)>>(args, args.plane[p],
                                                                                                memory);
  } else if constexpr (mix == PlaneMix::one_and_two) {
    if (static_cast<int>(blockIdx.x) < args.plane[1].first_block)
      filter_plane<any, ShapeOf<mix, chunks, 1>>(args, args.plane[p], memory);
    else
      filter_plane<any, ShapeOf<mix, chunks, 2>>(args, args.plane[knows_planes(mix, chunks) ? 1 : p], memory);
  } else if (args.planes == 1) {
    filter_plane<any, ShapeOf<mix, chunks, 1>>(args, args.plane[0], memory);
  } else {
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
    filter_plane<any, ShapeOf<mix, chunks, 1>>(args, args.plane[p], memory);
  }
#endif
}

}  // namespace convolve::cuda::wide
