// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The window of frames: its pictures at every border and depth, and one output for each input.
#include <algorithm>

#include "stream.hpp"

namespace element_test {
namespace {

using oracle::Edge;

// --- Pictures ------------------------------------------------------------------------------------------------------

ELEMENT_TEST_ROWS(streams_of_1_to_20_frames_match_the_oracle_at_every_border_and_depth, std::size(edges)) {
  std::mt19937 random(30);
  const GstVideoInfo info = small();
  for (const int depth : {2, 3, 4, 5, 15})
    for (const int frames : {1, 2, 3, 5, 20}) {
      Filtering f;
      f.edge = edges[row];
      f.kernel = random_kernel(random, depth, 1, 3, 9, 16);
      const std::vector<Owned<GstBuffer>> input = random_stream(random, info, frames);
      const std::string border = std::string("border-mode=") + name_of(f.edge);
      const std::string label = border + ", depth " + std::to_string(depth) + ", " + std::to_string(frames) + " frames";
      check_stream(kernel_is(f.kernel) + border, f, info, input, label);
      Filtering newest = f;
      newest.kernel = causal(f.kernel);
      check_stream(kernel_is(f.kernel) + border + " window=causal", newest, info, input, label + ", causal");
    }
}

ELEMENT_TEST(frames_of_ghost_cells_have_the_border_value) {
  std::mt19937 random(31);
  Filtering f{random_kernel(random, 5, 3, 3, 5, 16)};
  f.edge = Edge::constant;
  f.border_value = 1;
  for (const char* format : {"GRAY8", "I420", "RGBA"}) {
    const GstVideoInfo info = video_info(format, 9, 5);
    check_stream(kernel_is(f.kernel) + "border-mode=constant border-value=1", f, info, random_stream(random, info, 4),
                 format);
  }
}

ELEMENT_TEST(every_kind_of_format_takes_a_filter_of_time_and_space) {
  std::mt19937 random(32);
  const Filtering f{random_kernel(random, 3, 3, 3, 5, 16)};
  for (const char* format : {"I420", "NV12", "P010_10LE", "Y444_16LE", "RGB", "BGRA", "YUY2", "AYUV64", "GBR_10LE"}) {
    const GstVideoInfo info = video_info(format, 11, 7);
    check_stream(kernel_is(f.kernel), f, info, random_stream(random, info, 5), format);
  }
}

// Flipped, an even number of frames has more of them after its centre than before.
ELEMENT_TEST_ROWS(convolve_flips_time_as_it_flips_space, std::size(edges)) {
  std::mt19937 random(33);
  const GstVideoInfo info = small();
  for (const int depth : {2, 3, 4, 6, 14}) {
    const oracle::Kernel kernel = random_kernel(random, depth, 2, 3, 5, 16);
    Filtering f{flipped(kernel)};
    f.edge = edges[row];
    check_stream(kernel_is(kernel) + "operation=convolve border-mode=" + name_of(f.edge), f, info,
                 random_stream(random, info, 20), std::string(name_of(f.edge)) + ", depth " + std::to_string(depth));
  }
}

ELEMENT_TEST(temporal_presets_are_what_they_say) {
  std::mt19937 random(34);
  const GstVideoInfo info = small();
  struct Row {
    const char* properties;
    oracle::Kernel kernel;
  };
  for (const Row& row :
       {Row{"preset=temporal-mean temporal-radius=1", make_kernel(3, 1, 1, {1, 1, 1}, 3)},
        Row{"preset=temporal-mean temporal-radius=2", make_kernel(5, 1, 1, {1, 1, 1, 1, 1}, 5)},
        Row{"preset=temporal-mean temporal-radius=1 window=causal", causal(make_kernel(3, 1, 1, {1, 1, 1}, 3))},
        Row{"preset=temporal-difference window=causal", causal(make_kernel(2, 1, 1, {-1, 1}))},
        Row{"preset=temporal-difference", make_kernel(2, 1, 1, {-1, 1})},
        Row{"preset=temporal-mean temporal-radius=0", make_kernel(1, 1, 1, {1})}})
    check_stream(row.properties, Filtering{row.kernel}, info, random_stream(random, info, 8), row.properties);
}

// --- One output for each input ---------------------------------------------------------------------------------

ELEMENT_TEST(an_output_leaves_when_the_last_frame_of_its_window_has_come) {
  std::mt19937 random(35);
  const GstVideoInfo info = small();
  for (const auto& [properties, ahead] : {std::pair{kernel_is(five()), 2},
                                          {kernel_is(five()) + "window=causal", 0},
                                          {kernel_is(make_kernel(4, 1, 1, {1, 1, 1, 1})), 1}}) {
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
    Harness harness(properties, info);
    for (int i = 0; i < 8; ++i) {
      push_all(harness, input, i, i + 1);
      const int out = static_cast<int>(harness.tape().buffer_count());
      CHECK(out == std::max(0, i + 1 - ahead), "%s: %d outputs after %d inputs", properties.c_str(), out, i + 1);
    }
    harness.push_event(gst_event_new_eos());
    CHECK(harness.tape().buffer_count() == 8, "%s: outputs are lost at EOS", properties.c_str());
  }
}

ELEMENT_TEST(flags_and_times_are_those_of_the_centre_frame) {
  std::mt19937 random(36);
  const GstVideoInfo info = small();
  for (const bool is_causal : {false, true}) {
    std::vector<Owned<GstBuffer>> input = random_stream(random, info, 6);
    for (int i = 0; i < 6; ++i) {
      GST_BUFFER_DTS(input[i].get()) = 1000 + i;
      GST_BUFFER_OFFSET_END(input[i].get()) = 500 + i;
      if (i % 2) GST_BUFFER_FLAG_SET(input[i].get(), GST_BUFFER_FLAG_MARKER);
      if (i % 3) GST_BUFFER_FLAG_SET(input[i].get(), GST_BUFFER_FLAG_DELTA_UNIT);
    }
    Harness harness(kernel_is(three()) + (is_causal ? "window=causal" : ""), info);
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(out.size() == 6, "%zu outputs", out.size());
    for (int i = 0; i < 6; ++i) {
      CHECK(GST_BUFFER_DTS(out[i]) == GST_BUFFER_DTS(input[i].get()) &&
                GST_BUFFER_OFFSET_END(out[i]) == GST_BUFFER_OFFSET_END(input[i].get()),
            "output %d has another's dts or offset-end", i);
      for (const auto flag : {GST_BUFFER_FLAG_MARKER, GST_BUFFER_FLAG_DELTA_UNIT})
        CHECK(GST_BUFFER_FLAG_IS_SET(out[i], flag) == GST_BUFFER_FLAG_IS_SET(input[i].get(), flag),
              "output %d has another's flags", i);
    }
  }
}

ELEMENT_TEST(no_output_is_marked_discont_but_the_first) {
  std::mt19937 random(37);
  const GstVideoInfo info = small();
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 6);
  GST_BUFFER_FLAG_SET(input[0].get(), GST_BUFFER_FLAG_DISCONT);
  Harness harness(kernel_is(five()), info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  const std::vector<GstBuffer*> out = harness.tape().buffers();
  for (std::size_t i = 1; i < out.size(); ++i)
    CHECK(!GST_BUFFER_FLAG_IS_SET(out[i], GST_BUFFER_FLAG_DISCONT), "output %zu is marked DISCONT", i);
}

ELEMENT_TEST(timestamps_out_of_order_keep_their_order_of_arrival) {
  std::mt19937 random(38);
  const GstVideoInfo info = small();
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 6);
  const int order[] = {3, 0, 5, 1, 1, 4};
  for (int i = 0; i < 6; ++i) stamp(input[i].get(), order[i]);
  GST_BUFFER_PTS(input[2].get()) = GST_CLOCK_TIME_NONE;
  const Filtering f{three()};
  Harness harness(kernel_is(f.kernel), info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  check_tape(harness, expected(f, frames_of(input, info), info), input, info, "out of order");
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("window");
}
