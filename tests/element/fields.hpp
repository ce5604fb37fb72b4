// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Interlaced frames as the tests see them: field 0 has the even rows of each component, field 1 the odd ones.
#pragma once

#include <vector>

#include "expected.hpp"

namespace element_test {

GstVideoInfo interlaced_info(const char* format, int width, int height,
                             GstVideoInterlaceMode mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED);

/// What the element gives for a stream of interlaced frames.
std::vector<Frame> expected_of_fields(const Filtering& f, const std::vector<Frame>& frames, const GstVideoInfo& info);

}  // namespace element_test
