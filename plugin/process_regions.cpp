// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Process, where the effect is confined to regions: a frame is treated in place, or copied and treated there. On CUDA,
// what came in CUDA memory stays there; a frame in system memory goes to the device and back.
#include <cstring>
#include <new>
#include <string>

#include "element_error.hpp"
#include "plane_size.hpp"
#include "process.hpp"

namespace convolve {

bool Process::update_regions(GstBuffer* frame) {
  const RegionSettings& settings = now_.recipe->settings.regions;
  const std::span<const Region> found = tracker_.update(frame, settings, now_.reversed);
  const Region everything{0, 0, info_.width, info_.height};
  RegionTreatment treatment = now_.treatment;
  std::span<const Region> regions = found;
  if (found.empty()) {
    if (!settings.missing_everything) return false;
    regions = std::span(&everything, 1);
    treatment.outside = false;
  }
  const CudaScope scope(session_.get());
  try {
    return now_.regions->set_regions(regions, treatment);
  } catch (const std::bad_alloc&) {
    if (!session_) throw;
    session_->trim();
    return now_.regions->set_regions(regions, treatment);
  }
}

bool Process::leaves_as_it_came(const HeldFrame& frame) const {
  return gst_buffer_n_memory(frame.buffer.get()) > 0;
}

// What the filter makes of the frame, at least where regions reach; an empty image for effects that hide.
Image Process::filter_aside(FrameWindow& window) {
  Image image;
  if (now_.treatment.effect != RegionEffect::filter) return image;
  if (session_) {
    if (!filtered_on_device_) filtered_on_device_ = session_->allocate(layout_);
    image = filtered_on_device_.image();
  } else {
    std::size_t bytes = 0, at[max_planes] = {};
    for (int p = 0; p < layout_.planes; ++p) {
      at[p] = bytes;
      bytes += static_cast<std::size_t>(row_bytes(layout_, p)) * static_cast<std::size_t>(rows(layout_, p));
    }
    filtered_.resize(bytes);
    for (int p = 0; p < layout_.planes; ++p) image.plane[p] = {filtered_.data() + at[p], row_bytes(layout_, p)};
  }
  enqueue(window.images(), window.centre().interlaced, image, now_.regions->areas());
  return image;
}

void Process::apply_regions(const Image& frame, const Image& filtered) {
  const CudaScope scope(session_.get());
  const char* fault = now_.regions->apply(frame, &filtered, session_ ? session_->stream() : nullptr);
  if (!fault) return;
  if (session_) throw DeviceError(std::string("the GPU failed: ") + fault);
  throw ElementError(GST_RESOURCE_ERROR_FAILED, std::string("the regions failed: ") + fault);
}

bool Process::treat_in_place(FrameWindow& window) {
  HeldFrame& frame = window.centre();
  if (now_.filter.depth() > 1 || !frame.map.in_place()) return false;
  GstBuffer* buffer = frame.buffer.get();
  const bool on_device = session_ && session_->owns(buffer);
  const int memory = on_device ? cuda_map_flags() : 0;
  frame.map.unmap();
  const bool writable = gst_buffer_is_writable(buffer) && gst_buffer_is_all_memory_writable(buffer);
  frame.map =
      FrameMap(buffer, {info_, layout_, frame.interlaced}, (writable ? GST_MAP_READWRITE : GST_MAP_READ) | memory);
  if (!session_ || on_device) frame.image = frame.map.image();
  if (!writable) return false;
  if (!session_) {
    apply_regions(frame.image, filter_aside(window));
  } else if (on_device) {
    apply_regions(frame.image, filter_aside(window));
    if (!hand_on(window, buffer)) session_->synchronize();
  } else {
    session_->upload(frame.map.image(), frame.copy, layout_);
    frame.on_its_way = false;
    apply_regions(frame.copy.image(), filter_aside(window));
    session_->download(frame.copy, frame.map.image(), layout_);
    session_->synchronize();
  }
  if (!on_device) frame.map.fill_spare_rows();
  frame.map.unmap();
  return true;
}

void Process::treat_copy(FrameWindow& window, GstBuffer* out, bool regions) {
  HeldFrame& frame = window.centre();
  const bool on_device = session_ && session_->owns(out);
  FrameMap map(out, {info_, layout_, frame.interlaced}, GST_MAP_READWRITE | (on_device ? cuda_map_flags() : 0));
  if (session_) {
    copy_on_device(window, out, map, regions);
  } else {
    for (int p = 0; p < layout_.planes; ++p) {
      const PlaneView &from = frame.image.plane[p], &to = map.image().plane[p];
      for (int y = 0; y < rows(layout_, p); ++y)
        std::memcpy(static_cast<std::byte*>(to.data) + y * to.stride,
                    static_cast<const std::byte*>(from.data) + y * from.stride,
                    static_cast<std::size_t>(row_bytes(layout_, p)));
    }
    if (regions) apply_regions(map.image(), filter_aside(window));
  }
  if (!on_device) map.fill_spare_rows();
}

// The output is in CUDA memory where frames are, else in system memory: then it is made in a copy on the device that no
// other output reads.
void Process::copy_on_device(FrameWindow& window, GstBuffer* out, const FrameMap& map, bool regions) {
  for (HeldFrame& frame : window.frames())
    if (frame.on_its_way) upload(frame);
  const HeldFrame& frame = window.centre();
  const bool on_device = session_->owns(out);
  const Image filtered = regions ? filter_aside(window) : Image{};
  if (on_device) {
    session_->follow(out);
    session_->copy(frame.image, map.image(), layout_);
    if (regions) apply_regions(map.image(), filtered);
    if (!hand_on(window, out)) session_->synchronize();
  } else {
    if (!result_[0]) result_[0] = session_->allocate(layout_);
    session_->copy(frame.image, result_[0].image(), layout_);
    if (regions) apply_regions(result_[0].image(), filtered);
    session_->download(result_[0], map.image(), layout_);
    session_->synchronize();
  }
  landed(window);
}

}  // namespace convolve
