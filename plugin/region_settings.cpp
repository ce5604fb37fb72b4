// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "region_settings.hpp"

#include <iterator>
#include <stdexcept>

#include "kernel_value.hpp"

namespace convolve {
namespace {

const GEnumValue modes[] = {
    {static_cast<int>(RegionMode::off), "The whole frame is filtered", "off"},
    {static_cast<int>(RegionMode::inside), "The effect covers the regions", "inside"},
    {static_cast<int>(RegionMode::outside), "The effect covers all that is in none of the regions", "outside"},
    {0, nullptr, nullptr}};
const GEnumValue shapes[] = {{static_cast<int>(RegionShape::rectangle), "The whole box", "rectangle"},
                             {static_cast<int>(RegionShape::ellipse), "The ellipse that the box bounds", "ellipse"},
                             {0, nullptr, nullptr}};
const GEnumValue effects[] = {
    {static_cast<int>(RegionEffect::filter), "The element's own filter", "filter"},
    {static_cast<int>(RegionEffect::blur), "Hides: the means of cells, with smooth transitions", "blur"},
    {static_cast<int>(RegionEffect::pixelate), "Hides: the mean of each cell", "pixelate"},
    {static_cast<int>(RegionEffect::fill), "Hides: region-color", "fill"},
    {0, nullptr, nullptr}};
const GEnumValue missing[] = {{0, "The frame stays as it is", "nothing"},
                              {1, "The effect covers the whole frame", "everything"},
                              {0, nullptr, nullptr}};
const GFlagsValue sources[] = {{region_source_boxes, "The property region-boxes", "boxes"},
                               {region_source_roi, "GstVideoRegionOfInterestMeta of each frame", "roi"},
                               {0, nullptr, nullptr}};

constexpr auto plain = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto scalar = static_cast<GParamFlags>(plain | GST_PARAM_CONTROLLABLE);

GType enum_type(const char* name, const GEnumValue* values) {
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

double number_of(const GValue* value, const std::string& where) {
  GValue real = G_VALUE_INIT;
  g_value_init(&real, G_TYPE_DOUBLE);
  const bool good = (G_VALUE_HOLDS_DOUBLE(value) || G_VALUE_HOLDS_FLOAT(value) || G_VALUE_HOLDS_INT(value) ||
                     G_VALUE_HOLDS_UINT(value) || G_VALUE_HOLDS_INT64(value) || G_VALUE_HOLDS_UINT64(value)) &&
                    g_value_transform(value, &real);
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

}  // namespace

const char* nick(RegionEffect effect) {
  return effects[static_cast<int>(effect)].value_nick;
}

void install_region_properties(GObjectClass* klass) {
  const RegionSettings d;
  const auto install = [&](guint id, GParamSpec* spec) { g_object_class_install_property(klass, id, spec); };
  const auto choice = [&](guint id, const char* name, const char* label, const char* blurb, GType type, int value) {
    install(id, g_param_spec_enum(name, label, blurb, type, value, scalar));
  };
  choice(prop_regions, "regions", "Regions", "Where the effect applies: in regions of each frame, or outside of them",
         enum_type("GstVideoConvolveRegions", modes), static_cast<int>(d.mode));
  const GType flags = g_flags_register_static("GstVideoConvolveRegionSources", sources);
  gst_type_mark_as_plugin_api(flags, static_cast<GstPluginAPIFlags>(0));
  install(prop_region_sources, g_param_spec_flags("region-sources", "Region sources",
                                                  "Where regions come from (GstAnalyticsRelationMeta is not read)",
                                                  flags, d.sources, plain));
  install(prop_region_boxes,
          gst_param_spec_array("region-boxes", "Region boxes",
                               "Fixed regions of every frame, in pixels: <<x,y,width,height>,...>", nullptr, plain));
  install(prop_region_types,
          g_param_spec_string("region-types", "Region types",
                              "Patterns with * and ?, separated by ;, for the type of regions that come with frames "
                              "(empty = all)",
                              "", plain));
  install(prop_region_min_confidence,
          g_param_spec_double("region-min-confidence", "Region min confidence",
                              "Regions of a lower confidence are left out; those without one count as 1", 0, 1,
                              d.min_confidence, scalar));
  choice(prop_region_shape, "region-shape", "Region shape", "What of its box a region is",
         enum_type("GstVideoConvolveRegionShape", shapes), static_cast<int>(d.shape));
  install(prop_region_grow, g_param_spec_double("region-grow", "Region grow",
                                                "Added on each side of a region, as a fraction of its width and height",
                                                -0.5, 4, d.grow, scalar));
  install(prop_region_feather,
          g_param_spec_int("region-feather", "Region feather",
                           "Pixels over which the effect fades, outside of what it covers", 0, 256, d.feather, scalar));
  choice(prop_region_effect, "region-effect", "Region effect", "What is done to the regions",
         enum_type("GstVideoConvolveRegionEffect", effects), static_cast<int>(d.effect));
  install(prop_region_cells,
          g_param_spec_int("region-cells", "Region cells",
                           "Cells along the longer side of a region, for blur and pixelate", 1, 64, d.cells, scalar));
  install(prop_region_color, g_param_spec_uint("region-color", "Region color", "Colour of fill, as ARGB (A is ignored)",
                                               0, G_MAXUINT, d.color, scalar));
  install(prop_region_hold,
          g_param_spec_uint64("region-hold", "Region hold",
                              "How long regions go on after the last frame that came with them, in nanoseconds", 0,
                              G_MAXUINT64, d.hold, scalar));
  choice(prop_region_missing, "region-missing", "Region missing", "What the effect covers on a frame without a region",
         enum_type("GstVideoConvolveRegionMissing", missing), d.missing_everything);
}

bool set_region_setting(RegionSettings& s, guint id, const GValue* value) {
  switch (id) {
    case prop_regions:
      s.mode = static_cast<RegionMode>(g_value_get_enum(value));
      return true;
    case prop_region_sources:
      s.sources = g_value_get_flags(value);
      return true;
    case prop_region_boxes:
      s.boxes_value = {};
      s.boxes.clear();
      s.boxes_fault.clear();
      if (gst_value_array_get_size(value) == 0) return true;
      s.boxes_value = ArrayValue(value);
      try {
        s.boxes = parse_boxes(value);
      } catch (const std::invalid_argument& error) {
        s.boxes_fault = error.what();
      }
      return true;
    case prop_region_types: {
      const char* types = g_value_get_string(value);
      s.types = types ? types : "";
      return true;
    }
    case prop_region_min_confidence:
      s.min_confidence = g_value_get_double(value);
      return true;
    case prop_region_shape:
      s.shape = static_cast<RegionShape>(g_value_get_enum(value));
      return true;
    case prop_region_grow:
      s.grow = g_value_get_double(value);
      return true;
    case prop_region_feather:
      s.feather = g_value_get_int(value);
      return true;
    case prop_region_effect:
      s.effect = static_cast<RegionEffect>(g_value_get_enum(value));
      return true;
    case prop_region_cells:
      s.cells = g_value_get_int(value);
      return true;
    case prop_region_color:
      s.color = g_value_get_uint(value);
      return true;
    case prop_region_hold:
      s.hold = g_value_get_uint64(value);
      return true;
    case prop_region_missing:
      s.missing_everything = g_value_get_enum(value) != 0;
      return true;
    default:
      return false;
  }
}

bool get_region_setting(const RegionSettings& s, guint id, GValue* value) {
  switch (id) {
    case prop_regions:
      g_value_set_enum(value, static_cast<gint>(s.mode));
      return true;
    case prop_region_sources:
      g_value_set_flags(value, s.sources);
      return true;
    case prop_region_boxes:
      if (s.boxes_value) g_value_copy(s.boxes_value.get(), value);
      return true;
    case prop_region_types:
      g_value_set_string(value, s.types.c_str());
      return true;
    case prop_region_min_confidence:
      g_value_set_double(value, s.min_confidence);
      return true;
    case prop_region_shape:
      g_value_set_enum(value, static_cast<gint>(s.shape));
      return true;
    case prop_region_grow:
      g_value_set_double(value, s.grow);
      return true;
    case prop_region_feather:
      g_value_set_int(value, s.feather);
      return true;
    case prop_region_effect:
      g_value_set_enum(value, static_cast<gint>(s.effect));
      return true;
    case prop_region_cells:
      g_value_set_int(value, s.cells);
      return true;
    case prop_region_color:
      g_value_set_uint(value, s.color);
      return true;
    case prop_region_hold:
      g_value_set_uint64(value, s.hold);
      return true;
    case prop_region_missing:
      g_value_set_enum(value, s.missing_everything);
      return true;
    default:
      return false;
  }
}

}  // namespace convolve
