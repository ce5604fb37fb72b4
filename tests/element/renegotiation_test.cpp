// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Downstream asks for other caps while frames flow, as a capsfilter does whose caps are set: upstream hears of it, and
// follows with its next frame. What was on the way meanwhile is no fault.
#include <functional>
#include <string>

#include "linked_pad.hpp"

namespace element_test {
namespace {

Owned<GstCaps> caps_of(const std::string& formats) {
  return Owned<GstCaps>(gst_caps_from_string(
      ("video/x-raw,format={" + formats + "},width=8,height=6,framerate=25/1,pixel-aspect-ratio=1/1").c_str()));
}

/// A source pad that sends the first of its formats that downstream takes.
class Source {
 public:
  Source(GstElement* element, const std::string& formats)
      : formats_(caps_of(formats)), pad_(element, GST_PAD_SRC, this, {nullptr, nullptr, query}) {}

  /// Settles caps where downstream asked for it, as each source does before a frame.
  void negotiate() {
    gst_pad_check_reconfigure(pad_);
    const Owned<GstCaps> both(gst_caps_fixate(gst_pad_peer_query_caps(pad_, formats_.get())));
    gst_pad_push_event(pad_, gst_event_new_caps(both.get()));
    CHECK(gst_video_info_from_caps(&info_, both.get()), "no caps that both take");
    if (next_ > 0) return;
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(pad_, gst_event_new_segment(&segment));
  }
  /// A frame of the caps that were settled last.
  GstFlowReturn push() { return gst_pad_push(pad_, random_buffer(random_, info_, next_++).release()); }
  /// The same, settled anew where that was asked for.
  GstFlowReturn follow() {
    if (gst_pad_needs_reconfigure(pad_)) negotiate();
    return push();
  }
  /// Sends caps of this format, whatever downstream takes.
  void insist_on(const std::string& format) {
    const Owned<GstCaps> caps(gst_caps_fixate(caps_of(format).release()));
    CHECK(gst_video_info_from_caps(&info_, caps.get()), "no caps of a frame");
    gst_pad_push_event(pad_, gst_event_new_caps(caps.get()));
  }
  GstPad* pad() const { return pad_; }
  void end() { gst_pad_push_event(pad_, gst_event_new_eos()); }

 private:
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query) {
    if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return gst_pad_query_default(pad, parent, query);
    GstCaps* filter = nullptr;
    gst_query_parse_caps(query, &filter);
    GstCaps* own = static_cast<Source*>(gst_pad_get_element_private(pad))->formats_.get();
    const Owned<GstCaps> answer(filter ? gst_caps_intersect(own, filter) : gst_caps_ref(own));
    gst_query_set_caps_result(query, answer.get());
    return TRUE;
  }

  Owned<GstCaps> formats_;
  GstVideoInfo info_{};
  std::mt19937 random_{1};
  int next_ = 0;
  const LinkedPad pad_;
};

/// A sink pad that takes one format, until it asks for another one.
class Sink {
 public:
  Sink(GstElement* element, const std::string& format)
      : caps_(caps_of(format)), pad_(element, GST_PAD_SINK, this, {chain, event, query}) {}

  void leave_for(const std::string& format) { caps_ = caps_of(format); }  ///< before upstream hears of it
  void ask_for(const std::string& format) {
    leave_for(format);
    gst_pad_push_event(pad_, gst_event_new_reconfigure());
  }

  std::function<GstFlowReturn()> at_frame;  ///< before a frame is taken
  std::function<void()> at_allocation;      ///< in an ALLOCATION query
  /// Frames taken, each as format and number; "!" after one that is a discontinuity.
  std::string text;

