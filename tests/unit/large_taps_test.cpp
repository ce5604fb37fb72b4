// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's tensor kernels for large separable filters compute with: the banded matrices as lanes hold them, and both
// passes with their roundings, against sums in double precision.
#include "cuda/separable/large_taps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/common/half.hpp"

namespace {

using namespace convolve;
using cuda::LargeNumbers;
using cuda::LargeTaps;

double entry(LargeNumbers numbers, std::uint32_t word, int e) {
  if (numbers == LargeNumbers::halves) return cuda::half_value(static_cast<std::uint16_t>(word >> 16 * e));
  return static_cast<std::int8_t>(word >> 8 * e);
}

LargeTaps counting_taps(LargeNumbers numbers, int count) {
  LargeTaps taps;
  taps.numbers = numbers;
  for (int i = 1; i <= count; ++i) taps.row.push_back(i);
  taps.column = taps.row;
  return taps;
}

double tap_at(const std::vector<double>& taps, int i) {
  return i >= 0 && i < static_cast<int>(taps.size()) ? taps[i] : 0;
}

/// Where the row pass puts column n = 2 t + e of a product's sums, component c: the byte of the output that this is.
int output_byte(int components, int tile, int n, int c) {
  const int t = n / 2, e = n % 2;
  if (components == 1) return tile / 4 * 32 + cuda::large_byte_of(8 * t + tile % 4 * 2 + e);
  if (components == 2) return tile / 2 * 32 + cuda::large_byte_of(8 * t + tile % 2 * 4 + 2 * e + c);
  if (components == 3) {
    // A lane's six sums of two neighbours are stored two by two, each pair in the place of the bytes that it is of.
    const int pair = (3 * e + c) / 2, byte = 24 * tile + 6 * t + 2 * pair;
    return byte / 32 * 32 + cuda::large_byte_of(byte % 8 / 2 * 8 + byte % 32 / 8 * 2 + (3 * e + c) % 2);
  }
  return tile * 32 + cuda::large_byte_of(t % 2 * 16 + t / 2 * 4 + c / 2 * 8 + 2 * e + c % 2);
}

// Each output that a lane stores is that of the pixel and component whose place in V it stores it at.
TEST(LargeTaps, RowMatricesMakeSumsInTheOrderOfV) {
  for (const LargeNumbers numbers : {LargeNumbers::halves, LargeNumbers::limbs})
    for (const int components : {1, 2, 3, 4})
      for (const int count : {1, 16, 17, 31, 33, 100, 127}) {
        const LargeTaps taps = counting_taps(numbers, count);
        const int centre = count / 2, unit = unit_of(numbers), tiles = unit / 8;
        const std::vector<std::uint32_t> words = large_row_matrices(taps, centre, components);
        const int units = cuda::large_row_units(unit, count, centre);
        ASSERT_EQ(words.size(), std::size_t(units * unit / 16 * 32 * 4));
        double found = 0;
        for (int i = 0; i < units; ++i)
          for (int tile = 0; tile < tiles; ++tile)
            for (int lane = 0; lane < 32; ++lane)
              for (int half = 0; half < 2; ++half)
                for (int e = 0; e < (numbers == LargeNumbers::halves ? 2 : 4); ++e) {
                  const int n = lane / 4, t = lane % 4;
                  const int part = i * (unit / 16) + tile / 2, w = tile % 2 * 2 + half;
                  // A lane's left operand: four neighbours from 4 t on, and of limbs four more 16 pixels on.
                  const int from = numbers == LargeNumbers::halves ? 4 * t + 2 * half + e : 16 * half + 4 * t + e;
                  const double tap = entry(numbers, words[(part * 32 + lane) * 4 + w], e);
                  found += tap;
                  for (int c = 0; c < components; ++c) {
                    const int byte = output_byte(components, tile, n, c), x = byte / components;
                    ASSERT_EQ(byte % components, c);
                    // Input pixel i * unit + from stands at that less `lead` and the centre, beside output pixel 0.
                    ASSERT_EQ(tap, tap_at(taps.row, i * unit + from - cuda::large_lead(centre) - x))
                        << components << " components, " << count << " taps, tile " << tile << ", lane " << lane;
                  }
                }
        EXPECT_EQ(found, unit * count * (count + 1) / 2.0);  // none is lost
      }
}

// Row 8 h + 2 t + e of a strip's product makes the pixel that lane t stores as its pixel 2 h + e; units beyond the last
// that holds a tap are zero.
TEST(LargeTaps, StripMatricesMakeFourNeighboursOfALane) {
  for (const LargeNumbers numbers : {LargeNumbers::halves, LargeNumbers::limbs})
    for (const int count : {1, 16, 17, 31, 33, 63, 65, 127}) {
      const LargeTaps taps = counting_taps(numbers, count);
      const int centre = count / 2, unit = unit_of(numbers), parts = unit / 16;
      const int units = cuda::large_row_units(unit, count, centre) + 1;
      const std::vector<std::uint32_t> words = large_strip_matrices(taps, centre, units);
      ASSERT_EQ(words.size(), std::size_t(units * parts * 32 * 4));
      double found = 0;
      for (int part = 0; part < units * parts; ++part)
        for (int pixel = 0; pixel < 16; ++pixel)
          for (int from = 0; from < unit; ++from) {
            // The lane and word that hold row `m` of the matrix, and the column of the four neighbours `from` is of.
            const int m = pixel / 2 % 2 * 8 + pixel / 4 * 2 + pixel % 2, t = from % 16 / 4, lane = m % 8 * 4 + t;
            const bool halves = numbers == LargeNumbers::halves;
            const int w = m / 8 + 2 * (halves ? from % 4 / 2 : from / 16), e = halves ? from % 2 : from % 4;
            const double tap = entry(numbers, words[(part * 32 + lane) * 4 + w], e);
            found += tap;
            const int x = part % parts * 16 + pixel, at = part / parts * unit + from;
            ASSERT_EQ(tap, tap_at(taps.row, at - cuda::large_lead(centre) - x)) << count << " taps, lane " << lane;
          }
      EXPECT_EQ(found, unit * count * (count + 1) / 2.0);
    }
}

TEST(LargeTaps, ColumnMatricesHoldEachTapOncePerRow) {
  for (const LargeNumbers numbers : {LargeNumbers::halves, LargeNumbers::limbs})
    for (const int count : {1, 16, 17, 31, 33, 100, 127}) {
      const LargeTaps taps = counting_taps(numbers, count);
      const int unit = unit_of(numbers), units = cuda::large_column_units(unit, count);
      const std::vector<std::uint32_t> words = large_column_matrices(taps, units);
      ASSERT_EQ(words.size(), std::size_t(units * unit / 16 * 32 * 4));
      double found = 0;
      for (std::size_t i = 0; i < words.size(); ++i) {
        const int w = i % 4, g = i / 4 % 32 / 4, t = i / 4 % 4, part = static_cast<int>(i / 128) % (unit / 16);
        const int row = 16 * part + g + w % 2 * 8, at = static_cast<int>(i / 128) / (unit / 16) * unit;
        for (int e = 0; e < (numbers == LargeNumbers::halves ? 2 : 4); ++e) {
          const int from =
              numbers == LargeNumbers::halves ? w / 2 * 8 + 2 * t + e : w / 2 * 16 + e / 2 * 8 + 2 * t + e % 2;
          const double tap = entry(numbers, words[i], e);
          found += tap;
          ASSERT_EQ(tap, tap_at(taps.column, at + from - row));
        }
      }
      EXPECT_EQ(found, unit * count * (count + 1) / 2.0);
    }
}

TEST(LargeTaps, HalvesRoundToNearestEven) {
  EXPECT_EQ(cuda::half_bits(1), 0x3C00);
  EXPECT_EQ(cuda::half_bits(-2), 0xC000);
  EXPECT_EQ(cuda::half_bits(65504), 0x7BFF);
  EXPECT_EQ(cuda::half_bits(65520), 0x7C00);
  EXPECT_EQ(cuda::half_bits(1e9), 0x7C00);
  EXPECT_EQ(cuda::half_bits(0x1p-24), 1);
  EXPECT_EQ(cuda::half_bits(0x1p-25), 0);
  EXPECT_EQ(cuda::half_bits(0x1.8p-24), 2);
  EXPECT_EQ(cuda::half_bits(1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(cuda::half_bits(1 + 0x1.8p-10), 0x3C02);
  for (int bits = 0; bits < 0x7C00; ++bits) ASSERT_EQ(cuda::half_bits(cuda::half_value(bits)), bits);
}

PlanDesc desc_of(Preset preset, int radius) {
  PlanDesc desc;
  desc.layout.bits = 8;
  desc.layout.planes = desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = Component{.width = 8, .height = 8};
  desc.filter = Filter(make_preset(preset, {.radius = radius}));
  return desc;
}

Arithmetic arithmetic_of(const PlanDesc& desc) {
  const Component* const component = &desc.layout.plane[0].component[0];
  return frame_factors_arithmetic(desc.filter, choose_arithmetic(desc.filter, desc.layout, false), desc.layout, false,
                                  std::span(&component, 1));
}

/// One sample as the kernels make it, before it is rounded, and as it is, of a window of random bytes.
struct Sample {
  double made, wanted;
};
Sample random_sample(const PlanDesc& desc, const LargeTaps& taps, int low, int high, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(low, high);
  const FrameFactors& frame = desc.filter.frame_factors().front();
  const bool halves = taps.numbers == LargeNumbers::halves;
  double sum = 0, wanted = 0, at_centre = 0;
  for (int y = 0; y < desc.filter.height(); ++y) {
    double v = taps.row_start, row = 0;
    for (int x = 0; x < desc.filter.width(); ++x) {
      const int sample = byte(random);
      if (y == desc.filter.centre_y() && x == desc.filter.centre_x()) at_centre = sample;
      v += taps.row[x] * sample * taps.row_scale;
      row += frame.factors.row[x] * sample;
    }
    sum += taps.column[y] * (halves ? cuda::half_value(cuda::half_bits(v)) : v);
    wanted += frame.factors.column[y] * row;
  }
  wanted += frame.centre * at_centre;
  const double all = sum + taps.start[0][0] + taps.centre * at_centre;
  const double made = taps.divisor != 0 ? all / taps.divisor + taps.level[0][0]
                                        : all * taps.gain + all * taps.gain_low + taps.level[0][0];
  return {made, wanted};
}

TEST(LargeTaps, RealTapsStayWithinACodeValue) {
  for (const Preset preset : {Preset::gaussian_blur, Preset::unsharp})
    for (const int radius : {8, 15, 31, 127}) {
      const PlanDesc desc = desc_of(preset, radius);
      LargeTaps taps;
      ASSERT_TRUE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
      ASSERT_EQ(taps.numbers, LargeNumbers::halves);
      for (std::uint32_t seed = 0; seed < 8; ++seed)
        for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}, std::pair{255, 255}}) {
          const Sample sample = random_sample(desc, taps, low, high, seed);
          ASSERT_NEAR(sample.made, sample.wanted, 0.2) << "radius " << radius;
        }
    }
}

