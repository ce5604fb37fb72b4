// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_interval.hpp"

#include <algorithm>

namespace convolve {
namespace {

bool clearly_above(std::uint64_t value, std::uint64_t estimate) {
  return value > estimate + estimate / 16;
}
bool clearly_below(std::uint64_t value, std::uint64_t estimate) {
  return value < estimate - estimate / 4;
}

}  // namespace

void FrameInterval::Recent::add(std::uint64_t value) {
  values_[next_] = value;
  next_ = (next_ + 1) % capacity;
  count_ = std::min(count_ + 1, capacity);
}

std::uint64_t FrameInterval::Recent::median() const {
  std::array<std::uint64_t, capacity> sorted = values_;
  const auto middle = sorted.begin() + (count_ - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count_);
  return *middle;
}

void FrameInterval::add(std::optional<std::uint64_t> timestamp, std::optional<std::uint64_t> duration) {
  if (timestamp && last_ && *timestamp != *last_) {
    const bool first = differences_.empty();
    differences_.add(*timestamp > *last_ ? *timestamp - *last_ : *last_ - *timestamp);
    if (first)
      estimate_ = differences_.median();
    else
      move_towards(differences_.median());
  }
  if (timestamp) last_ = timestamp;
  if (duration && *duration > 0) {
    durations_.add(*duration);
    if (differences_.empty()) estimate_ = durations_.median();
  }
}

void FrameInterval::move_towards(std::uint64_t median) {
  if (clearly_above(median, estimate_)) {
    estimate_ = median;
    frames_below_ = 0;
    return;
  }
  if (!clearly_below(median, estimate_)) {
    frames_below_ = 0;
    return;
  }
  highest_below_ = frames_below_ == 0 ? median : std::max(highest_below_, median);
  ++frames_below_;
  // The first few differences say little, so the estimate may fall at once while they are still being collected.
  if (differences_.full() && frames_below_ < Recent::capacity) return;
  estimate_ = highest_below_;
  frames_below_ = 0;
}

}  // namespace convolve
