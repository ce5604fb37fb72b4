// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planes of bytes as rows in which neighbours of a component are so many bytes apart: evenly interleaved components,
// and packed 4:2:2 of an even width, whose luma lies at every second byte and its chroma at every fourth. Host code
// only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "convolve/plan.hpp"
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

/// What plans over several such frames keep of their case.
struct ByteFrames {
  explicit ByteFrames(const PlanDesc& desc)
      : shape(desc.filter.shape()),
        depth(desc.filter.depth()),
        centre(desc.filter.centre_t()),
        packed(lies_as_packed_422(desc.layout)),
        layout(desc.layout) {}

  const Component& at(int p, int byte) const { return at_byte(layout.plane[p], packed, byte); }
  /// The bits of components that are copied, in a word of four bytes of plane p.
  std::uint32_t passthrough(int p) const {
    std::uint32_t bits = 0;
    for (int b = 0; b < 4; ++b)
      if (!at(p, b).filtered) bits |= 255u << 8 * b;
    return bits;
  }
  /// Bit t is set where frame t of the window lies beyond the stream's ends.
  unsigned missing(const Window& window) const noexcept {
    assert(window.depth == depth && window.image[centre]);
    unsigned bits = 0;
    for (int t = 0; t < depth; ++t)
      if (!window.image[t]) bits |= 1u << t;
    return bits;
  }

  std::string shape;
  int depth, centre;
  bool packed;
  FrameLayout layout;
};

}  // namespace convolve::cuda
