// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Interlaced frames: each field is filtered by itself, at every height, whatever rows of chroma the layout has room
// for.
#include "fields.hpp"
#include "guarded.hpp"

namespace element_test {
namespace {

// Filters the stream, and compares with the oracle.
void check_fields(const Filtering& f, const GstVideoInfo& info, const std::vector<Owned<GstBuffer>>& input,
                  const std::string& label) {
  const std::vector<Frame> wanted = expected_of_fields(f, frames_of(input, info), info);
  Harness harness("kernel=\"" + text_of(f.kernel) + "\"", info);
  for (const Owned<GstBuffer>& buffer : input)
    CHECK(harness.push(gst_buffer_ref(buffer.get())) == GST_FLOW_OK, "%s: push failed", label.c_str());
  harness.push_event(gst_event_new_eos());
  for (std::size_t t = 0; t < input.size(); ++t)
    check_buffer(wanted[t], harness.try_pull().get(), info, 0, label + ", frame " + std::to_string(t));
}

struct Interlaced {
  const char* format;
  int height;
};
constexpr Interlaced interlaced[] = {
    {"GRAY8", 9},     {"GRAY8", 2},     {"GRAY8", 1},    {"Y42B", 7}, {"I420", 8},  {"NV12", 12},      {"RGBA", 5},
    {"I420", 2},      {"I420", 6},      {"I420", 10},    {"I420", 5}, {"I420", 7},  {"NV12", 6},       {"NV21", 2},
    {"P010_10LE", 6}, {"P010_10LE", 2}, {"P016_LE", 10}, {"A420", 6}, {"YV12", 14}, {"I420_10LE", 22}, {"P012_LE", 6},
    {"A420", 2},      {"YUV9", 9},      {"YVU9", 4},     {"AV12", 6}, {"YUV9", 18}, {"Y210", 5},
};

ELEMENT_TEST_ROWS(interlaced_frames_are_filtered_field_by_field_at_every_height, std::size(interlaced)) {
  std::mt19937 random(29);
  for (const auto mode : {GST_VIDEO_INTERLACE_MODE_INTERLEAVED, GST_VIDEO_INTERLACE_MODE_MIXED})
    for (const int depth : {1, 3}) {
      const Filtering f{random_kernel(random, depth, 3, 3, 6, 16)};
      const GstVideoInfo info = interlaced_info(interlaced[row].format, 11, interlaced[row].height, mode);
      std::vector<Owned<GstBuffer>> whole = random_stream(random, info, 5), guarded_ones, tight;
      for (int i = 0; i < 5; ++i) {
        GstBuffer* buffer = whole[i].get();
        if (mode == GST_VIDEO_INTERLACE_MODE_MIXED)
          GST_BUFFER_FLAG_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
        guarded_ones.push_back(guarded(buffer, i % 2 ? Guard::before : Guard::after));
        const Owned<GstBuffer> relaid_one = relaid(random, buffer, info, {.name = "tight"});
        GST_BUFFER_FLAGS(relaid_one.get()) |= GST_BUFFER_FLAGS(buffer) & ~GST_BUFFER_FLAG_TAG_MEMORY;
        tight.push_back(guarded(relaid_one.get(), Guard::after));
      }
      const std::string label = std::string(interlaced[row].format) + " " + std::to_string(interlaced[row].height) +
                                " " + gst_video_interlace_mode_to_string(mode);
      check_fields(f, info, guarded_ones, label);
      check_fields(f, info, tight, label + ", tight");
    }
}

ELEMENT_TEST(progressive_frames_of_a_mixed_stream_are_filtered_whole) {
  std::mt19937 random(30);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 16)};
  GstVideoInfo info;
  gst_video_info_set_interlaced_format(&info, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_INTERLACE_MODE_MIXED, 11, 9);
  check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, random_stream(random, info, 3), "mixed");
}

