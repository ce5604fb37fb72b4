// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Filters that change nothing hand the very buffer on; several elements, and several threads, give the same frames.
#include <memory>

#include "expected.hpp"

namespace element_test {
namespace {

// --- Passthrough -------------------------------------------------------------------------------------------------

struct Same {
  const char* properties;
  bool passes;
};
constexpr Same same[] = {
    {"", true},
    {"preset=identity", true},
    {"kernel=\"<<1>>\"", true},
    {"kernel=\"<<0,0,0>,<0,1,0>,<0,0,0>>\"", true},
    {"kernel=\"<<2>>\" normalize=true", true},
    {"preset=box-blur radius=0", true},
    {"kernel=\"<<1>>\" bias=0.1", false},
    {"kernel=\"<<1,0,0>>\"", false},
    {"preset=identity scale=2", false},
    {"preset=box-blur", false},
};

ELEMENT_TEST_ROWS(the_identity_filter_hands_on_the_very_buffer, std::size(same)) {
  std::mt19937 random(6);
  const GstVideoInfo info = video_info("NV12", 16, 16);
  Harness harness(same[row].properties, info);
  const Owned<GstBuffer> input = random_buffer(random, info);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "%s: no output", same[row].properties);
  CHECK((out == input) == same[row].passes, "%s: the buffer is %s", same[row].properties,
        out == input ? "handed on" : "another");
}

ELEMENT_TEST(passthrough_comes_and_goes_with_the_filter_while_playing) {
  std::mt19937 random(7);
  const GstVideoInfo info = video_info("RGBA", 16, 16);
  Harness harness("", info);
  for (int i = 0; i < 8; ++i) {
    harness.set("preset", i % 2 ? "sharpen" : "identity");
    const Owned<GstBuffer> input = random_buffer(random, info, i);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out && (out == input) == (i % 2 == 0), "frame %d: passthrough is not as the filter asks", i);
    const Filtering f{i % 2 ? make_kernel(1, 3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}) : make_kernel(1, 1, 1, {1})};
    check_buffer(expected(f, frame_of(input.get(), info), info), out.get(), info, 0, "frame " + std::to_string(i));
  }
}

// --- Neighbours and threads ----------------------------------------------------------------------------------------

ELEMENT_TEST(two_elements_in_one_process_keep_their_own_filters) {
  std::mt19937 random(8);
  const GstVideoInfo info = video_info("I420", 24, 16);
  std::vector<std::unique_ptr<Harness>> harnesses;
  std::vector<Filtering> filters;
  for (int i = 0; i < 4; ++i) {
    filters.push_back({random_kernel(random, 1, 3, 3, 6, 8)});
    harnesses.push_back(std::make_unique<Harness>("kernel=\"" + text_of(filters[i].kernel) + "\"", info));
  }
  for (int frame = 0; frame < 5; ++frame)
    for (int i = 0; i < 4; ++i) {
      const Owned<GstBuffer> input = random_buffer(random, info, frame);
      CHECK(harnesses[i]->push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
      check_buffer(expected(filters[i], frame_of(input.get(), info), info), harnesses[i]->try_pull().get(), info, 0,
                   "element " + std::to_string(i));
    }
}

ELEMENT_TEST(any_number_of_threads_gives_the_same_frame) {
  std::mt19937 random(9);
  const GstVideoInfo info = video_info("NV12", 130, 70);
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 2);
  const Filtering f{random_kernel(random, 1, 7, 7, 3, 8)};
  for (const char* threads : {"1", "2", "7", "64"})
    check_stream("kernel=\"" + text_of(f.kernel) + "\" n-threads=" + threads, f, info, input, threads);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("passthrough");
}
