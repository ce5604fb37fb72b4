// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stream's promises where pipelines are less than ideal: gaps, drains, a start that fails.
#include "stream.hpp"

namespace element_test {
namespace {

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
