// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// wide.cuh for the widest filters of frames whose border repeats the edge: rows come to a ring in shared memory that
// the warpgroups of a block share, by tensor copies of all 64 rows of a step (CUDA C++ Programming Guide, Asynchronous
// data copies using the tensor memory accelerator).
//
// A window of a step is too large to be there for each warp, or twice. So it comes in stages, parts of its rows side by
// side, and the ring holds about as many as a step has, in the order in which steps take them: what one warpgroup has
// done with makes room for the next one's step. A stage is full when its copy has come, and empty when the four warps
// of the warpgroup have read it; then one of their lanes asks for the stage that follows in its place.
//
// Steps begin with the first row of the frame or whole steps before it, so that those above the frame, or below, have
// no row of it. Nothing is loaded or filtered for them: all their rows are the frame's first or last one, whose V is
// stored as 8 rows that the column pass takes in as often as it has to.
//
// Real taps of a row are bytes where samples are hardly less exact for it. Then, and in packed 4:2:2, where as halves
// luma's taps have room only as a few blocks that repeat, all strips have the same taps. Left and right of the frame
// rows are zeros, as tensor copies leave them, and taps that meet what is there are added up beforehand: they meet the
// frame's first and last pixels on their own (add_edges() of the sums).
#pragma once

#include "cuda/common/hopper/tensor/ptx.cuh"
#include "cuda/separable/wide.cuh"

namespace convolve::cuda::wide {

template <PlaneMix mix, int chunks, RowTaps row = RowTaps::halves>
using RingShape =
    Shape<mix == PlaneMix::none ? 4 : max_components_of(mix), chunks, 3, mix == PlaneMix::none, row, true>;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// The steps of a block whose rows are of the frame. They are counted from the first such one.
struct FrameSteps {
  int above, first_row, count;  ///< steps above them, the first one's first row, and how many there are
  int all;                      ///< with those below

  __device__ __forceinline__ FrameSteps(const Args& args, const Plane& plane, int top, int outputs, int chunks) {
    above = max(0, (args.centre_y - top) / step_rows);
    first_row = top - args.centre_y + above * step_rows;
    all = outputs + chunks - 1 - above;
    count = min(all, (plane.height - first_row + step_rows - 1) / step_rows);
  }
};

/// The barriers of stages, each of which every warpgroup has for itself, and what is in the ring. A step of a warpgroup
/// takes each barrier through one phase.
template <class S>
struct Ring {
  using P = Piece<S::piece_words>;
  const Args& args;
  const Plane& plane;
  std::uint32_t memory, full, empty;
  int group, warp, lane, window;
  int place;           ///< in the ring, of this step's first stage
  unsigned phase = 0;  ///< parity of this step's
  FrameSteps steps;
  std::uint32_t rows[2];  ///< the lane's first piece of its two rows, in the first place of the ring

  __device__ __forceinline__ Ring(const Args& args, const Plane& plane, std::uint32_t memory, std::uint32_t barriers,
                                  int left, int group, int warp, int lane, const FrameSteps& steps)
      : args(args),
        plane(plane),
        memory(memory),
        full(barriers),
        empty(barriers + 8 * S::groups * S::stages),
        group(group),
        warp(warp),
        lane(lane),
        window((left - plane.before) * S::C),
        place(group * S::stages % S::ring_stages),
        steps(steps) {}

