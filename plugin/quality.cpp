// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "quality.hpp"

#include "log.hpp"

namespace convolve {

void Quality::forget() {
  earliest_ = GST_CLOCK_TIME_NONE;
  proportion_ = 1;
  processed_ = dropped_ = 0;
}

void Quality::update(GstEvent* event) {
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

bool Quality::too_late(const GstBuffer* frame) {
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

}  // namespace convolve
