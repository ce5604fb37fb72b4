// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GStreamer's own leaks tracer: after an element's life, no object of it is left.
#include <map>

#include "stream.hpp"

namespace element_test {
namespace {

// Objects alive, by type, as the tracer counts them. Its list drops references that it never took, so each
// object gets one before the list goes: what the process keeps (a GPU's shared context) has to outlive being counted.
std::map<std::string, int> live_objects() {
  std::map<std::string, int> count;
  GList* tracers = gst_tracing_get_active_tracers();
  CHECK(tracers != nullptr, "the leaks tracer is not active");
  GstStructure* info = nullptr;
  g_signal_emit_by_name(tracers->data, "get-live-objects", &info);
  g_list_free_full(tracers, gst_object_unref);
  const GValue* list = gst_structure_get_value(info, "live-objects-list");
  for (guint i = 0; i < gst_value_list_get_size(list); ++i) {
    const GValue* object =
        gst_structure_get_value(gst_value_get_structure(gst_value_list_get_value(list, i)), "object");
    ++count[G_VALUE_TYPE_NAME(object)];
    if (G_VALUE_HOLDS_OBJECT(object))
      g_value_dup_object(object);
    else
      g_value_dup_boxed(object);
  }
  gst_structure_free(info);
  return count;
}

void live(const std::string& properties) {
  std::mt19937 random(70);
  for (const char* format : {"I420", "GRAY8"}) {
    const GstVideoInfo info = video_info(format, 16, 12);
    Harness harness(properties, info);
    for (int i = 0; i < 6; ++i) {
      harness.push(random_buffer(random, info, i).release());
      harness.push_event(gst_event_new_gap(i * frame_duration, 1));
    }
    harness.set("kernel", "<<1,2>,<3>>");
    harness.push(random_buffer(random, info, 6).release());
    harness.set("kernel", "<>");
    harness.flush();
    for (int i = 0; i < 3; ++i) harness.push(random_buffer(random, info, i).release());
    if (*format == 'I') harness.push_event(gst_event_new_eos());
  }
}

constexpr const char* lives[] = {"preset=identity", "preset=sharpen", "preset=temporal-mean temporal-radius=2",
                                 "preset=temporal-denoise window=causal", "kernel=\"<<1,2,1>>\" bias=0.5 qos=true"};

ELEMENT_TEST_ROWS(an_elements_life_leaves_no_object_behind, std::size(lives)) {
  live(lives[row]);  // the first life makes what a process keeps
  const std::map<std::string, int> before = live_objects();
  live(lives[row]);
  const std::map<std::string, int> after = live_objects();
  for (const auto& [type, count] : after) {
    const auto old = before.find(type);
    const int grown = count - (old == before.end() ? 0 : old->second);
    CHECK(grown <= 0, "%s: %d of type %s are left", lives[row], grown, type.c_str());
  }
}

ELEMENT_TEST(an_element_that_fails_to_start_leaves_no_object_behind) {
  const auto fail_to_start = [] {
    const Owned<GstElement> element = make_element("kernel=\"<<1,2>,<3>>\"");
    const ElementBus bus(element.get());
    gst_element_set_state(element.get(), GST_STATE_PLAYING);
  };
  fail_to_start();
  const std::map<std::string, int> before = live_objects();
  fail_to_start();
  for (const auto& [type, count] : live_objects()) {
    const auto old = before.find(type);
    CHECK(count <= (old == before.end() ? 0 : old->second), "objects of type %s are left", type.c_str());
  }
}

}  // namespace
}  // namespace element_test

int main() {
  g_setenv("GST_TRACERS", "leaks", TRUE);
  return element_test::run_tests("leaks");
}
