// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The banded matrices of separable's tensor kernels, as lanes hold them. Host code only.
#include <array>
#include <bit>
#include <cstddef>

#include "cuda/common/half.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/separable/byte_factors.hpp"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda::tensor {
namespace {

std::uint32_t bits_of(float v) {
  return std::bit_cast<std::uint32_t>(v);
}

/// The taps of one axis as bytes or as halves, with zeros around them.
class TapBits {
 public:
  TapBits(const std::vector<double>& taps, bool bytes) {
    for (std::size_t i = 0; i < taps.size(); ++i)
      bits_[around + i] = bytes ? static_cast<std::uint32_t>(static_cast<int>(taps[i])) & 255 : half_bits(taps[i]);
  }
  /// Tap `i`; -56 to 111, of which those that are no taps are 0.
  std::uint32_t operator[](int i) const { return bits_[around + i]; }

 private:
  static constexpr int around = 56;
  std::array<std::uint32_t, 3 * around> bits_{};
};

/// A sparse product takes rows from and from + 16 as one, and row `to` only one of them: 1 for the farther.
int farther(int from, int to) {
  return from < to ? 1 : 0;
}

/// The metadata of the sparse product, by lane: which two of four columns the matrix holds, 16 bits for either row of a
/// lane.
std::array<std::uint32_t, 32> chosen_columns() {
  std::array<std::uint32_t, 32> chosen{};
  for (int lane = 0; lane < 32; ++lane)
    for (int bit = 0; bit < 32; bit += 2) {
      const int to = (lane >> 2) + 8 * (bit >> 4), from = 8 * (lane & 1) + (bit >> 1 & 7);
      chosen[lane] |= static_cast<std::uint32_t>((bit & 2) | farther(from, to)) << bit;
    }
  return chosen;
}

/// The pixel of a half of the window that element e of word k of a lane's column t meets.
int pixel_of(bool bytes, int components, int k, int t, int e) {
  if (components == 1) return bytes ? 4 * t + e : 4 * t + k + 2 * e;
  if (components == 2) return bytes ? (e >> 1) * 8 + 2 * t + (e & 1) : 8 * k + 2 * t + e;
  return bytes ? t + 4 * e : 8 * k + t + 4 * e;
}

/// Adds a matrix as 32 lanes hold it, four words each: `tap(i, g, t, e)` is part e of word i of lane 4 g + t.
template <class Tap>
void add_fragments(bool bytes, Tap&& tap, std::vector<std::uint32_t>& words) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = 0;
      for (int e = 0; e < (bytes ? 4 : 2); ++e) word |= tap(i, lane >> 2, lane & 3, e) << (bytes ? 8 * e : 16 * e);
      words.push_back(word);
    }
}

/// Adds the two matrices of the row pass whose entry for an input `away` pixels to the right of an output is tap
/// `stretch * away + first`. With bytes they differ in which half of the window comes first, and i / 2 is the group of
/// outputs; with halves they are those of the groups, and i / 2 is the half.
void add_rows(const TapBits& taps, bool bytes, int components, int stretch, int first,
              std::vector<std::uint32_t>& words) {
  for (int n = 0; n < 2; ++n)
    add_fragments(
        bytes,
        [&](int i, int g, int t, int e) {
          const int group = bytes ? i >> 1 : n, k = i & 1, half = bytes ? k ^ n : i >> 1;
          const int from = 16 * half + pixel_of(bytes, components, k, t, e);
          return taps[stretch * (from - radius - (4 * (g >> 1) + 2 * group + (g & 1))) + first];
        },
        words);
}

/// The row pass over three components in turn, triples.cuh: a product takes a window's bytes as groups of four columns,
/// of which row `to` has two, `entry` 0 and 1. With bytes it takes all 64 as they lie, with halves product n (0 or 1)
/// takes 32 of them, in the order in which registers hold V.
struct TripleRow {
  bool bytes;
  int n, to;

  /// How far the byte in the group's column is from that which the row makes.
  int distance(int group, int column) const {
    const int k = 4 * group + column, in_window = bytes ? k : 32 * n + 16 * (k >> 4) + 2 * (k & 7) + (k >> 3 & 1);
    return in_window - (24 + 2 * ((to + 4) & 7) + (to >> 3));
  }
  /// The first and the last column may both be of the component; else one of those between, beside the last one.
  int chosen(int group, int entry) const {
    if (entry == 1) return 3;
    int column = 0;
    while (distance(group, column) % 3 != 0) ++column;
    return column;
  }
  std::uint32_t tap(const TapBits& taps, int centre, int group, int entry) const {
    const int away = distance(group, chosen(group, entry));
    return away % 3 == 0 ? taps[away / 3 + centre] : 0;
  }
};

/// Adds the matrices of that pass: one of bytes, two of halves.
void add_triple_rows(const TapBits& taps, int centre, bool bytes, std::vector<std::uint32_t>& words) {
  for (int n = 0; n < (bytes ? 1 : 2); ++n)
    add_fragments(
        bytes,
        [&](int i, int g, int t, int e) {
          const TripleRow row{bytes, n, g + 8 * (i & 1)};
          return bytes ? row.tap(taps, centre, 2 * t + (e >> 1) + 8 * (i >> 1), e & 1)
                       : row.tap(taps, centre, t + 4 * (i >> 1), e);
        },
        words);
}

