// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's tensor kernel for separable filters computes with: the matrices as lanes hold them, and both passes with
// their roundings, against sums in double precision.
#include "cuda/separable/tensor_taps.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/common/half.hpp"
#include "tensor_desc.hpp"

namespace {

using namespace convolve;
using cuda::Epilogue;
using cuda::half_twice;
using cuda::half_value;
using cuda::nearest_half;
using cuda::tensor::in_halves;
using cuda::tensor::TensorTaps;

bool make(const PlanDesc& desc, TensorTaps& taps) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant);
  const FrameFactors& frame = desc.filter.frame_factors().front();
  return make_tensor_taps(desc, arithmetic, in_numbers_of(arithmetic, frame.factors), frame.centre, taps);
}

Filter integers(std::vector<int> column, std::vector<int> row, bool normalize) {
  TapArray array{
      .depth = 1, .height = static_cast<int>(column.size()), .width = static_cast<int>(row.size()), .taps = {}};
  for (const int c : column)
    for (const int r : row) array.taps.push_back(Tap::integer(c * r));
  return Filter(array, {.normalize = normalize});
}

/// One sample as the kernel makes it, before it is rounded, and as it is, of a window of random bytes.
struct Sample {
  double made, wanted;
};
Sample random_sample(const PlanDesc& desc, const TensorTaps& taps, int low, int high, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(low, high);
  const FrameFactors& frame = desc.filter.frame_factors().front();
  const Component& component = desc.layout.plane[0].component[0];
  const bool halves = in_halves(taps.epilogue);
  double wanted = component.zero + component.bias, centre = 0, sum = taps.from[0][0];
  // A column of V for each tap of the row.
  for (int x = 0; x < desc.filter.width(); ++x) {
    double v = halves ? nearest_half(taps.start) : taps.start;
    for (int y = 0; y < desc.filter.height(); ++y) {
      const int sample = byte(random);
      if (y == desc.filter.centre_y() && x == desc.filter.centre_x()) centre = sample;
      v += taps.column[y] * sample * (halves ? 0x1p-24 : 1);
      wanted += frame.factors.column[y] * frame.factors.row[x] * (sample - component.zero);
    }
    if (taps.epilogue == Epilogue::scaled) {
      EXPECT_EQ(nearest_half(v), v);  // integers lose nothing on the way
    }
    if (!halves) {
      EXPECT_EQ(static_cast<double>(static_cast<std::int16_t>(v)), v);
    }
    sum += taps.row[x] * (halves ? nearest_half(v) : v);
  }
  wanted += frame.centre * (centre - component.zero);
  switch (taps.epilogue) {
    case Epilogue::saturate:
      return {sum, wanted};
    case Epilogue::centre_tap:
      return {sum + taps.centre * centre, wanted};
    case Epilogue::scaled:
      return {sum * taps.gain, wanted};
    case Epilogue::magic_number:
      return {std::bit_cast<float>(static_cast<std::int32_t>(sum)) * taps.gain + taps.offset, wanted};
    case Epilogue::biased:
      return {sum * taps.gain + taps.level[0][0] - taps.rounding_bias, wanted};
    default:
      ADD_FAILURE() << "an epilogue that the kernel does not have";
      return {NAN, wanted};
  }
}

void expect_near(const PlanDesc& desc, const TensorTaps& taps, double error) {
  for (std::uint32_t seed = 0; seed < 16; ++seed)
    for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}, std::pair{255, 255}}) {
      const Sample sample = random_sample(desc, taps, low, high, seed);
      ASSERT_NEAR(sample.made, sample.wanted, error) << desc.filter.shape() << ", seed " << seed;
    }
}

TEST(TensorTaps, RealTapsStayWithinACodeValue) {
  for (int radius = 1; radius <= 7; ++radius) {
    const PlanDesc desc = desc_of(Filter(make_preset(Preset::gaussian_blur, {.radius = radius})));
    TensorTaps taps;
    ASSERT_TRUE(make(desc, taps));
    ASSERT_EQ(taps.epilogue, Epilogue::saturate);
    expect_near(desc, taps, 0.2);
  }
}

