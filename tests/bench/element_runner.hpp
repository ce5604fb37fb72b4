// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ElementRunner: pushes frames through one element, from its sink pad's chain to its source pad's push, and times them.
//
// One thread at a time may push; that thread is the element's streaming thread. Input frames rotate, of random samples,
// from the pool that the element proposes or, where `pageable`, from plain memory.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>

#include <string>
#include <vector>

namespace convolve::bench {

struct StreamFormat {
  const char* name;  ///< of GstVideoFormat
  int width, height;
  bool cuda_memory;
};

/// Times of each frame in microseconds.
struct FrameTimes {
  std::vector<double> latency;     ///< wall clock, from chain to push
  std::vector<double> thread_cpu;  ///< CPU time of the streaming thread in chain
};

class ElementRunner {
 public:
  /// Throws std::runtime_error where the element is absent or does not negotiate. `context_from`: another runner whose
  /// CUDA context this one shares.
  ElementRunner(const std::string& launch_line, const StreamFormat& format, bool pageable = false,
                const ElementRunner* context_from = nullptr);
  ~ElementRunner();
  ElementRunner(const ElementRunner&) = delete;
  ElementRunner& operator=(const ElementRunner&) = delete;

  /// One frame through the element. Throws where the element refuses it.
  void push(FrameTimes* times = nullptr);
  void set(const char* property, double value);
  /// "cuda, matrix": what ran; empty for other elements than videoconvolve.
  std::string active() const;

 private:
  GstHarness* harness_ = nullptr;
  GstElement* element_ = nullptr;
  std::vector<GstBuffer*> inputs_;
  guint64 frame_ = 0;
  double pushed_at_us_ = 0;
};

double wall_us();
double thread_cpu_us();
double process_cpu_us();

}  // namespace convolve::bench
