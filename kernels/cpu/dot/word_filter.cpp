// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_filter.hpp"

#include <algorithm>
#include <utility>

namespace convolve::cpu::dot {
namespace {

std::vector<WordStep> pack_steps(const WordTaps& taps) {
  std::vector<WordStep> steps;
  std::array<std::size_t, 2> segment{};
  for (std::size_t i = 0; i < taps.parity[0].pairs.size(); ++i)
    for (std::size_t p = 0; p < 2; ++p) {
      const WordTaps::Parity& of = taps.parity[p];
      WordStep step{of.pairs[i], static_cast<std::int32_t>(0x01010101u * of.flips[i]), 0, 0};
      if (of.flips[i]) step.flags |= is_wide;
      if (of.parts[i]) {
        step.flip = of.parts[i];
        step.flags |= is_split;
      }
      if (i == 0 || of.parts[i] || of.ends[i - 1]) {
        step.flags |= begins_segment;
        step.start = two_words(of.start[segment[p]] + of.lack[segment[p]]);
        ++segment[p];
      }
      steps.push_back(step);
    }
  return steps;
}

std::vector<std::uint32_t> mark_steps(const std::vector<WordStep>& steps, std::size_t columns) {
  std::vector<std::uint32_t> marks;
  const std::size_t rows = steps.size() / 2 / columns;
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t parity = 0; parity < 2; ++parity) {
      std::uint32_t mark = 0;
      for (std::size_t row = 0; row < rows; ++row)
        if (steps[2 * (column * rows + row) + parity].flags) mark |= 1u << row;
      marks.push_back(mark);
    }
  return marks;
}

}  // namespace

WordOrders::WordOrders(int components) {
  for (int i = 0; i < 16; ++i) {
    // Word i / 2 of a half is of component `word % components` of a pair of pixels. Of three components the last two
    // words are nothing.
    const int word = i / 2, pair = word / components, c = word % components, pixel = i / components;
    window[i] = window[i + 16] = static_cast<std::uint8_t>(std::min((2 * pair + i % 2) * components + c, 15));
    in_turns[i] = static_cast<std::uint8_t>((pixel % 2 * 8 + pixel / 2 * components + i % components) % 16);
  }
}

WordForm word_form(int components) {
  if (components == 1) return WordForm::one;
  return components == 3 ? WordForm::three : WordForm::two_or_four;
}

std::optional<WordFilter> pack_words(WordTaps& taps, int components, double divisor, double constant) {
  const std::optional<WordQuotient> q = make_word_quotient(taps, divisor, constant);
  if (!q) return std::nullopt;
  std::vector<WordStep> steps = pack_steps(taps);
  std::vector<std::uint32_t> marks = mark_steps(steps, taps.columns.size());
  const WordDivision division{two_words(q->multiplier), two_words(q->divisor), two_words(q->divisor / 2),
                              two_words(q->less)};
  std::vector<std::ptrdiff_t> offsets;
  for (const int column : taps.columns) offsets.push_back(static_cast<std::ptrdiff_t>(column) * components);
  return WordFilter{std::move(steps), std::move(offsets), std::move(marks),      taps.segments(), q->saturates,
                    q->ties,          division,           WordOrders(components)};
}

}  // namespace convolve::cpu::dot
