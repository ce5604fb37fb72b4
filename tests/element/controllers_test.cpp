// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GstController: values that belong to the time of the frame that leaves, and hold together as one filter.
#include <glib/gstdio.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stream.hpp"

namespace element_test {
namespace {

// Sets a property to each value from its frame's time on. GStreamer's absolute bindings know no enums: a relative one
// maps 0 to 1 onto the places of their values.
void control(Harness& harness, const char* property, const std::map<int, double>& values) {
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_NONE, nullptr);
  GstObject* object = GST_OBJECT(harness.element());
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), property);
  const bool is_enum = G_IS_PARAM_SPEC_ENUM(spec);
  const double last = is_enum ? G_PARAM_SPEC_ENUM(spec)->enum_class->n_values - 1 : 0;
  CHECK(gst_object_add_control_binding(object, is_enum
                                                   ? gst_direct_control_binding_new(object, property, source)
                                                   : gst_direct_control_binding_new_absolute(object, property, source)),
        "%s cannot be controlled", property);
  for (const auto& [frame, value] : values)
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), frame * frame_duration,
                                       is_enum ? std::min((value + 0.25) / last, 1.0) : value);
  gst_object_unref(source);
}

// The place of an enum's value.
double place_of(const char* property, const char* nick) {
  const Owned<GstElement> element = make_element();
  auto* spec = G_PARAM_SPEC_ENUM(g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property));
  const GEnumValue* value = g_enum_get_value_by_nick(spec->enum_class, nick);
  CHECK(value != nullptr, "%s has no value %s", property, nick);
  return static_cast<double>(value - spec->enum_class->values);
}

}  // namespace

