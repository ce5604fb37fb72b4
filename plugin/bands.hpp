// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bands: a frame cut into slices of rows, so that the upload, the filtering and the download of one frame overlap.
// Rows count those of the frame; a subsampled plane has fewer, found by plane_row().
#pragma once

#include <vector>

#include "convolve/border.hpp"
#include "convolve/filter.hpp"
#include "convolve/plane.hpp"

namespace convolve {

/// Output rows first..last-1 are filtered as part of an image of rows top..bottom-1, which has all the rows that they
/// need. The filter's other rows of that image are wrong where its edge is none of the frame's.
struct Band {
  int first = 0, last = 0;
  int top = 0, bottom = 0;
};

/// The row of a plane where row `y` of the frame lies; `y` is a multiple of the plane's subsampling, or `height`.
int plane_row(const FrameLayout& layout, int plane, int height, int y);

/// Bands of about equal height, from the top; none where cutting would not be right or not worth it. With images of
/// bands k and k+2 never overlapping outputs, two frames of output memory taken in turn suffice.
std::vector<Band> cut_into_bands(const FrameLayout& layout, int height, const Filter& filter, Border border);

/// The image whose first row is row `y` of the frame's.
Image from_row(const Image& frame, const FrameLayout& layout, int height, int y);

}  // namespace convolve