 private:
  static Sink& of(GstPad* pad) { return *static_cast<Sink*>(gst_pad_get_element_private(pad)); }
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
    const Owned<GstBuffer> owned(buffer);
    const GstFlowReturn flow = of(pad).at_frame ? of(pad).at_frame() : GST_FLOW_OK;
    if (flow != GST_FLOW_OK) return flow;
    const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
    std::string& text = of(pad).text;
    text += text.empty() ? "" : " ";
    text += gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format");
    text += " ";
    text += std::to_string(GST_BUFFER_PTS(buffer) / (40 * GST_MSECOND));
    if (GST_BUFFER_IS_DISCONT(buffer) && GST_BUFFER_PTS(buffer) > 0) text += "!";
    return GST_FLOW_OK;
  }
  static gboolean event(GstPad* pad, GstObject*, GstEvent* event) {
    const Owned<GstEvent> owned(event);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return TRUE;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    return gst_caps_can_intersect(caps, of(pad).caps_.get());
  }
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query) {
    GstCaps *asked = nullptr, *own = of(pad).caps_.get();
    if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
      gst_query_parse_accept_caps(query, &asked);
      gst_query_set_accept_caps_result(query, gst_caps_can_intersect(asked, own));
      return TRUE;
    }
    if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && of(pad).at_allocation) of(pad).at_allocation();
    if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) return gst_pad_query_default(pad, parent, query);
    gst_query_parse_caps(query, &asked);
    const Owned<GstCaps> answer(asked ? gst_caps_intersect(asked, own) : gst_caps_ref(own));
    gst_query_set_caps_result(query, answer.get());
    return TRUE;
  }

  Owned<GstCaps> caps_;
  const LinkedPad pad_;
};

/// The element in PLAYING between the two, with caps settled.
struct Stage {
  Stage(const std::string& properties, const std::string& sent, const std::string& taken)
      : element(make_element(properties)), bus(element.get()), source(element.get(), sent), sink(element.get(), taken) {
    gst_element_set_state(element.get(), GST_STATE_PLAYING);
    gst_pad_push_event(source.pad(), gst_event_new_stream_start("test"));
    source.negotiate();
  }
  void check(const std::string& wanted, const char* label) {
    const std::vector<Report> reports = bus.reports();
    CHECK(reports.empty(), "%s: \"%s\" is reported", label, reports[0].text.c_str());
    CHECK(sink.text == wanted, "%s: \"%s\" left, and not \"%s\"", label, sink.text.c_str(), wanted.c_str());
  }

  Owned<GstElement> element;
  ElementBus bus;
  Source source;
  Sink sink;
};

constexpr const char* filters[] = {"preset=box-blur", "preset=temporal-mean temporal-radius=2", "preset=identity",
                                   "regions=inside region-effect=fill region-boxes=<<1,1,4,4>>"};

