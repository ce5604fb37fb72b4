// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// RegionTracker: which regions a frame has, from the properties, from its metas, and from the frames before it.
// Single-threaded: owned by the streaming thread.
#pragma once

#include <gst/video/video.h>

#include <span>
#include <vector>

#include "convolve/region.hpp"
#include "crop.hpp"
#include "found_region.hpp"
#include "region_settings.hpp"

namespace convolve {

class RegionTracker {
 public:
  /// The regions of the next frame, grown and in whole pixels; none that is empty. To be called once for each frame, in
  /// the order of the stream. Metas count from the frame's corner, which is not the picture's where a crop meta makes
  /// part of the frame the picture, of which `info` tells. `reversed`: the stream runs backwards.
  std::span<const Region> update(GstBuffer* frame, const GstVideoInfo& info, const RegionSettings& settings,
                                 bool reversed);
  /// Lets go of what is held from frames before.
  void forget() { held_.clear(); }
  /// Holds from the next frame on what is held: its timestamp tells nothing of the time since the frames before.
  void hold_anew() { held_since_ = GST_CLOCK_TIME_NONE; }

 private:
  /// The frame's size, and where in it the picture lies.
  struct Place {
    FrameSize frame, picture;
    Corner corner;
  };
  void follow(const Place& now);
  void collect(GstBuffer* frame, const RegionSettings& settings);
  void collect_roi(GstBuffer* frame, const RegionSettings& settings);

  std::vector<FoundRegion> found_, held_;          ///< `held_` owns the masks that `regions_` point to
  GstClockTime held_since_ = GST_CLOCK_TIME_NONE;  ///< pts of the last frame that had them
  Place place_;                                    ///< of the last frame, which `held_` counts in
  std::vector<Region> regions_;
};

/// The treatment that the settings ask for, of frames of `info` with that layout.
RegionTreatment make_treatment(const RegionSettings& settings, const GstVideoInfo& info, const FrameLayout& layout);

}  // namespace convolve
