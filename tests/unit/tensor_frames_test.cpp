// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What CUDA's tensor kernel for separable filters over several frames, and for packed 4:2:2, computes with: both passes
// with their roundings against sums in double precision, also with frames of ghost cells, and the row's matrices.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/common/half.hpp"
#include "cuda/separable/tensor_taps.hpp"
#include "tensor_desc.hpp"

namespace {

using namespace convolve;
using cuda::Epilogue;
using cuda::half_value;
using cuda::nearest_half;
using cuda::tensor::FrameTaps;

/// A filter's factors in the numbers of its arithmetic.
struct Factored {
  PlanDesc desc;
  std::vector<double> time;
  SpaceFactors space;
  FrameTaps taps;
  bool served;

  explicit Factored(const PlanDesc& from) : desc(from) {
    const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, false);
    time = desc.filter.depth() > 1 ? frame_weights(desc.filter, arithmetic) : std::vector<double>{1.0};
    space = in_numbers_of(arithmetic, *desc.filter.space_filter().space_factors());
    served = make_frame_taps(desc, arithmetic, time, space, taps);
  }
};

Filter integers(std::vector<int> time, std::vector<int> column, std::vector<int> row) {
  TapArray array{.depth = static_cast<int>(time.size()),
                 .height = static_cast<int>(column.size()),
                 .width = static_cast<int>(row.size()),
                 .taps = {}};
  for (const int t : time)
    for (const int c : column)
      for (const int r : row) array.taps.push_back(Tap::integer(t * c * r));
  return Filter(array, {.normalize = true});
}

/// One sample of random bytes as the kernel makes it, before it is rounded, less what it is to be.
double error_of(const Factored& f, int low, int high, unsigned missing, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(low, high);
  const Component& component = f.desc.layout.plane[0].component[0];
  const Filter& filter = f.desc.filter;
  const cuda::tensor::TensorTaps& taps = f.taps.taps;
  const int depth = filter.depth(), height = filter.height();
  double wanted = component.zero + component.bias;
  double sum = static_cast<float>(f.taps.from_of(0, 0, component.ghost, missing));
  for (int x = 0; x < filter.width(); ++x) {
    double v = f.taps.start_of(missing);
    for (int t = 0; t < depth; ++t) {
      double frame = 0;
      for (int y = 0; y < height; ++y) {
        const double sample = missing >> t & 1 ? component.ghost : byte(random);
        wanted +=
            filter.taps()[static_cast<std::size_t>((t * height + y) * filter.width() + x)] * (sample - component.zero);
        frame += taps.column[static_cast<std::size_t>(t * height + y)] * sample * 0x1p-24;
      }
      if (missing >> t & 1) continue;
      v = nearest_half(v + frame);
      if (taps.epilogue == Epilogue::scaled) {
        EXPECT_EQ(std::ldexp(v, 14), std::floor(std::ldexp(v, 14)));
      }
    }
    sum += taps.row[static_cast<std::size_t>(x)] * v;
  }
  return sum * taps.gain - wanted;
}

void expect_near(const Factored& f, double most) {
  ASSERT_TRUE(f.served) << f.desc.filter.shape();
  const int depth = f.desc.filter.depth();
  for (std::uint32_t seed = 0; seed < 8; ++seed)
    for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}, std::pair{255, 255}})
      for (const unsigned missing : {0u, 1u, depth > 2 ? 0b101u : 0u})
        ASSERT_NEAR(error_of(f, low, high, depth > 1 ? missing : 0, seed), 0, most)
            << f.desc.filter.shape() << ", missing " << missing << ", seed " << seed;
}

TEST(FrameTaps, RealTapsStayWithinACodeValue) {
  for (int radius = 1; radius <= 7; ++radius)
    for (int frames = 1; frames <= 5; ++frames) {
      const Filter filter(make_preset(Preset::temporal_denoise, {.radius = radius, .temporal_radius = frames}));
      expect_near(Factored(desc_of(filter, {.zero = 16, .ghost = 90})), 0.3);
    }
  expect_near(Factored(desc_of(Filter(make_preset(Preset::gaussian_blur, {.radius = 7})))), 0.2);
}

