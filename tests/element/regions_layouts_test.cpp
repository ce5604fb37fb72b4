// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of frames in layouts of their own, where downstream understands those: what is treated in place comes out as
// the same picture in GStreamer's own layout does.
#include "stream.hpp"

namespace element_test {
namespace {

constexpr const char* effects[] = {"blur region-feather=3", "pixelate", "fill region-color=0xffff0000",
                                   "filter preset=box-blur"};

std::string settings_of(const char* effect) {
  return std::string("regions=inside region-boxes=<<2,2,11,8>> region-effect=") + effect;
}

/// What comes of the frame where each plane has its own memory and downstream asks for GStreamer's layout.
Frame treated_in_usual_layout(std::mt19937& random, const char* effect, GstBuffer* in, const GstVideoInfo& info) {
  Harness harness(settings_of(effect), info);
  harness.push(relaid(random, in, info, {"planes apart"}).release());
  return frame_of(harness.try_pull().get(), info);
}

/// The frame that comes out where downstream takes video metas. Says whether it is the buffer that came in.
Frame treated_as_it_lies(const char* effect, Owned<GstBuffer> in, const GstVideoInfo& info, bool& in_place) {
  Harness harness(settings_of(effect));
  gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
  harness.set_caps(info);
  const GstBuffer* sent = in.get();
  harness.push(in.release());
  const Owned<GstBuffer> out = harness.try_pull();
  in_place = out.get() == sent;
  return frame_of(out.get(), info);
}

void check_same(const Frame& wanted, const Frame& got, const char* effect, const char* layout) {
  for (std::size_t c = 0; c < wanted.component.size(); ++c)
    CHECK(wanted.component[c].samples == got.component[c].samples, "%s, %s: component %zu", effect, layout, c);
}

ELEMENT_TEST_ROWS(frames_of_odd_layouts_are_treated_in_place, std::size(effects)) {
  std::mt19937 random(61);
  for (const char* format : {"I420", "NV12", "RGB", "Y210"}) {
    const GstVideoInfo info = video_info(format, 21, 13);
    const Owned<GstBuffer> in = random_buffer(random, info);
    const Frame wanted = treated_in_usual_layout(random, effects[row], in.get(), info);
    for (const Layout& layout :
         {Layout{"wide strides", 6}, Layout{"offsets", 0, 8}, Layout{"memories", 0, 0, true},
          Layout{"bottom up", 2, 0, false, true}, Layout{"read-only", 0, 0, false, false, true},
          Layout{"read-only memories", 0, 0, true, false, true}, Layout{"split", 0, 0, false, false, false, 100}}) {
      bool in_place = false;
      check_same(wanted, treated_as_it_lies(effects[row], relaid(random, in.get(), info, layout), info, in_place),
                 effects[row], layout.name);
      if (!layout.read_only) CHECK(in_place, "%s, %s: a copy", effects[row], layout.name);
    }
  }
}

// As where a picture in grey has one plane of neutral chroma for both.
ELEMENT_TEST_ROWS(planes_that_share_their_memory_are_treated_as_if_they_did_not, std::size(effects)) {
  std::mt19937 random(62);
  GstVideoInfo info = video_info("Y444", 20, 12);
  for (const gsize apart : {gsize{0}, gsize{7}}) {
    Owned<GstBuffer> in = random_buffer(random, info);
    gsize offset[] = {info.offset[0], info.offset[1], info.offset[1] + apart};
    gst_buffer_add_video_meta_full(in.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_Y444, 20, 12, 3, offset,
                                   info.stride);
    const Frame wanted = treated_in_usual_layout(random, effects[row], in.get(), info);
    bool in_place = true;
    check_same(wanted, treated_as_it_lies(effects[row], std::move(in), info, in_place), effects[row], "shared planes");
    CHECK(!in_place, "%s: in place", effects[row]);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("regions_layouts");
}
