// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Default layout: how a buffer of system memory lies when its caps alone describe it. A downstream element that did
// not agree to GstVideoMeta understands no other; for one that did, a cropped picture need not be copied.
#pragma once

#include <gst/video/video.h>

#include "frame.hpp"

namespace convolve {

/// Whether planes, strides and offsets are those that follow from `info`.
bool has_default_layout(GstBuffer* buffer, const GstVideoInfo& info);

/// A copy of the frame in the default layout, with timestamps, flags and metas, but for those about memory. Where the
/// caps are those of what a crop meta leaves, that part is copied, without that meta. Transfer full; null where there
/// is no memory. Throws ElementError where the buffer does not hold what it says.
GstBuffer* copy_to_default_layout(GstBuffer* buffer, const FrameMap::Format& format);

/// The picture that a crop meta leaves of a frame, in a buffer of its own that shares the frame's memory: its video
/// meta begins at the crop's corner, and the crop meta is gone. Transfer full; null where no video meta can say that.
/// Throws ElementError where the frame does not hold the crop.
GstBuffer* view_of_picture(GstBuffer* buffer, const FrameMap::Format& format);

}  // namespace convolve