// Blurs and unsharp masks, alone and upside down: the taps are bytes, and samples stay as near as the error says.
TEST(LargeTaps, RowsOfBytesStayWithinHalfACodeValue) {
  for (const Preset preset : {Preset::gaussian_blur, Preset::unsharp})
    for (const int radius : {8, 31, 63, 97, 127})
      for (const double scale : {1.0, -1.0}) {
        PlanDesc desc = desc_of(preset, radius);
        desc.filter = Filter(make_preset(preset, {.radius = radius}), {.scale = scale});
        LargeTaps taps;
        ASSERT_TRUE(make_large_taps_of_bytes(desc, desc.filter.frame_factors().front(), taps)) << radius;
        EXPECT_LT(taps.error, 0.5);
        for (const double tap : taps.row) ASSERT_TRUE(tap == std::round(tap) && tap >= 0 && tap <= 255) << tap;
        for (std::uint32_t seed = 0; seed < 8; ++seed)
          for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}}) {
            const Sample sample = random_sample(desc, taps, low, high, seed);
            ASSERT_NEAR(sample.made, sample.wanted, taps.error) << "radius " << radius;
          }
        // An even frame is off by what halves round alone.
        for (const int level : {0, 1, 127, 254, 255}) {
          const Sample sample = random_sample(desc, taps, level, level, 0);
          ASSERT_NEAR(sample.made, sample.wanted, 0.12) << "radius " << radius << ", level " << level;
        }
      }
}

