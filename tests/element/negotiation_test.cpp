// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Formats, sizes, layouts, allocation, caps and metas: what passes the element's pads.
#include <algorithm>
#include <cstring>
#include <set>

#include "expected.hpp"

namespace element_test {
namespace {

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1}, {2, 3}, {7, 5}, {33, 31}};

constexpr int shards = 8;  // runs of their own that share the formats

ELEMENT_TEST_ROWS(each_format_is_filtered_as_the_oracle_says_at_odd_sizes, shards) {
  std::mt19937 random(100 + row);
  for (std::size_t i = row; i < formats().size() * std::size(sizes); i += shards) {
    const char* format = formats()[i / std::size(sizes)].c_str();
    const Size size = sizes[i % std::size(sizes)];
    const GstVideoInfo info = video_info(format, size.width, size.height);
    const Filtering whole{random_kernel(random, 1, 3, 5, 6, 8)};
    check_stream("kernel=\"" + text_of(whole.kernel) + "\"", whole, info, random_stream(random, info, 2), format);
    const Filtering real{random_real_kernel(random, 1, 5, 3)};
    check_stream("kernel=\"" + text_of(real.kernel) + "\"", real, info, random_stream(random, info, 1), format);
  }
}

std::set<std::string> template_formats(GstElement* element, const char* pad_name) {
  const Owned<GstPad> pad(gst_element_get_static_pad(element, pad_name));
  const Owned<GstCaps> caps(gst_pad_get_pad_template_caps(pad.get()));
  std::set<std::string> found;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    const GstCapsFeatures* features = gst_caps_get_features(caps.get(), i);
    if (features && !gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) continue;
    const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), i), "format");
    if (G_VALUE_HOLDS_STRING(list)) found.insert(g_value_get_string(list));
    for (guint f = 0; GST_VALUE_HOLDS_LIST(list) && f < gst_value_list_get_size(list); ++f)
      found.insert(g_value_get_string(gst_value_list_get_value(list, f)));
  }
  return found;
}

// By name, as users write them.
constexpr const char* promised[] = {
    "GRAY8",     "GRAY16_LE", "I420",      "YV12",      "Y42B",      "Y41B",      "Y444",      "A420",
    "NV12",      "NV21",      "NV16",      "NV61",      "NV24",      "P010_10LE", "P012_LE",   "P016_LE",
    "I420_10LE", "I420_12LE", "I422_10LE", "I422_12LE", "Y444_10LE", "Y444_12LE", "Y444_16LE", "GBR",
    "GBRA",      "GBR_10LE",  "GBR_12LE",  "RGBP",      "BGRP",      "RGB",       "BGR",       "RGBA",
    "BGRA",      "ARGB",      "ABGR",      "RGBx",      "BGRx",      "xRGB",      "xBGR",      "AYUV",
    "VUYA",      "ARGB64_LE", "RGBA64_LE", "AYUV64",    "YUY2",      "UYVY",      "YVYU",      "VYUY",
    "v308",      "IYU2",      "AV12",      "YUV9",      "YVU9",      "A420_10LE", "A422_10LE", "A444_10LE",
    "GBRA_10LE", "GBRA_12LE", "ABGR64_LE", "BGRA64_LE", "ARGB64",    "Y210",      "Y212_LE",   "Y412_LE",
#if GST_CHECK_VERSION(1, 24, 0)
    "A422",      "A444",      "A420_12LE", "A422_12LE", "A444_12LE", "A420_16LE", "A422_16LE", "A444_16LE",
    "GBR_16LE",  "RBGA",
#endif
#if GST_CHECK_VERSION(1, 26, 0)
    "Y216_LE",   "Y416_LE",
#endif
};

ELEMENT_TEST(both_pad_templates_list_every_promised_format_in_system_memory) {
  const Owned<GstElement> element = make_element();
  for (const char* pad : {"sink", "src"}) {
    const std::set<std::string> found = template_formats(element.get(), pad);
    for (const char* format : promised) CHECK(found.contains(format), "the %s template lacks %s", pad, format);
    CHECK(found.size() == std::size(promised), "the %s template has %zu formats", pad, found.size());
  }
  CHECK(template_formats(element.get(), "sink") == template_formats(element.get(), "src"), "the templates differ");
}