TEST(TensorTaps, ATapAtTheCentreIsAddedToTheProduct) {
  for (int radius = 1; radius <= 7; ++radius) {
    const PlanDesc desc = desc_of(Filter(make_preset(Preset::unsharp, {.radius = radius})), {.zero = 16});
    TensorTaps taps;
    ASSERT_TRUE(make(desc, taps));
    ASSERT_EQ(taps.epilogue, Epilogue::centre_tap);
    expect_near(desc, taps, 0.2);
  }
}

TEST(TensorTaps, IntegerTapsAreExactInWhatHoldsThem) {
  struct Case {
    Filter filter;
    Component component;
    Epilogue epilogue;
  };
  for (const Case& c : {
           Case{integers({1, 2, 1}, {1, 2, 1}, true), {}, Epilogue::scaled},
           Case{integers({1, 2, 1}, {-1, 0, 1}, false), {.zero = 128}, Epilogue::scaled},
           Case{integers({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, true), {.zero = 16}, Epilogue::scaled},
           Case{integers({1, 4, 6, 4, 1}, {1, 4, 6, 4, 1}, true), {}, Epilogue::scaled},
           // Columns whose sums pass 2048.
           Case{integers({9, 10, 9}, {1, 1, 1}, true), {}, Epilogue::magic_number},
           Case{integers({19, 25, 19}, {1, 2, 1}, true), {.zero = 16}, Epilogue::magic_number},
           // A quotient by 63 * 72, an even divisor whose reciprocal is rounded by too much.
           Case{integers({19, 25, 19}, {1, 70, 1}, true), {}, Epilogue::biased},
       }) {
    const PlanDesc desc = desc_of(c.filter, c.component);
    TensorTaps taps;
    ASSERT_TRUE(make(desc, taps));
    EXPECT_EQ(taps.epilogue, c.epilogue) << c.filter.shape() << " " << c.filter.taps()[0];
    expect_near(desc, taps, 1e-4);  // of the gain, a float
  }
}

TEST(TensorTaps, WhatCouldBeWrongIsRefused) {
  TensorTaps taps;
  // A gain of 40, which multiplies what halves round.
  EXPECT_FALSE(make(desc_of(Filter(make_preset(Preset::gaussian_blur, {.radius = 7}), {.scale = 40})), taps));
  // Taps that reach too far.
  EXPECT_FALSE(make(desc_of(Filter(make_preset(Preset::gaussian_blur, {.radius = 8}))), taps));
  // Integers of more than 8 bits, and column sums of more than 16.
  EXPECT_FALSE(make(desc_of(integers({1, 200, 1}, {1, 3, 1}, true)), taps));
  EXPECT_FALSE(make(desc_of(integers({100, 101, 100}, {1, 3, 1}, true)), taps));
  // Three components that differ in level, 16 bits, a ghost level that is no byte, one that is half a code value off.
  PlanDesc desc = desc_of(Filter(make_preset(Preset::gaussian_blur, {.radius = 2})));
  ASSERT_TRUE(make(desc, taps));
  desc.layout.plane[0].components = 3;
  for (int c = 0; c < 3; ++c) {
    desc.layout.plane[0].component[c] = desc.layout.plane[0].component[0];
    desc.layout.plane[0].component[c].offset = c;
    desc.layout.plane[0].component[c].step = 3;
  }
  EXPECT_TRUE(make(desc, taps));
  desc.layout.plane[0].component[2].zero = 128;
  EXPECT_FALSE(make(desc, taps));
  desc.layout.plane[0].components = desc.layout.plane[0].component[0].step = 1;
  desc.layout.type = SampleType::u16, desc.layout.bits = 16;
  EXPECT_FALSE(make(desc, taps));
  desc.layout.type = SampleType::u8, desc.layout.bits = 8;
  desc.border = Border::constant;
  ASSERT_TRUE(make(desc, taps));
  desc.layout.plane[0].component[0].ghost = 300;
  EXPECT_FALSE(make(desc, taps));
  desc.layout.plane[0].component[0].ghost = 100.5;
  desc.filter = Filter(make_preset(Preset::gaussian_blur, {.radius = 2}), {.scale = 2});
  EXPECT_FALSE(make(desc, taps));
  desc.layout.plane[0].component[0].ghost = 100;
  EXPECT_TRUE(make(desc, taps));
}

/// What a word holds at place e, as the number that it stands for.
double entry(bool bytes, std::uint32_t word, int e) {
  return bytes ? static_cast<std::int8_t>(word >> 8 * e) : half_value(static_cast<std::uint16_t>(word >> 16 * e));
}

/// Entries of a matrix by (input, output), of which those that are 0 may be left out. Taps count from 1, so that an
/// entry tells which tap it is.
using Matrix = std::map<std::pair<int, int>, int>;

/// The matrix is a band up to the order of its inputs: each of the 16 outputs has each tap once, and from one output to
/// the next an input's tap is the one before.
void expect_band(const Matrix& matrix, int taps) {
  std::map<int, int> place;  // of an input: the tap that it meets, plus the output
  std::map<int, std::set<int>> met;
  for (const auto& [at, tap] : matrix) {
    const auto [input, output] = at;
    const auto [known, is_new] = place.emplace(input, tap + output);
    EXPECT_EQ(known->second, tap + output) << "input " << input << ", output " << output;
    EXPECT_TRUE(met[output].insert(tap).second);
  }
  ASSERT_EQ(met.size(), 16u);
  for (const auto& [output, found] : met) EXPECT_EQ(found.size(), static_cast<std::size_t>(taps));
  std::set<int> places;
  for (const auto& [input, at] : place) EXPECT_TRUE(places.insert(at).second);  // no two inputs are one
}

struct Fragments {
  TensorTaps taps;
  std::vector<std::uint32_t> words;
  bool bytes;

  Fragments(Epilogue epilogue, int side, int components) : bytes(!in_halves(epilogue)) {
    taps.epilogue = epilogue;
    for (int i = 1; i <= side; ++i) taps.column.push_back(i);
    taps.row = taps.column;
    taps.start = -3;
    taps.from[1][components - 1] = 7;
    TapArray array{.depth = 1, .height = side, .width = side, .taps = std::vector<Tap>(side * side, Tap::integer(1))};
    words = make_fragments(Filter(array), taps, 1, components);
  }
  int tap(int matrix, int lane, int i, int e) const {
    return static_cast<int>(entry(bytes, words[128 * matrix + 4 * lane + i], e));
  }
};

TEST(TensorTaps, TheColumnMatrixIsABand) {
  for (const int side : {1, 2, 5, 14, 15}) {
    Matrix dense, sparse;
    const Fragments bytes(Epilogue::magic_number, side, 1), halves(Epilogue::saturate, side, 1);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        // The left operand of m16n8k32: rows g and g + 8, columns 4 t on, and 16 columns on.
        const int g = lane / 4, t = lane % 4, row = g + i % 2 * 8;
        for (int e = 0; e < 4; ++e)
          if (const int tap = bytes.tap(0, lane, i, e)) dense[{i / 2 * 16 + 4 * t + e, row}] = tap;
        // That of sparse m16n8k32: of each four columns two, of which the metadata of lanes 4 g and 4 g + 1 says which.
        for (int e = 0; e < 2; ++e) {
          const int kept = i / 2 * 8 + 2 * t + e, told = halves.words[384 + 4 * g + kept / 8] >> (16 * (i % 2));
          const int column = kept / 2 * 4 + (told >> 2 * (kept % 8) & 3);
          if (const int tap = halves.tap(0, lane, i, e)) sparse[{column, row}] = tap;
        }
      }
    expect_band(dense, side);
    expect_band(sparse, side);
  }
}

