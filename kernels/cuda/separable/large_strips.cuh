// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Both passes in one kernel, V in registers, for up to 65 taps an axis: see large.cuh.
//
// A block goes down a strip of the frame, a unit of rows a step; its warps lie side by side. The row pass has the
// banded matrix to the left and the image, which lies in shared memory, to the right: the 32-bit words of a row are the
// right operand as they are. Its sums have pixels for rows and rows of the frame for columns, and so they are the right
// operand of the column pass, whose banded matrix is to the left as well. A warp keeps V of the last `units` units of
// rows:
//
//   row pass       sum(tile i) = T(0) x(i) + T(1) x(i + 1) + ...            x: 16 pixels of the rows that come in
//   column pass    out         = C(0) V(n - units + 1) + ... + C(units - 1) V(n)
//
// Input rows are read once and are forgotten after their row pass: a few units of them are under way in a queue.
#pragma once

#include "cuda/separable/large_byte_strips.cuh"
#include "cuda/separable/large_strip_loader.cuh"
#include "cuda/separable/large_strip_passes.cuh"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// What a block reads of a strip, in shared memory.
template <class Numbers, int C, int units, bool pairs>
struct StripInput : Strip<Numbers, units> {
  static constexpr bool skewed = pairs && skews_pairs<Numbers>;
  static constexpr int warps = strip_warps(C), width = warps * StripWarp<C>::pixels;
  int window, pitch, stage_bytes;

  __device__ explicit StripInput(int centre_x)
      : window(strip_window(Numbers::unit, units, centre_x, width, C)),
        pitch(strip_pitch(window, C, skewed)),
        stage_bytes(Numbers::unit * pitch) {}
};

/// Sends for the first units of `steps`, and makes what stands beside the frame of the first of them.
template <int stages, class Loader>
__device__ __forceinline__ void begin_input(Loader& loader, int steps) {
#pragma unroll 1
  for (int n = 0; n < stages - 1; ++n) {
    if (n < steps) loader.send(n);
    ptx::commit_copies();
  }
  if (loader.beside != loader.mended) return;
  ptx::wait_for_copies<stages - 2>();
  __syncthreads();
  loader.mend(0);
}

/// `outputs` units of rows of one strip; `input`: shared memory that nobody reads any more.
template <class Numbers, int C, int units, bool pairs, bool plain>
__device__ __forceinline__ void filter_piece(const Args& args, const Plane& plane,
                                             StripPasses<Numbers, C, units, pairs>& passes, std::uint8_t* input,
                                             int left, int top, int outputs) {
  using Passes = StripPasses<Numbers, C, units, pairs>;
  using Shape = StripInput<Numbers, C, units, pairs>;
  constexpr int warps = Shape::warps, unit = Numbers::unit, stages = Shape::stages;
  constexpr bool skewed = Shape::skewed;
  const Shape shape(args.centre_x);
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0), lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int x = warp * StripWarp<C>::pixels, steps = outputs + units - 1;
  int made = left + x < plane.width ? steps : 0;
  ptx::hide(made);
  std::uint8_t* const outlets = input + stages * shape.stage_bytes + strip_cells_bytes(shape.window);
  std::conditional_t<pairs, PairSamples<plain>, StripSamples<C, plain>> samples(args, plane, (left + x) * C, top + g,
                                                                                outlets + warp * TripleOutlet::bytes);
  if (plane.passthrough == ~0u) {
    pdl_wait();
    for (int below = 0; made && below < outputs * unit; below += 16) samples.copy();
    return;
  }
  const int beside = row_margin(args.centre_x) - (args.centre_x + 3) / 4 * 4;
  const std::uint8_t* const of_lane = input + row_start<skewed>(g, shape.pitch) + (beside + x + 4 * t) * C;
  const int to_luma = pairs ? 2 * (row_margin(args.centre_x) - beside) - 8 * t : 0;  // taps reach half as far from it
  ask_for_rows<C, stages * unit, warps>(args, plane, left, top - args.centre_y, shape.window);
  constexpr bool apart = std::is_integral_v<typename Numbers::Sum> || (pairs && units * unit <= 64);
  constexpr bool joined = C > 2 || Numbers::parts == 1 || (plain && Shape::column_taps_in_registers);
  StripLoader<C, unit, stages, warps, pairs, apart, joined, skewed> loader(
      args, plane, input, left, top - args.centre_y, shape.window, shape.pitch);
  pdl_wait();
  begin_input<stages>(loader, steps);
  int stage = 0;
