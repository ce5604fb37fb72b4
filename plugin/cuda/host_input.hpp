// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Host input: frames in system memory that upstream brought itself. Asynchronous copies need page-locked memory: that
// of a pool, which comes again and again, has its pages locked where it lies; any other is copied to locked pages, a
// range at a time, by several threads. On an H200's link a 4K RGBA frame takes 0.6 ms from locked pages (locking them:
// 2 ms, once), 1.4 copied by four threads (eight: 3.0), and 3.9 as pageable memory.
#pragma once

#include <memory>

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>

#include "slabs.hpp"

namespace convolve {

class HostInput {
 public:
  explicit HostInput(GstCudaContext* context);
  /// Unlocks what is locked. No copy may be under way.
  ~HostInput();
  HostInput(const HostInput&) = delete;
  HostInput& operator=(const HostInput&) = delete;

  /// Whether asynchronous copies can read the buffer's memory where it lies; locks a pool's until that memory goes.
  bool can_copy_from(GstBuffer* buffer);
  /// Copies these rows to where asynchronous copies read them: the same rows of the image that is returned. It is one
  /// frame's, good until the next one's first rows. Throws ElementError where no memory is left.
  const Image& stage(const Image& frame, const FrameLayout& layout, const PlaneRows& range);

 private:
  struct Locks;
  struct Staging;
  std::shared_ptr<Locks> locks_;
  std::unique_ptr<Staging> staging_;
};

}  // namespace convolve
