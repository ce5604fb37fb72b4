// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report.hpp"

#include "log.hpp"
#include "text/printable.hpp"

namespace convolve {

void report(GstElement* element, GstMessageType type, GQuark domain, gint code, const std::string& text) {
  // Bytes of files and paths may be in the text, but what a GError holds is UTF-8: bindings of other languages rely on
  // it.
  const std::string shown = printable(text);
  if (type == GST_MESSAGE_ERROR)
    GST_ERROR_OBJECT(element, "%s", shown.c_str());
  else
    GST_WARNING_OBJECT(element, "%s", shown.c_str());
  gst_element_message_full(element, type, domain, code, g_strdup(shown.c_str()), nullptr, __FILE__, "videoconvolve",
                           __LINE__);
}

void warn_of_settings(GstElement* element, const std::string& text) {
  report(element, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
}

}  // namespace convolve
