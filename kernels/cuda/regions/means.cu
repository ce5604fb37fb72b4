// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The means of cells: each block sums the samples of its tile cell by cell, in shared memory, and adds those sums to
// the layer's own in device memory. Whole numbers: the order does not matter.
//
// A thread sums down a column, a run of rows of one cell after the other. After each run, the lanes of a warp that have
// the same cell and are neighbours join their sums by shuffles (a segmented reduction: Blelloch, Prefix sums and their
// applications, 1990). Lanes of two rows may have the same cell without being neighbours: they are two segments.
//
// Blocks are short, and what they cost is the way of their instructions to the multiprocessor: loops stay loops.
#include "cuda/regions/tile.cuh"

namespace convolve::cuda {
namespace {

constexpr unsigned all_lanes = ~0u;

/// Adds up the sums of each segment's lanes, in its first lane. `end`: the lane behind the segment.
__device__ __forceinline__ unsigned sum_of_segment(unsigned sum, int end) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_down_sync(all_lanes, sum, step);
    sum += lane + step < end ? other : 0;
  }
  return sum;
}

/// The cells of the tile's lines of pixels, counted from the first that the layer keeps.
struct CellLines {
  int of[tile_lines];

  __device__ int column(int i) const { return of[i]; }
  __device__ int row(int i) const { return of[max_tile_width + i]; }
};

/// Of a thread's samples those in the region itself, as bits.
__device__ __forceinline__ unsigned core_of(const RegionArgs& args, const RegionTile& tile, const RegionPart& part,
                                            const ThreadSamples& s) {
  if (tile.layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle)) return rows_in_box(tile.layer.box, part, s);
  unsigned held = 0;
#pragma unroll 1
  for (int k = 0; k < s.rows; ++k)
    if (s.holds(k) && weight_of(args, tile.layer, covered_by(args, part, s.x, s.y + k)) == 256) held |= 1u << k;
  return held;
}

/// Adds a part's samples in the tile to `sums`, [cell][word], of the tile's cells. 2048 samples of 16 bits fit 32 bits.
template <class Sample>
__device__ __forceinline__ void sum_part(const RegionArgs& args, const RegionTile& tile, const CellLines& lines,
                                         const TileCells& cells, const RegionPart& part, unsigned* sums) {
  const ThreadSamples s = samples_of(tile, part);
  const unsigned held = core_of(args, tile, part, s);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int column = held ? lines.column((s.x << part.shift_x) - tile.rect.left) - cells.x : 0;
  // The last one is the number of samples.
#pragma unroll 1
  for (int c = 0; c <= part.components; ++c) {
    const bool counts = c == part.components;
    unsigned value[max_thread_rows];
    if (!counts) {
      const PlaneView& plane = args.frame[part.plane];
      const char* from = reinterpret_cast<const char*>(sample_of<const Sample>(plane, part, c, s.x, s.y));
#pragma unroll
      for (int k = 0; k < max_thread_rows; ++k) {
        value[k] = 0;
        if (held >> k & 1) value[k] = *reinterpret_cast<const Sample*>(from + k * plane.stride);
      }
    }
    unsigned left = held;
    // As often as the warp's tallest column has cells.
#pragma unroll 1
    while (__any_sync(all_lanes, left != 0)) {
      int row = 0;
      unsigned run = 0, sum = 0;
      if (left) {
        const int first = ((s.y + __ffs(static_cast<int>(left)) - 1) << part.shift_y) - tile.rect.top;
        row = lines.row(first) - cells.y;
#pragma unroll
        for (int k = 0; k < max_thread_rows; ++k)
          if (left >> k & 1 && lines.row(((s.y + k) << part.shift_y) - tile.rect.top) - cells.y == row) {
            run |= 1u << k;
            if (!counts) sum += value[k] >> args.shift;
          }
        if (counts) sum = static_cast<unsigned>(__popc(run));
      }
      left &= ~run;
      const int cell = row * cells.columns + column;
      const bool first = __shfl_up_sync(all_lanes, cell, 1) != cell || lane == 0;
      const unsigned later = __ballot_sync(all_lanes, first) & ~((2u << lane) - 1);
      sum = sum_of_segment(sum, later ? __ffs(static_cast<int>(later)) - 1 : 32);
      if (first && sum != 0) atomicAdd(&sums[cell * args.words + part.first_word + c], sum);
    }
  }
}

