// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numeric contract through the element: worked examples, borders, rounding, levels and what changes the taps.
#include <set>
#include <string>

#include "expected.hpp"

namespace element_test {
namespace {

using oracle::Edge;

std::string kernel_is(const oracle::Kernel& kernel) {
  return "kernel=\"" + text_of(kernel) + "\" ";
}
std::string border_is(Edge edge) {
  return std::string("border-mode=") + name_of(edge) + " ";
}

// Runs one GRAY8 row through the element.
std::vector<int> filter_row(const std::string& properties, const std::vector<int>& samples) {
  const GstVideoInfo info = video_info("GRAY8", static_cast<int>(samples.size()), 1);
  Harness harness(properties, info);
  CHECK(harness.push(buffer_of(info, samples).release()) == GST_FLOW_OK, "push failed: %s", properties.c_str());
  harness.push_event(gst_event_new_eos());
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "no output: %s", properties.c_str());
  const Frame frame = frame_of(out.get(), info);
  return {frame.component[0].samples.begin(), frame.component[0].samples.end()};
}

struct Row {
  const char* properties;
  std::vector<int> input, output;
};

const Row rows[] = {
    // The worked examples of the design.
    {"border-mode=constant kernel=\"<<1,3,5,3,1>>\"", {8, 2, 5, 4, 1, 7, 3}, {51, 53, 52, 47, 46, 51, 37}},
    {"border-mode=constant kernel=\"<<2,1,4>>\"", {4, 1, 3, 2, 3}, {8, 21, 13, 20, 7}},
    // Ties go to even, negative sums clamp at 0 and large ones at 255.
    {"kernel=\"<<1/2>>\"", {1, 3, 5, 7, 255}, {0, 2, 2, 4, 128}},
    {"kernel=\"<<0.5>>\"", {1, 3, 5, 7, 255}, {0, 2, 2, 4, 128}},
    {"kernel=\"<<-1>>\"", {0, 1, 255}, {0, 0, 0}},
    {"kernel=\"<<3>>\"", {1, 85, 86, 255}, {3, 255, 255, 255}},
    // An even number of taps has its centre at n/2: tap 1 of 2, so the first tap meets the left neighbour.
    {"border-mode=constant kernel=\"<<1,0>>\"", {1, 2, 3}, {0, 1, 2}},
    {"border-mode=constant kernel=\"<<0,1,0,0>>\"", {1, 2, 3}, {0, 1, 2}},
    // convolve flips the taps, and the centre with them.
    {"border-mode=constant operation=convolve kernel=\"<<1,0>>\"", {1, 2, 3}, {2, 3, 0}},
    {"border-mode=constant operation=convolve kernel=\"<<1,2,4>>\"", {1, 10, 20}, {12, 44, 80}},
    {"border-mode=constant operation=correlate kernel=\"<<1,2,4>>\"", {1, 10, 20}, {42, 101, 50}},
    // scale, normalize and bias.
    {"scale=2 kernel=\"<<1>>\"", {1, 2, 200}, {2, 4, 255}},
    {"scale=0.5 kernel=\"<<1,1,1>>\"", {3, 3, 3}, {4, 4, 4}},
    {"normalize=true kernel=\"<<1,2,1>>\"", {10, 10, 20}, {10, 12, 18}},
    {"normalize=true kernel=\"<<-1,0,1>>\"", {10, 20, 40}, {10, 30, 20}},
    {"normalize=true scale=2 kernel=\"<<1,2,1>>\"", {10, 10, 20}, {20, 25, 35}},
    {"bias=0.5 kernel=\"<<-1,0,1>>\"", {10, 10, 13}, {128, 130, 130}},
    {"bias=-0.2 kernel=\"<<1>>\"", {10, 51, 61}, {0, 0, 10}},
    {"bias=1 kernel=\"<<-1>>\"", {0, 1, 255}, {255, 254, 0}},
    // Borders: the same five-tap shift looks two to the left of each sample.
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=constant", {1, 2, 3, 4}, {0, 0, 1, 2}},
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=constant border-value=1", {1, 2, 3, 4}, {255, 255, 1, 2}},
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=replicate", {1, 2, 3, 4}, {1, 1, 1, 2}},
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=reflect", {1, 2, 3, 4}, {2, 1, 1, 2}},
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=reflect-101", {1, 2, 3, 4}, {3, 2, 1, 2}},
    {"kernel=\"<<1,0,0,0,0>>\" border-mode=wrap", {1, 2, 3, 4}, {3, 4, 1, 2}},
    // A kernel wins over a preset.
    {"preset=box-blur kernel=\"<<2>>\"", {1, 2, 3}, {2, 4, 6}},
};

ELEMENT_TEST_ROWS(a_row_of_grey_samples_becomes_exactly_what_the_table_says, std::size(rows)) {
  const Row& r = rows[row];
  const std::vector<int> found = filter_row(r.properties, r.input);
  for (std::size_t i = 0; i < r.output.size(); ++i)
    CHECK(found[i] == r.output[i], "%s: sample %zu: expected %d, found %d", r.properties, i, r.output[i], found[i]);
}

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1}, {2, 3}, {7, 5}, {33, 31}, {101, 2}};
constexpr Size shapes[] = {{1, 1}, {3, 3}, {5, 2}, {2, 4}, {1, 15}, {15, 15}};