TEST(TensorTaps, TheRowMatricesAreBandsOfFourNeighboursALane) {
  for (const int components : {1, 2, 4})
    for (const int side : {1, 2, 5, 14, 15}) {
      Matrix first, second, third;
      const Fragments bytes(Epilogue::magic_number, side, components), halves(Epilogue::saturate, side, components);
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) {
          // Column g of a product is 2 t' or 2 t' + 1 of the lane t' of its sums, which has four pixels of two
          // products.
          const int g = lane / 4, t = lane % 4;
          const auto pixel = [&](int product) { return g / 2 * 4 + 2 * product + g % 2; };
          for (int e = 0; e < 4; ++e) {
            // Bytes: words 0 and 1 are of the one product, k from 0 and 16 on. Which half of the window is the first
            // alternates.
            if (const int tap = bytes.tap(1, lane, i, e)) first[{i % 2 * 16 + 4 * t + e, pixel(i / 2)}] = tap;
            if (const int tap = bytes.tap(2, lane, i, e)) second[{(i % 2 ^ 1) * 16 + 4 * t + e, pixel(i / 2)}] = tap;
          }
          for (int n = 0; n < 2; ++n)
            for (int e = 0; e < 2; ++e)
              if (const int tap = halves.tap(1 + n, lane, i, e)) third[{8 * i + 2 * t + e, pixel(n)}] = tap;
        }
      expect_band(first, side);
      EXPECT_EQ(first, second);
      expect_band(third, side);
      // What V and H start at.
      const std::uint32_t* const ints = &bytes.words[384];
      EXPECT_EQ(static_cast<std::int32_t>(ints[0]), -3);
      EXPECT_EQ(static_cast<std::int32_t>(ints[4 * components]), 7);
      EXPECT_EQ(bytes.words.size(), static_cast<std::size_t>(388 + 4 * components));
      const std::uint32_t* const floats = &halves.words[416];
      EXPECT_EQ(floats[0], half_twice(-3));
      EXPECT_EQ(std::bit_cast<float>(floats[4 * components]), 7);
      EXPECT_EQ(halves.words.size(), static_cast<std::size_t>(420 + 4 * components));
    }
}

