// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a lane of rectangle_effect.cuh shows in a run of rows: one addition a sample and row, of fixed point numbers
// whose codes lie in bytes of their own, so that byte permutations pack samples. A word with a sample that is so near
// to a tie that it may be another code is computed again, exactly, once the run is written.
//
// WideColumns, where double precision is fast: values plus 1.5 * 2^20, in double precision. The lower word of such a
// double is the value's fraction, and the lowest byte or two of the upper word are the code:
//
//      upper word   0100 0001 0011 1000  cccc cccc cccc cccc      c: the code
//      lower word   ffff ffff ffff ffff  ffff ffff ffff ffff      f: 32 bits of fraction
//
// A row is one multiply-add a sample, where fixed point numbers of 64 bits take two additions. Each rounds to a
// multiple of 2^-32: in units of that, a value is off by one at the most, and by half of one more with each further
// row, of which there are up to 15; what double precision leaves off before is less than one. One word in 2^23 is
// computed again.
//
// LaneColumns, for other chips: 16-bit samples in double precision, of 8 bits 24 bits of fraction in 32. How exact that
// is: tile_means.cuh. In units of 2^-24, values are at most
//   10 too small or 6 too large at a centre's row (means are rounded, and weights up to two units of 2^-31 too small),
//    5 or 4 more in a run's first row, and
//    5 or 4 more with each further row, of which there are seven: 50 too small or 38 too large.
// One word in 2^15 is computed again, which a frame waits for.
#pragma once

#include <type_traits>

#include "cuda/common/ptx.cuh"
#include "cuda/regions/rectangles.cuh"
#include "cuda/regions/tile_means.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

// Which serves the chip. Of those with fast double precision, others were not measured.
#if __CUDA_ARCH__ == 900
inline constexpr bool wide_columns = true;
#else
inline constexpr bool wide_columns = false;
#endif

inline constexpr int value_bits = 24;    ///< fraction bits of an 8-bit sample's value in LaneColumns
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
  /// Of WideColumns: a mean, and what the next cell's, across, is more.
  double2 pair[wide_columns ? max_rectangle_means : 1];
  int short_mean[max_rectangle_means];  ///< of 8-bit samples; before, where the sum lies
  RectangleLine column[tile_bytes], row[max_rectangle_rows];
  int cell_x[2];             ///< the first and last cells that the tile's columns see
  double by_distance[2][2];  ///< 1 / the distances of an axis, x and y
};

