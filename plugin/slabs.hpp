// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Slabs: a frame cut into slices of rows, so that the upload, the filtering and the download of one frame overlap.
// Rows count those of the frame; a subsampled plane has fewer, found by plane_row().
#pragma once

#include <array>
#include <vector>

#include "convolve/border.hpp"
#include "convolve/filter.hpp"
#include "convolve/plane.hpp"

namespace convolve {

/// Output rows first..last-1 are filtered as part of an image of rows top..bottom-1, which has all the rows that they
/// need. The filter's other rows of that image are wrong where its edge is none of the frame's.
struct Slab {
  int first = 0, last = 0;
  int top = 0, bottom = 0;
};

/// The row of a plane where row `y` of the frame lies; `y` is a multiple of the plane's subsampling, or `height`.
int plane_row(const FrameLayout& layout, int plane, int height, int y);

/// Rows of each plane, from first to last - 1.
struct PlaneRows {
  std::array<int, max_planes> first{}, last{};
};
/// Those that rows first to last - 1 of the frame cover, likewise multiples.
PlaneRows plane_rows(const FrameLayout& layout, int height, int first, int last);
PlaneRows all_rows(const FrameLayout& layout);

/// Slabs of about equal height, from the top; none where cutting would not be right or not worth it. With images of
/// slabs k and k+2 never overlapping outputs, two frames of output memory taken in turn suffice.
std::vector<Slab> cut_into_slabs(const FrameLayout& layout, int height, const Filter& filter, Border border);

/// The image whose first row is row `y` of the frame's.
Image from_row(const Image& frame, const FrameLayout& layout, int height, int y);

}  // namespace convolve
