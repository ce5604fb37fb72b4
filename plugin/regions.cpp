// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#ifdef CONVOLVE_HAVE_ANALYTICS
#include "analytics.hpp"
#endif
#include "formats.hpp"

namespace convolve {
namespace {

// Text for GLib's patterns, which end the process where it is not UTF-8: that is read as Latin-1.
std::string utf8_of(std::string text) {
  if (g_utf8_validate(text.data(), static_cast<gssize>(text.size()), nullptr)) return text;
  std::string utf8;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) utf8 += static_cast<char>(0xc0 | byte >> 6);
    utf8 += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
  }
  return utf8;
}

bool type_matches(const std::string& patterns, const char* type) {
  if (patterns.empty()) return true;
  const std::string text = utf8_of(type ? type : "");
  for (std::size_t from = 0; from <= patterns.size();) {
    const std::size_t to = std::min(patterns.find(';', from), patterns.size());
    const std::string pattern = utf8_of(patterns.substr(from, to - from));
    if (g_pattern_match_simple(pattern.c_str(), text.c_str())) return true;
    from = to + 1;
  }
  return false;
}

// The field `confidence` of any of the structures that came with a region; 1 where there is none.
double confidence_of(const GstVideoRegionOfInterestMeta* roi) {
  for (const GList* at = roi->params; at; at = at->next) {
    const GValue* field = gst_structure_get_value(static_cast<const GstStructure*>(at->data), "confidence");
    if (!field) continue;
    GValue real = G_VALUE_INIT;
    g_value_init(&real, G_TYPE_DOUBLE);
    if (g_value_transform(field, &real)) return g_value_get_double(&real);
  }
  return 1;
}

// Whether regions that a frame at `since` had still hold at `pts`. A frame without a timestamp does not end a hold: to
// show what is to be hidden would be the worse mistake.
bool is_held(GstClockTime pts, GstClockTime since, GstClockTime hold, bool reversed) {
  if (hold == 0) return false;
  if (!GST_CLOCK_TIME_IS_VALID(pts) || !GST_CLOCK_TIME_IS_VALID(since)) return true;
  const GstClockTime earlier = reversed ? pts : since, later = reversed ? since : pts;
  return later <= earlier || later - earlier <= hold;
}

// Y, Cb and Cr of a colour, as fractions: 0..1, -0.5..0.5.
std::array<double, 3> ycbcr_of(const GstVideoInfo& info, const std::array<double, 3>& rgb) {
  double kr = 0, kb = 0;
  if (!gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &kr, &kb)) kr = 0.2126, kb = 0.0722;  // BT.709
  const double y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
  return {y, (rgb[2] - y) / (2 * (1 - kb)), (rgb[0] - y) / (2 * (1 - kr))};
}

}  // namespace

// What is held covers the same part of a frame of another size. Where a crop meta comes or goes with that size, or the
// picture is as large as it was, it is the picture that went on: another one has cropped it, or aligned its frame. A
// crop of a frame that is as large as it was moves over what the frame shows.
void RegionTracker::follow(const Place& now) {
  const Place before = std::exchange(place_, now);
  if (now.frame == before.frame) return;
  const auto is_cropped = [](const Place& place) { return place.frame != place.picture; };
  const bool in_picture = now.picture == before.picture || is_cropped(now) != is_cropped(before);
  const FrameSize &from = in_picture ? before.picture : before.frame, &to = in_picture ? now.picture : now.frame;
  const Corner from_corner = in_picture ? before.corner : Corner{}, to_corner = in_picture ? now.corner : Corner{};
  const double across = 1.0 * to.width / from.width, down = 1.0 * to.height / from.height;
  for (FoundRegion& region : held_) {
    region.x = (region.x - from_corner.x) * across + to_corner.x, region.width *= across;
    region.y = (region.y - from_corner.y) * down + to_corner.y, region.height *= down;
  }
}

