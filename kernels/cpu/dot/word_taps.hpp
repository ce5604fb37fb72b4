// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Integer taps for multiply-adds of bytes whose sums stay in 16 bits (dot/word_sums.cpp), and the division of such
// sums.
//
// A multiply-add of bytes makes a 16-bit sum of two neighbouring products, which must not exceed 16 bits, or it
// saturates. Its 16-bit lanes begin at even samples. A *window*, the samples from an even column on, serves the outputs
// at even places with the taps of that column and the next, and those at odd places, which begin a sample later, with
// the tap before that column and its own.
//
//     samples               x0 x1   x2 x3   x4 x5
//     output 0, taps abcde  a  b    c  d    e  .
//     output 1              .  a    b  c    d  e
//
// The pairs of taps come column by column of windows, each down its rows. A segment is so many pairs, one after the
// other, as 16 bits hold the sums of: where the magnitudes of all its taps are 257 at the most, as 257 * 255 is the
// range of 16 bits. What is too much for a pair or for a segment is left over, and becomes more pairs of the last
// segment, or of one more.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace convolve::cpu::dot {

/// Two neighbouring taps, the first in the low byte; twice, for a vector of 32-bit lanes.
using TapPair = std::int32_t;

/// Windows of a row of taps, which are odd in number.
constexpr int windows_of(int width) {
  return width / 2 + 1;
}

constexpr int max_left_over = 24;  ///< of both parities: with more, shuffles are as fast

struct WordTaps {
  struct LeftOver {
    int row, column;  ///< of the window
    TapPair taps;
  };
  /// The outputs at even places, or those at odd places.
  struct Parity {
    std::vector<LeftOver> left_over;
    std::vector<std::int32_t> start;  ///< of each segment's sums, so that none is below 0
    std::vector<std::int32_t> room;   ///< by how much more each segment may start
  };
  std::vector<int> columns;    ///< of the windows, in the order of the pairs
  std::vector<TapPair> pairs;  ///< [window][row][parity]
  std::array<Parity, 2> parity;
  bool one_more = false;  ///< segment, of what is left over alone

  int segments() const { return static_cast<int>(parity[0].start.size()); }
  int left_over() const { return static_cast<int>(parity[0].left_over.size() + parity[1].left_over.size()); }
};

/// The taps of a filter, [row][column], with so many pairs in a segment: of an odd number of columns, 7x7 at the
/// most, none of a magnitude above 127. Windows come in the order that leaves the least over. Nothing where more is
/// left over than one segment holds.
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
