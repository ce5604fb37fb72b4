// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.hpp"

#include <algorithm>

namespace element_test {

GstVideoInfo small() {
  return video_info("GRAY8", 9, 5);
}
std::string kernel_is(const oracle::Kernel& kernel) {
  return "kernel=\"" + text_of(kernel) + "\" ";
}
// Three frames deep, one of them after the centre; each tap is told from the others by its weight.
oracle::Kernel three() {
  return make_kernel(3, 1, 1, {1, 2, 4}, 8);
}
oracle::Kernel five() {
  return make_kernel(5, 1, 1, {1, 2, 4, 8, 16}, 32);
}

void push(Harness& harness, GstBuffer* buffer, const std::string& label) {
  const GstFlowReturn flow = harness.push(gst_buffer_ref(buffer));
  if (flow == GST_FLOW_OK) return;
  const std::vector<Report> errors = harness.errors();
  const std::string error = errors.empty() ? "no message" : errors[0].text + " (" + errors[0].debug + ")";
  CHECK(false, "%s: push returned %s: %s", label.c_str(), gst_flow_get_name(flow), error.c_str());
}

void push_all(Harness& harness, const std::vector<Owned<GstBuffer>>& input, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, input.size()); ++i)
    CHECK(harness.push(gst_buffer_ref(input[i].get())) == GST_FLOW_OK, "frame %zu is refused", i);
}

// The outputs on the tape are those of `wanted`, in order, with the pts of `input`.
void check_tape(Harness& harness, const std::vector<Frame>& wanted, const std::vector<Owned<GstBuffer>>& input,
                const GstVideoInfo& info, const std::string& label) {
  const std::vector<GstBuffer*> found = harness.tape().buffers();
  CHECK(found.size() == wanted.size(), "%s: %zu outputs for %zu inputs: %s", label.c_str(), found.size(), wanted.size(),
        harness.tape().text().c_str());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(GST_BUFFER_PTS(found[i]) == GST_BUFFER_PTS(input[i].get()), "%s: output %zu has another's pts: %s",
          label.c_str(), i, harness.tape().text().c_str());
    check_buffer(wanted[i], found[i], info, 0, label + ", output " + std::to_string(i));
  }
}

// What several streams one after the other give, each with borders in time of its own.
std::vector<Frame> expected_of_parts(const Filtering& f, const std::vector<Owned<GstBuffer>>& input,
                                     const GstVideoInfo& info, const std::vector<std::size_t>& cuts) {
  std::vector<Frame> out;
  std::size_t from = 0;
  const std::vector<Frame> frames = frames_of(input, info);
  std::vector<std::size_t> ends = cuts;
  ends.push_back(input.size());
  for (const std::size_t end : ends) {
    for (Frame& frame : expected(
             f, {frames.begin() + static_cast<std::ptrdiff_t>(from), frames.begin() + static_cast<std::ptrdiff_t>(end)},
             info))
      out.push_back(std::move(frame));
    from = end;
  }
  return out;
}

}  // namespace element_test
