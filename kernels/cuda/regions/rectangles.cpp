// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/regions/rectangles.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace convolve::cuda {
namespace {

constexpr int max_item_blocks = 1 << 16;          // the kernels divide their numbers in single precision
constexpr int usual_rows = 32;                    ///< of a tile
constexpr int multiprocessors = 132;              ///< of an H100
constexpr int wave_blocks = 6 * multiprocessors;  ///< of a launch, as many as it holds at once
constexpr int even_blocks = 4 * multiprocessors;  ///< of a launch that idle blocks fill up
constexpr int few_tiles = 256;                    ///< of 16 rows
constexpr int few_blocks = 3 * multiprocessors;   ///< of the filter's output
constexpr int smallest_cell = 8;                  ///< pixels: of smaller ones, most lanes of a cell's warps would idle

/// A number of blocks, and idle ones up to as many for each multiprocessor.
std::int64_t filled(std::int64_t blocks) {
  return (blocks + multiprocessors - 1) / multiprocessors * multiprocessors;
}

/// Whether sums take about a block a multiprocessor, so that idle ones can fill those up.
bool fills_once(int means_blocks) {
  return means_blocks > multiprocessors / 2 && means_blocks <= multiprocessors;
}

void set_factor(RectangleAxis& axis, int which, std::int64_t distance) {
  // `distance` << shift is at least 2^31, so that the quotient fits 32 bits but for that of a power of two.
  const int shift = std::countl_zero(static_cast<std::uint32_t>(distance));
  axis.shift[which] = static_cast<std::uint8_t>(shift);
  axis.factor[which] = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((std::uint64_t{1} << (63 - shift)) / static_cast<std::uint64_t>(distance), 0xffffffff));
}

RectangleAxis make_axis(const CellAxis& cells, int begin, int end) {
  RectangleAxis axis{};
  axis.begin = begin;
  axis.end = end;
  axis.size = static_cast<int>(cells.size());
  axis.first = static_cast<std::uint8_t>(cells.first());
  axis.count = static_cast<std::uint8_t>(cells.count());
  axis.by_size = 1 / static_cast<float>(axis.size);
  axis.by_count = 1 / static_cast<float>(axis.count);
  set_factor(axis, 0, 2 * cells.size());
  const int last = cells.count() - 1;
  set_factor(axis, 1, last > 0 ? cells.centre(last) - cells.centre(last - 1) : 2 * cells.size());
  return axis;
}

/// The samples of a plane's component in a cell, along one axis.
int samples_in_cell(const CellAxis& axis, int cell, int begin, int end, int shift, int pixels) {
  const int samples = ((pixels - 1) >> shift) + 1;
  return std::min(axis.first_sample(cell + 1, 1 << shift, samples), ((end - 1) >> shift) + 1) -
         std::max(axis.first_sample(cell, 1 << shift, samples), begin >> shift);
}

/// Whether each cell has a sample of each component: those at the ends may have none.
bool all_have_samples(const RegionArgs& args, const RegionPart& part, const RegionLayer& layer) {
  constexpr int most = 3;  // log2 of the pixels that a sample covers: within the smallest cell
  if (part.shift_y > most || part.period_shift > most + 1) return false;
  for (const int last : {0, 1})
    for (int c = 0; c < part.components; ++c)
      if (samples_in_cell(layer.x, last ? layer.x.count() - 1 : 0, layer.box.left, layer.box.right,
                          part.slot[part.slot_of[c]].shift_x, args.width) <= 0 ||
          samples_in_cell(layer.y, last ? layer.y.count() - 1 : 0, layer.box.top, layer.box.bottom, part.shift_y,
                          args.height) <= 0)
        return false;
  return true;
}

/// How many warps share a cell of a plane: enough for the largest, wherever it begins.
std::int64_t cell_warps(const RegionPart& part, const RegionLayer& layer, int bytes) {
  const auto within = [](std::int64_t size, int window) {
    return static_cast<int>(std::min<std::int64_t>(size, window));
  };
  const int across = within(layer.x.size(), layer.window.right - layer.window.left);
  const int down = within(layer.y.size(), layer.window.bottom - layer.window.top);
  const int samples = ((across >> part.period_shift) + 2) * part.period, rows = (down >> part.shift_y) + 1;
  const std::int64_t vectors = (samples * bytes - 2) / vector_bytes + 2,
                     groups = (rows + vector_rows - 1) / vector_rows;
  return (vectors * groups + 31) / 32;
}

