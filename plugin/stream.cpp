// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "crop.hpp"
#include "default_layout.hpp"
#include "element_error.hpp"
#include "log.hpp"

namespace convolve {
namespace {

std::optional<std::uint64_t> valid(GstClockTime time) {
  return GST_CLOCK_TIME_IS_VALID(time) ? std::optional<std::uint64_t>(time) : std::nullopt;
}

GstClockTime stream_time_of(GstBuffer* frame, const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(frame)) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
}

// Whose controllers this thread has set values. What handlers of these changes do to other elements is not theirs.
thread_local const void* set_by_controllers = nullptr;

}  // namespace

bool Stream::controllers_are_setting(const GObject* object) {
  return set_by_controllers == object;
}

std::shared_ptr<const Recipe> Stream::published() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void Stream::announce() {
  const auto tell = [&](std::atomic<const char*>& held, const char* now, const char* property) {
    const char* before = held.exchange(now);
    if (g_strcmp0(before, now) != 0) g_object_notify(G_OBJECT(trans_), property);
  };
  tell(active_backend_, process_.is_open() ? process_.backend().name() : nullptr, "active-backend");
  tell(active_algorithm_,
       !process_.is_open() || !process_.recipe()   ? nullptr
       : gst_base_transform_is_passthrough(trans_) ? "passthrough"
                                                   : process_.algorithm(),
       "active-algorithm");
}

// A controller's values belong to the frame that leaves.
void Stream::sync_controllers(GstBuffer* frame) {
  const GstClockTime time = stream_time_of(frame, trans_->segment);
  if (!GST_CLOCK_TIME_IS_VALID(time)) return;
  const void* before = std::exchange(set_by_controllers, trans_);
  gst_object_sync_values(GST_OBJECT(trans_), time);
  set_by_controllers = before;
  settle_controlled_();
}

// --- Frames --------------------------------------------------------------------------------------------------------

GstFlowReturn Stream::submit(BufferPtr buffer) {
  if (const GstFlowReturn flow = reconfigure(); flow != GST_FLOW_OK) {
    skipped_ |= flow == GST_BASE_TRANSFORM_FLOW_DROPPED;
    return flow;
  }

  if (GST_BUFFER_IS_DISCONT(buffer.get())) {
    drain();
    process_.forget_regions();
  }
  if (window_.pending() == 0) sync_controllers(buffer.get());  // it may decide whether the frame needs a plan
  if (process_.memory().should_move_to(buffer.get(), published()->settings.cuda_device_id))
    if (const GstFlowReturn flow = move_to_memory_of(buffer.get()); flow != GST_FLOW_OK) return flow;
  latch();
  settle_passthrough();
  if (const GstFlowReturn flow = renegotiate(); flow != GST_FLOW_OK) return flow;
  announce();

  interval_.add(valid(GST_BUFFER_PTS(buffer.get())), valid(GST_BUFFER_DURATION(buffer.get())));
  update_latency();
  if (gst_base_transform_is_passthrough(trans_)) {
    HeldFrame frame;
    frame.buffer = std::move(buffer);
    window_.push(std::move(frame));
    return GST_FLOW_OK;
  }
  if (depth_grew_ && process_.pool_is_too_small(buffer.get())) gst_base_transform_reconfigure_sink(trans_);
  depth_grew_ = false;
  HeldFrame frame = process_.import_frame(std::move(buffer), process_.filter().depth() > 1);
  if (is_scene_cut(frame)) {  // what stands behind a cut is outside of the stream, as behind its end
    has_frame_in_hand_ = true;
    const auto let_go = [](bool* flag) { *flag = false; };
    const std::unique_ptr<bool, decltype(let_go)> guard(&has_frame_in_hand_, let_go);
    drain();
  }
  window_.push(std::move(frame));
  if (!window_.ready(false)) process_.finish_uploads(window_);
  return GST_FLOW_OK;
}

double Stream::scene_threshold_of(GstBuffer* frame) const {
  double threshold = process_.recipe()->settings.scene_threshold;
  const GstClockTime time = stream_time_of(frame, trans_->segment);
  GstControlBinding* binding = gst_object_get_control_binding(GST_OBJECT(trans_), "scene-threshold");
  if (!binding) return threshold;
  if (GST_CLOCK_TIME_IS_VALID(time) && !gst_control_binding_is_disabled(binding))
    if (GValue* value = gst_control_binding_get_value(binding, time)) {
      threshold = g_value_get_double(value);
      g_value_unset(value);
      g_free(value);
    }
  gst_object_unref(binding);
  return threshold;
}