/// Adds the selectors of those matrices, of halves in the order of chosen_columns().
void add_chosen_of_triples(bool bytes, std::vector<std::uint32_t>& words) {
  for (int n = 0; n < (bytes ? 1 : 2); ++n)
    for (int lane = 0; lane < 32; ++lane) {
      std::uint32_t chosen = 0;
      for (int bit = 0; bit < 32; bit += 2) {
        const int to = (lane >> 2) + 8 * (bytes ? lane & 1 : bit >> 4);
        const int entry = bytes ? 16 * (lane >> 1 & 1) + (bit >> 1) : 8 * (lane & 1) + (bit >> 1 & 7);
        chosen |= static_cast<std::uint32_t>(TripleRow{bytes, n, to}.chosen(entry >> 1, entry & 1)) << bit;
      }
      words.push_back(chosen);
    }
}

}  // namespace

void add_half_columns(const std::vector<double>& column, int centre, std::vector<std::uint32_t>& words) {
  const TapBits taps(column, false);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      std::uint32_t word = 0;
      for (int e = 0; e < 2; ++e) {
        const int to = (lane >> 2) + 8 * (i & 1);
        int from = 8 * (i >> 1) + 2 * (lane & 3) + e;
        from += 16 * farther(from, to);
        word |= taps[from - radius - to + centre] << 16 * e;
      }
      words.push_back(word);
    }
}

void add_chosen_columns(std::vector<std::uint32_t>& words) {
  for (const std::uint32_t chosen : chosen_columns()) words.push_back(chosen);
}

void add_half_rows(const std::vector<double>& row, int centre, int margin, bool apart, const int (&step)[2],
                   std::vector<std::uint32_t>& words) {
  const TapBits taps(row, false);
  const int matrices = apart ? 2 * (margin + 1) : 2 * margin + 1;
  for (int n = 0; n < matrices; ++n)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        std::uint32_t word = 0;
        for (int e = 0; e < 2; ++e) {
          // V's registers hold every second byte of a block, and so do the columns of the matrix.
          const int g = lane >> 2, high = i >> 1, pair = 2 * (2 * (lane & 3) + e), odd = n / (margin + 1);
          const int to = apart ? 2 * (g + 8 * (i & 1)) + odd : 2 * g + (i & 1);
          const int from =
              apart ? 16 * (2 * (n % (margin + 1)) + high - margin) + pair + odd : 16 * (n - margin) + pair + high;
          const int away = from - to, between = step[to & 1];
          if (away % between == 0) word |= taps[away / between + centre] << 16 * e;
        }
        words.push_back(word);
      }
}

std::vector<std::uint32_t> make_packed_fragments(const Filter& filter, const TensorTaps& taps,
                                                 const PlaneLayout& plane) {
  const bool bytes = !in_halves(taps.epilogue);
  const int luma_byte = plane.component[static_cast<std::size_t>(luma_index(plane))].offset;
  TensorTaps by_role = taps;
  for (int role = 0; role < 4; ++role) {
    const int c = component_at(plane, role ^ luma_byte);
    by_role.from[0][role] = taps.from[0][c];
    by_role.level[0][role] = taps.level[0][c];
  }
  std::vector<std::uint32_t> words = make_fragments(filter, by_role, 0, 4);
  words.resize(4 * PackedFragments::luma);
  const TapBits row(taps.row, bytes);
  for (const int right : {0, 1, -1}) add_rows(row, bytes, 4, 2, filter.centre_x() + right, words);
  // Byte-permute selectors: the luma's byte of each pair, and the chroma's, as the column pass takes them; then the
  // order of the bytes in a word.
  const std::uint32_t even = bytes ? 0x6420 : 0x4240, odd = bytes ? 0x7531 : 0x4341;
  words.insert(words.end(), {luma_byte ? odd : even, luma_byte ? even : odd, luma_byte ? 0x2301u : 0x3210u, 0});
  return words;
}

std::vector<std::uint32_t> make_fragments(const Filter& filter, const TensorTaps& taps, int p, int components) {
  const bool bytes = !in_halves(taps.epilogue);
  const TapBits column_taps(taps.column, bytes), row_taps(taps.row, bytes);
  std::vector<std::uint32_t> words;
  const auto add_matrix = [&](auto&& tap) { add_fragments(bytes, tap, words); };
  if (bytes)
    add_matrix([&](int i, int g, int t, int e) {
      const int to = g + 8 * (i & 1), from = 16 * (i >> 1) + (e >> 1) * 8 + 2 * t + (e & 1);
      return column_taps[from - radius - to + filter.centre_y()];
    });
  else
    add_half_columns(taps.column, filter.centre_y(), words);
  if (components == 3)
    add_triple_rows(row_taps, filter.centre_x(), bytes, words);
  else
    add_rows(row_taps, bytes, components, 1, filter.centre_x(), words);
  if (!bytes) add_chosen_columns(words);
  if (components == 3) add_chosen_of_triples(bytes, words);
  const auto add_four = [&](std::uint32_t v) { words.insert(words.end(), 4, v); };
  // V of three components' bytes is made unsigned.
  const double up = bytes && components == 3 ? 0x1p15 : 0;
  add_four(bytes ? static_cast<std::uint32_t>(static_cast<int>(taps.start + up)) : half_twice(taps.start));
  for (int c = 0; c < components; ++c) {
    const double from = taps.from[p][c] - up * sum_of(taps.row);
    if (bytes)
      words.insert(words.end(), {static_cast<std::uint32_t>(static_cast<int>(from)), bits_of(taps.level[p][c]), 0, 0});
    else
      add_four(bits_of(static_cast<float>(from)));
  }
  return words;
}

}  // namespace convolve::cuda::tensor
