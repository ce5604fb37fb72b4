// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What hides rectangles: values between the means of four cells, as in effect.cu. It writes each of their samples and
// reads none of the frame's. A block has a tile, a warp a quarter of its rows, and a lane a word of each row.
//
// Between two rows of cells' centres, what a column shows changes by the same step from row to row. A run is a warp's
// rows up to the next centre: a lane finds its samples of the run's first row and their steps, and then adds
// (rectangle_columns.cuh).
//
//      centre -   row 3   value
//                 row 4   value + step
//                 row 5   value + 2 step
//      centre -   row 6   the next run begins
//
// All that does not depend on the means is found before the block waits for the launch before and for the sums.
#pragma once

#include "cuda/regions/rectangle_columns.cuh"
#include "cuda/regions/rectangles.cuh"
#include "cuda/regions/tile_means.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

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

/// 1 / a positive number, off by less than two units in the last place: each step doubles the number of right bits.
__device__ __forceinline__ double reciprocal(double value) {
  double inverse = __fdividef(1, static_cast<float>(value));
#pragma unroll
  for (int step = 0; step < 2; ++step) inverse = inverse * (2 - value * inverse);
  return inverse;
}

/// Fills in the lines, the cells and the distances. Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void set_lines(const RectangleArgs& args, const RectangleItem& item, const RegionPart& part,
                                          const RectangleTile& tile, RectangleMeans& means) {
  constexpr int columns = tile_columns<Sample>, ends = max_rectangle_rows, distances = 96;
  const bool blurred = args.effect == RegionEffect::blur;
  const int id = static_cast<int>(threadIdx.x);
  static_assert(columns <= rectangle_threads && ends + 2 <= distances && distances + 4 <= rectangle_threads);
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
  if (id < args.tile_rows) {
    means.row[id] = line_of(item.y, min(tile.y + id, tile.bottom - 1) << part.shift_y, blurred);
  } else if (id >= ends && id < ends + 2) {
    const bool last = id > ends;
    const int period = quotient(tile.x + (last ? columns - 1 : 0), part.by_period);
    const int pixel = last ? ((period + 1) << part.period_shift) - 1 : period << part.period_shift;
    const RectangleLine line = line_of(item.x, min(pixel, args.width - 1), blurred);
    means.cell_x[last ? 1 : 0] = last ? line.second : line.first;
  } else if (id >= distances && id < distances + 4) {
    const int axis = (id - distances) / 2, which = id % 2;
    means.by_distance[axis][which] = reciprocal(static_cast<double>(distance_of(axis ? item.y : item.x, which)));
  }
}

/// Finds out where the tile's sums lie, and of how many samples they are: each thread of its own ones.
__device__ __forceinline__ void place_sums(const RectangleArgs& args, const RectangleItem& item, const RegionPart& part,
                                           const RectangleTile& tile, RectangleMeans& means) {
  const float by_components = __fdividef(1, static_cast<float>(tile.components)),
              by_columns = __fdividef(1, static_cast<float>(tile.columns));
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads) {
    const int cell = divided(i, by_components), down = divided(cell, by_columns),
              component = i - cell * tile.components;
    const int x = tile.cell_x + cell - down * tile.columns, y = tile.cell_y + down;
    const SampleRange columns = range_of(item.x, x, part.slot[part.slot_of[component]].shift_x, args.width);
    const SampleRange rows = range_of(item.y, y, part.shift_y, args.height);
    // Below 2^31 rows and columns, but not their product.
    means.exact[i] =
        reciprocal(static_cast<double>(columns.last - columns.first) * static_cast<double>(rows.last - rows.first));
    means.short_mean[i] = (item.first_sum + (y * item.x.count + x) * tile.components + component) * args.sum_words;
  }
}

/// Converts a whole number below 2^52.
__device__ __forceinline__ double as_double(RegionWord sum) {
  return __longlong_as_double(static_cast<long long>(sum | 0x4330000000000000)) - 0x1p52;
}