// A source that fills a frame row by row leaves the last row of GStreamer's even number of chroma rows as it was.
ELEMENT_TEST(a_white_frame_stays_white_whatever_lies_in_the_spare_row_of_chroma) {
  for (const char* format : {"I420", "NV12", "A420"})
    for (const int height : {2, 6, 10}) {
      const GstVideoInfo info = interlaced_info(format, 64, height);
      std::mt19937 random(31);
      Owned<GstBuffer> input = random_buffer(random, info);
      GstVideoFrame frame;
      CHECK(gst_video_frame_map(&frame, &info, input.get(), GST_MAP_WRITE), "cannot map");
      for (int p = 0; p < static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info)); ++p)
        for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); ++y)
          std::fill_n(
              static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p),
              64 / (p == 1 || p == 2 ? (GST_VIDEO_INFO_N_PLANES(&info) == 2 ? 1 : 2) : 1),
              p == 1 || p == 2 ? 128 : 235);
      gst_video_frame_unmap(&frame);
      Harness harness("preset=box-blur", info);
      CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
      const Owned<GstBuffer> out = harness.try_pull();
      const Frame found = frame_of(out.get(), info);
      for (std::size_t c = 0; c < found.component.size(); ++c)
        for (const double sample : found.component[c].samples)
          CHECK(sample == (c == 1 || c == 2 ? 128 : 235), "%s %d: component %zu has %g", format, height, c, sample);
      // What GStreamer's converters read as the bottom field's last row of chroma is there as well.
      CHECK(gst_video_frame_map(&frame, &info, out.get(), GST_MAP_READ), "cannot map");
      const auto* spare =
          static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 1)) +
          static_cast<std::ptrdiff_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&frame, 1)) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 1);
      for (int x = 0; x < 32; ++x)
        CHECK(spare[x] == 128, "%s %d: the spare row has %d at %d", format, height, spare[x], x);
      gst_video_frame_unmap(&frame);
    }
}

// 720x486 as other programs lay it out: 243 rows of U, and those of V right behind.
ELEMENT_TEST(the_planes_of_a_tight_layout_do_not_mix) {
  const GstVideoInfo info = interlaced_info("I420", 720, 486);
  const gsize luma = 720 * 486, chroma = 360 * 243;
  Owned<GstBuffer> input(gst_buffer_new());
  gst_buffer_append_memory(input.get(), guarded_memory(luma + 2 * chroma, Guard::after));
  gst_buffer_memset(input.get(), 0, 100, luma);
  gst_buffer_memset(input.get(), luma, 50, chroma);
  gst_buffer_memset(input.get(), luma + chroma, 200, chroma);
  gsize offset[GST_VIDEO_MAX_PLANES] = {0, luma, luma + chroma};
  gint stride[GST_VIDEO_MAX_PLANES] = {720, 360, 360};
  gst_buffer_add_video_meta_full(input.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 720, 486, 3, offset,
                                 stride);
  Harness harness("preset=box-blur", info);
  CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  const Frame found = frame_of(out.get(), info);
  const int wanted[] = {100, 50, 200};
  for (int c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < found.component[c].samples.size(); ++i)
      CHECK(found.component[c].samples[i] == wanted[c], "component %d, row %d: expected %d, found %g", c,
            static_cast<int>(i) / found.component[c].width, wanted[c], found.component[c].samples[i]);
}

struct Short {
  const char* format;
  int height;
  bool with_meta;
};
constexpr Short shorts[] = {{"I420", 6, false},      {"I420", 6, true},      {"NV12", 486, false}, {"NV12", 486, true},
                            {"P010_10LE", 2, false}, {"P010_10LE", 2, true}, {"I420", 486, true},  {"A420", 10, true}};

ELEMENT_TEST_ROWS(a_buffer_one_row_of_chroma_short_is_an_error, std::size(shorts)) {
  const Short& s = shorts[row];
  std::mt19937 random(33);
  const GstVideoInfo info = interlaced_info(s.format, 16, s.height);
  Owned<GstBuffer> input = random_buffer(random, info);
  if (s.with_meta) input = relaid(random, input.get(), info, {.name = "tight"});
  const int last = GST_VIDEO_INFO_N_PLANES(&info) - 1;
  const GstVideoMeta* meta = gst_buffer_get_video_meta(input.get());
  const gsize missing = meta ? meta->stride[last] : GST_VIDEO_INFO_PLANE_STRIDE(&info, last);
  gst_buffer_set_size(input.get(), static_cast<gssize>(gst_buffer_get_size(input.get()) - missing));
  Harness harness("preset=box-blur", info);
  CHECK(harness.push(guarded(input.get(), Guard::after).release()) == GST_FLOW_ERROR, "the buffer is taken");
  CHECK(!harness.try_pull(), "a frame came out");
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.size() == 1 && errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT) &&
            errors[0].text.find("smaller than its caps") != std::string::npos,
        "%zu errors: %s", errors.size(), errors.empty() ? "" : errors[0].text.c_str());
}

// A meta may say any height. Where a crop parts rows of chroma from their fields, all rows of the frame's plane count,
// and of these the last plane has one alone. With such an offset the sum of offset and rows has more than 64 bits.
struct Tall {
  guint height;
  gsize moved_by;
};
constexpr Tall talls[] = {{0xffffffff, 0}, {0x80000000, 0}, {0x80000001, 0}, {0x7fffffff, 0}, {32, G_MAXINT64}};

