// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CudaGpu: the GstCudaContext of one element, as GstElement and the CONTEXT query hand it about, and what is made in
// it. The lock is never held while GStreamer is called, since that may call back.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

#include <mutex>

#include "../gpu.hpp"

namespace convolve {

class CudaGpu : public Gpu {
 public:
  ~CudaGpu() override { replace(nullptr); }

  std::span<const GstVideoFormat> formats() const override;
  bool holds(GstBuffer* buffer) const override;
  void set_context(GstElement* element, GstContext* context, int device_id) override;
  bool answer(GstElement* element, GstQuery* query) override;
  std::unique_ptr<FrameMemory> open(GstElement* element, int device_id) override;
  std::unique_ptr<FrameMemory> open_where(GstBuffer* buffer) override;
  GstBufferPool* make_pool(GstElement* element, int device_id, GstCaps* caps, guint& size, guint min) override;
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

}  // namespace convolve