PlaneLayout packed_plane(int luma_byte) {
  PlaneLayout plane;
  plane.components = 3;
  plane.component[0] = {.offset = luma_byte, .step = 2, .width = 32, .height = 8};
  plane.component[1] = {.offset = 1 - luma_byte, .step = 4, .width = 16, .height = 8};
  plane.component[2] = {.offset = 3 - luma_byte, .step = 4, .width = 16, .height = 8};
  return plane;
}

TEST(TensorTaps, TheLumaOfPackedPixelsMeetsEachTapOnce) {
  using cuda::tensor::PackedFragments;
  for (const Epilogue epilogue : {Epilogue::saturate, Epilogue::magic_number})
    for (const int side : {1, 2, 5, 14, 15}) {
      const Fragments plain(epilogue, side, 4);
      TapArray array{.depth = 1, .height = side, .width = side, .taps = std::vector<Tap>(side * side, Tap::integer(1))};
      const auto words = make_packed_fragments(Filter(array), plain.taps, packed_plane(0));
      const int parts = plain.bytes ? 4 : 2;
      std::map<int, std::map<int, int>> met;  // taps by sample of the luma made, and by sample met
      for (int made = 0; made < 2; ++made)
        for (int in = 0; in < 2; ++in) {
          const int way = in == made ? 0 : in > made ? 1 : 2;
          for (int n = 0; n < (plain.bytes ? 1 : 2); ++n)  // of bytes, the second is the first with its halves changed
            for (int lane = 0; lane < 32; ++lane)
              for (int i = 0; i < 4; ++i)
                for (int e = 0; e < parts; ++e) {
                  const std::uint32_t word = words[4 * (PackedFragments::luma + 32 * (2 * way + n) + lane) + i];
                  const int tap = static_cast<int>(entry(plain.bytes, word, e)), g = lane / 4, t = lane % 4;
                  // A lane's register has every fourth pixel of 16 (bytes), or two of 8 that are four apart (halves).
                  const int pair = plain.bytes ? i % 2 * 16 + t + 4 * e : 8 * i + t + 4 * e;
                  const int to = g / 2 * 4 + 2 * (plain.bytes ? i / 2 : n) + g % 2 + 8;
                  if (tap == 0) continue;
                  EXPECT_TRUE(met[2 * to + made].emplace(2 * pair + in, tap).second);
                }
        }
      ASSERT_EQ(met.size(), 32u);
      for (const auto& [made, taps] : met) {
        EXPECT_EQ(taps.size(), static_cast<std::size_t>(side));
        for (const auto& [in, tap] : taps) EXPECT_EQ(in - made, tap - 1 - side / 2);
      }
    }
}

