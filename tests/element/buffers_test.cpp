// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What buffers bring along: crop metas, map functions of their own, several views, padding bits.
#include <cstring>

#include "expected.hpp"
#include "guarded.hpp"

namespace element_test {
namespace {

// --- Crop metas ----------------------------------------------------------------------------------------------------

struct Crop {
  const char* format;
  int x, y;
};
constexpr Crop crops[] = {{"GRAY8", 5, 3}, {"I420", 4, 6}, {"I420", 3, 5}, {"NV12", 6, 2}, {"P010_10LE", 2, 4},
                          {"RGBA", 7, 9},  {"YUY2", 6, 1}, {"Y210", 4, 1}, {"RGB", 1, 1},  {"AYUV", 0, 4},
                          {"YUV9", 4, 8},  {"GBRA", 3, 0}, {"A420", 0, 0}};

// The frame's samples from the corner on, as many as caps of that size have.
Frame cut(const Frame& frame, const GstVideoInfo& whole, const GstVideoInfo& part, const Crop& crop) {
  Frame out;
  for (std::size_t c = 0; c < frame.component.size(); ++c) {
    const int x0 = crop.x >> GST_VIDEO_FORMAT_INFO_W_SUB(whole.finfo, c);
    const int y0 = crop.y >> GST_VIDEO_FORMAT_INFO_H_SUB(whole.finfo, c);
    oracle::Plane plane{GST_VIDEO_INFO_COMP_WIDTH(&part, c), GST_VIDEO_INFO_COMP_HEIGHT(&part, c), {}};
    for (int y = 0; y < plane.height; ++y)
      for (int x = 0; x < plane.width; ++x)
        plane.samples.push_back(frame.component[c].samples[(y0 + y) * frame.component[c].width + x0 + x]);
    out.component.push_back(std::move(plane));
  }
  return out;
}

ELEMENT_TEST_ROWS(the_picture_inside_a_crop_is_filtered_and_the_meta_leaves, std::size(crops)) {
  const Crop& crop = crops[row];
  std::mt19937 random(40 + row);
  const GstVideoInfo whole = video_info(crop.format, 48, 32), part = video_info(crop.format, 17, 13);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  const Owned<GstBuffer> frame = random_buffer(random, whole);
  const Frame wanted = expected(f, cut(frame_of(frame.get(), whole), whole, part, crop), part);
  Owned<GstBuffer> input =
      guarded(relaid(random, frame.get(), whole, {.name = "padded", .stride_extra = 8}).get(), Guard::after);
  GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input.get());
  meta->x = crop.x, meta->y = crop.y, meta->width = 17, meta->height = 13;
  Harness harness("kernel=\"" + text_of(f.kernel) + "\"", part);
  CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  check_buffer(wanted, out.get(), part, 0, crop.format);
  CHECK(!gst_buffer_get_video_crop_meta(out.get()), "the crop meta is still there");
}

ELEMENT_TEST(regions_are_hidden_in_the_picture_inside_a_crop) {
  std::mt19937 random(9);
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  const Owned<GstBuffer> frame = random_buffer(random, whole);
  const Frame picture = cut(frame_of(frame.get(), whole), whole, part, {"GRAY8", 5, 3});
  for (const bool inside : {true, false}) {
    Frame wanted = picture;
    for (const int at : {0, 1, 17, 18})
      if (inside) wanted.component[0].samples[at] = 0;
    Owned<GstBuffer> input = relaid(random, frame.get(), whole, {.name = "padded", .stride_extra = 8});
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input.get());
    meta->x = 5, meta->y = 3, meta->width = 17, meta->height = 13;
    Harness harness(
        std::string("regions=inside region-effect=fill region-boxes=") + (inside ? "<<0,0,2,2>>" : "<<100,100,2,2>>"),
        part);
    CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    check_buffer(wanted, out.get(), part, 0, inside ? "a box inside" : "no box inside");
    CHECK(!gst_buffer_get_video_crop_meta(out.get()), "the crop meta is still there");
  }
}

