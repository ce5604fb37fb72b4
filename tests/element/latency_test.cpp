// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Latency, filters that change their depth while playing, and late outputs under QoS.
#include <algorithm>

#include "stream.hpp"

namespace element_test {
namespace {

// Ends the stream: one output for each of so many inputs has left, in their order.
void check_each_leaves_once(Harness& harness, int inputs) {
  harness.push_event(gst_event_new_eos());
  const std::vector<GstBuffer*> out = harness.tape().buffers();
  CHECK(std::ssize(out) == inputs, "%zu outputs for %d inputs: %s", out.size(), inputs, harness.tape().text().c_str());
  for (int i = 0; i < inputs; ++i)
    CHECK(GST_BUFFER_PTS(out[i]) == i * frame_duration, "the order is %s", harness.tape().text().c_str());
}

// --- Settings that change ------------------------------------------------------------------------------------------

ELEMENT_TEST(a_depth_that_changes_while_playing_loses_no_frame_and_tells_the_new_latency) {
  std::mt19937 random(47);
  const GstVideoInfo info = small();
  const char* kernels[] = {"<<<1>>,<<2>>,<<4>>>", "<<1>>", "<<<1>>,<<1>>,<<1>>,<<1>>,<<1>>>",
                           "<<<1>>,<<1>>>",       "<<2>>", "<<<1>>,<<2>>,<<4>>>"};
  const int ahead[] = {1, 0, 2, 0, 0, 1};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 30);
  Harness harness("preset=identity", info);
  push_all(harness, input, 0, 1);
  take_reports(harness.bus(), GST_MESSAGE_ANY);
  int before = 0;
  for (int i = 0; i < 6; ++i) {
    harness.set("kernel", kernels[i]);
    push_all(harness, input, 1 + 4 * i, 5 + 4 * i);
    const std::size_t messages = take_reports(harness.bus(), GST_MESSAGE_LATENCY).size();
    CHECK((messages > 0) == (ahead[i] != before), "kernel %s after %d frames ahead: %zu latency messages", kernels[i],
          before, messages);
    const GstClockTime latency = gst_harness_query_latency(harness.get());
    CHECK(latency == ahead[i] * frame_duration, "kernel %s: latency %" GST_TIME_FORMAT, kernels[i],
          GST_TIME_ARGS(latency));
    before = ahead[i];
  }
  push_all(harness, input, 25);
  check_each_leaves_once(harness, 30);
}

ELEMENT_TEST(a_window_that_turns_causal_while_playing_loses_no_frame) {
  std::mt19937 random(48);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 20);
  Harness harness(kernel_is(five()), info);
  for (int i = 0; i < 20; ++i) {
    if (i % 5 == 0) harness.set("window", i % 2 ? "causal" : "centered");
    push_all(harness, input, i, i + 1);
  }
  check_each_leaves_once(harness, 20);
}

ELEMENT_TEST(new_taps_of_the_same_depth_take_hold_at_the_next_output) {
  std::mt19937 random(49);
  const GstVideoInfo info = small();
  const Filtering first{three()}, second{make_kernel(3, 1, 1, {4, 2, 1}, 8)};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  Harness harness(kernel_is(first.kernel), info);
  push_all(harness, input, 0, 4);
  harness.set("kernel", text_of(second.kernel).c_str());
  push_all(harness, input, 4);
  harness.push_event(gst_event_new_eos());
  std::vector<Frame> wanted = expected(first, frames_of(input, info), info);
  const std::vector<Frame> later = expected(second, frames_of(input, info), info);
  std::copy(later.begin() + 3, later.end(), wanted.begin() + 3);
  check_tape(harness, wanted, input, info, "new taps");
}

// --- Latency ---------------------------------------------------------------------------------------------------

struct Delay {
  const char* properties;
  int frames;
};
constexpr Delay delays[] = {
    {"preset=identity", 0},
    {"preset=sharpen", 0},
    {"preset=temporal-mean", 1},
    {"preset=temporal-mean temporal-radius=7", 7},
    {"preset=temporal-mean window=causal", 0},
    {"preset=temporal-denoise temporal-radius=2", 2},
    {"preset=temporal-difference", 0},
    {"kernel=\"<<<1>>,<<1>>,<<1>>,<<1>>>\"", 1},
    {"kernel=\"<<<1>>,<<1>>,<<1>>,<<1>>>\" operation=convolve", 2},
    {"kernel=\"<<<1>>,<<1>>,<<1>>,<<1>>>\" window=causal", 0},
};