ELEMENT_TEST_ROWS(a_frame_that_is_said_to_be_taller_than_its_memory_is_an_error, std::size(talls)) {
  std::mt19937 random(34);
  const GstVideoInfo whole = interlaced_info("I420", 48, 32), part = interlaced_info("I420", 16, 12);
  Owned<GstBuffer> input = random_buffer(random, whole);
  input = relaid(random, input.get(), whole, {.name = "far from the start", .offset_extra = 200});
  GstVideoMeta* meta = gst_buffer_get_video_meta(input.get());
  gst_buffer_set_size(input.get(), static_cast<gssize>(meta->offset[2] + static_cast<gsize>(meta->stride[2])));
  meta->height = talls[row].height;
  meta->offset[1] += talls[row].moved_by;
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(input.get());
  crop->x = 0, crop->y = 1, crop->width = 16, crop->height = 12;
  Harness harness("preset=box-blur", part);
  CHECK(harness.push(guarded(input.get(), Guard::after).release()) == GST_FLOW_ERROR, "the buffer is taken");
  CHECK(!harness.try_pull(), "a frame came out");
  CHECK(harness.errors().size() == 1, "not one error");
}

// Sources and sinks as they come: pools of either side's own, and memory that valgrind watches in another test.
constexpr const char* streams[] = {
    "videotestsrc num-buffers=60 ! video/x-raw,format=P010_10LE,width=64,height=6,interlace-mode=interleaved ! "
    "${convolve} preset=temporal-mean n-threads=1 ! queue ! fakesink",
    "videotestsrc num-buffers=60 ! video/x-raw,format=P010_10LE,width=16,height=2,interlace-mode=interleaved ! "
    "${convolve} preset=temporal-mean n-threads=1 ! queue ! fakesink",
    "videotestsrc num-buffers=60 ! video/x-raw,format=P016_LE,width=160,height=10,interlace-mode=interleaved ! "
    "${convolve} preset=temporal-mean n-threads=1 ! queue ! fakesink",
    "videotestsrc num-buffers=3 ! video/x-raw,format=P012_LE,width=720,height=486,interlace-mode=interleaved ! "
    "${convolve} preset=box-blur ! fakesink",
    "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=720,height=486,interlace-mode=mixed ! "
    "${convolve} preset=box-blur ! videoconvert ! video/x-raw,format=AYUV ! fakesink",
};

ELEMENT_TEST_ROWS(interlaced_streams_of_every_height_play_to_their_end, std::size(streams)) {
  const Owned<GstElement> pipeline = parse(streams[row]);
  CHECK(plays_to(pipeline.get()), "%s does not end", streams[row]);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

// From an odd row on, the bottom field is the top one of what is left. Caps that name the order are not to be
// contradicted.
ELEMENT_TEST_ROWS(a_crop_from_an_odd_row_on_turns_the_order_of_fields, 4) {
  std::mt19937 random(90 + row);
  const bool caps_tell = row & 1, uncopied = row & 2;
  for (const char* format : {"Y42B", "I420"})
    for (const int y : {2, 3})
      for (const bool top_first : {false, true}) {
        GstVideoInfo whole = video_info(format, 48, 32), part = video_info(format, 17, 13);
        for (GstVideoInfo* info : {&whole, &part}) {
          info->interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
          if (caps_tell) GST_VIDEO_INFO_FIELD_ORDER(info) = GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST;
        }
        const Owned<GstBuffer> frame = random_buffer(random, whole);
        GstBuffer* input = relaid(random, frame.get(), whole, {.name = "padded", .stride_extra = 8}).release();
        GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input);
        meta->x = 4, meta->y = static_cast<guint>(y), meta->width = 17, meta->height = 13;
        GST_BUFFER_FLAG_UNSET(input, GST_VIDEO_BUFFER_FLAG_TFF);
        if (top_first) GST_BUFFER_FLAG_SET(input, GST_VIDEO_BUFFER_FLAG_TFF);
        Harness harness(uncopied ? "regions=inside region-effect=fill region-boxes=<<100,100,2,2>>" : "preset=sharpen");
        gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
        harness.set_caps(part);
        CHECK(harness.push(input) == GST_FLOW_OK, "push failed");
        const Owned<GstBuffer> out = harness.try_pull();
        CHECK(out != nullptr, "no output");
        const bool is_top_first = GST_BUFFER_FLAG_IS_SET(out.get(), GST_VIDEO_BUFFER_FLAG_TFF);
        CHECK(is_top_first == (top_first != (y == 3 && !caps_tell)), "%s from row %d on: the %s field is first", format,
              y, is_top_first ? "top" : "bottom");
      }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("interlaced");
}