// The tests' own idea of where samples lie, and so the oracle's, against GStreamer's functions.
ELEMENT_TEST(samples_lie_where_gstreamer_unpacks_them_from) {
  std::mt19937 random(19);
  for (const std::string& format : formats()) {
    const GstVideoInfo info = video_info(format.c_str(), 12, 8);
    const Owned<GstBuffer> buffer = random_buffer(random, info);
    const Frame frame = frame_of(buffer.get(), info);
    for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c) {
      const oracle::Plane& plane = frame.component[c];
      for (int y = 0; y < plane.height; ++y) {
        const std::vector<int> wanted =
            unpacked(buffer.get(), info, c, y << GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, c));
        for (int x = 0; x < plane.width; ++x)
          CHECK(plane.samples[y * plane.width + x] == wanted[x], "%s: component %d, sample (%d, %d): %g, unpacked %d",
                format.c_str(), c, x, y, plane.samples[y * plane.width + x], wanted[x]);
      }
    }
  }
}

ELEMENT_TEST(caps_that_leave_the_format_open_are_not_fixed_to_grey) {
  const Owned<GstElement> element = make_element();
  const Owned<GstPad> pad(gst_element_get_static_pad(element.get(), "sink"));
  GstCaps* caps = gst_pad_get_pad_template_caps(pad.get());
  caps = gst_caps_fixate(gst_caps_make_writable(caps));
  const Owned<GstCaps> fixed(caps);
  CHECK(g_str_equal(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), "I420"), "fixed to %s",
        Owned<gchar>(gst_caps_to_string(caps)).get());
  CHECK(formats().back() == "GRAY8", "%s stands last", formats().back().c_str());
}

ELEMENT_TEST(output_caps_are_the_input_caps) {
  for (const char* caps :
       {"video/x-raw,format=NV12,width=18,height=10,framerate=30000/1001,pixel-aspect-ratio=4/3,colorimetry=bt601,"
        "chroma-site=mpeg2",
        "video/x-raw,format=RGBA,width=5,height=3,framerate=0/1", "video/x-raw,format=GRAY8,width=1,height=1"}) {
    Harness harness("preset=sharpen", caps);
    const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "src"));
    const Owned<GstCaps> wanted(gst_caps_from_string(caps));
    GstVideoInfo info;
    CHECK(gst_video_info_from_caps(&info, wanted.get()), "test caps");
    std::mt19937 random(1);
    CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "%s refused", caps);
    const Owned<GstCaps> found(gst_pad_get_current_caps(pad.get()));
    CHECK(found && gst_caps_is_subset(found.get(), wanted.get()), "%s became %s", caps,
          Owned<gchar>(gst_caps_to_string(found.get())).get());
  }
}

ELEMENT_TEST(formats_outside_the_list_are_not_negotiated) {
  for (const char* format : {"GRAY16_BE", "v210", "I420_10BE", "RGB16", "BGR10A2_LE", "GRAY10_LE32", "NV12_64Z32"}) {
    Harness harness("preset=sharpen");
    const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "sink"));
    const std::string text = std::string("video/x-raw,format=") + format + ",width=16,height=16,framerate=25/1";
    const Owned<GstCaps> caps(gst_caps_from_string(text.c_str()));
    CHECK(!gst_pad_query_accept_caps(pad.get(), caps.get()), "%s is accepted", format);
  }
}

ELEMENT_TEST(sides_of_up_to_a_million_pixels_are_negotiated) {
  const Owned<GstElement> element = make_element("preset=sharpen");
  const Owned<GstPad> pad(gst_element_get_static_pad(element.get(), "sink"));
  const auto accepts = [&](int width, int height) {
    const std::string size = "width=" + std::to_string(width) + ",height=" + std::to_string(height);
    const Owned<GstCaps> caps(gst_caps_from_string(("video/x-raw,format=GRAY8," + size).c_str()));
    return static_cast<bool>(gst_pad_query_accept_caps(pad.get(), caps.get()));
  };
  for (const int side : {(1 << 20) + 1, 20000000, G_MAXINT})  // as headers of broken files may claim
    CHECK(!accepts(side, 1) && !accepts(1, side) && !accepts(side, side), "%d pixels are accepted", side);
  std::mt19937 random(29);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  for (const Size& size : {Size{1 << 20, 1}, Size{1, 1 << 20}}) {
    CHECK(accepts(size.width, size.height), "%dx%d is refused", size.width, size.height);
    const GstVideoInfo info = video_info("GRAY8", size.width, size.height);
    check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, random_stream(random, info, 1), "the longest");
  }
}

