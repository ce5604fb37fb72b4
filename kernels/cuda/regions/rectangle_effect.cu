// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The effect on rectangles, which writes each of their samples and reads none of the frame's. A block has a tile, a
// warp eight of its rows, and a lane a word of each row: colours, the filter's output, or the value between four means
// as in effect.cu. Of that, a lane keeps `upper` and `lower` of its columns for as long as its rows lie between the
// same two rows of cells.
//
// How exact that is: tile_means.cuh. Weights are up to two units of 2^-31 too small here, so that values of 8-bit
// samples may be 5 units of 2^-22 too small, or 3 too large.
#include "cuda/regions/rectangles.cuh"
#include "cuda/regions/tile_means.cuh"

namespace convolve::cuda {
namespace {

constexpr int warp_rows = rectangle_tile_rows / rectangle_warps;
constexpr int value_margin = 8;  ///< units that a value of 8-bit samples may be off by, and more

struct RectangleTile {
  int x, y, bottom;              ///< its first sample and row, and the row behind its last one
  int cell_x, cell_y;            ///< the first cell that it sees
  int columns, components, all;  ///< cells across, means of a cell, and all
};

/// In shared memory. Means: [row of cells][column][component]. Before the sums are there, 1 / the number of samples.
struct RectangleMeans {
  double exact[max_rectangle_means];
  int short_mean[max_rectangle_means];                                ///< of 8-bit samples
  double column_weight[tile_bytes], row_weight[rectangle_tile_rows];  ///< exact ones, of blurred 8-bit samples
};

/// Which of two neighbouring cells' centres a pixel lies between: `along` half pixels from the first one's. The second
/// may be the first, and `along` is then 0.
struct Centres {
  int first, second, along;
};

__device__ __forceinline__ int centre(const RectangleAxis& axis, int cell) {
  const int at = (axis.first + cell) * axis.size;
  return at + min(at + axis.size, axis.end - axis.begin);
}

__device__ __forceinline__ Centres centres_of(const RectangleAxis& axis, int pixel, bool blurred) {
  int first = cell_of(axis, pixel);
  if (!blurred) return {first, first, 0};
  const int middle = 2 * (pixel - axis.begin) + 1;
  if (first > 0 && middle < centre(axis, first)) --first;
  const int second = min(first + 1, axis.count - 1);
  return {first, second, second > first ? max(middle - centre(axis, first), 0) : 0};
}

/// How far on to the second: with 31 fraction bits, or exactly.
__device__ __forceinline__ void set_weight(const RectangleAxis& axis, const Centres& centres, int& weight) {
  const int which = centres.second == axis.count - 1 ? 1 : 0;
  weight = static_cast<int>(__umulhi(static_cast<unsigned>(centres.along) << axis.shift[which], axis.factor[which]));
}
__device__ __forceinline__ void set_weight(const RectangleAxis& axis, const Centres& centres, double& weight) {
  weight = centres.along == 0 ? 0
                              : static_cast<double>(centres.along) /
                                    static_cast<double>(centre(axis, centres.second) - centre(axis, centres.first));
}

template <class Sample>
struct ValueOf {
  using Type = double;
};
template <>
struct ValueOf<std::uint8_t> {
  using Type = int;
};

__device__ __forceinline__ int mean_of(const RectangleMeans& means, int i, int) {
  return means.short_mean[i];
}
__device__ __forceinline__ double mean_of(const RectangleMeans& means, int i, double) {
  return means.exact[i];
}

/// The first pixel of sample `at` of a row, and its slot.
__device__ __forceinline__ int pixel_of(const RegionPart& part, int at, const RegionSlot*& slot) {
  const int period = quotient(at, part.by_period);
  slot = &part.slot[at - period * part.period];
  return (period << part.period_shift) + slot->pixel;
}

/// The tile without its cells.
template <class Sample>
__device__ __forceinline__ RectangleTile find_tile(const RectangleItem& item, const RegionPart& part, int block) {
  constexpr int samples = tile_columns<Sample>;
  const int across = (item.right - item.left + samples - 1) / samples, row = divided(block, item.by_columns);
  RectangleTile tile{};
  tile.x = item.left + (block - row * across) * samples;
  tile.y = item.top + row * rectangle_tile_rows;
  tile.bottom = min(tile.y + rectangle_tile_rows, item.bottom);
  tile.components = part.components;
  return tile;
}

/// The smallest and the largest of a warp's numbers, which are below 2^15.
__device__ __forceinline__ int2 range_of_warp(int low, int high) {
#if __CUDA_ARCH__ >= 800
  return {__reduce_min_sync(~0u, low), __reduce_max_sync(~0u, high)};
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    low = min(low, __shfl_xor_sync(~0u, low, step));
    high = max(high, __shfl_xor_sync(~0u, high, step));
  }
  return {low, high};
#endif
}

/// Calls use(column, row, component) of mean `i`; cells of the item.
template <class Use>
__device__ __forceinline__ void with_mean(const RectangleTile& tile, int i, Use&& use) {
  const int cell = static_cast<int>(static_cast<unsigned>(i) / static_cast<unsigned>(tile.components));
  const int row = static_cast<int>(static_cast<unsigned>(cell) / static_cast<unsigned>(tile.columns));
  use(tile.cell_x + cell - row * tile.columns, tile.cell_y + row, i - cell * tile.components);
}

__device__ __forceinline__ void count_samples(const RectangleArgs& args, const RectangleItem& item,
                                              const RegionPart& part, const RectangleTile& tile,
                                              RectangleMeans& means) {
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads)
    with_mean(tile, i, [&](int x, int y, int component) {
      const SampleRange across = range_of(item.x, x, part.slot[part.slot_of[component]].shift_x, args.width);
      const SampleRange down = range_of(item.y, y, part.shift_y, args.height);
      // Below 2^31 rows and columns, but not their product.
      means.exact[i] =
          1 / (static_cast<double>(across.last - across.first) * static_cast<double>(down.last - down.first));
    });
}

/// Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void load_means(const RectangleArgs& args, const RectangleItem& item,
                                           const RectangleTile& tile, RectangleMeans& means) {
  const bool blurred = args.effect == RegionEffect::blur;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads)
    with_mean(tile, i, [&](int x, int y, int component) {
      const RegionWord sum =
          args.sums[item.sums + static_cast<std::ptrdiff_t>(y * item.x.count + x) * args.words + 2 * component];
      const double mean = static_cast<double>(sum) * means.exact[i];
      means.exact[i] = mean;
      if (sizeof(Sample) == 1)
        means.short_mean[i] = blurred ? __double2int_rn(mean * (1 << fraction)) : rounded(mean) << fraction;
    });
}

/// A lane's samples in a row of the tile.
template <class Sample>
struct LaneWord {
  static constexpr int n = word_samples<Sample>;
  using Value = typename ValueOf<Sample>::Type;
  int at;             ///< the first
  unsigned held = 0;  ///< a bit for each that is the rectangle's
  bool whole;         ///< all are, and lie in a word of memory
  unsigned fill = 0;
  int first[n], second[n];  ///< of their means in a row of cells
  Value across[n];

  /// Sets the cells of the tile's columns, too.
  __device__ __forceinline__ LaneWord(const RectangleArgs& args, const RectangleItem& item, const RegionPart& part,
                                      RectangleTile& tile)
      : at(tile.x + static_cast<int>(threadIdx.x) % 32 * n) {
    const bool by_means = hides_by_means(args.effect);
    int low = INT_MAX, high = 0;
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const RegionSlot* slot;
      const int pixel = pixel_of(part, at + j, slot);
      const bool is_held = pixel < args.width && slot->component != no_component && pixel < item.x.end &&
                           pixel + (1 << slot->shift_x) > item.x.begin;
      held |= static_cast<unsigned>(is_held) << j;
      fill |= static_cast<unsigned>(slot->fill << args.shift) << j * sample_bits<Sample>;
      if (!by_means) continue;
      const Centres centres = centres_of(item.x, min(pixel, args.width - 1), args.effect == RegionEffect::blur);
      const int component = slot->component == no_component ? 0 : slot->component;
      first[j] = centres.first * tile.components + component;
      second[j] = centres.second * tile.components + component;
      low = min(low, centres.first);
      high = max(high, centres.second);
      set_weight(item.x, centres, across[j]);
    }
    if (by_means) {
      const int2 cells = range_of_warp(low, high);
      tile.cell_x = cells.x;
      tile.columns = cells.y - cells.x + 1;
    }
    whole = held == (1u << n) - 1 && in_words(args.frame[part.plane]);
  }
};

