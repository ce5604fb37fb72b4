// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "fault.hpp"
#include "log.hpp"

namespace convolve {
namespace {

std::optional<std::uint64_t> valid(GstClockTime time) {
  return GST_CLOCK_TIME_IS_VALID(time) ? std::optional<std::uint64_t>(time) : std::nullopt;
}

}  // namespace

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

void Stream::set_format(const GstVideoInfo& info) {
  process_.set_format(info);
  latch(true);
}

void Stream::latch(bool negotiating) {
  const int depth_before = process_.recipe() ? process_.filter().depth() : 0;
  if (process_.set_recipe(published(), trans_->segment.rate < 0)) {
    const Filter& filter = process_.filter();
    window_.set_shape(filter.depth(), filter.centre_t(), process_.recipe()->settings.border);
    // Upstream's pool has to grow with the window.
    if (!negotiating && filter.depth() > depth_before) gst_base_transform_reconfigure_sink(trans_);
    update_latency();
  }
  // Frames held from before may be copies on the device: they leave through a plan.
  set_passthrough(process_.changes_nothing() && window_.pending() == 0, negotiating);
  announce();
}

void Stream::set_passthrough(bool passthrough, bool negotiating) {
  if (passthrough == static_cast<bool>(gst_base_transform_is_passthrough(trans_))) return;
  gst_base_transform_set_passthrough(trans_, passthrough);
  if (negotiating) return;  // the allocation is decided right after
  gst_base_transform_reconfigure_src(trans_);
  gst_base_transform_reconfigure_sink(trans_);
  if (!gst_base_transform_reconfigure(trans_))
    throw ElementError(GST_STREAM_ERROR_FORMAT, "no allocation could be agreed on with downstream");
}

GstFlowReturn Stream::submit(BufferPtr buffer) {
  if (!gst_base_transform_reconfigure(trans_) || !process_.has_format())
    return GST_PAD_IS_FLUSHING(trans_->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;

  if (GST_BUFFER_IS_DISCONT(buffer.get())) {
    drain();
    process_.forget_regions();
  }
  const GstSegment& segment = trans_->segment;
  if (segment.format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer.get())) {
    const GstClockTime time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer.get()));
    if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(trans_), time);
  }
  if (process_.wants_context_of(buffer.get(), published()->settings.cuda_device_id)) adopt_context(buffer.get());
  latch(false);

  interval_.add(valid(GST_BUFFER_PTS(buffer.get())), valid(GST_BUFFER_DURATION(buffer.get())));
  update_latency();
  if (gst_base_transform_is_passthrough(trans_)) {
    HeldFrame frame;
    frame.buffer = std::move(buffer);
    window_.push(std::move(frame));
  } else {
    window_.push(process_.admit(std::move(buffer), process_.filter().depth() > 1));
    if (!window_.ready(false)) process_.settle(window_);
  }
  return GST_FLOW_OK;
}

void Stream::adopt_context(GstBuffer* buffer) {
  GST_INFO_OBJECT(trans_, "taking over the CUDA context of the buffers that arrive");
  drain();
  context_.replace(cuda_buffer_context(buffer));
  auto session = std::make_unique<CudaSession>(context_.get());
  auto backend = session->make_backend();
  process_.open(std::move(session), std::move(backend));
  gst_base_transform_reconfigure_src(trans_);
  if (!gst_base_transform_reconfigure(trans_))
    throw ElementError(GST_STREAM_ERROR_FORMAT, "no allocation could be agreed on with downstream");
}

GstFlowReturn Stream::generate(GstBuffer** out, bool draining) {
  *out = nullptr;
  push_due_events();
  while (window_.ready(draining)) {
    // Also of a frame that is too late: the next ones may go on with its regions.
    if (process_.has_regions()) treated_ = process_.update_regions(window_.centre().buffer.get());
    if (too_late(window_.centre().buffer.get())) {
      skipped_ = true;
      due_events_ = window_.advance();
      push_due_events();
      continue;
    }
    const GstFlowReturn flow = produce(out);
    if (flow != GST_FLOW_OK) return flow;
    due_events_ = window_.advance();
    ++processed_;
    if (skipped_) {
      *out = gst_buffer_make_writable(*out);
      GST_BUFFER_FLAG_SET(*out, GST_BUFFER_FLAG_DISCONT);
      skipped_ = false;
    }
    return GST_FLOW_OK;
  }
  return GST_FLOW_OK;
}

GstFlowReturn Stream::produce(GstBuffer** out) {
  const HeldFrame& centre = window_.centre();
  if (gst_base_transform_is_passthrough(trans_)) {
    *out = gst_buffer_ref(centre.buffer.get());
    return GST_FLOW_OK;
  }
  if (process_.has_regions()) return produce_regions(out);
  GstBuffer* buffer = nullptr;
  const GstFlowReturn flow = new_output(&buffer);
  if (flow != GST_FLOW_OK) return flow;
  BufferPtr owner(buffer);
  process_.run(window_, buffer);
  *out = owner.release();
  return GST_FLOW_OK;
}

