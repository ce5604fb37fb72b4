// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_taps.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

namespace convolve::cpu::dot {
namespace {

constexpr int pair_limit = 128, segment_limit = 257;  // of magnitudes
constexpr int largest_word = 65535, largest_sample = 255;

struct Pair {
  int tap[2];

  int magnitude() const { return std::abs(tap[0]) + std::abs(tap[1]); }
  int below() const { return std::max(-tap[0], 0) + std::max(-tap[1], 0); }
  // Of one sign, and too much for a product with taps that have one.
  bool wide() const { return magnitude() > pair_limit && (below() == 0 || below() == magnitude()); }
  std::uint8_t flip() const { return !wide() ? 0 : below() == 0 ? 0x80 : 0x7f; }
  int lack() const { return !wide() ? 0 : below() == 0 ? 128 * magnitude() : -127 * magnitude(); }
  TapPair word() const {
    const auto byte = [&](int i) { return static_cast<std::uint32_t>(wide() ? std::abs(tap[i]) : tap[i]) & 0xff; };
    return static_cast<TapPair>(0x10001u * (byte(0) | byte(1) << 8));
  }
};

// A filter, and the order of its windows.
struct Arranged {
  std::span<const std::int32_t> taps;
  int height, width;
  std::span<const int> columns;

  int at(int row, int column) const { return column >= 0 && column < width ? taps[row * width + column] : 0; }
  // The pairs of the outputs of one parity.
  std::vector<Pair> pairs(int parity) const {
    std::vector<Pair> all;
    for (const int column : columns)
      for (int row = 0; row < height; ++row) all.push_back({at(row, column - parity), at(row, column + 1 - parity)});
    return all;
  }
};

// Where segments end that are as long as they may be.
std::bitset<max_word_steps> ends_of(std::span<const Pair> pairs) {
  std::bitset<max_word_steps> ends;
  int all = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    all += pairs[i].magnitude();
    if (all <= segment_limit) continue;
    ends.set(i - 1);
    all = pairs[i].magnitude();
  }
  return ends.set(pairs.size() - 1);
}

// The taps of one parity, in so many segments.
WordTaps::Parity parity_of(std::span<const Pair> pairs, int segments) {
  WordTaps::Parity result;
  result.ends = ends_of(pairs);
  for (std::size_t i = 0; result.ends.count() < static_cast<std::size_t>(segments); ++i) result.ends.set(i);
  int below = 0, all = 0, lack = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    below += pairs[i].below();
    all += pairs[i].magnitude();
    lack += pairs[i].lack();
    result.pairs.push_back(pairs[i].word());
    result.flips.push_back(pairs[i].flip());
    if (!result.ends[i]) continue;
    result.start.push_back(std::exchange(below, 0) * largest_sample);
    result.lack.push_back(std::exchange(lack, 0));
    result.room.push_back(largest_word - std::exchange(all, 0) * largest_sample);
  }
  return result;
}

// The most that the sums of all segments come to.
double most_of(const WordTaps& taps) {
  double most = 0;
  for (const WordTaps::Parity& parity : taps.parity) {
    double all = 0;
    for (const std::int32_t room : parity.room) all += largest_word - room;
    most = std::max(most, all);
  }
  return most;
}

// What the average times the multiplier differs by from the quotient, before it is cut off: from the least to the most.
std::pair<double, double> quotient_error(const WordTaps& taps, double divisor, int multiplier) {
  const int levels = average_levels(taps.segments());
  const double rounded_up = 0.5 * levels, average = std::ldexp(most_of(taps), -levels) + rounded_up;
  const double by_multiplier = average * (multiplier / 65536.0 - std::ldexp(1 / divisor, levels));
  // What there is no other segment for is shifted down, and then averaged with others at least once.
  const double cut_off = taps.segments() == 1 << levels ? 0 : 0.5;
  return {std::min(by_multiplier, 0.0) - std::ldexp(cut_off / divisor, levels),
          std::max(by_multiplier, 0.0) + std::ldexp(rounded_up / divisor, levels)};
}

}  // namespace

std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width) {
  assert(height * windows_of(width) <= max_word_steps);
  WordTaps result;
  std::vector<int> columns;
  for (int column = 0; column < width; column += 2) columns.push_back(column);
  // Of a loop, the levels of averages are those of as many segments as it averages at a time.
  const int least = loops(width) ? segments_at_a_time / 2 + 1 : 1;
  int fewest = (loops(width) ? max_word_segments : max_word_segments / 4) + 1, tries = 24;
  do {
    const Arranged filter{taps, height, width, columns};
    const std::array pairs{filter.pairs(0), filter.pairs(1)};
    const int segments =
        std::max(least, static_cast<int>(std::max(ends_of(pairs[0]).count(), ends_of(pairs[1]).count())));
    if (segments >= fewest) continue;
    fewest = segments;
    result.columns = columns;
    for (std::size_t p = 0; p < 2; ++p) result.parity[p] = parity_of(pairs[p], segments);
  } while (--tries > 0 && std::next_permutation(columns.begin(), columns.end()));
  if (result.columns.empty()) return std::nullopt;
  return result;
}

std::optional<WordQuotient> make_word_quotient(WordTaps& taps, double divisor, double constant) {
  constexpr double most_divisor = 16384, most_quotient = 32767;
  const int segments = taps.segments();
  if (divisor != std::floor(divisor) || divisor < 1 || divisor > most_divisor || constant != std::floor(constant))
    return std::nullopt;
  const auto least = [](const WordTaps::Parity& of) { return std::accumulate(of.start.begin(), of.start.end(), 0.0); };
  WordQuotient result;
  result.divisor = static_cast<std::int16_t>(divisor);
  result.saturates = divisor == 1;
  result.ties = std::fmod(divisor, 2) == 0;
  if (result.saturates ? segments > 1 : divisor <= 1 << average_levels(segments)) return std::nullopt;
  double less = std::ceil((std::max(least(taps.parity[0]), least(taps.parity[1])) - constant) / divisor);
  if (result.saturates) less = std::max(less, 0.0);
  if (result.ties && std::fmod(less, 2) != 0) ++less;
  for (WordTaps::Parity& of : taps.parity) {
    double more = less * divisor + constant - least(of);
    for (int s = 0; s < segments; ++s) {
      const double some = std::min<double>(more, of.room[s]);
      of.start[s] += static_cast<std::int32_t>(some);
      of.room[s] -= static_cast<std::int32_t>(some);
      more -= some;
    }
    if (more > 0) return std::nullopt;
  }
  result.less = static_cast<std::uint16_t>(static_cast<std::int64_t>(less));
  if (result.saturates) return result;
  const int multiplier = static_cast<int>(std::nearbyint(std::ldexp(1 / divisor, 16 + average_levels(segments))));
  result.multiplier = static_cast<std::uint16_t>(multiplier);
  const auto [below, above] = quotient_error(taps, divisor, multiplier);
  if (below < -0.5 || above >= 0.5 || std::abs(less) > most_quotient ||
      most_of(taps) / divisor + 1 - less > most_quotient)
    return std::nullopt;
  return result;
}

}  // namespace convolve::cpu::dot
