// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions from GstAnalyticsRelationMeta: object detections, turned or not, and segmentation masks. Built where
// GStreamer has them.
#include <gst/analytics/analytics.h>

#include <cmath>

#include "../oracle_regions.hpp"
#include "stream.hpp"

namespace element_test {
namespace {

constexpr int width = 40, height = 30;

GstAnalyticsRelationMeta* relations(GstBuffer* buffer) {
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  return meta ? meta : gst_buffer_add_analytics_relation_meta(buffer);
}

void add_detection(GstBuffer* buffer, const char* type, int x, int y, int w, int h, float confidence) {
  GstAnalyticsODMtd mtd;
  CHECK(gst_analytics_relation_meta_add_od_mtd(relations(buffer), g_quark_from_string(type), x, y, w, h, confidence,
                                               &mtd),
        "no detection was added");
}

// A frame with noise, what comes out of it, and whether the metas did as well.
struct Passed {
  Frame before, after;
  std::size_t metas_before = 0, metas_after = 0;
};

template <class Add>
Passed pass(const GstVideoInfo& info, const std::string& properties, Add&& add) {
  std::mt19937 random(7);
  Owned<GstBuffer> in = random_buffer(random, info, 0);
  add(in.get());
  Passed passed;
  passed.before = frame_of(in.get(), info);
  passed.metas_before = gst_analytics_relation_get_length(relations(in.get()));
  Harness harness("regions=inside " + properties, info);
  CHECK(harness.push(in.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out, "no output");
  passed.after = frame_of(out.get(), info);
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(out.get());
  if (meta) passed.metas_after = gst_analytics_relation_get_length(meta);
  return passed;
}

void check_treated(const Passed& passed, const std::vector<oracle::Box>& boxes, const oracle::Treatment& treatment,
                   int fill = 0) {
  const oracle::Plane wanted =
      oracle::treat(boxes, treatment, {width, height, 1, 1}, passed.before.component[0], nullptr, fill);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * width + x;
      CHECK(wanted.samples[i] == passed.after.component[0].samples[i], "sample (%d, %d): expected %g, found %g", x, y,
            static_cast<double>(wanted.samples[i]), static_cast<double>(passed.after.component[0].samples[i]));
    }
  CHECK(passed.metas_before == passed.metas_after, "%zu metas came, %zu left", passed.metas_before, passed.metas_after);
}

ELEMENT_TEST(detections_are_hidden_by_type_and_confidence) {
  const GstVideoInfo info = video_info("GRAY8", width, height);
  const Passed passed =
      pass(info, "region-effect=pixelate region-types=face;person region-min-confidence=0.5", [](GstBuffer* buffer) {
        add_detection(buffer, "face", 4, 3, 11, 9, 0.9f);
        add_detection(buffer, "car", 20, 3, 8, 9, 0.9f);
        add_detection(buffer, "person", -5, 20, 12, 30, 0.5f);
        add_detection(buffer, "face", 25, 15, 6, 6, 0.4f);
      });
  check_treated(passed, {{4, 3, 11, 9, false, 0, 0, {}}, {-5, 20, 12, 30, false, 0, 0, {}}}, {});
}

ELEMENT_TEST(detections_that_are_not_asked_for_are_not_taken) {
  const GstVideoInfo info = video_info("GRAY8", width, height);
  const Passed passed = pass(info, "region-effect=pixelate region-sources=boxes+roi",
                             [](GstBuffer* buffer) { add_detection(buffer, "face", 4, 3, 11, 9, 0.9f); });
  check_treated(passed, {}, {});
}

// A frame of 48x32 whose caps are those of the 17x13 pixels from (5, 3) on.
Owned<GstBuffer> cropped_frame(std::mt19937& random, const GstVideoInfo& whole) {
  Owned<GstBuffer> frame = random_buffer(random, whole, 0);
  if (!gst_buffer_get_video_meta(frame.get()))
    gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 48, 32, 1,
                                   whole.offset, whole.stride);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = 5, crop->y = 3, crop->width = 17, crop->height = 13;
  return frame;
}

struct Detection {
  const char* type;
  int x, y, width, height;
  float confidence;
};

// Inside of the crop, across its corner, without a size, and beside it.
constexpr Detection detections[] = {{"face", 7, 4, 2, 2, 0.75f},
                                    {"car", 4, 1, 3, 4, 0.5f},
                                    {"face", 0, 0, 0, 0, 0.0f},
                                    {"plate", 40, 30, 40, 30, 1.0f}};

// A filter, an effect, and a frame that leaves as a view of what came.
constexpr const char* ways_through_a_crop[] = {
    "kernel=<<2>>", "regions=inside region-effect=fill region-types=face",
    "regions=inside region-effect=fill region-sources=boxes region-boxes=<<100,100,2,2>>"};

ELEMENT_TEST_ROWS(detections_count_from_the_corner_of_the_picture_that_a_crop_has_left, 3) {
  std::mt19937 random(11);
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  Owned<GstBuffer> in = cropped_frame(random, whole);
  for (const Detection& d : detections) add_detection(in.get(), d.type, d.x, d.y, d.width, d.height, d.confidence);
  gst_analytics_relation_meta_set_relation(relations(in.get()), GST_ANALYTICS_REL_TYPE_CONTAIN, 1, 0);
  Harness harness(ways_through_a_crop[row]);
  if (row == 2) gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
  harness.set_caps(part);
  const Owned<GstBuffer> kept(gst_buffer_ref(in.get()));
  CHECK(harness.push(in.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out, "no output");
  // Of the frame that came, which others may hold, and of the picture that leaves.
  for (const bool left : {false, true}) {
    GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta((left ? out : kept).get());
    CHECK(meta && gst_analytics_relation_get_length(meta) == std::size(detections), "some are missing");
    CHECK(gst_analytics_relation_meta_get_relation(meta, 1, 0) == GST_ANALYTICS_REL_TYPE_CONTAIN,
          "their relation is another one");
    for (guint i = 0; i < std::size(detections); ++i) {
      GstAnalyticsODMtd mtd;
      CHECK(gst_analytics_relation_meta_get_od_mtd(meta, i, &mtd), "detection %u is none", i);
      gint x = 0, y = 0, w = 0, h = 0;
      gfloat confidence = 0;
      gst_analytics_od_mtd_get_location(&mtd, &x, &y, &w, &h, &confidence);
      const Detection& d = detections[i];
      const int wanted_x = left ? d.x - 5 : d.x, wanted_y = left ? d.y - 3 : d.y;
      CHECK(x == wanted_x && y == wanted_y && w == d.width && h == d.height && confidence == d.confidence,
            "%s %u: expected %dx%d at (%d, %d), found %dx%d at (%d, %d), confidence %g", left ? "out" : "in", i,
            d.width, d.height, wanted_x, wanted_y, w, h, x, y, static_cast<double>(confidence));
      CHECK(gst_analytics_od_mtd_get_obj_type(&mtd) == g_quark_from_string(d.type), "detection %u: type", i);
    }
  }
}

// The first element takes the crop away, the second hides what was found in the frame before.
ELEMENT_TEST(a_second_element_hides_what_was_found_before_a_crop) {
  std::mt19937 random(13);
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  Owned<GstBuffer> in = cropped_frame(random, whole);
  add_detection(in.get(), "face", 9, 8, 4, 3, 1);
  const Frame before = frame_of(in.get(), whole);
  Harness first("kernel=<<1,0>>", part), second("regions=inside region-effect=fill region-color=0xffffffff", part);
  CHECK(first.push(in.release()) == GST_FLOW_OK, "push failed");
  CHECK(second.push(first.try_pull().release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = second.try_pull();
  CHECK(out, "no output");
  const Frame after = frame_of(out.get(), part);
  for (int y = 0; y < 13; ++y)
    for (int x = 0; x < 17; ++x) {
      const bool hidden = x >= 4 && x < 8 && y >= 5 && y < 8;
      // The kernel shifts the picture by a pixel, and its edge stays.
      const double came = before.component[0].samples[(y + 3) * 48 + 5 + std::max(x - 1, 0)];
      const double wanted = hidden ? 255 : came, found = after.component[0].samples[y * 17 + x];
      CHECK(found == wanted, "sample (%d, %d): expected %g, found %g", x, y, wanted, found);
    }
}

#ifdef CONVOLVE_HAVE_ANALYTICS_1_26

// The side of the line from (ax, ay) to (bx, by) that a point lies on.
double side(double ax, double ay, double bx, double by, double x, double y) {
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
}

ELEMENT_TEST_ROWS(a_turned_detection_covers_its_turned_rectangle, 2) {
  const GstVideoInfo info = video_info("GRAY8", width, height);
  constexpr double angle = 0.4;
  const double grow = row == 0 ? 0 : 0.25;
  const Passed passed = pass(
      info, "region-effect=fill region-color=0xffffffff region-grow=" + std::to_string(grow), [](GstBuffer* buffer) {
        GstAnalyticsODMtd mtd;
        gst_analytics_relation_meta_add_oriented_od_mtd(relations(buffer), g_quark_from_string("plate"), 10, 9, 16, 8,
                                                        static_cast<gfloat>(angle), 1, &mtd);
      });
  // Its corners, from its middle.
  const double half_x = 8 * (1 + 2 * grow), half_y = 4 * (1 + 2 * grow), turn = static_cast<gfloat>(angle);
  double cx[4], cy[4];
  const int sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int i = 0; i < 4; ++i) {
    const double u = sign[i][0] * half_x, v = sign[i][1] * half_y;
    cx[i] = 18 + u * std::cos(turn) - v * std::sin(turn);
    cy[i] = 13 + u * std::sin(turn) + v * std::cos(turn);
  }
  int hidden = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      bool inside = true;
      for (int i = 0; i < 4; ++i) inside &= side(cx[i], cy[i], cx[(i + 1) % 4], cy[(i + 1) % 4], x + 0.5, y + 0.5) >= 0;
      const std::size_t at = static_cast<std::size_t>(y) * width + x;
      const double wanted = inside ? 255 : static_cast<double>(passed.before.component[0].samples[at]);
      CHECK(static_cast<double>(passed.after.component[0].samples[at]) == wanted,
            "sample (%d, %d): expected %g, found %g", x, y, wanted,
            static_cast<double>(passed.after.component[0].samples[at]));
      hidden += inside;
    }
  CHECK(hidden > 100, "%d samples are hidden", hidden);
}

// A mask of 5x4 with the values 0 to 3, over a box; 1 and 3 are regions, "road" and "face".
void add_masks(GstBuffer* buffer, GstVideoFormat format) {
  const int bytes = format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2;
  Owned<GstBuffer> mask(gst_buffer_new_allocate(nullptr, 20 * bytes, nullptr));
  for (int i = 0; i < 20; ++i) {
    const guint8 word[2] = {static_cast<guint8>(i % 4), 0};
    gst_buffer_fill(mask.get(), i * bytes, word, bytes);
  }
  const gsize offset[4] = {};
  const gint stride[4] = {5 * bytes};
  gst_buffer_add_video_meta_full(mask.get(), GST_VIDEO_FRAME_FLAG_NONE, format, 5, 4, 1, offset, stride);
  GstAnalyticsRelationMeta* meta = relations(buffer);
  guint ids[] = {1, 3};
  GstAnalyticsSegmentationMtd segmentation;
  CHECK(gst_analytics_relation_meta_add_segmentation_mtd(meta, mask.release(), GST_SEGMENTATION_TYPE_SEMANTIC, 2, ids,
                                                         6, 5, 20, 16, &segmentation),
        "no segmentation was added");
  gfloat levels[] = {1, 1};
  GQuark classes[] = {g_quark_from_string("road"), g_quark_from_string("face")};
  GstAnalyticsClsMtd classification;
  gst_analytics_relation_meta_add_cls_mtd(meta, 2, levels, classes, &classification);
  gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_N_TO_N, segmentation.id, classification.id);
}

ELEMENT_TEST_ROWS(segmentation_masks_keep_their_shape, 4) {
  const GstVideoInfo info = video_info("GRAY8", width, height);
  const bool faces = row / 2 == 1;
  const Passed passed = pass(
      info,
      std::string("region-effect=pixelate region-feather=2 region-shape=ellipse") + (faces ? " region-types=fac?" : ""),
      [&](GstBuffer* buffer) {
        add_masks(buffer, row % 2 == 0 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE);
      });
  oracle::Box box{6, 5, 20, 16, false, 5, 4, {}};
  for (int i = 0; i < 20; ++i) box.mask.push_back(i % 4 == 3 || (!faces && i % 4 == 1) ? 1 : 0);
  oracle::Treatment treatment;
  treatment.feather = 2;
  check_treated(passed, {box}, treatment);
}

ELEMENT_TEST(masks_and_turned_detections_count_from_the_corner_of_the_picture_that_a_crop_has_left) {
  std::mt19937 random(14);
  const GstVideoInfo whole = video_info("GRAY8", 48, 32), part = video_info("GRAY8", 17, 13);
  Owned<GstBuffer> in = cropped_frame(random, whole);
  add_masks(in.get(), GST_VIDEO_FORMAT_GRAY8);
  GstAnalyticsODMtd turned;
  gst_analytics_relation_meta_add_oriented_od_mtd(relations(in.get()), g_quark_from_string("plate"), 10, 9, 16, 8, 0.5f,
                                                  0.25f, &turned);
  const guint id = turned.id;
  Harness harness("kernel=<<2>>", part);
  CHECK(harness.push(in.release()) == GST_FLOW_OK, "push failed");
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out, "no output");
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(out.get());
  CHECK(meta && gst_analytics_relation_get_length(meta) == 3, "some are missing");
  GstAnalyticsSegmentationMtd mask;
  CHECK(gst_analytics_relation_meta_get_segmentation_mtd(meta, 0, &mask), "the mask is none");
  gint x = 0, y = 0;
  guint width_of_mask = 0, height_of_mask = 0;
  const Owned<GstBuffer> buffer(
      gst_analytics_segmentation_mtd_get_mask(&mask, &x, &y, &width_of_mask, &height_of_mask));
  CHECK(buffer && x == 1 && y == 2 && width_of_mask == 20 && height_of_mask == 16, "the mask covers %ux%u at (%d, %d)",
        width_of_mask, height_of_mask, x, y);
  CHECK(gst_analytics_segmentation_mtd_get_region_count(&mask) == 2, "the mask's regions are others");
  CHECK(gst_analytics_relation_meta_get_od_mtd(meta, id, &turned), "the detection is none");
  gint w = 0, h = 0;
  gfloat angle = 0, confidence = 0;
  gst_analytics_od_mtd_get_oriented_location(&turned, &x, &y, &w, &h, &angle, &confidence);
  CHECK(x == 5 && y == 6 && w == 16 && h == 8 && angle == 0.5f && confidence == 0.25f,
        "the detection covers %dx%d at (%d, %d), turned by %g", w, h, x, y, static_cast<double>(angle));
}

ELEMENT_TEST(masks_are_held_with_their_shape) {
  const GstVideoInfo info = video_info("GRAY8", width, height);
  std::mt19937 random(9);
  Harness harness("regions=inside region-effect=pixelate region-hold=1000000000", info);
  Owned<GstBuffer> first = random_buffer(random, info, 0), second = random_buffer(random, info, 1);
  add_masks(first.get(), GST_VIDEO_FORMAT_GRAY8);
  Passed passed;
  passed.before = frame_of(second.get(), info);
  harness.push(first.release());
  harness.push(second.release());
  harness.try_pull();
  const Owned<GstBuffer> out = harness.try_pull();
  CHECK(out, "no output");
  passed.after = frame_of(out.get(), info);
  oracle::Box box{6, 5, 20, 16, false, 5, 4, {}};
  for (int i = 0; i < 20; ++i) box.mask.push_back(i % 2);
  check_treated(passed, {box}, {});
}

#endif

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("analytics");
}
