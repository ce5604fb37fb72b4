// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels through the element: numbers, which property wins, presets, changes while playing, and refusals.
#include <cmath>
#include <string>
#include <vector>

#include "../oracle_bank.hpp"
#include "refusals.hpp"

namespace element_test {
namespace {

using oracle::Combination;

struct Row {
  const char* properties;
  std::vector<int> input, output;
};

// Of 8 2 5 between zeros, -1 0 1 makes 2 -3 -2, and 1 0 0 makes 0 8 2. Kernels are each about their own centre, of two
// taps the second. One kernel alone gives its absolute value, but for max.
#define TWO "border-mode=constant bank=\"<<<-1,0,1>>,<<1,0,0>>>\" "
const Row rows[] = {
    {TWO "combine=sum-abs", {8, 2, 5}, {2, 11, 4}},
    {TWO "combine=max-abs", {8, 2, 5}, {2, 8, 2}},
    {TWO "combine=max", {8, 2, 5}, {2, 8, 2}},
    {TWO "combine=magnitude", {8, 2, 5}, {2, 9, 3}},  // roots of 4, 73 and 8
    // Sums are combined before they round, and bias counts once: ties go to even.
    {TWO "combine=sum-abs scale=0.5", {8, 2, 5}, {1, 6, 2}},
    {TWO "combine=sum-abs bias=0.5", {8, 2, 5}, {130, 138, 132}},
    {TWO "combine=max scale=-1", {8, 2, 5}, {0, 3, 2}},
    {"border-mode=constant bank=\"<<<1,0>>,<<0,0,1>>>\" combine=max", {1, 9, 4}, {9, 4, 9}},
    {"border-mode=constant bank=\"<<<1,0>>,<<0,0,1>>>\" combine=max operation=convolve", {1, 9, 4}, {9, 4, 9}},
    {"bank=\"<<<1/3>>,<<1/4>>>\" combine=sum-abs", {6, 12, 18}, {4, 7, 10}},  // 3.5, 7 and 10.5
    {"border-mode=constant kernel=\"<<-1,0,1>>\" combine=magnitude", {8, 2, 5}, {2, 3, 2}},
    {"border-mode=constant kernel=\"<<-1,0,1>>\" combine=sum-abs", {8, 2, 5}, {2, 3, 2}},
    {"border-mode=constant kernel=\"<<-1,0,1>>\" combine=max-abs", {8, 2, 5}, {2, 3, 2}},
    {"border-mode=constant kernel=\"<<-1,0,1>>\" combine=max", {8, 2, 5}, {2, 0, 0}},
    {"border-mode=constant preset=sobel-x combine=magnitude", {8, 2, 5}, {4, 6, 4}},
    {"bank=\"<<<2>>>\"", {8, 2, 5}, {16, 4, 10}},
    // The bank wins over the kernel, which may be none at all, that over the preset; combine by hand over the preset's.
    {"preset=sobel kernel=\"<<5>>\" bank=\"<<<3>>>\"", {8, 2, 5}, {24, 6, 15}},
    {"preset=sobel kernel=\"<<5>>\"", {8, 2, 5}, {40, 10, 25}},
    {"kernel=\"<<1,2>,<3>>\" bank=\"<<<3>>>\"", {8, 2, 5}, {24, 6, 15}},
    {"kernel=\"<<1,2>,<3>>\" kernel-string=im:1x1:3", {8, 2, 5}, {24, 6, 15}},
    {"bank=\"<<<1,2>,<3>>>\" kernel-string=im:1x1:3", {8, 2, 5}, {24, 6, 15}},
    {"kernel-location=/nonexistent kernel=\"<<5>>\"", {8, 2, 5}, {40, 10, 25}},
    {"preset=kirsch combine=none", {7, 7, 7}, {0, 0, 0}},
    {"preset=robinson combine=sum-abs border-mode=constant scale=0.125", {8, 0, 0}, {0, 8, 0}},
};
#undef TWO

std::vector<int> filter_row(const std::string& properties, const std::vector<int>& samples) {
  const GstVideoInfo info = video_info("GRAY8", static_cast<int>(samples.size()), 1);
  Harness harness(properties, info);
  CHECK(harness.push(buffer_of(info, samples).release()) == GST_FLOW_OK, "push failed: %s", properties.c_str());
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "no output: %s", properties.c_str());
  const Frame frame = frame_of(out.get(), info);
  return {frame.component[0].samples.begin(), frame.component[0].samples.end()};
}

ELEMENT_TEST_ROWS(a_row_through_a_bank_becomes_exactly_what_the_table_says, std::size(rows)) {
  const Row& r = rows[row];
  const std::vector<int> found = filter_row(r.properties, r.input);
  for (std::size_t i = 0; i < r.output.size(); ++i)
    CHECK(found[i] == r.output[i], "%s: sample %zu: expected %d, found %d", r.properties, i, r.output[i], found[i]);
}

// --- Presets and formats -------------------------------------------------------------------------------------------

oracle::Kernel kernel3(const std::vector<double>& taps) {
  return make_kernel(1, 3, 3, taps);
}

struct Preset {
  const char* nick;
  Combination combination;
  std::vector<oracle::Kernel> bank;
};
const Preset presets[] = {
    {"sobel",
     Combination::magnitude,
     {kernel3({-1, 0, 1, -2, 0, 2, -1, 0, 1}), kernel3({-1, -2, -1, 0, 0, 0, 1, 2, 1})}},
    {"scharr",
     Combination::magnitude,
     {kernel3({-3, 0, 3, -10, 0, 10, -3, 0, 3}), kernel3({-3, -10, -3, 0, 0, 0, 3, 10, 3})}},
    {"prewitt",
     Combination::magnitude,
     {kernel3({-1, 0, 1, -1, 0, 1, -1, 0, 1}), kernel3({-1, -1, -1, 0, 0, 0, 1, 1, 1})}},
    {"roberts", Combination::magnitude, {make_kernel(1, 2, 2, {1, 0, 0, -1}), make_kernel(1, 2, 2, {0, 1, -1, 0})}},
    {"kirsch",
     Combination::max,
     {kernel3({5, 5, 5, -3, 0, -3, -3, -3, -3}), kernel3({-3, 5, 5, -3, 0, 5, -3, -3, -3}),
      kernel3({-3, -3, 5, -3, 0, 5, -3, -3, 5}), kernel3({-3, -3, -3, -3, 0, 5, -3, 5, 5}),
      kernel3({-3, -3, -3, -3, 0, -3, 5, 5, 5}), kernel3({-3, -3, -3, 5, 0, -3, 5, 5, -3}),
      kernel3({5, -3, -3, 5, 0, -3, 5, -3, -3}), kernel3({5, 5, -3, 5, 0, -3, -3, -3, -3})}},
    {"robinson",
     Combination::max,
     {kernel3({1, 2, 1, 0, 0, 0, -1, -2, -1}), kernel3({0, 1, 2, -1, 0, 1, -2, -1, 0}),
      kernel3({-1, 0, 1, -2, 0, 2, -1, 0, 1}), kernel3({-2, -1, 0, -1, 0, 1, 0, 1, 2}),
      kernel3({-1, -2, -1, 0, 0, 0, 1, 2, 1}), kernel3({0, -1, -2, 1, 0, -1, 2, 1, 0}),
      kernel3({1, 0, -1, 2, 0, -2, 1, 0, -1}), kernel3({2, 1, 0, 1, 0, -1, 0, -1, -2})}},
};

// Limited-range luma about 16, chroma about 128, red, green and blue about 0.
Frame expected_of(const Preset& preset, const Frame& in, const GstVideoInfo& info) {
  const int bits = GST_VIDEO_INFO_COMP_DEPTH(&info, 0);
  Frame out;
  for (std::size_t c = 0; c < in.component.size(); ++c) {
    oracle::Levels levels{bits};
    if (GST_VIDEO_INFO_IS_YUV(&info)) levels.zero = std::ldexp(c == 0 ? 16 : 128, bits - 8);
    out.component.push_back(c == 3 ? in.component[c]
                                   : oracle::filter_bank(preset.bank, preset.combination, in.component[c],
                                                         oracle::Edge::replicate, levels));
  }
  return out;
}

ELEMENT_TEST_ROWS(a_preset_that_is_a_bank_gives_what_the_oracle_says_of_its_kernels, std::size(presets)) {
  const Preset& preset = presets[row];
  std::mt19937 random(static_cast<unsigned>(row));
  for (const char* format : {"GRAY8", "I420", "NV12", "YUY2", "RGB", "BGRA", "A420", "P010_10LE", "GRAY16_LE"})
    for (const char* scale : {"1", "0.0625"}) {
      Preset scaled = preset;
      if (*scale == '0')
        for (oracle::Kernel& kernel : scaled.bank) kernel.divisor = 16;
      const GstVideoInfo info = video_info(format, 37, 23);
      Harness harness(std::string("preset=") + preset.nick + " scale=" + scale, info);
      const Owned<GstBuffer> input = random_buffer(random, info);
      const Frame in = frame_of(input.get(), info);
      CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
      check_buffer(expected_of(scaled, in, info), harness.try_pull().get(), info, 0,
                   std::string(preset.nick) + " " + format + " scale " + scale);
    }
}

ELEMENT_TEST(presets_that_are_banks_blacken_a_flat_frame_at_every_radius) {
  const Owned<GstElement> probe = make_element();
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(probe.get()), "preset");
  const GEnumClass* nicks = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::size_t banks = 0;
  for (guint i = 0; i < nicks->n_values; ++i) {
    if (!g_str_has_prefix(nicks->values[i].value_name, "Bank: ")) continue;
    ++banks;
    for (int radius = 0; radius <= 7; ++radius)
      for (const int sample :
           filter_row(std::string("preset=") + nicks->values[i].value_nick + " radius=" + std::to_string(radius),
                      std::vector<int>(20, 201)))
        CHECK(sample == 0, "%s radius %d: %d", nicks->values[i].value_nick, radius, sample);
  }
  CHECK(banks == std::size(presets), "%zu presets are banks", banks);
}

