// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What hides rectangles: values between the means of four cells, as in effect.cu. It writes each of their samples and
// reads none of the frame's. A block has a tile, a warp eight of its rows, and a lane a word of each row.
//
// Between two rows of cells' centres, what a column shows changes by the same step from row to row. A run is a warp's
// rows up to the next centre: a lane finds its samples of the run's first row and their steps, and then adds.
//
//      centre -   row 3   value            one addition a sample, in 32 bits of which the upper 8 are the code value,
//                 row 4   value + step     so that a byte permutation packs four samples
//                 row 5   value + 2 step
//      centre -   row 6   the next run begins
//
// How exact that is: tile_means.cuh. In units of 2^-24, values of 8-bit samples are at most
//   10 too small or 6 too large at a centre's row (means are rounded, and weights up to two units of 2^-31 too small),
//    5 or 4 more in a run's first row, and
//    5 or 4 more with each further row, of which there are seven: 50 too small or 38 too large.
// A word with a sample that is so near to a tie is computed again, exactly, once the run is written.
#pragma once

#include "cuda/regions/rectangles.cuh"
#include "cuda/regions/tile_means.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

inline constexpr int value_bits = 24;    ///< fraction bits of an 8-bit sample's value
inline constexpr int value_margin = 64;  ///< units that such a value may be off by, and more

/// A column or a row of a tile: the two neighbouring cells' centres that it lies between, `along` half pixels from the
/// first one's on. Beyond the outer centres, both are the same.
struct alignas(16) RectangleLine {
  std::int16_t first, second;  ///< cells; of columns, times the number of components, and the component added
  int along;
  int weight;          ///< along / their distance, with 31 fraction bits
  std::uint8_t which;  ///< of the axis's distances
  std::uint8_t held;   ///< the column's samples are the rectangle's
};

/// In shared memory. Means: [row of cells][column][component]. Before the sums are there, 1 / the number of samples.
struct RectangleMeans {
  double exact[max_rectangle_means];
  int short_mean[max_rectangle_means];  ///< of 8-bit samples; before, where the sum lies
  RectangleLine column[tile_bytes], row[rectangle_tile_rows];
  int cell_x[2];             ///< the first and last cells that the tile's columns see
  double by_distance[2][2];  ///< 1 / the distances of an axis, x and y
};

__device__ __forceinline__ int centre(const RectangleAxis& axis, int cell) {
  const int at = (axis.first + cell) * axis.size;
  return at + min(at + axis.size, axis.end - axis.begin);
}

__device__ __forceinline__ RectangleLine line_of(const RectangleAxis& axis, int pixel, bool blurred) {
  const int cell = cell_of(axis, pixel), middle = 2 * (pixel - axis.begin) + 1;
  int first = cell, second = cell, along = 0;
  if (blurred) {
    if (first > 0 && middle < centre(axis, first)) --first;
    along = middle - centre(axis, first);
    second = along < 0 ? first : min(first + 1, axis.count - 1);
    if (second == first) along = 0;
  }
  const int which = second == axis.count - 1 ? 1 : 0;
  const unsigned weight = __umulhi(static_cast<unsigned>(along) << axis.shift[which], axis.factor[which]);
  return {static_cast<std::int16_t>(first), static_cast<std::int16_t>(second), along,
          static_cast<int>(weight),         static_cast<std::uint8_t>(which),  0};
}

/// The distance of two neighbouring centres: of whole cells, or of the last two.
__device__ __forceinline__ int distance_of(const RectangleAxis& axis, int which) {
  const int last = axis.count - 1;
  return which == 1 && last > 0 ? centre(axis, last) - centre(axis, last - 1) : 2 * axis.size;
}

