// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for wide filters of bytes with real taps by warpgroups: both passes in one kernel. Compute capability 9.0.
//
// The warpgroups of a block go down a strip of the frame together, 64 rows a step, and have steps in turn. Both passes
// are products of halves with sums in single precision:
//
//   row pass       V(64 rows, strip) = rows of the frame(64 rows, window) * banded taps(window, strip)
//   column pass    out(64 rows, strip) = banded taps(64 rows, rows of the last steps) * V(rows of the last steps,
//   strip)
//
// The left matrix of the row pass is in registers: rows of the frame as they were loaded (wide_input.cuh), a product
// for each component. All else lies in shared memory, once for a block: the taps of both passes, and V in a ring of
// slots of 64 rows, as halves, so that each row is filtered once. A warpgroup waits for the others where its column
// pass needs the V of the steps before, and where a slot is written that they may still read; else several of them keep
// the tensor cores busy while one loads, rounds or stores. There is no code for borders: see wide_tables.hpp.
//
// Boxes are exact: both passes are products of bytes, and V is two limbs in place of a half (wide_byte_rows.cuh).
// Real taps may be bytes in the row pass as well (RowTaps): V is a half then, too.
//
// A byte b is the half b * 2^-24, a subnormal number, as in strips (large.cuh): the taps and the error are theirs.
#pragma once

#include <type_traits>

#include "cuda/common/launch.hpp"
#include "cuda/separable/wide_byte_rows.cuh"
#include "cuda/separable/wide_input.cuh"
#include "cuda/separable/wide_samples.cuh"
#include "cuda/separable/wide_tiles.cuh"

namespace convolve::cuda::wide {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// A warpgroup.
template <class S, class In>
struct Worker {
  std::uint32_t row_taps, column_taps, ring;  ///< in shared memory
  std::uint32_t made;                         ///< the barriers of steps whose V has been made
  int warp, lane;
  In input;

  __device__ __forceinline__ Worker(const Args& args, const Plane& plane, std::uint32_t memory, int left)
      : row_taps(memory + S::staged_bytes),
        column_taps(row_taps + S::table_bytes),
        ring(column_taps + S::column_bytes),
        made(ring + S::slots * S::slot_bytes),
        warp(__shfl_sync(~0u, threadIdx.x >> 5 & 3, 0)),
        lane(threadIdx.x & 31),
        input(args, plane, left, lane, memory, row_taps + S::offsets_at) {}
  /// Waits for the V of a step, and so for all before: who made it had waited for that of the step before.
  __device__ __forceinline__ void wait_for_rows(int step) const {
    if (step >= 0) ptx::wait_for_phase(made + step % S::phases * 8, step / S::phases & 1);
  }
  /// This warp has made its V of a step. Waits for all that the step's column pass takes in.
  __device__ __forceinline__ void hand_on_rows(int step) const {
    __syncwarp();
    if (lane == 0) ptx::arrive_at_barrier(made + step % S::phases * 8);
    wait_for_rows(step);
  }

