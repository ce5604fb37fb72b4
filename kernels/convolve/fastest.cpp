// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/fastest.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace convolve {

std::vector<double> TimedCases::times(const std::string& text, std::size_t candidates,
                                      const MeasureCandidate& measure) {
  // Held while candidates are timed: two that run at once would slow each other.
  const std::lock_guard lock(mutex_);
  if (const auto found = times_.find(text); found != times_.end()) return found->second;
  std::vector<double> measured;
  for (std::size_t i = 0; i < candidates; ++i) measured.push_back(measure(i));
  if (std::any_of(measured.begin(), measured.end(), [](double time) { return std::isfinite(time); }))
    times_.emplace(text, measured);
  return measured;
}

TimedCases& TimedCases::of_process() {
  static TimedCases cases;
  return cases;
}

std::string text_of(const FrameLayout& layout) {
  std::ostringstream text;
  text << static_cast<int>(layout.type) << '/' << layout.bits << '/' << layout.shift;
  for (int p = 0; p < layout.planes; ++p) {
    text << " plane";
    for (int c = 0; c < layout.plane[p].components; ++c) {
      const Component& component = layout.plane[p].component[c];
      text << ' ' << component.width << 'x' << component.height << '+' << component.offset << '*' << component.step
           << (component.filtered ? "" : " copied");
    }
  }
  return text.str();
}

}  // namespace convolve