// Where downstream understands a video meta, what is not treated leaves as it lies: the meta begins at the corner.
ELEMENT_TEST_ROWS(a_cropped_frame_without_a_region_leaves_uncopied, std::size(crops)) {
  const Crop& crop = crops[row];
  std::mt19937 random(60 + row);
  const GstVideoInfo whole = video_info(crop.format, 48, 32), part = video_info(crop.format, 17, 13);
  for (const bool bottom_up : {false, true}) {
    const Owned<GstBuffer> frame = random_buffer(random, whole);
    GstBuffer* input = relaid(random, frame.get(), whole, {"padded", 8, 0, false, bottom_up}).release();
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input);
    meta->x = crop.x, meta->y = crop.y, meta->width = 17, meta->height = 13;
    gst_buffer_add_video_region_of_interest_meta(input, "face", 40, 30, 3, 2);
    const GstMemory* memory = gst_buffer_peek_memory(input, 0);
    Harness harness("regions=inside region-effect=fill region-sources=boxes region-boxes=<<100,100,2,2>>");
    gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
    harness.set_caps(part);
    CHECK(harness.push(input) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output");
    check_buffer(cut(frame_of(frame.get(), whole), whole, part, crop), out.get(), part, 0, crop.format);
    CHECK(gst_buffer_peek_memory(out.get(), 0) == memory, "%s was copied", crop.format);
    CHECK(!gst_buffer_get_video_crop_meta(out.get()), "the crop meta is still there");
    const auto* roi = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 0);
    CHECK(roi && roi->x == 40U - static_cast<guint>(crop.x) && roi->y == 30U - static_cast<guint>(crop.y),
          "the region of interest is elsewhere");
  }
}

// GStreamer's elements that crop by meta leave regions of interest as they are, and detectors see whole frames.
ELEMENT_TEST(regions_of_interest_count_from_the_corner_of_the_frame_that_a_crop_is_of) {
  std::mt19937 random(10);
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  const Owned<GstBuffer> frame = random_buffer(random, whole);
  const Frame picture = cut(frame_of(frame.get(), whole), whole, part, {"GRAY8", 5, 3});
  struct Box {
    int x, y, w, h;
  };
  // Inside of the crop, across its corner, across its far corner, and twice beside it.
  const Box boxes[] = {{7, 4, 2, 2}, {4, 1, 3, 4}, {21, 14, 9, 9}, {0, 0, 5, 32}, {22, 3, 4, 4}};
  const Box seen[] = {{2, 1, 2, 2}, {0, 0, 2, 2}, {16, 11, 1, 2}};  // of the first three, within the picture
  for (const char* regions : {"regions=inside region-effect=fill", "preset=identity scale=1 bias=0 kernel=<<2>>"}) {
    const bool hides = std::string(regions).starts_with("regions");
    Frame wanted = picture;
    for (double& sample : wanted.component[0].samples)
      if (!hides) sample = std::min(2 * sample, 255.0);
    for (const Box& box : seen)
      for (int y = box.y; y < box.y + box.h; ++y)
        for (int x = box.x; x < box.x + box.w; ++x)
          if (hides) wanted.component[0].samples[y * 17 + x] = 0;
    Owned<GstBuffer> input = relaid(random, frame.get(), whole, {.name = "padded", .stride_extra = 8});
    for (const Box& box : boxes)
      gst_buffer_add_video_region_of_interest_meta(input.get(), "face", static_cast<guint>(box.x),
                                                   static_cast<guint>(box.y), static_cast<guint>(box.w),
                                                   static_cast<guint>(box.h));
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input.get());
    meta->x = 5, meta->y = 3, meta->width = 17, meta->height = 13;
    Harness harness(regions, part);
    CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    check_buffer(wanted, out.get(), part, 0, regions);
    std::size_t found = 0;
    gpointer state = nullptr;
    while (GstMeta* any =
               gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      const auto* roi = reinterpret_cast<const GstVideoRegionOfInterestMeta*>(any);
      bool known = false;
      for (const Box& box : boxes)
        known |= roi->x == static_cast<guint>(box.x - 5) && roi->y == static_cast<guint>(box.y - 3) &&
                 roi->w == static_cast<guint>(box.w) && roi->h == static_cast<guint>(box.h);
      CHECK(known, "%s: a region of %ux%u at (%u, %u)", regions, roi->w, roi->h, roi->x, roi->y);
      ++found;
    }
    CHECK(found == std::size(boxes), "%s: %zu regions of interest leave", regions, found);
  }
}

ELEMENT_TEST(a_region_that_is_held_stays_where_it_was_in_the_frame_while_the_crop_moves) {
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  std::mt19937 random(12);
  Harness harness("regions=inside region-effect=fill region-hold=10000000000", part);
  for (int frame = 0; frame < 3; ++frame) {
    Owned<GstBuffer> input = relaid(random, random_buffer(random, whole, frame).get(), whole, {.name = "tight"});
    if (frame == 0) gst_buffer_add_video_region_of_interest_meta(input.get(), "face", 12, 10, 3, 2);
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input.get());
    meta->x = static_cast<guint>(4 * frame), meta->y = static_cast<guint>(3 * frame), meta->width = 17,
    meta->height = 13;
    CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
    const Frame out = frame_of(harness.try_pull().get(), part);
    for (int y = 10 - 3 * frame; y < 12 - 3 * frame; ++y)
      for (int x = 12 - 4 * frame; x < 15 - 4 * frame; ++x)
        CHECK(out.component[0].samples[y * 17 + x] == 0, "frame %d: sample %d,%d is not hidden", frame, x, y);
  }
}

