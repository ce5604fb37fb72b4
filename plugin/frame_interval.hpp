// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameInterval: the time from one frame to the next of a stream whose caps name no framerate, estimated from the
// frames themselves. Nanoseconds; owned by the streaming thread.
//
// The estimate is the median of the last differences between timestamps, so that neither a pause nor an absurd duration
// moves it. Durations count only until there is a difference, and a guess until there is a duration. Once enough
// differences are known the estimate follows them with hysteresis: it rises when the median is clearly above it, and
// falls when the median has been clearly below it for a while. Jitter and streams that alternate between two intervals
// do not move it back and forth.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace convolve {

class FrameInterval {
 public:
  /// Assumed as long as nothing is known of the stream: 25 frames a second.
  static constexpr std::uint64_t guess = 40'000'000;

  /// Takes note of a frame, in order of arrival.
  void add(std::optional<std::uint64_t> timestamp, std::optional<std::uint64_t> duration);
  /// The next frame does not follow the last one in time.
  void cut() { last_.reset(); }
  /// Never 0.
  std::uint64_t estimate() const { return estimate_; }

 private:
  /// The values added last, the oldest overwritten by the newest.
  class Recent {
   public:
    static constexpr int capacity = 11;
    void add(std::uint64_t value);
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == capacity; }
    /// The lower of the two in the middle where their number is even.
    std::uint64_t median() const;

   private:
    std::array<std::uint64_t, capacity> values_{};
    int count_ = 0, next_ = 0;
  };

  void move_towards(std::uint64_t median);

  std::optional<std::uint64_t> last_;  ///< timestamp of the frame before
  Recent differences_, durations_;
  std::uint64_t estimate_ = guess;
  int frames_below_ = 0;             ///< for how many frames in a row the median has been clearly below the estimate
  std::uint64_t highest_below_ = 0;  ///< the highest median among those
};

}  // namespace convolve
