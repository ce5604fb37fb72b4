// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planes of bytes as rows in which neighbours of a component are so many bytes apart: evenly interleaved components,
// and packed 4:2:2 of an even width, whose luma lies at every second byte and its chroma at every fourth. Host code
// only.
#pragma once

#include <cstddef>

#include "cuda/common/packed_422.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/tensor_taps.hpp"

namespace convolve::cuda {

/// Bytes between the samples of byte `b`'s component, of a pixel or a pair of pixels.
inline int step_at(const PlaneLayout& plane, bool packed, int b) {
  return packed && plane.component[static_cast<std::size_t>(luma_index(plane))].offset % 2 == b % 2 ? 2
         : packed                                                                                   ? 4
                                                                                                    : plane.components;
}
/// The index of the component that byte b of a row is of.
inline int index_at(const PlaneLayout& plane, bool packed, int b) {
  return packed ? tensor::component_at(plane, b) : b % plane.components;
}
inline const Component& at_byte(const PlaneLayout& plane, bool packed, int b) {
  return plane.component[static_cast<std::size_t>(index_at(plane, packed, b))];
}

/// Whether all planes of a frame are such rows, and what differs from component to component goes by a byte's place in
/// a group of four.
inline bool has_byte_steps(const FrameLayout& layout, bool& packed) {
  packed = lies_as_packed_422(layout);
  if (packed) return tensor::is_even_packed_422(layout);
  const PlaneMix mix = plane_mix(layout);
  return mix != PlaneMix::none &&
         (mix != PlaneMix::three || (layout.planes == 1 && is_filtered_alike(layout.plane[0])));
}

}  // namespace convolve::cuda
