// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Crop: where the picture that the caps describe lies in the larger frame that a buffer holds, and what is told anew
// once a buffer holds the picture alone. Coordinates are in pixels of the frame, rows in rows of one of its planes.
#pragma once

#include <gst/video/video.h>

#include <cstddef>
#include <cstdint>

#include "frame.hpp"

namespace convolve {

/// The top left corner of the picture in the frame that a buffer holds, in pixels.
struct Corner {
  int x = 0, y = 0;
};

/// True where the frame's crop meta says which part of a larger frame the caps describe: that part is what FrameMap
/// maps. False for a crop within the frame that the caps describe, which is left to those downstream.
bool crops_to_caps(const GstVideoCropMeta& crop, const GstVideoInfo& info);

/// The top left corner of the picture that the caps describe: (0, 0), or what a crop meta says. FrameMap checks that
/// the frame holds it.
Corner corner_of_picture(GstBuffer* buffer, const GstVideoInfo& info);

struct FrameSize {
  guint width = 1, height = 1;
  bool operator==(const FrameSize&) const = default;
};

/// The size of the frame that a buffer holds: the picture's, or where a crop meta makes part of the frame the picture,
/// what the video meta says of the whole.
FrameSize size_of_frame(GstBuffer* buffer, const GstVideoInfo& info);

/// The corner of the picture in a frame whose size `meta` tells, or the caps where that is null. Throws ElementError
/// where the frame does not hold the whole picture.
Corner checked_corner(GstBuffer* buffer, const GstVideoMeta* meta, const GstVideoInfo& info);

/// Where a picture's rows lie in the planes of a frame of `height` pixels, which a meta may say to be any number.
struct PictureInFrame {
  Corner corner;
  guint height;
  const FrameMap::Format& format;

  /// Rows of the frame's plane.
  int frame_rows(int plane) const;
  /// Which row of the frame's plane is row `y` of the picture's. Rows of subsampled chroma take turns between the
  /// fields as rows of luma do, and a crop from an odd row on makes the bottom field the top one. Where a field ends,
  /// its last row stands in, and for a field without a row the other one's.
  std::int64_t row(int plane, int y) const;
  /// Whether the picture's rows follow each other in the frame's plane, so that they can be seen where they lie. Else
  /// the fields' rows of chroma have changed places.
  bool rows_are_in_order(int plane) const;
  /// Bytes from a plane's start to the sample in it from which its rows are counted: the corner's, or that above it in
  /// the frame's first row, where they are not in order.
  std::ptrdiff_t bytes_to(int plane, std::ptrdiff_t stride) const;
};

/// Lets a buffer's video meta describe the picture alone: its planes begin at the corner. False where no meta can, as
/// there is none, it maps in a way of its own, or the picture's rows are not in order. Throws ElementError where the
/// frame does not hold the picture.
bool move_to_picture(GstBuffer* buffer, const FrameMap::Format& format);

/// Regions of interest, and what analysis elements found, count from the frame's corner, whatever a crop meta makes of
/// the frame. Counts those of `buffer`, which holds the picture alone, from the picture's corner, their sizes as they
/// were: effects follow a region's own size and corner, also where part of it lies outside.
void move_regions(GstBuffer* buffer, Corner corner);

/// A crop from an odd row on makes the bottom field the top one. Where the caps leave it to flags of `buffer`, which
/// holds the picture alone, to say which field comes first, these change with it.
void turn_field_order(GstBuffer* buffer, Corner corner, const FrameMap::Format& format);

}  // namespace convolve
