// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions as elements upstream leave them: moved with the frame by a scaler, held over a change of the frame's size,
// with types that are no text.
#include <algorithm>

#include "stream.hpp"

namespace element_test {
namespace {

struct Box {
  int x, y, width, height;
  bool operator==(const Box&) const = default;
};

/// The box that bounds the black samples of a grey frame.
Box black_box(GstBuffer* buffer, const GstVideoInfo& info) {
  const auto samples = frame_of(buffer, info).component[0].samples;
  int left = info.width, top = info.height, right = 0, bottom = 0;
  for (int y = 0; y < info.height; ++y)
    for (int x = 0; x < info.width; ++x) {
      if (samples[static_cast<std::size_t>(y * info.width + x)] != 0) continue;
      left = std::min(left, x), right = std::max(right, x + 1);
      top = std::min(top, y), bottom = std::max(bottom, y + 1);
    }
  return right > left ? Box{left, top, right - left, bottom - top} : Box{0, 0, 0, 0};
}

Owned<GstBuffer> white(const GstVideoInfo& info, int pts) {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  make_flat(buffer.get(), info, {255});
  stamp(buffer.get(), pts);
  return buffer;
}

Box hidden(Harness& harness, Owned<GstBuffer> in, const GstVideoInfo& info) {
  CHECK(harness.push(in.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "no output");
  return black_box(out.get(), info);
}

void check_box(Box got, Box wanted, const char* where) {
  CHECK(got == wanted, "%s: hidden are %dx%d samples from %d,%d on, expected are %dx%d from %d,%d on", where, got.width,
        got.height, got.x, got.y, wanted.width, wanted.height, wanted.x, wanted.y);
}

// As where a stream over a network changes to another resolution while the detector finds nothing.
ELEMENT_TEST(a_region_that_is_held_follows_the_size_of_the_frame) {
  const GstVideoInfo small = video_info("GRAY8", 40, 30), large = video_info("GRAY8", 80, 90);
  Harness harness("regions=inside region-effect=fill region-hold=10000000000", small);
  Owned<GstBuffer> in = white(small, 0);
  gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 10, 6, 8, 4);
  check_box(hidden(harness, std::move(in), small), {10, 6, 8, 4}, "where it was found");
  harness.set_caps(large);
  check_box(hidden(harness, white(large, 1), large), {20, 18, 16, 12}, "in a larger frame");
  harness.set_caps(small);
  check_box(hidden(harness, white(small, 2), small), {10, 6, 8, 4}, "in a frame of the first size");
}

// A white frame of this size, of which a crop makes a part the picture.
Owned<GstBuffer> cropped(const GstVideoInfo& frame, const Box& part, int pts) {
  std::mt19937 random(71);
  const Owned<GstBuffer> plain = white(frame, pts);
  Owned<GstBuffer> in = relaid(random, plain.get(), frame, {.name = "tight"});
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(in.get());
  crop->x = static_cast<guint>(part.x), crop->y = static_cast<guint>(part.y);
  crop->width = static_cast<guint>(part.width), crop->height = static_cast<guint>(part.height);
  return in;
}

// videocrop copies in place of cropping by meta once downstream wants that, and decoders align frames as they like.
ELEMENT_TEST(a_region_that_is_held_keeps_its_place_in_the_picture_where_a_crop_comes_or_goes) {
  const GstVideoInfo part = video_info("GRAY8", 30, 20), whole = video_info("GRAY8", 48, 32),
                     large = video_info("GRAY8", 60, 40);
  Harness harness("regions=inside region-effect=fill region-hold=10000000000", part);
  Owned<GstBuffer> in = cropped(whole, {4, 3, 30, 20}, 0);
  gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 12, 10, 4, 2);
  check_box(hidden(harness, std::move(in), part), {8, 7, 4, 2}, "where it was found, in a crop");
  check_box(hidden(harness, white(part, 1), part), {8, 7, 4, 2}, "in the picture alone");
  check_box(hidden(harness, cropped(large, {6, 5, 30, 20}, 2), part), {8, 7, 4, 2}, "in a crop of a larger frame");
  check_box(hidden(harness, cropped(whole, {1, 2, 30, 20}, 3), part), {8, 7, 4, 2}, "in a crop of a smaller frame");
  check_box(hidden(harness, cropped(whole, {2, 2, 30, 20}, 4), part), {7, 7, 4, 2}, "where the crop moves");
  harness.set_caps(large);
  check_box(hidden(harness, white(large, 5), large), {14, 14, 8, 4}, "in a picture of twice the size, without a crop");
  harness.set_caps(part);
  check_box(hidden(harness, cropped(large, {10, 10, 30, 20}, 6), part), {4, 4, 8, 4}, "in a crop of that picture");
}

// videocrop crops by meta where it can: the picture becomes smaller, the frame that holds it does not.
ELEMENT_TEST(a_region_that_is_held_stays_where_it_was_in_the_frame_while_the_crop_grows) {
  const GstVideoInfo whole = video_info("GRAY8", 48, 32);
  Harness harness("regions=inside region-effect=fill region-hold=10000000000");
  for (int frame = 0; frame < 3; ++frame) {
    const GstVideoInfo part = video_info("GRAY8", 30 + frame, 20 - frame);
    harness.set_caps(part);
    Owned<GstBuffer> in = cropped(whole, {4, 3, part.width, part.height}, frame);
    if (frame == 0) gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 12, 10, 3, 2);
    check_box(hidden(harness, std::move(in), part), {8, 7, 3, 2}, "in a crop");
  }
}