  /// One thread of the block sets up what all its warpgroups have.
  __device__ __forceinline__ void set_up() const {
    for (int i = 0; i < S::groups * S::stages; ++i) {
      ptx::init_barrier(full + 8 * i, 1);
      ptx::init_barrier(empty + 8 * i, 4);
    }
    ptx::prefetch_tensor_map(args.rows[0]);
  }
  /// One thread asks for the first stages.
  __device__ __forceinline__ void load_first() const {
#pragma unroll
    for (int i = 0; i < S::ring_stages; ++i)
      if (i / S::stages < steps.count) load(i % S::stages, i / S::stages, i);
  }
  __device__ __forceinline__ void begin_step(int step) {
    const int y = row_of(step);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // Of the last step some rows may be below the frame.
      const int row = min(16 * warp + (lane >> 2) + 8 * h, plane.height - 1 - y);
      rows[h] = memory + row * S::stage_row + (lane & 3) * S::piece_bytes;
    }
  }
  /// Another step of this warpgroup follows.
  __device__ __forceinline__ void end_step() {
    phase ^= 1;
    place = (place + S::groups * S::stages) % S::ring_stages;
  }
  /// Reads piece p of this step's window.
  __device__ __forceinline__ void read(P (&to)[2], int p) const {
    const int stage = p / S::pieces_of_stage, of_stage = p % S::pieces_of_stage;
    if (of_stage == 0) ptx::wait_for_phase(full + barrier_of(group, stage), phase);
#pragma unroll
    for (int h = 0; h < 2; ++h)
      to[h] = read_piece<S>(rows[h] + place_of(stage) * S::stage_bytes + of_stage * 4 * S::piece_bytes);
  }
  /// Where piece p, which has been read, was a stage's last one: asks for what follows in its place. Waits until the
  /// piece is in registers, and so all before it, for which arriving at a barrier does not.
  __device__ __forceinline__ void refill_behind(const P (&piece)[2], int p, int step) const {
    if ((p + 1) % S::pieces_of_stage != 0) return;
    const int stage = p / S::pieces_of_stage, next = stage + S::ring_stages, later = next / S::stages;
    constexpr int last = S::piece_words - 1;
    __syncwarp();
    if (lane == 0)
      ptx::arrive_behind_loads(empty + barrier_of(group, stage), piece[0].word[last] | piece[1].word[last], phase >> 1);
    if (warp != stage % 4 || lane != 0 || step + later >= steps.count) return;
    ptx::wait_for_phase(empty + barrier_of(group, stage), phase);
    load(next % S::stages, step + later, place_of(stage));
  }
  /// The pixels at the frame's edges of the lane's rows of a step.
  __device__ __forceinline__ EdgePixels edges_of(int step) const {
    const int y = row_of(step) + 16 * warp + (lane >> 2);
    EdgePixels edges;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::uint8_t* const row = plane.in + min(y + 8 * h, plane.height - 1) * plane.in_stride;
      edges.first[h] = *reinterpret_cast<const std::uint32_t*>(row);
      edges.last[h] = *reinterpret_cast<const std::uint32_t*>(row + plane.row_bytes - 4);
    }
    return edges;
  }
  __device__ __forceinline__ int row_of(int step) const {
    return steps.first_row + step * step_rows;
  }

 private:
  static __device__ __forceinline__ constexpr int barrier_of(int group, int stage) {
    return 8 * (group * S::stages + stage);
  }
  /// Where a stage of this step is in the ring.
  __device__ __forceinline__ int place_of(int stage) const {
    if constexpr (S::stages % S::ring_stages == 0) return stage % S::ring_stages;
    const int at = place + stage % S::ring_stages;
    return at < S::ring_stages ? at : at - S::ring_stages;
  }
  /// Asks for a stage of a step, to a place. With edges taps meet what is beside the frame, which has to be zeros; else
  /// none does, and it may be anything.
  __device__ __forceinline__ void load(int stage, int step, int to) const {
    const int of = barrier_of(step % S::groups, stage);
    const std::uint32_t barrier = full + of;
    // The barrier's phase before is over, of which the ring's order tells only where it holds no more than a step.
    if (S::stages % S::ring_stages != 0 && step >= S::groups)
      ptx::wait_for_phase(empty + of, (step / S::groups - 1) & 1);
    const int x = window + stage * S::stage_row;
    if (!S::edges && (x + S::stage_row <= 0 || x >= plane.row_bytes)) return ptx::arrive_at_barrier(barrier);
    ptx::expect_bytes(barrier, S::stage_bytes);
    ptx::copy_box(memory + to * S::stage_bytes, args.rows[0], x / 4, row_of(step), barrier);
  }
};

/// A warpgroup, as Worker.
template <class S>
struct RingWorker {
  using Rows = typename SumsOf<S>::Type;
  std::uint32_t row_taps, column_taps, repeated, slots, made;  ///< in shared memory
  int warp, lane;
  FrameSteps steps;
  Ring<S> ring;

  __device__ __forceinline__ RingWorker(const Args& args, const Plane& plane, std::uint32_t memory, int left, int group,
                                        const FrameSteps& steps)
      : row_taps(memory + S::staged_bytes),
        column_taps(row_taps + S::table_bytes),
        repeated(column_taps + S::column_bytes),
        slots(repeated + 2 * S::repeated_bytes),
        made(slots + S::slots * S::slot_bytes),
        warp(__shfl_sync(~0u, threadIdx.x >> 5 & 3, 0)),
        lane(threadIdx.x & 31),
        steps(steps),
        ring(args, plane, memory, made + 8 * (S::phases + 1), left, group, warp, lane, steps) {}
  /// Waits for the V of a step, and so for all before.
  __device__ __forceinline__ void wait_for_rows(int step) const {
    if (step >= 0) ptx::wait_for_phase(made + step % S::phases * 8, step / S::phases & 1);
  }

