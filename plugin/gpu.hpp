// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Gpu: what one element knows of CUDA, besides the frames that it filters there (frame_memory.hpp): the context that it
// shares with its neighbours, and the formats and pools of CUDA memory. This class itself is a machine without CUDA.
// The other one, of a build with CUDA, lies in cuda/gpu.cpp; make_gpu() is the one place that chooses.
//
// Any thread may call set_context(), answer(), holds() and clear(), at any time: applications and neighbours set and
// ask while the streaming thread replaces.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <span>
#include <stdexcept>

#include "frame_memory.hpp"

namespace convolve {

#ifdef CONVOLVE_HAVE_CUDA
inline constexpr bool built_with_cuda = true;
#else
inline constexpr bool built_with_cuda = false;
#endif

inline constexpr const char* cuda_memory_feature = "memory:CUDAMemory";

class Gpu {
 public:
  Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu() = default;

  /// Formats whose frames can be allocated in CUDA memory by the gstcuda that this build knows. GStreamer aborts where
  /// it is asked for another.
  virtual std::span<const GstVideoFormat> formats() const { return {}; }
  /// True for CUDA memory of any context.
  virtual bool holds(GstBuffer*) const { return false; }

  // Where a GPU is to be chosen, it is that of the property `cuda_device_id`, -1 being any; `element` looks for, and
  // tells, contexts of its neighbours.

  /// Takes a GstContext that is offered, where there is none yet. Transfer none.
  virtual void set_context(GstElement* element, GstContext* context, int cuda_device_id) {
    (void)element, (void)context, (void)cuda_device_id;
  }
  /// Answers a CONTEXT query. False: there is no context to answer with.
  virtual bool answer(GstElement* element, GstQuery* query) { return (void)element, (void)query, false; }
  /// Opens the memory of a GPU with the CUDA backend, in the neighbours' context or in one of its own. Throws
  /// std::runtime_error with why not.
  virtual std::unique_ptr<FrameMemory> open(GstElement* element, int cuda_device_id) {
    (void)element, (void)cuda_device_id;
    throw std::runtime_error("this build of the plugin has no CUDA");
  }
  /// Opens the memory that a buffer of CUDA memory lies in. Throws likewise; null without CUDA.
  virtual std::unique_ptr<FrameMemory> open_where(GstBuffer* buffer) { return (void)buffer, nullptr; }
  /// A pool of CUDA memory for frames that the CPU backend makes; `size` becomes that of its buffers. Null: none can be
  /// made. Throws std::runtime_error where there is no context. Transfer full.
  virtual GstBufferPool* make_pool(GstElement* element, int cuda_device_id, GstCaps* caps, guint& size,
                                   guint min_buffers) {
    return (void)element, (void)cuda_device_id, (void)caps, (void)size, (void)min_buffers, nullptr;
  }
  /// Lets go of the context.
  virtual void clear() {}
};

std::unique_ptr<Gpu> make_cuda_gpu();  ///< in cuda/gpu.cpp, which is no part of a build without CUDA

inline std::unique_ptr<Gpu> make_gpu() {
  if constexpr (built_with_cuda)
    return make_cuda_gpu();
  else
    return std::make_unique<Gpu>();
}

}  // namespace convolve
