// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scenario.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace driver_test {

using namespace element_test;

namespace {

/// Ends the program where the test itself cannot go on.
void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::exit(1);
}

/// The samples of every row, without what lies between rows.
std::vector<guint8> samples_of(GstBuffer* buffer, const GstVideoInfo& info) {
  std::vector<guint8> samples;
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return samples;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
    const int bytes = GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        static_cast<std::ptrdiff_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)) * y;
      samples.insert(samples.end(), row, row + bytes);
    }
  }
  gst_video_frame_unmap(&frame);
  return samples;
}

struct PoolCloser {
  void operator()(GstBufferPool* pool) const {
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
  }
};
using OpenPool = std::unique_ptr<GstBufferPool, PoolCloser>;

OpenPool make_pool(const GstVideoInfo& info) {
  const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
  GstBufferPool* pool = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 2, 0);
  gst_buffer_pool_set_config(pool, config);
  gst_buffer_pool_set_active(pool, TRUE);
  return OpenPool(pool);
}

/// A buffer with the same content, stamps and flags.
GstBuffer* copy_of(GstBuffer* buffer, GstBufferPool* pool) {
  if (!pool) return gst_buffer_copy_deep(buffer);
  GstBuffer* copy = nullptr;
  require(gst_buffer_pool_acquire_buffer(pool, &copy, nullptr) == GST_FLOW_OK, "no buffer in the test's own pool");
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_READ);
  gst_buffer_fill(copy, 0, map.data, map.size);
  gst_buffer_unmap(buffer, &map);
  gst_buffer_copy_into(copy, buffer,
                       static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS), 0, -1);
  return copy;
}

void count_down(gpointer count, GstMiniObject*) {
  --*static_cast<std::atomic<int>*>(count);
}

}  // namespace

std::vector<Scenario> make_scenarios(const std::string& backend) {
  std::mt19937 random(7);
  const std::string filter = "videoconvolve name=f backend=" + backend + " ";
  std::vector<Scenario> all;
  {
    const Filtering f{random_kernel(random, 1, 3, 3, 4, 16)};
    // Frames of 3.3 MB are the smallest that are cut.
    all.push_back({"slabs", filter + kernel_is(f.kernel), video_info("RGBA", 1024, 800), f, 2, false});
  }
  {
    const Filtering f{random_kernel(random, 3, 3, 3, 4, 16)};
    all.push_back({"window", filter + kernel_is(f.kernel), video_info("NV12", 34, 22), f, 4, true});
  }
  {
    const Filtering f{random_kernel(random, 3, 3, 3, 4, 16)};
    all.push_back({"device memory",
                   "cudaupload ! video/x-raw(memory:CUDAMemory) ! " + filter +
                       "scene-threshold=1 " +  // which compares frames, and finds no cut
                       kernel_is(f.kernel) + " ! video/x-raw(memory:CUDAMemory) ! cudadownload",
                   video_info("NV12", 34, 22), f, 3, false});
  }
  return all;
}

Runner::Runner(const Scenario& scenario) : scenario_(scenario) {
  std::mt19937 random(11);
  input_ = random_stream(random, scenario_.info, scenario_.frames);
  const std::vector<Frame> frames = expected(scenario_.filtering, frames_of(input_, scenario_.info), scenario_.info);
  const Owned<GstElement> element = make();
  const Outcome outcome = run(element.get());
  const std::string name = scenario_.name;
  require(outcome.errors.empty(), name + ": " + (outcome.errors.empty() ? "" : outcome.errors[0]));
  require(outcome.outputs.size() == frames.size(), name + ": " + std::to_string(outcome.outputs.size()) + " outputs");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // A tight copy of the samples becomes a buffer again, which the oracle's comparison reads.
    GstVideoInfo info = scenario_.info;
    const Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
    GstVideoFrame frame;
    gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE);
    const guint8* at = outcome.outputs[i].data();
    for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); ++p) {
      const auto bytes =
          static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, p));
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y, at += bytes)
        std::memcpy(static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                        static_cast<std::ptrdiff_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p)) * y,
                    at, bytes);
    }
    gst_video_frame_unmap(&frame);
    const std::string wrong = first_difference(frames[i], frame_of(buffer.get(), scenario_.info), scenario_.info,
                                               tolerance(scenario_.filtering, scenario_.info));
    require(wrong.empty(), name + ", output " + std::to_string(i) + ": " + wrong);
  }
  wanted_ = outcome.outputs;
}

Owned<GstElement> Runner::make() const {
  GError* error = nullptr;
  GstElement* element = gst_parse_bin_from_description(scenario_.launch.c_str(), TRUE, &error);
  require(element && !error, std::string(scenario_.name) + ": " + (error ? error->message : "no element"));
  gst_object_ref_sink(element);
  return Owned<GstElement>(element);
}

/// Pushes the stream through an element that plays; stops at the first refusal.
void Runner::play(GstElement* element, std::atomic<int>& alive, Outcome& outcome) const {
  const OpenPool pool = scenario_.pooled ? make_pool(scenario_.info) : nullptr;
  GstHarness* harness = gst_harness_new_with_element(element, "sink", "src");
  GstVideoInfo info = scenario_.info;
  gst_harness_set_src_caps(harness, gst_video_info_to_caps(&info));
  GstFlowReturn& flow = outcome.flow;
  for (const Owned<GstBuffer>& buffer : input_) {
    GstBuffer* copy = copy_of(buffer.get(), pool.get());
    if (!pool) {
      ++alive;
      gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(copy), count_down, &alive);
    }
    flow = gst_harness_push(harness, copy);
    if (flow != GST_FLOW_OK) break;
  }
  if (flow == GST_FLOW_OK) gst_harness_push_event(harness, gst_event_new_eos());
  while (const Owned<GstBuffer> out{gst_harness_try_pull(harness)})
    outcome.outputs.push_back(samples_of(out.get(), scenario_.info));
  const Owned<GstElement> filter(gst_bin_get_by_name(GST_BIN(element), "f"));
  gchar* text = nullptr;
  g_object_get(filter.get(), "active-backend", &text, nullptr);
  outcome.backend = text ? text : "";
  g_free(text);
  gst_harness_teardown(harness);
}

Outcome Runner::run(GstElement* element) const {
  Outcome outcome;
  std::atomic<int> alive = 0;
  const Owned<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element, bus.get());
  if (gst_element_set_state(element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE) play(element, alive, outcome);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  while (const Owned<GstMessage> message{
      gst_bus_pop_filtered(bus.get(), static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))}) {
    const bool is_error = GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR;
    GError* error = nullptr;
    (is_error ? gst_message_parse_error : gst_message_parse_warning)(message.get(), &error, nullptr);
    const bool own = g_str_equal(GST_MESSAGE_SRC_NAME(message.get()), "f");
    (!own ? outcome.other_errors : is_error ? outcome.errors : outcome.warnings).push_back(error->message);
    g_error_free(error);
  }
  outcome.buffers_left = alive;
  return outcome;
}

std::string Runner::right_so_far(const Outcome& outcome) const {
  if (outcome.outputs.size() > wanted_.size()) return "more outputs than inputs";
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i)
    if (outcome.outputs[i] != wanted_[i]) return "output " + std::to_string(i) + " is wrong";
  return "";
}

std::string Runner::complete(const Outcome& outcome) const {
  if (outcome.outputs.size() != wanted_.size())
    return std::to_string(outcome.outputs.size()) + " outputs for " + std::to_string(wanted_.size()) + " inputs";
  return right_so_far(outcome);
}

}  // namespace driver_test