  /// V of a step's rows to a slot. `at_edge`: taps of the strip reach beyond the frame.
  __device__ __forceinline__ void filter_rows(const Plane& plane, int step, int slot, bool at_edge) {
    ring.begin_step(step);
    Rows sums(plane, row_taps, lane);
    static_assert(!Rows::waits_for_more(S::pieces - 1));  // else its products would be in no group
    typename Ring<S>::P ahead[S::read_ahead][2];
#pragma unroll
    for (int p = 0; p < S::read_ahead; ++p) ring.read(ahead[p], p);
#pragma unroll
    for (int p = 0; p < S::pieces; ++p) {
      constexpr int products = S::products_at_once;
      const int next = p + S::read_ahead;
      typename Ring<S>::P(&piece)[2] = ahead[p % S::read_ahead];
#pragma unroll
      for (int first = 0; first < S::products_of_piece; first += products) {
        const bool last = first + products == S::products_of_piece;
        const typename Rows::Left left(sums, piece, p, first);
        if (last && next < S::pieces) ring.read(piece, next);
        ptx::wgmma_fence();
        sums.multiply(left, row_taps, p, first);
        const bool commits = !Rows::waits_for_more(p);
        if (commits) ptx::wgmma_commit();
        if (last && next < S::pieces) ring.refill_behind(piece, next, step);
        if (commits && (!last || p + 1 < S::pieces)) ptx::wait_for_products_but_last();
      }
    }
    EdgePixels edges = {};
    if (S::edges && at_edge) edges = ring.edges_of(step);
    ptx::wgmma_wait();
    sums.hold_all();
    if constexpr (S::edges)
      if (at_edge) sums.add_edges(edges, row_taps, lane);
    // What was in the slot has been read before V of the step before was made, or by this warpgroup.
    wait_for_rows(step - 1);
    ptx::wait_at_warpgroup_barrier(1 + (threadIdx.x >> 7));
    // Blocks of 8 columns of the lane's row, or that 8 below.
    sums.store(slots + slot * S::slot_bytes + (2 * warp + (lane >> 3 & 1)) * (16 * S::columns) + (lane >> 4) * 128 +
               (lane & 7) * 16);
    if (step == 0 && warp == 0 && lane < 4) sums.store_repeated(0, repeated);
    if (step + 1 == steps.count && warp == 3 && lane >= 28) sums.store_repeated(2, repeated + S::repeated_bytes);
    ptx::fence_shared_for_wgmma();
    __syncwarp();
    if (lane == 0) ptx::arrive_at_barrier(made + step % S::phases * 8);
    wait_for_rows(step);
  }

  /// The column's left matrices of the products of a chunk: rows and columns of its blocks of 8 by 8 that are as far
  /// from each other share one, so that a product has two that the one before has not. `behind`: the last one.
  __device__ __forceinline__ void load_left(uint4 (&to)[4], std::uint32_t& behind, int chunk) const {
    const std::uint32_t from = column_taps + 2 * warp * 128;
    if (chunk == 0) behind = ptx::load_block(from + (lane & 7) * 16);
    std::uint32_t m[2][4];
#pragma unroll
    for (int h = 0; h < 2; ++h) ptx::load_rows(m[h], from + (8 * chunk + 4 * h + 1) * 128 + lane * 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t middle = m[i / 2][i % 2 * 2], last = m[i / 2][i % 2 * 2 + 1];
      to[i] = {behind, middle, middle, last};
      ptx::hold_matrix(to[i]);
      behind = last;
    }
  }
  /// Sends the products of the rows of some steps, of which `step`, in `slot`, is the first.
  __device__ __forceinline__ void send_columns(typename S::Sum (&sum)[S::columns / 2], int step, int slot,
                                               std::int32_t start) const {
    constexpr int of_product = 32 * S::columns;
#pragma unroll
    for (int i = 0; i < S::columns / 2; ++i) sum[i] = S::boxes ? start : 0;
    if constexpr (S::boxes) hold(sum);
    const MatrixDescriptor left = describe_matrix(column_taps, 128, 128);
    uint4 in_registers[2][4];
    std::uint32_t behind = 0;
    if constexpr (S::left_in_registers) load_left(in_registers[0], behind, 0);
    ptx::wgmma_fence();
#pragma unroll
    for (int s = 0; s < S::chunks; ++s) {
      const bool above = step + s < 0, below = step + s >= steps.count;
      const std::uint32_t from = above ? repeated : below ? repeated + S::repeated_bytes : slots + slot * S::slot_bytes;
      const int bytes = above || below ? 0 : of_product;
      const MatrixDescriptor right = describe_matrix(from, bytes / 2, 128);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if constexpr (S::boxes)
          ptx::multiply_bytes(sum, moved(left, (4 * s + i) * 256), moved(right, i * bytes));
        else if constexpr (S::left_in_registers)
          ptx::multiply_halves(sum, in_registers[s % 2][i], moved(right, i * bytes), s + i > 0);
        else
          ptx::multiply_halves(sum, moved(left, (4 * s + i) * 256), moved(right, i * bytes), s + i > 0);
      slot = S::slot_after(slot, 1);
      if (!S::left_in_registers || s + 1 == S::chunks) continue;
      ptx::wgmma_commit();
      if (s > 0) ptx::wait_for_products_but_last();
      load_left(in_registers[(s + 1) % 2], behind, s + 1);
      ptx::wgmma_fence();
    }
    ptx::wgmma_commit();
  }
};

