// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What arrives while the element stops, and what its neighbours may do to it while it plays: link it anew, lock its
// state, take it out of its bin, change what they accept. None of it is an error.
#include <atomic>
#include <chrono>
#include <future>
#include <optional>

#include "stream.hpp"

namespace element_test {
namespace {

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

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("lifecycle");
}