/// Fills in the lines, the cells and the distances. Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void set_lines(const RectangleArgs& args, const RectangleItem& item, const RegionPart& part,
                                          const RectangleTile& tile, RectangleMeans& means) {
  constexpr int columns = tile_columns<Sample>, ends = 32, distances = 64;
  const bool blurred = args.effect == RegionEffect::blur;
  const int id = static_cast<int>(threadIdx.x);
  static_assert(columns <= rectangle_threads && rectangle_tile_rows <= ends && distances + 4 <= rectangle_threads);
  if (id < columns) {
    const RegionSlot* slot;
    const int pixel = pixel_of(part, tile.x + id, slot);
    const int component = slot->component == no_component ? 0 : slot->component;
    RectangleLine line = line_of(item.x, min(pixel, args.width - 1), blurred);
    line.first = static_cast<std::int16_t>(line.first * tile.components + component);
    line.second = static_cast<std::int16_t>(line.second * tile.components + component);
    line.held = holds(args, item, pixel, *slot) ? 1 : 0;
    means.column[id] = line;
  }
  if (id < rectangle_tile_rows) {
    means.row[id] = line_of(item.y, min(tile.y + id, tile.bottom - 1) << part.shift_y, blurred);
  } else if (id < ends + 2) {
    const bool last = id > ends;
    const int period = quotient(tile.x + (last ? columns - 1 : 0), part.by_period);
    const int pixel = last ? ((period + 1) << part.period_shift) - 1 : period << part.period_shift;
    const RectangleLine line = line_of(item.x, min(pixel, args.width - 1), blurred);
    means.cell_x[last ? 1 : 0] = last ? line.second : line.first;
  } else if (id >= distances && id < distances + 4) {
    const int axis = (id - distances) / 2, which = id % 2;
    means.by_distance[axis][which] = 1 / static_cast<double>(distance_of(axis ? item.y : item.x, which));
  }
}

/// Finds out where the tile's sums lie, and of how many samples they are: each thread of its own ones.
__device__ __forceinline__ void place_sums(const RectangleArgs& args, const RectangleItem& item, const RegionPart& part,
                                           const RectangleTile& tile, RectangleMeans& means) {
  const float by_components = 1 / static_cast<float>(tile.components),
              by_columns = 1 / static_cast<float>(tile.columns);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads) {
    const int cell = divided(i, by_components), down = divided(cell, by_columns),
              component = i - cell * tile.components;
    const int x = tile.cell_x + cell - down * tile.columns, y = tile.cell_y + down;
    const SampleRange columns = range_of(item.x, x, part.slot[part.slot_of[component]].shift_x, args.width);
    const SampleRange rows = range_of(item.y, y, part.shift_y, args.height);
    // Below 2^31 rows and columns, but not their product.
    means.exact[i] =
        1 / (static_cast<double>(columns.last - columns.first) * static_cast<double>(rows.last - rows.first));
    means.short_mean[i] = (item.first_sum + (y * item.x.count + x) * tile.components + component) * args.sum_words;
  }
}

/// Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void load_means(const RectangleArgs& args, const RectangleItem& item,
                                           const RectangleTile& tile, RectangleMeans& means) {
  const bool blurred = args.effect == RegionEffect::blur;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads) {
    const RegionWord sum = complete_sum(args.sums + means.short_mean[i], item.warps);
    const double mean = static_cast<double>(sum) * means.exact[i];
    means.exact[i] = mean;
    if (sizeof(Sample) == 1)
      means.short_mean[i] = blurred ? __double2int_rn(mean * (1 << fraction)) : rounded(mean) << fraction;
  }
}

/// Where the means of a row of cells begin, less those of the cells before the tile's.
__device__ __forceinline__ int means_place(const RectangleTile& tile, int cell_y) {
  return ((cell_y - tile.cell_y) * tile.columns - tile.cell_x) * tile.components;
}

/// A word's samples in a row, exactly.
template <class Sample>
static __device__ __noinline__ unsigned exact_word(const RectangleMeans& means, const RectangleTile& tile, int row) {
  constexpr int n = word_samples<Sample>;
  const RectangleLine& line = means.row[row];
  const double down = line.along * means.by_distance[1][line.which];
  const double *above = means.exact + means_place(tile, line.first),
               *below = means.exact + means_place(tile, line.second);
  unsigned samples = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const RectangleLine& column = means.column[static_cast<int>(threadIdx.x) % 32 * n + j];
    const double across = column.along * means.by_distance[0][column.which];
    const double value = interpolate(interpolate(above[column.first], above[column.second], across),
                                     interpolate(below[column.first], below[column.second], across), down);
    samples |= static_cast<unsigned>(rounded(value)) << j * sample_bits<Sample>;
  }
  return samples;
}

