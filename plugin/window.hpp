// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameWindow: the frames of one output, in order of arrival, with the latency of those after its centre and the
// fill at the ends of the stream. Single-threaded: owned by the streaming thread.
//
// Positions count from the oldest frame held. `behind` and `ahead` are the frames before and after the centre that a
// filter asks for; beyond the frames that have come, the border mode says which of them stands in.
//
// A frame is held from push() until the last output that may need it: as the centre, as one of the `behind` of later
// ones, or as one that stands in for those `ahead` at the end of the stream.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "convolve/border.hpp"
#include "convolve/plan.hpp"
#include "held_frame.hpp"

namespace convolve {

class FrameWindow {
 public:
  /// Sets what a filter asks for, for all frames whose output has not been made.
  void set_shape(int depth, int centre, Border border);

  void push(HeldFrame frame) { frames_.push_back(std::move(frame)); }
  void push_event(EventPtr event) { frames_.back().events.push_back(std::move(event)); }

  /// Frames whose output has not been made.
  int pending() const { return static_cast<int>(frames_.size()) - next_; }
  /// True where the next output can be made; `draining`: no frame will come after those held.
  bool ready(bool draining) const { return pending() > (draining ? 0 : ahead_); }
  int ahead() const { return ahead_; }

  /// The frame that the next output answers.
  HeldFrame& centre() { return frames_[next_]; }
  /// The images that the filter sees for the next output. They stay valid until advance() lets go of their frames.
  Window images() const;
  /// Whether any of the frames that the filter sees has this buffer flag.
  bool sees_flag(GstBufferFlags flag) const;
  /// Moves on to the next output and lets go of frames that none will need. Returns the events that come between.
  std::vector<EventPtr> advance();
  /// Forgets all; returns the events of frames that had no output.
  std::vector<EventPtr> clear();

  /// All frames held, oldest first.
  std::vector<HeldFrame>& frames() { return frames_; }

 private:
  void trim();
  /// Which of the frames held stands at place `t` of the filter; negative: none, the place holds ghost cells.
  int position_of(int t) const;

  std::vector<HeldFrame> frames_;  ///< oldest first
  int next_ = 0;                   ///< position of the next output's centre
  int behind_ = 0, ahead_ = 0;
  Border border_ = Border::replicate;
};

}  // namespace convolve
