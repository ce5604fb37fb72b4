// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What analysis elements found in a frame, as GstAnalyticsRelationMeta holds it: object detections (GStreamer >= 1.24)
// and segmentation masks (>= 1.26). Left out of a build whose GStreamer has no analytics library.
#pragma once

#include <gst/gst.h>

#include <functional>

#include "found_region.hpp"

namespace convolve {

/// Whether a region of this type or class is asked for. `type` may be null: it has none.
using TypeFilter = std::function<bool(const char* type)>;

/// Calls `found` with each detection of the frame of at least that confidence, and of a type that is asked for. A
/// rotated one is a mask: its rectangle within the box that bounds it.
void find_detections(GstBuffer* frame, double min_confidence, double grow, const TypeFilter& asked,
                     const std::function<void(FoundRegion)>& found);

/// Calls `found` with each segmentation mask of the frame: the pixels of the regions that it lists, of those whose
/// class is asked for. A region's class is that of the same index in a classification that the mask is related to.
/// Masks carry no confidence, and count as 1.
void find_segmentations(GstBuffer* frame, const TypeFilter& asked, const std::function<void(FoundRegion)>& found);

/// Detections and masks count from the frame's corner, whatever a crop meta makes of the frame. Counts those of
/// `buffer`, which holds the picture alone, from the picture's corner, (x, y) in the frame; their sizes stay.
void move_found(GstBuffer* buffer, int x, int y);

}  // namespace convolve