/// The most means that a tile of so many rows of a plane sees.
int tile_means(const RegionPart& part, const RegionLayer& layer, int bytes, int rows) {
  const int across = (tile_bytes / bytes / part.period + 1) << part.period_shift;
  const int down = rows << part.shift_y;
  const auto seen = [](int pixels, const CellAxis& axis) {
    return static_cast<int>(std::min<std::int64_t>(pixels / axis.size() + 3, axis.count()));
  };
  return seen(across, layer.x) * seen(down, layer.y) * part.components;
}

/// Whether no sample is two layers'. What comes out is right only then.
bool apart(const RegionArgs& args, std::span<const RegionLayer> layers) {
  if (!hides_by_means(args.effect)) return true;  // what is written twice is the same
  int across = 1, down = 1;
  for (int p = 0; p < args.parts; ++p) {
    across = std::max(across, 1 << args.part[p].period_shift);
    down = std::max(down, 1 << args.part[p].shift_y);
  }
  // Whether a sample of one window may cover a pixel of the other.
  const auto share = [](int begin, int end, int other_begin, int other_end, int step) {
    return (begin & -step) < ((other_end + step - 1) & -step) && (other_begin & -step) < ((end + step - 1) & -step);
  };
  for (std::size_t i = 1; i < layers.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const PixelRect &a = layers[i].window, &b = layers[k].window;
      if (share(a.left, a.right, b.left, b.right, across) && share(a.top, a.bottom, b.top, b.bottom, down))
        return false;
    }
  return true;
}

// Whether the kernels of rectangles treat an effect. One that is new is to be told here.
bool treats(RegionEffect effect) {
  switch (effect) {
    case RegionEffect::filter:
    case RegionEffect::blur:
    case RegionEffect::pixelate:
    case RegionEffect::fill:
      return true;
  }
  return false;
}

}  // namespace

bool RectangleList::set(const RegionArgs& args, std::span<const RegionLayer> layers, int bytes, int capability) {
  if (!treats(args.effect) || args.feather > 0 || args.wide) return false;
  if (bytes == 1 && args.shift != 0 && hides_by_means(args.effect)) return false;  // no layout has such bytes
  if (layers.size() * static_cast<std::size_t>(args.parts) > max_items) return false;
  for (const RegionLayer& layer : layers)
    if (layer.kind != static_cast<std::uint8_t>(LayerKind::rectangle)) return false;
  if (!apart(args, layers)) return false;
  std::copy(std::begin(args.part), std::end(args.part), args_.part);
  args_.width = args.width;
  args_.height = args.height;
  args_.shift = args.shift;
  args_.effect = args.effect;
  for (int* first : {args_.first_tile, args_.first_means})
    std::fill(first, first + max_items, std::numeric_limits<int>::max());
  items_ = tiles_ = sums_ = args_.means_blocks = 0;
  for (const RegionLayer& layer : layers)
    for (int p = 0; p < args.parts; ++p)
      if (!add(args, layer, p, bytes)) return false;
  if (!place_tiles(bytes, rows_of_tiles(args, layers, bytes, capability), capability)) return false;
  args_.sum_words = sums_ <= max_lines ? line_words : 1;
  return true;
}

