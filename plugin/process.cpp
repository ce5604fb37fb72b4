// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "element_error.hpp"
#include "formats.hpp"
#include "log.hpp"
#include "plane_size.hpp"
#include "scene.hpp"

namespace convolve {
namespace {

// Whether each output equals its input to the bit.
bool is_passthrough(const Filter& filter, const Bank& bank, const FrameLayout& layout) {
  bool copies = true, biased = false;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      copies &= !component.filtered;
      biased |= component.filtered && component.bias != 0;
    }
  // A shifted format's padding bits come out 0, whatever came in.
  return filter.depth() == 1 && (copies || (bank.empty() && filter.is_identity() && !biased && layout.shift == 0));
}

// Memory that another one lent for reading, such as what shmsrc has from another process.
bool is_lent(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    const GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    while (memory->parent) memory = memory->parent;  // a part is never to be written, whatever the whole is
    if (GST_MEMORY_IS_READONLY(memory)) return true;
  }
  return false;
}

bool hides_nothing(const RegionSettings& regions, const FrameLayout& layout) {
  if (!regions.hides()) return false;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered) return false;
  return true;
}

}  // namespace

void Process::open(std::unique_ptr<FrameMemory> memory) {
  close();
  memory_ = std::move(memory);
}

void Process::close() noexcept {
  drop_plans();
  memory_.reset();
}

void Process::drop_plans() noexcept {
  if (!memory_) return;
  const FrameMemory::Scope scope(*memory_, std::nothrow);
  memory_->drain();  // a plan outlives its queued work
  // Nothing is made anew here: that could fail for want of memory.
  now_.recipe.reset();
  for (auto& plan : now_.plan) plan.reset();
  now_.slabs.clear();
  now_.slab_plan.clear();
  now_.slab_plans.clear();
  now_.regions.reset();
  luma_difference_.reset();
  memory_->release_scratch();
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
  const PlanDesc desc{layout, *with.filter, settings.border, settings.algorithm, with.recipe->bank};
  std::unique_ptr<Plan> plan = backend.make_plan(desc);
  if (announced)
    GST_INFO_OBJECT(element_, "%s backend, %s filter on %s %dx%d: %s", backend.name(), with.filter->shape().c_str(),
                    gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info_)), info_.width, rows(layout, 0),
                    plan->describe().c_str());
  return plan;
}

