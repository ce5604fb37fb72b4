// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The latency without a framerate, and the stream's promises on gaps, drains and a start that fails.
#include "stream.hpp"

namespace element_test {
namespace {

GstVideoInfo without_framerate() {
  GstVideoInfo info = small();
  GST_VIDEO_INFO_FPS_N(&info) = 0;
  GST_VIDEO_INFO_FPS_D(&info) = 1;
  return info;
}

// --- Latency -------------------------------------------------------------------------------------------------------

void push_at(Harness& harness, std::mt19937& random, const GstVideoInfo& info, GstClockTime pts,
             GstClockTime duration = GST_CLOCK_TIME_NONE) {
  Owned<GstBuffer> buffer = random_buffer(random, info);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = duration;
  CHECK(harness.push(buffer.release()) == GST_FLOW_OK, "push failed");
}

ELEMENT_TEST(without_framerate_and_durations_the_latency_comes_from_timestamps) {
  std::mt19937 random(80);
  const GstVideoInfo info = without_framerate();
  Harness harness("preset=temporal-mean temporal-radius=7", info);
  CHECK(gst_harness_query_latency(harness.get()) > 0, "frames wait, and the latency is 0");
  for (int i = 0; i < 20; ++i) push_at(harness, random, info, i * 20 * GST_MSECOND);
  const GstClockTime latency = gst_harness_query_latency(harness.get());
  CHECK(latency == 7 * 20 * GST_MSECOND, "latency is %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
}

ELEMENT_TEST(one_absurd_duration_or_pause_does_not_keep_the_latency_absurd) {
  std::mt19937 random(81);
  const GstVideoInfo info = without_framerate();
  for (const bool pause : {false, true}) {
    Harness harness("preset=temporal-mean temporal-radius=3", info);
    for (int i = 0; i < 40; ++i)
      push_at(harness, random, info, (i * 40 + (pause && i > 0 ? 20000 : 0)) * GST_MSECOND,
              i == 0 ? 20 * GST_SECOND : 40 * GST_MSECOND);
    const GstClockTime latency = gst_harness_query_latency(harness.get());
    CHECK(latency == 3 * 40 * GST_MSECOND, "latency is %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
  }
}

ELEMENT_TEST(jitter_of_timestamps_is_no_flood_of_latency_messages) {
  std::mt19937 random(82);
  const GstVideoInfo info = without_framerate();
  Harness harness("preset=temporal-mean temporal-radius=3", info);
  take_reports(harness.bus(), GST_MESSAGE_ANY);
  std::uniform_int_distribution<int> jitter(-3, 3);
  for (int i = 0; i < 300; ++i) push_at(harness, random, info, (i * 33 + 10 + jitter(random)) * GST_MSECOND);
  const std::size_t messages = take_reports(harness.bus(), GST_MESSAGE_LATENCY).size();
  CHECK(messages >= 1 && messages <= 12, "%zu latency messages for 300 frames", messages);
  const GstClockTime latency = gst_harness_query_latency(harness.get());
  CHECK(latency >= 3 * 30 * GST_MSECOND && latency <= 3 * 42 * GST_MSECOND, "latency is %" GST_TIME_FORMAT,
        GST_TIME_ARGS(latency));
}

ELEMENT_TEST(a_gap_leaves_at_once_behind_the_outputs_of_all_frames_held) {
  std::mt19937 random(83);
  const GstVideoInfo info = small();
  Harness harness("preset=temporal-mean temporal-radius=7", info);
  harness.tape().clear();
  push_all(harness, random_stream(random, info, 2));
  harness.push_event(gst_event_new_gap(80 * GST_MSECOND, 40 * GST_MSECOND));
  const std::string tape = harness.tape().text();
  CHECK(tape.ends_with("0 40 gap"), "the tape is %s", tape.c_str());
}

ELEMENT_TEST(a_drain_query_is_answered_after_the_outputs_of_all_frames_held) {
  std::mt19937 random(84);
  const GstVideoInfo info = small();
  Harness harness("preset=temporal-mean temporal-radius=3", info);
  push_all(harness, random_stream(random, info, 3));
  CHECK(harness.tape().buffer_count() == 0, "outputs are early");
  const Owned<GstQuery> query(gst_query_new_drain());
  const Owned<GstPad> sink(gst_element_get_static_pad(harness.element(), "sink"));
  gst_pad_query(sink.get(), query.get());
  CHECK(harness.tape().buffer_count() == 3, "%zu outputs for 3 inputs", harness.tape().buffer_count());
}

ELEMENT_TEST(a_start_that_failed_may_be_tried_again) {
  if (have_gpu()) return;
  const Owned<GstElement> element = make_element("backend=cpu");
  const Owned<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS, "no READY");
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  for (int i = 0; i < 3; ++i) {
    CHECK(gst_element_set_state(element.get(), GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, "start %d succeeds", i);
    CHECK(take_reports(bus.get(), GST_MESSAGE_ERROR).size() == 1, "start %d: not one error", i);
    gst_element_set_state(element.get(), GST_STATE_READY);
  }
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  CHECK(gst_element_set_state(element.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE, "cpu does not start");
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("stream");
}