TEST(FrameTaps, IntegerTapsAreExactWhereHalvesHoldTheColumns) {
  expect_near(Factored(desc_of(integers({1, 1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}), {.ghost = 7})), 1e-3);
  expect_near(Factored(desc_of(integers({1, 2, 1}, {1, 2, 1}, {1, 2, 1}), {.zero = 16, .ghost = 255})), 1e-3);
  expect_near(Factored(desc_of(integers({-1, 0, 2}, {1, 2, 1}, {-1, 0, 1}), {.zero = 128})), 1e-3);
  // Sums of 17 bytes and more pass 2048.
  EXPECT_FALSE(Factored(desc_of(integers({1, 2, 1}, {1, 3, 1}, {1, 1, 1}))).served);
}

TEST(FrameTaps, WhatCouldBeWrongIsRefused) {
  // So many frames round V too often, and a gain multiplies what is rounded.
  const auto blur = make_preset(Preset::temporal_denoise, {.radius = 2, .temporal_radius = 7});
  EXPECT_FALSE(Factored(desc_of(Filter(blur))).served);
  EXPECT_FALSE(Factored(desc_of(Filter(make_preset(Preset::temporal_denoise, {.radius = 2}), {.scale = 20}))).served);
}

TEST(FrameTaps, TheRowsMatricesMeetTheirOwnComponentAlone) {
  struct Case {
    int step[2], margin, taps;
    bool apart;
  };
  for (const Case& c :
       {Case{{1, 1}, 1, 15, false}, Case{{2, 2}, 1, 15, false}, Case{{3, 3}, 2, 15, false}, Case{{4, 4}, 2, 15, true},
        Case{{4, 4}, 1, 9, true}, Case{{2, 4}, 2, 15, true}, Case{{4, 2}, 1, 8, true}, Case{{2, 2}, 1, 15, true}}) {
    std::vector<double> row;
    for (int i = 1; i <= c.taps; ++i) row.push_back(i);
    std::vector<std::uint32_t> words;
    cuda::tensor::add_half_rows(row, c.taps / 2, c.margin, c.apart, c.step, words);
    const int matrices = c.apart ? 2 * (c.margin + 1) : 2 * c.margin + 1;
    ASSERT_EQ(words.size(), static_cast<std::size_t>(128 * matrices));
    std::set<std::pair<int, int>> met;  // output and tap
    for (int n = 0; n < matrices; ++n)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i)
          for (int e = 0; e < 2; ++e) {
            // The left operand of m16n8k16: rows g and g + 8, columns 2 t and 2 t + 1, and 8 columns on. All at once:
            // rows 0 to 7 are the first bytes of pairs, columns 0 to 7 of a block its even bytes. Apart: rows are
            // every second byte, and so are columns, of a block and the next one.
            const int row_of = lane / 4 + i % 2 * 8, column = lane % 4 * 2 + e + i / 2 * 8;
            const int odd = n / (c.margin + 1), pair = n % (c.margin + 1);
            const int output = c.apart ? 2 * row_of + odd : row_of % 8 * 2 + row_of / 8;
            const int input = c.apart ? 16 * (2 * pair - c.margin) + 2 * column + odd
                                      : 16 * (n - c.margin) + column % 8 * 2 + column / 8;
            const auto bits =
                static_cast<std::uint16_t>(words[static_cast<std::size_t>(128 * n + 4 * lane + i)] >> 16 * e);
            const int tap = static_cast<int>(half_value(bits));
            if (tap == 0) continue;
            EXPECT_EQ(input - output, c.step[output % 2] * (tap - 1 - c.taps / 2));
            EXPECT_TRUE(met.emplace(output, tap).second);
          }
    EXPECT_EQ(met.size(), static_cast<std::size_t>((c.apart ? 32 : 16) * c.taps));
  }
}

}  // namespace
