// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/right_matrices.hpp"

namespace convolve::cuda {

std::vector<std::uint8_t> warpgroup_matrices(const Filter& filter, std::span<const std::vector<std::int8_t>> limbs,
                                             int height, int padding, int margin) {
  constexpr int outputs = 16, window = 2 * outputs;
  constexpr std::size_t row_bytes = outputs * window;
  std::vector<std::uint8_t> bytes(limbs.size() * static_cast<std::size_t>(height + padding) * row_bytes);
  std::uint8_t* matrix = bytes.data();
  for (const std::vector<std::int8_t>& limb : limbs)
    for (int row = height - 1 + padding; row >= 0; --row, matrix += row_bytes) {
      const int y = row - height / 2 + filter.centre_y();
      if (row >= height || y < 0 || y >= filter.height()) continue;
      // The row's taps with zeros around them, so that each column of the matrix is a piece of it.
      std::int8_t taps[window + outputs] = {};
      std::memcpy(taps + outputs - 1 + margin - filter.centre_x(), &limb[y * filter.width()],
                  static_cast<std::size_t>(filter.width()));
      for (int n = 0; n < outputs; ++n) {
        const int to = 4 * (n >> 1 & 3) + 2 * (n >> 3) + (n & 1);
        const std::int8_t* column = taps + outputs - 1 - to;
        std::uint8_t* block = matrix + (n >> 3) * 256 + (n & 7) * 16;
        std::memcpy(block, column, 16);
        std::memcpy(block + 128, column + 16, 16);
      }
    }
  return bytes;
}

}  // namespace convolve::cuda
