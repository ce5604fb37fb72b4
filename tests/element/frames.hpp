// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Video frames as the oracle sees them: random ones, and buffers that hold them in any layout. Sample access goes
// through GStreamer's own format tables.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "../oracle.hpp"
#include "harness.hpp"

namespace element_test {

inline constexpr GstClockTime frame_duration = 40 * GST_MSECOND;  ///< the tests' streams have 25 frames a second

/// One frame: a dense array of code values for each of the format's components.
struct Frame {
  std::vector<oracle::Plane> component;
};

GstVideoInfo video_info(GstVideoFormat format, int width, int height, const char* colorimetry = nullptr);
/// The same by the format's name.
GstVideoInfo video_info(const char* format, int width, int height, const char* colorimetry = nullptr);

/// Every format that the element's template lists in system memory, in its order.
const std::vector<std::string>& formats();

/// A buffer of the format's default layout, every byte random but for the bits above a sample's value, which are 0.
/// `pts` counts frames.
Owned<GstBuffer> random_buffer(std::mt19937& random, const GstVideoInfo& info, int pts = 0);
Owned<GstBuffer> buffer_of(const GstVideoInfo& info, const std::vector<int>& samples, int pts = 0);  ///< one component
std::vector<Owned<GstBuffer>> random_stream(std::mt19937& random, const GstVideoInfo& info, int count);
/// Sets all samples of each component to one level.
void make_flat(GstBuffer* buffer, const GstVideoInfo& info, const std::vector<int>& levels);
/// Stamps pts, duration and offset as those of frame `index`.
void stamp(GstBuffer* buffer, int index);

/// How another buffer may hold the same frame.
struct Layout {
  const char* name;
  int stride_extra = 0;         ///< bytes beyond the row's own, no rounding
  int offset_extra = 0;         ///< bytes before and between planes
  bool memory_a_plane = false;  ///< each plane in a memory of its own
  bool bottom_up = false;       ///< negative strides
  bool read_only = false;       ///< read-only memory
  int split_at = 0;             ///< default layout, no GstVideoMeta, cut in two memories after this many bytes
};
/// The same frame laid out so, with a GstVideoMeta; padding bytes are random.
Owned<GstBuffer> relaid(std::mt19937& random, GstBuffer* buffer, const GstVideoInfo& info, const Layout& layout);

Frame frame_of(GstBuffer* buffer, const GstVideoInfo& info);
/// Row y of a frame's component as GStreamer's own function unpacks it, y in rows of luma: a second opinion on where
/// samples lie.
std::vector<int> unpacked(GstBuffer* buffer, const GstVideoInfo& info, int component, int y);
std::vector<Frame> frames_of(const std::vector<Owned<GstBuffer>>& buffers, const GstVideoInfo& info);

}  // namespace element_test
