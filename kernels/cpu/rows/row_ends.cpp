// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ends of rows that are read in place: their columns are copied into a ring as they are, with the borders beside
// them. Few samples of many rows, so that what is the same for all rows is found once.
#include <algorithm>
#include <cstring>

#include "cpu/rows/gather_scatter.hpp"
#include "cpu/rows/row_plan.hpp"
#include "cpu/rows/row_window.hpp"

namespace convolve::cpu {
namespace {

// For lines of some 64 bytes, too short to be worth a call.
inline void copy_bytes(unsigned char* to, const unsigned char* from, std::size_t n) {
  constexpr std::size_t some = 16;
  if (n < some) {
    std::memcpy(to, from, n);
    return;
  }
  for (std::size_t i = 0; i + some < n; i += some) std::memcpy(to + i, from + i, some);
  std::memcpy(to + n - some, from + n - some, some);
}

// The pixels beside one end of a row, on their way into a ring.
struct Beside {
  const int* index;  // of the pixel that each is, null: ghost cells
  int pixels;
  std::size_t at;  // bytes into the ring row

  void copy(unsigned char* line, const unsigned char* row, const unsigned char* ghosts, const ComponentGroup& group,
            int sample_size, std::size_t step) const {
    if (pixels == 0) return;
    unsigned char* const to = line + at;
    if (!index)
      std::memcpy(to, ghosts, pixels * step);
    else if (step != 1)
      pick_pixels(to, row, index, pixels, group, sample_size);
    else
      for (int i = 0; i < pixels; ++i) to[i] = row[index[i]];
  }
};

}  // namespace

// Copies what a window of rows lacks in the ring of `columns`.
void RowPlan::stage_ends(const Part& part, const Frame& frame, const RowWindow& rows, Columns& columns) const noexcept {
  SourceRow source;
  place(part, columns.x, columns.pixels, source);
  const std::size_t step = source.pixel_step;
  const auto beside_of = [&](int from, int until) {
    const bool some = from < until;
    return Beside{some && !has_ghost_cells(desc_.border) ? beside(part, from) : nullptr, some ? until - from : 0,
                  (from - source.begin) * step};
  };
  const Beside left = beside_of(source.begin, source.first), right = beside_of(source.last, source.end);
  const std::size_t at = (source.first - source.begin) * step, inside = (source.last - source.first) * step;
  const unsigned char* const ghosts = part.ghost_line.data();
  const int from = columns.rows_staged, until = std::min(rows.top + rows.count, rows.needed);
  columns.rows_staged = std::max(from, until);
  for (int t = 0; t < part.frames; ++t) {
    const Image* const image = frame.window->image[t];
    if (!image) continue;
    const PlaneView& in = image->plane[part.group.plane];
    const unsigned char* const first =
        static_cast<const unsigned char*>(in.data) + part.group.offset * static_cast<std::ptrdiff_t>(sample_size_);
    for (int r = from; r < until; ++r) {
      const int number = rows.source(r);
      if (number < 0) continue;
      const unsigned char* const row = first + number * in.stride;
      unsigned char* const line = part.slot(columns.memory, t, rows.slot(r));
      left.copy(line, row, ghosts, part.group, sample_size_, step);
      copy_bytes(line + at, row + source.first * step, inside);
      right.copy(line, row, ghosts, part.group, sample_size_, step);
    }
  }
}

}  // namespace convolve::cpu
