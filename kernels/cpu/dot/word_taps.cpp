// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_taps.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>
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
  // A part of this magnitude, and the rest.
  std::pair<Pair, Pair> split(int room) const {
    const int first = std::clamp(tap[0], -room, room), left = room - std::abs(first);
    const int second = std::clamp(tap[1], -left, left);
    return {{first, second}, {tap[0] - first, tap[1] - second}};
  }
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

// Where a segment ends: before a step, or within it, with so much of its pair's magnitude.
struct End {
  std::size_t step;
  int room;  // 0: before it
};

// A way to fill segments up to some pair.
struct Filled {
  std::size_t next = 0;  // step
  int rest = 0;          // of its magnitude, where a part of it is in the last segment
  std::vector<End> ends;
  int splits = 0;
};

// Adds a segment to each of these ways: it ends before the pair that it has no room for, or within it.
std::vector<Filled> fill_another(std::span<const Pair> pairs, const std::vector<Filled>& ways, bool splits) {
  std::vector<Filled> longer;
  const auto add = [&](Filled way) {
    for (Filled& other : longer)
      if (other.next == way.next && other.rest == way.rest) {
        if (way.splits < other.splits) other = std::move(way);
        return;
      }
    longer.push_back(std::move(way));
  };
  for (const Filled& way : ways) {
    Filled next = way;
    int all = std::exchange(next.rest, 0);
    if (all > 0) ++next.next;
    while (next.next < pairs.size() && all + pairs[next.next].magnitude() <= segment_limit)
      all += pairs[next.next++].magnitude();
    next.ends.push_back({next.next, 0});
    add(next);
    const int room = segment_limit - all;
    if (!splits || next.next >= pairs.size() || room == 0 || room > pair_limit) continue;
    const int rest = pairs[next.next].magnitude() - room;
    if (rest > pair_limit) continue;
    next.ends.back().room = room;
    next.rest = rest;
    ++next.splits;
    add(std::move(next));
  }
  return longer;
}

// For each number of segments the way with the fewest pairs that are split; nothing where there is none.
std::vector<std::optional<Filled>> ways_to_fill(std::span<const Pair> pairs, bool splits, int most) {
  std::vector<std::optional<Filled>> ways(1);
  std::vector<Filled> begun(1);
  while (static_cast<int>(ways.size()) <= most) {
    begun = fill_another(pairs, begun, splits);
    ways.emplace_back();
    for (const Filled& way : begun)
      if (way.next == pairs.size() && (!ways.back() || way.splits < ways.back()->splits)) ways.back() = way;
    std::erase_if(begun, [&](const Filled& way) { return way.next == pairs.size(); });
    if (begun.empty()) break;
  }
  return ways;
}

// The taps of one parity, in so many segments.
WordTaps::Parity parity_of(std::span<const Pair> pairs, const Filled& way, int segments) {
  WordTaps::Parity result;
  std::vector<int> rooms(pairs.size());
  for (const End& end : way.ends)
    if (end.room == 0)
      result.ends.set(end.step - 1);
    else
      rooms[end.step] = end.room;
  for (std::size_t i = 0, count = way.ends.size(); count < static_cast<std::size_t>(segments); ++i) {
    if (result.ends[i] || rooms[i + 1] > 0) continue;
    result.ends.set(i);
    ++count;
  }
  int below = 0, all = 0, lack = 0;
  const auto add = [&](const Pair& pair) {
    below += pair.below();
    all += pair.magnitude();
    lack += pair.lack();
  };
  const auto end = [&] {
    result.start.push_back(std::exchange(below, 0) * largest_sample);
    result.lack.push_back(std::exchange(lack, 0));
    result.room.push_back(largest_word - std::exchange(all, 0) * largest_sample);
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [part, pair] = pairs[i].split(rooms[i]);
    result.parts.push_back(rooms[i] ? part.word() : 0);
    if (rooms[i]) {
      add(part);
      end();
    }
    result.pairs.push_back(pair.word());
    result.flips.push_back(pair.flip());
    add(pair);
    if (result.ends[i]) end();
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

std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width, bool splits) {
  assert(height * windows_of(width) <= max_word_steps);
  WordTaps result;
  std::vector<int> columns;
  for (int column = 0; column < width; column += 2) columns.push_back(column);
  // Of a loop, the levels of averages are those of as many segments as it averages at a time.
  const int least = loops(width) ? segments_at_a_time / 2 + 1 : 1;
  const int most = most_segments(width);
  int lowest = std::numeric_limits<int>::max(), tries = 24;
  do {
    const Arranged filter{taps, height, width, columns};
    const std::array pairs{filter.pairs(0), filter.pairs(1)};
    const std::array ways{ways_to_fill(pairs[0], splits, most), ways_to_fill(pairs[1], splits, most)};
    for (std::size_t segments = 1; segments < std::max(ways[0].size(), ways[1].size()); ++segments) {
      std::array<const Filled*, 2> best{};
      for (std::size_t p = 0; p < 2; ++p)
        for (std::size_t s = 1; s <= segments && s < ways[p].size(); ++s)
          if (ways[p][s] && (!best[p] || ways[p][s]->splits < best[p]->splits)) best[p] = &*ways[p][s];
      if (!best[0] || !best[1]) continue;
      const int all = std::max(least, static_cast<int>(segments));
      WordTaps one;
      one.columns = columns;
      for (std::size_t p = 0; p < 2; ++p) one.parity[p] = parity_of(pairs[p], *best[p], all);
      // In cycles of a block of 32x4 outputs on Zen 4.
      const int cost = 9 * all + 3 * one.split_pairs() + 2 * one.wide_pairs();
      if (cost >= lowest) continue;
      lowest = cost;
      result = std::move(one);
    }
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
