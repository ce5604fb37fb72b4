// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Integer taps for multiply-adds of bytes whose sums stay in 16 bits for some rows of taps (dot/word_sums.cpp).
//
// A multiply-add of bytes makes a 16-bit sum of two neighbouring products, which must not exceed 16 bits, or it
// saturates. A row of an odd number of taps is in one pair more than half of them, so that the last column but one is
// in two: its tap is shared out between them. Sums of 16 bits hold the pairs of one or more rows, a segment, where the
// magnitudes of all its taps are 257 at the most: 257 * 255 is the range of 16 bits. What is too much for a pair or for
// a segment is left over, and becomes pairs of a segment of its own.
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
  std::vector<LeftOver> left_over;  ///< a last segment, where the others are odd in number; else there is none
  std::vector<std::int32_t> start;  ///< of each segment's sums: room for what is below 0
  std::int32_t excess = 0;          ///< all of `start` together
};

/// The taps of a filter, [row][column], with so many rows in a segment: of an odd number of columns, three or more.
/// Nothing where more is left over than one segment holds.
std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width, int segment_rows);

}  // namespace convolve::cpu::dot