bool Stream::is_scene_cut(HeldFrame& frame) {
  if (process_.filter().depth() == 1 || window_.frames().empty()) return false;
  const double threshold = scene_threshold_of(frame.buffer.get());
  if (threshold == 0) return false;
  return process_.luma_difference(window_.frames().back(), frame) > threshold;
}

GstFlowReturn Stream::push_outputs(bool draining) {
  push_due_events();
  while (window_.ready(draining)) {
    // submit() has seen to this for a frame that passes through.
    if (!gst_base_transform_is_passthrough(trans_)) {
      sync_controllers(window_.centre().buffer.get());
      latch();
      if (const GstFlowReturn flow = renegotiate(); flow != GST_FLOW_OK) return flow;
      announce();
      if (!window_.ready(draining)) break;
    }
    // Also of a frame that is too late: the next ones may go on with its regions.
    if (process_.has_regions()) treated_ = process_.update_regions(window_.centre().buffer.get());
    BufferPtr out;
    GstFlowReturn flow = GST_FLOW_OK;
    {
      // Whatever comes of it, this was the frame's turn.
      struct Advance {
        Stream& stream;
        ~Advance() { stream.due_events_ = stream.window_.advance(); }
      } advance{*this};
      if (quality_.too_late(window_.centre().buffer.get()))
        skipped_ = true;
      else
        flow = produce(out);
    }
    if (out) flow = push(std::move(out));
    if (flow != GST_FLOW_OK) return flow;
    push_due_events();
  }
  return GST_FLOW_OK;
}

GstFlowReturn Stream::produce(BufferPtr& out) {
  HeldFrame& centre = window_.centre();
  if (gst_base_transform_is_passthrough(trans_)) {
    out = in_downstream_layout(std::move(centre.buffer));
    return GST_FLOW_OK;
  }
  if (process_.has_regions()) return produce_regions(out);
  const GstFlowReturn flow = new_output(out);
  if (flow != GST_FLOW_OK) return flow;
  process_.run(window_, out.get());
  if (window_.sees_flag(GST_BUFFER_FLAG_CORRUPTED)) GST_BUFFER_FLAG_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED);
  return GST_FLOW_OK;
}

// The frame itself where that can be, else a copy of it.
GstFlowReturn Stream::produce_regions(BufferPtr& out) {
  HeldFrame& centre = window_.centre();
  GstBuffer* buffer = centre.buffer.get();
  // A crop meta makes the part inside of the crop the picture: what leaves holds that alone.
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const bool cropped = crop && crops_to_caps(*crop, process_.info());
  if (cropped && !treated_ && downstream_takes_video_meta_ && !gpu_.holds(buffer) &&
      process_.leaves_as_it_came(centre)) {
    out.reset(view_of_picture(buffer, process_.format_of(buffer)));
    if (out) return GST_FLOW_OK;
  }
  const bool fits = process_.leaves_as_it_came(centre) && !cropped &&
                    (downstream_takes_video_meta_ || gpu_.holds(buffer) || has_default_layout(buffer, process_.info()));
  if (fits && (!treated_ || process_.treat_in_place(window_))) {
    if (treated_) GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_GAP);  // as the base class does for other outputs
    out.reset(gst_buffer_ref(centre.buffer.get()));
    return GST_FLOW_OK;
  }
  const GstFlowReturn flow = new_output(out);
  if (flow != GST_FLOW_OK) return flow;
  process_.treat_copy(window_, out.get(), treated_);
  if (treated_ && window_.sees_flag(GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET(out.get(), GST_BUFFER_FLAG_CORRUPTED);
  return GST_FLOW_OK;
}

// A buffer of downstream's pool, or of ours, for the output of the window's centre. Throws where there is no memory.
GstFlowReturn Stream::new_output(BufferPtr& out) {
  const HeldFrame& centre = window_.centre();
  auto* base = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  GstBuffer* buffer = nullptr;
  GstFlowReturn flow = base->prepare_output_buffer(trans_, centre.buffer.get(), &buffer);
  if (flow == GST_FLOW_ERROR && process_.memory().trim())
    flow = base->prepare_output_buffer(trans_, centre.buffer.get(), &buffer);
  if (flow == GST_FLOW_ERROR)
    throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT, "there is no memory for an output frame");
  out.reset(buffer);
  if (buffer) {
    const Corner corner = corner_of_picture(centre.buffer.get(), process_.info());
    move_regions(buffer, corner);
    turn_field_order(buffer, corner, process_.format_of(centre.buffer.get()));
  }
  return flow;
}

