// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Stream: what passes through the element. One output for each input, in order of arrival, with serialized events in
// their places; quality of service at the output; the latency that the window adds.
//
// Settings take hold in latch(), which is called for each frame that comes in and for each output. A recipe that no
// plan can be made of is refused with a warning while another is in force, and is an error before that:
//
//   published_ ──plans can be made──> in_force_       until another one is published
//        └──────no plan can be made──> refused_       in_force_ goes on. It is not asked again before another one is
//                                                     published, or another format comes
//
// Threads: all of it belongs to the streaming thread, but for published(), update_qos(), latency(), position() and the
// names of what is active, which any thread may use. Functions throw ElementError or PlanError.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "frame_interval.hpp"
#include "gpu.hpp"
#include "process.hpp"
#include "quality.hpp"
#include "settings.hpp"
#include "window.hpp"

namespace convolve {

class Stream {
 public:
  /// `mutex` guards what is published; `settle_controlled` publishes what GstControllers have set.
  Stream(GstBaseTransform* trans, Gpu& gpu, std::mutex& mutex, std::function<void()> settle_controlled)
      : trans_(trans),
        gpu_(gpu),
        mutex_(mutex),
        settle_controlled_(std::move(settle_controlled)),
        process_(GST_ELEMENT(trans)),
        quality_(trans) {}

  /// Publishes the recipe of the next output. The caller holds the mutex, and gets the recipe that was published before
  /// in its place, to let go of after the lock.
  void publish_locked(std::shared_ptr<const Recipe>& recipe) { published_.swap(recipe); }
  std::shared_ptr<const Recipe> published() const;

  Process& process() { return process_; }
  /// Says what runs, after the backend was opened or closed.
  void announce();

  /// `in_system_memory`: what the caps say of the frames.
  void set_format(const GstVideoInfo& info, bool in_system_memory);
  GstFlowReturn submit(BufferPtr buffer);
  /// Pushes every output that can be made; `draining`: no frame will come after those held.
  GstFlowReturn push_outputs(bool draining = false);
  /// Pushes an output for every frame held, and forgets all.
  void drain();
  /// Takes a serialized event that has to wait for a frame's output; false: it may pass now.
  bool hold_event(GstEvent* event);
  /// Drops all frames. Sticky events among those held stay sticky.
  void flush();
  /// Drops all frames, lateness and the position: a FLUSH_STOP event.
  void restart();
  /// Returns to the state before the first caps.
  void reset();

  /// Notes that an ALLOCATION query of upstream was answered by us, or by downstream where `query` is its answer.
  void note_proposal(GstQuery* answer_of_downstream);
  /// Notes what downstream answered to our own ALLOCATION query.
  void note_decision(GstQuery* query);

  /// Whether this thread is just setting an element's properties to the values that GstController gives them.
  static bool controllers_are_setting(const GObject* object);
  void update_qos(GstEvent* event) { quality_.update(event); }
  void forget_regions() { process_.forget_regions(); }
  void hold_regions_anew() { process_.hold_regions_anew(); }
  /// For when downstream no longer takes the caps that upstream still sends: whether upstream, which is told of it too,
  /// has others that this element could take instead.
  bool upstream_can_follow() const;
  /// Notes that downstream asked for other caps. Any thread.
  void note_downstream_asks() { ++times_asked_; }
  /// Called for a frame, query or event in caps that downstream no longer takes: it took them before, or asked for
  /// others. Returns true, and counts it, where that is to be expected: upstream_can_follow(), and no more have come so
  /// than a queue of GStreamer's holds frames. False: it is an error.
  bool excuse_left_caps();
  /// The same of caps that have just come, which downstream never took. It is only as it asked that they came.
  bool excuse_new_caps();
  /// Notes that caps have been settled with downstream.
  void note_caps();
  /// Whether downstream has left the caps that upstream sends.
  bool downstream_left_caps() const;
  GstClockTime latency() const { return latency_; }
  /// Stream time of the end of the last frame that left; NONE where none has since the start or the last flush.
  GstClockTime position() const { return position_; }
  const char* active_backend() const { return active_backend_; }
  const char* active_algorithm() const { return active_algorithm_; }