  /// V of a step's rows to a slot. `more`: another step of this warpgroup follows, whose first pieces are loaded.
  __device__ __forceinline__ void filter_rows(int step, int slot, bool more) {
    typename SumsOf<S>::Type sums(input.plane, row_taps, lane);
    static_assert(!SumsOf<S>::Type::waits_for_more(S::pieces - 1));  // else its products would be in no group
#pragma unroll
    for (int p = 0; p < S::pieces; ++p) {
      typename In::P piece[2];
      input.take(piece, p);
#pragma unroll
      for (int first = 0; first < S::products_of_piece; first += S::products_at_once) {
        const bool last = first + S::products_at_once == S::products_of_piece;
        const typename SumsOf<S>::Type::Left left(sums, piece, p, first);
        if (last) input.go_on(p, more);
        if (!SumsOf<S>::Type::sends(p)) continue;
        ptx::wgmma_fence();
        sums.multiply(left, row_taps, p, first);
        if (SumsOf<S>::Type::waits_for_more(p)) continue;
        ptx::wgmma_commit();
        if (!last || p + 1 < S::pieces) ptx::wait_for_products_but_last();
      }
    }
    ptx::wgmma_wait();
    sums.hold_all();
    // What was in the slot has been read before V of the step before was made, or by this warpgroup.
    wait_for_rows(step - 1);
    if constexpr (S::slots < S::chunks + S::groups) ptx::wait_at_warpgroup_barrier(1 + (threadIdx.x >> 7));
    // Blocks of 8 columns of the lane's row, or that 8 below.
    sums.store(ring + slot * S::slot_bytes + (2 * warp + (lane >> 3 & 1)) * (16 * S::columns) + (lane >> 4) * 128 +
               (lane & 7) * 16);
    ptx::fence_shared_for_wgmma();
    hand_on_rows(step);
  }

  /// Sends the products of the rows of some steps, from that of slot `first` on.
  __device__ __forceinline__ void send_columns(typename S::Sum (&sum)[S::columns / 2], int first,
                                               std::int32_t start) const {
    constexpr int of_product = 32 * S::columns;
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sum[i] = S::boxes ? start : 0;
    if constexpr (S::boxes) hold(sum);
    const MatrixDescriptor left = describe_matrix(column_taps, 128, 128);
    ptx::wgmma_fence();
#pragma unroll
    for (int s = 0; s < S::chunks; ++s) {
      const MatrixDescriptor right = describe_matrix(ring + first * S::slot_bytes, of_product / 2, 128);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if constexpr (S::boxes)
          ptx::multiply_bytes(sum, moved(left, (4 * s + i) * 256), moved(right, i * of_product));
        else
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
  const int rows = plane.steps * step_rows;
  const int first = left * S::C, end = min(first + bytes, plane.row_bytes);
  pdl_wait();
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * (bytes / 16); i += 128 * S::groups) {
    const int y = top + i / (bytes / 16), x = first + i % (bytes / 16) * 16;
    if (y >= plane.height) break;
    const std::uint8_t* const from = plane.in + y * plane.in_stride;
    std::uint8_t* const to = plane.out + y * plane.out_stride;
    if (x + 16 <= end) {
      *reinterpret_cast<uint4*>(to + x) = __ldg(reinterpret_cast<const uint4*>(from + x));
      continue;
    }
#pragma unroll 1
    for (int b = x; b < min(x + 16, end); ++b) to[b] = __ldg(from + b);
  }
}

/// `whole`: all of the strip is of the frame.
template <class S, class Out>
__device__ __forceinline__ void store_samples(const Out& samples, const typename S::Sum (&sum)[S::columns / 2],
                                              const typename Out::Words& in, int row, bool whole) {
  if (whole)
    samples.reads ? samples.template store<true, true>(sum, in, row)
                  : samples.template store<false, true>(sum, in, row);
  else
    samples.reads ? samples.template store<true, false>(sum, in, row)
                  : samples.template store<false, false>(sum, in, row);
}

template <class S, class In, class Out>
__device__ __forceinline__ void filter_block(const Args& args, const Plane& plane, std::uint8_t* memory) {
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), block = blockIdx.x - plane.first_block;
  const int band = block / plane.strips, strip = block - band * plane.strips, left = strip * S::pixels;
  const int top = band * plane.steps * step_rows;
  if (plane.copied) return copy_block<S>(plane, left, top);
  const uint4* const table = plane.row_taps + plane.table_of(strip) * (S::table_bytes / 16);
  Worker<S, In> worker(args, plane, ptx::address_in_shared(memory), left);
  const std::uint32_t tables = worker.made + 8 * S::phases;  // the barrier at which they have been copied
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::phases; ++i) ptx::init_barrier(worker.made + 8 * i, 4);
    ptx::init_barrier(tables, 1);
    ptx::publish_barriers();
    ptx::expect_bytes(tables, S::table_bytes + S::column_bytes);
    ptx::copy_bulk(worker.row_taps, table, S::table_bytes, tables);
    ptx::copy_bulk(worker.column_taps, args.column_taps, S::column_bytes, tables);
  }
  int y = top - args.centre_y + In::first_row(worker.warp, worker.lane) + group * step_rows;
  worker.input.set_next_rows(y);
  worker.input.find_first(reinterpret_cast<const std::uint8_t*>(table) + S::offsets_at);
  if constexpr (S::tiles) worker.input.prefetch_first();
  pdl_wait();
  if constexpr (S::tiles && S::groups > S::chunks) {  // of warpgroups without a step nobody would wait for copies
    if (top + (group - S::chunks + 1) * step_rows < plane.height && group < plane.steps + S::chunks - 1)
      worker.input.load_first();
  } else {
    worker.input.load_first();
  }
  __syncthreads();
  ptx::wait_for_phase(tables, 0);
  const Out samples(args, plane, left, worker.lane, ptx::address_in_shared(memory));
  const bool whole = left * S::C + S::columns <= plane.row_bytes;
  const int outputs = min(plane.steps, (plane.height - top + step_rows - 1) / step_rows);
  const int steps = outputs + S::chunks - 1;
