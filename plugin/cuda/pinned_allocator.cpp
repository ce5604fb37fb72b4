// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pinned_allocator.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>

namespace {

constexpr gsize page_bytes = 4096;

// A type's name is one for the whole process.
struct GstVideoConvolvePinnedAllocator {
  GstAllocator parent;
  GstCudaContext* context;
};
struct GstVideoConvolvePinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

struct PinnedMemory {
  GstMemory parent;
  guint8* data;
  bool pinned;
};

G_DEFINE_TYPE(GstVideoConvolvePinnedAllocator, gst_video_convolve_pinned_allocator, GST_TYPE_ALLOCATOR)

GstMemory* pinned_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize whole = params->prefix + size + params->padding;
  auto* memory = g_new0(PinnedMemory, 1);
  void* data = nullptr;
  // Page-locked memory begins with a page, and is no better aligned than that.
  if (params->align < page_bytes &&
      gst_cuda_context_push(reinterpret_cast<GstVideoConvolvePinnedAllocator*>(allocator)->context)) {
    memory->pinned = cudaHostAlloc(&data, whole, cudaHostAllocPortable) == cudaSuccess;
    if (!memory->pinned) cudaGetLastError();
    gst_cuda_context_pop(nullptr);
  }
  if (!memory->pinned && posix_memalign(&data, std::max(params->align + 1, sizeof(void*)), whole) != 0) {
    g_free(memory);
    return nullptr;
  }
  memory->data = static_cast<guint8*>(data);
  gst_memory_init(&memory->parent, params->flags, allocator, nullptr, whole, params->align, params->prefix, size);
  return &memory->parent;
}

void pinned_free(GstAllocator* allocator, GstMemory* memory) {
  auto* host = reinterpret_cast<PinnedMemory*>(memory);
  if (!memory->parent) {
    if (!host->pinned) {
      free(host->data);
    } else {
      // Page-locked memory is everybody's, so that it can be freed without the context as well.
      const bool pushed = gst_cuda_context_push(reinterpret_cast<GstVideoConvolvePinnedAllocator*>(allocator)->context);
      if (cudaFreeHost(host->data) != cudaSuccess) cudaGetLastError();
      if (pushed) gst_cuda_context_pop(nullptr);
    }
  }
  g_free(host);
}

gpointer pinned_map(GstMemory* memory, gsize, GstMapFlags) {
  return reinterpret_cast<PinnedMemory*>(memory)->data;
}

void pinned_unmap(GstMemory*) {}

GstMemory* pinned_share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* whole = memory->parent ? memory->parent : memory;
  auto* part = g_new0(PinnedMemory, 1);
  *part = *reinterpret_cast<PinnedMemory*>(memory);
  if (size == -1) size = static_cast<gssize>(memory->size) - offset;
  gst_memory_init(&part->parent,
                  static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(whole) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
                  memory->allocator, whole, memory->maxsize, memory->align, memory->offset + static_cast<gsize>(offset),
                  static_cast<gsize>(size));
  return &part->parent;
}

void pinned_allocator_finalize(GObject* object) {
  gst_object_unref(reinterpret_cast<GstVideoConvolvePinnedAllocator*>(object)->context);
  G_OBJECT_CLASS(gst_video_convolve_pinned_allocator_parent_class)->finalize(object);
}

void gst_video_convolve_pinned_allocator_class_init(GstVideoConvolvePinnedAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = pinned_allocator_finalize;
  klass->parent_class.alloc = pinned_alloc;
  klass->parent_class.free = pinned_free;
}

void gst_video_convolve_pinned_allocator_init(GstVideoConvolvePinnedAllocator* allocator) {
  allocator->parent.mem_type = "ConvolveHostMemory";
  allocator->parent.mem_map = pinned_map;
  allocator->parent.mem_unmap = pinned_unmap;
  allocator->parent.mem_share = pinned_share;
}

}  // namespace

namespace convolve {

GstAllocator* make_pinned_allocator(GstCudaContext* context) {
  auto* allocator = static_cast<GstVideoConvolvePinnedAllocator*>(
      g_object_new(gst_video_convolve_pinned_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  allocator->context = GST_CUDA_CONTEXT(gst_object_ref(context));
  return &allocator->parent;
}

bool is_page_locked(GstMemory* memory) {
  return G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, gst_video_convolve_pinned_allocator_get_type()) &&
         reinterpret_cast<PinnedMemory*>(memory)->pinned;
}

}  // namespace convolve
