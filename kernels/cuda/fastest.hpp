// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithm::fastest on a GPU: how a plan is timed. A stream of its own, frames of the layout's own size with random
// samples, more of them than the second level cache holds, and events around runs of launches.
#pragma once

#include <cuda_runtime.h>

#include <span>
#include <string>
#include <vector>

#include "convolve/plan.hpp"
#include "cuda/common/device_array.hpp"

namespace convolve::cuda {

class FrameTimer {
 public:
  /// Throws std::bad_alloc where the device has no memory for the frames, else PlanError.
  FrameTimer(const FrameLayout& layout, int depth);
  ~FrameTimer();
  FrameTimer(const FrameTimer&) = delete;
  FrameTimer& operator=(const FrameTimer&) = delete;

  /// The least time of a frame in seconds, found in some milliseconds; infinity where the plan fails. The plan's work
  /// is done on return.
  double operator()(Plan& plan);

 private:
  double run(Plan& plan, int frames);
  void release() noexcept;

  int depth_, inputs_, outputs_;
  DeviceArray<unsigned char> memory_;
  std::vector<Image> frames_;  ///< first the inputs, then the outputs
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  int next_ = 0;
  double least_of_all_;
};

/// "matrix 8.1 us", for descriptions.
std::string timing_text(Algorithm algorithm, double seconds);

/// What is timed: all algorithms of the backend, and `auto` for frames of which it may make views or wider copies, as
/// none of the algorithms alone does.
std::vector<Algorithm> fastest_candidates(std::span<const Algorithm> algorithms, const PlanDesc& desc);

/// All that a filter's speed on the current device depends on, as text: two that have the same text are one case to
/// Algorithm::fastest.
std::string text_of_case(const PlanDesc& desc, std::span<const Algorithm> candidates);

}  // namespace convolve::cuda
