// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host_input.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "element_error.hpp"
#include "pinned_allocator.hpp"
#include "plane_size.hpp"
#include "threads/available_processors.hpp"
#include "threads/pool.hpp"

namespace convolve {

// Which memories' pages are locked, and where; null: they cannot be. Shared with the notices of those memories' ends,
// which come from any thread and may come after the session's.
struct HostInput::Locks {
  explicit Locks(GstCudaContext* of) : context(GST_CUDA_CONTEXT(gst_object_ref(of))) {}
  ~Locks() { gst_object_unref(context); }

  void unlock(void* at) {
    if (!at) return;
    const bool pushed = gst_cuda_context_push(context);
    if (cudaHostUnregister(at) != cudaSuccess) cudaGetLastError();
    if (pushed) gst_cuda_context_pop(nullptr);
  }

  static void forget(gpointer self, GstMiniObject* memory) {
    const std::unique_ptr<std::shared_ptr<Locks>> locks(static_cast<std::shared_ptr<Locks>*>(self));
    const std::lock_guard lock((*locks)->mutex);
    const auto found = (*locks)->pages.find(memory);
    if (found == (*locks)->pages.end()) return;
    (*locks)->unlock(found->second);
    (*locks)->pages.erase(found);
  }

  GstCudaContext* const context;
  std::mutex mutex;
  std::map<gconstpointer, void*> pages;
};

struct HostInput::Staging {
  GstAllocator* allocator;
  GstMemory* memory = nullptr;
  GstMapInfo map{};
  Image image;
  std::shared_ptr<Pool> pool = Pool::shared();
  unsigned threads = std::min(available_processors(), 4u);

  explicit Staging(GstCudaContext* context) : allocator(make_pinned_allocator(context)) { pool->reserve(threads - 1); }
  ~Staging() {
    release();
    gst_object_unref(allocator);
  }
  void release() {
    if (!memory) return;
    gst_memory_unmap(memory, &map);
    gst_memory_unref(memory);
    memory = nullptr;
  }
  void allocate(const FrameLayout& layout) {
    const PackedPlanes planes = pack_planes(layout);
    if (!memory || map.size != planes.bytes) {
      release();
      memory = gst_allocator_alloc(allocator, planes.bytes, nullptr);
      if (!memory)
        throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT, "memory ran out: a frame's copy in pinned memory");
      gst_memory_map(memory, &map, GST_MAP_READWRITE);
    }
    image = planes.at(map.data);
  }
};

HostInput::HostInput(GstCudaContext* context) : locks_(std::make_shared<Locks>(context)) {}

HostInput::~HostInput() {
  const std::lock_guard lock(locks_->mutex);
  for (const auto& [memory, pages] : locks_->pages) locks_->unlock(pages);
  locks_->pages.clear();
}

bool HostInput::can_copy_from(GstBuffer* buffer) {
  bool all = true;
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (is_page_locked(memory)) continue;
    if (!buffer->pool) return false;
    const std::lock_guard lock(locks_->mutex);
    const auto [known, is_new] = locks_->pages.try_emplace(memory, nullptr);
    if (is_new) {
      gst_mini_object_weak_ref(GST_MINI_OBJECT_CAST(memory), Locks::forget, new std::shared_ptr<Locks>(locks_));
      GstMapInfo map;
      if (gst_memory_map(memory, &map, GST_MAP_READ)) {
        if (gst_cuda_context_push(locks_->context)) {
          if (cudaHostRegister(map.data, map.size, cudaHostRegisterPortable) == cudaSuccess) known->second = map.data;
          cudaGetLastError();
          gst_cuda_context_pop(nullptr);
        }
        gst_memory_unmap(memory, &map);
      }
    }
    all = all && known->second;
  }
  return all;
}

const Image& HostInput::stage(const Image& frame, const FrameLayout& layout, const PlaneRows& range) {
  if (!staging_) staging_ = std::make_unique<Staging>(locks_->context);
  staging_->allocate(layout);
  struct Job {
    const Image& from;
    const Image& to;
    const FrameLayout& layout;
    const PlaneRows& range;
    unsigned parts;
  } job{frame, staging_->image, layout, range, staging_->threads};
  const auto copy_part = [](void* context, unsigned part, unsigned) noexcept {
    const Job& all = *static_cast<const Job*>(context);
    for (int p = 0; p < all.layout.planes; ++p) {
      const auto count = static_cast<unsigned>(all.range.last[p] - all.range.first[p]);
      const int first = all.range.first[p] + static_cast<int>(count * part / all.parts);
      const int last = all.range.first[p] + static_cast<int>(count * (part + 1) / all.parts);
      copy_rows(all.from.plane[p], all.to.plane[p], row_bytes(all.layout, p), first, last);
    }
  };
  staging_->pool->run(job.parts, job.parts, copy_part, &job);
  return staging_->image;
}

}  // namespace convolve