/// Which strip a block has, and which part of its steps.
template <class S>
struct StripOfBlock {
  int strip, band, steps;

  __device__ __forceinline__ StripOfBlock(const Args& args, const Plane& plane, int block) : steps(plane.steps) {
    const int inner = plane.high_strip - plane.low_strips;
    const bool apart = S::edges && args.edge_steps > 0;
    if (!apart || block < args.edge_block) {
      const int count = apart ? inner : plane.strips;
      band = block / count, strip = block - band * count + (apart ? plane.low_strips : 0);
    } else {
      const int at = block - args.edge_block, count = plane.strips - inner;
      steps = args.edge_steps, band = at / count, strip = at - band * count;
      if (strip >= plane.low_strips) strip += inner;
    }
  }
};

template <class S, class Out>
__device__ __forceinline__ void filter_by_ring(const Args& args, const Plane& plane, std::uint8_t* memory) {
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), block = blockIdx.x;
  const StripOfBlock<S> of(args, plane, block);
  const int left = of.strip * S::pixels, top = of.band * of.steps * step_rows;
  if (plane.copied) return copy_block<S>(plane, left, top);
  const uint4* const table = plane.row_taps + plane.table_of(of.strip) * (S::table_bytes / 16);
  const int outputs = min(of.steps, (plane.height - top + step_rows - 1) / step_rows);
  const FrameSteps steps(args, plane, top, outputs, S::chunks);
  RingWorker<S> worker(args, plane, ptx::address_in_shared(memory), left, group, steps);
  const std::uint32_t tables = worker.made + 8 * S::phases;  // the barrier at which they have been copied
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::phases; ++i) ptx::init_barrier(worker.made + 8 * i, 4);
    ptx::init_barrier(tables, 1);
    worker.ring.set_up();
    ptx::publish_barriers();
    ptx::expect_bytes(tables, S::table_bytes + S::column_bytes);
    // Where all strips have the same taps, of one table, which is there already.
    constexpr int alike = S::edges ? S::row_taps_bytes : 0;
    if (alike > 0) ptx::copy_bulk(worker.row_taps, plane.row_taps, alike, tables);
    ptx::copy_bulk(worker.row_taps + alike, table + alike / 16, S::table_bytes - alike, tables);
    ptx::copy_bulk(worker.column_taps, args.column_taps, S::column_bytes, tables);
  }
  pdl_wait();
  if (threadIdx.x == 0) worker.ring.load_first();
  const bool at_edge = plane.table_of(of.strip) != 0;
  __syncthreads();
  ptx::wait_for_phase(tables, 0);
  const Out samples(args, plane, left, worker.lane, ptx::address_in_shared(memory));
  const bool whole = left * S::C + S::columns <= plane.row_bytes;
#pragma unroll 1
  for (int step = group, slot = group; step < steps.all; step += S::groups) {
    if (step < steps.count)
      worker.filter_rows(plane, step, slot, at_edge);
    else
      worker.wait_for_rows(steps.count - 1);
    const int first = step - (S::chunks - 1), ready = first + steps.above;
    if (ready >= 0) {
      typename S::Sum sum[S::columns / 2];
      worker.send_columns(sum, first, S::slot_after(slot, S::slots - S::chunks + 1), args.start);
      const int row = top + ready * step_rows;
      typename Out::Words of_frame = {};
      if (samples.reads) samples.load(of_frame, row);
      ptx::wgmma_wait();
      hold(sum);
      store_samples<S>(samples, sum, of_frame, row, whole);
    }
    slot = S::slot_after(slot, S::groups);
    worker.ring.end_step();
  }
  samples.end();
}

#endif

template <PlaneMix mix, int chunks, RowTaps row = RowTaps::halves>
__global__ void __launch_bounds__(128 * RingShape<mix, chunks, row>::groups)
    wide_ring_kernel(const __grid_constant__ Args args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) std::uint8_t memory[];
  using S = RingShape<mix, chunks, row>;
  static_assert(S::read_ahead < S::pieces_of_stage);  // behind the first piece no stage is empty
  filter_by_ring<S, std::conditional_t<S::out_bytes != 0, TileSamples<S>, Samples<S>>>(args, args.plane[0], memory);
#endif
}

}  // namespace convolve::cuda::wide
