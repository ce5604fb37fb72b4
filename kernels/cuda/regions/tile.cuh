// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A block's tile: which layer it belongs to, which samples a thread has in it, and the weights of samples.
#pragma once

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
  int index;       ///< of the layer
  PixelRect rect;  ///< pixels; may reach beyond the layer's window
};

/// The block's tile. To be called by all threads, and complete after the next barrier.
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
    while (index + 1 < args.layers && args.few[index + 1].first_tile <= block) ++index;
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
    const auto place = [&](const RegionLayer& layer) {
      const PixelRect window = layer.window;
      const int left = window.left & -tile_left_step, top = window.top & -tile_top_step;
      const unsigned columns = static_cast<unsigned>(window.right - left + (1 << layer.tile_x) - 1) >> layer.tile_x;
      const unsigned number = static_cast<unsigned>(block - layer.first_tile), row = number / columns;
      tile.rect.left = left + static_cast<int>((number - row * columns) << layer.tile_x);
      tile.rect.top = top + static_cast<int>(row << layer.tile_y);
      tile.rect.right = tile.rect.left + (1 << layer.tile_x);
      tile.rect.bottom = tile.rect.top + (1 << layer.tile_y);
    };
    tile.index = index;
    if (args.list)
      place(args.list[index]);
    else
      place(args.few[index]);
  }
}

/// Lists the other layers that reach into the tile; `others.count` is 0 before. To be called by all threads; complete
/// after the next barrier.
__device__ __forceinline__ void find_others(const RegionArgs& args, const RegionTile& tile, OtherLayers& others) {
  for (int l = static_cast<int>(threadIdx.x); l < args.layers; l += region_threads) {
    if (l == tile.index) continue;
    const PixelRect window = args.list ? args.list[l].window : args.few[l].window;
    if (window.left >= tile.rect.right || window.right <= tile.rect.left || window.top >= tile.rect.bottom ||
        window.bottom <= tile.rect.top)
      continue;
    const int at = atomicAdd(&others.count, 1);
    if (at < max_listed) others.listed[at] = l;
  }
}

// --- Samples ---------------------------------------------------------------------------------------------------------

/// A thread's samples of a part: `rows` neighbours in a column.
struct ThreadSamples {
  int x, y;  ///< of the first
  int rows;  ///< at most max_thread_rows; the same for all threads of a block
  int last;  ///< row, of the tile in the frame; samples beyond it are none
  bool any;  ///< the column lies in the frame

  __device__ bool holds(int k) const { return any && k < rows && y + k < last; }
  /// Bit k: this holds row y + k, and first <= y + k < end.
  __device__ unsigned rows_between(int first, int end) const {
    const int from = max(first - y, 0), to = min(min(end, last) - y, rows);
    return any && from < to ? (1u << to) - (1u << from) : 0;
  }
};

__device__ __forceinline__ ThreadSamples samples_of(const RegionTile& tile, const RegionPart& part) {
  const int shift = max(tile.layer.tile_x - part.shift_x, 0), id = static_cast<int>(threadIdx.x);
  const int columns = 1 << shift, rows = (1 << tile.layer.tile_y) >> part.shift_y;
  ThreadSamples s;
  s.rows = max(rows * columns / region_threads, 1);
  s.x = (tile.rect.left >> part.shift_x) + (id & (columns - 1));
  s.y = (tile.rect.top >> part.shift_y) + (id >> shift) * s.rows;
  s.last = min((tile.rect.top >> part.shift_y) + rows, part.height);
  s.any = s.x < part.width;
  return s;
}

/// Where a part's component c of sample (x, y) lies.
template <class Sample>
__device__ __forceinline__ Sample* sample_of(const PlaneView& plane, const RegionPart& part, int c, int x, int y) {
  return reinterpret_cast<Sample*>(static_cast<char*>(plane.data) + y * plane.stride) + part.offset +
         (static_cast<std::ptrdiff_t>(x) * part.components + c) * part.stride;
}

// --- Weights ---------------------------------------------------------------------------------------------------------

/// 256 * (feather + 1 - distance) / (feather + 1), to nearest, ties to even. The quotient of numbers this small is
/// rounded so little that a tie stays one and nothing else becomes one.
__device__ __forceinline__ int weight_at(int distance, int feather) {
  if (distance > feather) return 0;
  if (distance == 0) return 256;
  return __float2int_rn(__fdiv_rn(256.f * static_cast<float>(feather + 1 - distance), static_cast<float>(feather + 1)));
}

/// The pixels that a sample covers.
__device__ __forceinline__ PixelRect covered_by(const RegionArgs& args, const RegionPart& part, int x, int y) {
  return {x << part.shift_x, y << part.shift_y, min((x + 1) << part.shift_x, args.width),
          min((y + 1) << part.shift_y, args.height)};
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

/// Of overlapping layers the one of the largest weight counts, of equal ones the first: 0 where another has the sample.
__device__ __forceinline__ int weight_won(const RegionArgs& args, const RegionTile& tile, const OtherLayers& others,
                                          const PixelRect& pixels) {
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

/// Of a thread's samples those in a rectangle, as bits.
__device__ __forceinline__ unsigned rows_in_box(const PixelRect& box, const RegionPart& part, const ThreadSamples& s) {
  const int left = box.left >> part.shift_x, right = (box.right - 1) >> part.shift_x;
  const int top = box.top >> part.shift_y, bottom = (box.bottom - 1) >> part.shift_y;
  return s.x >= left && s.x <= right ? s.rows_between(top, bottom + 1) : 0;
}

// --- Cells -----------------------------------------------------------------------------------------------------------

inline constexpr int tile_lines = max_tile_width + max_tile_height;

/// The cells of a layer that a tile sees: `columns` by `rows` of them, from (x, y) on.
struct TileCells {
  int x, y, columns, rows;

  __device__ int count() const { return columns * rows; }
};

/// Calls use(axis of the layer's cells, pixel, line) for the tile's columns, then for its rows, one of them a thread:
/// lines 0 .. max_tile_width - 1 are columns, those from there on rows. Only lines in the frame.
template <class Use>
__device__ __forceinline__ void for_each_line(const RegionArgs& args, const RegionTile& tile, Use&& use) {
  const int id = static_cast<int>(threadIdx.x);
  const bool is_row = id >= max_tile_width;
  const int pixel = is_row ? tile.rect.top + id - max_tile_width : tile.rect.left + id;
  const int end = is_row ? min(tile.rect.bottom, args.height) : min(tile.rect.right, args.width);
  if (id < tile_lines && pixel < end) use(is_row ? tile.layer.y : tile.layer.x, pixel, id);
}

#endif

}  // namespace convolve::cuda