constexpr Layout layouts[] = {
    {.name = "tight rows"},
    {.name = "strides of no round number", .stride_extra = 6},
    {.name = "large strides", .stride_extra = 250},
    {.name = "planes apart", .stride_extra = 2, .offset_extra = 14},
    {.name = "a memory for each plane", .stride_extra = 4, .memory_a_plane = true},
    {.name = "a memory for each plane, at an offset", .offset_extra = 10, .memory_a_plane = true},
    {.name = "bottom up", .bottom_up = true},
    {.name = "bottom up with padding", .stride_extra = 8, .offset_extra = 2, .bottom_up = true},
    {.name = "read only", .read_only = true},
    {.name = "read only and odd", .stride_extra = 2, .offset_extra = 2, .read_only = true},
    {.name = "cut in two memories", .split_at = 37},
    {.name = "cut in two memories, read only", .read_only = true, .split_at = 100},
};

ELEMENT_TEST_ROWS(input_in_any_memory_layout_gives_the_right_output, std::size(layouts)) {
  const Layout& layout = layouts[row];
  std::mt19937 random(20);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  for (const char* format :
       {"GRAY8", "I420", "NV12", "P010_10LE", "Y444_16LE", "RGB", "BGRx", "AYUV", "YUY2", "ARGB64_LE", "GBRA"}) {
    const GstVideoInfo info = video_info(format, 17, 9);
    std::vector<Owned<GstBuffer>> input;
    for (int i = 0; i < 2; ++i) input.push_back(relaid(random, random_buffer(random, info, i).get(), info, layout));
    check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, input, std::string(format) + ", " + layout.name);
  }
}

ELEMENT_TEST(odd_strides_and_offsets_of_8_bit_planes_give_the_right_output) {
  std::mt19937 random(21);
  const Filtering f{random_kernel(random, 1, 5, 5, 6, 8)};
  for (const char* format : {"GRAY8", "I420", "NV21", "RGB", "ABGR"})
    for (const Layout& layout :
         {Layout{.name = "odd", .stride_extra = 1, .offset_extra = 1}, Layout{.name = "odd, bottom up",
                                                                       .stride_extra = 3,
                                                                       .offset_extra = 5,
                                                                       .memory_a_plane = true,
                                                                       .bottom_up = true}}) {
      const GstVideoInfo info = video_info(format, 21, 11);
      std::vector<Owned<GstBuffer>> input;
      input.push_back(relaid(random, random_buffer(random, info).get(), info, layout));
      check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, input, std::string(format) + ", " + layout.name);
    }
}

ELEMENT_TEST(each_buffer_may_have_a_layout_of_its_own) {
  std::mt19937 random(22);
  const Filtering f{random_kernel(random, 3, 3, 3, 6, 8)};
  const GstVideoInfo info = video_info("I420", 17, 9);
  std::vector<Owned<GstBuffer>> input;
  for (const Layout& layout : layouts)
    input.push_back(relaid(random, random_buffer(random, info, static_cast<int>(input.size())).get(), info, layout));
  check_stream("kernel=\"" + text_of(f.kernel) + "\"", f, info, input, "a stream of layouts");
}

