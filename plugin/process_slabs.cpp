// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Process, where frames cross from system memory to the GPU and back: they are cut into slabs, so that one slab goes up
// while another is filtered and a third comes down.
#include <algorithm>

#include "log.hpp"
#include "process.hpp"

namespace convolve {

void Process::make_slabs(Backend& backend, Prepared& next) const {
  next.slabs = cut_into_slabs(next.layout, info_.height, *next.filter, next.recipe->settings.border);
  std::vector<int> heights;
  for (const Slab& slab : next.slabs) {
    const int height = slab.bottom - slab.top;
    const auto known = std::find(heights.begin(), heights.end(), height);
    const auto at = static_cast<std::size_t>(known - heights.begin());
    if (known == heights.end()) {
      const FrameLayout layout = make_layout(info_, height, next.recipe->settings.levels());
      next.slab_plans.push_back(make_plan(backend, next, layout, height == info_.height));
      heights.push_back(height);
    }
    next.slab_plan.push_back(next.slab_plans[at].get());
  }
  if (!next.slabs.empty())
    GST_INFO_OBJECT(element_, "frames cross to the GPU and back in %zu slabs", next.slabs.size());
}

void Process::enqueue_slab(const Slab& slab, const Window& window, const Image& out) {
  Image image[max_depth];
  Window slice;
  slice.depth = window.depth;
  for (int t = 0; t < window.depth; ++t) {
    if (!window.image[t]) continue;
    image[t] = from_row(*window.image[t], layout_, info_.height, slab.top);
    slice.image[t] = &image[t];
  }
  enqueue(*now_.slab_plan[static_cast<std::size_t>(&slab - now_.slabs.data())], slice,
          from_row(out, layout_, info_.height, slab.top));
}

}  // namespace convolve
