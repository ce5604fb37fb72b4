// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/word_taps.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>

namespace convolve::cpu::dot {
namespace {

constexpr int pair_limit = 128, segment_limit = 257;
constexpr int least_word = -32768, largest_sample = 255;

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

// Where the sums of a segment start from, to stay within 16 bits.
std::int32_t start_of(std::span<const Pair> segment) {
  int below = 0, above = 0;
  for (const Pair& pair : segment)
    for (const int tap : pair.tap) (tap < 0 ? below : above) += std::abs(tap);
  return above <= pair_limit && below <= pair_limit ? 0 : below * largest_sample + least_word;
}

}  // namespace

std::optional<WordTaps> make_word_taps(const std::vector<std::int32_t>& taps, int height, int width, int segment_rows) {
  const int row_pairs = width / 2 + 1, segments = (height + segment_rows - 1) / segment_rows;
  Remaining remaining(taps, width);
  std::vector<Pair> pairs;
  for (int row = 0; row < height; ++row)
    for (int p = 0; p < row_pairs; ++p) pairs.push_back(remaining.take(row, pair_column(p, width)));
  WordTaps result;
  const auto add_start = [&](std::span<const Pair> segment) {
    result.excess += result.start.emplace_back(start_of(segment));
  };
  for (int s = 0; s < segments; ++s) {
    const int first = s * segment_rows * row_pairs;
    const int last = std::min((s + 1) * segment_rows, height) * row_pairs;
    const std::span<Pair> segment(pairs.begin() + first, pairs.begin() + last);
    remaining.give_back(segment);
    add_start(segment);
  }
  for (const Pair& pair : pairs) result.pairs.push_back(pair.word());
  const std::vector<Pair> left_over = remaining.take_all();
  int all = 0;
  for (const Pair& pair : left_over) {
    all += pair.magnitude();
    result.left_over.push_back({pair.row, pair.column, pair.word()});
  }
  if (all > segment_limit || (!left_over.empty() && segments % 2 == 0)) return std::nullopt;
  if (segments % 2) add_start(left_over);
  return result;
}

}  // namespace convolve::cpu::dot
