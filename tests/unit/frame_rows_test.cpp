// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers of separable's stream of rows over several frames: what the kernel does with them, done here step by step
// in halves, stays within one code value of the sum in double precision, also with frames and cells of ghosts; other
// cases are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "convolve/preset.hpp"
#include "cuda/common/half.hpp"
#include "cuda/separable/frame_rows_taps.hpp"
#include "tensor_desc.hpp"

namespace {

using namespace convolve;
using cuda::nearest_half;
using cuda::frame_rows::RowsTaps;

/// A filter's factors, and the numbers that the kernel has of them.
struct Rows {
  PlanDesc desc;
  std::vector<double> time;
  SpaceFactors space;
  RowsTaps taps;
  bool served;

  explicit Rows(const PlanDesc& from) : desc(from) {
    const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
    time = frame_weights(desc.filter, arithmetic);
    space = in_numbers_of(arithmetic, *desc.filter.space_filter().space_factors());
    served = make_rows_taps(desc, arithmetic, time, space, taps);
  }
};

enum class Ghosts { none, rows, samples };

/// One sample of random bytes as the kernel makes it, before it is rounded, less what it is to be. `ghosts`: what lies
/// beside the frame, and is a third of what the filter sees.
double error_of(const Rows& f, int low, int high, unsigned missing, Ghosts ghosts, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> byte(low, high);
  const Component& component = f.desc.layout.plane[0].component[0];
  const std::size_t width = f.space.row.size(), height = f.space.column.size();
  double wanted = component.zero + component.bias;
  auto sum = static_cast<double>(static_cast<float>(f.taps.from_of(component, missing)));
  for (std::size_t x = 0; x < width; ++x) {
    const bool ghost_column = ghosts == Ghosts::samples && x < width / 3;
    double v = 0;
    for (std::size_t y = 0; y < height; ++y) {
      const bool ghost = ghost_column || (ghosts == Ghosts::rows && y < height / 3);
      double combined = f.taps.start_of(missing);
      for (std::size_t t = 0; t < f.time.size(); ++t) {
        const bool is_missing = missing >> t & 1;
        const double value = is_missing || ghost ? component.ghost : byte(random);
        wanted += f.time[t] * f.space.column[y] * f.space.row[x] * (value - component.zero);
        if (!is_missing) combined = nearest_half(combined + f.taps.time[t] * value * 0x1p-24);
      }
      if (ghost) combined = f.taps.combined_ghost_of(component.ghost, missing);
      v = nearest_half(v + f.taps.column[y] * combined);
    }
    if (ghost_column) v = f.taps.ghost_of(component.ghost, missing);
    sum += static_cast<double>(static_cast<float>(f.taps.row[x])) * v;
  }
  return sum - wanted;
}

void expect_near(const Rows& f, double most) {
  ASSERT_TRUE(f.served) << f.desc.filter.shape();
  for (std::uint32_t seed = 0; seed < 8; ++seed)
    for (const auto& [low, high] : {std::pair{0, 255}, std::pair{0, 3}, std::pair{252, 255}, std::pair{255, 255}})
      for (const unsigned missing : {0u, 1u, f.desc.filter.depth() > 2 ? 0b101u : 0b10u})
        for (const Ghosts ghosts : {Ghosts::none, Ghosts::rows, Ghosts::samples})
          ASSERT_NEAR(error_of(f, low, high, missing, ghosts, seed), 0, most)
              << f.desc.filter.shape() << ", missing " << missing << ", seed " << seed;
}

Filter reals(std::uint32_t seed, int depth, int height, int width, double least) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> tap(least, 1);
  std::vector<double> time, column, row;
  for (int i = 0; i < depth; ++i) time.push_back(tap(random));
  for (int i = 0; i < height; ++i) column.push_back(tap(random));
  for (int i = 0; i < width; ++i) row.push_back(tap(random));
  TapArray array{.depth = depth, .height = height, .width = width, .taps = {}};
  for (const double t : time)
    for (const double c : column)
      for (const double r : row) array.taps.push_back(Tap::real(t * c * r));
  return Filter(array, {.normalize = true});
}

TEST(FrameRowsTaps, RealTapsStayWithinACodeValue) {
  for (int radius = 0; radius <= 3; ++radius)
    for (int frames = 1; frames <= 2; ++frames) {
      const Filter filter(make_preset(Preset::temporal_denoise, {.radius = radius, .temporal_radius = frames}));
      expect_near(Rows(desc_of(filter, {.zero = 16, .ghost = 90})), 0.35);
    }
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    for (int depth = 2; depth <= 5; ++depth) {
      PlanDesc desc = desc_of(reals(seed, depth, 7, 7, 0.01), {.zero = 16, .bias = 7.3, .ghost = 35.7});
      desc.border = Border::constant;
      expect_near(Rows(desc), 0.4);
    }
}

TEST(FrameRowsTaps, TapsThatCancelAreWithinTheBoundOrRefused) {
  int served = 0, refused = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Rows f(desc_of(reals(seed, 3, 5, 3, -0.4), {.zero = 128, .ghost = 128}));
    (f.served ? served : refused)++;
    if (f.served) expect_near(f, cuda::max_sample_error);
  }
  EXPECT_GT(served, 20);
  EXPECT_GT(refused, 20);
}

TEST(FrameRowsTaps, OtherCasesAreRefused) {
  EXPECT_FALSE(Rows(desc_of(Filter(make_preset(Preset::temporal_denoise, {.radius = 2}), {.scale = 20}))).served);
  // Sums of integers are to be exact.
  TapArray integers{.depth = 3, .height = 1, .width = 1, .taps = {}};
  for (const int tap : {1, 2, 1}) integers.taps.push_back(Tap::integer(tap));
  EXPECT_FALSE(Rows(desc_of(Filter(integers, {.normalize = true}))).served);
  // Ghost levels beyond a byte's are none that halves were scaled for.
  PlanDesc bright = desc_of(Filter(make_preset(Preset::temporal_denoise, {.radius = 1})), {.ghost = 300});
  bright.border = Border::constant;
  EXPECT_FALSE(Rows(bright).served);
}

}  // namespace
