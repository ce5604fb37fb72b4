// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Each byte of the right matrices by itself: which tap the lane layouts of PTX put there.
#include "cuda/matrix/right_matrices.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

using convolve::Filter;

struct Limb {
  Filter filter;
  std::vector<std::int8_t> taps;

  /// The tap so many rows and columns from the centre.
  int at(int row, int column) const {
    row += filter.centre_y(), column += filter.centre_x();
    if (row < 0 || row >= filter.height() || column < 0 || column >= filter.width()) return 0;
    return taps[static_cast<std::size_t>(row * filter.width() + column)];
  }
};

Limb random_limb(std::mt19937& random, int height, int width, bool flipped) {
  convolve::TapArray taps{1, height, width, std::vector<convolve::Tap>(height * width, convolve::Tap::integer(1))};
  Limb limb{Filter(taps, {.convolve = flipped}), {}};
  for (int i = 0; i < height * width; ++i) limb.taps.push_back(static_cast<std::int8_t>(random() % 256));
  return limb;
}

struct Words {
  unsigned x, y, z, w;
};

unsigned byte_of(const Words& words, int i) {
  const unsigned word[] = {words.x, words.y, words.z, words.w};
  return word[i / 4] >> 8 * (i % 4) & 255;
}

TEST(RightMatrices, OfMmaHoldTheTapBetweenEachInputAndEachOutput) {
  std::mt19937 random(3);
  for (int height = 1; height <= 7; ++height)
    for (int width = 1; width <= 9; ++width)
      for (const bool flipped : {false, true}) {
        const Limb limb = random_limb(random, height, width, flipped);
        const int radius = std::max(1, limb.filter.reach_y());
        if (limb.filter.reach_x() > 4 || radius > 3) continue;
        const convolve::cuda::CentredLimb centred(limb.filter, limb.taps, radius);
        std::vector<Words> lanes;
        for (int pair = 0; pair <= radius; ++pair) centred.append(pair, lanes);
        ASSERT_EQ(lanes.size(), 32u * (radius + 1));
        for (int pair = 0; pair <= radius; ++pair)
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 16; ++i) {
              // Column n of the product's right matrix, and row k: one of two input rows of 16 pixels.
              const int n = lane / 4, t = lane % 4, product = i / 8, half = i / 4 % 2, byte = i % 4;
              const int row = 2 * pair + t / 2 - radius - n / 4;
              const int from = 8 * (t % 2) + 4 * half + byte - 4, to = 4 * (n / 2 % 2) + 2 * product + n % 2;
              ASSERT_EQ(byte_of(lanes[pair * 32 + lane], i), limb.at(row, from - to) & 255)
                  << height << "x" << width << ", pair " << pair << ", lane " << lane << ", byte " << i;
            }
      }
}

TEST(RightMatrices, OfWarpgroupsHoldTheTapBetweenEachInputAndEachOutput) {
  constexpr int padding = 3, margin = 8;
  std::mt19937 random(4);
  for (const int height : {9, 15})
    for (int rows = 1; rows <= height; rows += 2)
      for (const int width : {1, 2, 7, 15, 16}) {
        const Limb limb = random_limb(random, rows, width, width % 2 == 0);
        const std::vector<std::vector<std::int8_t>> limbs{limb.taps, limb.taps};
        const auto bytes = convolve::cuda::warpgroup_matrices(limb.filter, limbs, height, padding, margin);
        ASSERT_EQ(bytes.size(), 2u * (height + padding) * 512);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
          const int at = static_cast<int>(i) % 512,
                    row = height + padding - 1 - static_cast<int>(i) / 512 % (height + padding);
          const int n = at / 256 * 8 + at / 16 % 8, k = at / 128 % 2 * 16 + at % 16;
          const int to = 4 * (n / 2 % 4) + 2 * (n / 8) + n % 2;
          const int wanted = row < height ? limb.at(row - height / 2, k - margin - to) & 255 : 0;
          ASSERT_EQ(bytes[i], wanted) << rows << "x" << width << " in " << height << " rows, byte " << i;
        }
      }
}

}  // namespace
