// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The table that `auto` chooses by on a GPU, without a GPU: that every case finds a row, whether rows can be met at
// all, and what is said of them. That its choices are the fast ones is tests/bench/scripts_test.py's business.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "cuda/choice.hpp"

namespace convolve::cuda {
namespace {

template <class Visit>
void for_all_cases(const Visit& visit) {
  for (const SampleType type : {SampleType::u8, SampleType::u16, SampleType::f32})
    for (const Accumulator accumulator : {Accumulator::exact, Accumulator::single, Accumulator::double_})
      for (int components = 1; components <= 4; ++components)
        for (int depth = 1; depth <= max_taps; ++depth)
          for (int side = 1; side <= max_dense_taps; ++side)
            for (int rank = 0; rank <= std::min(side, Filter::unknown_rank); ++rank)
              for (const bool one_limb : {false, true})
                visit(Case{type, components, depth, side, rank, accumulator, one_limb});
}

TEST(CudaChoice, EveryCaseMayFallBackToTheAlgorithmThatServesAll) {
  // `basic` serves all, so that a table without a row that lets it in would leave some cases to nobody.
  for_all_cases([](const Case& wanted) {
    for (const ChoiceTable& table : choice_tables)
      EXPECT_TRUE(std::any_of(table.rows.begin(), table.rows.end(), [&](const ChoiceRow& row) {
        return row.algorithm == Algorithm::basic && row.matches(wanted);
      }));
  });
}

TEST(CudaChoice, AFilterThatOnlyItsFactorsServeFindsSeparable) {
  for (const ChoiceTable& table : choice_tables)
    for (int side = max_dense_taps + 1; side <= max_factored_taps; ++side) {
      const Case wanted{SampleType::u16, 4, max_depth, side, 2, Accumulator::double_, false};
      const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                    [&](const ChoiceRow& candidate) { return candidate.matches(wanted); });
      ASSERT_NE(row, table.rows.end()) << side;
      EXPECT_EQ(row->algorithm, Algorithm::separable) << side;
    }
}

TEST(CudaChoice, EveryRowIsMetBySomeCase) {
  for (const ChoiceTable& table : choice_tables)
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      bool met = false;
      for_all_cases([&](const Case& wanted) { met |= table.rows[row].matches(wanted); });
      EXPECT_TRUE(met) << "row " << row + 1;
    }
}

TEST(CudaChoice, AGpuWithoutATableOfItsOwnUsesTheNearest) {
  for (const ChoiceTable& table : choice_tables) EXPECT_EQ(&choice_table(table.capability), &table);
  EXPECT_EQ(choice_table(0).capability, choice_tables.front().capability);
  EXPECT_EQ(choice_table(999).capability, choice_tables.back().capability);
  EXPECT_TRUE(std::is_sorted(choice_tables.begin(), choice_tables.end(),
                             [](const ChoiceTable& a, const ChoiceTable& b) { return a.capability < b.capability; }));
}

TEST(CudaChoice, ADescriptionSaysWhichRowAndWhetherItWasMeasuredThere) {
  const std::array rows{ChoiceRow{.algorithm = Algorithm::basic},
                        ChoiceRow{.algorithm = Algorithm::register_, .max_depth = 1, .max_side = 4}};
  const ChoiceTable table{90, rows};
  EXPECT_EQ(describe_choice(table, 0, 90), "auto: row 1 of choice.hpp, basic, measured on compute capability 9.0");
  EXPECT_EQ(describe_choice(table, 1, 120),
            "auto: row 2 of choice.hpp, register (1 frame, up to 4 taps), measured on compute capability 9.0, this is "
            "12.0");
}

TEST(CudaChoice, TheWordsOfARowAreItsConditions) {
  EXPECT_EQ(describe(ChoiceRow{.algorithm = Algorithm::matrix,
                               .types = bit(SampleType::u8) | bit(SampleType::u16),
                               .accumulators = bit(Accumulator::exact),
                               .max_rank = 2,
                               .max_components = 1,
                               .min_depth = 2,
                               .min_side = 7,
                               .max_side = 8}),
            "matrix (u8 or u16, exact, rank up to 2, 1 component, from 2 frames on, 7 to 8 taps)");
  EXPECT_EQ(describe(ChoiceRow{.algorithm = Algorithm::separable,
                               .types = bit(SampleType::f32),
                               .accumulators = bit(Accumulator::double_),
                               .max_rank = 1,
                               .max_components = 3,
                               .max_depth = 5,
                               .min_side = 16,
                               .max_side = 255}),
            "separable (f32, double, rank 1, up to 3 components, up to 5 frames, 16 to 255 taps)");
  EXPECT_EQ(describe(ChoiceRow{
                .algorithm = Algorithm::matrix, .types = bit(SampleType::u16), .min_side = 7, .one_limb = true}),
            "matrix (u16, taps of one limb, from 7 taps on)");
  EXPECT_EQ(describe(ChoiceRow{.algorithm = Algorithm::separable, .min_components = 3, .max_components = 3}),
            "separable (3 components)");
}

TEST(CudaChoice, TheWordsOfARowFindIt) {
  for (const ChoiceTable& table : choice_tables) {
    std::set<std::string> words;
    for (const ChoiceRow& row : table.rows) EXPECT_TRUE(words.insert(describe(row)).second) << describe(row);
  }
}

}  // namespace
}  // namespace convolve::cuda
