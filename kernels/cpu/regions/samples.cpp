// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plain loops, compiled for each SIMD target: compilers vectorise them.
#include "cpu/regions/samples.hpp"

#include <cstddef>
#include <cstring>

#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/regions/samples.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

constexpr std::uint32_t full_weight = 256;

template <class T>
T load(const unsigned char* row, int i) {
  T value;
  std::memcpy(&value, row + static_cast<std::size_t>(i) * sizeof value, sizeof value);
  return value;
}

template <class T>
void store(unsigned char* row, int i, T value) {
  std::memcpy(row + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
}

// Calls body(i, n) for samples i to i + n - 1, with n as a constant, up to `most`: a block of a vector or more. The
// last block begins earlier where no whole one is left, so that short rows have no samples that are treated one by one;
// bodies may therefore not depend on what they have written.
template <int most, class Body>
void in_blocks(int samples, const Body& body) {
  if (samples < most) {
    if constexpr (most > 1) in_blocks<most / 2>(samples, body);
    return;
  }
  int i = 0;
  for (; i + most <= samples; i += most) body(i, std::integral_constant<int, most>());
  if (i < samples) body(samples - most, std::integral_constant<int, most>());
}

// The same of short rows; long ones are one block of any number of samples, which compilers make the better loop of.
template <class Body>
void in_blocks_where_short(int samples, const Body& body) {
  if (samples < 128)
    in_blocks<16>(samples, body);
  else
    body(0, samples);
}

// Calls `body` with the number of components as a constant, so that inner loops unroll.
template <class Body>
void with_components(int components, Body&& body) {
  switch (components) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    default:
      return body(std::integral_constant<int, 4>());
  }
}

// So many pixels that 32 bits hold the sum of 16-bit samples.
constexpr int pixels_a_sum = 1 << 15;

template <class T, int n>
void sum_pixels(const unsigned char* row, int shift, int pixels, std::int64_t* sums) {
  for (int first = 0; first < pixels; first += pixels_a_sum) {
    const int last = first + pixels_a_sum < pixels ? first + pixels_a_sum : pixels;
    std::uint32_t sum[n] = {};
    for (int i = first; i < last; ++i)
      for (int c = 0; c < n; ++c) sum[c] += static_cast<std::uint32_t>(load<T>(row, i * n + c)) >> shift;
    for (int c = 0; c < n; ++c) sums[c] += sum[c];
  }
}

template <class T, int n>
int sum_full_pixels(const unsigned char* row, int shift, int pixels, const std::uint16_t* weights, std::int64_t* sums) {
  std::uint32_t count = 0;
  for (int first = 0; first < pixels; first += pixels_a_sum) {
    const int last = first + pixels_a_sum < pixels ? first + pixels_a_sum : pixels;
    std::uint32_t sum[n] = {};
    for (int i = first; i < last; ++i) {
      const std::uint32_t full = weights[i] == full_weight;
      count += full;
      for (int c = 0; c < n; ++c) sum[c] += full * (static_cast<std::uint32_t>(load<T>(row, i * n + c)) >> shift);
    }
    for (int c = 0; c < n; ++c) sums[c] += sum[c];
  }
  return static_cast<int>(count);
}

template <class T>
void sum_column_rows(std::uint32_t* __restrict sums, const unsigned char* __restrict row, std::ptrdiff_t stride,
                     int rows, int shift, int samples) {
  in_blocks<16>(samples, [&](int first, auto n) {
    std::uint32_t sum[n] = {};
    for (int y = 0; y < rows; ++y)
      for (int i = 0; i < n; ++i) sum[i] += static_cast<std::uint32_t>(load<T>(row + y * stride, first + i)) >> shift;
    for (int i = 0; i < n; ++i) sums[first + i] = sum[i];
  });
}