/// Asks for the tile's samples before they may be read.
template <class Sample>
__device__ __forceinline__ void prefetch_tile(const RegionArgs& args, const RegionTile& tile) {
#if __CUDA_ARCH__ >= 900
  const PixelRect& window = tile.layer.window;
#pragma unroll 1
  for (int p = 0; p < args.parts; ++p) {
    const RegionPart& part = args.part[p];
    const int left = max(tile.rect.left, window.left) >> part.shift_x,
              right = min((min(tile.rect.right, window.right) - 1) >> part.shift_x, part.width - 1);
    const int top = max(tile.rect.top, window.top) >> part.shift_y,
              bottom = min((min(tile.rect.bottom, window.bottom) - 1) >> part.shift_y, part.height - 1);
    const int samples = ((right - left + 1) * part.components - 1) * part.stride + 1;
    const int bytes = samples * static_cast<int>(sizeof(Sample));
    // A thread a row, so that nothing is divided.
    const int y = top + static_cast<int>(threadIdx.x);
    if (y > bottom) continue;
    const auto* from = reinterpret_cast<const char*>(sample_of<const Sample>(args.frame[part.plane], part, 0, left, y));
    for (int x = 0; x < bytes; x += cache_line) prefetch_line(from + x);
  }
#endif
}

template <class Sample>
__global__ void __launch_bounds__(region_threads, 4) means_kernel(const __grid_constant__ RegionArgs args) {
  __shared__ std::uint64_t tile_memory[(sizeof(RegionTile) + 7) / 8];
  __shared__ CellLines lines;
  __shared__ unsigned sums[max_tile_cells * max_cell_words];
  const int id = static_cast<int>(threadIdx.x);
  RegionTile& tile = *reinterpret_cast<RegionTile*>(tile_memory);
  find_tile(args, tile);
  __syncthreads();
  prefetch_tile<Sample>(args, tile);
  for_each_line(args, tile, [&](const CellAxis& axis, int pixel, int line) { lines.of[line] = axis.cell(pixel); });
  __syncthreads();
  TileCells cells{lines.column(0), lines.row(0)};
  cells.columns = lines.column(min(tile.rect.right, args.width) - 1 - tile.rect.left) - cells.x + 1;
  cells.rows = lines.row(min(tile.rect.bottom, args.height) - 1 - tile.rect.top) - cells.y + 1;
  const int words = cells.count() * args.words;
#pragma unroll 1
  for (int i = id; i < words; i += region_threads) sums[i] = 0;
  __syncthreads();
  pdl_wait();
#pragma unroll 1
  for (int p = 0; p < args.parts; ++p) sum_part<Sample>(args, tile, lines, cells, args.part[p], sums);
  __syncthreads();
  RegionWord* to = args.sums + tile.layer.sums;
  const int columns = tile.layer.x.count();
#pragma unroll 1
  for (int i = id; i < words; i += region_threads) {
    if (sums[i] == 0) continue;
    const int cell = i / args.words, row = cell / cells.columns, column = cell - row * cells.columns;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(cells.y + row) * columns + (cells.x + column);
    atomicAdd(to + at * args.words + (i - cell * args.words), static_cast<RegionWord>(sums[i]));
  }
}

}  // namespace

void launch_means(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept {
  launch_pdl(capability, type == SampleType::u8 ? means_kernel<std::uint8_t> : means_kernel<std::uint16_t>, tiles,
             dim3(region_threads), stream, args);
}

}  // namespace convolve::cuda
