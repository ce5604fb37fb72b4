// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rectangles without a feather, which are what detectors find most. Where the effect is made of means, none of them may
// have a sample of another; a colour or the filter's output may be written twice. No sample has to be weighed then, and
// the effect reads none of the samples that it replaces: kernels of their own treat such lists (rectangle_means.cu,
// rectangle_effect.cu). The kernels that serve every list (means.cu, effect.cu) take longer to find out what each
// sample is than memory takes.
//
// The host makes an item of each rectangle and plane. Blocks are numbered through the items, in either kernel its own
// way.
#pragma once

#include <span>

#include "cuda/regions/args.hpp"

namespace convolve::cuda {

/// One axis of a grid of cells, in pixels of the frame. Cells are counted from the first that meets the frame.
struct RectangleAxis {
  int begin, end;      ///< the rectangle's
  int size;            ///< of a cell
  std::uint8_t first;  ///< the first cell that meets the frame, counted from the rectangle's first
  std::uint8_t count;  ///< cells that meet the frame
  /// 2^31 * n / distance is mulhi(n << shift, factor), rounded down; of the distance of two whole cells' centres, and
  /// of that of the last two, of which the second may be cut short. n and distance in half pixels, n <= distance.
  std::uint8_t shift[2];
  std::uint32_t factor[2];
  float by_size, by_count;  ///< 1 / size, 1 / count
};

struct RectangleItem {
  RectangleAxis x, y;
  int left, top, right, bottom;  ///< its samples, from a whole sector of memory on, and rows
  float by_columns;              ///< 1 / tiles across
  int warps;                     ///< that share a cell
  float by_warps;                ///< 1 / warps
  std::uint32_t sums;            ///< of its first cell and component, in words
  int part;
};

inline constexpr int max_items = 32;  ///< as many as ride in the kernel's parameters
inline constexpr int rectangle_threads = 128, rectangle_warps = rectangle_threads / 32;
inline constexpr int rectangle_tile_rows = 32;
inline constexpr int vector_bytes = 16, vector_rows = 4;  ///< what a lane of rectangle_means.cu has
inline constexpr int max_rectangle_means = 1024;          ///< that a tile sees

struct RectangleArgs {
  PlaneView frame[max_planes], filtered[max_planes];
  RegionPart part[max_region_parts];
  int words;  ///< of a cell: of all parts
  int width, height, shift;
  RegionEffect effect;
  RegionWord* sums;   ///< of this frame
  RegionWord* stale;  ///< of the frame before, to be cleared
  std::uint64_t stale_words;
  int first_tile[max_items], first_means[max_items];  ///< blocks; behind the last item, no block's number
  RectangleItem item[max_items];
};
static_assert(sizeof(RectangleArgs) <= 4096);

/// A short list of layers as items.
class RectangleList {
 public:
  /// False where the list is not a short one of such rectangles, or where other kernels serve it better, as for small
  /// cells. `args`: with the parts set.
  bool set(const RegionArgs& args, std::span<const RegionLayer> layers, int bytes);

  RectangleArgs& args() { return args_; }
  unsigned tiles() const { return static_cast<unsigned>(tiles_); }
  unsigned means_blocks() const { return static_cast<unsigned>(means_blocks_); }

 private:
  bool add(const RegionArgs& args, const RegionLayer& layer, int part, int bytes);

  RectangleArgs args_{};
  int items_ = 0, tiles_ = 0, means_blocks_ = 0;
};

/// Both run on a stream, by programmatic dependent launch where the GPU has that.
/// Adds the rectangles' samples to the sums of the cells that they lie in.
void launch_rectangle_means(int capability, SampleType type, unsigned blocks, const RectangleArgs& args,
                            void* stream) noexcept;
/// Writes the effect into the frame, and clears `stale`.
void launch_rectangle_effect(int capability, SampleType type, unsigned tiles, const RectangleArgs& args,
                             void* stream) noexcept;

}  // namespace convolve::cuda
