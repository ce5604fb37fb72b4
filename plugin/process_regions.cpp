// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Process, where the effect is confined to regions: a frame is treated in place, or copied and treated there. On CUDA,
// what came in CUDA memory stays there; a frame in system memory goes to the device and back.
#include <new>

#include "plane_size.hpp"
#include "process.hpp"

namespace convolve {

bool Process::update_regions(GstBuffer* frame) {
  const RegionSettings& settings = now_.recipe->settings.regions;
  const std::span<const Region> found = tracker_.update(frame, info_, settings, now_.reversed);
  const Region everything{0, 0, info_.width, info_.height};
  RegionTreatment treatment = now_.treatment;
  std::span<const Region> regions = found;
  if (found.empty()) {
    if (!settings.missing_everything) return false;
    regions = std::span(&everything, 1);
    treatment.outside = false;
  }
  const FrameMemory::Scope scope(*memory_);
  try {
    return now_.regions->set_regions(regions, treatment);
  } catch (const std::bad_alloc&) {
    if (!memory_->trim()) throw;
    return now_.regions->set_regions(regions, treatment);
  }
}

bool Process::leaves_as_it_came(const HeldFrame& frame) const {
  return gst_buffer_n_memory(frame.buffer.get()) > 0;
}

// Treats the window's centre in `frame`, which holds its samples. The effect `filter` needs what the filter makes of
// it, at least where regions reach.
void Process::apply_regions(FrameWindow& window, const Image& frame) {
  Image filtered;
  if (now_.treatment.effect == RegionEffect::filter) {
    filtered = memory_->scratch(layout_);
    enqueue(window.images(), window.centre().interlaced, filtered, now_.regions->areas());
  }
  const FrameMemory::Scope scope(*memory_);
  if (const char* fault = now_.regions->apply(frame, &filtered, memory_->stream())) memory_->fail(fault);
}

bool Process::treat_in_place(FrameWindow& window) {
  HeldFrame& frame = window.centre();
  if (now_.filter->depth() > 1 || !frame.map.in_place()) return false;
  const Image& planes = frame.map.image();
  for (int p = 0; p < layout_.planes; ++p) {
    if (rows_overlap(planes.plane[p].stride, layout_, p)) return false;
    for (int q = 0; q < p; ++q)
      if (planes_overlap(planes, layout_, p, q)) return false;
  }
  return memory_->edit(frame, {info_, layout_, frame.interlaced},
                       [&](const Image& image, const Slab*) { apply_regions(window, image); });
}

void Process::treat_copy(FrameWindow& window, GstBuffer* out, bool regions) {
  const HeldFrame& frame = window.centre();
  memory_->produce(window.frames(),
                   {out, {info_, layout_, frame.interlaced}, GST_MAP_READWRITE, {}, now_.filter->depth() > 1},
                   [&](const Image& image, const Slab*) {
                     memory_->copy(frame.image, image, layout_);
                     if (regions) apply_regions(window, image);
                   });
}

}  // namespace convolve