/// Complete after the next barrier.
template <class Sample>
__device__ __forceinline__ void load_means(const RectangleArgs& args, const RectangleItem& item,
                                           const RectangleTile& tile, RectangleMeans& means) {
  const bool blurred = args.effect == RegionEffect::blur;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < tile.all; i += rectangle_threads) {
    const RegionWord* at = args.sums + means.short_mean[i];
    if constexpr (wide_columns) {
      // The next cell's, too: a lane interpolates from one to the other.
      const int next = tile.components;
      const bool more = i + next < tile.all;
      const RegionWord* at_next = more ? args.sums + means.short_mean[i + next] : at;
      const double by = means.exact[i], by_next = means.exact[more ? i + next : i];
      RegionWord sum, sum_next;
      do {
        sum = *static_cast<const volatile RegionWord*>(at);
        sum_next = *static_cast<const volatile RegionWord*>(at_next);
      } while (min(static_cast<int>(sum >> sum_bits), static_cast<int>(sum_next >> sum_bits)) < item.warps);
      double mean = as_double(sum & sum_mask) * by, mean_next = as_double(sum_next & sum_mask) * by_next;
      if (!blurred) mean = rounded(mean), mean_next = mean;
      means.pair[i] = {mean, mean_next - mean};
      continue;
    }
    const RegionWord sum = complete_sum(at, item.warps);
    const double mean = as_double(sum) * means.exact[i];
    means.exact[i] = mean;
    if (!wide_columns && sizeof(Sample) == 1)
      means.short_mean[i] = blurred ? __double2int_rn(mean * (1 << fraction)) : rounded(mean) << fraction;
  }
}

/// A word's samples in a row, exactly.
template <class Sample>
static __device__ __noinline__ unsigned exact_word(const RectangleMeans& means, RectangleTile tile, int row) {
  constexpr int n = word_samples<Sample>;
  const RectangleLine& line = means.row[row];
  const double down = line.along * means.by_distance[1][line.which];
  const int above = means_place(tile, line.first), below = means_place(tile, line.second);
  const auto mean = [&](int i) { return wide_columns ? means.pair[i].x : means.exact[i]; };
  unsigned samples = 0;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const RectangleLine& column = means.column[static_cast<int>(threadIdx.x) % 32 * n + j];
    const double across = column.along * means.by_distance[0][column.which];
    const double value =
        interpolate(interpolate(mean(above + column.first), mean(above + column.second), across),
                    interpolate(mean(below + column.first), mean(below + column.second), across), down);
    samples |= static_cast<unsigned>(rounded(value)) << j * sample_bits<Sample>;
  }
  return samples;
}

/// The rows of a warp that begin a run, a bit each.
__device__ __forceinline__ unsigned runs_of(const RectangleMeans& means, int from, int warp_rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32, row = from + min(lane, warp_rows - 1);
  const RectangleLine &here = means.row[row], &before = means.row[max(row - 1, 0)];
  return __ballot_sync(~0u,
                       lane == 0 || (lane < warp_rows && (here.first != before.first || here.second != before.second)));
}

/// Writes `rows` rows of a warp, the first at `to`. Of WideColumns, returns 1 if a sample may be another code; else the
/// rows in which one may be, a bit each. `parts`: of words, too.
template <class Sample, bool parts>
__device__ __forceinline__ unsigned write_run(TileColumns<Sample>& columns, const LaneWord<Sample>& word,
                                              std::uint8_t* to, std::ptrdiff_t stride, int shift, int rows) {
  const auto store = [&](unsigned samples) {
    if (parts)
      store_parts(reinterpret_cast<Sample*>(to), samples, word.held, word.whole);
    else
      *reinterpret_cast<unsigned*>(to) = samples;
    to += stride;
  };
  if constexpr (wide_columns) {
    const auto shifted = [&](unsigned samples) { return sizeof(Sample) == 1 ? samples : samples << shift; };
    ptx::hide_here(to);
    __builtin_assume(__isGlobal(to));
    unsigned least = ~0u;
#pragma unroll 1
    for (; rows >= 2; rows -= 2) {
      store(shifted(columns.next(least)));
      store(shifted(columns.next(least)));
    }
    if (rows > 0) store(shifted(columns.next(least)));
    return least < 2 * TileColumns<Sample>::margin;
  } else {
    unsigned ties = 0;
#pragma unroll 1
    for (int k = 0; k < rows; ++k) {
      bool tie;
      store(columns.next(tie) << shift);
      if (tie) ties |= 1u << k;
    }
    return ties;
  }
}

/// The rows of a warp.
struct WarpRows {
  std::uint8_t* to;  ///< the lane's word of the first
  std::ptrdiff_t stride;
  int top, rows;  ///< the first, in the tile, and how many are the rectangle's
  unsigned runs;  ///< a bit for each that begins a run
  bool parts;     ///< some lane has a part of a word
};

