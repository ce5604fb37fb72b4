// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The means that a tile's samples are made from, and what lies between them.
//
// Samples of 16 bits are interpolated in double precision. The sum of `value` and 1.5 * 2^22 + 0.5 is a multiple of
// 2^-30: what the arithmetic has moved off a tie by less than half of that is a tie again. Its low 30 bits are the
// fraction, and those above the value rounded half up.
//
// Samples of 8 bits are interpolated in integers of 22 fraction bits. Means are rounded to them, and each of the two
// interpolations rounds down and has a weight of 31 bits: the result is at most 3 units of 2^-22 too small, or 1 too
// large. So the code value is known but where the value may be a tie; that one sample is then computed as those of 16
// bits are.
#pragma once

#include "cuda/regions/tile.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

inline constexpr int warp_size = 32, warps = region_threads / warp_size;

/// To nearest, ties to even, of a value from 0 to 65535.
__device__ __forceinline__ int rounded(double value) {
  const double shifted = value + (0x1.8p22 + 0.5);
  const unsigned low = static_cast<unsigned>(__double2loint(shifted));
  const unsigned code = __funnelshift_l(low, static_cast<unsigned>(__double2hiint(shifted)), 2) & 0xffff;
  return static_cast<int>((low & 0x3fffffff) == 0 ? code & ~1u : code);
}

// --- Means -----------------------------------------------------------------------------------------------------------

/// The two neighbouring cells whose centres a pixel lies between, and how far it is on the way to the second. In cells
/// that the layer keeps.
struct Between {
  int first, second;
  double weight;
};

template <class Int>
__device__ __forceinline__ Between between(const BasicCellAxis<Int>& axis, int pixel, bool blurred) {
  int first = axis.cell(pixel), second = first;
  double weight = 0;
  if (blurred) {
    const Int middle = axis.middle(pixel);
    if (first > 0 && middle < axis.centre(first)) --first;
    second = min(first + 1, axis.count() - 1);
    const Int from = axis.centre(first);
    if (second > first && middle > from)
      weight = static_cast<double>(middle - from) / static_cast<double>(axis.centre(second) - from);
  }
  return {first, second, weight};
}

/// The sums of one component of a layer.
struct ComponentSums {
  const RegionArgs* args;
  const RegionLayer* layer;
  const RegionPart* part;
  int component;

  __device__ const RegionWord* cell(int x, int y) const {
    return args->sums + layer->sums + (static_cast<std::ptrdiff_t>(y) * layer->x.count() + x) * args->words +
           2 * (part->first_component + component);
  }
  /// The number of samples in a cell. Those of rectangles follow from where they are.
  __device__ __noinline__ RegionWord samples(int x, int y) const {
    if (layer->kind != static_cast<std::uint8_t>(LayerKind::rectangle)) return cell(x, y)[1];
    return rectangle_samples<std::int64_t>(x, y);
  }
  template <class Int>
  __device__ RegionWord rectangle_samples(int x, int y) const {
    using Axis = BasicCellAxis<Int>;
    const RegionSlot& slot = part->slot[part->slot_of[component]];
    const PixelRect& box = layer->box;
    return static_cast<RegionWord>(along(Axis(layer->x), x, box.left, box.right, slot.shift_x, args->width)) *
           static_cast<RegionWord>(along(Axis(layer->y), y, box.top, box.bottom, part->shift_y, args->height));
  }

 private:
  template <class Int>
  __device__ static int along(const BasicCellAxis<Int>& axis, int cell, int begin, int end, int shift, int pixels) {
    const int samples = ((pixels - 1) >> shift) + 1;
    const int first = max(axis.first_sample(cell, 1 << shift, samples), begin >> shift);
    const int last = min(axis.first_sample(cell + 1, 1 << shift, samples), ((end - 1) >> shift) + 1);
    return max(last - first, 0);
  }
};

/// A cell without samples takes the mean of the nearest that has some, the first of equally near ones: a warp looks at
/// rings of cells around it.
static __device__ __noinline__ double nearest_mean(ComponentSums sums, int x, int y) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int columns = sums.layer->x.count(), rows = sums.layer->y.count();
  unsigned nearest = ~0u;  // squared distance, then number: both within 13 bits
#pragma unroll 1
  for (int ring = 1; ring < max(rows, columns) && (nearest == ~0u || ring * ring <= static_cast<int>(nearest >> 13));
       ++ring) {
    unsigned found = nearest;
    const int side = 2 * ring + 1;
#pragma unroll 1
    for (int i = lane; i < 8 * ring; i += warp_size) {
      // The upper row, the lower row, then the two ends of each row between.
      const int between_rows = i - 2 * side;
      const int down = between_rows >= 0 ? between_rows / 2 + 1 - ring : i < side ? -ring : ring;
      const int across = between_rows >= 0 ? (between_rows % 2 ? ring : -ring) : i % side - ring;
      const int column = x + across, row = y + down;
      if (column < 0 || column >= columns || row < 0 || row >= rows) continue;
      if (sums.samples(column, row) == 0) continue;
      found = min(found, static_cast<unsigned>(across * across + down * down) << 13 |
                             static_cast<unsigned>(row * columns + column));
    }
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) found = min(found, __shfl_xor_sync(~0u, found, step));
    nearest = found;
  }
  if (nearest == ~0u) return 0;
  const int row = static_cast<int>(nearest & 8191) / columns, column = static_cast<int>(nearest & 8191) - row * columns;
  return static_cast<double>(*sums.cell(column, row)) / static_cast<double>(sums.samples(column, row));
}

