// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics.hpp"

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "log.hpp"

namespace convolve {
namespace {

GstAnalyticsRelationMeta* relations_of(GstBuffer* frame) {
  return gst_buffer_get_analytics_relation_meta(frame);
}

// Where a detection, before it is turned, or a mask lies.
struct Place {
  gint x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Place&) const = default;
};

Place place_of_detection(const GstAnalyticsMtd& mtd) {
  auto detection = mtd;  // a handle, which functions of GStreamer 1.24 take as one that they may change
  Place place;
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
  gfloat angle = 0;
  gst_analytics_od_mtd_get_oriented_location(&detection, &place.x, &place.y, &place.width, &place.height, &angle,
                                             nullptr);
#else
  gst_analytics_od_mtd_get_location(&detection, &place.x, &place.y, &place.width, &place.height, nullptr);
#endif
  return place;
}

// GStreamer (1.26) has functions that tell where something lies, and none that moves it. Its data can be had, as four
// whole numbers in a row somewhere in a structure that is not published. They are found by their values, and it is they
// if those functions tell the new place once they are changed.
template <class PlaceOf>
void move(GstAnalyticsMtd& mtd, int dx, int dy, PlaceOf&& place_of) {
  const Place before = place_of(mtd);
  // Unsigned, as numbers at the end of their range wrap around.
  const Place after{static_cast<gint>(static_cast<guint>(before.x) + static_cast<guint>(dx)),
                    static_cast<gint>(static_cast<guint>(before.y) + static_cast<guint>(dy)), before.width,
                    before.height};
  auto* data = static_cast<std::byte*>(gst_analytics_relation_meta_get_mtd_data(mtd.meta, mtd.id));
  const gsize size = gst_analytics_mtd_get_size(&mtd);
  for (gsize at = 0; data && at + sizeof(Place) <= size; at += sizeof(gint)) {
    if (std::memcmp(data + at, &before, sizeof before) != 0) continue;
    std::memcpy(data + at, &after, sizeof after);
    if (place_of(mtd) == after) return;
    std::memcpy(data + at, &before, sizeof before);
  }
  GST_WARNING("a region of %dx%d that analysis found still counts from the corner of the frame before it was cropped",
              before.width, before.height);
}

#ifdef CONVOLVE_HAVE_ANALYTICS_1_26

Place place_of_mask(const GstAnalyticsMtd& mtd) {
  Place place;
  guint width = 0, height = 0;
  GstBuffer* mask = gst_analytics_segmentation_mtd_get_mask(&mtd, &place.x, &place.y, &width, &height);
  if (mask) gst_buffer_unref(mask);
  place.width = static_cast<gint>(width);
  place.height = static_cast<gint>(height);
  return place;
}

// More would be finer than a frame's pixels are, and a detection may be absurdly large.
constexpr double max_mask_side = 4096;

// The rectangle of that size, turned about its middle, within the box that bounds it. Rows and columns of the mask are
// pixels, where the box is not larger than a mask may be.
FoundRegion rotated(double x, double y, double width, double height, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  const double middle_x = x + width / 2, middle_y = y + height / 2;
  const double across = std::abs(width * c) + std::abs(height * s), down = std::abs(width * s) + std::abs(height * c);
  FoundRegion region;
  region.x = std::floor(middle_x - across / 2);
  region.y = std::floor(middle_y - down / 2);
  region.width = std::ceil(middle_x + across / 2) - region.x;
  region.height = std::ceil(middle_y + down / 2) - region.y;
  region.grown = true;
  auto mask = std::make_shared<RegionMask>();
  mask->width = static_cast<int>(std::clamp(region.width, 1.0, max_mask_side));
  mask->height = static_cast<int>(std::clamp(region.height, 1.0, max_mask_side));
  mask->held.resize(static_cast<std::size_t>(mask->width) * static_cast<std::size_t>(mask->height));
  for (int row = 0; row < mask->height; ++row)
    for (int column = 0; column < mask->width; ++column) {
      // The middle of the cell, as seen from the rectangle's middle.
      const double u = region.x + (column + 0.5) * region.width / mask->width - middle_x;
      const double v = region.y + (row + 0.5) * region.height / mask->height - middle_y;
      const bool inside = std::abs(u * c + v * s) <= width / 2 && std::abs(v * c - u * s) <= height / 2;
      mask->held[static_cast<std::size_t>(row) * mask->width + column] = inside ? 1 : 0;
    }
  region.mask = std::move(mask);
  return region;
}

// The class of a mask's region, from a classification that it is related to; null where there is none.
const char* class_of(GstAnalyticsRelationMeta* relations, guint mask_id, gsize region) {
  gpointer state = nullptr;
  GstAnalyticsMtd related;
  while (gst_analytics_relation_meta_get_direct_related(relations, mask_id, GST_ANALYTICS_REL_TYPE_ANY,
                                                        gst_analytics_cls_mtd_get_mtd_type(), &state, &related)) {
    auto* classes = reinterpret_cast<GstAnalyticsClsMtd*>(&related);
    if (region < gst_analytics_cls_mtd_get_length(classes))
      return g_quark_to_string(gst_analytics_cls_mtd_get_quark(classes, region));
  }
  return nullptr;
}

// The values of a mask's pixels that are asked for.
std::vector<guint> values_of(GstAnalyticsRelationMeta* relations, const GstAnalyticsSegmentationMtd& segmentation,
                             const TypeFilter& asked) {
  std::vector<guint> values;
  const gsize count = gst_analytics_segmentation_mtd_get_region_count(&segmentation);
  const guint id = gst_analytics_mtd_get_id(reinterpret_cast<const GstAnalyticsMtd*>(&segmentation));
  for (gsize i = 0; i < count; ++i)
    if (asked(class_of(relations, id, i)))
      values.push_back(gst_analytics_segmentation_mtd_get_region_id(&segmentation, i));
  return values;
}

// The part of a mask's buffer that has these values; null where it cannot be read.
std::shared_ptr<RegionMask> read_mask(GstBuffer* buffer, const std::vector<guint>& values) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta || (meta->format != GST_VIDEO_FORMAT_GRAY8 && meta->format != GST_VIDEO_FORMAT_GRAY16_LE)) return nullptr;
  GstVideoInfo info;
  GstVideoFrame frame;
  gst_video_info_set_format(&info, meta->format, meta->width, meta->height);
  if (meta->width == 0 || meta->height == 0 || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ))
    return nullptr;
  auto mask = std::make_shared<RegionMask>();
  mask->width = static_cast<int>(meta->width);
  mask->height = static_cast<int>(meta->height);
  mask->held.reserve(static_cast<std::size_t>(mask->width) * static_cast<std::size_t>(mask->height));
  for (int y = 0; y < mask->height; ++y) {
    const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                      y * static_cast<std::ptrdiff_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
    for (int x = 0; x < mask->width; ++x) {
      const guint value = meta->format == GST_VIDEO_FORMAT_GRAY8 ? row[x] : GST_READ_UINT16_LE(row + 2 * x);
      mask->held.push_back(std::find(values.begin(), values.end(), value) != values.end() ? 1 : 0);
    }
  }
  gst_video_frame_unmap(&frame);
  return mask;
}

