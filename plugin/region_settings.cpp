// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "region_settings.hpp"

#include <algorithm>
#include <stdexcept>

#include "convolve/enum_row.hpp"
#include "kernel_value.hpp"
#include "property.hpp"

namespace convolve {
namespace {

constexpr EnumRow<RegionMode> modes[] = {
    {RegionMode::off, "off", "The whole frame is filtered"},
    {RegionMode::inside, "inside", "The effect covers the regions"},
    {RegionMode::outside, "outside", "The effect covers all that is in none of the regions"}};
constexpr EnumRow<RegionShape> shapes[] = {{RegionShape::rectangle, "rectangle", "The whole box"},
                                           {RegionShape::ellipse, "ellipse", "The ellipse that the box bounds"}};
constexpr EnumRow<RegionEffect> effects[] = {
    {RegionEffect::filter, "filter", "The element's own filter"},
    {RegionEffect::blur, "blur", "Hides: the means of cells, with smooth transitions"},
    {RegionEffect::pixelate, "pixelate", "Hides: the mean of each cell"},
    {RegionEffect::fill, "fill", "Hides: region-color"}};
constexpr EnumRow<bool> missing[] = {{false, "nothing", "The frame stays as it is"},
                                     {true, "everything", "The effect covers the whole frame"}};
#if defined(CONVOLVE_HAVE_ANALYTICS_1_26)
constexpr const char* sources_blurb = "Where regions come from";
#elif defined(CONVOLVE_HAVE_ANALYTICS)
constexpr const char* sources_blurb = "Where regions come from (segmentation masks need a build for GStreamer >= 1.26)";
#else
constexpr const char* sources_blurb =
    "Where regions come from (detections and segmentation masks of GstAnalyticsRelationMeta need a build for "
    "GStreamer >= 1.24 and >= 1.26)";
#endif
const GFlagsValue sources[] = {
    {region_source_boxes, "The property region-boxes", "boxes"},
    {region_source_roi, "GstVideoRegionOfInterestMeta of each frame", "roi"},
#ifdef CONVOLVE_HAVE_ANALYTICS
    {region_source_detection, "Object detections of GstAnalyticsRelationMeta", "detection"},
#endif
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
    {region_source_segmentation, "Segmentation masks of GstAnalyticsRelationMeta", "segmentation"},
#endif
    {0, nullptr, nullptr}};

double number_of(const GValue* value, const std::string& where) {
  GValue real = G_VALUE_INIT;
  g_value_init(&real, G_TYPE_DOUBLE);
  bool good = false;
  for (const GType type : {G_TYPE_DOUBLE, G_TYPE_FLOAT, G_TYPE_INT, G_TYPE_UINT, G_TYPE_INT64, G_TYPE_UINT64,
                           G_TYPE_LONG, G_TYPE_ULONG, G_TYPE_CHAR, G_TYPE_UCHAR})
    good |= G_VALUE_HOLDS(value, type) && g_value_transform(value, &real);
  if (GST_VALUE_HOLDS_FRACTION(value))
    return static_cast<double>(gst_value_get_fraction_numerator(value)) / gst_value_get_fraction_denominator(value);
  if (good) return g_value_get_double(&real);
  gchar* text = gst_value_serialize(value);
  const std::string shown = text ? text : G_VALUE_TYPE_NAME(value);
  g_free(text);
  throw std::invalid_argument("region-boxes: " + where + " holds " + shown +
                              "; x, y, width and height are numbers, as in <<10,20,64,48>>");
}

// Arrays and lists are the same to a user who sets them from an application.
guint size_of(const GValue* value) {
  return GST_VALUE_HOLDS_ARRAY(value)  ? gst_value_array_get_size(value)
         : GST_VALUE_HOLDS_LIST(value) ? gst_value_list_get_size(value)
                                       : 0;
}

const GValue* item(const GValue* value, guint i) {
  return GST_VALUE_HOLDS_ARRAY(value) ? gst_value_array_get_value(value, i) : gst_value_list_get_value(value, i);
}

std::vector<std::array<double, 4>> parse_boxes(const GValue* value) {
  std::vector<std::array<double, 4>> boxes;
  for (guint i = 0; i < size_of(value); ++i) {
    const std::string where = "box " + std::to_string(i + 1);
    const GValue* box = item(value, i);
    if (size_of(box) != 4)
      throw std::invalid_argument(
          "region-boxes: " + where + " has " + std::to_string(size_of(box)) +
          " numbers; a box has 4, <x,y,width,height>, and region-boxes is an array of boxes, as "
          "in <<10,20,64,48>>");
    for (guint k = 0; k < 4; ++k) {
      if (k == 0) boxes.emplace_back();
      boxes.back()[k] = number_of(item(box, k), where);
    }
  }
  return boxes;
}

void store_boxes(Settings& s, const GValue* value) {
  s.regions.boxes.clear();
  s.regions.boxes_fault.clear();
  if (!value) return;
  try {
    s.regions.boxes = parse_boxes(value);
  } catch (const std::invalid_argument& error) {
    s.regions.boxes_fault = error.what();
  }
}

// The rows of the properties that say where regions are and where they come from.
void append_place_rows(std::vector<Property>& rows) {
  using namespace property;
  rows.insert(
      rows.end(),
      {choice(
           {"regions", "Regions", "Where the effect applies: in regions of each frame, or outside of them"},
           "GstVideoConvolveRegions", modes, [](auto& s) -> auto& { return s.regions.mode; }, controllable),
       flag_set(
           {"region-sources", "Region sources", sources_blurb}, "GstVideoConvolveRegionSources", sources,
           [](auto& s) -> auto& { return s.regions.sources; }, while_playing),
       array(
           {"region-boxes", "Region boxes", "Fixed regions of every frame, in pixels: <<x,y,width,height>,...>"},
           [](auto& s) -> auto& { return s.regions.boxes_value; }, store_boxes, while_playing),
       string(
           {"region-types", "Region types",
            "Patterns with * and ?, separated by ;, for the type of regions that come with frames (empty = all)"},
           [](auto& s) -> auto& { return s.regions.types; }, while_playing),
       real(
           {"region-min-confidence", "Region min confidence",
            "Regions of a lower confidence are left out; those without one count as 1"},
           {0, 1}, [](auto& s) -> auto& { return s.regions.min_confidence; }, controllable),
       choice(
           {"region-shape", "Region shape", "What of its box a region is"}, "GstVideoConvolveRegionShape", shapes,
           [](auto& s) -> auto& { return s.regions.shape; }, controllable),
       real(
           {"region-grow", "Region grow", "Added on each side of a region, as a fraction of its width and height"},
           {-0.5, 4}, [](auto& s) -> auto& { return s.regions.grow; }, controllable),
       natural64(
           {"region-hold", "Region hold",
            "How long regions go on after the last frame that came with them, in nanoseconds"},
           {0, G_MAXUINT64}, [](auto& s) -> auto& { return s.regions.hold; }, controllable),
       choice(
           {"region-missing", "Region missing", "What the effect covers on a frame without a region"},
           "GstVideoConvolveRegionMissing", missing, [](auto& s) -> auto& { return s.regions.missing_everything; },
           controllable)});
}

// The rows of the properties that say what is done to regions.
void append_effect_rows(std::vector<Property>& rows) {
  using namespace property;
  rows.insert(
      rows.end(),
      {integer(
           {"region-feather", "Region feather", "Pixels over which the effect fades, outside of what it covers"},
           {0, 256}, [](auto& s) -> auto& { return s.regions.feather; }, controllable),
       choice(
           {"region-effect", "Region effect", "What is done to the regions"}, "GstVideoConvolveRegionEffect", effects,
           [](auto& s) -> auto& { return s.regions.effect; }, controllable),
       integer(
           {"region-cells", "Region cells", "Cells along the longer side of a region, for blur and pixelate"}, {1, 64},
           [](auto& s) -> auto& { return s.regions.cells; }, controllable),
       natural(
           {"region-color", "Region color", "Colour of fill, as ARGB (A is ignored)"}, {0, G_MAXUINT},
           [](auto& s) -> auto& { return s.regions.color; }, controllable)});
}

}  // namespace

const char* nick(RegionEffect effect) {
  return std::ranges::find(effects, effect, &EnumRow<RegionEffect>::value)->nick;
}

void append_region_rows(std::vector<Property>& rows) {
  append_place_rows(rows);
  append_effect_rows(rows);
}

}  // namespace convolve