ELEMENT_TEST_ROWS(a_live_pipeline_is_told_the_frames_after_the_centre_as_latency, std::size(delays)) {
  std::mt19937 random(50);
  const GstVideoInfo info = small();
  Harness harness(delays[row].properties);
  gst_harness_set_live(harness.get(), TRUE);
  gst_harness_set_upstream_latency(harness.get(), 7 * GST_MSECOND);
  harness.set_caps(info);
  CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
  const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "src"));
  const Owned<GstQuery> query(gst_query_new_latency());
  CHECK(gst_pad_query(pad.get(), query.get()), "the LATENCY query fails");
  gboolean live = FALSE;
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query.get(), &live, &least, &most);
  const GstClockTime wanted = 7 * GST_MSECOND + delays[row].frames * frame_duration;
  CHECK(live && least == wanted, "%s: latency is %" GST_TIME_FORMAT " instead of %" GST_TIME_FORMAT,
        delays[row].properties, GST_TIME_ARGS(least), GST_TIME_ARGS(wanted));
  CHECK(most == GST_CLOCK_TIME_NONE || most >= least, "%s: at most %" GST_TIME_FORMAT, delays[row].properties,
        GST_TIME_ARGS(most));
}

ELEMENT_TEST_ROWS(a_pipeline_that_is_not_live_is_told_the_same, std::size(delays)) {
  const Owned<GstElement> pipeline =
      parse("videotestsrc num-buffers=40 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! ${convolve} " +
            std::string(delays[row].properties) + " name=f ! fakesink name=s sync=false");
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  CHECK(gst_element_get_state(pipeline.get(), nullptr, nullptr, 5 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS,
        "%s: no preroll", delays[row].properties);
  const Owned<GstElement> filter(gst_bin_get_by_name(GST_BIN(pipeline.get()), "f"));
  GstClockTime latency[2];
  for (const char* name : {"sink", "src"}) {
    const Owned<GstPad> pad(gst_element_get_static_pad(filter.get(), name));
    const Owned<GstQuery> query(gst_query_new_latency());
    CHECK(*name == 's' && name[1] == 'i' ? gst_pad_peer_query(pad.get(), query.get())
                                         : gst_pad_query(pad.get(), query.get()),
          "the LATENCY query fails");
    gboolean live = TRUE;
    gst_query_parse_latency(query.get(), &live, &latency[name[1] == 'i' ? 0 : 1], nullptr);
    CHECK(!live, "%s: live", delays[row].properties);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  CHECK(latency[1] - latency[0] == delays[row].frames * frame_duration, "%s: latency is %" GST_TIME_FORMAT,
        delays[row].properties, GST_TIME_ARGS(latency[1] - latency[0]));
}

GstPadProbeReturn answer_latency(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return GST_PAD_PROBE_OK;
  gst_query_set_latency(query, TRUE, 10 * GST_MSECOND, 50 * GST_MSECOND);
  return GST_PAD_PROBE_HANDLED;
}

ELEMENT_TEST(a_finite_maximum_of_the_latency_grows_as_the_minimum_does) {
  Harness harness("preset=temporal-mean temporal-radius=3", small());
  const Owned<GstPad> sink(gst_element_get_static_pad(harness.element(), "sink")),
      src(gst_element_get_static_pad(harness.element(), "src"));
  gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, answer_latency, nullptr, nullptr);
  const Owned<GstQuery> query(gst_query_new_latency());
  CHECK(gst_pad_query(src.get(), query.get()), "the LATENCY query fails");
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query.get(), nullptr, &least, &most);
  CHECK(least == 10 * GST_MSECOND + 3 * frame_duration && most == 50 * GST_MSECOND + 3 * frame_duration,
        "latency from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT, GST_TIME_ARGS(least), GST_TIME_ARGS(most));
}

// --- QoS -------------------------------------------------------------------------------------------------------

ELEMENT_TEST(a_late_output_is_skipped_but_its_frame_still_feeds_the_window) {
  std::mt19937 random(51);
  const GstVideoInfo info = small();
  const Filtering f{causal(three())};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 10);
  const std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
  Harness harness(kernel_is(three()) + "window=causal qos=true", info);
  push_all(harness, input, 0, 2);
  // The sink was late by 150 ms with the frame of 40 ms: nothing before 190 ms or so can be in time.
  gst_harness_push_upstream_event(harness.get(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 150 * GST_MSECOND, 40 * GST_MSECOND));
  push_all(harness, input, 2);
  harness.push_event(gst_event_new_eos());
  const std::vector<GstBuffer*> out = harness.tape().buffers();
  CHECK(out.size() >= 3 && out.size() < 10, "%zu outputs of 10: %s", out.size(), harness.tape().text().c_str());
  for (GstBuffer* buffer : out) {
    const auto index = static_cast<std::size_t>(GST_BUFFER_PTS(buffer) / frame_duration);
    check_buffer(wanted[index], buffer, info, 0, "frame " + std::to_string(index) + " of " + harness.tape().text());
  }
  // Each output that is left out is told of: which, and how many came and did not come until then.
  guint64 told = 0;
  while (Owned<GstMessage> message{gst_bus_pop_filtered(harness.bus(), GST_MESSAGE_QOS)}) {
    guint64 timestamp = 0, processed = 0, dropped = 0;
    gst_message_parse_qos(message.get(), nullptr, nullptr, nullptr, &timestamp, nullptr);
    GstFormat format = GST_FORMAT_UNDEFINED;
    gst_message_parse_qos_stats(message.get(), &format, &processed, &dropped);
    gint64 jitter = 0;
    gdouble proportion = 0;
    gst_message_parse_qos_values(message.get(), &jitter, &proportion, nullptr);
    const auto came = static_cast<guint64>(
        std::count_if(out.begin(), out.end(), [&](GstBuffer* buffer) { return GST_BUFFER_PTS(buffer) < timestamp; }));
    CHECK(format == GST_FORMAT_BUFFERS && dropped == ++told && processed == came,
          "%" G_GUINT64_FORMAT " came and %" G_GUINT64_FORMAT " did not at %" GST_TIME_FORMAT, processed, dropped,
          GST_TIME_ARGS(timestamp));
    CHECK(jitter >= 0 && proportion == 2.0, "jitter %" G_GINT64_FORMAT ", proportion %g", jitter, proportion);
  }
  CHECK(told > 0 && told + out.size() == input.size(), "%" G_GUINT64_FORMAT " QoS messages", told);
}

