// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstddef>

#include "cuda/matrix/triples.hpp"

namespace convolve::cuda::triples {
namespace {

/// Row `to` of the left matrix, where the product's block i is that many blocks from the set's own: of four columns of
/// it, one group, the row has two.
struct LeftRow {
  int to, block;

  /// How far the byte in a group's column is from that which the row makes.
  int distance(int group, int column) const {
    return block_bytes * block + 4 * group + column - (2 * (to & 7) + (to >> 3));
  }
  /// The first and the last column may both be of the component; else one of those between, beside the last one.
  int chosen(int group, int entry) const {
    if (entry == 1) return 3;
    int column = 0;
    while (distance(group, column) % 3 != 0) ++column;
    return column;
  }
};

/// Blocks are taken in turn: the one before the set's own, that one, and the next.
int block_of(int slot) {
  return slot % 3 - 1;
}

std::uint32_t chosen_columns(int kind, int lane) {
  std::uint32_t word = 0;
  for (int k = 0; k < 8; ++k) {
    const int group = 8 * (lane >> 1 & 1) + k;
    const LeftRow row{(lane >> 2) + 8 * (lane & 1), block_of(4 * kind + (group >> 2))};
    for (int entry = 0; entry < 2; ++entry)
      word |= static_cast<std::uint32_t>(row.chosen(group & 3, entry)) << (4 * k + 2 * entry);
  }
  return word;
}

}  // namespace

std::vector<std::uint32_t> left_matrices(const Filter& filter, const MatrixTaps& taps, int radius) {
  std::vector<std::uint32_t> words;
  const auto limb_at = [&](int t, int j, int away, int d) -> int {
    const int y = j - radius + filter.centre_y(), x = away / 3 + filter.centre_x();
    if (away % 3 != 0 || y < 0 || y >= filter.height() || x < 0 || x >= filter.width()) return 0;
    return taps.limb(d, (static_cast<std::size_t>(t) * filter.height() + y) * filter.width() + x);
  };
  for (int t = 0; t < filter.depth(); ++t)
    for (int m = 0; m < products(radius); ++m)
      for (int d = 0; d < taps.limbs; ++d)
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            std::uint32_t word = 0;
            for (int b = 0; b < 4; ++b) {
              const int group = 2 * (lane & 3) + (b >> 1) + 8 * (i >> 1), slot = 4 * m + (group >> 2);
              const LeftRow row{(lane >> 2) + 8 * (i & 1), block_of(slot)};
              const int away = row.distance(group & 3, row.chosen(group & 3, b & 1));
              word |= static_cast<std::uint32_t>(limb_at(t, slot / 3, away, d) & 255) << 8 * b;
            }
            words.push_back(word);
          }
  for (int lane = 0; lane < 32; ++lane) {
    for (int kind = 0; kind < 3; ++kind) words.push_back(chosen_columns(kind, lane));
    words.push_back(0);
  }
  return words;
}

}  // namespace convolve::cuda::triples
