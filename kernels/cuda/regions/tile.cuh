// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A block's tile: which layer and plane it belongs to, which samples a lane has in it, and the weights of samples.
// Where layers overlap, the one in which a sample weighs most, of equal ones the first, wins the sample: it alone
// treats it.
#pragma once

#include <climits>

#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/regions/args.hpp"

namespace convolve::cuda {

#ifdef __CUDACC__

/// Other layers that reach into a tile are listed up to so many; of more, all are looked at.
inline constexpr int max_listed = 64;

/// In shared memory.
struct OtherLayers {
  int count;
  int listed[max_listed];
};

/// In shared memory likewise, and not constructed there.
struct RegionTile {
  RegionLayer layer;
  int index;         ///< of the layer
  int part;          ///< the plane
  int x, y, bottom;  ///< its first sample and row, and the row behind its last one
  PixelRect pixels;  ///< that its samples cover, as far as the frame goes
};

/// a / b of whole numbers below 2^20, where `by` is 1 / b: the product is off by less than the half that was added,
/// over b.
__device__ __forceinline__ int quotient(int a, float by) {
  return __float2int_rz((static_cast<float>(a) + 0.5f) * by);
}

/// Finds the tile of a layer's block `number`.
template <class Sample>
__device__ __forceinline__ void place_tile(const RegionArgs& args, const RegionLayer& layer, int number,
                                           RegionTile& tile) {
  constexpr int bytes = sizeof(Sample), width = tile_bytes / bytes;
  int p = 0, columns;
  SampleRect samples;
#pragma unroll 1
  for (;; ++p) {
    samples = samples_in(args.part[p], layer.window, bytes);
    columns = samples.columns(bytes);
    const int tiles = columns * samples.rows(layer.tile_y);
    if (number < tiles || p + 1 == args.parts) break;
    number -= tiles;
  }
  const RegionPart& part = args.part[p];
  const int row = static_cast<int>(static_cast<unsigned>(number) / static_cast<unsigned>(columns));
  tile.part = p;
  tile.x = samples.left + (number - row * columns) * width;
  tile.y = samples.top + (row << layer.tile_y);
  tile.bottom = min(tile.y + (1 << layer.tile_y), samples.bottom);
  const auto period_of = [&](int sample) { return quotient(sample, part.by_period); };
  tile.pixels = {period_of(tile.x) << part.period_shift, tile.y << part.shift_y,
                 min((period_of(tile.x + width - 1) + 1) << part.period_shift, args.width),
                 min(tile.bottom << part.shift_y, args.height)};
}

/// The block's tile. To be called by all threads, and complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void find_tile(const RegionArgs& args, RegionTile& tile) {
  const int block = static_cast<int>(blockIdx.x), id = static_cast<int>(threadIdx.x);
  int index = 0;
  if (args.list) {
    index = -1;
    for (int first = 0; first < args.layers; first += region_threads) {
      const int l = first + id;
      index += __syncthreads_count(l < args.layers && args.list[l].first_tile <= block);
    }
  } else {
#pragma unroll
    for (int l = 1; l < few_layers; ++l) index += l < args.layers && args.first_tile[l] <= block ? 1 : 0;
  }
  static_assert(sizeof(RegionLayer) % 4 == 0 && sizeof(RegionLayer) / 4 <= region_threads - 32);
  if (id < static_cast<int>(sizeof(RegionLayer) / 4)) {
    // The parameters are read where they lie, in constant memory, and not by an address that could be of either.
    auto* to = reinterpret_cast<std::uint32_t*>(&tile.layer);
    if (args.list)
      to[id] = reinterpret_cast<const std::uint32_t*>(&args.list[index])[id];
    else
      to[id] = reinterpret_cast<const std::uint32_t*>(&args.few[index])[id];
  } else if (id == region_threads - 1) {
    tile.index = index;
    if (args.list)
      place_tile<Sample>(args, args.list[index], block - args.list[index].first_tile, tile);
    else
      place_tile<Sample>(args, args.few[index], block - args.few[index].first_tile, tile);
  }
}

