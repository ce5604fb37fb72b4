// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The means of cells: each block sums the samples of its tile cell by cell, in shared memory, and adds those sums to
// the layer's own in device memory. Whole numbers: the order does not matter.
//
// A thread sums down a column. Where the row of cells ends, the lanes of a warp that have the same cell, which are
// neighbours, join their sums by shuffles (a segmented reduction: Blelloch, Prefix sums and their applications, 1990).
// Lanes of two rows may have the same cell without being neighbours: they are two segments.
#include "cuda/regions/tile.cuh"

namespace convolve::cuda {
namespace {

constexpr unsigned all_lanes = ~0u;

/// The sums of a part in a tile: 2048 samples of 16 bits fit 32 bits.
struct PartSums {
  unsigned* cells;  ///< [cell][word], of the tile's cells
  int words;
};

/// Joins the sums of neighbouring lanes with the same cell, and adds them to the tile's.
template <int n>
__device__ __forceinline__ void add_to_cell(const PartSums& to, int cell, unsigned (&sum)[n + 1]) {
  if (!__any_sync(all_lanes, sum[n] != 0)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool first = __shfl_up_sync(all_lanes, cell, 1) != cell || lane == 0;
  const unsigned later = __ballot_sync(all_lanes, first) & ~((2u << lane) - 1);
  const int end = later ? __ffs(static_cast<int>(later)) - 1 : 32;  // of the lane's segment
#pragma unroll
  for (int step = 1; step < 32; step *= 2)
#pragma unroll
    for (int i = 0; i <= n; ++i) {
      const unsigned other = __shfl_down_sync(all_lanes, sum[i], step);
      sum[i] += lane + step < end ? other : 0;
    }
  if (first && sum[n] != 0)
#pragma unroll
    for (int i = 0; i <= n; ++i) atomicAdd(&to.cells[cell * to.words + i], sum[i]);
}

/// The cells of the tile's lines of pixels, counted from the first that the layer keeps.
struct CellLines {
  int column[max_tile_width], row[max_tile_height];
};

template <class Sample, int n>
__device__ __forceinline__ void sum_part(const RegionArgs& args, const RegionTile& tile, const CellLines& lines,
                                         const TileCells& cells, const RegionPart& part, const PartSums& to) {
  const ThreadSamples s = samples_of(tile, part);
  unsigned held = 0;
  if (tile.layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle)) {
    held = rows_in_box(tile.layer.box, part, s);
  } else {
#pragma unroll 1
    for (int k = 0; k < s.rows; ++k)
      if (s.holds(k) && weight_of(args, tile.layer, covered_by(args, part, s.x, s.y + k)) == 256) held |= 1u << k;
  }
  Pixel<Sample, n> pixel[max_thread_rows];
#pragma unroll
  for (int k = 0; k < max_thread_rows; ++k)
    if (held >> k & 1)
      pixel[k] = load_pixel<Sample, n>(pixel_at<const Sample>(args.frame[part.plane], part, s.x, s.y + k), part.stride,
                                       part.whole_pixels);
  // Samples beyond the frame have nothing to add, to whatever cell.
  const int column = held ? lines.column[(s.x << part.shift_x) - tile.rect.left] - cells.x : 0;
  const auto row_of = [&](int k) { return lines.row[((s.y + k) << part.shift_y) - tile.rect.top] - cells.y; };
  unsigned sum[n + 1] = {};
  int row = 0;
#pragma unroll
  for (int k = 0; k < max_thread_rows; ++k) {
    if (k >= s.rows) break;
    if (held >> k & 1) {
      row = row_of(k);
#pragma unroll
      for (int c = 0; c < n; ++c) sum[c] += static_cast<unsigned>(pixel[k].value[c]) >> args.shift;
      ++sum[n];
    }
    const bool ends = k + 1 == s.rows || (held >> (k + 1) & 1 && sum[n] != 0 && row_of(k + 1) != row);
    if (__any_sync(all_lanes, ends)) {
      add_to_cell<n>(to, row * cells.columns + column, sum);
#pragma unroll
      for (int i = 0; i <= n; ++i) sum[i] = 0;
    }
  }
}

/// Asks for the tile's samples before they may be read.
template <class Sample>
__device__ __forceinline__ void prefetch_tile(const RegionArgs& args, const RegionTile& tile) {
#if __CUDA_ARCH__ >= 900
  const PixelRect& window = tile.layer.window;
  for (int p = 0; p < args.parts; ++p) {
    const RegionPart& part = args.part[p];
    const int left = max(tile.rect.left, window.left) >> part.shift_x,
              right = min((min(tile.rect.right, window.right) - 1) >> part.shift_x, part.width - 1);
    const int top = max(tile.rect.top, window.top) >> part.shift_y,
              bottom = min((min(tile.rect.bottom, window.bottom) - 1) >> part.shift_y, part.height - 1);
    const int samples = ((right - left + 1) * part.components - 1) * part.stride + 1;
    const int bytes = samples * static_cast<int>(sizeof(Sample));
    const int lines = (bytes + cache_line - 1) / cache_line;
    for (int i = static_cast<int>(threadIdx.x); i < lines * (bottom - top + 1); i += region_threads) {
      const int row = i / lines;
      prefetch_line(
          reinterpret_cast<const char*>(pixel_at<const Sample>(args.frame[part.plane], part, left, top + row)) +
          (i - row * lines) * cache_line);
    }
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
  for_each_line(
      args, tile, [&](int i) { lines.column[i] = tile.layer.x.cell(tile.rect.left + i); },
      [&](int i) { lines.row[i] = tile.layer.y.cell(tile.rect.top + i); });
  __syncthreads();
  TileCells cells{lines.column[0], lines.row[0]};
  cells.columns = lines.column[min(tile.rect.right, args.width) - 1 - tile.rect.left] - cells.x + 1;
  cells.rows = lines.row[min(tile.rect.bottom, args.height) - 1 - tile.rect.top] - cells.y + 1;
  const int words = cells.count() * args.words;
  for (int i = id; i < words; i += region_threads) sums[i] = 0;
  __syncthreads();
  pdl_wait();
  for (int p = 0; p < args.parts; ++p) {
    const RegionPart& part = args.part[p];
    with_components(part.components, [&]<int n>() {
      sum_part<Sample, n>(args, tile, lines, cells, part, {sums + part.first_word, args.words});
    });
  }
  __syncthreads();
  RegionWord* to = args.sums + tile.layer.sums;
  const int columns = tile.layer.x.count();
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
