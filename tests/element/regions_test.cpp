// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions: where they come from, how long they last, what is done to them, and which buffers leave.
#include <algorithm>

#include "../oracle_regions.hpp"
#include "fields.hpp"
#include "refusals.hpp"
#include "stream.hpp"

namespace element_test {
namespace {

oracle::Sampling sampling_of(const GstVideoInfo& info, unsigned c) {
  return {info.width, info.height, 1 << GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, c),
          1 << GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, c)};
}

// The frame after the treatment; alpha stays.
Frame treated(const Frame& in, const GstVideoInfo& info, const std::vector<oracle::Box>& boxes,
              const oracle::Treatment& treatment, const Frame* filtered = nullptr, const std::vector<int>& fill = {}) {
  Frame out = in;
  for (unsigned c = 0; c < in.component.size(); ++c)
    if (c < 3)
      out.component[c] = oracle::treat(boxes, treatment, sampling_of(info, c), in.component[c],
                                       filtered ? &filtered->component[c] : nullptr, fill.empty() ? 0 : fill[c]);
  return out;
}

void add_roi(GstBuffer* buffer, const char* type, int x, int y, int w, int h, double confidence = -1) {
  GstVideoRegionOfInterestMeta* roi = gst_buffer_add_video_region_of_interest_meta(buffer, type, x, y, w, h);
  gst_video_region_of_interest_meta_add_param(roi, gst_structure_new("other", "value", G_TYPE_INT, 7, nullptr));
  if (confidence >= 0)
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, confidence, nullptr));
}

Owned<GstBuffer> noise(std::mt19937& random, const GstVideoInfo& info, int pts = 0) {
  return random_buffer(random, info, pts);
}

bool same_pixels(const Frame& a, const Frame& b) {
  for (std::size_t c = 0; c < a.component.size(); ++c)
    if (a.component[c].samples != b.component[c].samples) return false;
  return true;
}

// --- Pictures ------------------------------------------------------------------------------------------------------

ELEMENT_TEST_ROWS(hidden_boxes_of_every_format_match_the_oracle, 4) {
  std::mt19937 random(50);
  const bool outside = row % 2 == 1;
  const oracle::Effect effect = row < 2 ? oracle::Effect::pixelate : oracle::Effect::blur;
  for (const std::string& format : formats()) {
    const GstVideoInfo info = video_info(format.c_str(), 23, 17);
    const Owned<GstBuffer> in = noise(random, info);
    const Frame before = frame_of(in.get(), info);
    Harness harness(std::string("regions=") + (outside ? "outside" : "inside") +
                        " region-boxes=<<3,2,9,7>,<8,-3,40,8>> region-feather=2 region-cells=3 region-shape=ellipse "
                        "region-effect=" +
                        (row < 2 ? "pixelate" : "blur"),
                    info);
    harness.push(gst_buffer_ref(in.get()));
    const Owned<GstBuffer> out = harness.try_pull();
    const std::vector<oracle::Box> boxes{{3, 2, 9, 7, true, 0, 0, {}}, {8, -3, 40, 8, true, 0, 0, {}}};
    check_buffer(treated(before, info, boxes, {effect, outside, 0, 2, 3}), out.get(), info, 0, format);
    CHECK(same_pixels(frame_of(in.get(), info), before), "%s: an input that others hold was written", format.c_str());
  }
}

ELEMENT_TEST(fill_is_in_the_colours_of_the_stream) {
  std::mt19937 random(51);
  struct Row {
    const char *format, *colorimetry;
    std::vector<int> levels;
  };
  // Pure red, as the standards' own equations give it.
  for (const Row& row : {Row{"I420", "bt601", {81, 90, 240}}, Row{"NV12", "bt709", {63, 102, 240}},
                         Row{"RGB", nullptr, {255, 0, 0}}, Row{"BGRA", nullptr, {255, 0, 0, 0}},
                         Row{"P010_10LE", "bt709", {250, 409, 960}}, Row{"YUY2", "bt601", {81, 90, 240}},
                         Row{"VYUY", "bt601", {81, 90, 240}}, Row{"Y210", "bt709", {250, 409, 960}}}) {
    const GstVideoInfo info = video_info(row.format, 12, 10, row.colorimetry);
    const Owned<GstBuffer> in = noise(random, info);
    // The filter has no part in hiding, and neither have the planes that a kernel string names.
    for (const std::string filter : {"", " kernel-string=\"ffmpeg:0m='1 1 1 1 1 1 1 1 1'\""}) {
      Harness harness("regions=inside region-effect=fill region-color=0x40ff0000 region-boxes=<<2,2,5,4>>" + filter,
                      info);
      harness.push(gst_buffer_ref(in.get()));
      const Owned<GstBuffer> out = harness.try_pull();
      check_buffer(treated(frame_of(in.get(), info), info, {{2, 2, 5, 4, false, 0, 0, {}}},
                           {oracle::Effect::fill, false, 0, 0, 6}, nullptr, row.levels),
                   out.get(), info, 0, row.format + filter);
    }
  }
}