/// Lists the other layers that reach into the tile; `others.count` is 0 before. To be called by all threads; complete
/// after the next barrier.
__device__ __forceinline__ void find_others(const RegionArgs& args, const RegionTile& tile, OtherLayers& others) {
  const PixelRect& own = tile.layer.window;
  // Other layers may have other pixels of the same samples.
  constexpr int step = 16;
  const PixelRect pixels{max(tile.pixels.left, own.left & -step), max(tile.pixels.top, own.top & -step),
                         min(tile.pixels.right, (own.right + step - 1) & -step),
                         min(tile.pixels.bottom, (own.bottom + step - 1) & -step)};
  for (int l = static_cast<int>(threadIdx.x); l < args.layers; l += region_threads) {
    if (l == tile.index) continue;
    const PixelRect window = args.list ? args.list[l].window : args.few[l].window;
    if (window.left >= pixels.right || window.right <= pixels.left || window.top >= pixels.bottom ||
        window.bottom <= pixels.top)
      continue;
    const int at = atomicAdd(&others.count, 1);
    if (at < max_listed) others.listed[at] = l;
  }
}

// --- Weights ---------------------------------------------------------------------------------------------------------

/// 256 * (feather + 1 - distance) / (feather + 1), to nearest, ties to even. The quotient of numbers this small is
/// rounded so little that a tie stays one and nothing else becomes one.
__device__ __forceinline__ int weight_at(int distance, int feather) {
  if (distance > feather) return 0;
  if (distance == 0) return 256;
  return __float2int_rn(__fdiv_rn(256.f * static_cast<float>(feather + 1 - distance), static_cast<float>(feather + 1)));
}

/// An ellipse, as its weights are found by.
struct SpanShape {
  const RowSpan* spans;  ///< that of row 0 of the frame, were it there
  int top, bottom, middle, feather;
};

/// Whether one of the pixels lies within this distance of the ellipse. Of the rows near enough, the one nearest to the
/// middle is the widest.
__device__ __forceinline__ bool within(const SpanShape& shape, const PixelRect& pixels, int distance) {
  for (int row = pixels.top; row < pixels.bottom; ++row) {
    const int top = max(row - distance, shape.top), bottom = min(row + distance, shape.bottom - 1);
    if (top > bottom) continue;
    const RowSpan span = shape.spans[min(max(shape.middle, top), bottom)];
    if (span.begin < span.end && span.begin - distance < pixels.right && span.end + distance > pixels.left) return true;
  }
  return false;
}

static __device__ __noinline__ int spans_weight(SpanShape shape, PixelRect pixels) {
  if (within(shape, pixels, 0)) return 256;
  if (shape.feather == 0 || !within(shape, pixels, shape.feather)) return 0;
  int outside = 0, inside = shape.feather;
  while (inside - outside > 1) {
    const int half = (inside + outside) / 2;
    if (within(shape, pixels, half))
      inside = half;
    else
      outside = half;
  }
  return weight_at(inside, shape.feather);
}

/// `map`: the weights of the window's pixels, row by row.
static __device__ __noinline__ int map_weight(const std::uint16_t* map, PixelRect window, PixelRect pixels) {
  const std::ptrdiff_t width = window.right - window.left;
  int weight = 0;
  for (int y = max(pixels.top, window.top); y < min(pixels.bottom, window.bottom); ++y)
    for (int x = max(pixels.left, window.left); x < min(pixels.right, window.right); ++x)
      weight = max(weight, static_cast<int>(map[(y - window.top) * width + (x - window.left)]));
  return weight;
}

/// The weight of a sample in a layer: the largest of those of the pixels that it covers.
__device__ __forceinline__ int weight_of(const RegionArgs& args, const RegionLayer& layer, const PixelRect& pixels) {
  if (layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle)) {
    const int across = max(layer.box.left - (pixels.right - 1), pixels.left - (layer.box.right - 1));
    const int down = max(layer.box.top - (pixels.bottom - 1), pixels.top - (layer.box.bottom - 1));
    return weight_at(max(max(across, down), 0), args.feather);
  }
  if (layer.kind == static_cast<std::uint8_t>(LayerKind::spans)) {
    const RowSpan* spans = args.spans + layer.at - layer.first_row;
    return spans_weight({spans, layer.box.top, layer.box.bottom, layer.middle, args.feather}, pixels);
  }
  return map_weight(args.map + layer.at, layer.window, pixels);
}

