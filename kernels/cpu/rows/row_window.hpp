// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the parts of RowPlan share on the way down the rows. Private to rows/.
#pragma once

#include <algorithm>

#include "cpu/rows/row_plan.hpp"

namespace convolve::cpu {

/// The rows that a block of output rows from `y` on is made from. They count from the first row that the range needs;
/// row r, from `top` on, lies in slot r % count of the ring.
struct RowPlan::RowWindow {
  int count, needed, top;

  RowWindow(const PlanDesc& desc, const Part& part, const RowRange& range, int y)
      : count(part.ring_rows),
        needed(range.last - range.first + part.engine.kernel.height - 1),
        top(y - range.first),
        border_(desc.border),
        first_slot_(top % count),
        first_row_(range.first - desc.filter.centre_y()),
        height_(part.group.height) {}

  int slot(int r) const {
    const int slot = first_slot_ + r - top;
    return slot < count ? slot : slot - count;
  }
  /// Whether all of these rows are the frame's, one after the other.
  bool inside() const { return first_row_ + top >= 0 && first_row_ + top + count <= height_ && top + count <= needed; }
  /// The frame's row, or -1 where it is of ghost cells.
  int source(int r) const { return border_index(border_, first_row_ + std::min(r, needed - 1), height_); }

 private:
  Border border_;
  int first_slot_, first_row_, height_;
};

/// A row on its way into the ring: pixels [begin, end) of it, of which [first, last) lie inside the frame.
struct RowPlan::SourceRow {
  const unsigned char* row[max_depth];  ///< the row's first sample, of each frame; null: ghost cells
  int frames;
  int begin, end, first, last;
  std::size_t pixel_step, staged_step;  ///< bytes from pixel to pixel, in the frame and where they are staged
  unsigned char* line;                  ///< where pixel `begin` is staged
};

}  // namespace convolve::cpu
