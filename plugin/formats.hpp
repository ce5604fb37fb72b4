// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Formats: which GStreamer video formats the element takes, and how a GstVideoInfo becomes the core's FrameLayout.
// A new format is one row of the table in formats.cpp. Sizes and steps count samples, levels are code values.
#pragma once

#include <gst/video/video.h>

#include <span>

#include "convolve/plane.hpp"

namespace convolve {

/// Pixels of a frame's longer side. The header of a broken file may claim any number up to 2^31, for which plans would
/// take all memory before the first frame comes.
inline constexpr int max_side = 1 << 20;

/// The bits of the `components` property.
enum ComponentFlags : unsigned {
  component_luma = 1,
  component_chroma = 2,
  component_red = 4,
  component_green = 8,
  component_blue = 16,
  component_alpha = 32,
};

/// A bias has two parts, which are added.
struct BiasSum {
  double fraction = 0;  ///< of the nominal range
  double codes = 0;     ///< in code values of the whole range
  bool operator==(const BiasSum&) const = default;
};

/// The part of the settings that goes into a layout: which components are filtered, and their levels.
struct Levels {
  unsigned components = 0;  ///< ComponentFlags that are filtered; the others are copied
  BiasSum bias;
  double ghost = 0;   ///< border-value, fraction of the nominal range
  bool code = false;  ///< every component has the range of its code values, from 0, and the bias
};

/// One image of frames of `info`: planes, depths and levels as convolve/arithmetic.hpp lays down. `height` is
/// that of the image: the frame's own, or that of one of its fields.
FrameLayout make_layout(const GstVideoInfo& info, int height, const Levels& levels);

/// Samples from the start of a row of its plane to the first one of GStreamer's component `c`.
int component_offset(const GstVideoFormatInfo* finfo, unsigned c);

/// Unused low bits of each sample, of all components alike.
int sample_shift(const GstVideoFormatInfo* finfo);

/// The template caps of both pads: every format of the table in system memory, and those that are among `cuda_formats`
/// in CUDA memory. Transfer full.
GstCaps* make_template_caps(std::span<const GstVideoFormat> cuda_formats);

/// Why frames of these caps are not served though their format is, fit for the user; null where they are.
const char* why_unserved(const GstVideoInfo& info);
/// Why fixed caps are not served; null also where they are no video.
const char* why_unserved(const GstCaps* caps);
/// Takes out of caps what why_unserved() refuses. Transfer full, both ways.
GstCaps* served_part(GstCaps* caps);
/// Moves caps of CUDA memory behind those of system memory. Transfer full, both ways.
GstCaps* system_memory_first(GstCaps* caps);

}  // namespace convolve