/// The layer's weight at a sample, or 0 where another layer has it: that of the largest weight, and the first of equal
/// ones.
static __device__ __noinline__ int weight_won(const RegionArgs& args, const RegionTile& tile, const OtherLayers& others,
                                              PixelRect pixels) {
  const int weight = weight_of(args, tile.layer, pixels);
  if (weight == 0) return 0;
  const bool listed = others.count <= max_listed;
#pragma unroll 1
  for (int i = 0; i < (listed ? others.count : args.layers); ++i) {
    const int l = listed ? others.listed[i] : i;
    if (l == tile.index || (l > tile.index && weight == 256)) continue;
    const int other = args.list ? weight_of(args, args.list[l], pixels) : weight_of(args, args.few[l], pixels);
    if (other > weight || (other == weight && l < tile.index)) return 0;
  }
  return weight;
}

// --- Lines -----------------------------------------------------------------------------------------------------------

/// A column or a row of samples of a tile, or one of its first and last pixels.
struct alignas(16) Line {
  int pixel, end;     ///< columns: the pixels that it covers; where no sample is to be treated, none: INT_MAX and -1
  int first, second;  ///< what the kernel has of the line's cells
};

template <class Sample>
inline constexpr int tile_columns = tile_bytes / static_cast<int>(sizeof(Sample));

/// A tile's columns, then its rows, then its first and last column and row of pixels.
template <class Sample>
struct Lines {
  static constexpr int rows = tile_columns<Sample>, ends = rows + max_tile_rows, count = ends + 4;
  Line of[count];
  RowSpan core[max_tile_rows];  ///< of rows: the pixels of the layer's rectangle or ellipse

  __device__ const Line& row(int y) const { return of[rows + y]; }
  /// The first cell that the tile sees, and their number, of columns (0) or rows (1).
  __device__ int first_cell(int axis) const { return of[ends + 2 * axis].first; }
  __device__ int cells(int axis) const { return of[ends + 2 * axis + 1].second - first_cell(axis) + 1; }
};

/// The pixels that the rectangle or ellipse of a layer holds in the rows of pixels that a row of samples covers.
__device__ __forceinline__ RowSpan core_of(const RegionArgs& args, const RegionLayer& layer, int top, int bottom) {
  RowSpan core{0, 0};
  top = max(top, layer.box.top);
  bottom = min(bottom, layer.box.bottom);
  if (layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle)) {
    if (top < bottom) core = {layer.box.left, layer.box.right};
  } else if (layer.kind == static_cast<std::uint8_t>(LayerKind::spans) && top < bottom) {
    // The row nearest to the middle is the widest.
    const RowSpan span =
        args.spans[layer.at + static_cast<std::uint64_t>(min(max(layer.middle, top), bottom - 1) - layer.first_row)];
    if (span.begin < span.end) core = span;
  }
  return core;
}

