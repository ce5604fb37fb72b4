// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Quality of service at the output: which outputs come too late to be worth making. update() may come from any thread,
// the rest belongs to the streaming thread.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>

namespace convolve {

class Quality {
 public:
  explicit Quality(GstBaseTransform* trans) : trans_(trans) {}

  /// Takes a QOS event from downstream.
  void update(GstEvent* event);
  void forget();
  /// Whether the output for this frame comes too late; if so, says so on the bus.
  bool too_late(const GstBuffer* frame);
  void count_output() { ++processed_; }

 private:
  GstBaseTransform* trans_;
  guint64 processed_ = 0, dropped_ = 0;
  std::atomic<GstClockTime> earliest_{GST_CLOCK_TIME_NONE};
  std::atomic<double> proportion_{1};
};

}  // namespace convolve
