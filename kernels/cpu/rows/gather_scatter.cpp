// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plain loops, compiled for each SIMD target: compilers vectorise them.
#include "cpu/rows/gather_scatter.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/simd/highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rows/gather_scatter.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convolve::cpu::HWY_NAMESPACE {
namespace {

template <class T>
T load(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class Sample>
void move(unsigned char* to, int to_step, const unsigned char* from, int from_step, int n) {
  const std::size_t a = to_step * sizeof(Sample), b = from_step * sizeof(Sample);
  for (int i = 0; i < n; ++i) store(to + i * a, load<Sample>(from + i * b));
}

void move(void* to, int to_step, const void* from, int from_step, int n, int size) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  if (size == 1)
    move<std::uint8_t>(t, to_step, f, from_step, n);
  else if (size == 2)
    move<std::uint16_t>(t, to_step, f, from_step, n);
  else
    move<std::uint32_t>(t, to_step, f, from_step, n);
}

// Every second sample, as the low half of a Pair: this is what compilers vectorise.
template <class Sample, class Pair>
void gather_pairs(unsigned char* __restrict to, const unsigned char* __restrict from, int n) {
  for (int i = 0; i < n; ++i) store(to + i * sizeof(Sample), static_cast<Sample>(load<Pair>(from + i * sizeof(Pair))));
}

template <class Sample, class Pair>
void scatter_pairs(unsigned char* __restrict to, const unsigned char* __restrict from, int n) {
  constexpr Pair high = static_cast<Pair>(static_cast<Pair>(~Pair{0}) << (8 * sizeof(Sample)));
  for (int i = 0; i < n; ++i)
    store(to + i * sizeof(Pair),
          static_cast<Pair>((load<Pair>(to + i * sizeof(Pair)) & high) | load<Sample>(from + i * sizeof(Sample))));
}

// Moves n - 1 samples in pairs, by `bytes` or `words`, where that serves; the last one of a row may have no partner.
// Returns how many it moved.
template <class Move>
HWY_INLINE int move_pairs(void* to, const void* from, int n, int stride, int size, Move* bytes, Move* words) {
  if (stride != 2 || size >= 4 || std::endian::native != std::endian::little) return 0;
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  size == 1 ? bytes(t, f, n - 1) : words(t, f, n - 1);
  return n - 1;
}

}  // namespace

void Gather(void* to, const void* from, int n, int stride, int size) {
  const int done = move_pairs(to, from, n, stride, size, gather_pairs<std::uint8_t, std::uint16_t>,
                              gather_pairs<std::uint16_t, std::uint32_t>);
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(done) * size;
  move(static_cast<char*>(to) + at, 1, static_cast<const char*>(from) + at * stride, stride, n - done, size);
}

void Scatter(void* to, const void* from, int n, int stride, int size) {
  const int done = move_pairs(to, from, n, stride, size, scatter_pairs<std::uint8_t, std::uint16_t>,
                              scatter_pairs<std::uint16_t, std::uint32_t>);
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(done) * size;
  move(static_cast<char*>(to) + at * stride, stride, static_cast<const char*>(from) + at, 1, n - done, size);
}

void CopySamples(void* to, const void* from, int n, int stride, int size) {
  move(to, stride, from, stride, n, size);
}

void Blend(void* to, const void* from, int bytes, const ByteMask& mask) {
  auto* __restrict t = static_cast<unsigned char*>(to);
  const auto* __restrict f = static_cast<const unsigned char*>(from);
  constexpr int chunk = static_cast<int>(std::tuple_size_v<ByteMask>);
  int i = 0;
  for (; i + chunk <= bytes; i += chunk)
    for (int j = 0; j < chunk; ++j) t[i + j] = static_cast<unsigned char>((t[i + j] & ~mask[j]) | (f[i + j] & mask[j]));
  for (int j = 0; i < bytes; ++i, ++j) t[i] = static_cast<unsigned char>((t[i] & ~mask[j]) | (f[i] & mask[j]));
}

}  // namespace convolve::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convolve::cpu {

HWY_EXPORT(Gather);
HWY_EXPORT(Scatter);
HWY_EXPORT(CopySamples);
HWY_EXPORT(Blend);

void gather(void* to, const void* from, int n, int stride, int size) {
  HWY_DYNAMIC_DISPATCH(Gather)(to, from, n, stride, size);
}

void scatter(void* to, const void* from, int n, int stride, int size) {
  HWY_DYNAMIC_DISPATCH(Scatter)(to, from, n, stride, size);
}

void copy_samples(void* to, const void* from, int n, int stride, int size) {
  HWY_DYNAMIC_DISPATCH(CopySamples)(to, from, n, stride, size);
}

void blend(void* to, const void* from, int bytes, const ByteMask& mask) {
  HWY_DYNAMIC_DISPATCH(Blend)(to, from, bytes, mask);
}

namespace {

// Copies of a known size take no call.
template <std::size_t Bytes>
void pick(unsigned char* to, const unsigned char* row, const int* index, int n) {
  for (int i = 0; i < n; ++i, to += Bytes) std::memcpy(to, row + index[i] * static_cast<std::ptrdiff_t>(Bytes), Bytes);
}

}  // namespace

void pick_pixels(unsigned char* to, const unsigned char* row, const int* index, int n, const ComponentGroup& g,
                 int sample_size) {
  const int bytes = g.components * sample_size;
  const std::ptrdiff_t sample_step = static_cast<std::ptrdiff_t>(g.stride) * sample_size;
  if (g.stride == 1 && bytes == 1) return pick<1>(to, row, index, n);
  if (g.stride == 1 && bytes == 2) return pick<2>(to, row, index, n);
  if (g.stride == 1 && bytes == 3) return pick<3>(to, row, index, n);
  if (g.stride == 1 && bytes == 4) return pick<4>(to, row, index, n);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < g.components; ++c, to += sample_size)
      std::memcpy(to, row + (static_cast<std::ptrdiff_t>(index[i]) * g.components + c) * sample_step, sample_size);
}

}  // namespace convolve::cpu
#endif
