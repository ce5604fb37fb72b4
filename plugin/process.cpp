// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "element_error.hpp"
#include "formats.hpp"
#include "log.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

// What of a buffer goes to its output, without its memory.
BufferPtr shell_of(GstBuffer* buffer) {
  BufferPtr shell(gst_buffer_new());
  constexpr auto parts =
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META);
  gst_buffer_copy_into(shell.get(), buffer, parts, 0, -1);
  return shell;
}

// Whether each output equals its input to the bit.
bool is_passthrough(const Filter& filter, const FrameLayout& layout) {
  bool copies = true, biased = false;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      copies &= !component.filtered;
      biased |= component.filtered && component.bias != 0;
    }
  // A shifted format's padding bits come out 0, whatever came in.
  return filter.depth() == 1 && (copies || (filter.is_identity() && !biased && layout.shift == 0));
}

bool hides_nothing(const RegionSettings& regions, const FrameLayout& layout) {
  if (!regions.hides()) return false;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered) return false;
  return true;
}

}  // namespace

void Process::open(std::unique_ptr<CudaSession> session, std::unique_ptr<Backend> backend) {
  close();
  session_ = std::move(session);
  backend_ = std::move(backend);
}

void Process::close() noexcept {
  drop_plans();
  {
    const CudaScope scope(session_.get(), std::nothrow);
    backend_.reset();
  }
  session_.reset();
}

void Process::drop_plans() noexcept {
  const CudaScope scope(session_.get(), std::nothrow);
  if (session_) session_->drain();  // a plan outlives its queued work
  // Nothing is made anew here: that could fail for want of memory.
  now_.recipe.reset();
  for (auto& plan : now_.plan) plan.reset();
  now_.slabs.clear();
  now_.slab_plans.clear();
  now_.regions.reset();
  for (DeviceFrame& result : result_) result = {};
  filtered_on_device_ = {};
}

void Process::set_format(const GstVideoInfo& info, bool in_system_memory) {
  if (has_format_ && gst_video_info_is_equal(&info, &info_) && in_system_memory == in_system_memory_) return;
  clear_format();
  if (const char* why = why_unserved(info)) throw ElementError(GST_STREAM_ERROR_FORMAT, why);
  layout_ = make_layout(info, info.height, {});
  info_ = info;
  in_system_memory_ = in_system_memory;
  has_format_ = true;
}

void Process::clear_format() noexcept {
  drop_plans();
  has_format_ = false;
}

std::unique_ptr<Plan> Process::make_plan(Backend& backend, const Prepared& with, const FrameLayout& layout,
                                         bool announced) const {
  const Settings& settings = with.recipe->settings;
  const PlanDesc desc{layout, with.filter, settings.border, settings.algorithm};
  std::unique_ptr<Plan> plan = backend.make_plan(desc);
  if (announced)
    GST_INFO_OBJECT(element_, "%s backend, %s filter on %s %dx%d: %s", backend.name(), with.filter.shape().c_str(),
                    gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info_)), info_.width, rows(layout, 0),
                    plan->describe().c_str());
  return plan;
}

Process::Prepared Process::prepare(Backend& backend, const std::shared_ptr<const Recipe>& recipe, bool reversed) const {
  Prepared next;
  next.recipe = recipe;
  next.reversed = reversed;
  // A causal window looks back in order of arrival, whichever way that runs: it never waits.
  const Recipe& from = *next.recipe;
  if (!from.settings.regions.hides())
    next.filter = reversed && !from.settings.causal() ? from.filter.reversed_in_time() : from.filter;
  if (next.filter.depth() > 1 && GST_VIDEO_INFO_MULTIVIEW_MODE(&info_) == GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME)
    throw PlanError("a filter over " + std::to_string(next.filter.depth()) +
                    " frames would blend the views of multiview-mode=frame-by-frame; filters of one frame are served");
  next.layout = make_layout(info_, info_.height, from.settings.levels());
  const RegionSettings& regions = from.settings.regions;
  if (regions.active()) {
    next.regions = backend.make_region_plan({next.layout, info_.width, info_.height});
    next.treatment = make_treatment(regions, info_, next.layout);
  }
  if (regions.hides()) return next;  // whatever the filter is: it has no part in it
  const GstVideoInterlaceMode mode = info_.interlace_mode;
  if (mode != GST_VIDEO_INTERLACE_MODE_INTERLEAVED) {
    next.plan[whole] = make_plan(backend, next, next.layout, true);
    if (in_system_memory_ && !next.regions && backend.memory() == MemoryKind::device) make_slabs(backend, next);
  }
  if (mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE) return next;
  for (const int parity : {0, 1}) {
    Field& field = next.field[parity] = make_field(next.layout, parity);
    if (field.layout.planes > 0 && (parity == 0 || field.layout != next.field[0].layout))
      next.plan[top_field + parity] = make_plan(backend, next, field.layout, true);
  }
  return next;
}