TEST(TensorTaps, PackedPixelsCountAsLumaChromaLumaChroma) {
  Fragments plain(Epilogue::saturate, 3, 4);
  for (int c = 0; c < 3; ++c) plain.taps.from[0][c] = 10 + c;
  const Filter filter = integers({1, 1, 1}, {1, 1, 1}, true);
  for (const int luma_byte : {0, 1}) {
    const auto words = make_packed_fragments(filter, plain.taps, packed_plane(luma_byte));
    const float* const from = reinterpret_cast<const float*>(&words[420]);
    for (int role = 0; role < 4; ++role) EXPECT_EQ(from[4 * role], role % 2 == 0 ? 10 : 11 + role / 2);
    const std::uint32_t* const told = &words[4 * cuda::tensor::PackedFragments::selectors];
    EXPECT_EQ(told[0], luma_byte ? 0x4341u : 0x4240u);
    EXPECT_EQ(told[1], luma_byte ? 0x4240u : 0x4341u);
    EXPECT_EQ(told[2], luma_byte ? 0x2301u : 0x3210u);
  }
}

/// Taps by the output that they are of, of the row's matrices for three components: words from `matrix` on as lanes
/// hold the left operand, of which the words from `chosen` on tell which columns are there.
void expect_every_third_byte(const Fragments& triples, int side, int matrix, int chosen, int n,
                             std::map<int, std::set<int>>& met) {
  const int parts = triples.bytes ? 4 : 2;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      for (int e = 0; e < parts; ++e) {
        const int g = lane / 4, t = lane % 4;
        int input = 0;
        if (triples.bytes) {
          // Of sparse m16n8k64, lanes 4 g and 4 g + 2 tell of row g, the next ones of row g + 8; V lies as it is.
          const int kept = i / 2 * 16 + 4 * t + e;
          const std::uint32_t told = triples.words[chosen + 4 * g + i % 2 + kept / 16 * 2];
          input = kept / 2 * 4 + static_cast<int>(told >> 2 * (kept % 16) & 3);
        } else {
          // V of a block of 16 bytes is in two registers: even bytes, then odd ones.
          const int kept = i / 2 * 8 + 2 * t + e;
          const std::uint32_t told = triples.words[chosen + 4 * g + kept / 8] >> (16 * (i % 2));
          const int k = kept / 2 * 4 + static_cast<int>(told >> 2 * (kept % 8) & 3);
          input = 32 * n + k / 16 * 16 + 2 * (k % 8) + k / 8 % 2;
        }
        // Outputs 0 to 7 are the first bytes of pairs, the later half of which comes first.
        const int output = 24 + 2 * ((g + 4) % 8) + i % 2, tap = triples.tap(matrix, lane, i, e);
        if (tap == 0) continue;
        EXPECT_EQ(input - output, 3 * (tap - 1 - side / 2));
        EXPECT_TRUE(met[output].insert(tap).second);
      }
}

TEST(TensorTaps, TheRowMatricesOfThreeComponentsMeetEveryThirdByte) {
  for (const int side : {1, 2, 5, 14, 15}) {
    const Fragments halves(Epilogue::saturate, side, 3), bytes(Epilogue::magic_number, side, 3);
    std::map<int, std::set<int>> of_halves, of_bytes;  // taps of an output
    for (int n = 0; n < 2; ++n) expect_every_third_byte(halves, side, 1 + n, 384 + 32 * (1 + n), n, of_halves);
    expect_every_third_byte(bytes, side, 1, 256, 0, of_bytes);
    // V starts 2^15 higher, and H lower by what that adds to it.
    EXPECT_EQ(static_cast<int>(bytes.words[288]), -3 + (1 << 15));
    EXPECT_EQ(static_cast<int>(bytes.words[300]), 7 - (1 << 15) * side * (side + 1) / 2);
    for (const auto& met : {of_halves, of_bytes}) {
      ASSERT_EQ(met.size(), 16u);
      for (const auto& [output, taps] : met) EXPECT_EQ(taps.size(), static_cast<std::size_t>(side));
    }
  }
}

}  // namespace
