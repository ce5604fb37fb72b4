// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernels and presets that cannot be: before the start an error, while playing a warning, and the old filter goes on.
#include <limits>

#include "refusals.hpp"

namespace element_test {
namespace {

using Rows = std::vector<std::vector<double>>;

void append_number(GValue* array, double number) {
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_DOUBLE);
  g_value_set_double(&value, number);
  gst_value_array_append_and_take_value(array, &value);
}

GValue array_of(const Rows& rows) {
  GValue kernel = G_VALUE_INIT;
  gst_value_array_init(&kernel, static_cast<guint>(rows.size()));
  for (const std::vector<double>& numbers : rows) {
    GValue row = G_VALUE_INIT;
    gst_value_array_init(&row, static_cast<guint>(numbers.size()));
    for (const double number : numbers) append_number(&row, number);
    gst_value_array_append_and_take_value(&kernel, &row);
  }
  return kernel;
}

// Two columns that are not multiples of one another.
Rows full_rank(int rows) {
  Rows taps(rows, {1, 1});
  taps[0][0] = 2;
  return taps;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

// A bad setting, and words of which the message has to hold each: the fault, the value, what is allowed.
struct Fault {
  const char* name;
  Rows kernel;             // set by an application, where there is one
  std::string properties;  // else as in a launch line
  std::vector<const char*> words;
};
const Fault faults[] = {
    {"an empty row", {{}}, "", {"kernel"}},
    {"ragged rows", {{1, 2, 3}, {1, 2}}, "", {"kernel", "3", "2"}},
    {"ragged frames", {}, "kernel=\"<<<1,2>>,<<1>>>\"", {"kernel"}},
    {"frames of unlike height", {}, "kernel=\"<<<1>,<2>>,<<1>>>\"", {"kernel"}},
    {"256 columns", {std::vector<double>(256, 1.0)}, "", {"kernel", "256", "255"}},
    {"256 rows", Rows(256, {1}), "", {"kernel", "256", "255"}},
    {"32 rows that do not factor", full_rank(32), "", {"32x2", "31x31", "255"}},
    {"16 frames",
     {},
     "kernel=\"<<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>>\"",
     {"kernel", "16", "15"}},
    {"a NaN", {{1, nan}}, "", {"kernel", "nan"}},
    {"an infinity", {{1, 2}, {inf, 0}}, "", {"kernel", "inf"}},
    {"a minus infinity", {{-inf}}, "", {"kernel", "inf"}},
    {"words for taps", {}, "kernel=\"<<1,two>>\"", {"kernel", "two", "fraction"}},
    {"truth values for taps", {}, "kernel=\"<<(boolean)true,1>>\"", {"kernel"}},
    {"rows and numbers mixed", {}, "kernel=\"<<1,2>,3>\"", {"kernel"}},
    {"four levels", {}, "kernel=\"<<<<1>>>>\"", {"kernel"}},
    {"a sum past all bounds", {{1e300, 1e300}}, "", {"1e"}},
    {"a tap past all bounds, for its scale", {}, "kernel=\"<<1e306>>\" scale=256", {"1e"}},
};

void set_fault(GstElement* element, const Fault& fault) {
  if (fault.kernel.empty()) return;
  GValue kernel = array_of(fault.kernel);
  g_object_set_property(G_OBJECT(element), "kernel", &kernel);
  g_value_unset(&kernel);
}

ELEMENT_TEST_ROWS(a_bad_kernel_set_before_the_start_keeps_the_element_from_ready, std::size(faults)) {
  const Fault& fault = faults[row];
  const Owned<GstElement> element = make_element(fault.properties);
  set_fault(element.get(), fault);
  check_report(start_and_fail(element.get(), fault.name), fault.name, fault.words);
}

// Presets that do not factor (motion-blur at an angle is smaller than its radius says), whose taps grow without end,
// and banks.
struct Large {
  const char* preset;
  int radius, fits;
};
const Large large_presets[] = {{"laplacian-of-gaussian", 16, 15},
                               {"difference-of-gaussians", 100, 15},
                               {"motion-blur", 127, 17},
                               {"sobel-x", 30, 25},
                               {"sobel-y", 26, 25},
                               {"sobel", 8, 7},
                               {"prewitt", 127, 7}};

ELEMENT_TEST_ROWS(a_preset_that_is_too_large_is_named_with_the_radius_that_fits, std::size(large_presets)) {
  const Large& large = large_presets[row];
  const std::string asked = "radius=" + std::to_string(large.radius), preset = std::string("preset=") + large.preset;
  const std::string fits = "up to radius=" + std::to_string(large.fits) + " fits";
  const Owned<GstElement> element = make_element(preset + " angle=30 " + asked);
  check_report(start_and_fail(element.get(), large.preset), large.preset,
               {preset.c_str(), asked.c_str(), fits.c_str()});
  // The radius that it names is the largest that is taken.
  g_object_set(element.get(), "radius", large.fits + 1, nullptr);
  CHECK(start_and_fail(element.get(), large.preset).size() == 1, "a larger one fits");
  g_object_set(element.get(), "radius", large.fits, nullptr);
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS, "%s does not fit",
        fits.c_str());
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

ELEMENT_TEST_ROWS(a_bad_kernel_set_while_playing_leaves_the_old_filter_whole_and_warns, std::size(faults)) {
  const Fault& fault = faults[row];
  std::mt19937 random(1);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  Harness harness("kernel=\"" + text_of(f.kernel) + "\"", info);
  for (int i = 0; i < 4; ++i) {
    if (i == 1) {
      if (!fault.kernel.empty()) {
        set_fault(harness.element(), fault);
      } else {
        // The same launch line, read by an element of its own, gives the value.
        const Owned<GstElement> other = make_element(fault.properties);
        const char* property = "kernel";
        GValue value = G_VALUE_INIT;
        g_object_get_property(G_OBJECT(other.get()), property, &value);
        g_object_set_property(G_OBJECT(harness.element()), property, &value);
        g_value_unset(&value);
      }
    }
    const Owned<GstBuffer> input = random_buffer(random, info, i);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: the stream stops", fault.name);
    check_buffer(expected(f, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0,
                 std::string(fault.name) + ", frame " + std::to_string(i));
  }
  std::vector<Report> reports = harness.reports();
  for (const Report& report : reports) CHECK(report.type == GST_MESSAGE_WARNING, "an error: %s", report.text.c_str());
  check_report(reports, fault.name, fault.words);
  // A good filter is taken again.
  harness.set("scale", "1");
  harness.set("kernel", "<<2>>");
  const Owned<GstBuffer> input = random_buffer(random, info, 4);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  check_buffer(expected(Filtering{make_kernel(1, 1, 1, {2})}, frame_of(input.get(), info), info),
               harness.try_pull().get(), info, 0, "after the fault is mended");
}

// What another property wins over is not read, be it at fault: a kernel, as a kernel-location that is no file.
ELEMENT_TEST(a_bad_kernel_beside_a_bank_or_a_string_that_wins_over_it_is_no_fault) {
  std::mt19937 random(2);
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  const Owned<GstBuffer> input = random_buffer(random, info);
  for (const char* winner : {"bank=<<<2>>>", "kernel-string=\"im:1x1: 2\""}) {
    Harness harness(std::string("kernel=<<1,2>,<3>> kernel-location=/none ") + winner, info);
    const auto check = [&](const char* when) {
      CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s, %s: push failed", winner, when);
      check_buffer(expected(Filtering{make_kernel(1, 1, 1, {2})}, frame_of(input.get(), info), info),
                   harness.try_pull().get(), info, 0, std::string(winner) + ", " + when);
      return harness.reports();
    };
    CHECK(check("from the start").empty(), "%s: there was a report", winner);
    harness.set("kernel", "<<7,8>,<9>>");
    CHECK(check("another bad kernel").empty(), "%s: there was a report", winner);
    // Once it would hold again, it is refused.
    harness.set("bank", "<  >");
    harness.set("kernel-string", "");
    check_report(check("the winner taken away"), winner, {"kernel: ", "the filter stays as it was"});
  }
}

ELEMENT_TEST(an_element_that_failed_to_start_starts_once_the_kernel_is_mended) {
  const Owned<GstElement> element = make_element("kernel=\"<<1,2>,<3>>\"");
  CHECK(start_and_fail(element.get(), "ragged").size() == 1, "no error");
  gst_util_set_object_arg(G_OBJECT(element.get()), "kernel", "<<1,2>,<3,4>>");
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS, "READY is not reached");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

// What would hold instead needs several changes more, each of which is legal.
ELEMENT_TEST(a_kernel_is_taken_away_over_a_preset_that_has_to_change_too) {
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  std::mt19937 random(3);
  const Owned<GstBuffer> input = random_buffer(random, info);
  for (const char* winner : {"kernel=<<2>>", "bank=<<<2>>>", "kernel-string=\"im:1x1: 2\""}) {
    Harness harness(std::string(winner) +
                        " preset=laplacian-of-gaussian sigma=1e-300 radius=127 levels=code bias=-100 combine=sum-abs",
                    info);
    Filtering f{make_kernel(1, 1, 1, {2})};
    const auto push = [&] {
      CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: push failed", winner);
      return Owned<GstBuffer>(harness.try_pull());
    };
    const Owned<GstBuffer> before = push();
    harness.set("kernel", "<  >");
    harness.set("bank", "<  >");
    harness.set("kernel-string", "");
    harness.set("levels", "nominal");
    const Owned<GstBuffer> meanwhile = push();
    CHECK(gst_buffer_get_size(before.get()) == gst_buffer_get_size(meanwhile.get()), "%s: another size", winner);
    check_report(harness.reports(), winner, {"sigma is 1e-300", "the filter stays as it was"});
    harness.set("bias", "0");
    harness.set("radius", "1");
    harness.set("sigma", "0");
    harness.set("combine", "none");
    harness.set("preset", "identity");
    check_buffer(frame_of(input.get(), info), push().get(), info, 0, std::string(winner) + ", taken away");
    CHECK(harness.reports().empty(), "%s: a report of what is mended", winner);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("bad_kernels");
}
