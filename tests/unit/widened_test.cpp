// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which frames CUDA's copies of whole vectors are made of, how wide those are, and that Algorithm::fastest times them.
#include "cuda/views/widened.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "cuda/fastest.hpp"

namespace {

using namespace convolve;
using cuda::as_widened;

/// 3x9 taps over planes of one component each, of these widths.
PlanDesc desc_of(const std::vector<int>& widths, Border border = Border::replicate) {
  PlanDesc desc;
  desc.layout.planes = static_cast<int>(widths.size());
  for (std::size_t p = 0; p < widths.size(); ++p) {
    desc.layout.plane[p].components = 1;
    desc.layout.plane[p].component[0] = {.width = widths[p], .height = 8};
  }
  TapArray taps{.depth = 1, .height = 3, .width = 9, .taps = {}};
  for (int i = 0; i < 27; ++i) taps.taps.push_back(Tap::integer(i));
  desc.filter = Filter(taps, {});
  desc.border = border;
  return desc;
}

TEST(Widened, CopiesHaveRoomForWhatTheFilterReaches) {
  const std::optional<PlanDesc> wide = as_widened(desc_of({1366, 683, 683}));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->layout.plane[0].component[0].width, 1408);
  EXPECT_EQ(wide->layout.plane[1].component[0].width, 704);
  // 4 pixels more are enough, but 8 where a plane has half of them.
  EXPECT_EQ(as_widened(desc_of({1404}))->layout.plane[0].component[0].width, 1408);
  EXPECT_EQ(as_widened(desc_of({1404, 702}))->layout.plane[0].component[0].width, 1472);
  // A border that wraps has the other side at the end of the row as well.
  EXPECT_EQ(as_widened(desc_of({1404}, Border::wrap))->layout.plane[0].component[0].width, 1472);
}

TEST(Widened, OddFramesHaveHalvesThatAreRoundedUp) {
  const std::optional<PlanDesc> wide = as_widened(desc_of({3841, 1921, 961}));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->layout.plane[1].component[0].width * 2, wide->layout.plane[0].component[0].width);
  EXPECT_EQ(wide->layout.plane[2].component[0].width * 4, wide->layout.plane[0].component[0].width);
  EXPECT_GE(wide->layout.plane[2].component[0].width, 961 + 4);
}

TEST(Widened, PlanesOfTheirOwnSizesAreLeftAsTheyAre) {
  EXPECT_FALSE(as_widened(desc_of({401, 300})));
  EXPECT_FALSE(as_widened(desc_of({151, 100})));
  EXPECT_FALSE(as_widened(desc_of({1367, 683})));  // rounded down
  EXPECT_FALSE(as_widened(desc_of({400, 10})));
}

TEST(Widened, WholeAndSmallFramesAndFractionsAreLeftAsTheyAre) {
  EXPECT_FALSE(as_widened(desc_of({1920, 960})));
  EXPECT_FALSE(as_widened(desc_of({63})));
  PlanDesc desc = desc_of({1366}, Border::constant);
  EXPECT_TRUE(as_widened(desc));
  desc.layout.plane[0].component[0].ghost = 0.5;
  EXPECT_FALSE(as_widened(desc));
}

TEST(Widened, FastestTimesWhatAutoMayMakeOfCopies) {
  const std::vector<Algorithm> algorithms{Algorithm::tiled, Algorithm::matrix};
  std::vector<Algorithm> and_auto = algorithms;
  and_auto.push_back(Algorithm::automatic);
  EXPECT_EQ(cuda::fastest_candidates(algorithms, desc_of({1366, 683, 683})), and_auto);
  EXPECT_EQ(cuda::fastest_candidates(algorithms, desc_of({1920, 960})), algorithms);
}

}  // namespace
