// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// samples: the loops of regions over rows of samples, compiled for each SIMD target.
//
// A pixel is `components` neighbouring samples, 1 to 4, of 8 or 16 bits; a sample's value is the word shifted right by
// `shift`. Rows need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convolve/plane.hpp"

namespace convolve::cpu {

struct SampleFormat {
  SampleType type = SampleType::u8;  ///< u8 or u16
  int shift = 0;
};

/// Adds the values of each component to sums[component].
void sum_samples(const void* row, SampleFormat format, int components, int pixels, std::int64_t* sums);
/// Those of the pixels alone that have the full weight; returns how many they are.
int sum_full(const void* row, SampleFormat format, int components, int pixels, const std::uint16_t* weights,
             std::int64_t* sums);

/// sums[i] = the sum of the values of sample i over so many rows, `stride` bytes apart; up to 2^15 of them.
void sum_columns(std::uint32_t* sums, const void* row, std::ptrdiff_t stride, int rows, SampleFormat format,
                 int samples);

/// values[i] = the value of row[i].
void load_values(std::uint16_t* values, const void* row, SampleFormat format, int samples);

/// row[i] = the word of values[i]: blend_values() where all weights are full.
void store_values(void* row, const std::uint16_t* values, SampleFormat format, int samples);

/// row[i] = round((row[i] * (256 - weight) + value * weight) / 256), ties to even; left alone where the weight is 0.
void blend_values(void* row, const std::uint16_t* values, const std::uint16_t* weights, SampleFormat format,
                  int samples);

/// to[i * components + c] = filtered[c] ? weights[i] : 0.
void spread_weights(std::uint16_t* to, const std::uint16_t* weights, int components, const bool* filtered, int pixels);

/// to[i * components + c] = from[c] + (at + i * step) * scale * (to[c] - from[c]).
struct Ramp {
  const double* from;
  const double* to;
  double at, step, scale;
};
void make_ramp(double* to, const Ramp& ramp, int components, int pixels);

/// Where a pixel stands in a row of cells: between the centres of cells left and left + 1, `along` of the way.
struct BetweenCells {
  std::int32_t left = 0;
  double along = 0;
};
/// to[i * components + c] = what lies between the values of cells at[i].left and the next, at[i].along of the way.
void interpolate_cells(double* to, const double* cells, const BetweenCells* at, int components, int pixels);
/// values[i] = above[i] + down * (below[i] - above[i]), rounded to nearest, ties to even.
void values_between(std::uint16_t* values, const double* above, const double* below, double down, int samples);

/// Where `weights` is larger than `largest`, that becomes the largest and `owner` the sample's owner.
void take_larger(std::uint16_t* largest, std::int32_t* owners, const std::uint16_t* weights, std::int32_t owner,
                 int pixels);
/// Takes the values of the pixels that `owner` owns.
void take_owned(std::uint16_t* values, const std::uint16_t* from, const std::int32_t* owners, std::int32_t owner,
                int components, int pixels);

/// keys[i] = the least of it, of `farther` plus each of before[i - 1] to before[i + 1], and of `far`: see OwnerMap.
void take_nearer(std::uint32_t* keys, const std::uint32_t* before, std::uint32_t farther, std::uint32_t far,
                 int pixels);
/// keys[i] = the lesser of it and others[i]. `others` may lie in the same row, behind `keys`.
void take_lesser(std::uint32_t* keys, const std::uint32_t* others, int pixels);

}  // namespace convolve::cpu
