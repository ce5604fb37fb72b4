// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CudaGpu: the GstCudaContext of one element, as GstElement and the CONTEXT query hand it about, and what is made in
// it. The lock is never held while GStreamer is called, since that may call back.
#include "../gpu.hpp"

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "gstcuda_versions.hpp"
#include "memory.hpp"
#include "session.hpp"

namespace convolve {
namespace {

class CudaGpu : public Gpu {
 public:
  ~CudaGpu() override { replace(nullptr); }

  std::span<const GstVideoFormat> formats() const override { return cuda_formats; }
  bool holds(GstBuffer* buffer) const override { return cuda_memory(buffer) != nullptr; }
  void set_context(GstElement* element, GstContext* context, int device_id) override;
  bool answer(GstElement* element, GstQuery* query) override;
  std::unique_ptr<FrameMemory> open(GstElement* element, int device_id) override;
  std::unique_ptr<FrameMemory> open_where(GstBuffer* buffer) override {
    replace(cuda_memory(buffer)->context);
    return make_cuda_memory(get().get());
  }
  GstBufferPool* make_pool(GstElement* element, int device_id, GstCaps* caps, guint& size, guint min) override {
    ensure(element, device_id);
    return make_cuda_pool(get().get(), nullptr, caps, size, min);
  }
  void clear() override { replace(nullptr); }

 private:
  using Context = std::unique_ptr<GstCudaContext, ObjectUnref>;

  /// Takes the neighbours' context, or makes one. Throws std::runtime_error with why not.
  void ensure(GstElement* element, int device_id);
  /// Makes one of its own, where the neighbours' may be lost. Throws likewise.
  void renew(int device_id);
  void replace(GstCudaContext* context);
  Context get() const;

  mutable std::mutex mutex_;
  GstCudaContext* context_ = nullptr;  ///< under the mutex; null until there is one
};

// gst_cuda_ensure_element_context() asks the neighbours and the application, which answer by set_context() on the same
// thread, and then looks into the pointer that it was given. That pointer is noted here meanwhile.
thread_local struct {
  const CudaGpu* gpu = nullptr;
  GstCudaContext** context = nullptr;
} being_ensured;

void CudaGpu::set_context(GstElement* element, GstContext* context, int device_id) {
  if (being_ensured.gpu == this) {
    gst_cuda_handle_set_context(element, context, device_id, being_ensured.context);
    return;
  }
  GstCudaContext* offered = nullptr;
  gst_cuda_handle_set_context(element, context, device_id, &offered);
  Context unused(offered);  // let go of after the lock
  const std::lock_guard lock(mutex_);
  if (!context_) context_ = unused.release();
}

bool CudaGpu::answer(GstElement* element, GstQuery* query) {
  const Context context = get();
  return context && gst_cuda_handle_context_query(element, query, context.get());
}

std::unique_ptr<FrameMemory> CudaGpu::open(GstElement* element, int device_id) {
  ensure(element, device_id);
  try {
    return make_cuda_memory(get().get());
  } catch (const std::runtime_error&) {
    // A context that is lost stays so, and whoever shares it gives it back: one of our own may do.
    renew(device_id);
    return make_cuda_memory(get().get());
  }
}

// The loader fills its table of the driver's functions without a lock, and begins by emptying it: an element on another
// thread would find a function missing, which GStreamer takes for a reason to abort.
bool load_driver() {
  static std::mutex loading;
  const std::lock_guard lock(loading);
  return gst_cuda_load_library();
}

void CudaGpu::ensure(GstElement* element, int device_id) {
  if (!load_driver())
    throw std::runtime_error("no NVIDIA driver was found (libcuda.so.1), or it is too old for GStreamer");
  gst_cuda_memory_init_once();
  GstCudaContext* context = get().release();
  const auto before = std::exchange(being_ensured, {this, &context});
  const bool good = gst_cuda_ensure_element_context(element, device_id, &context);
  being_ensured = before;
  const Context owned(context);
  if (!good || !owned)
    throw std::runtime_error(device_id < 0 ? "no GPU could be opened"
                                           : "GPU " + std::to_string(device_id) + " could not be opened");
  replace(owned.get());
}

void CudaGpu::renew(int device_id) {
  const Context context(gst_cuda_context_new(device_id < 0 ? 0 : device_id));
  if (!context) throw std::runtime_error("the GPU could not be opened anew");
  replace(context.get());
}

void CudaGpu::replace(GstCudaContext* context) {
  Context old(context ? GST_CUDA_CONTEXT(gst_object_ref(context)) : nullptr);  // let go of after the lock
  const std::lock_guard lock(mutex_);
  old.reset(std::exchange(context_, old.release()));
}

CudaGpu::Context CudaGpu::get() const {
  const std::lock_guard lock(mutex_);
  return Context(context_ ? GST_CUDA_CONTEXT(gst_object_ref(context_)) : nullptr);
}

}  // namespace

std::unique_ptr<Gpu> make_cuda_gpu() {
  return std::make_unique<CudaGpu>();
}

}  // namespace convolve
