// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What is set before the first frame, what arrives while the element stops, and what its neighbours may do to it while
// it plays: link it anew, lock its state, take it out of its bin, change what they accept. None of it is an error.
#include <atomic>
#include <chrono>
#include <future>

#include "stream.hpp"

namespace element_test {
namespace {

// --- Starts ----------------------------------------------------------------------------------------------------

// From READY on there is an old filter that goes on, be it before the first caps or after a stop.
ELEMENT_TEST(half_of_a_pair_set_before_the_first_caps_leaves_the_filter_of_the_start) {
  const GstVideoInfo info = small();
  const Filtering f{make_kernel(1, 1, 3, {-1, 0, 2})};
  Harness harness(kernel_is(f.kernel));  // in PLAYING, with no caps yet
  std::mt19937 random(81);
  const auto check = [&](const char* when, const Filtering& wanted, std::size_t warnings) {
    const Owned<GstBuffer> input = random_buffer(random, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: push failed", when);
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "%s: no output", when);
    check_buffer(expected(wanted, frame_of(input.get(), info), info), out.get(), info, 0, when);
    const std::vector<Report> reports = harness.reports();
    CHECK(reports.size() == warnings, "%s: %zu reports", when, reports.size());
    for (const Report& report : reports)
      CHECK(report.type == GST_MESSAGE_WARNING && report.text.find("combine is none") != std::string::npos, "%s: %s",
            when, report.text.c_str());
  };
  harness.set("bank", "<<<-1,0,1>>,<<1,0,0>>>");
  harness.set_caps(info);
  check("half a bank before the first caps", f, 1);
  check("still half a bank", f, 0);
  for (const GstState down : {GST_STATE_READY, GST_STATE_PAUSED}) {
    gst_element_set_state(harness.element(), down);
    CHECK(gst_element_set_state(harness.element(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE, "no restart");
    if (down == GST_STATE_READY) {
      gst_harness_set_src_caps(harness.get(), gst_video_info_to_caps(&info));
      harness.push_segment();
    }
    check("half a bank after a restart", f, down == GST_STATE_READY ? 1 : 0);
  }
  harness.set("combine", "max-abs");
  harness.set("bank", "<<<1,0,0>>,<<0,0,0>>>");
  check("a bank", Filtering{make_kernel(1, 1, 3, {1, 0, 0})}, 0);
}

// --- Stops -----------------------------------------------------------------------------------------------------

// Upstream's thread, which goes on while the element stops.
struct Upstream {
  GstPad* pad;
  std::atomic<bool> asked = false;
  std::future<bool> answer;

  bool ask() const {
    const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
    const Owned<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
    return gst_pad_peer_query(pad, query.get());
  }

  // The element has forgotten its stream by now, and its sink pad is not through with its stop yet.
  static void stopped(GObject*, GParamSpec*, gpointer data) {
    auto& self = *static_cast<Upstream*>(data);
    if (self.asked.exchange(true)) return;
    self.answer = std::async(std::launch::async, [&self] { return self.ask(); });
    self.answer.wait_for(std::chrono::milliseconds(500));
  }
};

ELEMENT_TEST(an_allocation_query_amid_a_stop_is_refused_and_changes_nothing) {
  const GstVideoInfo info = small();
  Harness harness("preset=temporal-mean", info);
  std::mt19937 random(80);
  push_all(harness, random_stream(random, info, 3));
  CHECK(!harness.string("active-algorithm").empty(), "nothing runs");
  const Owned<GstPad> sink(gst_element_get_static_pad(harness.element(), "sink"));
  const Owned<GstPad> source(gst_element_get_static_pad(harness.element(), "src"));
  gst_pad_mark_reconfigure(source.get());  // so that the query would settle the caps anew first
  Upstream upstream{gst_pad_get_peer(sink.get()), false, {}};
  const Owned<GstPad> owner(upstream.pad);
  const gulong id =
      g_signal_connect(harness.element(), "notify::active-algorithm", G_CALLBACK(Upstream::stopped), &upstream);
  gst_element_set_state(harness.element(), GST_STATE_READY);
  g_signal_handler_disconnect(harness.element(), id);
  CHECK(upstream.asked, "the stop did not tell that nothing runs");
  CHECK(!upstream.answer.get(), "a stopped element answers an ALLOCATION query");
  const std::string runs = harness.string("active-algorithm");
  CHECK(runs.empty(), "a stopped element runs %s", runs.c_str());
  const std::vector<Report> warnings = harness.warnings();
  CHECK(warnings.empty(), "the stop is reported as \"%s\"", warnings[0].text.c_str());
  CHECK(!upstream.ask(), "an element in READY answers an ALLOCATION query");
}

// --- Pull mode -----------------------------------------------------------------------------------------------------

GstFlowReturn give_range(GstPad*, GstObject*, guint64, guint, GstBuffer** buffer) {
  *buffer = gst_buffer_new();
  return GST_FLOW_OK;
}

// A sink that could pull, behind an upstream that could be pulled from: it is pushed to.
ELEMENT_TEST(a_sink_that_would_pull_is_pushed_to) {
  std::mt19937 random(83);
  const GstVideoInfo info = small();
  const Owned<GstElement> bin = parse_chain(
      "${convolve} name=f preset=temporal-mean ! fakesink name=s can-activate-pull=true sync=false "
      "async=false signal-handoffs=true");
  const Owned<GstElement> filter(gst_bin_get_by_name(GST_BIN(bin.get()), "f")),
      sink(gst_bin_get_by_name(GST_BIN(bin.get()), "s"));
  ElementBus bus(bin.get());
  int frames = 0;
  g_signal_connect_swapped(sink.get(), "handoff", G_CALLBACK(+[](int* count) { ++*count; }), &frames);
  const Owned<GstPad> up(GST_PAD(gst_object_ref_sink(gst_pad_new("up", GST_PAD_SRC)))),
      in(gst_element_get_static_pad(bin.get(), "sink")), out(gst_element_get_static_pad(filter.get(), "src"));
  gst_pad_set_getrange_function(up.get(), give_range);
  CHECK(gst_pad_link(up.get(), in.get()) == GST_PAD_LINK_OK, "it cannot be linked");
  CHECK(!gst_pad_activate_mode(out.get(), GST_PAD_MODE_PULL, TRUE), "it offers to be pulled from");
  CHECK(gst_element_set_state(bin.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE, "it does not start");
  CHECK(GST_PAD_MODE(out.get()) == GST_PAD_MODE_PUSH, "its source pad is not in push mode");
  gst_pad_set_active(up.get(), TRUE);
  gst_pad_push_event(up.get(), gst_event_new_stream_start("pushed"));
  const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
  gst_pad_push_event(up.get(), gst_event_new_caps(caps.get()));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(up.get(), gst_event_new_segment(&segment));
  for (int i = 0; i < 5; ++i)
    CHECK(gst_pad_push(up.get(), random_buffer(random, info, i).release()) == GST_FLOW_OK, "frame %d is refused", i);
  gst_pad_push_event(up.get(), gst_event_new_eos());
  CHECK(frames == 5, "%d of 5 frames arrive", frames);
  CHECK(bus.reports().empty(), "there was a report");
  gst_pad_set_active(up.get(), FALSE);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("lifecycle");
}