ELEMENT_TEST(the_filter_of_regions_reads_neighbours_beyond_them) {
  std::mt19937 random(52);
  for (const char* format : {"GRAY8", "I420", "RGBA", "YUY2", "P010_10LE"}) {
    const GstVideoInfo info = video_info(format, 24, 18);
    Filtering f{random_kernel(random, 3, 3, 5, 4, 16)};
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
    const std::vector<Frame> before = frames_of(input, info), filtered = expected(f, before, info);
    Harness harness(kernel_is(f.kernel) + "regions=inside region-feather=3 region-boxes=<<5,4,8,6>>", info);
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(out.size() == 4, "%s: %zu outputs", format, out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      check_buffer(treated(before[i], info, {{5, 4, 8, 6, false, 0, 0, {}}}, {oracle::Effect::filter, false, 0, 3, 6},
                           &filtered[i]),
                   out[i], info, 0, format);
  }
}

ELEMENT_TEST(interlaced_frames_are_hidden_as_whole_frames) {
  std::mt19937 random(53);
  GstVideoInfo info;
  gst_video_info_set_interlaced_format(&info, GST_VIDEO_FORMAT_I420, GST_VIDEO_INTERLACE_MODE_INTERLEAVED, 20, 14);
  GST_VIDEO_INFO_FPS_N(&info) = 25;
  GST_VIDEO_INFO_FPS_D(&info) = 1;
  const Owned<GstBuffer> in = noise(random, info);
  Harness harness("regions=inside region-effect=pixelate region-cells=3 region-boxes=<<3,3,9,8>>", info);
  harness.push(gst_buffer_ref(in.get()));
  check_buffer(treated(frame_of(in.get(), info), info, {{3, 3, 9, 8, false, 0, 0, {}}},
                       {oracle::Effect::pixelate, false, 0, 0, 3}),
               harness.try_pull().get(), info, 0, "interleaved");
}

ELEMENT_TEST(the_filter_of_interlaced_regions_is_that_of_their_fields) {
  std::mt19937 random(61);
  for (const auto& [width, height] : {std::pair{40, 31}, std::pair{22, 14}, std::pair{150, 90}, std::pair{9, 5}}) {
    const GstVideoInfo info = interlaced_info("I420", width, height);
    const Filtering f{random_kernel(random, 3, 3, 1, 4, 16)};
    const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 2);
    const std::vector<Frame> before = frames_of(input, info), filtered = expected_of_fields(f, before, info);
    Harness harness(kernel_is(f.kernel) + "regions=inside region-boxes=<<3,2,5,2>,<1,7,70,6>>", info);
    push_all(harness, input);
    harness.push_event(gst_event_new_eos());
    const std::vector<GstBuffer*> out = harness.tape().buffers();
    CHECK(out.size() == 2, "%zu outputs", out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      check_buffer(treated(before[i], info, {{3, 2, 5, 2, false, 0, 0, {}}, {1, 7, 70, 6, false, 0, 0, {}}},
                           {oracle::Effect::filter, false, 0, 0, 6}, &filtered[i]),
                   out[i], info, 0, "interlaced filter");
  }
}

ELEMENT_TEST(thousands_of_regions_of_interest_are_all_hidden_and_all_go_on) {
  std::mt19937 random(62);
  const GstVideoInfo info = video_info("I420", 61, 43);
  const Owned<GstBuffer> in = noise(random, info);
  constexpr int count = 3000;
  std::vector<oracle::Box> boxes;
  for (int i = 0; i < count; ++i) {
    const auto within = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int x = within(90) - 20, y = within(70) - 20, w = within(6), h = within(6);
    add_roi(in.get(), "face", x, y, w, h);
    boxes.push_back({1.0 * x, 1.0 * y, 1.0 * w, 1.0 * h, false, 0, 0, {}});
  }
  for (const char* effect : {"pixelate", "blur"}) {
    Harness harness(std::string("regions=inside region-cells=2 region-feather=1 region-effect=") + effect, info);
    harness.push(gst_buffer_ref(in.get()));
    const Owned<GstBuffer> out = harness.try_pull();
    const oracle::Effect wanted = effect[0] == 'p' ? oracle::Effect::pixelate : oracle::Effect::blur;
    check_buffer(treated(frame_of(in.get(), info), info, boxes, {wanted, false, 0, 1, 2}), out.get(), info, 0, effect);
    int metas = 0;
    gpointer state = nullptr;
    while (gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) ++metas;
    CHECK(metas == count, "%d of %d metas left", metas, count);
  }
}

// --- Sources -------------------------------------------------------------------------------------------------------

// As they are written, and as GstPreset loads what it saved of that.
constexpr const char* written_types[] = {"face;plate*", "face\\;plate\\*"};

ELEMENT_TEST_ROWS(types_and_confidence_choose_among_the_metas, std::size(written_types)) {
  std::mt19937 random(54);
  const GstVideoInfo info = video_info("GRAY8", 40, 10);
  const Owned<GstBuffer> in = noise(random, info);
  add_roi(in.get(), "face", 0, 0, 6, 6, 0.9);
  add_roi(in.get(), "Face", 8, 0, 6, 6, 0.9);
  add_roi(in.get(), "face", 16, 0, 6, 6, 0.3);
  add_roi(in.get(), "plate-eu", 24, 0, 6, 6);
  add_roi(in.get(), "dog", 32, 0, 6, 6);
  Harness harness("regions=inside region-effect=pixelate region-min-confidence=0.5", info);
  g_object_set(harness.element(), "region-types", written_types[row], nullptr);
  harness.push(gst_buffer_ref(in.get()));
  const Owned<GstBuffer> out = harness.try_pull();
  check_buffer(treated(frame_of(in.get(), info), info, {{0, 0, 6, 6, false, 0, 0, {}}, {24, 0, 6, 6, false, 0, 0, {}}},
                       {oracle::Effect::pixelate, false, 0, 0, 6}),
               out.get(), info, 0, "chosen");
  int metas = 0;
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    CHECK(gst_video_region_of_interest_meta_get_param(const_cast<GstVideoRegionOfInterestMeta*>(roi), "other"),
          "a region's parameters were lost");
    ++metas;
  }
  CHECK(metas == 5, "%d of 5 metas left", metas);
}

