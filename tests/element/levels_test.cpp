// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// levels=code: every component is filtered as its code values are, from 0, and bias counts in code values. Its pair
// with bias, whose range as a fraction is smaller.
#include "refusals.hpp"
#include "stream.hpp"

namespace element_test {
namespace {

struct Code {
  const char *format, *colorimetry;
  double border_value, bias;
};
constexpr Code code[] = {
    {"GRAY8", "1:4:0:0", 0, 9},          {"GRAY8", "1:4:0:0", 1, 0.25}, {"I420", "bt709", 1, 64},
    {"NV12", "bt601", 0, -30},           {"RGBA", "sRGB", 0, 128},      {"P010_10LE", "bt709", 1, 300},
    {"I422_12LE", "bt2020", 0, -4000.5}, {"AYUV", "bt709", 1, 4.5},     {"ARGB64_LE", "sRGB", 0, 40000},
};

ELEMENT_TEST_ROWS(with_levels_code_every_component_counts_from_0_and_bias_in_code_values, std::size(code)) {
  const Code& r = code[row];
  std::mt19937 random(31);
  Filtering f;
  f.code_levels = f.alpha = true;
  f.edge = oracle::Edge::constant;
  f.border_value = r.border_value;
  f.bias = r.bias;
  f.kernel = random_kernel(random, 1, 3, 3, 3, 4);
  const GstVideoInfo info = video_info(r.format, 13, 7, r.colorimetry);
  check_stream(kernel_is(f.kernel) + "levels=code border-mode=constant border-value=" + std::to_string(r.border_value) +
                   " bias=" + std::to_string(r.bias) + " components=luma+chroma+red+green+blue+alpha",
               f, info, random_stream(random, info, 1), std::string(r.format) + " " + r.colorimetry);
}

GstVideoInfo flat_info() {
  return video_info("GRAY8", 4, 1);
}

// What a flat frame of 100 becomes. It stays flat, as the border replicates.
int filtered_100(Harness& harness, const char* when) {
  CHECK(harness.push(buffer_of(flat_info(), {100, 100, 100, 100}).release()) == GST_FLOW_OK, "%s: refused", when);
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "%s: no output", when);
  return static_cast<int>(frame_of(out.get(), flat_info()).component[0].samples[1]);
}

struct Added {
  const char* properties;
  int wanted;
};
// A kernel string brings its own bias, and says what it counts in: SVG's a fraction of the range, FFmpeg's code values.
constexpr Added added[] = {
    {"kernel=\"<<1>>\" levels=code bias=3", 3},
    {"preset=box-blur levels=code bias=-3", -3},
    {"kernel-string=\"svg:order='3' kernelMatrix='0 0 0 0 1 0 0 0 0' bias='0.2'\" levels=code bias=77", 51},
    {"kernel-string=\"svg:order='3' kernelMatrix='0 0 0 0 1 0 0 0 0' bias='0.2'\" levels=nominal bias=77", 51},
    {"kernel-string=\"ffmpeg:0m='0 0 0 0 1 0 0 0 0':0bias=9\" levels=code bias=0.5", 9},
    {"kernel-string=\"ffmpeg:0m='0 0 0 0 1 0 0 0 0':0bias=9\" levels=nominal bias=0.5", 9},
};

ELEMENT_TEST_ROWS(the_bias_in_force_counts_in_what_its_source_says, std::size(added)) {
  Harness harness(added[row].properties, flat_info());
  const int found = filtered_100(harness, added[row].properties) - 100;  // the taps sum to 1
  CHECK(found == added[row].wanted, "%s: %d is added, not %d", added[row].properties, found, added[row].wanted);
}

ELEMENT_TEST(a_bias_too_large_for_a_fraction_is_an_error_that_names_levels) {
  const Owned<GstElement> element = make_element("kernel=\"<<1>>\" bias=128");
  check_report(start_and_fail(element.get(), "bias=128"), "bias=128", {"bias is 128; it is -4 to 4", "levels=code"});
  g_object_set(element.get(), "levels", 1, nullptr);
  CHECK(gst_element_set_state(element.get(), GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS,
        "levels=code does not mend it");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

ELEMENT_TEST(bias_and_levels_may_be_set_one_by_one_while_playing) {
  for (const bool bias_first : {false, true}) {
    Harness harness("kernel=\"<<1>>\" bias=0.2", flat_info());
    const auto check = [&](const char* when, int wanted, std::size_t warnings) {
      const int found = filtered_100(harness, when);
      CHECK(found == wanted, "%s: expected %d, found %d", when, wanted, found);
      CHECK(harness.warnings().size() == warnings, "%s: not %zu warnings", when, warnings);
    };
    check("a fraction", 151, 0);
    if (!bias_first) harness.set("levels", "code");
    harness.set("bias", "40");
    if (bias_first) harness.set("levels", "code");
    check("code values", 140, 0);
    harness.set("levels", "nominal");
    check("half of the way back", 140, 1);
    harness.set("bias", "0.2");
    check("a fraction again", 151, 0);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("levels");
}
