// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The differences between gstcuda's versions, 1.22 to 1.26: the formats that it allocates, and streams, which came with
// 1.24. A plugin built with 1.22 waits for the streams of others, and its outputs are finished when they are pushed.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/video/video.h>

namespace convolve {

/// The formats that GstCudaAllocator lays out.
inline constexpr GstVideoFormat cuda_formats[] = {
    GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_YV12,      GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_Y42B,
    GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_NV21,
    GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_P016_LE,   GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_Y444_16LE,
    GST_VIDEO_FORMAT_RGBP,      GST_VIDEO_FORMAT_BGRP,      GST_VIDEO_FORMAT_GBR,       GST_VIDEO_FORMAT_GBRA,
    GST_VIDEO_FORMAT_BGRA,      GST_VIDEO_FORMAT_RGBA,      GST_VIDEO_FORMAT_RGBx,      GST_VIDEO_FORMAT_BGRx,
    GST_VIDEO_FORMAT_ARGB,      GST_VIDEO_FORMAT_ABGR,      GST_VIDEO_FORMAT_RGB,       GST_VIDEO_FORMAT_BGR,
    GST_VIDEO_FORMAT_YUY2,      GST_VIDEO_FORMAT_UYVY,
#if GST_CHECK_VERSION(1, 24, 0)
    GST_VIDEO_FORMAT_I420_12LE, GST_VIDEO_FORMAT_P012_LE,   GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_Y444_12LE,
    GST_VIDEO_FORMAT_GBR_10LE,  GST_VIDEO_FORMAT_GBR_12LE,
#endif
#if GST_CHECK_VERSION(1, 26, 0)
    GST_VIDEO_FORMAT_VUYA,
#endif
};

/// SharedStream: one that pools hand to all who use their memory. make_stream() returns null on failure, stream_of()
/// where the memory has none; wait_for() waits for a memory's writer where stream_of() cannot tell.
#if GST_CHECK_VERSION(1, 24, 0)
using SharedStream = GstCudaStream;

inline SharedStream* make_stream(GstCudaContext* context) {
  return gst_cuda_stream_new(context);
}
inline void free_stream(SharedStream* stream) {
  gst_cuda_stream_unref(stream);
}
inline cudaStream_t handle_of(SharedStream* stream) {
  return stream ? gst_cuda_stream_get_handle(stream) : nullptr;
}
inline cudaStream_t stream_of(GstCudaMemory* memory) {
  return handle_of(gst_cuda_memory_get_stream(memory));
}
inline void set_stream(GstStructure* pool_config, SharedStream* stream) {
  gst_buffer_pool_config_set_cuda_stream(pool_config, stream);
}
inline void wait_for(GstCudaMemory*) {}
#else
using SharedStream = CUstream_st;

inline SharedStream* make_stream(GstCudaContext*) {
  cudaStream_t stream = nullptr;
  // Not a non-blocking one: GStreamer's own copies run on the legacy stream, and this waits for those.
  return cudaStreamCreate(&stream) == cudaSuccess ? stream : nullptr;
}
inline void free_stream(SharedStream* stream) {
  cudaStreamDestroy(stream);
}
inline cudaStream_t handle_of(SharedStream* stream) {
  return stream;
}
inline cudaStream_t stream_of(GstCudaMemory*) {
  return nullptr;
}
inline void set_stream(GstStructure*, SharedStream*) {}
// gst_cuda_memory_sync() is there where 1.24 or later runs.
inline void wait_for(GstCudaMemory* memory) {
  static const auto sync = [] {
    void* library = dlopen("libgstcuda-1.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
    return library ? reinterpret_cast<void (*)(GstCudaMemory*)>(dlsym(library, "gst_cuda_memory_sync")) : nullptr;
  }();
  if (sync) sync(memory);
}
#endif

}  // namespace convolve
