// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of rectangles share: the block's item, cells of pixels and their sums, tiles and words of them.
#pragma once

#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/regions/rectangles.hpp"
#include "cuda/regions/tile.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

/// a / b of whole numbers below 2^20, where `by` is 1 / b: the product is off by less than the half that was added,
/// over b.
__device__ __forceinline__ int divided(int a, float by) {
  return __float2int_rz((static_cast<float>(a) + 0.5f) * by);
}

/// Lets the next launch of the stream start its blocks, as far as there is room: the kernels take longer to find out
/// what to do than to do it.
__device__ __forceinline__ void start_next_launch() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// The number of the block's item. `first`: each item's first block of those that `block` is one of.
__device__ __forceinline__ int find_item(const RectangleArgs& args, const int (&first)[max_items], int block) {
  static_assert((max_items & (max_items - 1)) == 0);
  int index = 0;
#pragma unroll 1
  for (int step = args.search; step > 0; step >>= 1)  // behind the last, none is smaller
    if (first[index + step] <= block) index += step;
  return index;
}

/// Copies a block's item to shared memory, which its lanes read sooner than arguments at a place found at run time. To
/// be called by all threads.
__device__ __forceinline__ void copy_item(const RectangleItem& item, RectangleItem& own) {
  constexpr int words = sizeof(RectangleItem) / 4;
  static_assert(sizeof(RectangleItem) % 4 == 0 && words <= rectangle_threads);
  const int id = static_cast<int>(threadIdx.x);
  if (id < words) reinterpret_cast<std::uint32_t*>(&own)[id] = reinterpret_cast<const std::uint32_t*>(&item)[id];
  __syncthreads();
}

/// A cell's sum is complete when as many warps as share the cell have added to it. They are counted above the sum's
/// bits: a cell is of less than 2^15 warps, and what each adds is less than 2^28.
inline constexpr int sum_bits = 44;
inline constexpr RegionWord sum_mask = (RegionWord{1} << sum_bits) - 1;

/// A sum, once it is complete. The blocks that add to it have lower numbers than those that wait for it: they began
/// before them, so that all of them get to their end.
__device__ __forceinline__ RegionWord complete_sum(const RegionWord* at, int warps) {
  RegionWord sum;
  do sum = *static_cast<const volatile RegionWord*>(at);
  while (static_cast<int>(sum >> sum_bits) < warps);
  return sum & sum_mask;
}

/// Clears the block's part of the sums of the frame before: once that frame is done, and while others are waited for.
__device__ __forceinline__ void clear_stale(const RectangleArgs& args) {
#pragma unroll 1
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * rectangle_threads + threadIdx.x; i < args.stale_words;
       i += static_cast<std::uint64_t>(args.blocks) * rectangle_threads)
    args.stale[i] = 0;
}

/// The cell of a pixel of the frame, or the nearest to it.
__device__ __forceinline__ int cell_of(const RectangleAxis& axis, int pixel) {
  const int at = min(max(pixel, axis.begin), axis.end - 1) - axis.begin;
  return min(max(divided(at, axis.by_size) - axis.first, 0), axis.count - 1);
}

/// The first of `samples` samples, of 1 << shift pixels each, in this cell or a later one; `cell` up to the count.
__device__ __forceinline__ int first_sample(const RectangleAxis& axis, int cell, int shift, int samples) {
  if (cell <= 0) return 0;
  if (cell >= axis.count) return samples;
  const int begin = axis.begin + (axis.first + cell) * axis.size;
  return min(max((begin + (1 << shift) - 1) >> shift, 0), samples);
}

/// Samples of a row or column: first <= i < last.
struct SampleRange {
  int first, last;
};

/// The rectangle's samples in a cell; `pixels`: of the frame.
__device__ __forceinline__ SampleRange range_of(const RectangleAxis& axis, int cell, int shift, int pixels) {
  const int samples = ((pixels - 1) >> shift) + 1;
  return {max(first_sample(axis, cell, shift, samples), axis.begin >> shift),
          min(first_sample(axis, cell + 1, shift, samples), ((axis.end - 1) >> shift) + 1)};
}

struct RectangleTile {
  int x, y, bottom;              ///< its first sample and row, and the row behind its last one
  int cell_x, cell_y;            ///< the first cell that it sees
  int columns, components, all;  ///< cells across, means of a cell, and all
};

/// The first pixel of sample `at` of a row, and its slot.
__device__ __forceinline__ int pixel_of(const RegionPart& part, int at, const RegionSlot*& slot) {
  const int period = quotient(at, part.by_period);
  slot = &part.slot[at - period * part.period];
  return (period << part.period_shift) + slot->pixel;
}

/// Whether a sample is one of the rectangle's.
__device__ __forceinline__ bool holds(const RectangleArgs& args, const RectangleItem& item, int pixel,
                                      const RegionSlot& slot) {
  return pixel < args.width && slot.component != no_component && pixel < item.x.end &&
         pixel + (1 << slot.shift_x) > item.x.begin;
}

/// The tile without its cells.
template <class Sample>
__device__ __forceinline__ RectangleTile find_tile(const RectangleArgs& args, const RectangleItem& item,
                                                   const RegionPart& part, int block) {
  constexpr int samples = tile_columns<Sample>;
  const int across = (item.right - item.left + samples - 1) / samples, row = divided(block, item.by_columns);
  RectangleTile tile{};
  tile.x = item.left + (block - row * across) * samples;
  tile.y = item.top + row * args.tile_rows;
  tile.bottom = min(tile.y + args.tile_rows, item.bottom);
  tile.components = part.components;
  return tile;
}

/// A lane's samples in a row of the tile.
template <class Sample>
struct LaneWord {
  static constexpr int n = word_samples<Sample>;
  int at;             ///< the first
  unsigned held = 0;  ///< a bit for each that is the rectangle's
  bool whole;         ///< all are, and lie in a word of memory

  __device__ __forceinline__ explicit LaneWord(const RectangleTile& tile)
      : at(tile.x + static_cast<int>(threadIdx.x) % 32 * n) {}
  __device__ __forceinline__ void set_whole(const PlaneView& frame) {
    whole = held == (1u << n) - 1 && in_words(frame);
  }
};

/// Stores a word or its samples that are held by predicates: branches would take as long for each lane as for all.
template <class Sample>
__device__ __forceinline__ void store_parts(Sample* to, unsigned samples, unsigned held, bool whole) {
  if (whole) *reinterpret_cast<unsigned*>(to) = samples;
  const unsigned parts = whole ? 0 : held;
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j)
    if (parts >> j & 1) to[j] = static_cast<Sample>(samples >> j * sample_bits<Sample>);
}

template <class Sample>
__device__ __forceinline__ void store_samples(Sample* to, unsigned samples, unsigned held, bool whole) {
  if (whole) {
    *reinterpret_cast<unsigned*>(to) = samples;
    return;
  }
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j)
    if (held >> j & 1) to[j] = static_cast<Sample>(samples >> j * sample_bits<Sample>);
}

#endif

}  // namespace convolve::cuda