ELEMENT_TEST(sources_that_are_not_asked_are_not_taken) {
  std::mt19937 random(55);
  const GstVideoInfo info = video_info("GRAY8", 20, 10);
  const Owned<GstBuffer> in = noise(random, info);
  add_roi(in.get(), "face", 0, 0, 6, 6);
  Harness harness("regions=inside region-effect=fill region-sources=boxes", info);
  harness.push(gst_buffer_ref(in.get()));
  CHECK(harness.try_pull().get() == in.get(), "a frame without a region did not leave as the same buffer");
}

// --- Time ----------------------------------------------------------------------------------------------------------

// Which of a stream's frames are changed, as a string of 0 and 1.
std::string changed(Harness& harness, const GstVideoInfo& info, const std::vector<Owned<GstBuffer>>& input) {
  std::string text;
  for (const Owned<GstBuffer>& in : input) {
    const Frame before = frame_of(in.get(), info);
    harness.push(gst_buffer_ref(in.get()));
    text += same_pixels(before, frame_of(harness.try_pull().get(), info)) ? '0' : '1';
  }
  return text;
}

ELEMENT_TEST(regions_are_held_by_pts_until_others_come_or_the_stream_breaks) {
  std::mt19937 random(56);
  const GstVideoInfo info = video_info("GRAY8", 20, 10);
  std::vector<Owned<GstBuffer>> input = random_stream(random, info, 8);
  add_roi(input[1].get(), "face", 2, 2, 8, 6);
  const std::string hides = "regions=inside region-effect=pixelate region-cells=2 ";
  {
    Harness harness(hides, info);
    CHECK(changed(harness, info, input) == "01000000", "without hold");
  }
  {
    Harness harness(hides + "region-hold=80000000", info);  // two frames of 40 ms
    CHECK(changed(harness, info, input) == "01110000", "a hold of two frames");
  }
  {
    Harness harness(hides + "region-hold=10000000000", info);
    GST_BUFFER_FLAG_SET(input[4].get(), GST_BUFFER_FLAG_DISCONT);
    CHECK(changed(harness, info, input) == "01110000", "DISCONT does not forget");
    GST_BUFFER_FLAG_UNSET(input[4].get(), GST_BUFFER_FLAG_DISCONT);
    CHECK(changed(harness, info, input) == "01111111", "hold");
    harness.flush();
    std::vector<Owned<GstBuffer>> none = random_stream(random, info, 2);
    CHECK(changed(harness, info, none) == "00", "a flush does not forget");
  }
  {
    Harness harness(hides + "region-hold=10000000000", info);
    const GstClockTime pts = GST_BUFFER_PTS(input[3].get());
    GST_BUFFER_PTS(input[3].get()) = GST_CLOCK_TIME_NONE;
    CHECK(changed(harness, info, input) == "01111111", "a frame without a timestamp ends the hold");
    GST_BUFFER_PTS(input[3].get()) = pts;
  }
  {
    // A detector that writes an empty box has found nothing.
    Owned<GstBuffer> empty = random_buffer(random, info, 2);
    add_roi(empty.get(), "face", 0, 0, 0, 6);
    std::swap(input[2], empty);
    Harness harness(hides + "region-hold=80000000", info);
    CHECK(changed(harness, info, input) == "01110000", "a region of no width ends the hold");
    std::swap(input[2], empty);
  }
  // New regions replace those held.
  add_roi(input[3].get(), "face", 12, 1, 4, 4);
  Harness harness(hides + "region-hold=10000000000", info);
  for (int i = 0; i < 5; ++i) {
    harness.push(gst_buffer_ref(input[i].get()));
    const Owned<GstBuffer> out = harness.try_pull();
    if (i == 4)
      check_buffer(treated(frame_of(input[4].get(), info), info, {{12, 1, 4, 4, false, 0, 0, {}}},
                           {oracle::Effect::pixelate, false, 0, 0, 2}),
                   out.get(), info, 0, "replaced");
  }
}

