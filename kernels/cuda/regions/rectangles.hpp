// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Rectangles without a feather, which are what detectors find most. Where the effect is made of means, none of them may
// have a sample of another; a colour or the filter's output may be written twice. No sample has to be weighed then, and
// the effect reads none of the samples that it replaces: a kernel of its own treats such lists (rectangles.cu). The
// kernels that serve every list (means.cu, effect.cu) take longer to find out what each sample is than memory takes.
//
// The host makes an item of each rectangle and plane. Every effect takes one launch. Where it is made of means, blocks
// are numbered through the items twice: those that add to the sums of cells, then those that write tiles.
//
//     block   0 ... means_blocks - 1              means_blocks ...
//             add samples to sums of cells  ──>   wait for the sums of the cells that the tile sees, write the tile
//             rectangle_means.cuh                 rectangle_effect.cuh
//
// Where they can be made to, both kinds fill a whole number of blocks a multiprocessor, by idle blocks behind them. An
// idle block ends about when the others of its kind do, so that the launches that follow find their places in the order
// of their blocks, and each multiprocessor has as much to do of each launch as the others.
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
  int first_sum;                 ///< of its first cell and component
  int part;
};

inline constexpr int max_items = 32;  ///< as many as ride in the kernel's parameters
inline constexpr int rectangle_threads = 128, rectangle_warps = rectangle_threads / 32;
inline constexpr int max_rectangle_rows = 64;             ///< of a tile, of which RectangleArgs says the number
inline constexpr int vector_bytes = 16, vector_rows = 8;  ///< what a lane of rectangle_means.cuh has
inline constexpr int max_rectangle_means = 512;           ///< that a tile sees

/// Sums to which many warps add, and which many blocks look at, lie a line of memory apart: else they queue there. Of
/// many cells each is small, and what counts is how much memory is to be cleared.
inline constexpr int line_words = 16, max_lines = 2048;

struct RectangleArgs {
  PlaneView frame[max_planes], filtered[max_planes];
  RegionPart part[max_region_parts];
  int sum_words;  ///< from one sum to the next
  int width, height, shift;
  RegionEffect effect;
  int tile_rows;
  bool writes_alone;  ///< by the kernel that knows no effect made of means
  int blocks;         ///< up to the last tile; those of a launch behind it are idle
  int launched;       ///< blocks of a launch
  int search;         ///< half of the least power of two that is not less than the number of items
  RegionWord* sums;   ///< of this frame
  RegionWord* stale;  ///< of the frame before, to be cleared
  std::uint64_t stale_words;
  int means_blocks;                                   ///< that add to sums
  int tile_blocks;                                    ///< the first block of a tile; those between are idle
  int first_tile[max_items], first_means[max_items];  ///< blocks; behind the last item, no block's number
  RectangleItem item[max_items];
};
static_assert(sizeof(RectangleArgs) <= 4096);

/// A short list of layers as items.
class RectangleList {
 public:
  /// False where the list is not a short one of such rectangles, or where other kernels serve it better, as for small
  /// cells. `args`: with the parts set; `capability`: the GPU's.
  bool set(const RegionArgs& args, std::span<const RegionLayer> layers, int bytes, int capability);

  RectangleArgs& args() { return args_; }
  /// Of all sums.
  std::uint64_t words() const {
    return static_cast<std::uint64_t>(sums_) * static_cast<std::uint64_t>(args_.sum_words);
  }

 private:
  bool add(const RegionArgs& args, const RegionLayer& layer, int part, int bytes);
  std::int64_t tiles_of(int item, int bytes, int rows) const;
  int rows_of_tiles(const RegionArgs& args, std::span<const RegionLayer> layers, int bytes, int capability) const;
  bool place_tiles(int bytes, int rows, int capability);

  RectangleArgs args_{};
  int items_ = 0, tiles_ = 0, sums_ = 0;
};

/// Writes the effect into the frame, by programmatic dependent launch where the GPU has that. One that is made of means
/// adds the rectangles' samples to the sums of their cells first, and clears `stale`.
void launch_rectangles(int capability, SampleType type, const RectangleArgs& args, void* stream) noexcept;

}  // namespace convolve::cuda