ELEMENT_TEST(bank_is_an_array_and_combine_a_controllable_choice) {
  const Owned<GstElement> element = make_element();
  GObjectClass* klass = G_OBJECT_GET_CLASS(element.get());
  const GParamSpec *bank = g_object_class_find_property(klass, "bank"),
                   *combine = g_object_class_find_property(klass, "combine");
  CHECK(GST_IS_PARAM_SPEC_ARRAY_LIST(bank) && (bank->flags & GST_PARAM_MUTABLE_PLAYING), "bank");
  CHECK(G_IS_PARAM_SPEC_ENUM(combine) && (combine->flags & GST_PARAM_CONTROLLABLE), "combine");
  const GEnumClass* ways = G_PARAM_SPEC_ENUM(combine)->enum_class;
  const std::vector<std::string> nicks{"none", "magnitude", "sum-abs", "max-abs", "max"};
  CHECK(ways->n_values == nicks.size(), "combine has %u values", ways->n_values);
  for (guint i = 0; i < ways->n_values; ++i)
    CHECK(nicks[i] == ways->values[i].value_nick, "combine's value %u is %s", i, ways->values[i].value_nick);
  gst_util_set_object_arg(G_OBJECT(element.get()), "bank", "<<<1,2>>,<<3>>>");
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element.get()), "bank", &value);
  CHECK(gst_value_array_get_size(&value) == 2, "bank reads back with %u kernels", gst_value_array_get_size(&value));
  g_value_unset(&value);
}

