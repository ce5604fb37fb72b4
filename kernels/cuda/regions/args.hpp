// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of regions are told: the frame, and a list of layers.
//
// A layer is one region, or everything outside of all (regions/weights.hpp). Its window is cut into tiles of pixels,
// and a tile is a block: blocks are numbered through all layers of one launch, and a block treats its tile in every
// plane. A few layers ride in the kernel's parameters; longer lists, the spans of ellipses and the weights of masks lie
// in device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "convolve/region.hpp"
#include "regions/cell_grid.hpp"

namespace convolve::cuda {

/// The pixels begin <= x < end that a row of an ellipse holds.
struct RowSpan {
  int begin, end;
};

enum class LayerKind : std::uint8_t { rectangle, spans, map };

/// Coordinates beyond +-2^29 are drawn in to there: no frame reaches so far.
struct RegionLayer {
  CellAxis x, y;        ///< the grid of cells
  PixelRect box;        ///< the region; LayerKind::map: unused
  PixelRect window;     ///< the part of the frame where its weights may be more than 0
  int middle;           ///< LayerKind::spans: the region's widest row
  int first_row;        ///< likewise: the row of its first span
  std::uint64_t at;     ///< of its first span, or of its window's first pixel in the map
  std::uint64_t sums;   ///< of its first cell, in words
  int first_tile;       ///< the number of its first block
  std::uint8_t kind;    ///< a LayerKind
  std::uint8_t tile_x;  ///< a tile has 1 << tile_x columns of pixels
  std::uint8_t tile_y;  ///< and 1 << tile_y rows
};

/// Components that lie side by side. Sample (x, y) of component c lies offset + (x * components + c) * stride samples
/// after the start of row y, and covers 1 << shift_x by 1 << shift_y pixels.
struct RegionPart {
  std::uint8_t plane, offset, stride, components;
  std::uint8_t shift_x, shift_y;
  std::uint8_t treated;          ///< bit c: component c is
  std::uint8_t first_component;  ///< counted through all parts
  std::uint8_t first_word;       ///< of a cell's words: this part's sums, then the number of samples
  int width, height;             ///< samples
  std::uint16_t fill[max_components];
};

inline constexpr int max_region_parts = 4;       ///< as many as planes
inline constexpr int max_region_components = 4;  ///< of all parts
inline constexpr int max_cell_words = max_region_components + max_region_parts;
inline constexpr int few_layers = 20;  ///< so many ride in the kernel's parameters

using RegionWord = unsigned long long;  ///< a sum of samples, or their number

struct RegionArgs {
  PlaneView frame[max_planes], filtered[max_planes];
  RegionPart part[max_region_parts];
  int parts, components, words;  ///< components and words of a cell: of all parts
  int layers;
  int width, height;  ///< of the frame
  int shift, feather;
  RegionEffect effect;
  const RegionLayer* list;   ///< null: they are in `few`
  const RowSpan* spans;      ///< of ellipses
  const std::uint16_t* map;  ///< weights
  RegionWord* sums;          ///< of this frame
  RegionWord* stale;         ///< of the frame before, to be cleared
  std::uint64_t stale_words;
  RegionLayer few[few_layers];
};
static_assert(sizeof(RegionArgs) <= 4096);

/// The tiles' sizes. Tiles begin at multiples of so many pixels, so that no sample lies in two.
inline constexpr int tile_left_step = 32, tile_top_step = 4;
inline constexpr int max_tile_width = 64, max_tile_height = 32;
/// The most cells that a tile sees, those next to its own included. Layers of small cells have small tiles.
inline constexpr int max_tile_cells = 324;
inline constexpr int region_threads = 256;
inline constexpr int max_thread_rows = max_tile_width * max_tile_height / region_threads;

/// Both run one block a tile on a stream, by programmatic dependent launch where the GPU has that.
/// Adds each tile's samples to the sums of the cells that they lie in.
void launch_means(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept;
/// Blends the effect into the frame, and clears `stale`.
void launch_effect(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept;

}  // namespace convolve::cuda