/// A lane's columns.
template <class Sample>
struct LaneColumns;

template <>
struct LaneColumns<std::uint8_t> {
  static constexpr int n = 4;
  int first[n], second[n], weight[n];
  unsigned value[n];  ///< of the next row, and what is added from row to row
  unsigned step[n];

  __device__ __forceinline__ void set(const RectangleMeans&, int j, const RectangleLine& line) {
    first[j] = line.first;
    second[j] = line.second;
    weight[j] = line.weight;
  }
  /// A difference of means times a weight, modulo 2^32.
  __device__ __forceinline__ static unsigned scaled(int difference, int weight) {
    return static_cast<unsigned>(static_cast<long long>(difference) * weight >> (fraction + 31 - value_bits));
  }
  /// Begins a run of a warp's rows: `row` is the first, and `further` the
  /// weight of a row's height. The next row is the first of the warp.
  __device__ __forceinline__ void begin(const RectangleMeans& means, const RectangleAxis& axis,
                                        const RectangleLine& row, int row_height, int above, int below) {
    const int further = row.second == row.first
                            ? 0
                            : static_cast<int>(__umulhi(static_cast<unsigned>(row_height) << axis.shift[row.which],
                                                        axis.factor[row.which]));
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const auto between_columns = [&](int from) {
        return interpolate(means.short_mean[from + first[j]], means.short_mean[from + second[j]], weight[j]);
      };
      const int upper = between_columns(above), difference = between_columns(below) - upper;
      value[j] = (static_cast<unsigned>(upper) << (value_bits - fraction)) + scaled(difference, row.weight) +
                 (1u << (value_bits - 1)) + value_margin;
      step[j] = scaled(difference, further);
    }
  }
  /// The samples of a row, then goes on to the next. `tie`: whether one may be another code.
  __device__ __forceinline__ unsigned next(bool& tie) {
    constexpr int code_bits = 32 - value_bits;
    const unsigned least =
        min(min(value[0] << code_bits, value[1] << code_bits), min(value[2] << code_bits, value[3] << code_bits));
    tie = least < 2u * value_margin << code_bits;
    const unsigned samples =
        __byte_perm(__byte_perm(value[0], value[1], 0x0073), __byte_perm(value[2], value[3], 0x0073), 0x5410);
#pragma unroll
    for (int j = 0; j < n; ++j) value[j] += step[j];
    return samples;
  }
};

template <>
struct LaneColumns<std::uint16_t> {
  static constexpr int n = 2;
  int first[n], second[n];
  double weight[n], value[n], step[n];

  __device__ __forceinline__ void set(const RectangleMeans& means, int j, const RectangleLine& line) {
    first[j] = line.first;
    second[j] = line.second;
    weight[j] = line.along * means.by_distance[0][line.which];
  }
  __device__ __forceinline__ void begin(const RectangleMeans& means, const RectangleAxis&, const RectangleLine& row,
                                        int row_height, int above, int below) {
    const double by_distance = row.second == row.first ? 0 : means.by_distance[1][row.which];
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const auto between_columns = [&](int from) {
        return interpolate(means.exact[from + first[j]], means.exact[from + second[j]], weight[j]);
      };
      const double upper = between_columns(above), difference = between_columns(below) - upper;
      step[j] = row_height * by_distance * difference;
      value[j] = upper + row.along * by_distance * difference;
    }
  }
  __device__ __forceinline__ unsigned next(bool& tie) {
    tie = false;
    const unsigned samples = static_cast<unsigned>(rounded(value[0])) | static_cast<unsigned>(rounded(value[1])) << 16;
    value[0] += step[0];
    value[1] += step[1];
    return samples;
  }
};

/// The rows of a warp that begin a run, a bit each.
__device__ __forceinline__ unsigned runs_of(const RectangleMeans& means, int from) {
  const int lane = static_cast<int>(threadIdx.x) % 32, row = from + min(lane, warp_rows - 1);
  const RectangleLine &here = means.row[row], &before = means.row[max(row - 1, 0)];
  return __ballot_sync(~0u,
                       lane == 0 || (lane < warp_rows && (here.first != before.first || here.second != before.second)));
}

