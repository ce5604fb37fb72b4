// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The window of frames through events: what drains it, what empties it, what keeps its place; playback in reverse,
// seeks and pads linked anew.
#include <algorithm>

#include "stream.hpp"

namespace element_test {
namespace {

// --- Events ----------------------------------------------------------------------------------------------------

// What is pushed between frames 3 and 4 of 8, and the tape that it gives; "|" in `tape` says that the stream is cut
// there in time.
struct Interruption {
  const char* name;
  GstEvent* (*make)();
  const char* tape;
  bool cut;
};

GstEvent* new_segment(double rate, GstClockTime base) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.base = base;
  return gst_event_new_segment(&segment);
}
GstEvent* tag() {
  return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "title", nullptr));
}

const Interruption interruptions[] = {
    {"SEGMENT", [] { return new_segment(1, 100); }, "0 40 80 120 segment 160 200 240 280 eos", true},
    {"SEGMENT of another rate", [] { return new_segment(2, 100); }, "0 40 80 120 segment 160 200 240 280 eos", true},
    {"GAP", [] { return gst_event_new_gap(150 * GST_MSECOND, 1); }, "0 40 80 120 gap 160 200 240 280 eos", true},
    {"TAG", tag, "0 40 80 120 tag 160 200 240 280 eos", false},
    {"a custom event",
     [] { return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark")); },
     "0 40 80 120 custom-downstream 160 200 240 280 eos", false},
};

// A serialised event keeps its place among the frames; where it cuts the stream, windows do not reach across.
ELEMENT_TEST_ROWS(a_serialised_event_keeps_its_place_among_the_frames, std::size(interruptions)) {
  const Interruption& event = interruptions[row];
  std::mt19937 random(39);
  const GstVideoInfo info = small();
  for (const bool is_causal : {false, true}) {
    Filtering f{five()};
    const std::string properties = kernel_is(f.kernel) + (is_causal ? "window=causal" : "");
    if (is_causal) f.kernel = causal(f.kernel);
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
    Harness harness(properties, info);
    push_all(harness, input, 0, 1);
    // The first output is late by the window: begin the tape after the events of the start.
    push_all(harness, input, 1, 4);
    harness.push_event(event.make());
    push_all(harness, input, 4);
    harness.push_event(gst_event_new_eos());
    std::string tape = harness.tape().text();
    const std::size_t start = tape.find(" 0 ");
    tape = start == std::string::npos ? tape : tape.substr(start + 1);
    CHECK(tape == event.tape, "%s: the tape is \"%s\" instead of \"%s\"", event.name, tape.c_str(), event.tape);
    if (event.cut) check_tape(harness, expected_of_parts(f, input, info, {4}), input, info, event.name);
  }
}

ELEMENT_TEST(a_new_stream_drains_the_window_before_its_stream_start) {
  std::mt19937 random(40);
  const GstVideoInfo info = small();
  const Filtering f{five()};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  Harness harness(kernel_is(f.kernel), info);
  push_all(harness, input, 0, 4);
  harness.push_event(gst_event_new_stream_start("another"));
  harness.set_caps(info);
  harness.push_segment();
  push_all(harness, input, 4);
  harness.push_event(gst_event_new_eos());
  const std::string tape = harness.tape().text();
  CHECK(tape.find("120 stream-start") != std::string::npos, "the tape is %s", tape.c_str());
  check_tape(harness, expected_of_parts(f, input, info, {4}), input, info, "STREAM_START");
}

ELEMENT_TEST(new_caps_drain_the_window_with_the_old_caps) {
  std::mt19937 random(41);
  const GstVideoInfo infos[] = {small(), video_info("I420", 6, 10), video_info("GRAY8", 30, 2)};
  for (const bool is_causal : {false, true}) {
    Filtering f{five()};
    Harness harness(kernel_is(f.kernel) + (is_causal ? "window=causal" : ""));
    if (is_causal) f.kernel = causal(f.kernel);
    std::string wanted;
    std::vector<std::pair<Frame, GstVideoInfo>> pictures;
    int index = 0;
    for (const GstVideoInfo& info : infos) {
      harness.set_caps(info);
      std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
      for (Owned<GstBuffer>& buffer : input) stamp(buffer.get(), index++);
      push_all(harness, input);
      for (Frame& frame : expected(f, frames_of(input, info), info)) pictures.emplace_back(std::move(frame), info);
    }
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(out.size() == pictures.size(), "%zu outputs: %s", out.size(), harness.tape().text().c_str());
    for (std::size_t i = 0; i < out.size(); ++i)
      check_buffer(pictures[i].first, out[i], pictures[i].second, 0, "frame " + std::to_string(i));
    const std::string tape = harness.tape().text();
    const std::size_t second = tape.find("120 caps"), third = tape.find("280 caps");
    CHECK(second != std::string::npos && third != std::string::npos && second < third, "the tape is %s", tape.c_str());
  }
}

ELEMENT_TEST(a_flush_leaves_no_stale_frame) {
  std::mt19937 random(42);
  const GstVideoInfo info = small();
  for (const bool is_causal : {false, true}) {
    Filtering f{five()};
    Harness harness(kernel_is(f.kernel) + (is_causal ? "window=causal" : ""), info);
    if (is_causal) f.kernel = causal(f.kernel);
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 9);
    push_all(harness, input, 0, 4);
    harness.flush();
    harness.tape().clear();
    std::vector<Owned<GstBuffer>> rest;
    for (std::size_t i = 4; i < input.size(); ++i) rest.emplace_back(gst_buffer_ref(input[i].get()));
    push_all(harness, rest);
    harness.push_event(gst_event_new_eos());
    check_tape(harness, expected(f, frames_of(rest, info), info), rest, info, "after a flush");
  }
}

