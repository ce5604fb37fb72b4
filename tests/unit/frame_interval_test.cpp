// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_interval.hpp"

#include <gtest/gtest.h>

namespace convolve {
namespace {

TEST(FrameInterval, IsAGuessThenADurationThenADifference) {
  FrameInterval interval;
  EXPECT_EQ(interval.estimate(), FrameInterval::guess);
  interval.add(std::nullopt, 7000);
  EXPECT_EQ(interval.estimate(), 7000u);
  interval.add(100, 7000);
  EXPECT_EQ(interval.estimate(), 7000u);
  interval.add(5100, 7000);
  EXPECT_EQ(interval.estimate(), 5000u);
}

TEST(FrameInterval, IsNeverZero) {
  FrameInterval interval;
  for (int i = 0; i < 5; ++i) interval.add(100, 0);
  EXPECT_EQ(interval.estimate(), FrameInterval::guess);
}

TEST(FrameInterval, PausesDoNotMoveItAndANewRateDoes) {
  FrameInterval interval;
  std::uint64_t now = 0;
  for (int i = 0; i < 40; ++i) interval.add(now += i % 10 == 9 ? 100000 : 1000, std::nullopt);
  EXPECT_EQ(interval.estimate(), 1000u);
  for (int i = 0; i < 12; ++i) interval.add(now += 4000, std::nullopt);
  EXPECT_EQ(interval.estimate(), 4000u);
  for (int i = 0; i < 30; ++i) interval.add(now += 1000, std::nullopt);
  EXPECT_EQ(interval.estimate(), 1000u);
}

// It follows what is longer by a sixteenth, and what is shorter by a quarter: too long an estimate only adds latency.
TEST(FrameInterval, FollowsARateThatIsALittleSlowerSoonerThanOneThatIsALittleFaster) {
  const auto after = [](std::uint64_t other) {
    FrameInterval interval;
    std::uint64_t now = 0;
    for (int i = 0; i < 20; ++i) interval.add(now += 1600, std::nullopt);
    for (int i = 0; i < 60; ++i) interval.add(now += other, std::nullopt);
    return interval.estimate();
  };
  EXPECT_EQ(after(1690), 1600u);
  EXPECT_EQ(after(1710), 1710u);
  EXPECT_EQ(after(1210), 1600u);
  EXPECT_EQ(after(1190), 1190u);
}

TEST(FrameInterval, TwoIntervalsInTurnsMoveItNoMoreThanOnce) {
  FrameInterval interval;
  std::uint64_t now = 0, before = 0;
  int moves = 0;
  for (int i = 0; i < 200; ++i) {
    interval.add(now += i % 2 ? 33000 : 66000, std::nullopt);
    if (i > 15 && interval.estimate() != before) ++moves;
    before = interval.estimate();
  }
  EXPECT_LE(moves, 1);
}

TEST(FrameInterval, ACutIsNoInterval) {
  FrameInterval interval;
  interval.add(1000, std::nullopt);
  interval.cut();
  interval.add(900000, std::nullopt);
  interval.add(902000, std::nullopt);
  EXPECT_EQ(interval.estimate(), 2000u);
}

TEST(FrameInterval, RunsBackwardsToo) {
  FrameInterval interval;
  for (int i = 20; i > 0; --i) interval.add(i * 500, std::nullopt);
  EXPECT_EQ(interval.estimate(), 500u);
}

}  // namespace
}  // namespace convolve