template <class Sample>
__device__ __forceinline__ WarpRows warp_rows_of(const RectangleArgs& args, const RegionPart& part,
                                                 const RectangleTile& tile, const LaneWord<Sample>& word,
                                                 const RectangleMeans& means) {
  const PlaneView& frame = args.frame[part.plane];
  WarpRows warp;
  const int warp_rows = args.tile_rows / rectangle_warps;
  warp.top = static_cast<int>(threadIdx.x) / 32 * warp_rows;
  warp.rows = min(warp_rows, tile.bottom - tile.y - warp.top);
  warp.stride = frame.stride;
  warp.to = reinterpret_cast<std::uint8_t*>(row_of<Sample>(frame, tile.y + warp.top) + word.at);
  warp.runs = runs_of(means, warp.top, warp_rows);
  warp.parts = __any_sync(~0u, word.held && !word.whole);
  return warp;
}

template <class Sample>
__device__ __forceinline__ auto start_of(const RectangleItem& item, const RegionPart& part, const RectangleTile& tile,
                                         const RectangleMeans& means, int row) {
  const RectangleLine line = means.row[row];
  return TileColumns<Sample>::start(means, tile, item.y, line, 2 << part.shift_y);
}

/// Writes a warp's rows by means. `start`: of the first run.
template <class Sample>
__device__ __forceinline__ void write_means(const RectangleArgs& args, const RectangleItem& item,
                                            const RegionPart& part, const RectangleTile& tile,
                                            const LaneWord<Sample>& word, TileColumns<Sample>& columns,
                                            const WarpRows& warp, typename TileColumns<Sample>::Start start,
                                            RectangleMeans& means) {
#pragma unroll 1
  for (int from = 0, end; from < warp.rows; from = end) {
    if (from > 0) start = start_of<Sample>(item, part, tile, means, warp.top + from);
    columns.begin(means, tile, start);
    end = min(__ffs(static_cast<int>(warp.runs >> (from + 1) | 1u << (warp.rows - 1 - from))) + from, warp.rows);

    unsigned ties = 0;
    std::uint8_t* const to = warp.to + from * warp.stride;
    if (warp.parts)
      ties = write_run<Sample, true>(columns, word, to, warp.stride, args.shift, end - from);
    else if (word.whole)
      ties = write_run<Sample, false>(columns, word, to, warp.stride, args.shift, end - from);
    if (ties == 0) continue;
    if constexpr (wide_columns) {
      ties = 0;
      columns.begin(means, tile, start);
#pragma unroll 1
      for (int k = 0; k < end - from; ++k) {
        unsigned least = ~0u;
        columns.next(least);
        if (least < 2 * TileColumns<Sample>::margin) ties |= 1u << k;
      }
    }
    // Beyond the outer centres all rows are alike.
    const bool alike = means.row[warp.top + from].second == means.row[warp.top + from].first;
    unsigned samples = 0;
#pragma unroll 1
    for (bool first = true; ties != 0; ties &= ties - 1, first = false) {
      const int k = __ffs(static_cast<int>(ties)) - 1;
      if (first || !alike) samples = exact_word<Sample>(means, tile, warp.top + from + k) << args.shift;
      store_samples(reinterpret_cast<Sample*>(to + k * warp.stride), samples, word.held, word.whole);
    }
  }
}

template <class Sample>
__device__ __forceinline__ void hide_tile(const RectangleArgs& args, const RectangleItem& item, int block,
                                          RectangleMeans& means) {
  constexpr int n = word_samples<Sample>;
  const RegionPart& part = args.part[item.part];
  RectangleTile tile = find_tile<Sample>(args, item, part, block);
  set_lines<Sample>(args, item, part, tile, means);
  __syncthreads();
  tile.cell_x = means.cell_x[0];
  tile.cell_y = means.row[0].first;
  tile.columns = means.cell_x[1] - tile.cell_x + 1;
  tile.all = tile.columns * (means.row[args.tile_rows - 1].second - tile.cell_y + 1) * tile.components;
  place_sums(args, item, part, tile, means);
  LaneWord<Sample> word(tile);
  TileColumns<Sample> columns;
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const RectangleLine line = means.column[word.at - tile.x + j];
    columns.set(means, tile, j, line);
    word.held |= static_cast<unsigned>(line.held) << j;
  }
  word.set_whole(args.frame[part.plane]);
  const WarpRows warp = warp_rows_of(args, part, tile, word, means);
  const auto start = start_of<Sample>(item, part, tile, means, warp.top);
  __syncthreads();  // load_means() reads what other threads have placed
  pdl_wait();
  clear_stale(args);
  load_means<Sample>(args, item, tile, means);
  __syncthreads();
  write_means(args, item, part, tile, word, columns, warp, start, means);
}

#endif

}  // namespace convolve::cuda
