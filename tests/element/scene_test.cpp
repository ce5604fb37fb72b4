// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// scene-threshold: a filter over several frames blends no two scenes.
#include <cmath>
#include <cstdio>

#include "stream.hpp"

namespace element_test {
namespace {

// Frames of one colour each: level `levels[i]` of the components that `moves` names, in the middle of the range else.
std::vector<Owned<GstBuffer>> frames_at(const GstVideoInfo& info, const std::vector<int>& levels, unsigned moves = 1) {
  std::vector<Owned<GstBuffer>> out;
  std::mt19937 random(1);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Owned<GstBuffer> buffer = random_buffer(random, info, static_cast<int>(i));
    std::vector<int> levels_now;
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c)
      levels_now.push_back(moves >> c & 1 ? levels[i] : 90);
    make_flat(buffer.get(), info, levels_now);
    out.push_back(std::move(buffer));
  }
  return out;
}

void check_cuts(const std::string& properties, const Filtering& f, const GstVideoInfo& info,
                const std::vector<Owned<GstBuffer>>& input, const std::vector<std::size_t>& cuts,
                const std::string& label) {
  Harness harness(properties + kernel_is(f.kernel), info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  check_tape(harness, expected_of_parts(f, input, info, cuts), input, info, label);
}

}  // namespace

ELEMENT_TEST(each_scene_is_a_stream_of_its_own) {
  const GstVideoInfo info = small();
  const auto input = frames_at(info, {10, 20, 30, 200, 210, 205, 60, 50, 55, 50, 52});
  for (const oracle::Kernel& kernel : {three(), five()})
    for (const oracle::Edge edge : {oracle::Edge::replicate, oracle::Edge::reflect, oracle::Edge::constant}) {
      Filtering f{kernel};
      f.edge = edge;
      const std::string mode = std::string("border-mode=") + name_of(edge) + " ";
      check_cuts(mode + "scene-threshold=0.3 ", f, info, input, {3, 6}, "threshold 0.3, " + mode);
      check_cuts(mode, f, info, input, {}, "off, " + mode);
      check_cuts(mode + "scene-threshold=1 ", f, info, input, {}, "threshold 1, " + mode);
    }
}

struct Step {
  const char* format;
  const char* colorimetry;
  int from, below, above;  // levels that differ from `from` by a little less and a little more than a tenth
  unsigned moves;          // bit c: component c
};
constexpr Step steps[] = {
    {"I420", "bt601", 60, 81, 82, 1},                                                  // 21 and 22 of 219
    {"I420", "1:4:0:0", 60, 85, 86, 1},                                                // 25 and 26 of 255
    {"YUY2", "bt601", 60, 81, 82, 1},       {"I420_10LE", "bt709", 240, 327, 328, 1},  // 87 and 88 of 876
    {"UYVY", "bt601", 60, 81, 82, 1},       {"RGBA", nullptr, 60, 95, 96, 2},          // 0.7152 of 35 and 36 of 255
    {"GBR_10LE", nullptr, 60, 541, 542, 1},                                            // 0.2126 of 481 and 482 of 1023
    {"Y210", "bt709", 240, 327, 328, 1},                                               // the same, in the high bits
    {"I420", "bt601", 60, 200, 200, 6},                                                // chroma alone is no cut
};

ELEMENT_TEST_ROWS(the_threshold_is_a_fraction_of_the_range_of_luma, std::size(steps)) {
  const Step& step = steps[row];
  const GstVideoInfo info = video_info(step.format, 12, 6, step.colorimetry);
  const Filtering f{three()};
  check_cuts("scene-threshold=0.1 ", f, info,
             frames_at(info, {step.from, step.from, step.below, step.below}, step.moves), {}, "below");
  std::vector<std::size_t> cuts;
  if (step.below != step.above) cuts.push_back(2);
  check_cuts("scene-threshold=0.1 ", f, info,
             frames_at(info, {step.from, step.from, step.above, step.above}, step.moves), cuts, "above");
}

