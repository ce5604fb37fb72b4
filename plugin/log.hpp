// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plugin's debug category: GST_DEBUG=videoconvolve:4 shows one line a plan.
#pragma once

#include <gst/gst.h>

extern GstDebugCategory* video_convolve_debug;
#ifdef GST_CAT_DEFAULT
#undef GST_CAT_DEFAULT
#endif
#define GST_CAT_DEFAULT video_convolve_debug