ELEMENT_TEST(a_crop_beyond_its_frame_is_an_error) {
  std::mt19937 random(60);
  const GstVideoInfo whole = video_info("I420", 48, 32), part = video_info("I420", 16, 16);
  for (const guint x : {33U, 0x7fffffffU, 0xffffffffU}) {
    Owned<GstBuffer> input = relaid(random, random_buffer(random, whole).get(), whole, {.name = "tight"});
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(input.get());
    meta->x = x, meta->y = 0, meta->width = 16, meta->height = 16;
    Harness harness("preset=box-blur", part);
    CHECK(harness.push(input.release()) == GST_FLOW_ERROR, "the buffer is taken");
    const std::vector<Report> errors = harness.errors();
    CHECK(errors.size() == 1 && errors[0].text.find("crop meta") != std::string::npos, "%zu errors", errors.size());
  }
}

// videocrop goes on cropping by meta until it is renegotiated: what passthrough offers binds the filter that follows.
ELEMENT_TEST(after_passthrough_a_cropped_stream_shows_the_same_picture) {
  const Owned<GstElement> chain =
      parse_chain("videocrop left=10 top=6 right=4 bottom=2 ! ${convolve} preset=identity name=filter");
  const Owned<GstElement> filter(gst_bin_get_by_name(GST_BIN(chain.get()), "filter"));
  const GstVideoInfo whole = video_info("GRAY8", 40, 30), part = video_info("GRAY8", 26, 22);
  Harness harness(Owned<GstElement>(GST_ELEMENT(gst_object_ref(chain.get()))));
  gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
  gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
  harness.set_caps(whole);
  std::mt19937 random(61);
  for (int i = 0; i < 6; ++i) {
    if (i == 3) gst_util_set_object_arg(G_OBJECT(filter.get()), "preset", "box-blur");
    const Owned<GstBuffer> input = random_buffer(random, whole, i);
    const Frame picture = cut(frame_of(input.get(), whole), whole, part, {"GRAY8", 10, 6});
    Filtering f{make_kernel(1, 3, 3, std::vector<double>(9, 1.0), 9)};
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out && !gst_buffer_get_video_crop_meta(out.get()), "frame %d: a crop meta", i);
    check_buffer(i < 3 ? picture : expected(f, picture, part), out.get(), part, 0, "frame " + std::to_string(i));
  }
}

// --- Map functions -------------------------------------------------------------------------------------------------

// A meta of this kind keeps every byte inverted; mapping it gives the plane in the clear.
gboolean map_inverted(GstVideoMeta* meta, guint plane, GstMapInfo* info, gpointer* data, gint* stride, GstMapFlags) {
  GstMapInfo map;
  if (!gst_buffer_map(meta->buffer, &map, GST_MAP_READ)) return FALSE;
  auto* clear = static_cast<guint8*>(g_malloc(map.size));
  for (gsize i = 0; i < map.size; ++i) clear[i] = static_cast<guint8>(~map.data[i]);
  gst_buffer_unmap(meta->buffer, &map);
  *info = GST_MAP_INFO_INIT;
  info->data = clear;
  *data = clear + meta->offset[plane];
  *stride = meta->stride[plane];
  return TRUE;
}

gboolean unmap_inverted(GstVideoMeta*, guint, GstMapInfo* info) {
  g_free(info->data);
  return TRUE;
}

ELEMENT_TEST(a_video_metas_own_map_function_is_used) {
  std::mt19937 random(62);
  for (const char* format : {"GRAY8", "I420", "NV12", "RGBA"})
    for (const char* depth : {"", "temporal"}) {
      const GstVideoInfo info = video_info(format, 21, 11);
      const Filtering f{random_kernel(random, *depth ? 3 : 1, 3, 3, 6, 8)};
      std::vector<Owned<GstBuffer>> clear = random_stream(random, info, 4);
      const std::vector<Frame> wanted = expected(f, frames_of(clear, info), info);
      Harness harness("kernel=\"" + text_of(f.kernel) + "\"", info);
      for (Owned<GstBuffer>& buffer : clear) {
        Owned<GstBuffer> input = relaid(random, buffer.get(), info, {.name = "tight"});
        GstMapInfo map;
        CHECK(gst_buffer_map(input.get(), &map, GST_MAP_READWRITE), "cannot map");
        for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<guint8>(~map.data[i]);
        gst_buffer_unmap(input.get(), &map);
        GstVideoMeta* meta = gst_buffer_get_video_meta(input.get());
        meta->map = map_inverted;
        meta->unmap = unmap_inverted;
        CHECK(harness.push(input.release()) == GST_FLOW_OK, "push failed");
      }
      harness.push_event(gst_event_new_eos());
      for (const Frame& frame : wanted) check_buffer(frame, harness.try_pull().get(), info, 0, format);
    }
}

