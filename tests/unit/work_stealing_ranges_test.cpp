// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/work_stealing_ranges.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace convolve {
namespace {

using Range = WorkStealingRanges::Range;

TEST(WorkStealingRanges, TakesFromTheFrontSmallerAndSmallerPieces) {
  WorkStealingRanges ranges(1);
  EXPECT_TRUE(ranges.take(0, 4).empty());
  ranges.deal(0, {10, 30});
  EXPECT_EQ(ranges.take(0, 4), (Range{10, 15}));
  EXPECT_EQ(ranges.take(0, 4), (Range{15, 18}));
  EXPECT_EQ(ranges.take(0, 1), (Range{18, 30}));
  EXPECT_TRUE(ranges.take(0, 4).empty());
}

TEST(WorkStealingRanges, StealsTheBackHalfOfTheLargest) {
  WorkStealingRanges ranges(3);
  ranges.deal(0, {0, 5});
  ranges.deal(1, {5, 14});
  EXPECT_TRUE(ranges.steal(2, 4));
  EXPECT_EQ(ranges.take(1, 1), (Range{5, 10}));
  EXPECT_EQ(ranges.take(2, 1), (Range{10, 14}));
  EXPECT_FALSE(ranges.steal(2, 3)) << "half of five units is two";
  EXPECT_TRUE(ranges.steal(2, 2));
  EXPECT_EQ(ranges.take(0, 1), (Range{0, 3}));
  EXPECT_EQ(ranges.take(2, 1), (Range{3, 5}));
}

TEST(WorkStealingRanges, LeavesTheLastUnitToItsOwner) {
  WorkStealingRanges ranges(2);
  ranges.deal(0, {7, 8});
  EXPECT_FALSE(ranges.steal(1, 0));
  EXPECT_EQ(ranges.take(0, 16), (Range{7, 8}));
}

// However the threads meet: no unit is left out, none is done twice.
TEST(WorkStealingRanges, EachUnitIsTakenOnceByThreadsThatSteal) {
  constexpr int takers = 4, units = 2000, rounds = 200;
  WorkStealingRanges ranges(takers);
  const auto done = std::make_unique<std::atomic<int>[]>(units);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < units; ++i) done[i] = 0;
    // One taker has nothing and one nearly all.
    ranges.deal(0, {});
    ranges.deal(1, {0, 10});
    ranges.deal(2, {10, 20});
    ranges.deal(3, {20, units});
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < takers; ++t)
      threads.emplace_back([&, t] {
        do {
          for (Range range; !(range = ranges.take(t, 8)).empty();)
            for (int i = range.first; i < range.last; ++i) ++done[i];
        } while (ranges.steal(t, 1));
      });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < units; ++i) ASSERT_EQ(done[i], 1) << "unit " << i << ", round " << round;
  }
}

}  // namespace
}  // namespace convolve