// The frame for which the taps of a row are worst, as far as a column of one tap lets it be seen.
TEST(LargeTaps, TheErrorOfRowsOfBytesIsThatOfTheWorstFrame) {
  PlanDesc desc = desc_of(Preset::gaussian_blur, 63);
  const std::vector<double> row = desc.filter.frame_factors().front().factors.row;
  TapArray array{.depth = 1, .height = 1, .width = static_cast<int>(row.size()), .taps = {}};
  for (const double tap : row) array.taps.push_back(Tap::real(tap));
  desc.filter = Filter(array, {.normalize = true});
  const FrameFactors& frame = desc.filter.frame_factors().front();
  LargeTaps taps;
  ASSERT_TRUE(make_large_taps_of_bytes(desc, frame, taps));
  const double of_column = frame.factors.column[0];
  double made = taps.row_start, wanted = 0;
  for (std::size_t i = 0; i < taps.row.size(); ++i) {
    const double unit = taps.gain * taps.column[0] * taps.row_scale;  // of a tap
    const int sample = unit * taps.row[i] > of_column * frame.factors.row[i] ? 255 : 0;
    made += taps.row[i] * taps.row_scale * sample;
    wanted += of_column * frame.factors.row[i] * sample;
  }
  const double off = std::abs(made * taps.column[0] * taps.gain + taps.level[0][0] - wanted);
  EXPECT_GT(off, 0.1);
  EXPECT_LT(off, taps.error);
}