ELEMENT_TEST(the_input_buffer_is_not_written_to) {
  std::mt19937 random(23);
  for (const char* format : {"GRAY8", "NV12", "RGBA"}) {
    const GstVideoInfo info = video_info(format, 16, 8);
    const Owned<GstBuffer> input = random_buffer(random, info);
    const Frame before = frame_of(input.get(), info);
    Harness harness("preset=box-blur", info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    check_equal(before, frame_of(input.get(), info), info, 0, "the input after its filtering");
  }
}

// The x of RGBx: the byte that no component has.
struct Padded {
  const char* format;
  int at;
};
constexpr Padded padded[] = {{"RGBx", 3}, {"BGRx", 3}, {"xRGB", 0}, {"xBGR", 0}};

ELEMENT_TEST_ROWS(padding_components_are_copied, std::size(padded)) {
  std::mt19937 random(24);
  const GstVideoInfo info = video_info(padded[row].format, 13, 4);
  const Owned<GstBuffer> input = random_buffer(random, info);
  Harness harness("preset=box-blur", info);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  GstVideoFrame from, to;
  CHECK(out && gst_video_frame_map(&from, &info, input.get(), GST_MAP_READ) &&
            gst_video_frame_map(&to, &info, out.get(), GST_MAP_READ),
        "no output");
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 13; ++x) {
      const auto byte = [&](const GstVideoFrame& frame) {
        return static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(
            &frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + 4 * x + padded[row].at];
      };
      CHECK(byte(from) == byte(to), "%s: padding of (%d, %d): expected %d, found %d", padded[row].format, x, y,
            byte(from), byte(to));
    }
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&to);
}

// --- Allocation ------------------------------------------------------------------------------------------------

ELEMENT_TEST(upstream_is_offered_a_pool_and_video_meta_and_never_crop_meta) {
  std::mt19937 random(31);
  for (const char* properties : {"preset=sharpen", "kernel=\"<<<1>>,<<1>>,<<1>>>\""}) {
    const GstVideoInfo info = video_info("NV12", 64, 32);
    Harness harness(properties);
    // Downstream would crop; but what lies outside of the crop takes part in the filter.
    gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr);
    harness.set_caps(info);
    CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
    const Owned<GstPad> pad(gst_element_get_static_pad(harness.element(), "sink"));
    const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
    const Owned<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
    CHECK(gst_pad_query(pad.get(), query.get()), "the ALLOCATION query fails");
    CHECK(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr), "GstVideoMeta is not offered");
    CHECK(!gst_query_find_allocation_meta(query.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr), "crop meta is offered");
    CHECK(gst_query_get_n_allocation_pools(query.get()) == 1, "no pool is offered");
    GstBufferPool* offered = nullptr;
    guint size = 0, least = 0, most = 0;
    gst_query_parse_nth_allocation_pool(query.get(), 0, &offered, &size, &least, &most);
    const Owned<GstBufferPool> pool(offered);
    CHECK(size >= GST_VIDEO_INFO_SIZE(&info), "the pool's buffers are too small");
    const guint depth = std::strchr(properties, ',') ? 3 : 1;
    CHECK(least == depth + 1 && most == 0, "a window of %u frames asks upstream for %u to %u buffers", depth, least,
          most);
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    guint size_of_pool = 0, least_of_pool = 0, most_of_pool = 0;
    gst_buffer_pool_config_get_params(config, nullptr, &size_of_pool, &least_of_pool, &most_of_pool);
    gst_structure_free(config);
    CHECK(size_of_pool == size && least_of_pool == least && most_of_pool == most,
          "the pool of the offer has %u to %u buffers of %u bytes", least_of_pool, most_of_pool, size_of_pool);
  }
}

ELEMENT_TEST(downstream_allocation_parameters_are_kept) {
  std::mt19937 random(25);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 63;
  params.prefix = 64;
  params.padding = 13;
  const GstVideoInfo info = video_info("I420", 19, 7);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  Harness harness("kernel=\"" + text_of(f.kernel) + "\"");
  gst_harness_set_propose_allocator(harness.get(), nullptr, &params);
  harness.set_caps(info);
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Frame wanted = expected(f, frame_of(input.get(), info), info);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  check_buffer(wanted, harness.try_pull().get(), info, 0, "with allocation parameters");
}

// --- Metas -----------------------------------------------------------------------------------------------------

struct Tagged {
  const char* name;
  std::vector<const char*> tags;
  bool kept;
};
const Tagged tagged[] = {
    {"ElementTestUntagged", {}, true},
    {"ElementTestVideo", {"video"}, true},
    {"ElementTestSize", {"video", "size"}, true},
    {"ElementTestOrientation", {"video", "orientation"}, true},
    {"ElementTestColorspace", {"video", "colorspace"}, true},
    {"ElementTestMemory", {"memory"}, false},
    {"ElementTestAudio", {"audio"}, false},
};

