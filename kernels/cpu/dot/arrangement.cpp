// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <bit>

#include "cpu/dot/packing.hpp"

namespace convolve::cpu::dot {
namespace {

constexpr int pair_limit = 128;     // of the magnitudes of like sign in a pair: 128 * 255 fits 16 bits
constexpr int most_trials = 10000;  // of pairs, in a search: a few milliseconds at most

// Products that are added up in 16 bits: of one column, or of two. A column that is split has two pairs.
struct Pair {
  int column[2];           // -1: none
  int split_with = -1;     // a column: this pair's first column has another part beside that one
  bool is_second = false;  // of the two parts
};

// The part of `tap` that has room beside the tap `other`.
int part_beside(int tap, int other) {
  if (tap >= 0) return std::min({tap, 127, pair_limit - std::max(other, 0)});
  return std::max({tap, -128, -pair_limit - std::min(other, 0)});
}

class Search {
 public:
  Search(const std::vector<std::int32_t>& taps, int width, int groups)
      : taps_(taps), width_(width), groups_(groups), failed_(std::size_t{1} << width, 0) {}

  bool run() { return cover((1u << width_) - 1, 2 * groups_) && place(); }

  Arrangement result() const {
    Arrangement result;
    result.groups = groups_;
    for (int g = 0; g < groups_; ++g) {
      int columns[4];
      for (int i = 0; i < 4; ++i) {
        const int column = pairs_[2 * g + i / 2].column[i % 2];
        columns[i] = column < 0 ? first_column(g) : column;
      }
      result.windows.emplace_back(columns, first_column(g));
    }
    for (std::size_t row = 0; row < taps_.size(); row += width_)
      for (int g = 0; g < groups_; ++g) {
        std::uint32_t word = 0;
        for (int i = 0; i < 4; ++i)
          word |= (static_cast<std::uint32_t>(value(row, pairs_[2 * g + i / 2], i % 2)) & 0xff) << 8 * i;
        result.words.push_back(static_cast<std::int32_t>(word));
      }
    return result;
  }

 private:
  int tap(std::size_t row, int column) const { return column < 0 ? 0 : taps_[row + column]; }

  int value(std::size_t row, const Pair& pair, int i) const {
    const int whole = tap(row, pair.column[i]);
    if (i == 1 || pair.split_with < 0) return whole;
    if (!pair.is_second) return part_beside(whole, tap(row, pair.column[1]));
    return whole - part_beside(whole, tap(row, pair.split_with));
  }

  bool fits(const Pair& pair) {
    if (++trials_ > most_trials) return false;
    if (pair.column[1] >= 0 && groups_ > 2 && std::max(pair.column[0], pair.column[1]) > 12 &&
        std::min(pair.column[0], pair.column[1]) < first_column(2))
      return false;
    for (std::size_t row = 0; row < taps_.size(); row += width_) {
      const int first = value(row, pair, 0), second = value(row, pair, 1);
      if (std::max(first, 0) + std::max(second, 0) > pair_limit ||
          std::min(first, 0) + std::min(second, 0) < -pair_limit)
        return false;
      if (std::min(first, second) < -128 || std::max(first, second) > 127) return false;
    }
    return true;
  }

  // Pairs for these columns. All columns are in one pair or, where there is room, in two.
  bool cover(unsigned columns, int pairs) {
    if (columns == 0) return true;
    if (2 * pairs < std::popcount(columns) || pairs <= failed_[columns]) return false;
    const int first = std::countr_zero(columns);
    const unsigned others = columns & (columns - 1);
    for (int second = first + 1; second < width_; ++second)
      if (others >> second & 1 && take({{first, second}}, others & ~(1u << second), pairs)) return true;
    if (take({{first, -1}}, others, pairs)) return true;
    if (2 * (pairs - 2) >= std::popcount(others) - 2 && split(others, first, pairs)) return true;
    failed_[columns] = static_cast<std::uint8_t>(pairs);
    return false;
  }

  bool take(const Pair& pair, unsigned left, int pairs) {
    if (!fits(pair)) return false;
    pairs_.push_back(pair);
    if (cover(left, pairs - 1)) return true;
    pairs_.pop_back();
    return false;
  }

  // Three columns in two pairs: each of them may be the one that is split.
  bool split(unsigned others, int first, int pairs) {
    for (int a = first + 1; a < width_; ++a)
      for (int b = a + 1; b < width_; ++b) {
        if (!(others >> a & 1) || !(others >> b & 1)) continue;
        const unsigned left = others & ~(1u << a) & ~(1u << b);
        const std::array<int, 3> of{first, a, b};
        for (int i = 0; i < 3; ++i) {
          const int whole = of[i], x = of[(i + 1) % 3], y = of[(i + 2) % 3];
          const Pair one{{whole, x}, y}, other{{whole, y}, x, true};
          if (!fits(one) || !fits(other)) continue;
          pairs_.push_back(one);
          pairs_.push_back(other);
          if (cover(left, pairs - 2)) return true;
          pairs_.resize(pairs_.size() - 2);
        }
      }
    return false;
  }

  // Into groups: what starts before the third group's first column at the front, what lies beyond the reach of the
  // first two at the back.
  bool place() {
    const auto lowest = [](const Pair& p) {
      return p.column[1] < 0 ? p.column[0] : std::min(p.column[0], p.column[1]);
    };
    const auto highest = [](const Pair& p) { return std::max(p.column[0], p.column[1]); };
    std::sort(pairs_.begin(), pairs_.end(), [&](const Pair& a, const Pair& b) { return lowest(a) < lowest(b); });
    const auto far =
        std::stable_partition(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return highest(p) <= 12; });
    pairs_.insert(far, 2 * static_cast<std::size_t>(groups_) - pairs_.size(), Pair{{-1, -1}});
    for (int i = 0; i < 2 * groups_; ++i) {
      const int first = first_column(i / 2);
      if (pairs_[i].column[0] >= 0 && (lowest(pairs_[i]) < first || highest(pairs_[i]) > first + 12)) return false;
    }
    return true;
  }

  const std::vector<std::int32_t>& taps_;
  int width_, groups_;
  std::vector<std::uint8_t> failed_;  // by columns: with so many pairs
  std::vector<Pair> pairs_;
  int trials_ = 0;
};

}  // namespace

WindowOrder::WindowOrder(const int (&columns)[4], int first) {
  for (int lane = 0; lane < max_lanes; ++lane)
    for (int i = 0; i < 4; ++i) order[4 * lane + i] = static_cast<std::uint8_t>(lane % 4 + columns[i] - first);
}

std::optional<Arrangement> arrange_bytes(const std::vector<std::int32_t>& taps, int width) {
  // A group of bytes takes three instructions for each register, one of pairs of words two.
  const int words = (width + 1) / 2;
  for (int groups = (width + 3) / 4; groups <= most_groups && (groups == 1 || 3 * groups <= 2 * words); ++groups)
    if (Search search(taps, width, groups); search.run()) return search.result();
  return std::nullopt;
}

}  // namespace convolve::cpu::dot
