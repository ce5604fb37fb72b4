// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stream's promises where pipelines are less than ideal: no framerate, gaps, settings that no plan can be made of,
// passthrough that comes while playing, corrupted frames, a start that fails.
#include "stream.hpp"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#include <algorithm>
#include <cstring>

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

ELEMENT_TEST(timestamps_at_the_ends_of_their_range_leave_a_latency_that_others_can_add_to) {
  std::mt19937 random(92);
  const GstVideoInfo info = without_framerate();
  Harness harness("preset=temporal-mean temporal-radius=3", info);
  for (const GstClockTime pts : {GstClockTime{0}, GST_CLOCK_TIME_NONE - 1, GstClockTime{0}, GST_CLOCK_TIME_NONE - 1}) {
    push_at(harness, random, info, pts);
    const GstClockTime latency = gst_harness_query_latency(harness.get());
    CHECK(latency <= G_MAXINT64, "latency is %" GST_TIME_FORMAT, GST_TIME_ARGS(latency));
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

// --- Gaps, drains and the position ---------------------------------------------------------------------------------

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

ELEMENT_TEST(the_position_after_eos_is_the_end_of_the_last_frame) {
  std::mt19937 random(85);
  const GstVideoInfo info = small();
  for (const char* properties : {"preset=temporal-mean temporal-radius=3", "preset=box-blur", "preset=identity"}) {
    Harness harness(properties, info);
    push_all(harness, random_stream(random, info, 10));
    harness.push_event(gst_event_new_eos());
    const Owned<GstPad> src(gst_element_get_static_pad(harness.element(), "src"));
    gint64 position = -1;
    CHECK(gst_pad_query_position(src.get(), GST_FORMAT_TIME, &position), "%s: no position", properties);
    CHECK(position == static_cast<gint64>(10 * frame_duration), "%s: position %" GST_TIME_FORMAT, properties,
          GST_TIME_ARGS(position));
    gint64 bytes = -1;
    CHECK(!gst_pad_query_position(src.get(), GST_FORMAT_BYTES, &bytes) || bytes != position, "%s: a time as bytes",
          properties);
  }
}

// --- Settings that cannot be planned -------------------------------------------------------------------------------

ELEMENT_TEST(a_forced_algorithm_that_cannot_serve_leaves_the_old_filter_and_auto_revives) {
  if (std::string(test_backend()) != "cpu") return;
  std::mt19937 random(86);
  const GstVideoInfo info = small();
  const Filtering old{random_kernel(random, 1, 3, 3, 6, 8)}, fresh{make_kernel(1, 1, 1, {2})};
  Harness harness(kernel_is(old.kernel), info);
  const auto check = [&](const Filtering& f, const char* when) {
    const Owned<GstBuffer> input = random_buffer(random, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: the stream stops", when);
    check_buffer(expected(f, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0, when);
  };
  check(old, "at the start");
  harness.set("algorithm", "cached-halo");  // none of the CPU's
  for (int i = 0; i < 3; ++i) check(old, "refused");
  const std::vector<Report> reports = harness.reports();
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu messages", reports.size());
  harness.set("kernel", "<<2>>");
  check(old, "refused with another kernel");
  harness.set("algorithm", "auto");
  check(fresh, "revived");
  CHECK(harness.errors().empty(), "an error");
}

ELEMENT_TEST(a_filter_that_was_refused_for_a_format_is_tried_anew_with_the_next) {
  std::mt19937 random(90);
  const GstVideoInfo info = small();
  GstVideoInfo views = info;
  GST_VIDEO_INFO_MULTIVIEW_MODE(&views) = GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME;
  const Filtering old{make_kernel(1, 1, 1, {1}, 2)}, fresh{make_kernel(2, 1, 1, {1, 2}, 4)};
  Harness harness(kernel_is(old.kernel), views);
  const auto check = [&](const Filtering& f, const char* when) {
    const Owned<GstBuffer> input = random_buffer(random, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: the stream stops", when);
    check_buffer(expected(f, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0, when);
  };
  check(old, "at the start");
  harness.set("kernel", text_of(fresh.kernel).c_str());  // over two frames, which would blend the views
  check(old, "refused");
  harness.set_caps(info);
  check(fresh, "with the next format");
  CHECK(harness.reports().size() == 1, "more than the warning");
}

ELEMENT_TEST(setting_a_property_to_what_it_is_makes_no_new_plan) {
  std::mt19937 random(87);
  const GstVideoInfo info = small();
  Harness harness("preset=gaussian-blur radius=2", info);
  push_all(harness, random_stream(random, info, 1));
  static int plans;
  plans = 0;
  const auto count = [](GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint, GObject*,
                        GstDebugMessage* message, gpointer) {
    if (level == GST_LEVEL_INFO && g_str_equal(gst_debug_category_get_name(category), "videoconvolve") &&
        std::strstr(gst_debug_message_get(message), " backend, "))
      ++plans;
  };
  gst_debug_set_threshold_for_name("videoconvolve", GST_LEVEL_INFO);
  (gst_debug_add_log_function)(count, nullptr, nullptr);
  for (int i = 0; i < 20; ++i) {
    harness.set("radius", "2");
    harness.set("n-threads", i % 2 ? "1" : "2");
    harness.set("amount", i % 2 ? "1" : "3");  // no part of this preset
    push_all(harness, random_stream(random, info, 1));
  }
  CHECK(plans == 0, "%d plans were made", plans);
  harness.set("radius", "3");
  push_all(harness, random_stream(random, info, 1));
  (gst_debug_remove_log_function)(count);
  CHECK(plans == 1, "%d plans for another radius", plans);
}

ELEMENT_TEST(a_start_that_failed_may_be_tried_again) {
  if (have_gpu()) return;
  const Owned<GstElement> element = make_element("backend=cpu");
  ElementBus bus(element.get());
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS, "no READY");
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  for (int i = 0; i < 3; ++i) {
    CHECK(gst_element_set_state(element.get(), GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, "start %d succeeds", i);
    CHECK(bus.errors().size() == 1, "start %d: not one error", i);
    gst_element_set_state(element.get(), GST_STATE_READY);
  }
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cpu");
  CHECK(gst_element_set_state(element.get(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE, "cpu does not start");
}

// --- Frames --------------------------------------------------------------------------------------------------------

ELEMENT_TEST(a_controlled_value_is_that_of_the_frame_that_leaves) {
  std::mt19937 random(88);
  const GstVideoInfo info = small();
  Harness harness("preset=temporal-mean temporal-radius=2 components=luma", info);
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  GstObject* object = GST_OBJECT(harness.element());
  gst_object_add_control_binding(object, gst_direct_control_binding_new_absolute(object, "bias", source));
  // 0 up to frame 3, half of the range from frame 4 on.
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 0);
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 4 * frame_duration, 0.5);
  gst_object_unref(source);
  Filtering plain{make_kernel(5, 1, 1, {1, 1, 1, 1, 1}, 5)}, biased = plain;
  biased.bias = 0.5;
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  std::vector<Frame> wanted = expected(plain, frames_of(input, info), info);
  const std::vector<Frame> later = expected(biased, frames_of(input, info), info);
  std::copy(later.begin() + 4, later.end(), wanted.begin() + 4);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  const std::vector<GstBuffer*> found = harness.tape().buffers();
  CHECK(found.size() == 8, "%zu outputs", found.size());
  for (std::size_t i = 0; i < 8; ++i)
    check_buffer(wanted[i], found[i], info, i < 4 ? 0 : 1, "frame " + std::to_string(i));
}

ELEMENT_TEST(a_frame_in_hand_when_passthrough_begins_leaves_in_the_layout_of_its_caps) {
  std::mt19937 random(89);
  const GstVideoInfo info = video_info("I420", 30, 22);
  Harness harness("preset=box-blur", info);
  for (int i = 0; i < 3; ++i) {
    if (i == 1) harness.set("preset", "identity");
    const Owned<GstBuffer> frame = random_buffer(random, info, i);
    Owned<GstBuffer> padded = relaid(random, frame.get(), info, {"padded", 24, 8});
    gst_buffer_add_parent_buffer_meta(padded.get(), frame.get());
    CHECK(harness.push(padded.release()) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output");
    CHECK(!gst_buffer_get_parent_buffer_meta(out.get()), "output %d, a copy, keeps its input's parent from its pool",
          i);
    if (i == 0) continue;
    const GstVideoMeta* meta = gst_buffer_get_video_meta(out.get());
    CHECK(!meta || (meta->stride[0] == info.stride[0] && meta->offset[1] == info.offset[1]),
          "frame %d has a stride of %d, its caps say %d", i, meta->stride[0], info.stride[0]);
    check_buffer(frame_of(frame.get(), info), out.get(), info, 0, "passed through");
  }
}

// The copy into that layout reads no further than the buffer reaches, whatever its meta says.
ELEMENT_TEST(a_frame_that_its_memory_does_not_hold_is_an_error_also_when_passthrough_begins) {
  std::mt19937 random(91);
  const GstVideoInfo info = video_info("I420", 30, 22);
  Harness harness("preset=box-blur", info);
  CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
  harness.set("preset", "identity");
  Owned<GstBuffer> bad = random_buffer(random, info, 1);
  gsize offset[GST_VIDEO_MAX_PLANES] = {info.offset[0], info.offset[1], info.size - 8};
  gint stride[GST_VIDEO_MAX_PLANES] = {info.stride[0], -info.stride[1], info.stride[2]};
  gst_buffer_add_video_meta_full(bad.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 30, 22, 3, offset,
                                 stride);
  CHECK(harness.push(bad.release()) == GST_FLOW_ERROR, "the frame is taken");
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.size() == 1 && errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT), "%zu errors", errors.size());
  CHECK(errors[0].text.find("plane 3") != std::string::npos, "the error says: %s", errors[0].text.c_str());
}

ELEMENT_TEST(outputs_made_of_a_corrupted_frame_are_marked_corrupted) {
  std::mt19937 random(90);
  const GstVideoInfo info = small();
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 9);
  GST_BUFFER_FLAG_SET(input[4].get(), GST_BUFFER_FLAG_CORRUPTED);
  Harness harness("preset=temporal-mean temporal-radius=2", info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  const std::vector<GstBuffer*> out = harness.tape().buffers();
  CHECK(out.size() == 9, "%zu outputs", out.size());
  for (int i = 0; i < 9; ++i)
    CHECK(static_cast<bool>(GST_BUFFER_FLAG_IS_SET(out[i], GST_BUFFER_FLAG_CORRUPTED)) == (i >= 2 && i <= 6),
          "output %d", i);
}

// A frame with the GAP flag holds nothing: what is made of it may, by a bias or by the frames beside it.
ELEMENT_TEST(no_output_that_was_filtered_carries_the_gap_flag) {
  std::mt19937 random(91);
  const GstVideoInfo info = small();
  struct {
    const char* properties;
    bool stays;
  } const cases[] = {{"preset=temporal-mean temporal-radius=1", false},
                     {"preset=box-blur", false},
                     {"regions=inside region-boxes=<<2,2,4,4>> region-effect=fill", false},
                     {"regions=inside region-boxes=<<2,2,4,4>> preset=temporal-mean", false},
                     {"regions=inside region-boxes=<<200,200,4,4>> region-effect=fill", true},
                     {"preset=identity", true}};
  for (const auto& [properties, stays] : cases) {
    std::vector<Owned<GstBuffer>> input = random_stream(random, info, 5);
    for (int i = 1; i < 4; ++i) GST_BUFFER_FLAG_SET(input[i].get(), GST_BUFFER_FLAG_GAP);
    Harness harness(properties, info);
    for (Owned<GstBuffer>& buffer : input) CHECK(harness.push(buffer.release()) == GST_FLOW_OK, "push failed");
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(out.size() == 5, "%zu outputs", out.size());
    for (int i = 0; i < 5; ++i)
      CHECK(static_cast<bool>(GST_BUFFER_FLAG_IS_SET(out[i], GST_BUFFER_FLAG_GAP)) == (stays && i >= 1 && i < 4),
            "%s: output %d", properties, i);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("stream");
}
