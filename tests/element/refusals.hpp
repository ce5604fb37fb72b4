// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements that are not to start, and the messages in which they have to say why.
#pragma once

#include "expected.hpp"

namespace element_test {

inline std::string lower(std::string text) {
  for (char& c : text) c = g_ascii_tolower(c);
  return text;
}

// One message, RESOURCE/SETTINGS, that holds each of the words, in lower case.
inline void check_report(const std::vector<Report>& reports, const std::string& name,
                         const std::vector<const char*>& words) {
  CHECK(reports.size() == 1, "%s: expected one message, found %zu", name.c_str(), reports.size());
  const Report& report = reports[0];
  CHECK(report.is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS),
        "%s: domain %s, code %d instead of RESOURCE/SETTINGS", name.c_str(), g_quark_to_string(report.domain),
        report.code);
  for (const char* word : words)
    CHECK(lower(report.text).find(word) != std::string::npos, "%s: the message does not name \"%s\": %s (%s)",
          name.c_str(), word, report.text.c_str(), report.debug.c_str());
}

// Sets an element to READY, back to NULL, and returns its errors.
inline std::vector<Report> start_and_fail(GstElement* element, const std::string& name) {
  ElementBus bus(element);
  const GstStateChangeReturn change = gst_element_set_state(element, GST_STATE_READY);
  CHECK(change == GST_STATE_CHANGE_FAILURE, "%s: the element reaches READY", name.c_str());
  return bus.errors();
}

}  // namespace element_test
