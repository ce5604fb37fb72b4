// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A videoconvolve between two pads that a fuzzer's bytes drive, and what has to hold for it whatever they say.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <string>

#include "bytes.hpp"

namespace fuzz {

/// Prints what is wrong and ends the process, which libFuzzer notes with the bytes that led there.
[[noreturn]] void fail(const std::string& what);

/// What went in may leave again as it was: it and its memory are marked, as a reference would keep the element from
/// working in place.
void mark_as_input(GstBuffer* buffer);

// A videoconvolve with a pad of ours on each side.
class Stream {
 public:
  explicit Stream(Bytes& bytes);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void step();
  void end_with_a_good_frame();

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer);
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query);
  static Stream& of(GstPad* pad) { return *static_cast<Stream*>(pad->chaindata); }

  void change_caps();
  void send_caps(const GstVideoInfo& info);
  void send_segment(bool plain);
  void send_event();
  void send_event_upstream();
  void send_query();
  void flush(bool stops_only);
  void restart();
  void push_odd_buffer();
  void push(GstBuffer* buffer, bool is_good);
  void take_messages(bool may_fail);
  void take(GstBuffer* buffer);
  void drop_pool();
  void begin_anew() { eos_ = failed_ = false; }

  Bytes& bytes_;
  GstElement* element_;
  GstPad *up_, *down_;
  GstBus* bus_;
  GstVideoInfo info_;
  bool has_caps_ = false, eos_ = false;
  bool caps_arrived_ = false;      // those of info_: after an EOS none do until a flush
  bool failed_ = false;            // an error that is excused, or downstream's own, until a flush or a start
  bool settings_may_fail_ = true;  // the settings in force have not yet served a frame since a start or new caps
  GstFlowReturn downstream_ = GST_FLOW_OK;
  bool takes_video_meta_ = false;
  GstBufferPool* pool_ = nullptr;
  int outputs_ = 0;
  int value_ = -1;  // that all samples of outputs have to have
};

}  // namespace fuzz