// As where clips are played one behind the other, each from 0 on, by an application that marks no discontinuity.
ELEMENT_TEST(a_hold_ends_also_where_a_new_segment_begins_its_times_anew) {
  const GstVideoInfo info = video_info("GRAY8", 20, 16);
  for (const bool is_new : {false, true}) {
    Harness harness("regions=inside region-effect=fill region-hold=80000000", info);
    harness.push_segment();
    Owned<GstBuffer> in = white(info, 250);
    gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 2, 3, 4, 5);
    const Box found{2, 3, 4, 5}, none{0, 0, 0, 0};
    check_box(hidden(harness, std::move(in), info), found, "where it was found");
    check_box(hidden(harness, white(info, 251), info), found, "one frame later");
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    if (is_new) segment.base = 252 * 40 * GST_MSECOND;
    harness.push_event(gst_event_new_segment(&segment));
    const int next = is_new ? 0 : 252;
    check_box(hidden(harness, white(info, next), info), found, "in the next segment");
    check_box(hidden(harness, white(info, next + 1), info), is_new ? found : none, "three frames later");
    check_box(hidden(harness, white(info, next + 2), info), is_new ? found : none, "four frames later");
    check_box(hidden(harness, white(info, next + 3), info), none, "where the hold has ended");
  }
}

ELEMENT_TEST(regions_of_a_frame_that_is_scaled_between_detector_and_filter_are_hidden_where_they_are) {
  const GstVideoInfo large = video_info("GRAY8", 80, 60), small = video_info("GRAY8", 40, 30);
  Harness harness(
      parse_chain("videoscale ! video/x-raw,width=40,height=30 ! ${convolve} regions=inside region-effect=fill"));
  harness.set_caps(large);
  Owned<GstBuffer> in = white(large, 0);
  gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 20, 12, 16, 8);
  check_box(hidden(harness, std::move(in), small), {10, 6, 8, 4}, "scaled");
}

// GLib matches text that is UTF-8, and ends the process where it is not.
ELEMENT_TEST(types_and_patterns_that_are_no_utf8_are_compared_all_the_same) {
  const struct {
    const char *pattern, *type;
    bool matches;
  } rows[] = {
      {"*a*caf\xe9", "a caf\xe9", true},
      {"*a*caf\xe9", "a caf", false},
      {"*a*\xfc", "face", false},
      {"*f?ce*face", "face", false},
      {"*f?ce*face", "face\xfc", false},
      {"*f?ce*face", "face face", true},
      {"\xff;face", "face", true},
      {"*\xff*xyz", "\xff\xff xyz", true},
      {"f?ce",
       "f\xfc"
       "ce",
       true},
      {"f\xc3\xa4*e",
       "f\xc3\xa4"
       "ce",
       true},
  };
  const GstVideoInfo info = video_info("GRAY8", 20, 16);
  for (const auto& row : rows) {
    Harness harness("regions=inside region-effect=fill", info);
    g_object_set(harness.element(), "region-types", row.pattern, nullptr);
    Owned<GstBuffer> in = white(info, 0);
    gst_buffer_add_video_region_of_interest_meta(in.get(), row.type, 2, 3, 4, 5);
    check_box(hidden(harness, std::move(in), info), row.matches ? Box{2, 3, 4, 5} : Box{0, 0, 0, 0}, row.pattern);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("regions_upstream");
}