/// The index of the means of a row's first cell, which may lie left of the tile.
__device__ __forceinline__ int means_place(const RectangleTile& tile, int cell_y) {
  return ((cell_y - tile.cell_y) * tile.columns - tile.cell_x) * tile.components;
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

  __device__ __forceinline__ void set(const RectangleMeans&, const RectangleTile&, int j, const RectangleLine& line) {
    first[j] = line.first;
    second[j] = line.second;
    weight[j] = line.weight;
  }
  /// A difference of means times a weight, modulo 2^32.
  __device__ __forceinline__ static unsigned scaled(int difference, int weight) {
    return static_cast<unsigned>(static_cast<long long>(difference) * weight >> (fraction + 31 - value_bits));
  }
  /// The start of a run, as far as it is known before the means are.
  struct Start {
    int above, below;  ///< where the means of the two rows of cells begin
    int along, further;
  };
  __device__ __forceinline__ static Start start(const RectangleMeans&, const RectangleTile& tile,
                                                const RectangleAxis& axis, const RectangleLine& row, int row_height) {
    const int further = row.second == row.first
                            ? 0
                            : static_cast<int>(__umulhi(static_cast<unsigned>(row_height) << axis.shift[row.which],
                                                        axis.factor[row.which]));
    return {means_place(tile, row.first), means_place(tile, row.second), row.weight, further};
  }
  /// Begins a run of a warp's rows, of which the next one is the first.
  __device__ __forceinline__ void begin(const RectangleMeans& means, const RectangleTile&, const Start& start) {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const auto between_columns = [&](int from) {
        return interpolate(means.short_mean[from + first[j]], means.short_mean[from + second[j]], weight[j]);
      };
      const int upper = between_columns(start.above), difference = between_columns(start.below) - upper;
      value[j] = (static_cast<unsigned>(upper) << (value_bits - fraction)) + scaled(difference, start.along) +
                 (1u << (value_bits - 1)) + value_margin;
      step[j] = scaled(difference, start.further);
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

  __device__ __forceinline__ void set(const RectangleMeans& means, const RectangleTile&, int j,
                                      const RectangleLine& line) {
    first[j] = line.first;
    second[j] = line.second;
    weight[j] = line.along * means.by_distance[0][line.which];
  }
  struct Start {
    int above, below;
    double along, further;
  };
  __device__ __forceinline__ static Start start(const RectangleMeans& means, const RectangleTile& tile,
                                                const RectangleAxis&, const RectangleLine& row, int row_height) {
    const double by_distance = row.second == row.first ? 0 : means.by_distance[1][row.which];
    return {means_place(tile, row.first), means_place(tile, row.second), row.along * by_distance,
            row_height * by_distance};
  }
  __device__ __forceinline__ void begin(const RectangleMeans& means, const RectangleTile&, const Start& start) {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const auto between_columns = [&](int from) {
        return interpolate(means.exact[from + first[j]], means.exact[from + second[j]], weight[j]);
      };
      const double upper = between_columns(start.above), difference = between_columns(start.below) - upper;
      step[j] = start.further * difference;
      value[j] = upper + start.along * difference;
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

template <class Sample>
struct WideColumns {
  static constexpr int n = word_samples<Sample>;
  static constexpr unsigned margin = 32;  ///< units of 2^-32 that a value may be off by, and more
  unsigned place[n];                      ///< of the pair across, in bytes
  double weight[n];
  double value[n];                ///< of the next row, and 1.5 * 2^20
  double difference[n], further;  ///< what is added from row to row is their product

  __device__ __forceinline__ void set(const RectangleMeans& means, const RectangleTile& tile, int j,
                                      const RectangleLine& line) {
    const int before = tile.cell_x * tile.components;
    place[j] = static_cast<unsigned>(line.first - before) * static_cast<unsigned>(sizeof(double2));
    weight[j] = line.along * means.by_distance[0][line.which];
  }
  struct Start {
    int above, below;  ///< where the means of the two rows of cells begin, in bytes
    double along, further;
  };
  __device__ __forceinline__ static Start start(const RectangleMeans& means, const RectangleTile& tile,
                                                const RectangleAxis&, const RectangleLine& row, int row_height) {
    const double by_distance = row.second == row.first ? 0 : means.by_distance[1][row.which];
    const int across = tile.columns * tile.components * static_cast<int>(sizeof(double2));
    return {(row.first - tile.cell_y) * across, (row.second - tile.cell_y) * across, row.along * by_distance,
            row_height * by_distance};
  }
  /// Begins a run of a warp's rows, of which the next one is the first.
  __device__ __forceinline__ void begin(const RectangleMeans& means, const RectangleTile&, const Start& start) {
    const char* pairs = reinterpret_cast<const char*>(means.pair);
    further = start.further;
#pragma unroll
    for (int j = 0; j < n; ++j) {
      const double2 above = *reinterpret_cast<const double2*>(pairs + start.above + place[j]),
                    below = *reinterpret_cast<const double2*>(pairs + start.below + place[j]);
      const double upper = above.x + weight[j] * above.y;
      difference[j] = below.x + weight[j] * below.y - upper;
      value[j] = start.along * difference[j] + (upper + (0x1.8p20 + 0.5 + margin * 0x1p-32));
    }
  }
  /// The samples of a row, then goes on to the next. `least` becomes less than 2 * margin where one may be another
  /// code.
  __device__ __forceinline__ unsigned next(unsigned& least) {
#pragma unroll
    for (int j = 0; j < n; j += 2)
      least = __vimin3_u32(least, static_cast<unsigned>(__double2loint(value[j])),
                           static_cast<unsigned>(__double2loint(value[j + 1])));
    const auto code = [&](int j) { return static_cast<unsigned>(__double2hiint(value[j])); };
    unsigned samples;
    if constexpr (n == 2)
      samples = __byte_perm(code(0), code(1), 0x5410);
    else
      samples = __byte_perm(__byte_perm(code(0), code(1), 0x0040), __byte_perm(code(2), code(3), 0x0040), 0x5410);
#pragma unroll
    for (int j = 0; j < n; ++j) value[j] = __fma_rn(further, difference[j], value[j]);
    return samples;
  }
};

template <class Sample>
using TileColumns = std::conditional_t<wide_columns, WideColumns<Sample>, LaneColumns<Sample>>;

#endif

}  // namespace convolve::cuda
