// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fields.hpp"

#include "plane_size.hpp"

namespace convolve {

Field make_field(const FrameLayout& frame, int parity) {
  Field field;
  field.parity = parity;
  field.layout = frame;
  field.layout.planes = 0;
  field.layout.plane = {};
  for (int p = 0; p < frame.planes; ++p) {
    // A plane of a single row has none in the bottom field.
    if (rows(frame, p) <= parity) continue;
    PlaneLayout& plane = field.layout.plane[field.layout.planes];
    plane = frame.plane[p];
    for (int c = 0; c < plane.components; ++c) plane.component[c].height = (plane.component[c].height + 1 - parity) / 2;
    field.plane[field.layout.planes++] = p;
  }
  return field;
}

Image Field::image_of(const Image& frame) const {
  Image image;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneView& from = frame.plane[plane[p]];
    image.plane[p] = {static_cast<std::byte*>(from.data) + parity * from.stride, 2 * from.stride};
  }
  return image;
}

}  // namespace convolve
