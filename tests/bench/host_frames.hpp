// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in system memory, and the clocks, of the rows that run on the CPU.
#pragma once

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "bench.hpp"

namespace convolve::bench {

/// Host frames of one layout, inputs random; more than the caches of a core hold.
class HostFrames {
 public:
  static constexpr int count = 6;

  explicit HostFrames(const FrameLayout& layout) : layout_(layout), shape_(layout) {
    const std::vector<unsigned char> data = random_frames(layout, shape_.bytes);
    for (int i = 0; i < 2 * count; ++i) {
      memory_.emplace_back(static_cast<unsigned char*>(std::aligned_alloc(256, shape_.bytes)));
      std::memcpy(memory_.back().get(), data.data(), shape_.bytes);
      images_.push_back(shape_.at(memory_.back().get()));
    }
  }
  const FrameLayout& layout() const { return layout_; }
  Window window(int i, int depth) const {
    Window window{.depth = depth};
    for (int t = 0; t < depth; ++t) window.image[t] = &in(i + t);
    return window;
  }
  const Image& in(int i) const { return images_[place(i)]; }
  const Image& out(int i) const { return images_[count + place(i)]; }
  void copy(int i) const { std::memcpy(memory_[count + place(i)].get(), memory_[place(i)].get(), shape_.bytes); }

 private:
  struct Free {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  static std::size_t place(int i) { return static_cast<std::size_t>(i % count); }
  FrameLayout layout_;
  FrameShape shape_;
  std::vector<std::unique_ptr<unsigned char[], Free>> memory_;
  std::vector<Image> images_;
};

/// The process's CPU time, which leaves out what others took, or the wall clock, in microseconds.
inline double clock_us(bool cpu_time) {
  timespec now{};
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace convolve::bench
