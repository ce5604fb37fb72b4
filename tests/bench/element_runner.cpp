// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_runner.hpp"

#include <gst/video/video.h>

#include <ctime>
#include <random>
#include <stdexcept>

namespace convolve::bench {
namespace {

constexpr int ring = 4;

double clock_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

GstPadProbeReturn leaves(GstPad*, GstPadProbeInfo*, gpointer at) {
  *static_cast<double*>(at) = wall_us();
  return GST_PAD_PROBE_OK;
}

void fill(GstBuffer* buffer) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) throw std::runtime_error("an input buffer cannot be mapped");
  std::mt19937_64 random(1);
  for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<guint8>(random() >> 32);
  gst_buffer_unmap(buffer, &map);
}

/// `count` buffers of the pool that the element proposes. GstHarness asks for none, and takes none whose size is not
/// that of tight rows.
std::vector<GstBuffer*> proposed_buffers(GstPad* pad, GstCaps* caps, int count) {
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  GstBufferPool* pool = nullptr;
  if (gst_pad_peer_query(pad, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  gst_query_unref(query);
  if (!pool || !gst_buffer_pool_set_active(pool, TRUE)) throw std::runtime_error("the element proposes no pool");
  std::vector<GstBuffer*> buffers(count);
  for (GstBuffer*& buffer : buffers)
    if (gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr) != GST_FLOW_OK)
      throw std::runtime_error("the proposed pool gives no buffer");
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  return buffers;
}

/// Another buffer around the same memory. gst_buffer_copy would copy memory that is marked as not to be shared.
GstBuffer* another(GstBuffer* buffer) {
  GstBuffer* result = gst_buffer_new();
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
    gst_buffer_append_memory(result, gst_memory_ref(gst_buffer_peek_memory(buffer, i)));
  gst_buffer_copy_into(result, buffer, GST_BUFFER_COPY_META, 0, static_cast<gsize>(-1));
  return result;
}

}  // namespace

double wall_us() {
  return clock_us(CLOCK_MONOTONIC);
}
double thread_cpu_us() {
  return clock_us(CLOCK_THREAD_CPUTIME_ID);
}
double process_cpu_us() {
  return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

ElementRunner::ElementRunner(const std::string& launch_line, const StreamFormat& format, bool pageable,
                             const ElementRunner* context_from) {
  GError* error = nullptr;
  element_ = gst_parse_launch(launch_line.c_str(), &error);
  if (error) {
    const std::string what = error->message;
    g_error_free(error);
    throw std::runtime_error(what);
  }
  gst_object_ref_sink(element_);
  if (context_from) {
    if (GstContext* context = gst_element_get_context(context_from->element_, "gst.cuda.context")) {
      gst_element_set_context(element_, context);
      gst_context_unref(context);
    }
  }
  harness_ = gst_harness_new_with_element(element_, "sink", "src");
  gst_harness_set_drop_buffers(harness_, TRUE);
  const std::string caps = std::string("video/x-raw") + (format.cuda_memory ? "(memory:CUDAMemory)" : "") +
                           ",format=" + format.name + ",width=" + std::to_string(format.width) +
                           ",height=" + std::to_string(format.height) + ",framerate=30/1";
  gst_harness_set_src_caps_str(harness_, caps.c_str());

  GstVideoInfo info;
  GstCaps* parsed = gst_caps_from_string(caps.c_str());
  if (!gst_video_info_from_caps(&info, parsed)) throw std::runtime_error("unknown caps " + caps);
  if (pageable)
    for (int i = 0; i < ring; ++i)
      inputs_.push_back(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  else
    inputs_ = proposed_buffers(harness_->srcpad, parsed, ring);
  gst_caps_unref(parsed);
  for (GstBuffer* buffer : inputs_) fill(buffer);
  gst_pad_add_probe(harness_->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, leaves, &pushed_at_us_, nullptr);
}

ElementRunner::~ElementRunner() {
  for (GstBuffer* buffer : inputs_) gst_buffer_unref(buffer);
  if (harness_) gst_harness_teardown(harness_);
  if (element_) gst_object_unref(element_);
}

void ElementRunner::push(FrameTimes* times) {
  GstBuffer* buffer = another(inputs_[frame_ % ring]);
  GST_BUFFER_PTS(buffer) = frame_ * GST_SECOND / 30;
  GST_BUFFER_DURATION(buffer) = GST_SECOND / 30;
  ++frame_;
  pushed_at_us_ = 0;
  const double cpu_start = thread_cpu_us(), start = wall_us();
  const GstFlowReturn flow = gst_harness_push(harness_, buffer);
  const double cpu_stop = thread_cpu_us();
  if (flow != GST_FLOW_OK) throw std::runtime_error(std::string("the element answered ") + gst_flow_get_name(flow));
  // A window of frames holds its first ones back.
  if (times && pushed_at_us_ > 0) {
    times->latency.push_back(pushed_at_us_ - start);
    times->thread_cpu.push_back(cpu_stop - cpu_start);
  }
}

void ElementRunner::set(const char* property, double value) {
  g_object_set(element_, property, value, nullptr);
}

std::string ElementRunner::active() const {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element_), "active-backend")) return "";
  gchar *backend = nullptr, *algorithm = nullptr;
  g_object_get(element_, "active-backend", &backend, "active-algorithm", &algorithm, nullptr);
  std::string text = std::string(backend ? backend : "?") + ", " + (algorithm ? algorithm : "?");
  g_free(backend);
  g_free(algorithm);
  return text;
}

}  // namespace convolve::bench
