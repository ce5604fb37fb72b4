// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sums of cells. Whole numbers: the order does not matter.
//
// A lane sums each column of its word down the rows that a warp has of one row of cells. Then P, the sum of all columns
// of a component from the warp's first one on, is known at every column by a scan over the lanes, and a cell's sum is
// its difference between the cell's two ends. So at an end of a cell one lane adds P to the cell that ends, and takes P
// from the one that begins:
//
//      columns    . . . . . | . . . . . . . . | . . .        | an end of a cell
//      cell a     + P1
//      cell b     - P1                    + P2
//      cell c                             - P2      + P3
//
// Sums are modulo 2^64, and never below 0 once all have been added.
#include "cuda/regions/tile.cuh"

namespace convolve::cuda {
namespace {

constexpr unsigned all_lanes = ~0u;
constexpr int warps = region_threads / 32, rows_at_once = 4;

/// Sums, or numbers, of the samples in the columns of a word. Those of 8 bits are two 16-bit halves each: of columns 0
/// and 2, and of columns 1 and 3. A warp has at most max_tile_rows / warps rows.
template <class Sample>
struct ColumnSums {
  unsigned part[2] = {0, 0};

  /// Adds the samples of a row, as they lie in memory.
  __device__ __forceinline__ void add(unsigned word) {
    constexpr unsigned mask = sizeof(Sample) == 1 ? 0x00ff00ff : 0x0000ffff;
    part[0] += word & mask;
    part[1] += word >> sample_bits<Sample> & mask;
  }
  __device__ __forceinline__ unsigned of(int column) const {
    return sizeof(Sample) == 1 ? part[column & 1] >> (column & 2) * 8 & 0xffff : part[column];
  }
};

/// The cells that a lane's columns belong to.
template <class Sample>
struct Columns {
  static constexpr int n = word_samples<Sample>;
  int cell[n], component[n];
  int next;  ///< the cell of the next lane's first column; -1: there is none
};

/// Adds the sums of a component's samples to the cells of a row of cells.
template <class Sample>
__device__ __forceinline__ void add_component(const Columns<Sample>& columns, const ColumnSums<Sample>& sums, int shift,
                                              int component, RegionWord* row, int words) {
  constexpr int n = word_samples<Sample>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned own[n], before = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    own[j] = columns.component[j] == component ? sums.of(j) >> shift : 0;
    before += own[j];
  }
  const unsigned all = before;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(all_lanes, before, step);
    before += lane >= step ? other : 0;
  }
  before -= all;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    before += own[j];
    const int next = j + 1 < n ? columns.cell[j + 1] : columns.next;
    if (next == columns.cell[j] || before == 0) continue;
    atomicAdd(row + columns.cell[j] * words, static_cast<RegionWord>(before));
    if (next >= 0) atomicAdd(row + next * words, ~static_cast<RegionWord>(before) + 1);
  }
}

/// The samples of a word in row `y` whose weight in a layer with a map is full.
template <class Sample>
__device__ __noinline__ unsigned core_in_map(const RegionArgs& args, const RegionTile& tile, const Lines<Sample>& lines,
                                             int y) {
  constexpr int n = word_samples<Sample>;
  unsigned held = 0;
#pragma unroll 1
  for (int j = 0; j < n; ++j) {
    const PixelRect pixels = covered_by(args, tile, lines, static_cast<int>(threadIdx.x) % 32 * n + j, y);
    if (pixels.right >= 0 && map_weight(args.map + tile.layer.at, tile.layer.window, pixels) == 256) held |= 1u << j;
  }
  return held;
}

/// `mapped`: the layer has a map.
template <class Sample, bool mapped>
__device__ __forceinline__ void sum_tile(const RegionArgs& args, const RegionTile& tile, const Lines<Sample>& lines) {
  constexpr int n = word_samples<Sample>;
  const RegionPart& part = args.part[tile.part];
  const PlaneView& plane = args.frame[part.plane];
  const Word<Sample> word(args, tile, lines);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int rows = (1 << tile.layer.tile_y) / warps, first = warp * rows, end = min(first + rows, tile.bottom - tile.y);
  const bool whole = word.in_row && in_words(plane);
  const bool counts = tile.layer.kind != static_cast<std::uint8_t>(LayerKind::rectangle);
  const unsigned litter = ~0u / ((1u << sample_bits<Sample>)-1) * ((1u << args.shift) - 1);
  Columns<Sample> columns;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    columns.cell[j] = word.line[j].first;
    columns.component[j] = word.line[j].second;
  }
  columns.next = __shfl_down_sync(all_lanes, columns.cell[0], 1);
  if (lane == 31) columns.next = -1;
  RegionWord* to = args.sums + tile.layer.sums + 2 * part.first_component;
  const int row_words = tile.layer.x.count() * args.words;
  // So many rows at a time, as far as they are of one row of cells.
