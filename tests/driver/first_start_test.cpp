// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Elements of a process that start at once, on threads of their own, before any has loaded the driver. A process loads
// it once, so this is a program of its own.
#include <dlfcn.h>
#include <gmodule.h>
#include <gst/gst.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

// In the place of GLib's, for the libraries too. GStreamer's loader looks up each of some forty functions of the driver
// by it, and here takes so long for each that threads that start a little apart meet amid its work.
extern "C" __attribute__((visibility("default"))) gboolean g_module_symbol(GModule* module, const gchar* name,
                                                                           gpointer* symbol) {
  using Function = gboolean (*)(GModule*, const gchar*, gpointer*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "g_module_symbol"));
  *symbol = nullptr;
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  return original(module, name, symbol);
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  std::array<GstElement*, 8> elements{};
  for (GstElement*& element : elements) {
    element = gst_element_factory_make("videoconvolve", nullptr);
    if (!element) return 1;
    gst_util_set_object_arg(G_OBJECT(element), "backend", "cuda");
  }
  std::array<std::thread, 8> threads;
  std::atomic<unsigned> failed{0};
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] {
      std::this_thread::sleep_for(std::chrono::milliseconds(i));
      failed += gst_element_set_state(elements[i], GST_STATE_READY) != GST_STATE_CHANGE_SUCCESS;
    });
  for (std::thread& thread : threads) thread.join();
  for (GstElement* element : elements) {
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(element);
  }
  std::printf("%zu elements, %u did not start\n", elements.size(), failed.load());
  return failed == 0 ? 0 : 1;
}