/// What is added to values of 8-bit samples, so that those that may be ties come out below 2 * value_margin.
__device__ __forceinline__ int lifted(int value) {
  return value + (1 << (fraction - 1)) + value_margin;
}
__device__ __forceinline__ double lifted(double value) {
  return value;
}

/// The code of a lifted value; `margin_left` becomes the least fraction, in its upper bits.
__device__ __forceinline__ unsigned code_of(int value, unsigned& margin_left) {
  margin_left = min(margin_left, static_cast<unsigned>(value) << (32 - fraction));
  return static_cast<unsigned>(value) >> fraction;
}
__device__ __forceinline__ unsigned code_of(double value, unsigned&) {
  return static_cast<unsigned>(rounded(value));
}

/// Sets the exact weights of a tile's columns and rows. Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void set_exact_weights(const RectangleArgs& args, const RectangleItem& item,
                                                  const RegionPart& part, const RectangleTile& tile,
                                                  RectangleMeans& means) {
  constexpr int columns = tile_columns<Sample>;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < columns + rectangle_tile_rows; i += rectangle_threads) {
    const bool is_row = i >= columns;
    const RegionSlot* slot;
    const int pixel = is_row ? min(tile.y + i - columns, tile.bottom - 1) << part.shift_y
                             : min(pixel_of(part, tile.x + i, slot), args.width - 1);
    const RectangleAxis& axis = is_row ? item.y : item.x;
    double weight;
    set_weight(axis, centres_of(axis, pixel, true), weight);
    (is_row ? means.row_weight[i - columns] : means.column_weight[i]) = weight;
  }
}

/// A word's samples in a row, exactly. `above`, `below`: the places of the means of its rows of cells.
template <class Sample>
__device__ __forceinline__ unsigned exact_word(const RectangleMeans& means, const LaneWord<Sample>& word, int above,
                                               int below, int row) {
  constexpr int n = word_samples<Sample>;
  unsigned samples = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const double across = means.column_weight[static_cast<int>(threadIdx.x) % 32 * n + j];
    const auto between_columns = [&](int from) {
      return interpolate(means.exact[from + word.first[j]], means.exact[from + word.second[j]], across);
    };
    const double value = interpolate(between_columns(above), between_columns(below), means.row_weight[row]);
    samples |= static_cast<unsigned>(rounded(value)) << j * sample_bits<Sample>;
  }
  return samples;
}

template <class Sample>
__device__ __forceinline__ void store_samples(Sample* to, unsigned samples, unsigned held, bool whole) {
  if (whole) {
    *reinterpret_cast<unsigned*>(to) = samples;
    return;
  }
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j)
    if (held >> j & 1) to[j] = static_cast<Sample>(samples >> j * sample_bits<Sample>);
}

/// Writes a warp's rows by means.
template <class Sample>
__device__ __forceinline__ void write_means(const RectangleArgs& args, const RegionPart& part,
                                            const RectangleTile& tile, const LaneWord<Sample>& word,
                                            const Centres& row_of_lane, typename ValueOf<Sample>::Type weight_of_lane,
                                            const RectangleMeans& means) {
  constexpr int n = word_samples<Sample>;
  using Value = typename ValueOf<Sample>::Type;
  const PlaneView frame = args.frame[part.plane];
  const int top = tile.y + static_cast<int>(threadIdx.x) / 32 * warp_rows, rows = min(warp_rows, tile.bottom - top);
  Value upper[n], lower[n];
  int last = -1, above = 0, below = 0;  // the row of cells that `upper` is of, and places of means
#pragma unroll 1
  for (int k = 0; k < rows; ++k) {
    const int row = top - tile.y + k;
    const int first = __shfl_sync(~0u, row_of_lane.first, row), second = __shfl_sync(~0u, row_of_lane.second, row);
    const Value down = __shfl_sync(~0u, weight_of_lane, row);
    if (first != last) {
      last = first;
      above = ((first - tile.cell_y) * tile.columns - tile.cell_x) * tile.components;
      below = ((second - tile.cell_y) * tile.columns - tile.cell_x) * tile.components;
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const auto mean = [&](int i) { return mean_of(means, i, Value{}); };
        upper[j] = lifted(interpolate(mean(above + word.first[j]), mean(above + word.second[j]), word.across[j]));
        lower[j] = lifted(interpolate(mean(below + word.first[j]), mean(below + word.second[j]), word.across[j]));
      }
    }
    unsigned samples = 0, margin_left = ~0u;
#pragma unroll
    for (int j = 0; j < n; ++j)
      samples |= code_of(interpolate(upper[j], lower[j], down), margin_left) << j * sample_bits<Sample>;
    if (margin_left < 2u * value_margin << (32 - fraction)) samples = exact_word(means, word, above, below, row);
    if (word.held)
      store_samples(row_of<Sample>(frame, top + k) + word.at, samples << args.shift, word.held, word.whole);
  }
}

