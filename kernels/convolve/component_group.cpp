// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/component_group.hpp"

#include <algorithm>

namespace convolve {

bool ComponentGroup::any_filtered() const {
  return std::any_of(component, component + components, [](const Component* c) { return c->filtered; });
}

bool ComponentGroup::all_filtered() const {
  return std::all_of(component, component + components, [](const Component* c) { return c->filtered; });
}

std::vector<ComponentGroup> make_component_groups(const FrameLayout& layout) {
  std::vector<ComponentGroup> groups;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& plane = layout.plane[p];
    if (plane.uniform()) {
      ComponentGroup group{p, 0, 1, plane.components, {}, plane.component[0].width, plane.component[0].height};
      for (int c = 0; c < plane.components; ++c) group.component[c] = &plane.component[c];
      groups.push_back(group);
      continue;
    }
    std::vector<const Component*> rest;
    for (int c = 0; c < plane.components; ++c) rest.push_back(&plane.component[c]);
    std::sort(rest.begin(), rest.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
    while (!rest.empty()) {
      const Component* first = rest.front();
      rest.erase(rest.begin());
      ComponentGroup group{p, first->offset, first->step, 1, {first}, first->width, first->height};
      // Two components of step 4, two samples apart: the chroma of 4:2:2 packed formats.
      const auto second = std::find_if(rest.begin(), rest.end(), [&](const Component* c) {
        return first->step == 4 && c->step == 4 && c->offset == first->offset + 2 && c->width == first->width &&
               c->height == first->height;
      });
      if (second != rest.end()) {
        group.stride = 2;
        group.components = 2;
        group.component[1] = *second;
        rest.erase(second);
      }
      groups.push_back(group);
    }
  }
  return groups;
}

}  // namespace convolve