/// Writes the rows from <= k < end of a warp, the first of which lies at `to`. Returns those in which a sample may be
/// another code, a bit each. `parts`: of words, too.
template <class Sample, bool parts>
__device__ __forceinline__ unsigned write_run(LaneColumns<Sample>& columns, const LaneWord<Sample>& word,
                                              std::uint8_t* to, std::ptrdiff_t stride, int shift, int from, int end) {
  unsigned ties = 0;
  to += from * stride;
#pragma unroll 1
  for (int k = from; k < end; ++k) {
    bool tie;
    const unsigned samples = columns.next(tie) << shift;
    if (tie) ties |= 1u << k;
    if (parts)
      store_samples(reinterpret_cast<Sample*>(to), samples, word.held, word.whole);
    else if (word.whole)
      *reinterpret_cast<unsigned*>(to) = samples;
    to += stride;
  }
  return ties;
}

/// Writes a warp's rows by means.
template <class Sample>
__device__ __forceinline__ void write_means(const RectangleArgs& args, const RectangleItem& item,
                                            const RegionPart& part, const RectangleTile& tile,
                                            const LaneWord<Sample>& word, LaneColumns<Sample>& columns, unsigned runs,
                                            const RectangleMeans& means) {
  const PlaneView frame = args.frame[part.plane];
  const int top = static_cast<int>(threadIdx.x) / 32 * warp_rows, rows = min(warp_rows, tile.bottom - tile.y - top);
  std::uint8_t* to = reinterpret_cast<std::uint8_t*>(row_of<Sample>(frame, tile.y + top) + word.at);
  const bool parts = __any_sync(~0u, word.held && !word.whole);
#pragma unroll 1
  for (int from = 0, end; from < rows; from = end) {
    const RectangleLine row = means.row[top + from];
    columns.begin(means, item.y, row, 2 << part.shift_y, means_place(tile, row.first), means_place(tile, row.second));
    end = min(__ffs(static_cast<int>(runs >> (from + 1) | 1u << (warp_rows - 1 - from))) + from, rows);
    unsigned ties = parts ? write_run<Sample, true>(columns, word, to, frame.stride, args.shift, from, end)
                          : write_run<Sample, false>(columns, word, to, frame.stride, args.shift, from, end);
    // Beyond the outer centres all rows are alike.
    const bool alike = row.second == row.first;
    unsigned samples = 0;
#pragma unroll 1
    for (bool first = true; ties != 0; ties &= ties - 1, first = false) {
      const int k = __ffs(static_cast<int>(ties)) - 1;
      if (first || !alike) samples = exact_word<Sample>(means, tile, top + k) << args.shift;
      store_samples(reinterpret_cast<Sample*>(to + k * frame.stride), samples, word.held, word.whole);
    }
  }
}

template <class Sample>
__device__ __forceinline__ void hide_tile(const RectangleArgs& args, const RectangleItem& item, int block,
                                          RectangleMeans& means) {
  constexpr int n = word_samples<Sample>;
  const RegionPart& part = args.part[item.part];
  RectangleTile tile = find_tile<Sample>(item, part, block);
  set_lines<Sample>(args, item, part, tile, means);
  __syncthreads();
  tile.cell_x = means.cell_x[0];
  tile.cell_y = means.row[0].first;
  tile.columns = means.cell_x[1] - tile.cell_x + 1;
  tile.all = tile.columns * (means.row[rectangle_tile_rows - 1].second - tile.cell_y + 1) * tile.components;
  place_sums(args, item, part, tile, means);
  LaneWord<Sample> word(tile);
  LaneColumns<Sample> columns;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const RectangleLine line = means.column[word.at - tile.x + j];
    columns.set(means, j, line);
    word.held |= static_cast<unsigned>(line.held) << j;
  }
  word.set_whole(args.frame[part.plane]);
  const unsigned runs = runs_of(means, static_cast<int>(threadIdx.x) / 32 * warp_rows);
  pdl_wait();
  load_means<Sample>(args, item, tile, means);
  __syncthreads();
  write_means(args, item, part, tile, word, columns, runs, means);
}

#endif

}  // namespace convolve::cuda