// An item of a layer and a part. False where other kernels are to treat it.
bool RectangleList::add(const RegionArgs& args, const RegionLayer& layer, int index, int bytes) {
  const RegionPart& part = args.part[index];
  const SampleRect samples = samples_in(part, layer.window, bytes);
  RectangleItem item{};
  item.left = samples.left;
  item.top = samples.top;
  item.right = samples.right;
  item.bottom = samples.bottom;
  item.by_columns = 1 / static_cast<float>(samples.columns(bytes));
  item.part = index;
  item.x.begin = layer.box.left, item.x.end = layer.box.right;
  item.y.begin = layer.box.top, item.y.end = layer.box.bottom;
  std::int64_t blocks = 0;
  if (hides_by_means(args.effect)) {
    if (layer.x.size() < smallest_cell || tile_means(part, layer, bytes, usual_rows) > max_rectangle_means ||
        !all_have_samples(args, part, layer))
      return false;
    item.x = make_axis(layer.x, layer.box.left, layer.box.right);
    item.y = make_axis(layer.y, layer.box.top, layer.box.bottom);
    const std::int64_t warps = cell_warps(part, layer, bytes);
    // Numbers of vectors are divided in single precision, which is exact below 2^20.
    if (32 * warps >= 1 << 20) return false;
    const int cells = layer.x.count() * layer.y.count();
    blocks = (warps * cells + rectangle_warps - 1) / rectangle_warps;
    item.warps = static_cast<int>(warps);
    item.by_warps = 1 / static_cast<float>(warps);
    item.first_sum = sums_;
    sums_ += cells * part.components;
  }
  if (blocks >= max_item_blocks) return false;
  args_.item[items_] = item;
  args_.first_means[items_] = args_.means_blocks;
  ++items_;
  args_.means_blocks += static_cast<int>(blocks);
  return true;
}

std::int64_t RectangleList::tiles_of(int item, int bytes, int rows) const {
  const RectangleItem& of = args_.item[item];
  const SampleRect samples{of.left, of.top, of.right, of.bottom};
  return std::int64_t{samples.columns(bytes)} * ((of.bottom - of.top + rows - 1) / rows);
}

// The rows of a tile. Low tiles are done sooner, high ones find out less often what they see; the blocks of a launch
// are best in one wave, and a few launches of small ones at once. Other capabilities were not measured.
int RectangleList::rows_of_tiles(const RegionArgs& args, std::span<const RegionLayer> layers, int bytes,
                                 int capability) const {
  if (!hides_by_means(args.effect) || capability != 90) return usual_rows;
  const auto tiles = [&](int rows) {
    std::int64_t all = 0;
    for (int i = 0; i < items_; ++i) all += tiles_of(i, bytes, rows);
    return all;
  };
  const auto served = [&](int rows) {
    for (const RegionLayer& layer : layers)
      for (int p = 0; p < args.parts; ++p)
        if (tile_means(args.part[p], layer, bytes, rows) > max_rectangle_means) return false;
    return true;
  };
  if (tiles(16) <= few_tiles) return 16;
  // If sums and tiles can each fill a number of blocks a multiprocessor, nearly.
  if (fills_once(args_.means_blocks))
    for (const int rows : {24, 32, 40, 48, max_rectangle_rows})
      if (served(rows) && filled(tiles(rows)) <= even_blocks - multiprocessors &&
          5 * tiles(rows) >= 4 * filled(tiles(rows)))
        return rows;
  int rows = usual_rows;
  for (const int more : {24, 32, 40, 48, max_rectangle_rows})
    if (more <= rows || served(more)) {
      rows = more;
      if (args_.means_blocks + tiles(more) <= wave_blocks) break;
    }
  return rows;
}

// Numbers the tiles of all items. False where other kernels are to treat them.
bool RectangleList::place_tiles(int bytes, int rows, int capability) {
  args_.tile_rows = rows;
  for (int i = 0; i < items_; ++i) {
    const std::int64_t tiles = tiles_of(i, bytes, rows);
    if (tiles >= max_item_blocks) return false;
    args_.first_tile[i] = tiles_;
    tiles_ += static_cast<int>(tiles);
  }
  args_.tile_blocks = args_.means_blocks;
  args_.launched = args_.blocks = args_.means_blocks + tiles_;
  if (hides_by_means(args_.effect) && capability == 90) {
    const bool evenly = fills_once(args_.means_blocks) && filled(args_.means_blocks) + filled(tiles_) <= even_blocks;
    if (evenly) args_.tile_blocks = static_cast<int>(filled(args_.means_blocks));
    args_.blocks = args_.tile_blocks + tiles_;
    args_.launched = args_.blocks <= even_blocks ? static_cast<int>(filled(args_.blocks)) : args_.blocks;
  }
  args_.search = static_cast<int>(std::bit_ceil(static_cast<unsigned>(items_))) / 2;
  args_.writes_alone = args_.effect == RegionEffect::filter && args_.blocks > few_blocks && capability == 90;
  return true;
}

}  // namespace convolve::cuda