GstFlowReturn Stream::push(BufferPtr out) {
  quality_.count_output();
  if (skipped_) {
    out.reset(gst_buffer_make_writable(out.release()));
    GST_BUFFER_FLAG_SET(out.get(), GST_BUFFER_FLAG_DISCONT);
    skipped_ = false;
  }
  GstSegment& segment = trans_->segment;
  if (segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(out.get())) {
    GstClockTime end = GST_BUFFER_PTS(out.get());
    if (segment.rate > 0 && GST_BUFFER_DURATION_IS_VALID(out.get())) end += GST_BUFFER_DURATION(out.get());
    if (GST_CLOCK_TIME_IS_VALID(segment.stop)) end = std::min<GstClockTime>(end, segment.stop);
    segment.position = end;
    position_ = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, end);
  }
  const GstFlowReturn flow = gst_pad_push(trans_->srcpad, out.release());
  // Downstream, near or far, has left the caps. The next frame asks again.
  const bool left = flow == GST_FLOW_NOT_NEGOTIATED &&
                    (gst_pad_needs_reconfigure(trans_->srcpad) || downstream_refuses(trans_->sinkpad)) &&
                    excuse_left_caps();
  if (!left) return flow;
  gst_base_transform_reconfigure_src(trans_);
  skipped_ = true;
  return GST_FLOW_OK;
}

BufferPtr Stream::in_downstream_layout(BufferPtr buffer) {
  if (!passthrough_began_while_playing_ || downstream_takes_video_meta_ || gpu_.holds(buffer.get()) ||
      has_default_layout(buffer.get(), process_.info()))
    return buffer;
  if (!asked_for_downstream_layout_) {
    asked_for_downstream_layout_ = true;
    gst_base_transform_reconfigure_sink(trans_);
  }
  BufferPtr copy(copy_to_default_layout(buffer.get(), process_.format_of(buffer.get())));
  if (!copy)
    throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                       "there is no memory to copy a frame to the layout of its caps");
  return copy;
}

void Stream::drain() {
  push_outputs(true);
  push_due_events();
  flush();
}

bool Stream::hold_event(GstEvent* event) {
  if (window_.pending() == 0) return false;
  window_.push_event(EventPtr(event));
  return true;
}

void Stream::push_due_events() {
  std::vector<EventPtr> events;
  events.swap(due_events_);
  for (EventPtr& event : events) gst_pad_push_event(trans_->srcpad, event.release());
}

void Stream::flush() {
  std::vector<EventPtr> events = window_.clear();
  std::move(due_events_.begin(), due_events_.end(), std::back_inserter(events));
  due_events_.clear();
  for (const EventPtr& event : events)
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event.get())) & GST_EVENT_TYPE_STICKY)
      gst_pad_store_sticky_event(trans_->srcpad, event.get());
  interval_.cut();
}

void Stream::restart() {
  flush();
  quality_.forget();
  frames_in_left_caps_ = 0;
  position_ = GST_CLOCK_TIME_NONE;
}

void Stream::reset() {
  process_.forget_regions();
  restart();
  process_.clear_format();
  gst_base_transform_set_passthrough(trans_, FALSE);
  in_force_.reset();
  refused_.reset();
  refusal_.clear();
  skipped_ = depth_grew_ = allocation_is_stale_ = caps_are_agreed_ = false;
  times_followed_ = times_asked_;
  downstream_answered_upstream_ = downstream_takes_video_meta_ = false;
  passthrough_began_while_playing_ = asked_for_downstream_layout_ = false;
  interval_ = {};
  latency_ = 0;
  if (fell_back_) process_.close();  // the next start tries CUDA again
  fell_back_ = false;
  announce();
}

void Stream::update_latency() {
  GstClockTime latency = 0;
  if (process_.has_format()) {
    const GstVideoInfo& info = process_.info();
    const GstClockTime interval = info.fps_n > 0 && info.fps_d > 0
                                      ? gst_util_uint64_scale_int(GST_SECOND, info.fps_d, info.fps_n)
                                      : interval_.estimate();
    // Timestamps may be any numbers. Half of the range is left to what others add.
    latency = static_cast<GstClockTime>(window_.ahead()) * std::min<GstClockTime>(interval, G_MAXINT64 / max_depth);
  }
  if (latency_.exchange(latency) == latency) return;
  GST_INFO_OBJECT(trans_, "latency is now %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
  gst_element_post_message(GST_ELEMENT(trans_), gst_message_new_latency(GST_OBJECT(trans_)));
}

}  // namespace convolve
