// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_taps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>

namespace convolve::cpu::dot {
namespace {

constexpr int pair_limit = 128, segment_limit = 257;
constexpr int largest_word = 65535, largest_sample = 255;

// The part of `tap` that has room beside the tap `other`.
int part_beside(int tap, int other) {
  if (tap >= 0) return std::min({tap, 127, pair_limit - std::max(other, 0)});
  return std::max({tap, -128, -pair_limit - std::min(other, 0)});
}

struct Pair {
  int row, column;
  int tap[2];

  int magnitude() const { return std::abs(tap[0]) + std::abs(tap[1]); }
  TapPair word() const {
    const auto byte = [&](int i) { return static_cast<std::uint32_t>(tap[i]) & 0xff; };
    return static_cast<TapPair>(0x10001u * (byte(0) | byte(1) << 8));
  }
};

// Taps, [row][column], of which pairs take parts.
class Remaining {
 public:
  Remaining(std::vector<std::int32_t> taps, int width) : taps_(std::move(taps)), width_(width) {}

  std::int32_t& at(int row, int column) { return taps_[row * width_ + column]; }

  // As much of these two taps as one multiply-add holds.
  Pair take(int row, int column) {
    std::int32_t &first = at(row, column), &second = at(row, column + 1);
    Pair part{row, column, {part_beside(first, 0), 0}};
    part.tap[1] = part_beside(second, part.tap[0]);
    first -= part.tap[0];
    second -= part.tap[1];
    return part;
  }

  // Gives back what is more than fits one segment, from the largest taps.
  void give_back(std::span<Pair> segment) {
    int all = 0;
    for (const Pair& pair : segment) all += pair.magnitude();
    while (all > segment_limit) {
      int largest = 0;
      for (int i = 0; i < 2 * static_cast<int>(segment.size()); ++i)
        if (std::abs(segment[i / 2].tap[i % 2]) > std::abs(segment[largest / 2].tap[largest % 2])) largest = i;
      Pair& pair = segment[largest / 2];
      int& tap = pair.tap[largest % 2];
      const int some = std::min(all - segment_limit, std::abs(tap)), part = tap < 0 ? -some : some;
      tap -= part;
      at(pair.row, pair.column + largest % 2) += part;
      all -= some;
    }
  }

  std::vector<Pair> take_all() {
    std::vector<Pair> pairs;
    for (int row = 0; row * width_ < static_cast<int>(taps_.size()); ++row)
      for (int column = 0; column < width_; ++column)
        while (at(row, column) != 0) pairs.push_back(take(row, std::min(column, width_ - 2)));
    return pairs;
  }

 private:
  std::vector<std::int32_t> taps_;
  int width_;
};

// A segment of these taps: where its sums start from.
void add_start(WordTaps& result, std::span<const Pair> pairs, std::span<const Pair> left_over) {
  int below = 0, all = 0;
  for (const auto& part : {pairs, left_over})
    for (const Pair& pair : part) {
      for (const int tap : pair.tap) below += std::max(-tap, 0);
      all += pair.magnitude();
    }
  result.start.push_back(below * largest_sample);
  result.room.push_back(largest_word - all * largest_sample);
}

// The most that the sums of all segments come to.
double most_of(const WordTaps& taps) {
  double most = 0;
  for (const std::int32_t room : taps.room) most += largest_word - room;
  return most;
}

// What the average times the multiplier differs by from the quotient, before it is cut off: from the least to the most.
std::pair<double, double> quotient_error(const WordTaps& taps, double divisor, int multiplier) {
  const int levels = average_levels(static_cast<int>(taps.start.size()));
  const double rounded_up = 0.5 * levels, average = std::ldexp(most_of(taps), -levels) + rounded_up;
  const double by_multiplier = average * (multiplier / 65536.0 - std::ldexp(1 / divisor, levels));
  return {std::min(by_multiplier, 0.0), std::max(by_multiplier, 0.0) + std::ldexp(rounded_up / divisor, levels)};
}

}  // namespace

std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width,
                                       int segment_pairs) {
  const int row_pairs = width / 2 + 1;
  Remaining remaining(taps, width);
  std::vector<Pair> pairs;
  for (int row = 0; row < height; ++row)
    for (int p = 0; p < row_pairs; ++p) pairs.push_back(remaining.take(row, pair_column(p, width)));
  std::vector<std::span<Pair>> segments;
  for (std::size_t first = 0; first < pairs.size(); first += segment_pairs)
    segments.push_back(std::span(pairs).subspan(first, std::min<std::size_t>(segment_pairs, pairs.size() - first)));
  for (const std::span<Pair> segment : segments) remaining.give_back(segment);
  const std::vector<Pair> left_over = remaining.take_all();
  WordTaps result;
  for (const Pair& pair : pairs) result.pairs.push_back(pair.word());
  for (const Pair& pair : left_over) result.left_over.push_back({pair.row, pair.column, pair.word()});
  for (const std::span<Pair> segment : segments)
    add_start(result, segment,
              segment.data() == segments.back().data() ? std::span<const Pair>(left_over) : std::span<const Pair>());
  if (result.room.back() < 0) return std::nullopt;
  return result;
}

std::optional<WordQuotient> make_word_quotient(WordTaps& taps, double divisor, double constant) {
  constexpr double most_divisor = 16384, most_quotient = 32767;
  const int segments = static_cast<int>(taps.start.size());
  if (divisor != std::floor(divisor) || divisor < 1 || divisor > most_divisor || constant != std::floor(constant))
    return std::nullopt;
  const double least = std::accumulate(taps.start.begin(), taps.start.end(), 0.0);
  WordQuotient result;
  result.divisor = static_cast<std::int16_t>(divisor);
  result.saturates = divisor == 1;
  result.ties = std::fmod(divisor, 2) == 0;
  if (result.saturates ? segments > 1 : divisor <= 1 << average_levels(segments)) return std::nullopt;
  double less = std::ceil((least - constant) / divisor);
  if (result.saturates) less = std::max(less, 0.0);
  if (result.ties && std::fmod(less, 2) != 0) ++less;
  double more = less * divisor + constant - least;
  for (int s = 0; s < segments; ++s) {
    const double some = std::min<double>(more, taps.room[s]);
    taps.start[s] += static_cast<std::int32_t>(some);
    taps.room[s] -= static_cast<std::int32_t>(some);
    more -= some;
  }
  if (more > 0) return std::nullopt;
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