/// Fills the lines but for their cells, and calls cells(axis of the layer's cells, pixel, line's number, component)
/// for that, a line a thread. To be
/// called by all threads; complete after the next barrier.
template <class Int, class Sample, class Cells>
__device__ __forceinline__ void set_lines(const RegionArgs& args, const RegionTile& tile, Lines<Sample>& lines,
                                          Cells&& cells) {
  using All = Lines<Sample>;
  const RegionPart& part = args.part[tile.part];
  static_assert(All::count <= region_threads);
  if (const int i = static_cast<int>(threadIdx.x); i < All::count) {
    Line& line = lines.of[i];
    int pixel, component = 0;
    bool is_row = i >= All::rows;
    if (!is_row) {
      const int period = quotient(tile.x + i, part.by_period), number = tile.x + i - period * part.period;
      const RegionSlot& slot = part.slot[number];
      pixel = (period << part.period_shift) + slot.pixel;
      const bool there = pixel < args.width && slot.component != no_component;
      line.pixel = there ? pixel : INT_MAX;
      line.end = there ? min(pixel + (1 << slot.shift_x), args.width) : -1;
      component = slot.component;
      pixel = min(pixel, args.width - 1);
    } else if (i < All::ends) {
      const int y = tile.y + i - All::rows;
      pixel = y << part.shift_y;
      RowSpan core{0, 0};
      if (y < tile.bottom) core = core_of(args, tile.layer, pixel, min(pixel + (1 << part.shift_y), args.height));
      lines.core[i - All::rows] = core;
      pixel = min(pixel, tile.pixels.bottom - 1);
    } else {
      const int end = i - All::ends;
      is_row = end >= 2;
      pixel = end == 0   ? tile.pixels.left
              : end == 1 ? tile.pixels.right - 1
              : end == 2 ? tile.pixels.top
                         : tile.pixels.bottom - 1;
    }
    cells(BasicCellAxis<Int>(is_row ? tile.layer.y : tile.layer.x), pixel, i, component);
  }
}

// --- Samples ---------------------------------------------------------------------------------------------------------

template <class Sample>
inline constexpr int word_samples = 4 / static_cast<int>(sizeof(Sample));
template <class Sample>
inline constexpr int sample_bits = 8 * static_cast<int>(sizeof(Sample));

/// The samples of a lane's word, in every row of the tile. Bits count samples.
template <class Sample>
struct Word {
  static constexpr int n = word_samples<Sample>;
  int at;  ///< the first, in a row
  Line line[n];
  unsigned there;  ///< those to be treated
  bool in_row;     ///< the row has all of them

  __device__ Word(const RegionArgs& args, const RegionTile& tile, const Lines<Sample>& lines) {
    const int column = static_cast<int>(threadIdx.x) % 32 * n;
    at = tile.x + column;
    in_row = at + n <= args.part[tile.part].samples;
    there = 0;
#pragma unroll
    for (int j = 0; j < n; ++j) {
      line[j] = lines.of[column + j];
      there |= (line[j].end >= 0 ? 1u : 0u) << j;
    }
  }
  /// Those that cover a pixel of a span.
  __device__ unsigned within(const RowSpan& span) const {
    unsigned held = 0;
#pragma unroll
    for (int j = 0; j < n; ++j) held |= (line[j].pixel < span.end && line[j].end > span.begin ? 1u : 0u) << j;
    return held;
  }
};

/// The pixels that the tile's sample of a column covers in row `y` of the plane.
template <class Sample>
__device__ __forceinline__ PixelRect covered_by(const RegionArgs& args, const RegionTile& tile,
                                                const Lines<Sample>& lines, int column, int y) {
  const RegionPart& part = args.part[tile.part];
  const Line& line = lines.of[column];
  return {line.pixel, y << part.shift_y, line.end, min((y + 1) << part.shift_y, args.height)};
}

/// A word with all bits of the samples set that `held` has bits of.
template <class Sample>
__device__ __forceinline__ unsigned mask_of(unsigned held) {
  if (sizeof(Sample) == 1) return ((held * 0x00204081u) & 0x01010101u) * 0xffu;
  return ((held | held << 15) & 0x00010001u) * 0xffffu;
}

/// The samples that `held` has bits of, as they lie in memory; the others are 0.
template <class Sample>
__device__ __forceinline__ unsigned load_samples(const Sample* from, unsigned held, bool whole) {
  if (whole) return *reinterpret_cast<const unsigned*>(from) & mask_of<Sample>(held);
  unsigned word = 0;
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j)
    if (held >> j & 1) word |= static_cast<unsigned>(from[j]) << j * sample_bits<Sample>;
  return word;
}

template <class Sample>
__device__ __forceinline__ Sample* row_of(const PlaneView& plane, int y) {
  return reinterpret_cast<Sample*>(static_cast<char*>(plane.data) + y * plane.stride);
}

__device__ __forceinline__ bool in_words(const PlaneView& plane) {
  return ((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(plane.data)) | static_cast<unsigned>(plane.stride)) &
          3) == 0;
}

#endif

}  // namespace convolve::cuda
