// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The right operands of the banded products (kernels/README.md draws them): a frame's taps as the lanes of a warp, or
// as the blocks of a warpgroup's descriptor, hold them. They are made anew with each change of a filter, so that they
// are put together from rows of limbs, and not tap by tap. Host code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "convolve/filter.hpp"

namespace convolve::cuda {

/// One limb of one frame's taps about the filter's centre, with zeros around them, for mma.m16n8k32 with a margin of
/// four pixels: what dense.cu and temporal.cu take.
class CentredLimb {
 public:
  static constexpr int max_radius = 3, margin = 4;

  /// `limb`: of the frame's taps, [row][column]. No tap lies farther from the centre than `radius` rows and `margin`
  /// columns.
  CentredLimb(const Filter& filter, std::span<const std::int8_t> limb, int radius) {
    for (int y = 0; y < filter.height(); ++y)
      std::memcpy(&taps_[y - filter.centre_y() + radius + 1][centre - filter.centre_x()], &limb[y * filter.width()],
                  static_cast<std::size_t>(filter.width()));
  }

  /// Adds what the 32 lanes hold for the products with input rows 2 * pair and 2 * pair + 1, counted from `radius`
  /// above the output.
  template <class Words>  // uint4, or what has its members
  void append(int pair, std::vector<Words>& to) const {
    for (int lane = 0; lane < 32; ++lane) {
      const int n = lane >> 2, t = lane & 3;
      const std::int8_t* row = taps_[2 * pair + (t >> 1) + 1 - (n >> 2)];
      const int out_column = 4 * (n >> 1 & 1) + (n & 1);  // of the first of the two products, the second is 2 farther
      const std::int8_t* from = row + centre + 8 * (t & 1) - margin - out_column;
      Words words;
      std::memcpy(&words.x, from, 8);
      std::memcpy(&words.z, from - 2, 8);
      to.push_back(words);
    }
  }

 private:
  static constexpr int centre = margin + 7, columns = centre + 16;

  /// Row 0 is one above those of the radius, and there is one below them: pairs of output rows share input rows.
  std::int8_t taps_[2 * max_radius + 4][columns] = {};
};

/// The blocks of 8 columns by 16 rows that warpgroup products take, as hopper/products.cuh says: for each limb, the
/// highest first, rows `height - 1 + padding` to 0 of 512 bytes; those behind the filter's are zeros. `margin`: pixels
/// that a window of 32 reaches on either side of its 16 outputs.
std::vector<std::uint8_t> warpgroup_matrices(const Filter& filter, std::span<const std::vector<std::int8_t>> limbs,
                                             int height, int padding, int margin);

}  // namespace convolve::cuda
