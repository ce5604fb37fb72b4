// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithm::fastest on the CPU: how a plan is timed.
#pragma once

#include <memory>

#include "convolve/plan.hpp"

namespace convolve::cpu {

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