 private:
  void latch();
  void use(const std::shared_ptr<const Recipe>& recipe, bool reversed);
  void refuse(const std::shared_ptr<const Recipe>& recipe, const PlanError& why);
  bool fall_back_to_cpu(const std::shared_ptr<const Recipe>& recipe, bool reversed, const PlanError& why);
  GstFlowReturn move_to_memory_of(GstBuffer* buffer);
  void settle_passthrough();
  /// Settles caps and memory with downstream where one side has asked for it, and where our own needs have changed.
  /// That fails where downstream refuses them, or, which is no fault, where the pads are being flushed or stopped
  /// meanwhile. GST_BASE_TRANSFORM_FLOW_DROPPED: the frames that come cannot leave, as downstream left their caps, and
  /// upstream will change them.
  GstFlowReturn reconfigure();
  bool downstream_refuses(GstPad* caps_of) const;
  bool downstream_asks() const { return times_asked_ != times_followed_; }
  bool count_left_caps();
  bool goes_on_in_left_caps() const;
  GstFlowReturn renegotiate();
  void sync_controllers(GstBuffer* frame);
  /// The value at the frame's own time: a controller's, where one controls it.
  double scene_threshold_of(GstBuffer* frame) const;
  /// Whether a scene ends before this frame.
  bool is_scene_cut(HeldFrame& frame);
  GstFlowReturn produce(BufferPtr& out);
  GstFlowReturn produce_regions(BufferPtr& out);
  GstFlowReturn new_output(BufferPtr& out);
  GstFlowReturn push(BufferPtr out);
  BufferPtr in_downstream_layout(BufferPtr buffer);
  void push_due_events();
  void update_latency();

  GstBaseTransform* trans_;
  Gpu& gpu_;
  std::mutex& mutex_;
  const std::function<void()> settle_controlled_;
  std::shared_ptr<const Recipe> published_;  ///< under the mutex
  Process process_;
  FrameWindow window_;
  std::vector<EventPtr> due_events_;  ///< to be pushed before the next output
  Quality quality_;
  bool treated_ = false;  ///< the next output's frame has samples in regions
  FrameInterval interval_;
  static constexpr int most_frames_in_left_caps = 200;
  bool caps_are_agreed_ = false;          ///< they have reached downstream, which took them
  int frames_in_left_caps_ = 0;           ///< since downstream last agreed on caps
  std::atomic<unsigned> times_asked_{0};  ///< for other caps, by downstream
  unsigned times_followed_ = 0;           ///< of these: those before downstream last agreed on caps
  bool skipped_ = false;                  ///< an output was dropped, so the next is a discontinuity

  std::shared_ptr<const Recipe> in_force_;  ///< the last one that plans were made of
  std::shared_ptr<const Recipe> refused_;   ///< published, but no plan could be made of it for this format
  std::string refusal_;                     ///< why; empty once a recipe was good again
  bool latching_ = false;                   ///< outputs that leave meanwhile are made with what there was
  bool has_frame_in_hand_ = false;          ///< a frame is in the backend's memory, but not yet in the window
  bool fell_back_ = false;                  ///< from CUDA to the CPU, until the next start

  // What was agreed on with the neighbours, and whether it still holds. All of it is set by the settings that take hold
  // and by the two note_...() functions.
  bool allocation_is_stale_ = false;           ///< what was agreed on with downstream no longer fits: renegotiate()
  bool depth_grew_ = false;                    ///< upstream's pool may be too small: the next frame tells
  bool downstream_answered_upstream_ = false;  ///< upstream's frames lie as downstream asked, not as we did
  bool downstream_takes_video_meta_ = false;   ///< it understands any layout
  // Of passthrough, for in_downstream_layout():
  bool passthrough_began_while_playing_ = false;  ///< frames may still lie as we asked
  bool asked_for_downstream_layout_ = false;      ///< upstream was, once since then

  std::atomic<GstClockTime> latency_{0};
  std::atomic<GstClockTime> position_{GST_CLOCK_TIME_NONE};
  std::atomic<const char*> active_backend_{nullptr}, active_algorithm_{nullptr};
};

}  // namespace convolve
