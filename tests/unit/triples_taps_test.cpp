// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The left matrices of `matrix` for three components, read as PTX lays the sparse product out: each output of a set
// meets each tap once, at the byte that it belongs to, and no other byte.
#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "cuda/matrix/triples.hpp"

namespace {

using namespace convolve;
using namespace convolve::cuda;

/// Taps from 1 on, so that one tells which it is.
Filter counted(int depth, int height, int width, MatrixTaps& taps) {
  TapArray array{depth, height, width, {}};
  taps.limbs = 2;
  for (int i = 0; i < depth * height * width; ++i) {
    array.taps.push_back(Tap::integer(i + 1));
    taps.fixed.push_back(i + 1);
  }
  return Filter(array);
}

TEST(TriplesTaps, EachOutputMeetsEachTapAtItsByte) {
  for (const auto& [height, width] : {std::pair{1, 1}, {3, 3}, {2, 4}, {5, 5}, {7, 7}, {7, 11}, {4, 10}}) {
    MatrixTaps taps;
    const int depth = 2;
    const Filter filter = counted(depth, height, width, taps);
    const int radius = std::max(1, filter.reach_y()), products = triples::products(radius);
    const std::vector<std::uint32_t> words = triples::left_matrices(filter, taps, radius);
    const std::size_t told_at = static_cast<std::size_t>(4 * depth * triples::taps_of(radius, 2));
    ASSERT_EQ(words.size(), told_at + 128);
    std::map<std::tuple<int, int, int, int>, int> met;  // frame, output, row and byte of the input: the tap
    for (int t = 0; t < depth; ++t)
      for (int m = 0; m < products; ++m)
        for (int d = 0; d < 2; ++d)
          for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < 16; ++e) {
              // The left operand of m16n8k64: rows g and g + 8; of each four columns two, which lane 4 g (rows up to 7)
              // or 4 g + 1 tells for the first 32 columns, and the lane two further for the others.
              const int g = lane / 4, row = g + e / 4 % 2 * 8, kept = 4 * (lane % 4) + e % 4 + 16 * (e / 8);
              const std::uint32_t word = words[4 * (((t * products + m) * 2 + d) * 32 + lane) + e / 4];
              const int teller = 4 * g + e / 4 % 2 + 2 * (kept / 16);
              const int column = static_cast<int>(words[told_at + 4 * teller + m % 3] >> 2 * (kept % 16) & 3);
              const int k = kept / 2 * 4 + column, slot = 4 * m + k / 16;
              const int limb = static_cast<std::int8_t>(word >> 8 * (e % 4));
              if (limb == 0) continue;
              const int output = 2 * (row % 8) + row / 8, input = 16 * (slot % 3 - 1) + k % 16;
              met[{t, output, slot / 3 - radius, input - output}] += limb * (d == 0 ? 256 : 1);
            }
    ASSERT_EQ(met.size(), 16 * taps.fixed.size());
    for (const auto& [at, tap] : met) {
      const auto [t, output, down, away] = at;
      const int y = down + filter.centre_y(), x = away / 3 + filter.centre_x();
      ASSERT_EQ(away % 3, 0);
      EXPECT_EQ(tap, (t * height + y) * width + x + 1) << "output " << output;
    }
  }
}

}  // namespace