template <class T>
void store_row(unsigned char* __restrict row, const std::uint16_t* __restrict values, int shift, int samples) {
  in_blocks_where_short(samples, [&](int first, auto n) {
    for (int i = 0; i < n; ++i) store<T>(row, first + i, static_cast<T>(values[first + i] << shift));
  });
}

template <class T>
void load_row(std::uint16_t* __restrict values, const unsigned char* __restrict row, int shift, int samples) {
  for (int i = 0; i < samples; ++i) values[i] = static_cast<std::uint16_t>(load<T>(row, i) >> shift);
}

template <class T>
void blend_row(unsigned char* __restrict row, const std::uint16_t* __restrict values,
               const std::uint16_t* __restrict weights, int shift, int samples) {
  for (int i = 0; i < samples; ++i) {
    const T word = load<T>(row, i);
    const std::uint32_t in = static_cast<std::uint32_t>(word) >> shift, weight = weights[i];
    const std::uint32_t sum = in * (full_weight - weight) + values[i] * weight;
    // A half rounds up where the quotient is odd, so that ties go to even.
    const std::uint32_t rounded = (sum + full_weight / 2 - 1 + (sum / full_weight & 1)) / full_weight;
    store<T>(row, i, weight == 0 ? word : static_cast<T>(rounded << shift));
  }
}

template <int n>
void ramp_row(double* __restrict to, const Ramp& ramp, int pixels) {
  double from[n], difference[n];
  for (int c = 0; c < n; ++c) {
    from[c] = ramp.from[c];
    difference[c] = ramp.to[c] - ramp.from[c];
  }
  for (int i = 0; i < pixels; ++i) {
    const double along = (ramp.at + i * ramp.step) * ramp.scale;
    for (int c = 0; c < n; ++c) to[i * n + c] = from[c] + along * difference[c];
  }
}

template <int n>
void interpolate_row(double* __restrict to, const double* __restrict cells, const BetweenCells* __restrict at,
                     int pixels) {
  for (int i = 0; i < pixels; ++i)
    for (int c = 0; c < n; ++c) {
      const double from = cells[at[i].left * n + c];
      to[i * n + c] = from + at[i].along * (cells[(at[i].left + 1) * n + c] - from);
    }
}

}  // namespace

void SumSamples(const void* row, SampleFormat format, int components, int pixels, std::int64_t* sums) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  with_components(components, [&](auto n) {
    if (format.type == SampleType::u8)
      sum_pixels<std::uint8_t, n>(bytes, format.shift, pixels, sums);
    else
      sum_pixels<std::uint16_t, n>(bytes, format.shift, pixels, sums);
  });
}

int SumFull(const void* row, SampleFormat format, int components, int pixels, const std::uint16_t* weights,
            std::int64_t* sums) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  int count = 0;
  with_components(components, [&](auto n) {
    if (format.type == SampleType::u8)
      count = sum_full_pixels<std::uint8_t, n>(bytes, format.shift, pixels, weights, sums);
    else
      count = sum_full_pixels<std::uint16_t, n>(bytes, format.shift, pixels, weights, sums);
  });
  return count;
}

void SumColumns(std::uint32_t* sums, const void* row, std::ptrdiff_t stride, int rows, SampleFormat format,
                int samples) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  if (format.type == SampleType::u8)
    sum_column_rows<std::uint8_t>(sums, bytes, stride, rows, format.shift, samples);
  else
    sum_column_rows<std::uint16_t>(sums, bytes, stride, rows, format.shift, samples);
}

void StoreValues(void* row, const std::uint16_t* values, SampleFormat format, int samples) {
  auto* bytes = static_cast<unsigned char*>(row);
  if (format.type == SampleType::u8)
    store_row<std::uint8_t>(bytes, values, format.shift, samples);
  else
    store_row<std::uint16_t>(bytes, values, format.shift, samples);
}

