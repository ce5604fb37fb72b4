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
// Threads: a session belongs to the streaming thread, its allocator of pinned memory to any. Each function that touches
// the GPU pushes the session's context for its own duration; callers of Backend and Plan hold a CudaScope.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "convolve/plane.hpp"

namespace convolve {

/// True for CUDA memory of any context.
bool is_cuda_buffer(GstBuffer* buffer);
/// The GstCudaContext of a buffer of CUDA memory, and its GPU. Transfer none.
GstObject* cuda_buffer_context(GstBuffer* buffer);
int cuda_buffer_device(GstBuffer* buffer);
class CudaSession;
/// A pool of CUDA memory, configured for these caps, on the session's stream where there is a session; `size` becomes
/// its buffers'. Transfer full, null on failure.
GstBufferPool* make_cuda_pool(GstObject* context, const CudaSession* session, GstCaps* caps, guint& size, guint min);

/// A frame's samples in device memory, in rows of the session's own pitch. Goes back to the session's free list, and
/// may not outlive the session.
class DeviceFrame {
 public:
  struct Slot;
  DeviceFrame() = default;
  explicit DeviceFrame(Slot* slot) : slot_(slot) {}
  DeviceFrame(DeviceFrame&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  DeviceFrame& operator=(DeviceFrame&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~DeviceFrame();
  explicit operator bool() const { return slot_ != nullptr; }
  const Image& image() const;

 private:
  Slot* slot_ = nullptr;
};

/// A context with the stream, page-locked allocator and device copies of one element.
class CudaSession {
 public:
  /// Throws std::runtime_error with why not.
  explicit CudaSession(GstObject* context);
  ~CudaSession();
  CudaSession(const CudaSession&) = delete;
  CudaSession& operator=(const CudaSession&) = delete;

  /// Makes the context current for the calling thread; pop() ends that.
  bool push() noexcept;
  void pop() noexcept;
  GstObject* context() const;
  int device_id() const;
  void* stream() const;
  /// Waits for the stream. Throws DeviceError.
  void synchronize();
  /// Waits for it and for the slabs' streams, whatever they come to.
  void drain() noexcept;

  /// True for CUDA memory of this context.
  bool owns(GstBuffer* buffer) const;
  /// What is queued from now on comes after what the buffer's memory still waits for.
  void wait_for(GstBuffer* buffer);
  /// What comes after on the stream of the buffer's memory waits for all that is queued by now. False: the memory has
  /// no stream, so that only synchronize() makes it safe to hand on or to let go of.
  bool signal(GstBuffer* buffer);

  /// Device memory for one frame. Throws ElementError RESOURCE/NO_SPACE_LEFT when there is none after trim().
  DeviceFrame allocate(const FrameLayout& layout);
  /// Frees device memory that is not in use.
  void trim();
  /// Queues copies of all planes. Throws DeviceError.
  void upload(const Image& host, const DeviceFrame& frame, const FrameLayout& layout);
  void download(const DeviceFrame& frame, const Image& host, const FrameLayout& layout);
  void copy(const Image& from, const Image& to, const FrameLayout& layout);

  /// Rows of each plane of an image, from first to last - 1.
  struct Rows {
    std::array<int, max_planes> first{}, last{};
  };
  /// Whether asynchronous copies can read a buffer's system memory where it lies. Where not, stage() copies these rows
  /// to where they can: to the same rows of the image that is returned, which is one frame's.
  bool reaches(GstBuffer* buffer);
  const Image& stage(const Image& host, const FrameLayout& layout, const Rows& range);

  /// Starts a frame in slabs: what is queued on the stream by now comes before all of them.
  void begin_slabs();
  /// Queues an upload; what is queued on the stream after this waits for it.
  void upload_slab(const Image& host, const Image& device, const FrameLayout& layout, const Rows& range);
  /// Queues a download that waits for what is on the stream by now.
  void download_slab(const Image& device, const Image& host, const FrameLayout& layout, const Rows& range);
  /// Waits for all slabs. Throws DeviceError.
  void finish_slabs();

  /// True for a pool whose buffers are CUDA memory of this context.
  bool owns(GstBufferPool* pool) const;
  /// Of page-locked system memory. Transfer none.
  GstAllocator* pinned_allocator() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend class DeviceFrame;
  friend GstBufferPool* make_cuda_pool(GstObject*, const CudaSession*, GstCaps*, guint&, guint);
};

/// Makes the session's context current for its own duration.
class CudaScope {
 public:
  /// Throws DeviceError where the context cannot be made current: the CUDA runtime would work in another one of its
  /// own.
  explicit CudaScope(CudaSession& session);
  /// The same for the way down, where what cannot be freed goes with the context.
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
