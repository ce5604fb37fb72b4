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

constexpr int pair_limit = 128, segment_limit = 257;
constexpr int largest_word = 65535, largest_sample = 255;
constexpr int max_pairs = 7 * windows_of(7);

// The part of `tap` that has room beside the tap `other`.
int part_beside(int tap, int other) {
  if (tap >= 0) return std::min({tap, 127, pair_limit - std::max(other, 0)});
  return std::max({tap, -128, -pair_limit - std::min(other, 0)});
}

struct Pair {
  int row, column;  // of the window
  int tap[2];

  int magnitude() const { return std::abs(tap[0]) + std::abs(tap[1]); }
  int below() const { return std::max(-tap[0], 0) + std::max(-tap[1], 0); }
  bool empty() const { return magnitude() == 0; }
  TapPair word() const {
    const auto byte = [&](int i) { return static_cast<std::uint32_t>(tap[i]) & 0xff; };
    return static_cast<TapPair>(0x10001u * (byte(0) | byte(1) << 8));
  }
};

// As much of a pair as one multiply-add holds, taken off it.
Pair take(Pair& from) {
  Pair part = from;
  part.tap[0] = part_beside(from.tap[0], 0);
  part.tap[1] = part_beside(from.tap[1], part.tap[0]);
  for (int i = 0; i < 2; ++i) from.tap[i] -= part.tap[i];
  return part;
}

// Gives back what is more than fits one segment: from pairs of which something is left over anyway, else from the
// largest taps.
void give_back(std::span<Pair> segment, std::span<Pair> left) {
  int all = 0;
  for (const Pair& pair : segment) all += pair.magnitude();
  while (all > segment_limit) {
    std::size_t most = 0;
    int most_weight = -1;
    for (std::size_t i = 0; i < 2 * segment.size(); ++i) {
      const int magnitude = std::abs(segment[i / 2].tap[i % 2]);
      const int weight = magnitude == 0 || left[i / 2].empty() ? magnitude : magnitude + pair_limit;
      if (weight > most_weight) most_weight = weight, most = i;
    }
    int &from = segment[most / 2].tap[most % 2], &to = left[most / 2].tap[most % 2];
    const int some = std::min(all - segment_limit, std::abs(from)), part = from < 0 ? -some : some;
    from -= part;
    to += part;
    all -= some;
  }
}

// The pairs of the outputs of one parity, and what of each is left over.
struct Shares {
  int count = 0;
  std::array<Pair, max_pairs> pairs, left;

  int magnitude_left() const {
    int all = 0;
    for (int i = 0; i < count; ++i) all += left[i].magnitude();
    return all;
  }
};

// A filter, and the order of its windows.
struct Arranged {
  std::span<const std::int32_t> taps;
  int height, width;
  std::span<const int> columns;

  int at(int row, int column) const { return column >= 0 && column < width ? taps[row * width + column] : 0; }
};

Shares share_out(const Arranged& filter, int parity, int segment_pairs) {
  Shares shares;
  for (const int column : filter.columns)
    for (int row = 0; row < filter.height; ++row) {
      Pair& left = shares.left[shares.count];
      left = {row, column, {filter.at(row, column - parity), filter.at(row, column + 1 - parity)}};
      shares.pairs[shares.count++] = take(left);
    }
  for (int first = 0; first < shares.count; first += segment_pairs) {
    const int count = std::min(segment_pairs, shares.count - first);
    give_back(std::span(shares.pairs).subspan(first, count), std::span(shares.left).subspan(first, count));
  }
  return shares;
}

// Both parities of a filter.
struct Sharing {
  std::array<Shares, 2> parity;
  int segment_pairs;
  bool fits = true, one_more = false;
  int left_over = 0;

  Sharing(const Arranged& filter, int pairs)
      : parity{share_out(filter, 0, pairs), share_out(filter, 1, pairs)}, segment_pairs(pairs) {
    for (const Shares& of : parity) {
      int last = of.magnitude_left();
      fits &= last <= segment_limit;
      for (int i = (of.count - 1) / pairs * pairs; i < of.count; ++i) last += of.pairs[i].magnitude();
      one_more |= last > segment_limit;
      for (int i = 0; i < of.count; ++i)
        for (Pair left = of.left[i]; !left.empty(); ++left_over) take(left);
    }
    fits &= left_over <= max_left_over;
  }
  // About what it takes, in pairs that are left over.
  int cost() const { return left_over + (one_more ? 2 : 0); }
};

// Segments of these pairs: where their sums start from.
void add_segments(WordTaps::Parity& result, const Shares& shares, int segment_pairs, bool one_more) {
  int below = 0, all = 0;
  const auto count = [&](const Pair& pair) {
    below += pair.below();
    all += pair.magnitude();
  };
  const auto end = [&] {
    result.start.push_back(std::exchange(below, 0) * largest_sample);
    result.room.push_back(largest_word - std::exchange(all, 0) * largest_sample);
  };
  for (int i = 0; i < shares.count; ++i) {
    if (i > 0 && i % segment_pairs == 0) end();
    count(shares.pairs[i]);
  }
  if (one_more) end();
  for (int i = 0; i < shares.count; ++i)
    for (Pair left = shares.left[i]; !left.empty();) {
      const Pair pair = take(left);
      count(pair);
      result.left_over.push_back({pair.row, pair.column, pair.word()});
    }
  end();
}

WordTaps taps_of(const Sharing& sharing, std::span<const int> columns) {
  WordTaps result;
  result.columns.assign(columns.begin(), columns.end());
  result.one_more = sharing.one_more;
  for (int i = 0; i < sharing.parity[0].count; ++i)
    for (const Shares& of : sharing.parity) result.pairs.push_back(of.pairs[i].word());
  for (std::size_t p = 0; p < 2; ++p)
    add_segments(result.parity[p], sharing.parity[p], sharing.segment_pairs, sharing.one_more);
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
  return {std::min(by_multiplier, 0.0), std::max(by_multiplier, 0.0) + std::ldexp(rounded_up / divisor, levels)};
}

}  // namespace

std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width,
                                       int segment_pairs) {
  assert(height * windows_of(width) <= max_pairs);
  std::vector<int> columns, best_columns;
  for (int column = 0; column < width; column += 2) columns.push_back(column);
  // No order leaves fewer over than are too much for their pair.
  int magnitude = 0, least = 0;
  for (const std::int32_t tap : taps) magnitude += std::abs(tap);
  const int segments = (height * windows_of(width) - 1) / segment_pairs + 1;
  if (magnitude > segment_limit * (segments + 1)) return std::nullopt;
  const Arranged filter{taps, height, width, columns};
  for (const Shares& of : {share_out(filter, 0, 1), share_out(filter, 1, 1)})
    for (int i = 0; i < of.count; ++i) least += !of.left[i].empty();
  std::optional<Sharing> best;
  do {
    const Sharing sharing(filter, segment_pairs);
    if (!sharing.fits || (best && sharing.cost() >= best->cost())) continue;
    best = sharing;
    best_columns = columns;
  } while (!(best && best->cost() == least) && std::next_permutation(columns.begin(), columns.end()));
  if (!best) return std::nullopt;
  return taps_of(*best, best_columns);
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