TEST(LargeTaps, RowsOfEitherSignAreNoBytes) {
  PlanDesc desc = desc_of(Preset::gaussian_blur, 31);
  TapArray array{.depth = 1, .height = 1, .width = 63, .taps = std::vector<Tap>(63, Tap::real(0.0171))};
  array.taps[0] = Tap::real(-0.001);
  desc.filter = Filter(array);
  LargeTaps taps;
  EXPECT_FALSE(make_large_taps_of_bytes(desc, desc.filter.frame_factors().front(), taps));
  // One sign, but so uneven that most of the sum is lost to rounding.
  for (int i = 0; i < 63; ++i) array.taps[static_cast<std::size_t>(i)] = Tap::real(i == 31 ? 0.5 : 0.5 / 62 / 5.3);
  desc.filter = Filter(array);
  EXPECT_FALSE(make_large_taps_of_bytes(desc, desc.filter.frame_factors().front(), taps));
}

TEST(LargeTaps, BoxesAreExact) {
  for (const int radius : {8, 15, 31, 127}) {
    const PlanDesc desc = desc_of(Preset::box_blur, radius);
    LargeTaps taps;
    ASSERT_TRUE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
    ASSERT_EQ(taps.numbers, LargeNumbers::limbs);
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      const Sample sample = random_sample(desc, taps, 0, 255, seed);
      ASSERT_NEAR(sample.made, sample.wanted, 1e-4) << "radius " << radius;  // of the gain, a float
    }
  }
}

// Beside a bias a quotient may need its remainder, without one a product may do: what one component needs all have.
TEST(LargeTaps, ComponentsWithAndWithoutABiasAreDividedAlike) {
  for (const bool bias_first : {false, true}) {
    PlanDesc desc = desc_of(Preset::box_blur, 8);
    TapArray array{.depth = 1, .height = 1, .width = 17, .taps = std::vector<Tap>(17, Tap::integer(1))};
    for (int i = 0; i < 17; ++i) array.taps[i] = Tap::fraction(i % 2 ? 30 : 1, 4809);
    desc.filter = Filter(array);
    PlaneLayout& plane = desc.layout.plane[0];
    plane.components = 2;
    plane.component[1] = plane.component[0];
    plane.component[bias_first ? 0 : 1].bias = 127.5;
    const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, false);
    ASSERT_EQ(make_quantizer(arithmetic, desc.layout, plane.component[bias_first ? 1 : 0]).division, Division::product);
    ASSERT_NE(make_quantizer(arithmetic, desc.layout, plane.component[bias_first ? 0 : 1]).division, Division::product);
    LargeTaps taps;
    ASSERT_TRUE(make_large_taps(desc, arithmetic, desc.filter.frame_factors().front(), taps));
    EXPECT_EQ(taps.divisor, 4809);
    EXPECT_EQ(taps.gain_low, 0);
    EXPECT_EQ(taps.level[0][bias_first ? 0 : 1], 127.5f);
    EXPECT_EQ(taps.level[0][bias_first ? 1 : 0], 0);
  }
}

/// numerator / divisor to nearest, ties to even, within a byte.
int divided(std::int64_t numerator, std::int64_t divisor) {
  if (numerator < 0) return 0;
  std::int64_t code = numerator / divisor;
  const std::int64_t rest = 2 * (numerator - code * divisor);
  if (rest > divisor || (rest == divisor && code % 2 == 1)) ++code;
  return static_cast<int>(std::min<std::int64_t>(code, 255));
}