ELEMENT_TEST(eos_after_eos_and_a_flush_between_give_each_frame_once) {
  std::mt19937 random(43);
  const GstVideoInfo info = small();
  const Filtering f{five()};
  Harness harness(kernel_is(f.kernel), info);
  for (int round = 0; round < 3; ++round) {
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 3);
    harness.tape().clear();
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    check_tape(harness, expected(f, frames_of(input, info), info), input, info, "round " + std::to_string(round));
    harness.flush();
  }
}

ELEMENT_TEST(a_discont_frame_starts_the_window_anew) {
  std::mt19937 random(44);
  const GstVideoInfo info = small();
  for (const bool is_causal : {false, true}) {
    Filtering f{five()};
    Harness harness(kernel_is(f.kernel) + (is_causal ? "window=causal" : ""), info);
    if (is_causal) f.kernel = causal(f.kernel);
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 10);
    GST_BUFFER_FLAG_SET(input[3].get(), GST_BUFFER_FLAG_DISCONT);
    GST_BUFFER_FLAG_SET(input[8].get(), GST_BUFFER_FLAG_DISCONT);
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    check_tape(harness, expected_of_parts(f, input, info, {3, 8}), input, info, is_causal ? "causal" : "centered");
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    for (std::size_t i = 1; i < out.size(); ++i)
      CHECK(GST_BUFFER_FLAG_IS_SET(out[i], GST_BUFFER_FLAG_DISCONT) == (i == 3 || i == 8), "DISCONT on output %zu", i);
  }
}

ELEMENT_TEST(reverse_playback_gives_the_pictures_of_forward_playback) {
  std::mt19937 random(45);
  const GstVideoInfo info = small();
  for (const int depth : {2, 3, 4, 5}) {
    const Filtering f{random_kernel(random, depth, 1, 3, 9, 16)};
    Harness harness(kernel_is(f.kernel), info);
    std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
    std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
    std::reverse(wanted.begin(), wanted.end());
    std::reverse(input.begin(), input.end());
    harness.push_segment(-1.0, 8 * frame_duration);
    harness.tape().clear();
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    check_tape(harness, wanted, input, info, "reverse, depth " + std::to_string(depth));
  }
}

