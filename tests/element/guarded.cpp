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

struct ElementTestGuardedAllocator {
  GstAllocator parent;
  Guard guard;
};
struct ElementTestGuardedAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(ElementTestGuardedAllocator, element_test_guarded_allocator, GST_TYPE_ALLOCATOR)

// What it gives is memory of GStreamer's own allocator, which frees it.
GstMemory* alloc_guarded(GstAllocator* allocator, gsize size, GstAllocationParams*) {
  return guarded_memory(size, reinterpret_cast<ElementTestGuardedAllocator*>(allocator)->guard);
}

void element_test_guarded_allocator_class_init(ElementTestGuardedAllocatorClass* klass) {
  klass->parent_class.alloc = alloc_guarded;
}

void element_test_guarded_allocator_init(ElementTestGuardedAllocator* self) {
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

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

GstAllocator* guarded_allocator(Guard guard) {
  auto* self =
      static_cast<ElementTestGuardedAllocator*>(g_object_new(element_test_guarded_allocator_get_type(), nullptr));
  gst_object_ref_sink(self);
  self->guard = guard;
  return &self->parent;
}

}  // namespace element_test
