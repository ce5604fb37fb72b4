// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/available_processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace convolve {
namespace {

TEST(AvailableProcessors, QuotaOfVersionTwoIsRoundedUp) {
  EXPECT_EQ(processors_of_cpu_max("200000 100000\n"), 2u);
  EXPECT_EQ(processors_of_cpu_max("150000 100000\n"), 2u);
  EXPECT_EQ(processors_of_cpu_max("50000 100000"), 1u);
  EXPECT_EQ(processors_of_cpu_max("1 1000000"), 1u);
}

TEST(AvailableProcessors, NoLimitOrNoSenseIsNoQuota) {
  for (const char* text : {"max 100000\n", "", "max", "100000", "100000 ", "100000 0", "-1 100000", "0 100000",
                           "99999999999999999999 100000", "2x 100000", "100000 100000 7"})
    EXPECT_EQ(processors_of_cpu_max(text), std::nullopt) << '"' << text << '"';
}

TEST(AvailableProcessors, QuotaOfVersionOneHasTwoFiles) {
  EXPECT_EQ(processors_of_cfs("400000\n", "100000\n"), 4u);
  EXPECT_EQ(processors_of_cfs("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(processors_of_cfs("", ""), std::nullopt);
}

TEST(AvailableProcessors, AreNoMoreThanTheAffinityAllows) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_GE(available_processors(), 1u);
  EXPECT_LE(available_processors(), static_cast<unsigned>(CPU_COUNT(&set)));
}

}  // namespace
}  // namespace convolve
