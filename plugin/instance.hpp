// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Element: what one instance of videoconvolve holds, its properties, and the backend that it opens. guarded() is the
// one place where exceptions become messages on the bus.
//
// Threads: properties are set and read by any thread; a backend is opened and closed while the streaming thread does
// not run.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "element_error.hpp"
#include "gpu.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "stream.hpp"

namespace convolve {

struct Element;
/// Publishes the recipe of what GstControllers have set, as a whole: one by one their values may be illegal.
void settle_controlled(Element& self);

struct Element {
  explicit Element(GstBaseTransform* trans) : stream(trans, *gpu, mutex, [this] { settle_controlled(*this); }) {}

  std::mutex mutex;     ///< of what is set and published; held for copies only. Not GObject's lock, which sanitizers
                        ///< do not see
  Settings settings;    ///< under the mutex, as are the next three
  guint64 changes = 0;  ///< how often settings changed
  bool open = false;    ///< from READY on: the published recipe is good, and stays when a change is not
  bool has_controlled = false;  ///< GstControllers changed settings, and no recipe was made of them yet
  const std::unique_ptr<Gpu> gpu = make_gpu();
  Stream stream;
  Settings opened_with;  ///< what the backend was opened with, where it is open
  /// Which error was posted since the start or the last flush. Frames are refused meanwhile; another setting may mend
  /// one of settings.
  enum class Failure { none, of_settings, fatal };
  std::atomic<Failure> failure = Failure::none;
  bool failed() const { return failure != Failure::none; }
  /// The GPU failed while frames flowed: its context is lost for good.
  std::atomic<bool> device_lost = false;
};

}  // namespace convolve

struct GstVideoConvolve {
  GstBaseTransform parent;
  convolve::Element* self;
};

namespace convolve {

template <class Instance>
Element& element_of(Instance* instance) {
  return *reinterpret_cast<GstVideoConvolve*>(instance)->self;
}

/// Runs `body`. What it throws first becomes one error on the bus, and `failure` the result.
template <class Body, class Result = std::invoke_result_t<Body>>
Result guarded(gpointer instance, Result failure, Body&& body) noexcept {
  using Failure = Element::Failure;
  const auto fail = [&](Failure kind, GQuark domain, gint code, const std::string& text) {
    Failure none = Failure::none;
    if (element_of(GST_ELEMENT(instance)).failure.compare_exchange_strong(none, kind))
      report(GST_ELEMENT(instance), GST_MESSAGE_ERROR, domain, code, text);
    return failure;
  };
  try {
    return body();
  } catch (const DeviceError& error) {
    element_of(GST_ELEMENT(instance)).device_lost = true;
    return fail(Failure::fatal, error.domain, error.code, error.what());
  } catch (const ElementError& error) {
    return fail(Failure::fatal, error.domain, error.code, error.what());
  } catch (const PlanError& error) {
    return fail(Failure::of_settings, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(Failure::of_settings, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, error.what());
  } catch (const std::bad_alloc&) {
    return fail(Failure::fatal, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "out of memory");
  } catch (const std::exception& error) {
    return fail(Failure::fatal, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, error.what());
  }
}

/// Vfuncs of GObject.
void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec);
void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec);

/// Opens the backend that the settings ask for. Throws ElementError where it cannot run.
void open_backend(GstElement* element);
/// Makes the first recipe and opens the backend: NULL to READY. Throws what is wrong with the settings or the backend.
void open(GstElement* element);
/// Drops all frames and the backend.
void close(GstElement* element);

}  // namespace convolve