ELEMENT_TEST(a_frame_without_a_region_is_hidden_whole_where_that_is_asked) {
  std::mt19937 random(57);
  const GstVideoInfo info = video_info("I420", 22, 14);
  for (const char* mode : {"inside", "outside"}) {
    const Owned<GstBuffer> in = noise(random, info);
    Harness harness(std::string("region-effect=pixelate region-cells=4 region-missing=everything regions=") + mode,
                    info);
    harness.push(gst_buffer_ref(in.get()));
    check_buffer(treated(frame_of(in.get(), info), info, {{0, 0, 22, 14, false, 0, 0, {}}},
                         {oracle::Effect::pixelate, false, 0, 0, 4}),
                 harness.try_pull().get(), info, 0, mode);
    // A region off the frame is there, so nothing is missing.
    const Owned<GstBuffer> off = noise(random, info, 1);
    add_roi(off.get(), "face", 100, 100, 5, 5);
    harness.set("regions", "inside");
    harness.push(gst_buffer_ref(off.get()));
    CHECK(harness.try_pull().get() == off.get(), "a region off the frame does not count as present");
  }
}

// --- Buffers -------------------------------------------------------------------------------------------------------

ELEMENT_TEST(a_writable_frame_is_treated_in_place_and_any_other_is_copied_once) {
  std::mt19937 random(58);
  const GstVideoInfo info = video_info("NV12", 32, 24);
  for (const char* effect : {"pixelate", "filter preset=box-blur"}) {
    Harness harness(std::string("regions=inside region-boxes=<<4,4,9,9>> region-effect=") + effect, info);
    GstBuffer* in = noise(random, info).release();
    const GstMemory* memory = gst_buffer_peek_memory(in, 0);
    harness.tape().clear();
    const Frame before = frame_of(in, info);
    harness.push(in);
    harness.tape().clear();
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out.get() == in && gst_buffer_peek_memory(out.get(), 0) == memory, "%s: not in place", effect);
    CHECK(!same_pixels(before, frame_of(out.get(), info)), "%s: nothing was done", effect);

    const Owned<GstBuffer> shared = noise(random, info, 1);
    const Frame kept = frame_of(shared.get(), info);
    harness.push(gst_buffer_ref(shared.get()));
    const Owned<GstBuffer> copy = harness.try_pull();
    CHECK(copy.get() != shared.get(), "%s: a shared buffer was treated", effect);
    CHECK(same_pixels(kept, frame_of(shared.get(), info)), "%s: a shared buffer was written", effect);
  }
}