/// Writes a warp's rows in one colour, or from the filtered frame.
template <class Sample>
__device__ __forceinline__ void write_plainly(const RectangleArgs& args, const RegionPart& part,
                                              const RectangleTile& tile, const LaneWord<Sample>& word) {
  const PlaneView frame = args.frame[part.plane], filtered = args.filtered[part.plane];
  const bool filters = args.effect == RegionEffect::filter, whole = word.whole && in_words(filtered);
  const unsigned value = ~(~0u / ((1u << sample_bits<Sample>)-1) * ((1u << args.shift) - 1));
  const int top = tile.y + static_cast<int>(threadIdx.x) / 32 * warp_rows, rows = min(warp_rows, tile.bottom - top);
  if (word.held == 0) return;
#pragma unroll 4
  for (int k = 0; k < rows; ++k) {
    unsigned samples = word.fill;
    if (filters) samples = load_samples(row_of<const Sample>(filtered, top + k) + word.at, word.held, whole) & value;
    store_samples(row_of<Sample>(frame, top + k) + word.at, samples, word.held, word.whole);
  }
}

template <class Sample>
__device__ __forceinline__ void write_item(const RectangleArgs& args, const RectangleItem& item, int block,
                                           RectangleMeans& means) {
  const RegionPart& part = args.part[item.part];
  RectangleTile tile = find_tile<Sample>(item, part, block);
  const LaneWord<Sample> word(args, item, part, tile);
  if (!hides_by_means(args.effect)) {
    pdl_wait();
    write_plainly(args, part, tile, word);
    return;
  }
  // A lane has one of the tile's rows.
  static_assert(rectangle_tile_rows == 32);
  const int row = min(tile.y + static_cast<int>(threadIdx.x) % 32, tile.bottom - 1) << part.shift_y;
  const Centres row_of_lane = centres_of(item.y, row, args.effect == RegionEffect::blur);
  typename ValueOf<Sample>::Type weight;
  set_weight(item.y, row_of_lane, weight);
  const int2 cells = range_of_warp(row_of_lane.first, row_of_lane.second);
  tile.cell_y = cells.x;
  tile.all = tile.columns * (cells.y - cells.x + 1) * tile.components;
  count_samples(args, item, part, tile, means);
  if (sizeof(Sample) == 1 && args.effect == RegionEffect::blur)
    set_exact_weights<Sample>(args, item, part, tile, means);
  pdl_wait();
#pragma unroll 1
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * rectangle_threads + threadIdx.x; i < args.stale_words;
       i += static_cast<std::uint64_t>(gridDim.x) * rectangle_threads)
    args.stale[i] = 0;
  load_means<Sample>(args, item, tile, means);
  __syncthreads();
  write_means(args, part, tile, word, row_of_lane, weight, means);
}

template <class Sample>
__global__ void __launch_bounds__(rectangle_threads)
    rectangle_effect_kernel(const __grid_constant__ RectangleArgs args) {
  __shared__ BlockItem block;
  __shared__ RectangleMeans means;
  start_next_launch();
  find_item(args, args.first_tile, block);
  write_item<Sample>(args, block.item, block.number, means);
}

}  // namespace

void launch_rectangle_effect(int capability, SampleType type, unsigned tiles, const RectangleArgs& args,
                             void* stream) noexcept {
  const auto kernel =
      type == SampleType::u8 ? rectangle_effect_kernel<std::uint8_t> : rectangle_effect_kernel<std::uint16_t>;
  launch_pdl(capability, kernel, tiles, dim3(rectangle_threads), stream, args);
}

}  // namespace convolve::cuda
