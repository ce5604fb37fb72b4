// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels where there is a GPU: the CUDA backend knows none. Skipped without a GPU, or its stand-in.
#include <random>

#include "frames.hpp"

namespace element_test {
namespace {

constexpr auto reports_mask = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

ELEMENT_TEST(with_backend_auto_a_bank_set_while_playing_goes_on_on_the_cpu_with_one_warning) {
  std::mt19937 random(5);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=auto kernel=\"<<1,2,1>>\" normalize=true", info);
  for (int i = 0; i < 4; ++i) {
    if (i == 2) harness.set("combine", "magnitude");
    CHECK(harness.push(random_buffer(random, info, i).release()) == GST_FLOW_OK, "push %d failed", i);
    const std::string wanted = i < 2 ? "cuda" : "cpu", found = harness.string("active-backend");
    CHECK(found == wanted, "frame %d: active-backend is %s", i, found.c_str());
  }
  CHECK(harness.tape().buffer_count() == 4, "%zu frames came out", harness.tape().buffer_count());
  const std::vector<Report> reports = take_reports(harness.bus(), reports_mask);
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
  for (const char* word : {"banks of kernels", "runs on the CPU"})
    CHECK(reports[0].text.find(word) != std::string::npos, "it does not say \"%s\": %s", word, reports[0].text.c_str());
}

ELEMENT_TEST(a_bank_on_the_cuda_backend_is_an_error_that_names_the_remedy) {
  std::mt19937 random(6);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=cuda preset=sobel", info);
  CHECK(harness.push(random_buffer(random, info).release()) != GST_FLOW_OK, "the frame is taken");
  CHECK(harness.try_pull() == nullptr, "a frame comes out");
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.size() == 1, "%zu errors", errors.size());
  for (const char* word : {"banks of kernels", "backend=cpu"})
    CHECK((errors[0].text + errors[0].debug).find(word) != std::string::npos, "it does not say \"%s\": %s (%s)", word,
          errors[0].text.c_str(), errors[0].debug.c_str());
}

ELEMENT_TEST(a_bank_set_while_playing_on_the_cuda_backend_leaves_the_old_filter_and_warns) {
  std::mt19937 random(7);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=cuda preset=box-blur", info);
  for (int i = 0; i < 3; ++i) {
    if (i == 1) harness.set("preset", "kirsch");
    CHECK(harness.push(random_buffer(random, info, i).release()) == GST_FLOW_OK, "push %d failed", i);
  }
  CHECK(harness.string("active-backend") == "cuda", "active-backend is %s", harness.string("active-backend").c_str());
  const std::vector<Report> reports = take_reports(harness.bus(), reports_mask);
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("banks-cuda");
}
