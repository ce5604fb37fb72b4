// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ElementError: a fault on its way to the one exception guard (guarded() in instance.hpp), which posts it on the bus.
#pragma once

#include <gst/gst.h>

#include <stdexcept>
#include <string>

namespace convolve {

struct ElementError : std::runtime_error {
  ElementError(GQuark error_domain, gint error_code, const std::string& text)
      : std::runtime_error(text), domain(error_domain), code(error_code) {}
  ElementError(GstResourceError error_code, const std::string& text)
      : ElementError(GST_RESOURCE_ERROR, error_code, text) {}
  ElementError(GstStreamError error_code, const std::string& text) : ElementError(GST_STREAM_ERROR, error_code, text) {}
  GQuark domain;
  gint code;
};

/// A GPU that faulted or was lost: nothing more is to be asked of it.
struct DeviceError : ElementError {
  explicit DeviceError(const std::string& text) : ElementError(GST_RESOURCE_ERROR_FAILED, text) {}
};

}  // namespace convolve