#endif

}  // namespace

void find_detections(GstBuffer* frame, double min_confidence, [[maybe_unused]] double grow, const TypeFilter& asked,
                     const std::function<void(FoundRegion)>& found) {
  GstAnalyticsRelationMeta* relations = relations_of(frame);
  if (!relations) return;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &mtd)) {
    auto* detection = reinterpret_cast<GstAnalyticsODMtd*>(&mtd);
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence = 1;
    if (!asked(g_quark_to_string(gst_analytics_od_mtd_get_obj_type(detection)))) continue;
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
    gfloat angle = 0;
    if (!gst_analytics_od_mtd_get_oriented_location(detection, &x, &y, &width, &height, &angle, &confidence)) continue;
    if (confidence < min_confidence) continue;
    if (angle != 0 && width > 0 && height > 0) {
      found(rotated(x - grow * width, y - grow * height, width * (1 + 2 * grow), height * (1 + 2 * grow), angle));
      continue;
    }
#else
    if (!gst_analytics_od_mtd_get_location(detection, &x, &y, &width, &height, &confidence)) continue;
    if (confidence < min_confidence) continue;
#endif
    found({static_cast<double>(x), static_cast<double>(y), static_cast<double>(width), static_cast<double>(height),
           nullptr, false});
  }
}

void find_segmentations([[maybe_unused]] GstBuffer* frame, [[maybe_unused]] const TypeFilter& asked,
                        [[maybe_unused]] const std::function<void(FoundRegion)>& found) {
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
  GstAnalyticsRelationMeta* relations = relations_of(frame);
  if (!relations) return;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &mtd)) {
    const auto* segmentation = reinterpret_cast<const GstAnalyticsSegmentationMtd*>(&mtd);
    const std::vector<guint> values = values_of(relations, *segmentation, asked);
    if (values.empty()) continue;
    gint x = 0, y = 0;
    guint width = 0, height = 0;
    GstBuffer* buffer = gst_analytics_segmentation_mtd_get_mask(segmentation, &x, &y, &width, &height);
    if (!buffer) continue;
    FoundRegion region{static_cast<double>(x),      static_cast<double>(y),    static_cast<double>(width),
                       static_cast<double>(height), read_mask(buffer, values), false};
    gst_buffer_unref(buffer);
    if (region.mask) found(std::move(region));
  }
#endif
}

void move_found(GstBuffer* buffer, int x, int y) {
  GstAnalyticsRelationMeta* relations = relations_of(buffer);
  if (!relations) return;
  GstAnalyticsMtd mtd;
  gpointer state = nullptr;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &mtd))
    move(mtd, -x, -y, place_of_detection);
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
  state = nullptr;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &mtd))
    move(mtd, -x, -y, place_of_mask);
#endif
}

}  // namespace convolve
