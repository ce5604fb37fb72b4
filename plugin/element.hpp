// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element videoconvolve: a GstBaseTransform whose vfuncs hand on to Stream; its class and its type.
#pragma once

#include <gst/gst.h>

GType gst_video_convolve_get_type();
