// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/border.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "oracle.hpp"

namespace {

using convolve::Border;
using convolve::border_index;

// The definitions, written out: one period of the periodic ones, starting at sample 0.
std::vector<int> period(Border mode, int n) {
  std::vector<int> p;
  for (int i = 0; i < n; ++i) p.push_back(i);
  if (mode == Border::reflect)
    for (int i = n - 1; i >= 0; --i) p.push_back(i);
  if (mode == Border::reflect_101)
    for (int i = n - 2; i > 0; --i) p.push_back(i);
  return p;
}

int by_definition(Border mode, int i, int n) {
  if (mode == Border::constant) return i < 0 || i >= n ? -1 : i;
  if (mode == Border::replicate) return i < 0 ? 0 : i >= n ? n - 1 : i;
  const std::vector<int> p = period(mode, n);
  const int length = static_cast<int>(p.size());
  int at = i;
  while (at < 0) at += length;
  return p[at % length];
}

TEST(Border, IsItsDefinitionHoweverOftenTheAxisFolds) {
  for (const convolve::BorderRow& row : convolve::borders)
    for (int n = 1; n <= 20; ++n)
      for (int i = -100; i <= 120; ++i)
        ASSERT_EQ(border_index(row.value, i, n), by_definition(row.value, i, n))
            << row.nick << " i=" << i << " n=" << n;
}

TEST(Border, LooksAsItsDescriptionDraws) {
  const std::map<std::string, std::vector<int>> drawn = {
      {"constant", {-1, -1, 0, 1, 2, 3, -1, -1}}, {"replicate", {0, 0, 0, 1, 2, 3, 3, 3}},
      {"reflect", {1, 0, 0, 1, 2, 3, 3, 2}},      {"reflect-101", {2, 1, 0, 1, 2, 3, 2, 1}},
      {"wrap", {2, 3, 0, 1, 2, 3, 0, 1}},
  };
  for (const convolve::BorderRow& row : convolve::borders) {
    ASSERT_TRUE(drawn.contains(row.nick)) << row.nick << " has no drawing here";
    for (int i = -2; i < 6; ++i) EXPECT_EQ(border_index(row.value, i, 4), drawn.at(row.nick)[i + 2]) << row.nick;
    // The letters of the description are the same picture.
    std::string letters, expected;
    for (const char* c = row.description; *c; ++c)
      if (*c == '(') letters = c;
    for (const int i : drawn.at(row.nick)) expected += i < 0 ? 'v' : static_cast<char>('a' + i);
    std::erase_if(letters, [](char c) { return c < 'a' || c > 'z'; });
    EXPECT_EQ(letters, expected) << row.description;
  }
}

TEST(Border, TableIsInTheEnumsOrder) {
  for (std::size_t i = 0; i < convolve::borders.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(convolve::borders[i].value), i);
}

TEST(Border, WorksAtCompileTime) {
  static_assert(border_index(Border::reflect, -1, 5) == 0);
  static_assert(border_index(Border::reflect_101, -7, 1) == 0);
}

// The oracle folds with code of its own; they have to mean the same thing by the same name.
TEST(Border, OracleFoldsAlike) {
  const std::map<Border, oracle::Edge> edges = {{Border::constant, oracle::Edge::constant},
                                                {Border::replicate, oracle::Edge::replicate},
                                                {Border::reflect, oracle::Edge::reflect},
                                                {Border::reflect_101, oracle::Edge::reflect_101},
                                                {Border::wrap, oracle::Edge::wrap}};
  for (const convolve::BorderRow& row : convolve::borders)
    for (int n = 1; n <= 9; ++n)
      for (int i = -40; i <= 40; ++i)
        ASSERT_EQ(oracle::fold(edges.at(row.value), i, n), by_definition(row.value, i, n));
}

}  // namespace
