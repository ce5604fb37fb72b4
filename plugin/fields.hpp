// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Fields: the two images that an interlaced frame is woven from. Field 0, the top one, has the even rows of every
// plane, field 1 the odd ones.
//
// The rows of a field are counted in each plane by itself, from the rows that the plane has: 486 rows of luma are 243
// and 243, and their 243 rows of 4:2:0 chroma are 122 and 121.
#pragma once

#include <array>

#include "convolve/plane.hpp"

namespace convolve {

/// One field's layout, and where its planes lie in a frame.
struct Field {
  int parity = 0;                       ///< 0: top, 1: bottom
  FrameLayout layout;                   ///< of the planes that have rows in this field: none where `planes` is 0
  std::array<int, max_planes> plane{};  ///< for each of the layout's planes, its number in the frame

  Image image_of(const Image& frame) const;
  bool operator==(const Field&) const = default;
};

Field make_field(const FrameLayout& frame, int parity);

}  // namespace convolve
