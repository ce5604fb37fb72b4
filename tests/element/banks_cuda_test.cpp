// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels on the CUDA backend: which algorithm serves them, and a live change to one and back stays on the
// GPU. Skipped without a GPU, or its stand-in.
#include <random>

#include "frames.hpp"

namespace element_test {
namespace {

ELEMENT_TEST(a_bank_set_while_playing_and_taken_back_stays_on_the_gpu) {
  std::mt19937 random(5);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  for (const char* backend : {"backend=auto", "backend=cuda"}) {
    // Of banks, the tensor cores have none of five rows.
    Harness harness(std::string(backend) + " kernel=\"<<1>,<2>,<3>,<2>,<1>>\" normalize=true", info);
    for (int i = 0; i < 6; ++i) {
      if (i == 2) harness.set("combine", "magnitude");
      if (i == 4) harness.set("combine", "none");
      CHECK(harness.push(random_buffer(random, info, i).release()) == GST_FLOW_OK, "push %d failed", i);
      const std::string found = harness.string("active-backend");
      CHECK(found == "cuda", "%s, frame %d: active-backend is %s", backend, i, found.c_str());
      const std::string algorithm = harness.string("active-algorithm");
      CHECK((algorithm == "tiled") == (i == 2 || i == 3), "%s, frame %d: active-algorithm is %s", backend, i,
            algorithm.c_str());
    }
    CHECK(harness.tape().buffer_count() == 6, "%zu frames came out", harness.tape().buffer_count());
    CHECK(harness.reports().empty(), "%s: a message", backend);
  }
}

ELEMENT_TEST(an_algorithm_that_knows_no_banks_is_an_error_that_names_the_one_that_does) {
  std::mt19937 random(6);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=cuda algorithm=cached-halo preset=sobel", info);
  CHECK(harness.push(random_buffer(random, info).release()) != GST_FLOW_OK, "the frame is taken");
  CHECK(harness.try_pull() == nullptr, "a frame comes out");
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.size() == 1, "%zu errors", errors.size());
  for (const char* word : {"banks of kernels", "these do: auto, tiled"})
    CHECK((errors[0].text + errors[0].debug).find(word) != std::string::npos, "it does not say \"%s\": %s (%s)", word,
          errors[0].text.c_str(), errors[0].debug.c_str());
}

ELEMENT_TEST(a_bank_set_while_playing_that_the_forced_algorithm_does_not_serve_leaves_the_old_filter_and_warns) {
  std::mt19937 random(7);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=cuda algorithm=cached-halo preset=box-blur", info);
  for (int i = 0; i < 3; ++i) {
    if (i == 1) harness.set("preset", "kirsch");
    CHECK(harness.push(random_buffer(random, info, i).release()) == GST_FLOW_OK, "push %d failed", i);
  }
  const std::string algorithm = harness.string("active-algorithm");
  CHECK(algorithm == "cached-halo", "active-algorithm is %s", algorithm.c_str());
  const std::vector<Report> reports = harness.reports();
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("banks-cuda");
}
