// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the kernels of regions are told: the frame, and a list of layers.
//
// A layer is one region, or everything outside of all (regions/weights.hpp). Its window is cut into tiles, plane by
// plane, and a tile is a block: blocks are numbered through all layers of one launch and, in a layer, through its
// planes. A few layers ride in the kernel's parameters; longer lists, the spans of ellipses and the weights of masks
// lie in device memory.
//
// A row of a plane is a row of samples, and which pixel and component they belong to repeats itself after a period:
//
//      NV12, plane 1   U V | U V | ...        period 2, of 2 pixels
//      RGB             R G B | R G B | ...    period 3, of 1 pixel
//      YUY2            Y U Y V | ...          period 4, of 2 pixels
//
// A sample of a period is a slot (RegionSlot), and a plane of which some component is treated is a part (RegionPart).
// A lane treats the samples of one word of 32 bits, in a few rows.
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
  std::uint8_t tile_y;  ///< a tile has 1 << tile_y rows of samples
};

/// A sample of a period. It covers 1 << shift_x pixels from the period's first one and `pixel` on.
struct RegionSlot {
  std::uint8_t pixel, shift_x;
  std::uint8_t component;  ///< of the plane's treated ones; no_component: the sample stays
  std::uint16_t fill;
};
inline constexpr std::uint8_t no_component = 255;
inline constexpr int max_period = 4;

/// A plane that has treated components, and how its samples lie.
struct RegionPart {
  std::uint8_t plane, period;
  std::uint8_t period_shift;     ///< a period covers 1 << period_shift pixels
  std::uint8_t shift_y;          ///< and a row 1 << shift_y
  std::uint8_t components;       ///< that are treated
  std::uint8_t first_component;  ///< counted through all parts
  std::uint8_t slot_of[max_components];
  RegionSlot slot[max_period];
  int samples, height;  ///< of a row, and rows
  float by_period;      ///< 1 / period
};

inline constexpr int max_region_parts = 4;       ///< as many as planes
inline constexpr int max_region_components = 4;  ///< of all parts
inline constexpr int few_layers = 20;            ///< so many ride in the kernel's parameters

/// A cell has two for each component: the sum of its samples and, but for rectangles, their number.
using RegionWord = unsigned long long;

struct RegionArgs {
  PlaneView frame[max_planes], filtered[max_planes];
  RegionPart part[max_region_parts];
  int parts, words;  ///< words of a cell: of all parts
  int layers;
  int width, height;   ///< of the frame
  int shift, feather;  ///< shift: the unused bits below each sample's value
  RegionEffect effect;
  bool wide;                 ///< 32 bits are not enough for the layers' cells
  const RegionLayer* list;   ///< null: they are in `few`
  const RowSpan* spans;      ///< of ellipses
  const std::uint16_t* map;  ///< weights
  RegionWord* sums;          ///< of this frame
  RegionWord* stale;         ///< of the frame before, to be cleared
  std::uint64_t stale_words;
  int first_tile[few_layers];  ///< of the layers in `few`, together: what all blocks look for first
  RegionLayer few[few_layers];
};
static_assert(sizeof(RegionArgs) <= 4096);

inline constexpr int tile_bytes = 128;  ///< of a row of a tile: a word for each lane of a warp
inline constexpr int region_threads = 256;
inline constexpr int max_tile_rows = 64;
/// The most means that a tile sees, those of cells next to its own included.
inline constexpr int max_tile_means = 2304;

/// The rows of a layer's tiles, as a power of two: low ones where cells are small, and where there are few tiles, so
/// that there are enough blocks. `pixels`: of all layers' windows; `cell`: pixels, 0 where there are no means.
inline int tile_rows_shift(std::int64_t cell, std::int64_t pixels) {
  if (cell > 0 && cell < 4) return 3;
  return pixels < 4'000'000 || (cell > 0 && cell < 8) ? 5 : 6;
}

/// The samples and rows of a plane that lie in a window. They begin at a whole number of sectors of memory.
struct SampleRect {
  int left, top, right, bottom;

  CONVOLVE_HD int columns(int bytes) const { return (right - left + tile_bytes / bytes - 1) / (tile_bytes / bytes); }
  CONVOLVE_HD int rows(int tile_y) const { return (bottom - top + (1 << tile_y) - 1) >> tile_y; }
};

/// `bytes`: of a sample.
CONVOLVE_HD SampleRect samples_in(const RegionPart& part, const PixelRect& window, int bytes) {
  constexpr int sector = 32;
  const int end = (((window.right - 1) >> part.period_shift) + 1) * part.period;
  const int bottom = ((window.bottom - 1) >> part.shift_y) + 1;
  return {(window.left >> part.period_shift) * part.period & -(sector / bytes), window.top >> part.shift_y,
          end < part.samples ? end : part.samples, bottom < part.height ? bottom : part.height};
}

/// Both run one block a tile on a stream, by programmatic dependent launch where the GPU has that.
/// Adds each tile's samples to the sums of the cells that they lie in.
void launch_means(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept;
/// Blends the effect into the frame, and clears `stale`.
void launch_effect(int capability, SampleType type, unsigned tiles, const RegionArgs& args, void* stream) noexcept;

}  // namespace convolve::cuda
