// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fields.hpp"

namespace element_test {

GstVideoInfo interlaced_info(const char* format, int width, int height, GstVideoInterlaceMode mode) {
  GstVideoInfo info;
  CHECK(gst_video_info_set_interlaced_format(&info, gst_video_format_from_string(format), mode, width, height),
        "no such frame");
  GST_VIDEO_INFO_FPS_N(&info) = 25;
  GST_VIDEO_INFO_FPS_D(&info) = 1;
  return info;
}

namespace {

// The rows of one field.
Frame field_of(const Frame& frame, int parity) {
  Frame field;
  for (const oracle::Plane& plane : frame.component) {
    oracle::Plane rows{plane.width, (plane.height + 1 - parity) / 2, {}};
    for (int y = parity; y < plane.height; y += 2)
      rows.samples.insert(rows.samples.end(), plane.samples.begin() + static_cast<std::ptrdiff_t>(y) * plane.width,
                          plane.samples.begin() + static_cast<std::ptrdiff_t>(y + 1) * plane.width);
    field.component.push_back(std::move(rows));
  }
  return field;
}

Frame woven(const Frame& top, const Frame& bottom) {
  Frame frame;
  for (std::size_t c = 0; c < top.component.size(); ++c) {
    const oracle::Plane* fields[] = {&top.component[c], &bottom.component[c]};
    oracle::Plane plane{fields[0]->width, fields[0]->height + fields[1]->height, {}};
    for (int y = 0; y < plane.height; ++y) {
      const auto row = fields[y % 2]->samples.begin() + static_cast<std::ptrdiff_t>(y / 2) * plane.width;
      plane.samples.insert(plane.samples.end(), row, row + plane.width);
    }
    frame.component.push_back(std::move(plane));
  }
  return frame;
}

}  // namespace

std::vector<Frame> expected_of_fields(const Filtering& f, const std::vector<Frame>& frames, const GstVideoInfo& info) {
  std::vector<Frame> fields[2], out;
  for (const Frame& frame : frames)
    for (int parity = 0; parity < 2; ++parity) fields[parity].push_back(field_of(frame, parity));
  const std::vector<Frame> top = expected(f, fields[0], info), bottom = expected(f, fields[1], info);
  for (std::size_t t = 0; t < frames.size(); ++t) out.push_back(woven(top[t], bottom[t]));
  return out;
}

}  // namespace element_test