ELEMENT_TEST_ROWS(frames_on_their_way_when_downstream_asks_for_other_caps_leave_in_the_old_ones, std::size(filters)) {
  Stage stage(filters[row], "GRAY8,I420", "GRAY8");
  for (int i = 0; i < 4; ++i) CHECK(stage.source.push() == GST_FLOW_OK, "frame %d is refused", i);
  stage.sink.ask_for("I420");
  for (int i = 4; i < 7; ++i) CHECK(stage.source.push() == GST_FLOW_OK, "frame %d, on its way, is refused", i);
  for (int i = 7; i < 9; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d, with the new caps, is refused", i);
  stage.source.end();
  stage.check("GRAY8 0 GRAY8 1 GRAY8 2 GRAY8 3 GRAY8 4 GRAY8 5 GRAY8 6 I420 7 I420 8", filters[row]);
}

// The frame in the caps that were left meanwhile is lost: nobody takes it. The stream goes on.
ELEMENT_TEST(downstream_may_leave_the_new_caps_while_the_window_drains_for_them) {
  Stage stage("preset=temporal-mean temporal-radius=2", "GRAY8,I420,NV12", "GRAY8");
  for (int i = 0; i < 4; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d is refused", i);
  stage.sink.ask_for("I420");
  stage.sink.at_frame = [&] {
    stage.sink.at_frame = nullptr;
    stage.sink.ask_for("NV12");
    return GST_FLOW_OK;
  };
  for (int i = 4; i < 7; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d is refused", i);
  stage.source.end();
  stage.check("GRAY8 0 GRAY8 1 GRAY8 2 GRAY8 3 NV12 5! NV12 6", "caps that were left twice");
}

// A queue downstream has the ALLOCATION query wait until the new caps have left it. They may be refused by then: the
// first frame in them would end the queue.
ELEMENT_TEST_ROWS(downstream_may_leave_the_new_caps_before_the_first_frame_in_them, 4) {
  const bool is_told = row < 2;
  Stage stage(filters[row % 2], "GRAY8,I420,NV12", "GRAY8");
  for (int i = 0; i < 4; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d is refused", i);
  stage.sink.ask_for("I420");
  stage.sink.at_allocation = [&] {
    stage.sink.at_allocation = nullptr;
    if (is_told)
      stage.sink.ask_for("NV12");
    else
      stage.sink.leave_for("NV12");
  };
  stage.source.negotiate();
  CHECK(stage.source.push() == GST_FLOW_OK, "the frame that nobody takes is refused");
  if (!is_told) stage.sink.ask_for("NV12");
  for (int i = 5; i < 7; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d is refused", i);
  stage.source.end();
  stage.check("GRAY8 0 GRAY8 1 GRAY8 2 GRAY8 3 NV12 5! NV12 6", filters[row % 2]);
}

// An element behind this one says of each frame what it thinks of its caps.
ELEMENT_TEST_ROWS(a_frame_that_is_refused_while_downstream_asks_for_other_caps_does_not_end_the_stream,
                  std::size(filters)) {
  Stage stage(filters[row], "GRAY8,I420", "GRAY8,I420");
  CHECK(stage.source.follow() == GST_FLOW_OK, "the first frame is refused");
  stage.sink.at_frame = [&] {
    stage.sink.at_frame = nullptr;
    stage.sink.ask_for("I420");
    return GST_FLOW_NOT_NEGOTIATED;
  };
  for (int i = 1; i < 5; ++i) CHECK(stage.source.follow() == GST_FLOW_OK, "frame %d is refused", i);
  stage.source.end();
  const char* wanted = row == 1 ? "GRAY8 1! GRAY8 2 I420 3 I420 4" : "GRAY8 0 I420 2! I420 3 I420 4";
  stage.check(wanted, filters[row]);
}

ELEMENT_TEST_ROWS(caps_that_upstream_cannot_change_are_refused_at_once, std::size(filters)) {
  Stage stage(filters[row], "GRAY8", "GRAY8");
  for (int i = 0; i < 4; ++i) CHECK(stage.source.push() == GST_FLOW_OK, "frame %d is refused", i);
  stage.sink.ask_for("I420");
  const GstFlowReturn flow = stage.source.push();
  CHECK(flow == GST_FLOW_NOT_NEGOTIATED, "%s: upstream gets %s", filters[row], gst_flow_get_name(flow));
  CHECK(stage.bus.errors().empty(), "%s: an error of the element's own", filters[row]);
}

// Downstream asked for nothing, so that nobody will follow: upstream says what it might send, and sends what it has, as
// a decoder does.
ELEMENT_TEST_ROWS(caps_that_downstream_never_took_are_refused_at_once, 2 * std::size(filters)) {
  const bool is_first = row < static_cast<int>(std::size(filters));
  const char* filter = filters[row % std::size(filters)];
  Stage stage(filter, "GRAY8,I420", "GRAY8");
  if (is_first) {
    gst_element_set_state(stage.element.get(), GST_STATE_READY);
    gst_element_set_state(stage.element.get(), GST_STATE_PLAYING);
    gst_pad_push_event(stage.source.pad(), gst_event_new_stream_start("test"));
  } else {
    for (int i = 0; i < 4; ++i) CHECK(stage.source.push() == GST_FLOW_OK, "frame %d is refused", i);
  }
  stage.source.insist_on("I420");
  const GstFlowReturn flow = stage.source.push();
  CHECK(flow == GST_FLOW_NOT_NEGOTIATED, "%s: upstream gets %s", filter, gst_flow_get_name(flow));
}

ELEMENT_TEST(upstream_that_could_follow_and_does_not_is_refused_in_the_end) {
  Stage stage("preset=box-blur", "GRAY8,I420", "GRAY8");
  CHECK(stage.source.push() == GST_FLOW_OK, "the first frame is refused");
  stage.sink.ask_for("I420");
  int frames = 0;
  GstFlowReturn flow = GST_FLOW_OK;
  while (flow == GST_FLOW_OK && frames < 1000) flow = stage.source.push(), ++frames;
  CHECK(flow == GST_FLOW_NOT_NEGOTIATED && frames == 201, "%s after %d frames", gst_flow_get_name(flow), frames);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("renegotiation");
}
