// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The taps of dot/word_taps.hpp in the form that the kernel takes (dot/word_sums.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/dot/word_taps.hpp"

namespace convolve::cpu::dot {

// Words of 16 bits twice, for a vector of 32-bit lanes.
using TwoWords = std::int32_t;

constexpr TwoWords two_words(std::int32_t word) {
  return static_cast<TwoWords>(0x10001u * (static_cast<std::uint32_t>(word) & 0xffff));
}

// What the kernel does with a window for the outputs of one parity.
struct WordStep {
  TapPair taps;
  std::int32_t flip;  // of a window's bytes, where is_wide; where is_split, taps that the segment before ends with
  TwoWords start;     // of the segment that begins with this step, where begins_segment
  std::int32_t flags;
};
constexpr std::int32_t is_wide = 1, begins_segment = 2, is_split = 4;

// How the bytes of a row become windows. Of one component they are that as they lie; of two and four, samples of
// neighbouring pixels are brought side by side; of three, each half of a vector has four pixels.
enum class WordForm : std::uint8_t { one, two_or_four, three };

// The order of the bytes of both halves of a vector, in windows and from sums to samples.
struct WordOrders {
  alignas(16) std::uint8_t window[32];
  alignas(16) std::uint8_t in_turns[16];
  explicit WordOrders(int components);
};

// Of a division; see WordQuotient.
struct WordDivision {
  TwoWords multiplier, divisor, half, less;
};

struct WordFilter {
  std::vector<WordStep> steps;          // [step][parity]
  std::vector<std::ptrdiff_t> offsets;  // of the columns of windows, in bytes
  std::vector<std::uint32_t> marks;     // [column of windows][parity]: bit r says that the step of row r has flags
  int segments;                         // of each parity
  bool saturates, ties;                 // see WordQuotient
  WordDivision division;
  WordOrders orders;
};

// Samples that a block has.
constexpr int samples_of(WordForm form) {
  return form == WordForm::three ? 24 : 32;
}

WordForm word_form(int components);

/// The kernel's form of these taps for code values (sum + constant) / divisor. Nothing where
/// make_word_quotient() has none.
std::optional<WordFilter> pack_words(WordTaps& taps, int components, double divisor, double constant);

}  // namespace convolve::cpu::dot
