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
  const std::vector<Slab> all = cut_into_slabs(next.layout, info_.height, next.filter, next.recipe->settings.border);
  std::vector<int> heights;
  for (const Slab& rows : all) {
    const int height = rows.bottom - rows.top;
    const auto known = std::find(heights.begin(), heights.end(), height);
    const auto at = static_cast<std::size_t>(known - heights.begin());
    if (known == heights.end()) {
      const FrameLayout layout = make_layout(info_, height, next.recipe->settings.levels());
      next.slab_plans.push_back(make_plan(backend, next, layout, height == info_.height));
      heights.push_back(height);
    }
    next.slabs.push_back({rows, next.slab_plans[at].get()});
  }
  if (!all.empty()) GST_INFO_OBJECT(element_, "frames cross to the GPU and back in %zu slabs", all.size());
}

void Process::run_in_slabs(FrameWindow& window, const Image& out) {
  const int height = info_.height;
  const auto rows_between = [&](int first, int last) {
    CudaSession::Rows rows;
    for (int p = 0; p < layout_.planes; ++p) {
      rows.first[p] = plane_row(layout_, p, height, first);
      rows.last[p] = plane_row(layout_, p, height, last);
    }
    return rows;
  };
  // Only the newest frame is on its way in the steady state; it comes in slabs.
  HeldFrame* newest = &window.frames().back();
  for (HeldFrame& frame : window.frames())
    if (frame.on_its_way && &frame != newest) upload(frame);
  if (!newest->on_its_way) newest = nullptr;

  for (DeviceFrame& result : result_)
    if (!result) result = session_->allocate(layout_);
  session_->begin_slabs();
  const Window images = window.images();
  int uploaded = 0;
  for (std::size_t k = 0; k < now_.slabs.size(); ++k) {
    const PlannedSlab& slab = now_.slabs[k];
    if (newest) {
      const CudaSession::Rows fresh = rows_between(uploaded, slab.rows.bottom);
      const Image& host = newest->map.image();
      session_->upload_slab(newest->pageable ? session_->stage(host, layout_, fresh) : host, newest->copy.image(),
                            layout_, fresh);
    }
    uploaded = slab.rows.bottom;
    Image image[max_depth];
    Window slice;
    slice.depth = images.depth;
    for (int t = 0; t < images.depth; ++t) {
      if (!images.image[t]) continue;
      image[t] = from_row(*images.image[t], layout_, height, slab.rows.top);
      slice.image[t] = &image[t];
    }
    const Image& result = result_[k % 2].image();
    {
      const CudaScope scope(session_.get());
      enqueue(*slab.plan, slice, from_row(result, layout_, height, slab.rows.top));
    }
    session_->download_slab(result, out, layout_, rows_between(slab.rows.first, slab.rows.last));
  }
  session_->finish_slabs();
}

}  // namespace convolve
