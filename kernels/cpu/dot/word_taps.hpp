// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Integer taps for multiply-adds of bytes whose sums stay in 16 bits (dot/word_sums.cpp), and the division of such
// sums.
//
// A multiply-add of bytes makes a 16-bit sum of two neighbouring products, which must not exceed 16 bits, or it
// saturates. A row of an odd number of taps is in one pair more than half of them, so that the last column but one is
// in two: its tap is shared out between them. A segment is so many pairs, one after the other, as 16 bits hold the sums
// of: where the magnitudes of all its taps are 257 at the most, as 257 * 255 is the range of 16 bits. What is too much
// for a pair or for a segment is left over, and becomes more pairs of the last segment.
//
//     taps of a row    80 90 70       pairs   80 48 | 42 70        80 + 48 is all that a pair holds
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace convolve::cpu::dot {

/// Two neighbouring taps, the first in the low byte; twice, for a vector of 32-bit lanes.
using TapPair = std::int32_t;

/// Column of the first of the two taps of a row's pairs.
constexpr int pair_column(int pair, int width) {
  return 2 * pair < width - 2 ? 2 * pair : width - 2;
}

struct WordTaps {
  struct LeftOver {
    int row, column;  ///< of the first of the two taps
    TapPair taps;
  };
  std::vector<TapPair> pairs;       ///< [row][pair]
  std::vector<LeftOver> left_over;  ///< of the last segment
  std::vector<std::int32_t> start;  ///< of each segment's sums, so that none is below 0
  std::vector<std::int32_t> room;   ///< by how much more each segment may start
};

/// The taps of a filter, [row][column], with so many pairs in a segment: of an odd number of columns, three or more.
/// Nothing where more is left over than the last segment holds.
std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width, int segment_pairs);

/// How often segments are averaged, two by two, until there is one.
constexpr int average_levels(int segments) {
  int levels = 0;
  while (1 << levels < segments) ++levels;
  return levels;
}

/// How sums are divided in 16 bits. The sum modulo 2^16 is known, and so is about the average of the segments, which
/// has fewer digits. The average times `multiplier` / 2^16 is the quotient or one less; what the quotient leaves of the
/// sum is less than 2^15 in magnitude, so that 16 bits of the sum are enough to tell which, and whether it is a tie.
struct WordQuotient {
  bool saturates = false;        ///< the divisor is 1, and there is one segment: sums less `less` are code values
  bool ties = false;             ///< the divisor is even, and so is `less`: ties go to even quotients
  std::uint16_t multiplier = 0;  ///< of the average
  std::int16_t divisor = 1;
  std::uint16_t less = 0;  ///< taken off quotients, for what the segments start from; modulo 2^16
};

/// For code values (sum + constant) / divisor, rounded to nearest, ties to even. The segments then start from what adds
/// up to a multiple of the divisor. Nothing where the divisor is no whole number, where it is too small for so many
/// segments, or where they have no room.
std::optional<WordQuotient> make_word_quotient(WordTaps& taps, double divisor, double constant);

}  // namespace convolve::cpu::dot
