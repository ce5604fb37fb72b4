// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// HeldFrame: a frame on its way through the element, from the buffer that came in to the last output that needs it.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

#include "convolve/plane.hpp"
#include "frame.hpp"

namespace convolve {

struct GstUnref {
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstEvent* p) const { gst_event_unref(p); }
};
struct ObjectUnref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using BufferPtr = std::unique_ptr<GstBuffer, GstUnref>;
using EventPtr = std::unique_ptr<GstEvent, GstUnref>;

/// The samples of a frame that lie elsewhere than in its buffer. What they are is the business of the FrameMemory that
/// made them.
struct FrameCopy {
  virtual ~FrameCopy() = default;
};

struct HeldFrame {
  BufferPtr buffer;  ///< the frame itself, or its timestamps, flags and metas where `copy` holds the samples
  std::unique_ptr<FrameCopy> copy;
  FrameMap map;  ///< maps `buffer` for as long as its samples are needed
  Image image;   ///< the samples, in memory that the backend reads
  bool interlaced = false;
  std::vector<EventPtr> events;  ///< arrived after this frame, and leave after its output
};

}  // namespace convolve
