// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CudaSession: the streams, the copies and the device memory of one element, in the context that it shares with its
// neighbours.
//
// Streams: work is queued on one stream a session, which waits for the legacy stream (on which GStreamer 1.22 copies).
// From 1.24 on it is the stream of the pools that the element proposes and uses, so that neighbours queue on it too;
// memory of another stream is waited for, and waits, on the device. Slabs of rows go up on a second and down on a
// third stream, in step with it.
// Threads: a session belongs to the streaming thread. Each function that touches the GPU pushes the session's context
// for its own duration. Those that can fail throw DeviceError.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "convolve/plane.hpp"
#include "gstcuda_versions.hpp"
#include "held_frame.hpp"
#include "slabs.hpp"

namespace convolve {

/// The memory of a buffer of CUDA memory, of any context; null for others.
GstCudaMemory* cuda_memory(GstBuffer* buffer);
/// The number of a context's GPU.
int device_of(GstCudaContext* context);
/// A pool of CUDA memory, configured for these caps, on a stream where that is not null; `size` becomes its buffers'.
/// Transfer full, null on failure.
GstBufferPool* make_cuda_pool(GstCudaContext* context, SharedStream* stream, GstCaps* caps, guint& size, guint min);

class CudaSession;

/// Device memory for one frame, in rows of the session's own pitch.
struct DeviceMemory {
  CudaSession* session = nullptr;
  void* address = nullptr;
  std::size_t bytes = 0;
  Image image;
};
/// Puts it on the free list of the session, which outlives it.
struct GiveBack {
  void operator()(DeviceMemory* memory) const;
};
using DeviceFrame = std::unique_ptr<DeviceMemory, GiveBack>;

class CudaSession {
 public:
  /// Throws std::runtime_error with why not.
  explicit CudaSession(GstCudaContext* context);
  ~CudaSession();
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  /// Makes the context current for the calling thread; pop() ends that.
  bool push() noexcept { return gst_cuda_context_push(context_.get()); }
  void pop() noexcept { gst_cuda_context_pop(nullptr); }
  GstCudaContext* context() const { return context_.get(); }
  SharedStream* shared_stream() const { return shared_; }
  cudaStream_t stream() const { return stream_; }
  /// Waits for the stream.
  void synchronize();
  /// Waits for all three streams, whatever becomes of their work.
  void drain() noexcept;

  /// Whether a context is this one.
  bool is_context(GstCudaContext* context) const;
  /// True for CUDA memory of this context.
  bool owns(GstBuffer* buffer) const;
  /// Work that is queued from now on comes after the work that the buffer's memory still waits for.
  void wait_for(GstBuffer* buffer);
  /// Later work on the stream of the buffer's memory waits for all that is queued by now. False: the memory has no
  /// stream, so that only synchronize() makes it safe to hand it on or to let go of it.
  bool signal(GstBuffer* buffer);

  /// Throws ElementError RESOURCE/NO_SPACE_LEFT when there is no memory after trim().
  DeviceFrame allocate(const FrameLayout& layout);
  /// Frees device memory that is not in use.
  void trim() noexcept;
  /// Queues copies of all planes.
  void copy(const Image& from, const Image& to, const FrameLayout& layout, cudaMemcpyKind kind);

  /// Starts a frame in slabs: what is queued on the stream by now comes before all of them.
  void begin_slabs() { order(stream_, up_); }
  /// Queues an upload; what is queued on the stream after this waits for it.
  void upload_slab(const Image& host, const Image& device, const FrameLayout& layout, const PlaneRows& range);
  /// Queues a download that waits for what is on the stream by now.
  void download_slab(const Image& device, const Image& host, const FrameLayout& layout, const PlaneRows& range);
  /// Waits for all slabs.
  void finish_slabs();

 private:
  friend GiveBack;
  static constexpr std::size_t max_events = 64;

  void release();
  void order(cudaStream_t first, cudaStream_t second);

  const std::unique_ptr<GstCudaContext, ObjectUnref> context_;
  SharedStream* shared_ = nullptr;
  cudaStream_t stream_ = nullptr, up_ = nullptr, down_ = nullptr;  ///< the first is that of `shared_`
  std::vector<cudaEvent_t> events_;                                ///< used in turn
  std::size_t next_event_ = 0;
  std::vector<std::unique_ptr<DeviceMemory>> memories_;
  std::vector<DeviceMemory*> unused_;
};

/// Makes the session's context current for its own duration.
class CudaScope {
 public:
  /// Throws DeviceError where the context cannot be made current: the CUDA runtime would work in another one of its
  /// own.
  explicit CudaScope(CudaSession& session);
  /// Never throws: for the way down, where anything that cannot be freed goes with the context.
  CudaScope(CudaSession& session, std::nothrow_t) noexcept : session_(session), pushed_(session.push()) {}
  ~CudaScope() {
    if (pushed_) session_.pop();
  }
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  CudaSession& session_;
  const bool pushed_;
};

/// Waits for what is queued where its scope is left by an exception.
class DrainOnError {
 public:
  explicit DrainOnError(CudaSession& session) : session_(session) {}
  ~DrainOnError() {
    if (std::uncaught_exceptions() > before_) session_.drain();
  }
  DrainOnError(const DrainOnError&) = delete;
  DrainOnError& operator=(const DrainOnError&) = delete;

 private:
  CudaSession& session_;
  const int before_ = std::uncaught_exceptions();
};

}  // namespace convolve