// --- Fields, regions, changes --------------------------------------------------------------------------------------

Owned<GstBuffer> filtered(const std::string& properties, const GstVideoInfo& info, GstBuffer* input) {
  Harness harness(properties, info);
  CHECK(harness.push(gst_buffer_copy_deep(input)) == GST_FLOW_OK, "push failed: %s", properties.c_str());
  return harness.try_pull();
}

ELEMENT_TEST(each_field_of_an_interlaced_frame_goes_through_the_bank_by_itself) {
  std::mt19937 random(5);
  GstVideoInfo info = video_info("GRAY8", 33, 21), field = video_info("GRAY8", 33, 11);
  GST_VIDEO_INFO_INTERLACE_MODE(&info) = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Frame in = frame_of(input.get(), info);
  const Owned<GstBuffer> out = filtered("preset=sobel scale=0.25", info, input.get());
  const Frame found = frame_of(out.get(), info);
  Preset quarter = presets[0];
  for (oracle::Kernel& kernel : quarter.bank) kernel.divisor = 4;
  for (const int parity : {0, 1}) {
    Frame half{{{33, (21 + 1 - parity) / 2, {}}}};
    for (int y = parity; y < 21; y += 2)
      for (int x = 0; x < 33; ++x) half.component[0].samples.push_back(in.component[0].samples[y * 33 + x]);
    const Frame wanted = expected_of(quarter, half, field);
    for (int y = parity; y < 21; y += 2)
      for (int x = 0; x < 33; ++x) {
        const double w = wanted.component[0].samples[y / 2 * 33 + x], f = found.component[0].samples[y * 33 + x];
        CHECK(w == f, "x=%d y=%d: expected %g, found %g", x, y, w, f);
      }
  }
}

