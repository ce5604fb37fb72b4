// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "window.hpp"

#include <algorithm>

namespace convolve {

void FrameWindow::set_shape(int depth, int centre, Border border) {
  behind_ = centre;
  ahead_ = depth - 1 - centre;
  // A stream is not periodic: what wrap asks for has not come yet, or is gone.
  border_ = is_periodic(border) ? Border::replicate : border;
  trim();
}

Window FrameWindow::images() const {
  Window window;
  window.depth = behind_ + 1 + ahead_;
  for (int t = 0; t < window.depth; ++t) {
    const int position = position_of(t);
    window.image[t] = position < 0 ? nullptr : &frames_[position].image;
  }
  return window;
}

bool FrameWindow::sees_flag(GstBufferFlags flag) const {
  for (int t = 0; t <= behind_ + ahead_; ++t) {
    const int position = position_of(t);
    if (position >= 0 && GST_BUFFER_FLAG_IS_SET(frames_[position].buffer.get(), flag)) return true;
  }
  return false;
}

int FrameWindow::position_of(int t) const {
  return border_index(border_, next_ - behind_ + t, static_cast<int>(frames_.size()));
}

std::vector<EventPtr> FrameWindow::advance() {
  std::vector<EventPtr> events = std::move(frames_[next_].events);
  ++next_;
  trim();
  return events;
}

std::vector<EventPtr> FrameWindow::clear() {
  std::vector<EventPtr> events;
  for (HeldFrame& frame : frames_)
    for (EventPtr& event : frame.events) events.push_back(std::move(event));
  frames_.clear();
  next_ = 0;
  return events;
}

void FrameWindow::trim() {
  // Reflected at the end of the stream, frames as far behind the centre as `ahead` stand in.
  const int surplus = next_ - std::max(behind_, ahead_);
  if (surplus <= 0) return;
  frames_.erase(frames_.begin(), frames_.begin() + surplus);
  next_ -= surplus;
}

}  // namespace convolve