ELEMENT_TEST(a_flush_forgets_lateness) {
  std::mt19937 random(56);
  const GstVideoInfo info = small();
  for (const char* properties : {"preset=box-blur qos=true", "preset=temporal-mean qos=true"}) {
    Harness harness(properties, info);
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 6);
    push_all(harness, input);
    gst_harness_push_upstream_event(harness.get(),
                                    gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 5 * GST_SECOND, 40 * GST_MSECOND));
    harness.flush();
    harness.tape().clear();
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    CHECK(harness.tape().buffer_count() == 6, "%s: %zu outputs for 6 inputs", properties,
          harness.tape().buffer_count());
  }
}

ELEMENT_TEST(the_output_after_a_skipped_one_is_marked_discont) {
  std::mt19937 random(52);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 10);
  Harness harness("preset=box-blur qos=true", info);
  push_all(harness, input, 0, 2);
  gst_harness_push_upstream_event(harness.get(),
                                  gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 150 * GST_MSECOND, 40 * GST_MSECOND));
  push_all(harness, input, 2);
  const std::vector<GstBuffer*> out = harness.tape().buffers();
  CHECK(out.size() > 2 && out.size() < 10, "%zu outputs of 10", out.size());
  CHECK(GST_BUFFER_FLAG_IS_SET(out[2], GST_BUFFER_FLAG_DISCONT), "%s: no DISCONT", harness.tape().text().c_str());
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("latency");
}