#pragma unroll 1
  for (int step = group, slot = group; step < steps; step += S::groups) {
    y += S::groups * step_rows;
    worker.input.begin_step(y);
    const int ready = step - (S::chunks - 1), row = top + ready * step_rows;
    typename Out::Words early;
    if constexpr (S::reads_early)
      if (samples.reads && ready >= 0) samples.load(early, row);
    worker.filter_rows(step, slot, step + S::groups < steps);
    if (ready >= 0) {
      typename S::Sum sum[S::columns / 2];
      worker.send_columns(sum, S::slot_after(slot, S::slots - S::chunks + 1), args.start);
      typename Out::Words late = {};
      typename Out::Words& in = S::reads_early ? early : late;
      if (!S::reads_early && samples.reads) samples.load(late, row);
      ptx::wgmma_wait();
      hold(sum);
      store_samples<S>(samples, sum, in, row, whole);
    }
    slot = S::slot_after(slot, S::groups);
  }
  samples.end();
}

template <class S>
__device__ __forceinline__ void filter_plane(const Args& args, const Plane& plane, std::uint8_t* memory) {
  filter_block<S, std::conditional_t<S::tiles, TileInput<S>, Input<S>>,
               std::conditional_t<S::out_bytes != 0, TileSamples<S>, Samples<S>>>(args, plane, memory);
}

#endif

template <PlaneMix mix, int chunks, RowTaps row = RowTaps::halves>
__global__ void __launch_bounds__(128 * groups_of(mix, chunks), resident_of(mix, chunks))
    wide_kernel(const __grid_constant__ Args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) std::uint8_t memory[];
  if constexpr (mix == PlaneMix::one_and_two) {
    if (static_cast<int>(blockIdx.x) < args.plane[1].first_block)
      filter_plane<ShapeOf<mix, chunks, 1, row>>(args, args.plane[0], memory);
    else
      filter_plane<ShapeOf<mix, chunks, 2, row>>(args, args.plane[1], memory);
  } else if constexpr (mix == PlaneMix::one) {
    // What is read of a plane at a place of run time is slow.
    if (args.planes == 1) return filter_plane<ShapeOf<mix, chunks, 1, row>>(args, args.plane[0], memory);
    int p = 0;
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
    filter_plane<ShapeOf<mix, chunks, 1, row>>(args, args.plane[p], memory);
  } else {
    filter_plane<ShapeOf<mix, chunks, mix == PlaneMix::none ? 4 : max_components_of(mix), row>>(args, args.plane[0],
                                                                                                memory);
  }
#endif
}

}  // namespace convolve::cuda::wide