ELEMENT_TEST(every_border_mode_of_the_element_is_one_that_these_tests_know) {
  const Owned<GstElement> element = make_element();
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "border-mode");
  const GEnumClass* modes = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::set<std::string> known;
  for (const Edge edge : edges) known.insert(name_of(edge));
  for (guint i = 0; i < modes->n_values; ++i)
    CHECK(known.erase(modes->values[i].value_nick) == 1, "no test has border-mode=%s", modes->values[i].value_nick);
  CHECK(known.empty(), "the element has no border-mode=%s", known.begin()->c_str());
}

ELEMENT_TEST_ROWS(every_border_folds_over_frames_smaller_than_the_filter, std::size(edges)) {
  std::mt19937 random(1);
  for (const Size size : sizes)
    for (const Size shape : shapes) {
      Filtering f;
      f.edge = edges[row];
      f.border_value = f.edge == Edge::constant ? 0.2 : 0;  // 0.2 * 255 = 51, a whole code value
      f.kernel = random_kernel(random, 1, shape.height, shape.width, 9, 16);
      const GstVideoInfo info = video_info("GRAY8", size.width, size.height);
      check_stream(kernel_is(f.kernel) + border_is(f.edge) + "border-value=" + std::to_string(f.border_value), f, info,
                   random_stream(random, info, 1), std::string(name_of(f.edge)) + " " + text_of(f.kernel));
    }
}

ELEMENT_TEST_ROWS(convolve_flips_even_and_odd_kernels_of_both_dimensions, std::size(shapes)) {
  std::mt19937 random(2);
  Filtering f;
  const oracle::Kernel kernel = random_kernel(random, 1, shapes[row].height, shapes[row].width, 5, 4);
  f.kernel = flipped(kernel);
  const GstVideoInfo info = video_info("I420", 17, 9);
  check_stream(kernel_is(kernel) + "operation=convolve", f, info, random_stream(random, info, 1), text_of(kernel));
}

// The levels that a flat frame of each kind has under a filter whose taps sum to 0.
struct Level {
  const char *format, *colorimetry;
  int luma, chroma, luma_with_half_bias;  // of the first and the second component
};
constexpr Level levels[] = {
    {"I420", "bt709", 16, 128, 126},       // 16 + 109.5, to even
    {"NV12", "bt601", 16, 128, 126},       //
    {"I420", "1:4:0:0", 0, 128, 128},      // full range: 127.5, to even
    {"I420_10LE", "bt709", 64, 512, 502},  // 64 + 438
    {"P010_10LE", "bt709", 64, 512, 502},  //
    {"Y444_16LE", "bt709", 4096, 32768, 32128},
    {"RGB", "sRGB", 0, 0, 128},
    {"GBR_12LE", "sRGB", 0, 0, 2048},  // 2047.5, to even
};