#pragma unroll 1
  for (int base = 0; base < steps; base += Passes::turns)
#pragma unroll
    for (int turn = 0; turn < Passes::turns; ++turn) {
      const int n = base + turn;
      if (turn > 0 && n >= steps) break;
      // The next unit has come as well, so that what stands beside the frame of it is there in the next step.
      ptx::wait_for_copies<stages - 3>();
      __syncthreads();
      if (n + stages - 1 < steps) loader.send(stage == 0 ? stages - 1 : stage - 1);
      ptx::commit_copies();
      const int next = stage + 1 == stages ? 0 : stage + 1;
      if (loader.beside == loader.mended && n + 1 < steps) loader.mend(next);
      if (n < made) {
        if (C == 3 && n >= units) samples.flush();
        const std::uint8_t* const rows = of_lane + stage * shape.stage_bytes;
        if constexpr (pairs)
          passes.filter_pair_rows(rows + to_luma, rows, shape.pitch, args.pairs, turn);
        else
          passes.filter_rows(rows, shape.pitch, turn);
        if (n >= units - 1) passes.filter_columns(samples, turn);
      }
      stage = next;
    }
  if (made) samples.finish();
}

/// A block's share: units of rows of a strip, and on with the next one's first rows where that ends. Shares count the
/// row sums that a strip begins with, strip_gap() units of them, so that all blocks have as much to do.
template <class Numbers, int C, int units, bool plain, bool more_strips, bool pairs = false>
__device__ __forceinline__ void filter_strips(const Args& args, const Plane& plane, std::uint8_t* shared) {
  constexpr int unit = Numbers::unit, width = StripInput<Numbers, C, units, pairs>::width;
  StripPasses<Numbers, C, units, pairs> passes;
  passes.load(args, plane, shared);
  const int block = blockIdx.x - plane.first_strip, in_strip = plane.strip_units;
  const int piece = block / plane.sequences, sequence = block - piece * plane.sequences;
  const int first = sequence * plane.sequence_units + piece * plane.share + min(piece, plane.more);
  const int end = first + plane.share + (piece < plane.more);
  std::uint8_t* const input = shared + Strip<Numbers, units>::taps_bytes;
  if constexpr (!more_strips) {
    const int strip = first / in_strip, from = first - strip * in_strip;
    filter_piece<Numbers, C, units, pairs, plain>(args, plane, passes, input, strip * width, from * unit, end - first);
  } else {
    constexpr int gap = strip_gap(units);
    int strip = first / (in_strip + gap), begin = strip * (in_strip + gap) + gap, from = max(first - begin, 0);
#pragma unroll 1
    for (; begin < end; begin += in_strip + gap, ++strip, from = 0) {
      const int count = min(end - begin, in_strip) - from;
      filter_piece<Numbers, C, units, pairs, plain>(args, plane, passes, input, strip * width, from * unit, count);
      __syncthreads();
    }
  }
}

#endif

template <class Numbers, int units, bool plain>
__global__ void __launch_bounds__(32 * strip_warps(4), strip_resident)
    pair_strip_kernel(const __grid_constant__ Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint8_t shared[];
  filter_strips<Numbers, 4, units, plain, false, true>(args, args.plane[0], shared);
#endif
}

template <class Numbers, PlaneMix mix, int units, bool plain>
__global__ void __launch_bounds__(32 * strip_warps(max_components_of(mix)), strip_resident)
    strip_kernel(const __grid_constant__ Args args) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint8_t shared[];
  constexpr bool more = goes_on<Numbers, units>(max_components_of(mix));
  if constexpr (mix == PlaneMix::four) {
    filter_strips<Numbers, 4, units, plain, more>(args, args.plane[0], shared);
  } else if constexpr (mix == PlaneMix::three) {
    filter_strips<Numbers, 3, units, plain, more>(args, args.plane[0], shared);
  } else {
    int p = 0;
    while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_strip) ++p;
    const Plane& plane = args.plane[p];
    if (mix == PlaneMix::one || plane.components == 1)
      filter_strips<Numbers, 1, units, plain, more>(args, plane, shared);
    else if constexpr (mix == PlaneMix::one_and_two)
      filter_strips<Numbers, 2, units, plain, more>(args, plane, shared);
  }
#endif
}

}  // namespace convolve::cuda::large
