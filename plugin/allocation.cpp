// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "allocation.hpp"

#include <algorithm>
#include <memory>

#include "element_error.hpp"
#include "log.hpp"

namespace convolve {
namespace {

using PoolPtr = std::unique_ptr<GstBufferPool, ObjectUnref>;

bool asks_for_cuda(GstCaps* caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), cuda_memory_feature);
}

PoolPtr make_system_pool(GstCaps* caps, guint size, guint min, guint max, GstAllocator* allocator,
                         const GstAllocationParams* params, bool with_meta) {
  PoolPtr pool(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  if (allocator) gst_buffer_pool_config_set_allocator(config, allocator, params);
  if (with_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return gst_buffer_pool_set_config(pool.get(), config) ? std::move(pool) : nullptr;
}

// Whether a pool takes what is asked of it, be it with changes of its own, as GStreamer's pools may make them.
bool takes(GstBufferPool* pool, GstCaps* caps, guint size, guint min, guint max, GstAllocator* allocator,
           const GstAllocationParams* params, bool with_meta) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator(config, allocator, params);
  if (with_meta) gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config(pool, config)) return true;
  config = gst_buffer_pool_get_config(pool);
  if (gst_buffer_pool_config_validate_params(config, caps, size, min, max))
    return gst_buffer_pool_set_config(pool, config);
  gst_structure_free(config);
  return false;
}

// Settles on the pool of outputs in system memory: one of pinned memory where there is such, else downstream's or one
// of ours. `pool` and `max` are those of downstream's offer, and become what was settled on.
void decide_system_pool(const FrameMemory& memory, GstQuery* query, GstCaps* caps, guint size, guint min, guint& max,
                        PoolPtr& pool) {
  const bool with_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  const bool has_param = gst_query_get_n_allocation_params(query) > 0;
  if (has_param) gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  if (GstAllocator* pinned = memory.pinned_allocator()) {
    // Downstream's own pool and allocator are refused: downloads would have to go through pageable memory, where the
    // driver copies twice and the calling thread waits. The answer to an ALLOCATION query is an offer, so that an
    // element that needs its own memory copies, as it does behind any element that has its own pool.
    if (allocator) gst_object_unref(allocator);
    allocator = GST_ALLOCATOR(gst_object_ref(pinned));
    params.flags = static_cast<GstMemoryFlags>(0);
    if (has_param)
      gst_query_set_nth_allocation_param(query, 0, allocator, &params);
    else
      gst_query_add_allocation_param(query, allocator, &params);
    pool.reset();
    max = 0;
  }
  // An offer that cannot be taken is none: the base class would refuse the caps for it.
  if (pool && !takes(pool.get(), caps, size, min, max, allocator, &params, with_meta)) {
    pool.reset();
    max = 0;
  }
  if (!pool) pool = make_system_pool(caps, size, min, max, allocator, &params, with_meta);
  if (allocator) gst_object_unref(allocator);
}

}  // namespace

bool propose_allocation(const Process& process, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!process.is_open() || !caps || !gst_video_info_from_caps(&info, caps)) return false;

  auto size = static_cast<guint>(std::min<gsize>(info.size, G_MAXUINT));
  const guint min = process.filter().depth() + 1;
  PoolPtr pool;
  if (asks_for_cuda(caps)) {
    pool.reset(process.memory().make_pool(caps, size, min));
  } else {
    GstAllocator* allocator = process.memory().pinned_allocator();
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    if (allocator) gst_query_add_allocation_param(query, allocator, &params);
    pool = make_system_pool(caps, size, min, 0, allocator, &params, true);
  }
  gst_query_add_allocation_pool(query, pool.get(), size, min, 0);
  if (!gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return true;
}

bool decide_allocation(const Process& process, Gpu& gpu, int cuda_device_id, GstElement* element, GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (!process.is_open() || !caps || !gst_video_info_from_caps(&info, caps)) return false;

  GstBufferPool* offered = nullptr;
  auto size = static_cast<guint>(std::min<gsize>(info.size, G_MAXUINT));
  guint min = 0, max = 0;
  const bool has_pool = gst_query_get_n_allocation_pools(query) > 0;
  if (has_pool) {
    guint asked = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &offered, &asked, &min, &max);
    size = std::max(size, asked);
  }
  PoolPtr pool(offered);
  const FrameMemory& memory = process.memory();
  if (!asks_for_cuda(caps)) {
    decide_system_pool(memory, query, caps, size, min, max, pool);
  } else if (!memory.owns(pool.get())) {
    // The CPU backend reaches CUDA memory through GStreamer's maps.
    const bool on_cpu = process.backend().memory() == MemoryKind::host;
    pool.reset(on_cpu ? gpu.make_pool(element, cuda_device_id, caps, size, min) : memory.make_pool(caps, size, min));
    max = 0;
  }
  if (!pool) throw ElementError(GST_RESOURCE_ERROR_SETTINGS, "no pool of output frames could be set up");
  if (has_pool)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, min, max);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, min, max);
  return true;
}

}  // namespace convolve