// Causal means no latency, so that backwards too it looks at the frames that have come.
ELEMENT_TEST(a_causal_window_keeps_the_order_of_arrival_in_reverse_playback) {
  std::mt19937 random(55);
  const GstVideoInfo info = small();
  Filtering f{five()};
  Harness harness(kernel_is(f.kernel) + "window=causal", info);
  f.kernel = causal(f.kernel);
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  std::reverse(input.begin(), input.end());
  harness.push_segment(-1.0, 8 * frame_duration);
  harness.tape().clear();
  push_all(harness, input);
  CHECK(harness.tape().buffer_count() == input.size(), "outputs are late");
  check_tape(harness, expected(f, frames_of(input, info), info), input, info, "reverse, causal");
}

ELEMENT_TEST(turning_round_in_mid_stream_drains_and_flips_the_taps) {
  std::mt19937 random(46);
  const GstVideoInfo info = small();
  const Filtering f{three()};
  Filtering back = f;
  back.kernel = flipped(f.kernel);
  Harness harness(kernel_is(f.kernel), info);
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  for (int i = 4; i < 8; ++i) stamp(input[i].get(), 20 - i);
  push_all(harness, input, 0, 4);
  harness.push_segment(-1.0, 20 * frame_duration);
  push_all(harness, input, 4);
  harness.push_event(gst_event_new_eos());
  std::vector<Frame> wanted = expected_of_parts(f, input, info, {4});
  const std::vector<Frame> reversed = expected_of_parts(back, input, info, {4});
  std::copy(reversed.begin() + 4, reversed.end(), wanted.begin() + 4);
  check_tape(harness, wanted, input, info, "turned round");
}

// --- Pads and pipelines ----------------------------------------------------------------------------------------

GstFlowReturn count_buffer(GstPad* pad, GstObject*, GstBuffer* buffer) {
  ++*static_cast<int*>(gst_pad_get_element_private(pad));
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

ELEMENT_TEST(a_source_pad_linked_anew_while_playing_loses_no_frame) {
  std::mt19937 random(53);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 9);
  Harness harness(kernel_is(five()), info);
  push_all(harness, input, 0, 4);
  const Owned<GstPad> src(gst_element_get_static_pad(harness.element(), "src"));
  const Owned<GstPad> old(gst_pad_get_peer(src.get()));
  const Owned<GstPad> fresh(gst_pad_new("fresh", GST_PAD_SINK));
  gst_object_ref_sink(fresh.get());
  int count = 0;
  gst_pad_set_element_private(fresh.get(), &count);
  gst_pad_set_chain_function(fresh.get(), count_buffer);
  gst_pad_set_active(fresh.get(), TRUE);
  CHECK(gst_pad_unlink(src.get(), old.get()), "cannot unlink");
  CHECK(gst_pad_link(src.get(), fresh.get()) == GST_PAD_LINK_OK, "cannot link");
  push_all(harness, input, 4, 7);
  gst_pad_unlink(src.get(), fresh.get());
  CHECK(gst_pad_link(src.get(), old.get()) == GST_PAD_LINK_OK, "cannot link back");
  push_all(harness, input, 7);
  harness.push_event(gst_event_new_eos());
  const int total = count + static_cast<int>(gst_harness_buffers_received(harness.get()));
  CHECK(count == 3 && total == 9, "%d outputs on the new link, %d in all of 9", count, total);
  gst_pad_set_active(fresh.get(), FALSE);
}

ELEMENT_TEST(a_sink_pad_linked_anew_while_playing_gives_every_frame_once) {
  std::mt19937 random(54);
  const GstVideoInfo info = small();
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  const Filtering f{five()};
  Harness harness(kernel_is(f.kernel), info);
  push_all(harness, input, 0, 4);
  const Owned<GstPad> sink(gst_element_get_static_pad(harness.element(), "sink"));
  const Owned<GstPad> old(gst_pad_get_peer(sink.get()));
  CHECK(gst_pad_unlink(old.get(), sink.get()), "cannot unlink");
  const Owned<GstPad> fresh(gst_pad_new("fresh", GST_PAD_SRC));
  gst_object_ref_sink(fresh.get());
  gst_pad_set_active(fresh.get(), TRUE);
  CHECK(gst_pad_link(fresh.get(), sink.get()) == GST_PAD_LINK_OK, "cannot link");
  gst_pad_push_event(fresh.get(), gst_event_new_stream_start("other"));
  const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
  gst_pad_push_event(fresh.get(), gst_event_new_caps(caps.get()));
  gst_pad_push_event(fresh.get(), new_segment(1, 0));
  for (int i = 4; i < 8; ++i)
    CHECK(gst_pad_push(fresh.get(), gst_buffer_ref(input[i].get())) == GST_FLOW_OK, "frame %d is refused", i);
  gst_pad_push_event(fresh.get(), gst_event_new_eos());
  check_tape(harness, expected_of_parts(f, input, info, {4}), input, info, "relinked");
  gst_pad_unlink(fresh.get(), sink.get());
  gst_pad_set_active(fresh.get(), FALSE);
  CHECK(gst_pad_link(old.get(), sink.get()) == GST_PAD_LINK_OK, "cannot link back");
}

