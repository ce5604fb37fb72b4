// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Algorithm::fastest: what both backends remember of the algorithms that they have timed. Each case is timed once a
// process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "convolve/plane.hpp"

namespace convolve {

/// The time of a frame with one of several candidates, in seconds; infinity where that cannot run.
using MeasureCandidate = std::function<double(std::size_t candidate)>;

/// What was timed so far. Used by several threads at a time.
class TimedCases {
 public:
  /// The times of so many candidates. A case, whose text tells it from all others, is measured when it is first asked
  /// for, and again as long as none of its candidates could run.
  std::vector<double> times(const std::string& text, std::size_t candidates, const MeasureCandidate& measure);

  /// The one of this process.
  static TimedCases& of_process();

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<double>> times_;
};

/// A layout as a part of a case's text: all that speed depends on.
std::string text_of(const FrameLayout& layout);

}  // namespace convolve