ELEMENT_TEST_ROWS(an_edge_filter_leaves_flat_luma_at_black_and_chroma_neutral, std::size(levels)) {
  const Level& level = levels[row];
  const GstVideoInfo info = video_info(level.format, 6, 6, level.colorimetry);
  const bool rgb = GST_VIDEO_INFO_IS_RGB(&info);
  for (const bool biased : {false, true}) {
    Harness harness(std::string("preset=sobel-x bias=") + (biased ? "0.5" : "0"), info);
    const Owned<GstBuffer> flat(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
    gst_buffer_memset(flat.get(), 0, GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8 ? 77 : 1, GST_VIDEO_INFO_SIZE(&info));
    CHECK(harness.push(gst_buffer_ref(flat.get())) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output");
    const Frame found = frame_of(out.get(), info);
    const int first = biased ? level.luma_with_half_bias : level.luma;
    const int second = rgb ? first : level.chroma;
    CHECK(found.component[0].samples[7] == first && found.component[1].samples[3] == second,
          "%s %s bias %d: expected %d and %d, found %g and %g", level.format, level.colorimetry, biased, first, second,
          found.component[0].samples[7], found.component[1].samples[3]);
  }
}

// Limited and full range, borders with a level, bias: all of the table of levels at once.
struct Ranged {
  const char *format, *colorimetry;
  double border_value, bias;
};
constexpr Ranged ranged[] = {
    {"I420", "bt709", 0, 0},         {"I420", "bt709", 1, 0.25},      {"I420", "1:4:0:0", 1, 0.2},
    {"NV12", "bt601", 1, -0.5},      {"P010_10LE", "bt709", 1, 0.5},  {"P010_10LE", "1:4:0:0", 1, 0},
    {"I422_12LE", "bt2020", 1, 0.1}, {"Y444_16LE", "bt709", 0, 0.1},  {"RGBA", "sRGB", 0.2, 0.2},
    {"AYUV", "bt709", 1, 0.125},     {"ARGB64_LE", "sRGB", 1, 0.001}, {"YUY2", "bt601", 1, 0.25},
};

ELEMENT_TEST_ROWS(zero_levels_ghost_levels_and_bias_follow_the_colour_range, std::size(ranged)) {
  const Ranged& r = ranged[row];
  std::mt19937 random(4);
  Filtering f;
  f.edge = Edge::constant;
  f.border_value = r.border_value;
  f.bias = r.bias;
  f.alpha = true;
  f.kernel = random_kernel(random, 1, 3, 3, 3, 4);
  const GstVideoInfo info = video_info(r.format, 13, 7, r.colorimetry);
  check_stream(kernel_is(f.kernel) + border_is(f.edge) + "border-value=" + std::to_string(r.border_value) +
                   " bias=" + std::to_string(r.bias) + " components=luma+chroma+red+green+blue+alpha",
               f, info, random_stream(random, info, 1), std::string(r.format) + " " + r.colorimetry);
}

struct Parts {
  const char* components;
  bool luma, chroma, red, green, blue, alpha;
};
constexpr Parts parts[] = {
    {"luma", true, false, false, false, false, false},          {"chroma", false, true, false, false, false, false},
    {"red", false, false, true, false, false, false},           {"green+blue", false, false, false, true, true, false},
    {"alpha", false, false, false, false, false, true},         {"luma+alpha", true, false, false, false, false, true},
    {"red+green+alpha", false, false, true, true, false, true},
};

ELEMENT_TEST_ROWS(components_not_named_are_copied, std::size(parts)) {
  const Parts& p = parts[row];
  std::mt19937 random(5);
  for (const char* format : {"I420", "A420", "NV21", "AYUV", "RGBA", "ABGR", "BGR", "GBRA", "GRAY8", "UYVY", "BGRP"}) {
    Filtering f{random_kernel(random, 1, 3, 5, 4, 8)};
    f.luma = p.luma, f.chroma = p.chroma, f.red = p.red, f.green = p.green, f.blue = p.blue, f.alpha = p.alpha;
    const GstVideoInfo info = video_info(format, 11, 7);
    check_stream(kernel_is(f.kernel) + "components=" + p.components, f, info, random_stream(random, info, 1),
                 std::string(format) + " " + p.components);
  }
}

ELEMENT_TEST(alpha_is_copied_by_default) {
  std::mt19937 random(6);
  for (const char* format : {"RGBA", "BGRA", "ARGB", "ABGR", "AYUV", "VUYA", "A420", "GBRA", "RGBA64_LE"}) {
    const Filtering f{make_kernel(1, 1, 3, {1, 1, 1}, 4)};
    const GstVideoInfo info = video_info(format, 9, 5);
    check_stream(kernel_is(f.kernel), f, info, random_stream(random, info, 1), format);
  }
}

// Sums past 24 bits, and taps that are no fractions: within one code value of the oracle.
ELEMENT_TEST(sixteen_bit_samples_and_real_taps_stay_within_one_code_value) {
  std::mt19937 random(7);
  for (const char* format : {"GRAY16_LE", "P016_LE", "Y444_16LE", "GRAY8", "I420_10LE", "ARGB64_LE"})
    for (const Size shape : shapes) {
      const GstVideoInfo info = video_info(format, 19, 17);
      const Filtering whole{random_kernel(random, 1, shape.height, shape.width, 3000)};
      check_stream(kernel_is(whole.kernel) + "bias=0", whole, info, random_stream(random, info, 1), format);
      const Filtering real{random_real_kernel(random, 1, shape.height, shape.width)};
      check_stream(kernel_is(real.kernel), real, info, random_stream(random, info, 1), format);
    }
}

ELEMENT_TEST(padding_bits_of_formats_in_the_high_bits_come_out_zero) {
  std::mt19937 random(8);
  for (const char* format : {"P010_10LE", "P012_LE"}) {
    const GstVideoInfo info = video_info(format, 8, 6);
    Harness harness("kernel=\"<<1,2,1>>\" normalize=true", info);
    CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    GstVideoFrame frame;
    CHECK(out && gst_video_frame_map(&frame, &info, out.get(), GST_MAP_READ), "no output");
    const int low = (1 << GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0)) - 1;
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 8; ++x) {
        const auto* line = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                           static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
        CHECK((line[2 * x] & low) == 0, "%s: sample (%d, %d) has padding bits 0x%x", format, x, y, line[2 * x] & low);
      }
    gst_video_frame_unmap(&frame);
  }
}

