// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/byte_steps.hpp"

#include <gtest/gtest.h>

#include <array>

namespace convolve::cuda {
namespace {

FrameLayout interleaved(int components) {
  FrameLayout layout;
  layout.planes = 1;
  layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    layout.plane[0].component[c] = {.offset = c, .step = components, .width = 64, .height = 8};
  return layout;
}

/// YUY2, or UYVY where `luma` is 1.
FrameLayout packed_422(int luma, int width = 64) {
  FrameLayout layout;
  layout.planes = 1;
  layout.plane[0].components = 3;
  layout.plane[0].component[0] = {.offset = luma, .step = 2, .width = width, .height = 8};
  for (int c = 1; c < 3; ++c)
    layout.plane[0].component[c] = {
        .offset = 2 * c - 1 - luma, .step = 4, .width = (width + 1) / 2, .height = 8, .filtered = false};
  return layout;
}

PlanDesc desc_of(const FrameLayout& layout, int depth = 1) {
  PlanDesc desc;
  desc.layout = layout;
  TapArray taps{.depth = depth, .height = 1, .width = 1, .taps = {}};
  taps.taps.resize(static_cast<std::size_t>(depth), Tap::integer(1));
  desc.filter = Filter(taps, {});
  return desc;
}

TEST(ByteSteps, AreAsFarApartAsNeighboursOfAComponent) {
  const PlaneLayout four = interleaved(4).plane[0];
  for (int b = 0; b < 4; ++b) {
    EXPECT_EQ(step_at(four, false, b), 4);
    EXPECT_EQ(index_at(four, false, b), b);
  }
  for (const int luma : {0, 1}) {
    const PlaneLayout pairs = packed_422(luma).plane[0];
    std::array<int, 4> steps{}, indices{};
    for (int b = 0; b < 4; ++b) steps[b] = step_at(pairs, true, b), indices[b] = index_at(pairs, true, b);
    EXPECT_EQ(steps, luma == 0 ? (std::array{2, 4, 2, 4}) : (std::array{4, 2, 4, 2}));
    EXPECT_EQ(indices, luma == 0 ? (std::array{0, 1, 0, 2}) : (std::array{1, 0, 2, 0}));
  }
}

TEST(ByteSteps, AreKnownOfEvenPairsAndOfThreeComponentsThatAreFilteredAlike) {
  const auto has = [](const FrameLayout& layout, bool is_packed) {
    bool packed = !is_packed;
    const bool result = has_byte_steps(layout, packed);
    EXPECT_EQ(packed, is_packed);
    return result;
  };
  for (int components = 1; components <= 4; ++components) EXPECT_TRUE(has(interleaved(components), false));
  EXPECT_TRUE(has(packed_422(0), true));
  EXPECT_FALSE(has(packed_422(0, 63), true)) << "the last pair is half a pair";
  FrameLayout rgb = interleaved(3);
  rgb.plane[0].component[1].filtered = false;
  EXPECT_FALSE(has(rgb, false)) << "a byte's place in a word does not say which component it is of";
}

TEST(ByteFrames, TellWhatIsCopied) {
  FrameLayout four = interleaved(4);
  four.plane[0].component[3].filtered = false;
  EXPECT_EQ(ByteFrames(desc_of(four)).passthrough(0), 0xFF000000u);
  FrameLayout two = interleaved(2);
  two.plane[0].component[0].filtered = false;
  EXPECT_EQ(ByteFrames(desc_of(two)).passthrough(0), 0x00FF00FFu);
  EXPECT_EQ(ByteFrames(desc_of(interleaved(3))).passthrough(0), 0u);
  // The chroma is copied.
  EXPECT_EQ(ByteFrames(desc_of(packed_422(0))).passthrough(0), 0xFF00FF00u);
  EXPECT_EQ(ByteFrames(desc_of(packed_422(1))).passthrough(0), 0x00FF00FFu);
}

TEST(ByteFrames, TellWhichFramesLieBeyondTheStreamsEnds) {
  const ByteFrames frames(desc_of(interleaved(1), 5));
  const Image image{};
  Window window{.depth = 5, .image = {}};
  for (int t = 0; t < 5; ++t) window.image[t] = t < 2 ? nullptr : &image;
  EXPECT_EQ(frames.missing(window), 3u);
  window.image[4] = nullptr;
  EXPECT_EQ(frames.missing(window), 19u);
  for (const Image*& one : window.image) one = &image;
  EXPECT_EQ(frames.missing(window), 0u);
}

}  // namespace
}  // namespace convolve::cuda
