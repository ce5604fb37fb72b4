// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Scenario: a short stream through the filter, which runs again and again with another call failing each time. What a
// run without a fault gives is compared with the oracle once; later runs are compared with its bytes.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "../element/stream.hpp"

namespace driver_test {

/// What came of one run.
struct Outcome {
  std::vector<std::string> errors, warnings;  ///< the filter's texts on the bus
  std::vector<std::string> other_errors;      ///< those of the elements beside it
  GstFlowReturn flow = GST_FLOW_OK;           ///< of the last push
  std::vector<std::vector<guint8>> outputs;   ///< the samples of each frame that left
  std::string backend;                        ///< active-backend after the first frame
  int buffers_left = 0;                       ///< inputs that nobody has let go of after the element was stopped
};

struct Scenario {
  const char* name;
  std::string launch;  ///< a chain of elements, with the filter named f
  GstVideoInfo info;
  element_test::Filtering filtering;  ///< what `launch` asks for
  int frames;
  bool pooled;  ///< frames come from a pool, else each in memory of its own
};

/// System memory cut into slabs, pooled windows, frames in CUDA memory. `backend` is cuda or auto.
std::vector<Scenario> make_scenarios(const std::string& backend);

class Runner {
 public:
  /// Runs the scenario once without a fault and compares it with the oracle.
  explicit Runner(const Scenario& scenario);
  const Scenario& scenario() const { return scenario_; }
  /// Whether GStreamer's own CUDA elements stand beside the filter.
  bool has_neighbours() const { return scenario_.launch.find('!') != std::string::npos; }

  /// Makes the chain of elements, in NULL.
  element_test::Owned<GstElement> make() const;
  /// From NULL to PLAYING, through the whole stream or up to the first refusal, and back to NULL.
  Outcome run(GstElement* element) const;
  /// Empty where all frames left and are right, else what is wrong.
  std::string complete(const Outcome& outcome) const;
  /// The same of those frames that left.
  std::string right_so_far(const Outcome& outcome) const;

 private:
  void play(GstElement* element, std::atomic<int>& alive, Outcome& outcome) const;

  const Scenario scenario_;
  std::vector<element_test::Owned<GstBuffer>> input_;
  std::vector<std::vector<guint8>> wanted_;
};

}  // namespace driver_test
