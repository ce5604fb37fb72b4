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
// The pairs of taps come column by column of windows, each down its rows: a *step* is the pair of a window for the
// outputs of either parity.
//
// Two taps of one sign whose magnitudes come to more than 128 are a *wide pair*. A multiply-add takes bytes without a
// sign and bytes with one: of a wide pair those with a sign are the samples, of which one exclusive or takes 128, or
// which it takes from 127, and the taps are magnitudes, which may come to 256.
//
//     x ^ 0x80 as a signed byte is x - 128      a x + b y   = a (x - 128) + b (y - 128) + 128 (a + b)
//     x ^ 0x7f as a signed byte is 127 - x      -a x - b y  = a (127 - x) + b (127 - y) - 127 (a + b)
//
// What such products lack is added to where their segment starts. A segment is as many steps, one after the other, as
// 16 bits hold the sums of: where the magnitudes of all its taps are 257 at the most, as 257 * 255 is the range of 16
// bits. Segments of the two parities end behind steps of their own, and are the same in number. A *split pair* is in
// two segments, so that the earlier one is full: its window is multiplied twice, by a part of the taps and by the rest.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
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

constexpr int max_word_segments = 64, max_word_steps = 128;

/// Filters with more columns than 7 are summed up in a loop, which averages so many segments at a time: those that a
/// filter lacks are 0.
constexpr bool loops(int width) {
  return width > 7;
}
constexpr int segments_at_a_time = 8;

/// The most segments that a kernel for so many columns takes.
constexpr int most_segments(int width) {
  if (loops(width)) return max_word_segments;
  return width > 5 ? 12 : width > 3 ? 8 : 4;
}

struct WordTaps {
  /// Of one parity: bit i of `ends` says that a segment ends behind step i. One that ends with a part of a split pair,
  /// within its step, has no bit.
  struct Parity {
    std::vector<TapPair> pairs;       ///< [window][row]
    std::vector<TapPair> parts;       ///< of a pair that two segments share, what the earlier one has of it
    std::vector<std::uint8_t> flips;  ///< what each sample of a wide pair is flipped by; 0: not a wide pair
    std::bitset<max_word_steps> ends;
    std::vector<std::int32_t> start;  ///< of each segment's sums, so that none is below 0
    std::vector<std::int32_t> lack;   ///< what the products of wide pairs lack, to be added to it
    std::vector<std::int32_t> room;   ///< by how much more each segment may start
  };
  std::vector<int> columns;      ///< of the windows, in the order of the steps
  std::array<Parity, 2> parity;  ///< the outputs at even places, and those at odd places

  int steps() const { return static_cast<int>(parity[0].pairs.size()); }
  int segments() const { return static_cast<int>(parity[0].start.size()); }
  int wide_pairs() const {
    const auto of = [](const Parity& p) { return p.flips.size() - std::count(p.flips.begin(), p.flips.end(), 0); };
    return static_cast<int>(of(parity[0]) + of(parity[1]));
  }
  int split_pairs() const {
    const auto of = [](const Parity& p) { return p.parts.size() - std::count(p.parts.begin(), p.parts.end(), 0); };
    return static_cast<int>(of(parity[0]) + of(parity[1]));
  }
};

/// The taps of a filter, [row][column]: of an odd number of columns, 15x15 at the most, none of a magnitude above 127.
/// Windows come in the order that costs least, of some where there are many. `splits`: pairs may be split, for which
/// the kernel of a loop has no steps. Nothing where every order and way to split has more than most_segments(width).
std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width, bool splits);

/// How often segments are averaged, two by two, until there is one: an average of two is rounded up, one with nothing
/// is cut off.
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