std::span<const Region> RegionTracker::update(GstBuffer* frame, const GstVideoInfo& info,
                                              const RegionSettings& settings, bool reversed) {
  const Corner corner = corner_of_picture(frame, info);
  follow({size_of_frame(frame, info), {static_cast<guint>(info.width), static_cast<guint>(info.height)}, corner});
  found_.clear();
  collect(frame, settings);
  // An empty box is no region, and does not replace a region that is held from an earlier frame.
  std::erase_if(found_, [](const FoundRegion& r) { return !(r.width > 0 && r.height > 0); });
  const GstClockTime pts = GST_BUFFER_PTS(frame);
  if (!found_.empty()) {
    held_ = found_;
    held_since_ = pts;
  } else if (!is_held(pts, held_since_, settings.hold, reversed)) {
    held_.clear();
  } else if (!GST_CLOCK_TIME_IS_VALID(held_since_)) {
    held_since_ = pts;  // the first timestamp since
  }
  regions_.clear();
  const auto add = [&](const FoundRegion& r) {
    const RegionShape shape = r.mask ? RegionShape::mask : settings.shape;
    Region region = make_region(r.x, r.y, r.width, r.height, r.grown ? 0 : settings.grow, shape);
    region.mask = r.mask.get();
    if (!region.empty()) regions_.push_back(region);
  };
  if (settings.sources & region_source_boxes)
    for (const auto& box : settings.boxes) add({box[0], box[1], box[2], box[3], nullptr, false});
  // Those that come with frames count from the frame's corner, which the picture's may leave while they are held.
  for (FoundRegion region : held_) {
    region.x -= corner.x, region.y -= corner.y;
    add(region);
  }
  return regions_;
}

void RegionTracker::collect(GstBuffer* frame, const RegionSettings& settings) {
  if (settings.sources & region_source_roi) collect_roi(frame, settings);
#ifdef CONVOLVE_HAVE_ANALYTICS
  const auto asked = [&](const char* type) { return type_matches(settings.types, type); };
  const auto found = [&](FoundRegion region) { found_.push_back(std::move(region)); };
  if (settings.sources & region_source_detection)
    find_detections(frame, settings.min_confidence, settings.grow, asked, found);
#endif
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
  if (settings.sources & region_source_segmentation) find_segmentations(frame, asked, found);
#endif
}

void RegionTracker::collect_roi(GstBuffer* frame, const RegionSettings& settings) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const auto* roi = reinterpret_cast<const GstVideoRegionOfInterestMeta*>(meta);
    if (!type_matches(settings.types, g_quark_to_string(roi->roi_type))) continue;
    if (confidence_of(roi) < settings.min_confidence) continue;
    // Unsigned, but detectors write what lies left of the frame or above it as negative numbers.
    found_.push_back({static_cast<double>(static_cast<gint>(roi->x)), static_cast<double>(static_cast<gint>(roi->y)),
                      static_cast<double>(roi->w), static_cast<double>(roi->h), nullptr, false});
  }
}

RegionTreatment make_treatment(const RegionSettings& settings, const GstVideoInfo& info, const FrameLayout& layout) {
  RegionTreatment treatment;
  treatment.effect = settings.effect;
  treatment.outside = settings.mode == RegionMode::outside;
  treatment.feather = settings.feather;
  treatment.cells = settings.cells;
  for (auto& plane : treatment.fill) plane.fill(-1);
  const std::array<double, 3> rgb{(settings.color >> 16 & 255) / 255.0, (settings.color >> 8 & 255) / 255.0,
                                  (settings.color & 255) / 255.0};
  const GstVideoFormatInfo* finfo = info.finfo;
  const bool is_rgb = GST_VIDEO_FORMAT_INFO_IS_RGB(finfo), is_gray = GST_VIDEO_FORMAT_INFO_IS_GRAY(finfo);
  const std::array<double, 3> color = is_rgb ? rgb : ycbcr_of(info, rgb);
  const double full = layout.max_value();
  gint offset[GST_VIDEO_MAX_COMPONENTS], range[GST_VIDEO_MAX_COMPONENTS];
  gst_video_color_range_offsets(info.colorimetry.range, finfo, offset, range);
  // GStreamer's order of components; the layout has those of a plane in the order in which they lie.
  for (unsigned c = 0; c < std::min(3u, GST_VIDEO_FORMAT_INFO_N_COMPONENTS(finfo)); ++c) {
    const unsigned p = GST_VIDEO_FORMAT_INFO_PLANE(finfo, c);
    const double level = is_rgb || is_gray ? color[c] * full : offset[c] + color[c] * range[c];
    for (int i = 0; i < layout.plane[p].components; ++i)
      if (layout.plane[p].component[i].offset == component_offset(finfo, c))
        treatment.fill[p][i] = static_cast<int>(std::clamp(std::nearbyint(level), 0.0, full));
  }
  return treatment;
}

}  // namespace convolve
