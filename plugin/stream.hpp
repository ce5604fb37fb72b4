// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stream: what passes through the element. One output for each input, in order of arrival, with serialized events in
// their places; quality of service at the output; the latency that the window adds.
//
// Threads: all of it belongs to the streaming thread, but for published(), the QoS figures, latency() and the names of
// what is active, which any thread may use. Functions throw ElementError or PlanError.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda_interop.hpp"
#include "frame_interval.hpp"
#include "process.hpp"
#include "settings.hpp"
#include "window.hpp"

namespace convolve {

class Stream {
 public:
  /// `mutex` guards what is published.
  Stream(GstBaseTransform* trans, CudaContextSlot& context, std::mutex& mutex)
      : trans_(trans), context_(context), mutex_(mutex), process_(GST_ELEMENT(trans)) {}

  /// What the next frame is filtered with. The caller holds the mutex, and gets what was there before, to let
  /// go of after the lock.
  void publish_locked(std::shared_ptr<const Recipe>& recipe) { published_.swap(recipe); }
  std::shared_ptr<const Recipe> published() const;

  Process& process() { return process_; }
  /// Says what runs, after the backend was opened or closed.
  void announce();

  void set_format(const GstVideoInfo& info);
  GstFlowReturn submit(BufferPtr buffer);
  /// The next output, or null where it takes more input (or none is held, when draining).
  GstFlowReturn generate(GstBuffer** out, bool draining = false);
  /// Pushes an output for every frame held, and forgets all.
  void drain();
  /// Takes a serialized event that has to wait for a frame's output; false: it may pass now.
  bool hold_event(GstEvent* event);
  /// Drops all frames. Sticky events among those held stay sticky.
  void flush();
  /// As before the first caps.
  void reset();

  void update_qos(GstEvent* event);
  void forget_lateness();
  void forget_regions() { process_.forget_regions(); }
  /// Whether downstream reads frames of any layout, as a GstVideoMeta describes it.
  void set_takes_video_meta(bool takes) { takes_video_meta_ = takes; }
  GstClockTime latency() const { return latency_; }
  const char* active_backend() const { return active_backend_; }
  const char* active_algorithm() const { return active_algorithm_; }

 private:
  void latch(bool negotiating);
  void adopt_context(GstBuffer* buffer);
  void set_passthrough(bool passthrough, bool negotiating);
  GstFlowReturn produce(GstBuffer** out);
  GstFlowReturn produce_regions(GstBuffer** out);
  GstFlowReturn new_output(GstBuffer** out);
  bool fits_downstream(GstBuffer* buffer) const;
  bool too_late(const GstBuffer* frame);
  void push_due_events();
  void update_latency();
  GstClockTime frame_duration() const;

  GstBaseTransform* trans_;
  CudaContextSlot& context_;
  std::mutex& mutex_;
  std::shared_ptr<const Recipe> published_;  ///< under the mutex
  Process process_;
  FrameWindow window_;
  std::vector<EventPtr> due_events_;  ///< to be pushed before the next output
  bool treated_ = false;              ///< the next output's frame has samples in regions
  bool takes_video_meta_ = false;     ///< downstream does
  bool skipped_ = false;              ///< an output was dropped, so the next is a discontinuity
  FrameInterval interval_;            ///< where the caps do not tell
  guint64 processed_ = 0, dropped_ = 0;

  std::atomic<GstClockTime> earliest_{GST_CLOCK_TIME_NONE};
  std::atomic<double> proportion_{1};
  std::atomic<GstClockTime> latency_{0};
  std::atomic<const char*> active_backend_{nullptr}, active_algorithm_{nullptr};
};

}  // namespace convolve
