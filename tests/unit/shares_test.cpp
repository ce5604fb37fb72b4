// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/shares.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace convolve::cpu {
namespace {

using Range = Shares::Range;

TEST(Shares, TakesFromTheFrontSmallerAndSmallerPieces) {
  Shares shares(1);
  EXPECT_TRUE(shares.take(0, 4).empty());
  shares.deal(0, {10, 30});
  EXPECT_EQ(shares.take(0, 4), (Range{10, 15}));
  EXPECT_EQ(shares.take(0, 4), (Range{15, 18}));
  EXPECT_EQ(shares.take(0, 1), (Range{18, 30}));
  EXPECT_TRUE(shares.take(0, 4).empty());
}

TEST(Shares, StealsTheBackHalfOfTheLargest) {
  Shares shares(3);
  shares.deal(0, {0, 5});
  shares.deal(1, {5, 14});
  EXPECT_TRUE(shares.steal(2, 4));
  EXPECT_EQ(shares.take(1, 1), (Range{5, 10}));
  EXPECT_EQ(shares.take(2, 1), (Range{10, 14}));
  EXPECT_FALSE(shares.steal(2, 3)) << "half of five units is two";
  EXPECT_TRUE(shares.steal(2, 2));
  EXPECT_EQ(shares.take(0, 1), (Range{0, 3}));
  EXPECT_EQ(shares.take(2, 1), (Range{3, 5}));
}

TEST(Shares, LeavesTheLastUnitToItsTaker) {
  Shares shares(2);
  shares.deal(0, {7, 8});
  EXPECT_FALSE(shares.steal(1, 0));
  EXPECT_EQ(shares.take(0, 16), (Range{7, 8}));
}

// However the threads meet: no unit is left out, none is done twice.
TEST(Shares, EachUnitIsTakenOnceByThreadsThatSteal) {
  constexpr int takers = 4, units = 2000, rounds = 200;
  Shares shares(takers);
  const auto done = std::make_unique<std::atomic<int>[]>(units);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < units; ++i) done[i] = 0;
    // One taker has nothing and one nearly all.
    shares.deal(0, {});
    shares.deal(1, {0, 10});
    shares.deal(2, {10, 20});
    shares.deal(3, {20, units});
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < takers; ++t)
      threads.emplace_back([&, t] {
        do {
          for (Range range; !(range = shares.take(t, 8)).empty();)
            for (int i = range.first; i < range.last; ++i) ++done[i];
        } while (shares.steal(t, 1));
      });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < units; ++i) ASSERT_EQ(done[i], 1) << "unit " << i << ", round " << round;
  }
}

}  // namespace
}  // namespace convolve::cpu
