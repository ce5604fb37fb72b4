// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Report: an error or a warning for the user, on the bus and in the debug log alike. Any thread; no lock is held.
#pragma once

#include <gst/gst.h>

#include <string>

namespace convolve {

/// `type` is GST_MESSAGE_ERROR or GST_MESSAGE_WARNING.
void report(GstElement* element, GstMessageType type, GQuark domain, gint code, const std::string& text);

/// A warning about settings: RESOURCE/SETTINGS.
void warn_of_settings(GstElement* element, const std::string& text);

}  // namespace convolve