ELEMENT_TEST(the_effect_filter_of_regions_is_the_bank) {
  std::mt19937 random(6);
  const GstVideoInfo info = video_info("GRAY8", 40, 30);
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Owned<GstBuffer> all = filtered("preset=kirsch scale=0.1", info, input.get());
  const Owned<GstBuffer> some =
      filtered("preset=kirsch scale=0.1 regions=inside region-boxes=<<5,7,20,11>>", info, input.get());
  const Frame in = frame_of(input.get(), info), whole = frame_of(all.get(), info), part = frame_of(some.get(), info);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      const bool inside = x >= 5 && x < 25 && y >= 7 && y < 18;
      const double wanted = (inside ? whole : in).component[0].samples[y * 40 + x];
      CHECK(part.component[0].samples[y * 40 + x] == wanted, "x=%d y=%d", x, y);
    }
}

// Pushes a frame of the samples 8, 2, 5, and expects what comes out.
void check_of_8_2_5(Harness& harness, const GstVideoInfo& info, const char* when, const std::vector<int>& wanted) {
  CHECK(harness.push(buffer_of(info, {8, 2, 5}).release()) == GST_FLOW_OK, "%s: push failed", when);
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "%s: no output", when);
  const Frame frame = frame_of(out.get(), info);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK(frame.component[0].samples[i] == wanted[i], "%s: sample %zu: expected %d, found %g", when, i, wanted[i],
          frame.component[0].samples[i]);
}

ELEMENT_TEST(a_bank_and_its_combination_may_change_while_playing) {
  const GstVideoInfo info = video_info("GRAY8", 3, 1);
  Harness harness("border-mode=constant kernel=\"<<-1,0,1>>\"", info);
  const auto check = [&](const char* when, const std::vector<int>& wanted) {
    check_of_8_2_5(harness, info, when, wanted);
  };
  check("a kernel", {2, 0, 0});
  harness.set("combine", "magnitude");
  check("its magnitude", {2, 3, 2});
  harness.set("bank", "<<<-1,0,1>>,<<1,0,0>>>");
  check("a bank", {2, 9, 3});
  harness.set("combine", "sum-abs");
  check("another combination", {2, 11, 4});
  harness.set("scale", "2");
  check("scaled", {4, 22, 8});
  harness.set("bank", "<  >");
  harness.set("combine", "none");
  harness.set("scale", "1");
  check("the kernel again", {2, 0, 0});
  harness.set("kernel", "<<1>>");
  check("the identity, passed through", {8, 2, 5});
  harness.set("combine", "max-abs");
  check("the identity as a bank", {8, 2, 5});
  CHECK(harness.reports().empty(), "there was a report");
}

// Properties that are legal together alone, set one after the other between two frames.
struct Pair {
  const char* start;
  std::vector<std::pair<const char*, const char*>> changes;
  const char* same;  ///< of an element that starts with what they make
};
const Pair pairs[] = {
    {"",
     {{"bank", "<<<-1,0,1>>,<<1,0,0>>>"}, {"combine", "max-abs"}},
     "bank=\"<<<-1,0,1>>,<<1,0,0>>>\" combine=max-abs"},
    {"bank=\"<<<1>>,<<2>>>\" combine=max", {{"combine", "none"}, {"bank", "<  >"}}, ""},
    {"combine=max preset=kirsch", {{"preset", "temporal-mean"}, {"combine", "none"}}, "preset=temporal-mean"},
    {"combine=max", {{"kernel", "<<<1>>,<<2>>>"}, {"combine", "none"}}, "kernel=<<<1>>,<<2>>>"},
    {"preset=laplacian",
     {{"radius", "60"}, {"scale", "0.5"}, {"preset", "box-blur"}},
     "preset=box-blur radius=60 scale=0.5"},
    {"preset=box-blur radius=60", {{"preset", "laplacian"}, {"radius", "2"}}, "preset=laplacian radius=2"},
    {"preset=sobel", {{"radius", "9"}, {"preset", "sobel-x"}}, "preset=sobel-x radius=9"},
};

ELEMENT_TEST_ROWS(properties_that_go_together_may_be_set_one_by_one_while_playing, std::size(pairs)) {
  const Pair& pair = pairs[row];
  std::mt19937 random(8);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 2);
  const auto last_output = [&](Harness& harness) {
    CHECK(harness.push(gst_buffer_ref(input[1].get())) == GST_FLOW_OK, "push failed");
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(!out.empty(), "no output");
    return frame_of(out.back(), info);
  };
  Harness straight(pair.same, info), changed(pair.start, info);
  CHECK(changed.push(gst_buffer_ref(input[0].get())) == GST_FLOW_OK, "push failed");
  changed.push_event(gst_event_new_gap(0, 1));  // both then know one frame alone
  for (const auto& [property, value] : pair.changes) changed.set(property, value);
  const Frame wanted = last_output(straight);
  check_equal(wanted, last_output(changed), info, 0, pair.same);
  CHECK(changed.reports().empty(), "%s: there was a report", pair.same);
}