void LoadValues(std::uint16_t* values, const void* row, SampleFormat format, int samples) {
  const auto* bytes = static_cast<const unsigned char*>(row);
  if (format.type == SampleType::u8)
    load_row<std::uint8_t>(values, bytes, format.shift, samples);
  else
    load_row<std::uint16_t>(values, bytes, format.shift, samples);
}

void BlendValues(void* row, const std::uint16_t* values, const std::uint16_t* weights, SampleFormat format,
                 int samples) {
  auto* bytes = static_cast<unsigned char*>(row);
  if (format.type == SampleType::u8)
    blend_row<std::uint8_t>(bytes, values, weights, format.shift, samples);
  else
    blend_row<std::uint16_t>(bytes, values, weights, format.shift, samples);
}

void SpreadWeights(std::uint16_t* to, const std::uint16_t* weights, int components, const bool* filtered, int pixels) {
  with_components(components, [&](auto n) {
    std::uint16_t mask[n];
    for (int c = 0; c < n; ++c) mask[c] = filtered[c] ? 0xffff : 0;
    for (int i = 0; i < pixels; ++i)
      for (int c = 0; c < n; ++c) to[i * n + c] = weights[i] & mask[c];
  });
}

void MakeRamp(double* to, const Ramp& ramp, int components, int pixels) {
  with_components(components, [&](auto n) { ramp_row<n>(to, ramp, pixels); });
}

void InterpolateCells(double* to, const double* cells, const BetweenCells* at, int components, int pixels) {
  with_components(components, [&](auto n) { interpolate_row<n>(to, cells, at, pixels); });
}

void ValuesBetween(std::uint16_t* __restrict values, const double* __restrict above, const double* __restrict below,
                   double down, int samples) {
  // Added and taken away, the first rounds to multiples of 2^-30, so that ties that the arithmetic has moved by less
  // are ties again; the second rounds to integers, ties to even.
  constexpr double rounding_bias = 0x1.8p22, whole = 0x1.8p52;
  in_blocks_where_short(samples, [&](int first, auto n) {
    for (int i = first; i < first + n; ++i) {
      const double value = ((above[i] + down * (below[i] - above[i])) + rounding_bias) - rounding_bias;
      values[i] = static_cast<std::uint16_t>(static_cast<int>((value + whole) - whole));
    }
  });
}

void TakeLarger(std::uint16_t* __restrict largest, std::int32_t* __restrict owners,
                const std::uint16_t* __restrict weights, std::int32_t owner, int pixels) {
  for (int i = 0; i < pixels; ++i) {
    const bool larger = weights[i] > largest[i];
    owners[i] = larger ? owner : owners[i];
    largest[i] = larger ? weights[i] : largest[i];
  }
}

void TakeOwned(std::uint16_t* __restrict values, const std::uint16_t* __restrict from,
               const std::int32_t* __restrict owners, std::int32_t owner, int components, int pixels) {
  with_components(components, [&](auto n) {
    for (int i = 0; i < pixels; ++i)
      for (int c = 0; c < n; ++c) values[i * n + c] = owners[i] == owner ? from[i * n + c] : values[i * n + c];
  });
}

void TakeNearer(std::uint32_t* __restrict keys, const std::uint32_t* __restrict before, std::uint32_t farther,
                std::uint32_t far, int pixels) {
  const auto take = [&](int i, std::uint32_t neighbour) {
    const std::uint32_t key = neighbour + farther < far ? neighbour + farther : far;
    keys[i] = key < keys[i] ? key : keys[i];
  };
  const auto lesser = [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; };
  const int last = pixels - 1;
  for (int i = 1; i < last; ++i) take(i, lesser(lesser(before[i - 1], before[i]), before[i + 1]));
  take(0, lesser(before[0], before[last > 0 ? 1 : 0]));
  take(last, lesser(before[last > 0 ? last - 1 : 0], before[last]));
}