/// The sample that a kernel makes of a sum of the filter and the offset; `beside`: what its bits hold beside that sum.
int made(const LargeTaps& taps, int sum, int beside) {
  const auto s = static_cast<float>(sum);
  const float low = s * taps.gain_low;
  const float value = taps.whole == 0 ? std::fma(s, taps.gain, low)
                                      : std::fma(std::bit_cast<float>(sum + beside), taps.gain, -taps.whole);
  return static_cast<int>(std::clamp(std::nearbyint(static_cast<double>(value)), 0.0, 255.0));
}
int bits_beside(const LargeTaps& taps, int divisor) {
  return taps.whole == 0 ? 0 : 0x4B000000 - 0x800000 + static_cast<int>(taps.whole) * divisor;
}

// The sums that lie closest to ties, of divisors up to the largest with which a sum of bytes fits 24 bits.
TEST(LargeTaps, TwoProductsRoundAsTheQuotientDoes) {
  std::mt19937 random(1);
  std::vector<int> divisors{1,     2,     3,     961,   4809,  5461,  16383, 16384,
                            32767, 32768, 32769, 65025, 65533, 65534, 65535, 65536};
  for (int i = 0; i < 300; ++i) divisors.push_back(1 + static_cast<int>(random() % 65535));
  for (const int divisor : divisors) {
    PlanDesc desc = desc_of(Preset::box_blur, 8);
    TapArray array{.depth = 1, .height = 1, .width = 17, .taps = std::vector<Tap>(17, Tap::fraction(1, divisor))};
    desc.filter = Filter(array);
    desc.layout.plane[0].component[0].zero = 16;
    LargeTaps taps;
    ASSERT_TRUE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
    ASSERT_EQ(taps.divisor, 0) << divisor;
    ASSERT_EQ(taps.start[0][0], 17 * (128 - 16) + 16 * divisor);
    ASSERT_EQ(taps.beside, bits_beside(taps, divisor));
    taps.whole = 0;  // of all sums that fit, more than these taps make
    for (int code = -1; code < 256; ++code)
      for (int off = -3; off <= 3; ++off) {
        const int sum = code * divisor + divisor / 2 + off;
        ASSERT_EQ(made(taps, sum, 0), divided(sum, divisor)) << sum << " / " << divisor;
      }
  }
}

// The same of boxes, most of whose sums are read as floats.
TEST(LargeTaps, SumsReadAsFloatsRoundAsTheQuotientDoes) {
  int read = 0;
  for (int radius = 8; radius <= 63; ++radius) {
    const PlanDesc desc = desc_of(Preset::box_blur, radius);
    LargeTaps taps;
    ASSERT_TRUE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
    const int divisor = (2 * radius + 1) * (2 * radius + 1), beside = bits_beside(taps, divisor);
    ASSERT_EQ(taps.start[0][0], 128 * divisor);
    ASSERT_EQ(taps.beside, beside);
    read += taps.whole != 0;
    for (int code = 0; code < 255; ++code)
      for (int off = -3; off <= 3; ++off) {
        const int sum = code * divisor + divisor / 2 + off;
        ASSERT_EQ(made(taps, sum, beside), divided(sum, divisor)) << sum << " / " << divisor;
      }
    for (const int sum : {0, 1, 255 * divisor - 1, 255 * divisor})
      ASSERT_EQ(made(taps, sum, beside), divided(sum, divisor)) << sum << " / " << divisor;
    if (radius == 15) {
      ASSERT_NE(taps.whole, 0);
    }
  }
  EXPECT_GT(read, 40);
}

TEST(LargeTaps, WhatCouldBeWrongIsRefused) {
  // A gain of 40, which multiplies what halves round.
  PlanDesc desc = desc_of(Preset::gaussian_blur, 31);
  desc.filter = Filter(make_preset(Preset::gaussian_blur, {.radius = 31}), {.scale = 40});
  LargeTaps taps;
  EXPECT_FALSE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
  // Integer taps of more than 8 bits, whose exact sum fits.
  TapArray array{.depth = 1, .height = 1, .width = 17, .taps = std::vector<Tap>(17, Tap::integer(1))};
  array.taps[3] = Tap::integer(200);
  desc.filter = Filter(array, {.normalize = true});
  ASSERT_TRUE(arithmetic_of(desc).exact_taps);
  EXPECT_FALSE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
  // Row sums of more than 16 bits.
  for (Tap& tap : array.taps) tap = Tap::integer(100);
  array.taps[3] = Tap::integer(99);
  desc.filter = Filter(array, {.normalize = true});
  ASSERT_TRUE(arithmetic_of(desc).exact_taps);
  EXPECT_FALSE(make_large_taps(desc, arithmetic_of(desc), desc.filter.frame_factors().front(), taps));
}

}  // namespace