ELEMENT_TEST(a_controlled_scalar_has_its_value_of_each_frames_time) {
  const GstVideoInfo info = video_info("GRAY8", 4, 4);
  Harness harness("kernel=\"<<1>>\"", info);
  GstControlSource* source = gst_interpolation_control_source_new();
  g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
  CHECK(
      gst_object_add_control_binding(GST_OBJECT(harness.element()), gst_direct_control_binding_new_absolute(
                                                                        GST_OBJECT(harness.element()), "bias", source)),
      "bias cannot be controlled");
  auto* timed = GST_TIMED_VALUE_CONTROL_SOURCE(source);
  gst_timed_value_control_source_set(timed, 0, 0.0);
  gst_timed_value_control_source_set(timed, 10 * frame_duration, 1.0);
  for (int i = 0; i <= 10; ++i) {
    CHECK(harness.push(buffer_of(info, std::vector<int>(16, 3), i).release()) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output");
    const double wanted = std::min(255.0, std::nearbyint(3 + 25.5 * i));
    const double found = frame_of(out.get(), info).component[0].samples[5];
    CHECK(std::abs(found - wanted) <= 1, "frame %d: expected %g, found %g", i, wanted, found);
  }
  gst_object_unref(source);
}

// A relative binding maps 0..1 onto the property's whole range, so that the range has to be one that people mean: of
// bias, code values of 16 bits.
ELEMENT_TEST(a_relative_control_binding_spans_a_range_of_use) {
  const GstVideoInfo info = video_info("GRAY8", 4, 4);
  Harness harness("kernel=\"<<1>>\"", info);
  GstControlSource* source = gst_interpolation_control_source_new();
  CHECK(gst_object_add_control_binding(GST_OBJECT(harness.element()),
                                       gst_direct_control_binding_new(GST_OBJECT(harness.element()), "bias", source)),
        "bias cannot be controlled");
  gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0,
                                     0.5 + 0.5 / 131070);  // of -65535 to 65535
  CHECK(harness.push(buffer_of(info, std::vector<int>(16, 3), 0).release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "no output");
  const double found = frame_of(out.get(), info).component[0].samples[5];
  CHECK(found == 130, "expected 3 + 127.5 = 130 (ties to even), found %g", found);
  gst_object_unref(source);
}

// Frame i comes out as from an element whose properties were set by hand to the i-th text.
void check_as_by_hand(Harness& controlled, const std::vector<std::string>& by_hand, const GstVideoInfo& info) {
  std::mt19937 random(7);
  for (std::size_t i = 0; i < by_hand.size(); ++i) {
    const Owned<GstBuffer> input = random_buffer(random, info, static_cast<int>(i));
    Harness straight(by_hand[i], info);
    CHECK(straight.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s is refused", by_hand[i].c_str());
    CHECK(controlled.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "frame %zu is refused", i);
    const Owned<GstBuffer> wanted = straight.try_pull(), found = controlled.try_pull();
    CHECK(wanted && found, "frame %zu: no output", i);
    check_buffer(frame_of(wanted.get(), info), found.get(), info, 0, "frame " + std::to_string(i) + ", " + by_hand[i]);
  }
}

// Each value alone would make a filter that cannot be, whichever of the two is set first.
ELEMENT_TEST(controlled_values_that_are_legal_only_together_hold_from_their_frame_on) {
  const GstVideoInfo info = video_info("GRAY8", 40, 30);
  for (const bool radius_first : {false, true}) {
    Harness harness("preset=box-blur radius=30", info);
    const std::map<int, double> radius{{0, 30}, {2, 3}, {4, 40}};
    if (radius_first) control(harness, "radius", radius);
    control(harness, "preset",
            {{0, place_of("preset", "box-blur")},
             {2, place_of("preset", "laplacian")},
             {4, place_of("preset", "box-blur")}});
    if (!radius_first) control(harness, "radius", radius);
    const std::string blur = "preset=box-blur radius=", sharp = "preset=laplacian radius=3";
    check_as_by_hand(harness, {blur + "30", blur + "30", sharp, sharp, blur + "40", blur + "40"}, info);
    CHECK(harness.reports().empty(), "there was a report");
  }
}

ELEMENT_TEST(a_controlled_combination_holds_from_its_frame_on) {
  const GstVideoInfo info = video_info("GRAY8", 12, 9);
  const std::string bank = "bank=<<<-1,0,1>>,<<-1>,<0>,<1>>> combine=";
  Harness harness(bank + "max", info);
  control(
      harness, "combine",
      {{0, place_of("combine", "max")}, {1, place_of("combine", "magnitude")}, {3, place_of("combine", "sum-abs")}});
  control(harness, "levels", {{0, 0}, {2, 1}});
  check_as_by_hand(
      harness, {bank + "max", bank + "magnitude", bank + "magnitude levels=code", bank + "sum-abs levels=code"}, info);
}

// One warning for all the frames that it holds for; what an application sets is decided on with it.
ELEMENT_TEST(controlled_values_that_make_no_filter_leave_the_old_one_and_warn_once) {
  const GstVideoInfo info = video_info("GRAY8", 40, 30);
  Harness harness("preset=laplacian radius=2", info);
  control(harness, "radius", {{0, 2}, {2, 20}, {3, 21}, {4, 22}, {6, 4}});
  const std::string laplacian = "preset=laplacian radius=";
  check_as_by_hand(harness, std::vector<std::string>(5, laplacian + "2"), info);
  const std::vector<Report> reports = harness.reports();
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
  CHECK(reports[0].text.find("radius=20") != std::string::npos, "%s", reports[0].text.c_str());
  harness.set("preset", "box-blur");
  std::mt19937 random(3);
  const auto push = [&](int i, const std::string& by_hand) {
    const Owned<GstBuffer> input = random_buffer(random, info, i);
    Harness straight(by_hand, info);
    CHECK(straight.push(gst_buffer_ref(input.get())) == GST_FLOW_OK &&
              harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK,
          "frame %d is refused", i);
    const Owned<GstBuffer> wanted = straight.try_pull(), found = harness.try_pull();
    check_buffer(frame_of(wanted.get(), info), found.get(), info, 0, by_hand);
  };
  push(5, "preset=box-blur radius=22");
  push(6, "preset=box-blur radius=4");
  CHECK(harness.reports().empty(), "there was a report");
}

// The frame that comes in, not the one that leaves, may begin a scene.
ELEMENT_TEST(a_controlled_scene_threshold_is_that_of_the_frame_that_comes) {
  const GstVideoInfo info = small();
  const Filtering f{three()};
  std::mt19937 random(1);
  std::vector<Owned<GstBuffer>> input;
  const int levels[] = {10, 10, 200, 200, 10, 10, 200, 200, 200};
  for (int i = 0; i < 9; ++i) {
    input.push_back(random_buffer(random, info, i));
    make_flat(input.back().get(), info, {levels[i]});
  }
  Harness harness(kernel_is(f.kernel), info);
  control(harness, "scene-threshold", {{0, 0}, {4, 0.5}, {5, 0}, {6, 0.25}, {7, 0}});
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  check_tape(harness, expected_of_parts(f, input, info, {4, 6}), input, info, "controlled");
}

// What handlers of a controlled change set is not the controllers': a path is read, and another element decides at
// once.
struct Follower {
  Harness* harness;
  const char* property;
  std::string value;
  static void changed(GObject*, GParamSpec*, gpointer data) {
    auto& self = *static_cast<Follower*>(data);
    self.harness->set(self.property, self.value.c_str());
  }
};

ELEMENT_TEST(a_kernel_file_that_a_handler_of_a_controlled_change_sets_is_read) {
  const GstVideoInfo info = video_info("GRAY8", 12, 9);
  gchar* made = nullptr;
  const int file = g_file_open_tmp(nullptr, &made, nullptr);
  CHECK(file >= 0, "no temporary file");
  close(file);
  const Owned<gchar> path(made);
  CHECK(g_file_set_contents(path.get(), "0 0 1\n", -1, nullptr), "%s cannot be written", path.get());
  Harness harness("preset=sharpen", info);
  control(harness, "bias", {{0, 0}, {1, 0.5}});
  Follower follower{&harness, "kernel-location", path.get()};
  const std::string from_file = std::string("kernel-location=") + path.get();
  harness.set("bias", "0.25");
  g_signal_connect(harness.element(), "notify::bias", G_CALLBACK(Follower::changed), &follower);
  check_as_by_hand(harness, {from_file, from_file + " bias=0.5"}, info);
  g_unlink(path.get());
}

ELEMENT_TEST(an_element_that_follows_a_controlled_one_needs_no_timestamps) {
  const GstVideoInfo info = video_info("GRAY8", 12, 9);
  Harness controlled("kernel=\"<<1>>\"", info), follows("kernel=\"<<1>>\"", info);
  control(controlled, "bias", {{0, 0.5}});
  g_object_bind_property(controlled.element(), "bias", follows.element(), "bias", G_BINDING_DEFAULT);
  const std::vector<int> flat(12 * 9, 3);
  CHECK(controlled.push(buffer_of(info, flat, 0).release()) == GST_FLOW_OK, "push failed");
  Owned<GstBuffer> input = buffer_of(info, flat, 0);
  GST_BUFFER_PTS(input.get()) = GST_CLOCK_TIME_NONE;
  CHECK(follows.push(input.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = follows.try_pull();
  CHECK(out != nullptr, "no output");
  const double found = frame_of(out.get(), info).component[0].samples[5];
  CHECK(found == 130, "expected 3 + 127.5 = 130 (ties to even), found %g", found);
}

// They set their values anew with the first frame, whatever they left.
ELEMENT_TEST(an_element_that_controllers_left_at_fault_starts_again) {
  const GstVideoInfo info = video_info("GRAY8", 40, 30);
  Harness harness("preset=laplacian radius=2", info);
  control(harness, "radius", {{0, 2}, {1, 20}});
  const std::string by_hand = "preset=laplacian radius=2";
  check_as_by_hand(harness, {by_hand, by_hand}, info);
  CHECK(harness.reports().size() == 1, "not one report");
  for (int starts = 0; starts < 2; ++starts) {  // the second one after a start without frames
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    CHECK(gst_element_set_state(harness.element(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE, "no start");
  }
  gst_harness_set_src_caps(harness.get(), gst_video_info_to_caps(&info));
  harness.push_segment();
  check_as_by_hand(harness, {by_hand}, info);
  CHECK(harness.reports().empty(), "there was a report");
}

}  // namespace element_test

int main() {
  return element_test::run_tests("controllers");
}