// Presets, by name; the sums are the design's: a blur's taps sum to 1, a derivative's to 0.
ELEMENT_TEST(presets_that_blur_keep_a_flat_frame_and_derivatives_blacken_it) {
  const Owned<GstElement> probe = make_element();
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(probe.get()), "preset");
  const GEnumClass* nicks = G_PARAM_SPEC_ENUM(spec)->enum_class;
  int blurs = 0, derivatives = 0;
  for (guint i = 0; i < nicks->n_values; ++i) {
    const std::string nick = nicks->values[i].value_nick;
    if (nick == "gabor") continue;                                          // its sum depends on its parameters
    if (g_str_has_prefix(nicks->values[i].value_name, "Bank: ")) continue;  // banks_test.cpp has them
    const bool derivative = nick.starts_with("sobel") || nick.starts_with("scharr") || nick.starts_with("prewitt") ||
                            nick.starts_with("laplacian") || nick.ends_with("-difference") ||
                            nick.starts_with("difference-");
    (derivative ? derivatives : blurs)++;
    for (int radius = 0; radius <= 7; radius += 7) {
      const std::vector<int> found =
          filter_row("preset=" + nick + " radius=" + std::to_string(radius) + " angle=30", std::vector<int>(20, 201));
      for (std::size_t x = 0; x < found.size(); ++x)
        CHECK(found[x] == (derivative ? 0 : 201), "%s radius %d: sample %zu is %d", nick.c_str(), radius, x, found[x]);
    }
  }
  CHECK(blurs == 9 && derivatives == 10, "the element has %d presets", blurs + derivatives);
}

struct Preset {
  const char *properties, *kernel;
};
constexpr Preset presets[] = {
    {"preset=box-blur radius=1", "<<1/9,1/9,1/9>,<1/9,1/9,1/9>,<1/9,1/9,1/9>>"},
    {"preset=sharpen", "<<0,-1,0>,<-1,5,-1>,<0,-1,0>>"},
    {"preset=sharpen amount=0.5", "<<0,-0.5,0>,<-0.5,3,-0.5>,<0,-0.5,0>>"},
    {"preset=laplacian bias=0.5", "<<0,1,0>,<1,-4,1>,<0,1,0>>"},
    {"preset=sobel-x bias=0.5", "<<-1,0,1>,<-2,0,2>,<-1,0,1>>"},
    {"preset=sobel-y bias=0.5", "<<-1,-2,-1>,<0,0,0>,<1,2,1>>"},
    {"preset=scharr-x", "<<-3,0,3>,<-10,0,10>,<-3,0,3>>"},
    {"preset=scharr-y", "<<-3,-10,-3>,<0,0,0>,<3,10,3>>"},
    {"preset=prewitt-x", "<<-1,0,1>,<-1,0,1>,<-1,0,1>>"},
    {"preset=prewitt-y", "<<-1,-1,-1>,<0,0,0>,<1,1,1>>"},
    {"preset=motion-blur radius=2 angle=0", "<<1/5,1/5,1/5,1/5,1/5>>"},
    {"preset=motion-blur radius=1 angle=90", "<<1/3>,<1/3>,<1/3>>"},
};

ELEMENT_TEST_ROWS(a_preset_equals_the_kernel_that_the_field_knows_by_its_name, std::size(presets)) {
  std::mt19937 random(9);
  const GstVideoInfo info = video_info("GRAY8", 23, 11);
  const Owned<GstBuffer> input = random_buffer(random, info);
  std::vector<Frame> found;
  std::string bias = std::string(presets[row].properties).find("bias") == std::string::npos ? "" : " bias=0.5";
  for (const std::string& properties :
       {std::string(presets[row].properties), "kernel=\"" + std::string(presets[row].kernel) + "\"" + bias}) {
    Harness harness(properties, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed: %s", properties.c_str());
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output: %s", properties.c_str());
    found.push_back(frame_of(out.get(), info));
  }
  check_equal(found[1], found[0], info, 0, presets[row].properties);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("numbers");
}
