// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ComponentGroup: the samples of a plane that are filtered together, as a row of interleaved components.
//
// A plane with uniform components is one group: tap x of a filter lies `components` samples from its neighbour, and
// no component has to be picked out. The luma and the chroma of YUY2 are a group each, taken from every second sample.
#pragma once

#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

struct ComponentGroup {
  int plane = 0;
  int offset = 0, stride = 1;  ///< sample i of the group lies at offset + i * stride of the plane's row
  int components = 1;          ///< sample i belongs to component[i % components]
  const Component* component[max_components] = {};
  int width = 0, height = 0;  ///< of each component

  int samples() const { return width * components; }
  bool any_filtered() const;
  bool all_filtered() const;
};

/// The groups of all planes; they point into `layout`, which outlives them.
std::vector<ComponentGroup> make_component_groups(const FrameLayout& layout);

}  // namespace convolve