// --- Several views, and fields apart -------------------------------------------------------------------------------

constexpr const char* refused[] = {"multiview-mode=separated,views=2", "interlace-mode=fields",
                                   "interlace-mode=alternate"};

ELEMENT_TEST_ROWS(frames_spread_over_buffers_are_refused_in_negotiation, std::size(refused)) {
  Harness harness("preset=box-blur");
  const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "sink"));
  const std::string base = "video/x-raw,format=I420,width=16,height=16,framerate=25/1,";
  const Owned<GstCaps> caps(gst_caps_from_string((base + refused[row]).c_str()));
  CHECK(!gst_pad_query_accept_caps(pad.get(), caps.get()), "%s is accepted", refused[row]);
  const Owned<GstCaps> some(gst_pad_query_caps(pad.get(), caps.get()));
  CHECK(gst_caps_is_empty(some.get()), "%s is among what it takes", refused[row]);
  CHECK(harness.errors().empty(), "a query posts an error");
}

ELEMENT_TEST(of_a_choice_of_modes_those_that_are_served_are_taken) {
  Harness harness("preset=box-blur");
  const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "sink"));
  const Owned<GstCaps> caps(
      gst_caps_from_string("video/x-raw,format=I420,width=16,height=16,framerate=25/1,"
                           "interlace-mode={fields,interleaved},multiview-mode={separated,mono}"));
  Owned<GstCaps> found(gst_pad_query_caps(pad.get(), caps.get()));
  const GstStructure* structure = gst_caps_get_structure(found.get(), 0);
  CHECK(g_strcmp0(gst_structure_get_string(structure, "interlace-mode"), "interleaved") == 0 &&
            g_strcmp0(gst_structure_get_string(structure, "multiview-mode"), "mono") == 0,
        "found %s", Owned<gchar>(gst_caps_to_string(found.get())).get());
}

ELEMENT_TEST(frame_by_frame_views_take_filters_of_one_frame_alone) {
  std::mt19937 random(63);
  GstVideoInfo info = video_info("I420", 16, 8);
  GST_VIDEO_INFO_MULTIVIEW_MODE(&info) = GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME;
  GST_VIDEO_INFO_VIEWS(&info) = 2;
  {
    const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
    check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, random_stream(random, info, 4), "one frame");
  }
  Harness harness("preset=temporal-mean", "");
  GstCaps* caps = gst_video_info_to_caps(&info);
  gst_harness_set_src_caps(harness.get(), caps);
  harness.push(random_buffer(random, info).release());
  CHECK(!harness.try_pull(), "a frame came out");
  const std::vector<Report> errors = harness.errors();
  CHECK(!errors.empty() && errors[0].text.find("frame-by-frame") != std::string::npos, "%zu errors: %s", errors.size(),
        errors.empty() ? "" : errors[0].text.c_str());
}

// --- Padding bits --------------------------------------------------------------------------------------------------

ELEMENT_TEST(components_that_are_not_filtered_keep_their_padding_bits) {
  std::mt19937 random(64);
  for (const char* format : {"P010_10LE", "P012_LE", "Y212_LE", "Y412_LE"}) {
    const GstVideoInfo info = video_info(format, 8, 6);
    const Owned<GstBuffer> input = random_buffer(random, info);
    Harness harness("preset=box-blur components=luma", info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    GstVideoFrame from, to;
    CHECK(out && gst_video_frame_map(&from, &info, input.get(), GST_MAP_READ) &&
              gst_video_frame_map(&to, &info, out.get(), GST_MAP_READ),
          "no output");
    const bool planar = GST_VIDEO_INFO_N_PLANES(&info) == 2;
    const int low = (1 << GST_VIDEO_FORMAT_INFO_SHIFT(info.finfo, 0)) - 1;
    for (int p = 0; p < static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info)); ++p)
      for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&from, p); ++y) {
        const auto at = [&](const GstVideoFrame& frame) {
          return reinterpret_cast<const guint16*>(static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, p)) +
                                                  static_cast<std::ptrdiff_t>(y) *
                                                      GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
        };
        for (int i = 0; i < 8; ++i) {
          const bool luma = planar ? p == 0 : std::strcmp(format, "Y412_LE") == 0 ? i % 4 == 1 : i % 2 == 0;
          if (luma)
            CHECK((at(to)[i] & low) == 0, "%s: luma word %d of row %d is %x", format, i, y, at(to)[i]);
          else
            CHECK(at(to)[i] == at(from)[i], "%s: word %d of row %d: %x became %x", format, i, y, at(from)[i],
                  at(to)[i]);
        }
      }
    gst_video_frame_unmap(&from);
    gst_video_frame_unmap(&to);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("buffers");
}
