// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RegionSettings: the properties region* as one value, with their names, ranges, defaults and blurbs. Part of Settings.
#pragma once

#include <gst/gst.h>

#include <array>
#include <string>
#include <vector>

#include "convolve/region.hpp"
#include "kernel_value.hpp"

namespace convolve {

enum class RegionMode { off, inside, outside };

/// The bits of `region-sources`.
enum RegionSources : unsigned {
  region_source_boxes = 1,
  region_source_roi = 2,
};

struct RegionSettings {
  RegionMode mode = RegionMode::off;
  unsigned sources = region_source_boxes | region_source_roi;
  ArrayValue boxes_value;                    ///< as it was set
  std::vector<std::array<double, 4>> boxes;  ///< x, y, width, height
  std::string boxes_fault;                   ///< why the value cannot be parsed
  std::string types;
  double min_confidence = 0;
  RegionShape shape = RegionShape::rectangle;
  double grow = 0;
  int feather = 0;
  RegionEffect effect = RegionEffect::filter;
  int cells = 6;
  guint color = 0xff000000;
  guint64 hold = 0;
  bool missing_everything = false;

  bool operator==(const RegionSettings&) const = default;
  bool active() const { return mode != RegionMode::off; }
  /// True where the effect takes the filter's place.
  bool hides() const { return active() && effect != RegionEffect::filter; }
};

/// Beyond the ids of the table in settings.cpp.
enum RegionPropertyId : guint {
  prop_regions = 100,
  prop_region_sources,
  prop_region_boxes,
  prop_region_types,
  prop_region_min_confidence,
  prop_region_shape,
  prop_region_grow,
  prop_region_feather,
  prop_region_effect,
  prop_region_cells,
  prop_region_color,
  prop_region_hold,
  prop_region_missing,
};

void install_region_properties(GObjectClass* klass);

/// Stores one property; false for an id that is none of a region's. A value that cannot be parsed is kept with its
/// fault.
bool set_region_setting(RegionSettings& settings, guint id, const GValue* value);
bool get_region_setting(const RegionSettings& settings, guint id, GValue* value);

/// Name of an effect, as active-algorithm shows it.
const char* nick(RegionEffect effect);

}  // namespace convolve