ELEMENT_TEST(frames_of_any_layout_are_treated) {
  std::mt19937 random(59);
  const GstVideoInfo info = video_info("I420_10LE", 21, 13);
  const Owned<GstBuffer> in = noise(random, info);
  const Frame wanted =
      treated(frame_of(in.get(), info), info, {{2, 2, 11, 8, false, 0, 0, {}}}, {oracle::Effect::blur, false, 0, 0, 6});
  for (const Layout& layout : {Layout{"odd strides", 3}, Layout{"offsets", 0, 7}, Layout{"memories", 0, 0, true},
                               Layout{"bottom up", 2, 0, false, true}, Layout{"read-only", 0, 0, false, false, true}}) {
    Harness harness("regions=inside region-effect=blur region-boxes=<<2,2,11,8>>", info);
    harness.push(relaid(random, in.get(), info, layout).release());
    check_buffer(wanted, harness.try_pull().get(), info, 0, layout.name);
  }
}

// --- Properties ----------------------------------------------------------------------------------------------------

ELEMENT_TEST(properties_of_regions_change_while_playing) {
  std::mt19937 random(60);
  const GstVideoInfo info = video_info("GRAY8", 30, 20);
  Harness harness("", info);
  const auto check = [&](const std::vector<oracle::Box>& boxes, const oracle::Treatment& treatment, const char* label) {
    const Owned<GstBuffer> in = noise(random, info);
    harness.push(gst_buffer_ref(in.get()));
    check_buffer(treated(frame_of(in.get(), info), info, boxes, treatment, nullptr, {0}), harness.try_pull().get(),
                 info, 0, label);
  };
  check({}, {}, "off");
  harness.set("region-boxes", "<<4,4,10,8>>");
  harness.set("region-effect", "pixelate");
  harness.set("regions", "inside");
  check({{4, 4, 10, 8, false, 0, 0, {}}}, {oracle::Effect::pixelate, false, 0, 0, 6}, "on");
  CHECK(harness.string("active-algorithm") == "pixelate", "active-algorithm is %s",
        harness.string("active-algorithm").c_str());
  harness.set("region-grow", "0.25");
  harness.set("region-cells", "2");
  check({{4, 4, 10, 8, false, 0, 0, {}}}, {oracle::Effect::pixelate, false, 0.25, 0, 2}, "grown");
  harness.set("preset", "sharpen");
  harness.set("region-effect", "fill");
  check({{4, 4, 10, 8, false, 0, 0, {}}}, {oracle::Effect::fill, false, 0.25, 0, 2}, "fill, whatever the filter");
  harness.set("preset", "identity");
  harness.set("region-effect", "filter");
  check({}, {}, "the filter that changes nothing");
  harness.set("regions", "off");
  check({}, {}, "off again");
}

ELEMENT_TEST(boxes_may_be_of_any_type_of_number) {
  std::mt19937 random(63);
  const GstVideoInfo info = video_info("GRAY8", 20, 12);
  const Owned<GstBuffer> in = noise(random, info);
  const Frame wanted = treated(frame_of(in.get(), info), info, {{2, 3, 11, 8, false, 0, 0, {}}}, {});
  for (const std::string t : {"gint", "guint", "gint64", "guint64", "glong", "gulong", "guchar", "gdouble", "gfloat"}) {
    Harness harness("regions=inside region-effect=pixelate region-boxes=\"<<2,3,11,(" + t + ")8>>\"", info);
    harness.push(gst_buffer_ref(in.get()));
    check_buffer(wanted, harness.try_pull().get(), info, 0, t.c_str());
  }
}

ELEMENT_TEST(boxes_that_cannot_be_read_are_named) {
  for (const char* boxes : {"<1,2,3,4>", "<<1,2,3>>", "<<1,2,3,(string)four>>"}) {
    const Owned<GstElement> element = make_element(std::string("region-boxes=") + boxes);
    check_report(start_and_fail(element.get(), boxes), boxes, {"region-boxes: box 1"});
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("regions");
}
