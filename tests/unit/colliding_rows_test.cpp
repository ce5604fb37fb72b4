// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames whose rows lie a multiple of 2048 bytes apart, which are copied into a ring where others are read in place:
// exactly the oracle's result, on each SIMD target of this machine.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "filtered_frame.hpp"

namespace {

using namespace convolve;

// Integers over their sum.
struct Integers {
  oracle::Kernel kernel;
  TapArray taps;

  Integers(int height, int width, std::mt19937& random) {
    taps.height = kernel.height = height;
    taps.width = kernel.width = width;
    kernel.centre_y = height / 2;
    kernel.centre_x = width / 2;
    for (int i = 0; i < height * width; ++i) {
      kernel.integers.push_back(static_cast<std::int64_t>(random() % 60) - 15);
      kernel.divisor += kernel.integers.back();
    }
    if (kernel.divisor < 1) kernel.divisor = 1;
    for (const std::int64_t tap : kernel.integers) taps.taps.push_back(Tap::fraction(tap, kernel.divisor));
  }
};

TEST(CollidingRows, AreFilteredAsOthersAre) {
  std::mt19937 random(1);
  for (const cpu::SimdTarget& target : cpu::simd_targets()) {
    if (!target.available) continue;
    ASSERT_TRUE(cpu::force_simd_target(target.name));
    for (const int side : {1, 3, 5, 7, 9, 11})
      for (const std::size_t components : {1, 2, 4}) {
        const int width = (side % 4 == 1 ? 4096 : 2048) / static_cast<int>(components), height = 21;
        const Integers filter(side, side == 1 ? 5 : side, random);
        std::vector<std::uint8_t> in(width * height * components);
        for (std::uint8_t& sample : in) sample = static_cast<std::uint8_t>(random());
        const FilteredFrame found = filter_frame(Algorithm::direct, Filter(filter.taps), filter.kernel, width, height,
                                                 std::vector<double>(components, 16.0), std::move(in));
        EXPECT_EQ(found.difference, 0) << side << ", " << components << " components, " << found.described;
      }
  }
  cpu::force_simd_target(nullptr);
}

}  // namespace
