// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "guarded.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace element_test {
namespace {

struct Mapping {
  void* start;
  gsize size;
};

void unmap(gpointer data) {
  auto* mapping = static_cast<Mapping*>(data);
  munmap(mapping->start, mapping->size);
  delete mapping;
}

// A pool of GStreamer's base class, with memory of the kind that its owner asks for.
struct GuardedPool {
  GstBufferPool parent;
  gsize size;
  Guard guard;
};
struct GuardedPoolClass {
  GstBufferPoolClass parent_class;
};

G_DEFINE_TYPE(GuardedPool, element_test_guarded_pool, GST_TYPE_BUFFER_POOL)

GstFlowReturn alloc_guarded(GstBufferPool* pool, GstBuffer** buffer, GstBufferPoolAcquireParams*) {
  const auto* self = reinterpret_cast<GuardedPool*>(pool);
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, guarded_memory(self->size, self->guard));
  return GST_FLOW_OK;
}

void element_test_guarded_pool_class_init(GuardedPoolClass* klass) {
  klass->parent_class.alloc_buffer = alloc_guarded;
}

void element_test_guarded_pool_init(GuardedPool*) {}

}  // namespace

GstMemory* guarded_memory(gsize size, Guard guard) {
  const auto page = static_cast<gsize>(sysconf(_SC_PAGESIZE));
  const gsize room = (size + page - 1) / page * page;
  auto* start =
      static_cast<guint8*>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(start != MAP_FAILED, "no memory for %zu bytes", size);
  const bool after = guard == Guard::after;
  CHECK(mprotect(after ? start + room : start, page, PROT_NONE) == 0, "mprotect");
  guint8* data = after ? start + room - size : start + page;
  return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), data, size, 0, size, new Mapping{start, room + page},
                                unmap);
}

Owned<GstBuffer> guarded(GstBuffer* buffer, Guard guard) {
  Owned<GstBuffer> out(gst_buffer_new());
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* from = gst_buffer_peek_memory(buffer, i);
    GstMapInfo map;
    CHECK(gst_memory_map(from, &map, GST_MAP_READ), "cannot map");
    GstMemory* to = guarded_memory(map.size, guard);
    GstMapInfo out_map;
    CHECK(gst_memory_map(to, &out_map, GST_MAP_WRITE), "cannot map guarded memory");
    std::memcpy(out_map.data, map.data, map.size);
    gst_memory_unmap(to, &out_map);
    gst_memory_unmap(from, &map);
    if (GST_MEMORY_IS_READONLY(from)) GST_MINI_OBJECT_FLAG_SET(to, GST_MEMORY_FLAG_READONLY);
    gst_buffer_append_memory(out.get(), to);
  }
  gst_buffer_copy_into(
      out.get(), buffer,
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META), 0,
      -1);
  // Metas about memory are not copied without it.
  if (GstVideoMeta* meta = gst_buffer_get_video_meta(buffer))
    gst_buffer_add_video_meta_full(out.get(), meta->flags, meta->format, meta->width, meta->height, meta->n_planes,
                                   meta->offset, meta->stride);
  return out;
}

Owned<GstBufferPool> guarded_pool(const GstVideoInfo& info, Guard guard) {
  auto* pool = static_cast<GuardedPool*>(g_object_new(element_test_guarded_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  pool->size = GST_VIDEO_INFO_SIZE(&info);
  pool->guard = guard;
  Owned<GstBufferPool> owner(&pool->parent);
  GstVideoInfo copy = info;
  const Owned<GstCaps> caps(gst_video_info_to_caps(&copy));
  GstStructure* config = gst_buffer_pool_get_config(owner.get());
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(pool->size), 1, 0);
  CHECK(gst_buffer_pool_set_config(owner.get(), config), "the pool refuses its own configuration");
  return owner;
}

}  // namespace element_test