ELEMENT_TEST(the_threshold_may_change_while_playing) {
  const GstVideoInfo info = small();
  const Filtering f{three()};
  const auto input = frames_at(info, {10, 10, 200, 200, 10, 10, 200, 200});
  Harness harness(kernel_is(f.kernel), info);
  push_all(harness, input, 0, 4);
  g_object_set(harness.element(), "scene-threshold", 0.5, nullptr);
  push_all(harness, input, 4);
  harness.push_event(gst_event_new_eos());
  check_tape(harness, expected_of_parts(f, input, info, {4, 6}), input, info, "set while playing");
}

// Only where the tests run on the CUDA backend: there is no such memory elsewhere.
ELEMENT_TEST(a_scene_in_cuda_memory_ends_as_one_in_system_memory) {
  if (std::string(test_backend()) != "cuda") return;
  for (const char* format : {"NV12", "RGBA", "P010_10LE", "I420"}) {
    const GstVideoInfo info = video_info(format, 34, 22);
    const Filtering f{five()};
    const auto input = frames_at(info, {10, 20, 30, 200, 210, 205, 60, 50, 55, 50, 52}, 7);
    Harness harness(parse_chain("cudaupload ! video/x-raw(memory:CUDAMemory) ! ${convolve} scene-threshold=0.3 " +
                                kernel_is(f.kernel) + "! video/x-raw(memory:CUDAMemory) ! cudadownload"));
    harness.set_caps(info);
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    // Of 10 bits, the levels differ by less than a tenth.
    const bool cut = GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8;
    check_tape(harness,
               expected_of_parts(f, input, info, cut ? std::vector<std::size_t>{3, 6} : std::vector<std::size_t>{}),
               input, info, format);
  }
}

// Rows of 16-bit luma may begin at odd addresses: a row is read as it lies, where nothing else asks for a copy.
ELEMENT_TEST(scenes_end_alike_whatever_the_layout_of_their_frames) {
  std::mt19937 random(2);
  for (const char* format : {"I420_10LE", "P010_10LE", "GRAY16_LE", "Y210", "ARGB64", "GBR_12LE"}) {
    const GstVideoInfo info = video_info(format, 21, 13);
    const int unit = 1 << (GST_VIDEO_INFO_COMP_DEPTH(&info, 0) - 8);
    const Filtering f{three()};
    const auto dense = frames_at(info, {60 * unit, 70 * unit, 75 * unit, 200 * unit, 210 * unit, 90 * unit}, 15);
    for (const Layout& layout :
         {Layout{.name = "odd strides", .stride_extra = 3}, Layout{.name = "odd offsets", .offset_extra = 7},
          Layout{.name = "both", .stride_extra = 1, .offset_extra = 1},
          Layout{.name = "bottom up", .stride_extra = 5, .bottom_up = true}}) {
      std::vector<Owned<GstBuffer>> input;
      for (const Owned<GstBuffer>& frame : dense) input.push_back(relaid(random, frame.get(), info, layout));
      check_cuts("scene-threshold=0.3 ", f, info, input, {3, 5}, std::string(format) + ", " + layout.name);
    }
  }
}

ELEMENT_TEST(frames_of_noise_are_cut_where_the_sum_says) {
  const GstVideoInfo info = video_info("I420", 35, 11);
  const Filtering f{three()};
  std::mt19937 random(5);
  const auto input = random_stream(random, info, 6);
  // The mean difference of each pair, by its definition.
  std::vector<double> mean;
  for (std::size_t i = 1; i < input.size(); ++i) {
    const Frame before = frame_of(input[i - 1].get(), info), after = frame_of(input[i].get(), info);
    double sum = 0;
    for (std::size_t s = 0; s < before.component[0].samples.size(); ++s)
      sum += std::abs(before.component[0].samples[s] - after.component[0].samples[s]);
    mean.push_back(sum / 219 / 35 / 11);
  }
  // One hair above and below each.
  for (const double threshold : mean)
    for (const double hair : {-1e-9, 1e-9}) {
      std::vector<std::size_t> cuts;
      for (std::size_t i = 0; i < mean.size(); ++i)
        if (mean[i] > threshold + hair) cuts.push_back(i + 1);
      char text[64];
      std::snprintf(text, sizeof text, "scene-threshold=%.12f ", threshold + hair);
      check_cuts(text, f, info, input, cuts, text);
    }
}

}  // namespace element_test

int main() {
  return element_test::run_tests("scene");
}