void TakeLesser(std::uint32_t* keys, const std::uint32_t* others, int pixels) {
  // What is read ahead is never written before; clang vectorizes the loop after a test of its own.
#ifndef __clang__
#pragma GCC ivdep
#endif
  for (int i = 0; i < pixels; ++i) keys[i] = others[i] < keys[i] ? others[i] : keys[i];
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(SumSamples);
HWY_EXPORT(SumFull);
HWY_EXPORT(SumColumns);
HWY_EXPORT(StoreValues);
HWY_EXPORT(LoadValues);
HWY_EXPORT(BlendValues);
HWY_EXPORT(SpreadWeights);
HWY_EXPORT(MakeRamp);
HWY_EXPORT(InterpolateCells);
HWY_EXPORT(ValuesBetween);
HWY_EXPORT(TakeLarger);
HWY_EXPORT(TakeOwned);
HWY_EXPORT(TakeNearer);
HWY_EXPORT(TakeLesser);

void sum_samples(const void* row, SampleFormat format, int components, int pixels, std::int64_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumSamples)(row, format, components, pixels, sums);
}

int sum_full(const void* row, SampleFormat format, int components, int pixels, const std::uint16_t* weights,
             std::int64_t* sums) {
  return HWY_DYNAMIC_DISPATCH(SumFull)(row, format, components, pixels, weights, sums);
}

void sum_columns(std::uint32_t* sums, const void* row, std::ptrdiff_t stride, int rows, SampleFormat format,
                 int samples) {
  HWY_DYNAMIC_DISPATCH(SumColumns)(sums, row, stride, rows, format, samples);
}

void store_values(void* row, const std::uint16_t* values, SampleFormat format, int samples) {
  HWY_DYNAMIC_DISPATCH(StoreValues)(row, values, format, samples);
}

void load_values(std::uint16_t* values, const void* row, SampleFormat format, int samples) {
  HWY_DYNAMIC_DISPATCH(LoadValues)(values, row, format, samples);
}

void blend_values(void* row, const std::uint16_t* values, const std::uint16_t* weights, SampleFormat format,
                  int samples) {
  HWY_DYNAMIC_DISPATCH(BlendValues)(row, values, weights, format, samples);
}

void spread_weights(std::uint16_t* to, const std::uint16_t* weights, int components, const bool* filtered, int pixels) {
  HWY_DYNAMIC_DISPATCH(SpreadWeights)(to, weights, components, filtered, pixels);
}

void make_ramp(double* to, const Ramp& ramp, int components, int pixels) {
  HWY_DYNAMIC_DISPATCH(MakeRamp)(to, ramp, components, pixels);
}

void interpolate_cells(double* to, const double* cells, const BetweenCells* at, int components, int pixels) {
  HWY_DYNAMIC_DISPATCH(InterpolateCells)(to, cells, at, components, pixels);
}

void values_between(std::uint16_t* values, const double* above, const double* below, double down, int samples) {
  HWY_DYNAMIC_DISPATCH(ValuesBetween)(values, above, below, down, samples);
}

void take_larger(std::uint16_t* largest, std::int32_t* owners, const std::uint16_t* weights, std::int32_t owner,
                 int pixels) {
  HWY_DYNAMIC_DISPATCH(TakeLarger)(largest, owners, weights, owner, pixels);
}

void take_owned(std::uint16_t* values, const std::uint16_t* from, const std::int32_t* owners, std::int32_t owner,
                int components, int pixels) {
  HWY_DYNAMIC_DISPATCH(TakeOwned)(values, from, owners, owner, components, pixels);
}

void take_nearer(std::uint32_t* keys, const std::uint32_t* before, std::uint32_t farther, std::uint32_t far,
                 int pixels) {
  HWY_DYNAMIC_DISPATCH(TakeNearer)(keys, before, farther, far, pixels);
}

void take_lesser(std::uint32_t* keys, const std::uint32_t* others, int pixels) {
  HWY_DYNAMIC_DISPATCH(TakeLesser)(keys, others, pixels);
}

}  // namespace convolve::cpu
#endif
