// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithm::fastest: which of some plans of one case is the fastest on this machine, by running them. Each case is
// timed once a process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "convolve/plan.hpp"

namespace convolve::cpu {

/// The time of a frame with a plan, in any unit.
using MeasurePlan = std::function<double(Plan&)>;

/// What was timed so far. Used by several threads at a time.
class FastestPlans {
 public:
  /// The index of the plan that `measure` finds the fastest, of one or more. Plans of another layout, or that describe
  /// themselves otherwise, are another case. A single plan is not timed.
  std::size_t choose(std::span<const std::unique_ptr<Plan>> plans, const FrameLayout& layout,
                     const MeasurePlan& measure);

  /// The one of this process.
  static FastestPlans& of_process();

 private:
  std::mutex mutex_;
  std::map<std::string, std::size_t> chosen_;
};

/// Runs a plan over frames of random samples that belong to it, for some milliseconds, and gives its least time in
/// seconds. Throws std::bad_alloc where there is no memory for two frames.
class FrameTimer {
 public:
  FrameTimer(const FrameLayout& layout, int depth);
  double operator()(Plan& plan) const;

 private:
  std::shared_ptr<unsigned char[]> memory_;
  Image in_, out_;
  int depth_;
};

}  // namespace convolve::cpu