#pragma unroll 1
  for (int row = first; row < end;) {
    const int cell = lines.row(row).first;
    ColumnSums<Sample> sums, numbers;
#pragma unroll 1
    do {
      unsigned samples[rows_at_once];
      int taken = 0;
#pragma unroll
      for (int k = 0; k < rows_at_once; ++k) {
        samples[k] = 0;
        if (row + k >= end || lines.row(row + k).first != cell) continue;
        ++taken;
        const int y = tile.y + row + k;
        const unsigned held = mapped ? core_in_map(args, tile, lines, y) : word.within(lines.core[row + k]);
        if (counts) numbers.add(mask_of<Sample>(held) & ~0u / ((1u << sample_bits<Sample>)-1));
        if (held) samples[k] = load_samples<Sample>(row_of<const Sample>(plane, y) + word.at, held, whole);
      }
#pragma unroll
      for (int k = 0; k < rows_at_once; ++k) sums.add(samples[k] & ~litter);
      row += taken;
    } while (row < end && lines.row(row).first == cell);
#pragma unroll 1
    for (int c = 0; c < part.components; ++c) {
      RegionWord* at = to + static_cast<std::ptrdiff_t>(cell) * row_words + 2 * c;
#pragma unroll 1
      for (int word_of_cell = 0; word_of_cell <= (counts ? 1 : 0); ++word_of_cell)
        add_component(columns, word_of_cell ? numbers : sums, word_of_cell ? 0 : args.shift, c, at + word_of_cell,
                      args.words);
    }
  }
}

template <class Sample>
__device__ __noinline__ void sum_mapped_tile(const RegionArgs& args, const RegionTile& tile,
                                             const Lines<Sample>& lines) {
  sum_tile<Sample, true>(args, tile, lines);
}

/// Asks for the tile's samples before they may be read.
template <class Sample>
__device__ __forceinline__ void prefetch_tile(const RegionArgs& args, const RegionTile& tile) {
#if __CUDA_ARCH__ >= 900
  const RegionPart& part = args.part[tile.part];
  // The two ends of each row: it may lie in two cache lines.
  const int y = tile.y + static_cast<int>(threadIdx.x) / 2;
  const int end = min(tile.x + tile_columns<Sample>, part.samples) - 1;
  if (y < tile.bottom)
    prefetch_line(row_of<const Sample>(args.frame[part.plane], y) + (threadIdx.x % 2 == 0 ? tile.x : end));
#endif
}

template <class Sample, class Int>
__global__ void __launch_bounds__(region_threads, 4) means_kernel(const __grid_constant__ RegionArgs args) {
  __shared__ std::uint64_t tile_memory[(sizeof(RegionTile) + 7) / 8];
  __shared__ Lines<Sample> lines;
  RegionTile& tile = *reinterpret_cast<RegionTile*>(tile_memory);
  find_tile<Sample>(args, tile);
  __syncthreads();
  prefetch_tile<Sample>(args, tile);
  set_lines<Int>(args, tile, lines, [&](const BasicCellAxis<Int>& axis, int pixel, int line, int component) {
    lines.of[line].first = axis.cell(pixel);
    lines.of[line].second = component;
  });
  __syncthreads();
  pdl_wait();
  if (tile.layer.kind == static_cast<std::uint8_t>(LayerKind::map))
    sum_mapped_tile(args, tile, lines);
  else
    sum_tile<Sample, false>(args, tile, lines);
}

}  // namespace

void launch_means(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept {
  const auto kernel = type == SampleType::u8
                          ? (args.wide ? means_kernel<std::uint8_t, std::int64_t> : means_kernel<std::uint8_t, int>)
                          : (args.wide ? means_kernel<std::uint16_t, std::int64_t> : means_kernel<std::uint16_t, int>);
  launch_pdl(capability, kernel, tiles, dim3(region_threads), stream, args);
}

}  // namespace convolve::cuda