// The frame itself where that can be, else a copy of it.
GstFlowReturn Stream::produce_regions(GstBuffer** out) {
  HeldFrame& centre = window_.centre();
  if (fits_downstream(centre.buffer.get())) {
    if (!treated_) {
      *out = gst_buffer_ref(centre.buffer.get());
      return GST_FLOW_OK;
    }
    if (process_.treat_in_place(window_)) {
      *out = gst_buffer_ref(centre.buffer.get());
      return GST_FLOW_OK;
    }
  }
  GstBuffer* buffer = nullptr;
  const GstFlowReturn flow = new_output(&buffer);
  if (flow != GST_FLOW_OK) return flow;
  BufferPtr owner(buffer);
  process_.treat_copy(window_, buffer, treated_);
  *out = owner.release();
  return GST_FLOW_OK;
}

// Whether downstream reads the frame as it lies.
bool Stream::fits_downstream(GstBuffer* buffer) const {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta || takes_video_meta_) return true;
  const GstVideoInfo& info = process_.info();
  for (guint p = 0; p < meta->n_planes; ++p)
    if (meta->stride[p] != info.stride[p] || meta->offset[p] != info.offset[p]) return false;
  return true;
}

GstFlowReturn Stream::new_output(GstBuffer** out) {
  const HeldFrame& centre = window_.centre();
  auto* base = GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  GstBuffer* buffer = nullptr;
  GstFlowReturn flow = base->prepare_output_buffer(trans_, centre.buffer.get(), &buffer);
  if (flow == GST_FLOW_ERROR && process_.session()) {
    process_.session()->trim();
    flow = base->prepare_output_buffer(trans_, centre.buffer.get(), &buffer);
  }
  if (flow == GST_FLOW_ERROR)
    throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT, "there is no memory for an output frame");
  *out = buffer;
  return flow;
}

void Stream::drain() {
  for (;;) {
    GstBuffer* out = nullptr;
    if (generate(&out, true) != GST_FLOW_OK || !out) break;
    if (gst_pad_push(trans_->srcpad, out) != GST_FLOW_OK) break;
  }
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
  interval_.cut();
  std::vector<EventPtr> events = window_.clear();
  std::move(due_events_.begin(), due_events_.end(), std::back_inserter(events));
  due_events_.clear();
  for (const EventPtr& event : events)
    if (gst_event_type_get_flags(GST_EVENT_TYPE(event.get())) & GST_EVENT_TYPE_STICKY)
      gst_pad_store_sticky_event(trans_->srcpad, event.get());
}

void Stream::forget_lateness() {
  earliest_ = GST_CLOCK_TIME_NONE;
  proportion_ = 1;
  processed_ = dropped_ = 0;
}

void Stream::reset() {
  process_.forget_regions();
  flush();
  forget_lateness();
  process_.clear_format();
  gst_base_transform_set_passthrough(trans_, FALSE);
  skipped_ = false;
  interval_ = {};
  latency_ = 0;
  announce();
}

void Stream::update_qos(GstEvent* event) {
  gdouble proportion = 1;
  GstClockTimeDiff difference = 0;
  GstClockTime timestamp = GST_CLOCK_TIME_NONE;
  gst_event_parse_qos(event, nullptr, &proportion, &difference, &timestamp);
  proportion_ = proportion;
  if (!GST_CLOCK_TIME_IS_VALID(timestamp))
    earliest_ = GST_CLOCK_TIME_NONE;
  else
    earliest_ = difference < 0 && timestamp < static_cast<GstClockTime>(-difference) ? 0 : timestamp + difference;
}

bool Stream::too_late(const GstBuffer* frame) {
  const GstSegment& segment = trans_->segment;
  const GstClockTime earliest = earliest_;
  if (!GST_CLOCK_TIME_IS_VALID(earliest) || segment.format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID(frame) ||
      !gst_base_transform_is_qos_enabled(trans_))
    return false;
  const GstClockTime running = gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame));
  if (!GST_CLOCK_TIME_IS_VALID(running) || running > earliest) return false;

  ++dropped_;
  GST_DEBUG_OBJECT(trans_, "skipping the output at %" GST_TIME_FORMAT ": late", GST_TIME_ARGS(GST_BUFFER_PTS(frame)));
  GstMessage* message = gst_message_new_qos(
      GST_OBJECT(trans_), FALSE, running, gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(frame)),
      GST_BUFFER_PTS(frame), GST_BUFFER_DURATION(frame));
  gst_message_set_qos_values(message, GST_CLOCK_DIFF(running, earliest), proportion_, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, processed_, dropped_);
  gst_element_post_message(GST_ELEMENT(trans_), message);
  return true;
}

GstClockTime Stream::frame_duration() const {
  const GstVideoInfo& info = process_.info();
  if (info.fps_n > 0) return gst_util_uint64_scale_int(GST_SECOND, info.fps_d, info.fps_n);
  return interval_.estimate();
}

void Stream::update_latency() {
  const GstClockTime latency = process_.has_format() ? window_.ahead() * frame_duration() : 0;
  if (latency_.exchange(latency) == latency) return;
  GST_INFO_OBJECT(trans_, "latency is now %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
  gst_element_post_message(GST_ELEMENT(trans_), gst_message_new_latency(GST_OBJECT(trans_)));
}

}  // namespace convolve