ELEMENT_TEST(half_of_a_pair_set_while_playing_leaves_the_old_filter_until_the_other_half_comes) {
  const GstVideoInfo info = video_info("GRAY8", 3, 1);
  Harness harness("border-mode=constant kernel=\"<<-1,0,1>>\"", info);
  const auto check = [&](const char* when, const std::vector<int>& wanted, std::size_t warnings) {
    check_of_8_2_5(harness, info, when, wanted);
    const std::vector<Report> reports = harness.reports();
    CHECK(reports.size() == warnings, "%s: %zu reports", when, reports.size());
    for (const Report& report : reports)
      CHECK(report.type == GST_MESSAGE_WARNING && report.text.find("combine is none") != std::string::npos, "%s: %s",
            when, report.text.c_str());
  };
  check("a kernel", {2, 0, 0}, 0);
  harness.set("bank", "<<<-1,0,1>>,<<1,0,0>>>");
  check("half a bank", {2, 0, 0}, 1);
  check("still half a bank", {2, 0, 0}, 0);
  harness.set("combine", "magnitude");
  check("a bank", {2, 9, 3}, 0);
  harness.set("combine", "none");
  check("half a bank again", {2, 9, 3}, 1);
  harness.set("bank", "<  >");
  check("the kernel again", {2, 0, 0}, 0);
}

// --- Refusals ------------------------------------------------------------------------------------------------------

struct Fault {
  const char *name, *property, *value;
  std::vector<const char*> words;
};
const Fault faults[] = {
    {"numbers for kernels", "bank", "<1,2>", {"bank", "kernel 1", "is 1", "array of kernels"}},
    {"rows for kernels", "bank", "<<1,2>,<3,4>>", {"bank", "kernel 1", "array of kernels"}},
    {"a ragged kernel", "bank", "<<<1,2>>,<<1,2>,<3>>>", {"bank", "row 2 of kernel 2", "1 taps"}},
    {"a word", "bank", "<<<1,two>>>", {"bank", "tap 2", "kernel 1", "two"}},
    {"four levels", "bank", "<<<<1>>>>", {"bank", "tap 1", "kernel 1"}},
    {"16 columns", "bank", "<<<1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1>>>", {"16 columns", "1 to 15"}},
    {"17 kernels",
     "bank",
     "<<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>>",
     {"17 kernels", "1 to 16"}},
    {"several frames", "kernel", "<<<1>>,<<2>>>", {"2 frames", "one frame"}},
    {"a preset over time", "preset", "temporal-mean", {"3 frames", "one frame"}},
    {"a radius too large", "radius", "8", {"17 rows", "1 to 15"}},
};

// What every fault is set on: a bank where the fault is the bank's, else what the fault's property decides.
std::string start_of(const Fault& fault) {
  const std::string property = fault.property;
  if (property == "radius") return "preset=sobel";
  return property == "kernel" || property == "preset" ? "combine=max preset=kirsch" : "combine=max";
}

ELEMENT_TEST_ROWS(a_bad_bank_while_playing_leaves_the_old_one_and_warns_of_the_value, std::size(faults)) {
  const Fault& fault = faults[row];
  std::mt19937 random(7);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness(start_of(fault), info);
  const Owned<GstBuffer> input = random_buffer(random, info);
  Frame before;
  for (int i = 0; i < 3; ++i) {
    if (i == 1) harness.set(fault.property, fault.value);
    CHECK(harness.push(gst_buffer_copy_deep(input.get())) == GST_FLOW_OK, "%s: the stream stops", fault.name);
    const Owned<GstBuffer> out = harness.try_pull();
    if (i == 0) before = frame_of(out.get(), info);
    check_buffer(before, out.get(), info, 0, fault.name);
  }
  const std::vector<Report> reports = harness.reports();
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%s: %zu reports", fault.name, reports.size());
  for (const char* word : fault.words)
    CHECK(reports[0].text.find(word) != std::string::npos, "%s: the warning does not say \"%s\": %s", fault.name, word,
          reports[0].text.c_str());
}

ELEMENT_TEST(a_bank_without_a_combination_is_an_error_that_names_them) {
  const Owned<GstElement> element = make_element("bank=\"<<<1>>,<<2>>>\"");
  check_report(start_and_fail(element.get(), "no combination"), "no combination",
               {"combine is none", "2 kernels", "magnitude", "sum-abs", "max-abs"});
  gst_util_set_object_arg(G_OBJECT(element.get()), "combine", "max");
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS, "not READY when mended");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("banks");
}
