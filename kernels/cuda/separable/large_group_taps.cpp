// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/large_group_taps.hpp"

#include <algorithm>

namespace convolve::cuda {
namespace {

/// The byte of a tap; 0 beside the taps.
std::uint32_t byte_at(const std::vector<double>& taps, int i) {
  const double tap = i >= 0 && i < static_cast<int>(taps.size()) ? taps[i] : 0;
  return static_cast<std::uint32_t>(static_cast<int>(tap)) & 255;
}

/// The pixel of a strip that row m of the row pass' product makes, so that a lane of the column pass ends with 16
/// neighbouring bytes.
int pixel_of(int m) {
  const int group = m / 8, t = m % 8 / 2, e = m % 2;
  return 16 * t + 2 * group + e;
}

/// The words of the left matrices of so many products: word w of a thread has four bytes of row m, and its byte e is
/// byte(m, first, t, e), of columns from `first` on and of lane t of the four that share the row.
template <class Byte>
std::vector<std::uint32_t> matrices(int products, const Byte& byte) {
  std::vector<std::uint32_t> words;
  for (int product = 0; product < products; ++product)
    for (int thread = 0; thread < 128; ++thread)
      for (int w = 0; w < 4; ++w) {
        const int m = thread / 32 * 16 + thread % 32 / 4 + w % 2 * 8, first = 32 * product + 16 * (w / 2);
        std::uint32_t word = 0;
        for (int e = 0; e < 4; ++e) word |= byte(m, first, thread % 4, e) << 8 * e;
        words.push_back(word);
      }
  return words;
}

}  // namespace

int group_before(int centre_x) {
  return (centre_x + 15) / 16 * 16;
}
int group_units(int width, int centre_x, int height) {
  const int pixels = 63 + width + group_before(centre_x) - centre_x, rows = 63 + height;
  return (std::max(pixels, rows) + 31) / 32;
}

std::vector<std::uint32_t> group_row_matrices(const std::vector<double>& taps, int centre_x, int units) {
  const int lead = group_before(centre_x) - centre_x;
  return matrices(
      units, [&](int m, int first, int t, int e) { return byte_at(taps, first + 4 * t + e - lead - pixel_of(m)); });
}

std::vector<std::uint32_t> group_column_matrices(const std::vector<double>& taps, int units) {
  // As V lies: of 16 rows a thread has two of the first eight and two of the others.
  return matrices(units,
                  [&](int m, int first, int t, int e) { return byte_at(taps, first + e / 2 * 8 + 2 * t + e % 2 - m); });
}

}  // namespace convolve::cuda