// Plays a pipeline to its end, with seeks on the way, and returns the pts of what reached the sink.
class Player {
 public:
  explicit Player(const std::string& launch) : pipeline_(parse(launch)) {
    const Owned<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "s"));
    const Owned<GstPad> pad(gst_element_get_static_pad(sink.get(), "sink"));
    tape_ = std::make_unique<Tape>(pad.get());
  }
  ~Player() {
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    tape_.reset();
  }
  void pause() {
    gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
    CHECK(gst_element_get_state(pipeline_.get(), nullptr, nullptr, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS,
          "no preroll");
  }
  void seek(double rate, int flags, int start_ms, int stop_ms) {
    CHECK(gst_element_seek(pipeline_.get(), rate, GST_FORMAT_TIME, static_cast<GstSeekFlags>(flags), GST_SEEK_TYPE_SET,
                           start_ms * GST_MSECOND, GST_SEEK_TYPE_SET, stop_ms * GST_MSECOND),
          "the seek fails");
  }
  void play_to(GstMessageType type) {
    CHECK(plays_to(pipeline_.get(), type), "no %s: %s", gst_message_type_get_name(type), tape_->text().c_str());
  }
  Tape& tape() { return *tape_; }

 private:
  Owned<GstElement> pipeline_;
  std::unique_ptr<Tape> tape_;
};

constexpr const char* seekable =
    "videotestsrc num-buffers=50 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 ! ${convolve} "
    "preset=temporal-mean temporal-radius=2 ! fakesink name=s sync=false";

ELEMENT_TEST(a_flushing_seek_plays_each_frame_of_its_range_once) {
  for (const double rate : {1.0, 2.0, -1.0}) {
    Player player(seekable);
    player.pause();
    player.tape().clear();
    player.seek(rate, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, 400, 800);
    player.pause();
    player.play_to(GST_MESSAGE_EOS);
    std::vector<GstClockTime> pts;
    for (GstBuffer* buffer : player.tape().buffers()) pts.push_back(GST_BUFFER_PTS(buffer) / GST_MSECOND);
    if (rate < 0) std::reverse(pts.begin(), pts.end());
    CHECK(pts.size() >= 10 && pts.size() <= 11, "rate %g: %zu frames: %s", rate, pts.size(),
          player.tape().text().c_str());
    for (std::size_t i = 0; i < pts.size(); ++i)
      CHECK(pts[i] == pts[0] + 40 * i && pts[i] <= 800, "rate %g: %s", rate, player.tape().text().c_str());
  }
}

ELEMENT_TEST(a_seek_that_does_not_flush_drains_before_its_segment) {
  Player player(seekable);
  player.pause();
  player.seek(1.0, GST_SEEK_FLAG_SEGMENT | GST_SEEK_FLAG_FLUSH, 0, 400);
  player.pause();
  player.play_to(GST_MESSAGE_SEGMENT_DONE);
  player.seek(1.0, GST_SEEK_FLAG_NONE, 1000, 1200);
  player.play_to(GST_MESSAGE_EOS);
  const std::string tape = player.tape().text();
  const std::string wanted = "0 40 80 120 160 200 240 280 320 360 segment-done segment 1000 1040 1080 1120 1160 eos";
  CHECK(tape.size() >= wanted.size() && tape.ends_with(wanted), "the tape is %s", tape.c_str());
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("events");
}