// A custom meta transforms by copy; base classes decide by its tags alone.
ELEMENT_TEST(metas_about_the_picture_are_kept_and_metas_about_memory_are_not) {
  std::mt19937 random(26);
  for (const char* properties : {"preset=sharpen", "preset=temporal-mean"})
    for (const Tagged& t : tagged) {
      if (!gst_meta_get_info(t.name)) {
        std::vector<const char*> tags = t.tags;
        tags.push_back(nullptr);
        gst_meta_register_custom(t.name, tags.data(), nullptr, nullptr, nullptr);
      }
      const GstVideoInfo info = video_info("GRAY8", 16, 16);
      Harness harness(properties, info);
      for (int i = 0; i < 3; ++i) {
        Owned<GstBuffer> buffer = random_buffer(random, info, i);
        GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer.get(), t.name);
        gst_structure_set(gst_custom_meta_get_structure(meta), "frame", G_TYPE_INT, i, nullptr);
        CHECK(harness.push(buffer.release()) == GST_FLOW_OK, "push failed");
      }
      harness.push_event(gst_event_new_eos());
      for (int i = 0; i < 3; ++i) {
        const Owned<GstBuffer> out = harness.try_pull();
        CHECK(out != nullptr, "%s: no output %d", properties, i);
        GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), t.name);
        CHECK((meta != nullptr) == t.kept, "%s: %s is %s", properties, t.name, meta ? "kept" : "lost");
        gint frame = i;
        if (meta) gst_structure_get_int(gst_custom_meta_get_structure(meta), "frame", &frame);
        CHECK(frame == i, "%s: frame %d carries %s of frame %d", properties, i, t.name, frame);
      }
    }
}

ELEMENT_TEST(regions_of_interest_time_codes_and_reference_timestamps_are_kept) {
  std::mt19937 random(27);
  const GstVideoInfo info = video_info("I420", 64, 64);
  Harness harness("preset=box-blur", info);
  Owned<GstBuffer> buffer = random_buffer(random, info);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 4, 8, 16, 24);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "plate", 1, 2, 3, 4);
  gst_buffer_add_video_time_code_meta_full(buffer.get(), 25, 1, nullptr, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 2, 3, 4, 0);
  const Owned<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-unix"));
  gst_buffer_add_reference_timestamp_meta(buffer.get(), reference.get(), 77, GST_CLOCK_TIME_NONE);
  CHECK(harness.push(buffer.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out != nullptr, "no output");
  CHECK(gst_buffer_get_n_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == 2, "regions are lost");
  const auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(
      gst_buffer_get_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  CHECK(region->x == 4 && region->y == 8 && region->w == 16 && region->h == 24, "the first region has moved");
  CHECK(gst_buffer_get_video_time_code_meta(out.get()) != nullptr, "the time code is lost");
  CHECK(gst_buffer_get_reference_timestamp_meta(out.get(), nullptr) != nullptr, "the reference timestamp is lost");
}

// --- Caps in mid-stream ----------------------------------------------------------------------------------------

ELEMENT_TEST(size_format_and_range_may_change_between_any_two_frames) {
  std::mt19937 random(28);
  const Filtering f{random_kernel(random, 1, 5, 3, 6, 8)};
  Harness harness("kernel=\"" + text_of(f.kernel) + "\"");
  const GstVideoInfo infos[] = {video_info("I420", 33, 17, "bt709"),  video_info("I420", 33, 17, "1:4:0:0"),
                                video_info("I420", 8, 50, "1:4:0:0"), video_info("RGBA", 8, 50),
                                video_info("GRAY16_LE", 1, 1),        video_info("YUY2", 64, 3),
                                video_info("I420", 33, 17, "bt709")};
  for (const GstVideoInfo& info : infos) {
    harness.set_caps(info);
    const Owned<GstBuffer> input = random_buffer(random, info);
    const Frame wanted = expected(f, frame_of(input.get(), info), info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    check_buffer(wanted, harness.try_pull().get(), info, tolerance(f, info), "after a change of caps");
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("negotiation");
}
