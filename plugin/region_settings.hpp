// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RegionSettings: the values of the properties region*, and their defaults. Part of Settings. Their rows in the table
// of properties are in region_settings.cpp.
#pragma once

#include <gst/gst.h>

#include <array>
#include <string>
#include <vector>

#include "convolve/region.hpp"
#include "kernel_value.hpp"

namespace convolve {

enum class RegionMode { off, inside, outside };

/// The bits of `region-sources`. A build for a GStreamer that lacks a kind of meta has no bit for it.
enum RegionSources : unsigned {
  region_source_boxes = 1,
  region_source_roi = 2,
#ifdef CONVOLVE_HAVE_ANALYTICS
  region_source_detection = 4,
#endif
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
  region_source_segmentation = 8,
#endif
};

inline constexpr unsigned all_region_sources = region_source_boxes | region_source_roi
#ifdef CONVOLVE_HAVE_ANALYTICS
                                               | region_source_detection
#endif
#ifdef CONVOLVE_HAVE_ANALYTICS_1_26
                                               | region_source_segmentation
#endif
    ;

struct RegionSettings {
  RegionMode mode = RegionMode::off;
  unsigned sources = all_region_sources;
  ArrayValue boxes_value;                    ///< as it was set
  std::vector<std::array<double, 4>> boxes;  ///< x, y, width, height, in pixels of the picture
  std::string boxes_fault;                   ///< why the value cannot be parsed
  std::string types;                         ///< glob patterns, with `;` between them; empty: all types
  double min_confidence = 0;                 ///< from 0 to 1
  RegionShape shape = RegionShape::rectangle;
  double grow = 0;  ///< on each side, as a fraction of width and height
  int feather = 0;  ///< pixels
  RegionEffect effect = RegionEffect::filter;
  int cells = 6;                    ///< along the longer side
  guint color = 0xff000000;         ///< ARGB; the alpha is ignored
  guint64 hold = 0;                 ///< nanoseconds
  bool missing_everything = false;  ///< the property region-missing

  bool operator==(const RegionSettings&) const = default;
  bool active() const { return mode != RegionMode::off; }
  /// True where the effect takes the filter's place.
  bool hides() const { return active() && effect != RegionEffect::filter; }
};

/// Name of an effect, as active-algorithm shows it.
const char* nick(RegionEffect effect);

}  // namespace convolve