bool Process::asks_for_the_same(const Recipe& recipe, bool reversed) const {
  if (!now_.recipe) return false;
  const Settings &settings = recipe.settings, &before = now_.recipe->settings;
  if (!(settings.regions == before.regions)) return false;
  const Filter filter = reversed && !settings.causal() ? recipe.filter.reversed_in_time() : recipe.filter;
  const PlanDesc next{make_layout(info_, info_.height, settings.levels()), filter, settings.border, settings.algorithm};
  return next == PlanDesc{now_.layout, now_.filter, before.border, before.algorithm};
}

bool Process::can_be_served_by(Backend& backend, const std::shared_ptr<const Recipe>& recipe, bool reversed) noexcept {
  try {
    prepare(backend, recipe, reversed);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool Process::set_recipe(const std::shared_ptr<const Recipe>& recipe, bool reversed) {
  if (recipe == now_.recipe && reversed == now_.reversed) return false;
  if (asks_for_the_same(*recipe, reversed)) {
    now_.recipe = recipe;
    now_.reversed = reversed;
    return false;
  }
  const CudaScope scope(session_.get());
  Prepared next;
  try {
    next = prepare(*backend_, recipe, reversed);
  } catch (const std::bad_alloc&) {
    if (!session_) throw;
    drop_plans();  // the device has no memory for the old plans and the new ones
    session_->trim();
    next = prepare(*backend_, recipe, reversed);
  }
  if (session_ && (now_.regions || next.regions)) session_->drain();  // other plans may go while work is queued
  std::swap(now_, next);
  changes_nothing_ = hides_nothing(now_.recipe->settings.regions, now_.layout) ||
                     (!now_.recipe->settings.regions.hides() && is_passthrough(now_.filter, now_.layout));
  return true;
}

const char* Process::algorithm() const {
  if (now_.recipe && now_.recipe->settings.regions.hides()) return nick(now_.treatment.effect);
  const auto& plan = now_.plan[whole] ? now_.plan[whole] : now_.plan[top_field];
  return plan ? nick(plan->algorithm()) : nullptr;
}

bool Process::wants_context_of(GstBuffer* buffer, int cuda_device_id) const {
  if (!session_ || !is_cuda_buffer(buffer) || session_->owns(buffer)) return false;
  return cuda_device_id < 0 || cuda_buffer_device(buffer) == session_->device_id();
}

bool Process::is_interlaced(GstBuffer* buffer) const {
  return info_.interlace_mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (info_.interlace_mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
          GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

bool Process::starves(GstBuffer* buffer) const {
  // A buffer that keeps another one from going back to its pool.
  if (const GstParentBufferMeta* parent = gst_buffer_get_parent_buffer_meta(buffer)) return starves(parent->buffer);
  if (!buffer->pool) return false;
  GstStructure* config = gst_buffer_pool_get_config(buffer->pool);
  guint most = 0;
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &most);
  gst_structure_free(config);
  return most != 0 && most < static_cast<guint>(now_.filter.depth()) + 2;
}

HeldFrame Process::admit(BufferPtr buffer, bool keep) {
  HeldFrame frame;
  frame.interlaced = is_interlaced(buffer.get());
  const FrameMap::Format format{info_, layout_, frame.interlaced};
  if (!session_) {
    if (keep && starves(buffer.get())) {
      buffer.reset(gst_buffer_copy_deep(buffer.get()));
      if (!buffer) throw std::bad_alloc();
    }
    frame.map = FrameMap(buffer.get(), format, GST_MAP_READ);
    frame.image = frame.map.image();
    frame.buffer = std::move(buffer);
    return frame;
  }

  const bool on_device = session_->owns(buffer.get());
  if (on_device) session_->follow(buffer.get());
  frame.map = FrameMap(buffer.get(), format, GST_MAP_READ | (on_device ? cuda_map_flags() : 0));
  frame.image = frame.map.image();
  if (!on_device) {
    frame.copy = session_->allocate(layout_);
    frame.image = frame.copy.image();
    frame.on_its_way = true;
    frame.pageable = !frame.map.in_place() || !session_->reaches(buffer.get());
  } else if (keep && starves(buffer.get())) {
    frame.copy = session_->allocate(layout_);
    session_->copy(frame.image, frame.copy.image(), layout_);
    session_->synchronize();
    frame.image = frame.copy.image();
    frame.map.unmap();
    buffer = shell_of(buffer.get());
  }
  frame.buffer = std::move(buffer);
  return frame;
}

void Process::upload(HeldFrame& frame) {
  session_->upload(frame.map.image(), frame.copy, layout_);
}

void Process::landed(FrameWindow& window) {
  for (HeldFrame& frame : window.frames()) {
    if (!frame.on_its_way) continue;
    frame.on_its_way = false;
    frame.map.unmap();
    if (now_.filter.depth() > 1) frame.buffer = shell_of(frame.buffer.get());
  }
}

void Process::settle(FrameWindow& window) {
  bool any = false;
  for (HeldFrame& frame : window.frames())
    if (frame.on_its_way) {
      upload(frame);
      any = true;
    }
  if (!any) return;
  session_->synchronize();
  landed(window);
}

void Process::run(FrameWindow& window, GstBuffer* out) {
  const bool interlaced = window.centre().interlaced;
  const bool on_device = session_ && session_->owns(out);
  FrameMap map(out, {info_, layout_, interlaced}, GST_MAP_WRITE | (on_device ? cuda_map_flags() : 0));
  if (!session_) {
    enqueue(window.images(), interlaced, map.image());
    map.fill_spare_rows();
    return;
  }
  const DrainOnFault drain_on_fault(*session_);  // queued copies write to the output, which goes when this throws
  if (!on_device && !interlaced && !now_.slabs.empty()) {
    run_in_slabs(window, map.image());
  } else {
    for (HeldFrame& frame : window.frames())
      if (frame.on_its_way) upload(frame);
    if (on_device) {
      session_->follow(out);
      enqueue(window.images(), interlaced, map.image());
    } else {
      if (!result_[0]) result_[0] = session_->allocate(layout_);
      enqueue(window.images(), interlaced, result_[0].image());
      session_->download(result_[0], map.image(), layout_);
    }
    if (!on_device || !hand_on(window, out)) session_->synchronize();
    if (!on_device) map.fill_spare_rows();
  }
  landed(window);
}

bool Process::hand_on(FrameWindow& window, GstBuffer* out) {
  bool all = session_->precede(out);
  for (HeldFrame& frame : window.frames())
    all = all && (frame.copy ? !frame.on_its_way : session_->precede(frame.buffer.get()));
  return all;
}

void Process::enqueue(const Window& window, bool interlaced, const Image& out, std::span<const PixelRect> areas) {
  const CudaScope scope(session_.get());
  if (!interlaced) {
    enqueue(*now_.plan[whole], window, out, areas);
    return;
  }
  // Rows 2i and 2i + 1 of the frame are rows i of its fields.
  field_areas_.assign(areas.begin(), areas.end());
  for (PixelRect& area : field_areas_) area.top /= 2, area.bottom = (area.bottom + 1) / 2;
  for (const Field& field : now_.field) {
    if (field.layout.planes == 0) continue;
    Image images[max_depth];
    Window fields;
    fields.depth = window.depth;
    for (int t = 0; t < window.depth; ++t) {
      if (!window.image[t]) continue;
      images[t] = field.image_of(*window.image[t]);
      fields.image[t] = &images[t];
    }
    const auto& own = now_.plan[top_field + field.parity];
    enqueue(own ? *own : *now_.plan[top_field], fields, field.image_of(out), field_areas_);
  }
}

void Process::enqueue(Plan& plan, const Window& window, const Image& out, std::span<const PixelRect> areas) {
  void* stream = session_ ? session_->stream() : nullptr;
  const char* fault =
      areas.empty() ? plan.enqueue(window, out, stream) : plan.enqueue_areas(window, out, areas, stream);
  if (!fault) return;
  if (session_) throw DeviceError(std::string("the GPU failed: ") + fault);
  throw ElementError(GST_RESOURCE_ERROR_FAILED, std::string("the filter failed: ") + fault);
}

}  // namespace convolve