// --- Interpolation ---------------------------------------------------------------------------------------------------

/// The value between two, nearer to the second the larger the weight.
__device__ __forceinline__ double interpolate(double first, double second, double weight) {
  return first + weight * (second - first);
}
/// `weight`: with 31 fraction bits. Rounds down.
__device__ __forceinline__ int interpolate(int first, int second, int weight) {
  return first + __mulhi(2 * (second - first), weight);
}

inline constexpr int fraction = 22;  ///< bits of means of 8-bit samples
inline constexpr int margin = 4;     ///< units that such a value may be too small by, and one more

/// The code of a value of a sample of 8 bits. `known` becomes 0 where it may be another one.
__device__ __forceinline__ unsigned code_of(int value, unsigned& known) {
  const unsigned above = static_cast<unsigned>(value + (1 << (fraction - 1)) + margin);
  known = (above & ((1u << fraction) - 1)) / (2 * margin);
  return above >> fraction;
}
__device__ __forceinline__ unsigned code_of(double value, unsigned& known) {
  known = 1;
  return static_cast<unsigned>(rounded(value));
}

/// What the samples of a tile are made from. Means: [row of cells][column][component]. Before the sums are there, 1 /
/// the number of a cell's samples. Weights: of lines.
template <class Sample>
struct TileMeans {
  double exact[max_tile_means], exact_weight[Lines<Sample>::count];

  __device__ void set(int i, double mean, bool) { exact[i] = mean; }
  __device__ void set_weight(int i, double weight) { exact_weight[i] = weight; }
  __device__ double mean(int i) const { return exact[i]; }
  __device__ double weight(int i) const { return exact_weight[i]; }
};

template <>
struct TileMeans<std::uint8_t> {
  double exact[max_tile_means], exact_weight[Lines<std::uint8_t>::count];
  int short_mean[max_tile_means], short_weight[Lines<std::uint8_t>::count];

  __device__ void set(int i, double mean, bool blurred) {
    exact[i] = mean;
    short_mean[i] = blurred ? __double2int_rn(mean * (1 << fraction)) : rounded(mean) << fraction;
  }
  __device__ void set_weight(int i, double weight) {
    exact_weight[i] = weight;
    short_weight[i] = __double2int_rz(weight * 2147483648.0);
  }
  __device__ int mean(int i) const { return short_mean[i]; }
  __device__ int weight(int i) const { return short_weight[i]; }
};

/// Cells of the tile and their component, a number each.
template <class Sample>
struct TileCells {
  int x, y, columns, components, count;
  float by_columns, by_components;

  __device__ TileCells(const RegionPart& part, const Lines<Sample>& lines)
      : x(lines.first_cell(0)),
        y(lines.first_cell(1)),
        columns(lines.cells(0)),
        components(part.components),
        count(columns * lines.cells(1) * components),
        by_columns(1 / static_cast<float>(columns)),
        by_components(1 / static_cast<float>(components)) {}
  /// Calls use(column, row, component) of number `i`.
  template <class Use>
  __device__ void at(int i, Use&& use) const {
    const int cell = quotient(i, by_components), row = quotient(cell, by_columns);
    use(x + cell - row * columns, y + row, i - cell * components);
  }
};

/// To be called by all threads, as load_means().
template <class Int, class Sample>
__device__ __forceinline__ void count_samples(const RegionArgs& args, const RegionTile& tile,
                                              const TileCells<Sample>& cells, TileMeans<Sample>& means) {
  if (tile.layer.kind != static_cast<std::uint8_t>(LayerKind::rectangle)) return;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < cells.count; i += region_threads)
    cells.at(i, [&](int x, int y, int component) {
      const RegionWord samples =
          ComponentSums{&args, &tile.layer, &args.part[tile.part], component}.template rectangle_samples<Int>(x, y);
      means.exact[i] = samples == 0 ? 0 : 1 / static_cast<double>(samples);
    });
}

/// Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void load_means(const RegionArgs& args, const RegionTile& tile,
                                           const TileCells<Sample>& cells, TileMeans<Sample>& means) {
  constexpr double none = -1;
  const bool blurred = args.effect == RegionEffect::blur;
  const bool counted = tile.layer.kind == static_cast<std::uint8_t>(LayerKind::rectangle);
  const RegionPart& part = args.part[tile.part];
  const int id = static_cast<int>(threadIdx.x);
  int empty = 0;
#pragma unroll 1
  for (int i = id; i < cells.count; i += region_threads)
    cells.at(i, [&](int x, int y, int component) {
      const RegionWord* cell = ComponentSums{&args, &tile.layer, &part, component}.cell(x, y);
      double parts = means.exact[i];
      const double sum = static_cast<double>(cell[0]);
      if (!counted) parts = cell[1] == 0 ? 0 : 1 / static_cast<double>(cell[1]);
      if (parts == 0) {
        empty = 1;
        means.exact[i] = none;
      } else {
        means.set(i, sum * parts, blurred);
      }
    });
  if (!__syncthreads_or(empty)) return;
#pragma unroll 1
  for (int i = id / warp_size; i < cells.count; i += warps) {
    if (means.exact[i] != none) continue;
    cells.at(i, [&](int x, int y, int component) {
      const double mean = nearest_mean({&args, &tile.layer, &part, component}, x, y);
      __syncwarp();
      if (id % warp_size == 0) means.set(i, mean, blurred);
    });
  }
}

#endif

}  // namespace convolve::cuda