Process::Prepared Process::prepare(Backend& backend, const std::shared_ptr<const Recipe>& recipe, bool reversed) const {
  Prepared next;
  next.recipe = recipe;
  next.reversed = reversed;
  const Recipe& from = *next.recipe;
  if (!from.settings.regions.hides()) next.filter = in_order_of_arrival(recipe, reversed);
  if (next.filter->depth() > 1 && GST_VIDEO_INFO_MULTIVIEW_MODE(&info_) == GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME)
    throw PlanError("a filter over " + std::to_string(next.filter->depth()) +
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

std::shared_ptr<const Filter> Process::identity() {
  static const auto filter = std::make_shared<const Filter>();
  return filter;
}

std::shared_ptr<const Filter> Process::in_order_of_arrival(const std::shared_ptr<const Recipe>& recipe, bool reversed) {
  // A causal window looks back in order of arrival, whichever way that runs: it never waits.
  if (reversed && !recipe->settings.causal()) return std::make_shared<const Filter>(recipe->filter.reversed_in_time());
  return {recipe, &recipe->filter};
}

bool Process::asks_for_the_same(const std::shared_ptr<const Recipe>& recipe, bool reversed) const {
  if (!now_.recipe) return false;
  const Settings &settings = recipe->settings, &before = now_.recipe->settings;
  return settings.regions == before.regions && settings.border == before.border &&
         settings.algorithm == before.algorithm && recipe->bank == now_.recipe->bank &&
         *in_order_of_arrival(recipe, reversed) == *now_.filter &&
         make_layout(info_, info_.height, settings.levels()) == now_.layout;
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
  if (asks_for_the_same(recipe, reversed)) {
    now_.recipe = recipe;
    now_.reversed = reversed;
    return false;
  }
  const FrameMemory::Scope scope(*memory_);
  Prepared next;
  try {
    next = prepare(memory_->backend(), recipe, reversed);
  } catch (const std::bad_alloc&) {
    if (!memory_->trim()) throw;
    drop_plans();  // there is no memory for the old plans and the new ones
    memory_->trim();
    next = prepare(memory_->backend(), recipe, reversed);
  }
  if (now_.regions || next.regions) memory_->drain();  // other plans may go while work is queued
  std::swap(now_, next);
  changes_nothing_ =
      hides_nothing(now_.recipe->settings.regions, now_.layout) ||
      (!now_.recipe->settings.regions.hides() && is_passthrough(*now_.filter, now_.recipe->bank, now_.layout));
  return true;
}

const char* Process::algorithm() const {
  if (now_.recipe && now_.recipe->settings.regions.hides()) return nick(now_.treatment.effect);
  const auto& plan = now_.plan[whole] ? now_.plan[whole] : now_.plan[top_field];
  return plan ? nick(plan->algorithm()) : nullptr;
}

bool Process::is_interlaced(GstBuffer* buffer) const {
  return info_.interlace_mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (info_.interlace_mode == GST_VIDEO_INTERLACE_MODE_MIXED &&
          GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

bool Process::pool_is_too_small(GstBuffer* buffer) const {
  // A buffer that keeps another one from going back to its pool.
  if (const GstParentBufferMeta* parent = gst_buffer_get_parent_buffer_meta(buffer))
    return pool_is_too_small(parent->buffer);
  // Whoever lends memory may have little of it, and waits until it is back.
  if (!buffer->pool) return is_lent(buffer);
  GstStructure* config = gst_buffer_pool_get_config(buffer->pool);
  guint max = 0;
  gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &max);
  gst_structure_free(config);
  // Beside the window's, upstream may keep one for itself, and needs one to go on with.
  return max != 0 && max < static_cast<guint>(now_.filter->depth()) + 2;
}

HeldFrame Process::import_frame(BufferPtr buffer, bool keep) {
  const bool detached = keep && pool_is_too_small(buffer.get());
  const FrameMap::Format format = format_of(buffer.get());
  return memory_->import_frame(std::move(buffer), format, detached);
}

double Process::luma_difference(HeldFrame& before, HeldFrame& after) {
  const FrameMemory::Scope scope(*memory_);
  const auto make = [&] { luma_difference_ = memory_->backend().make_luma_difference(luma_of(info_)); };
  try {
    if (!luma_difference_) make();
  } catch (const std::bad_alloc&) {
    if (!memory_->trim()) throw;
    make();
  } catch (const PlanError& error) {
    memory_->fail(error.what());
  }
  memory_->compare(before, after, [&] {
    if (const char* fault = luma_difference_->enqueue(before.image, after.image, memory_->stream()))
      memory_->fail(fault);
  });
  return mean_luma_difference(luma_difference_->sum(), info_);
}

void Process::run(FrameWindow& window, GstBuffer* out) {
  const bool interlaced = window.centre().interlaced;
  std::span<const Slab> slabs;
  if (!interlaced) slabs = now_.slabs;
  memory_->produce(window.frames(), {out, {info_, layout_, interlaced}, GST_MAP_WRITE, slabs, now_.filter->depth() > 1},
                   [&](const Image& image, const Slab* slab) {
                     if (slab)
                       enqueue_slab(*slab, window.images(), image);
                     else
                       enqueue(window.images(), interlaced, image);
                   });
}

void Process::enqueue(const Window& window, bool interlaced, const Image& out, std::span<const PixelRect> areas) {
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
  const FrameMemory::Scope scope(*memory_);
  void* stream = memory_->stream();
  const char* fault =
      areas.empty() ? plan.enqueue(window, out, stream) : plan.enqueue_areas(window, out, areas, stream);
  if (fault) memory_->fail(fault);
}

}  // namespace convolve
