// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the element tests share: registration of test cases by name, a GstHarness around one videoconvolve with its
// bus and a tape of what leaves its source pad, and small owners for GStreamer's references.
//
// The elements run on the CPU backend unless ELEMENT_TEST_BACKEND names another, so that one binary tests both.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <ios>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// Last, and without its macro `fail`, which would break the standard headers.
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#undef fail

namespace element_test {

// --- Registration ----------------------------------------------------------------------------------------------

/// Adds a test to this binary's suite; called before main, by ELEMENT_TEST.
bool add_test(const char* name, int rows, void (*entry)(int row));
/// Runs them all. CUDA has no life after a fork, so its tests say `fork = false`.
int run_tests(const char* suite, bool fork = true);
/// The same without forks, which CUDA does not survive; 77, with a word why, where there is no GPU.
int run_gpu_tests(const char* suite);

/// A test case whose body runs once for each `row` of 0..rows-1, each run reported with its row.
#define ELEMENT_TEST_ROWS(name, rows)                                                                            \
  static void name##_body(int row);                                                                              \
  static void name(int row) {                                                                                    \
    tcase_fn_start(#name, __FILE__, __LINE__);                                                                   \
    name##_body(row);                                                                                            \
  }                                                                                                              \
  [[maybe_unused]] static const bool name##_added = element_test::add_test(#name, static_cast<int>(rows), name); \
  static void name##_body(int row)
/// A test case without rows.
#define ELEMENT_TEST(name)                                                                  \
  static void name##_body();                                                                \
  static void name(int) {                                                                   \
    tcase_fn_start(#name, __FILE__, __LINE__);                                              \
    name##_body();                                                                          \
  }                                                                                         \
  [[maybe_unused]] static const bool name##_added = element_test::add_test(#name, 1, name); \
  static void name##_body()

/// Fails the test with a printf message where `condition` is false.
#define CHECK(condition, ...) ck_assert_msg((condition), __VA_ARGS__)

// --- Owners ----------------------------------------------------------------------------------------------------

struct Unref {
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstCaps* p) const { gst_caps_unref(p); }
  void operator()(GstEvent* p) const { gst_event_unref(p); }
  void operator()(GstMessage* p) const { gst_message_unref(p); }
  void operator()(GstQuery* p) const { gst_query_unref(p); }
  void operator()(GstElement* p) const { gst_object_unref(p); }
  void operator()(GstElementFactory* p) const { gst_object_unref(p); }
  void operator()(GstPad* p) const { gst_object_unref(p); }
  void operator()(GstBus* p) const { gst_object_unref(p); }
  void operator()(GstBufferPool* p) const { gst_object_unref(p); }
  void operator()(gchar* p) const { g_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Unref>;

// --- The bus ---------------------------------------------------------------------------------------------------

/// An ERROR or WARNING message, as the user reads it.
struct Report {
  GstMessageType type = GST_MESSAGE_UNKNOWN;
  GQuark domain = 0;
  int code = 0;
  std::string text, debug;
  bool is(GQuark d, int c) const { return domain == d && code == c; }
};

/// Takes every message off the bus and returns those of the types in `mask`; errors and warnings only are described.
std::vector<Report> take_reports(GstBus* bus, GstMessageType mask);

/// A bus of an element's own. Once this is gone the element is in NULL, and has no bus.
class ElementBus {
 public:
  explicit ElementBus(GstElement* element);
  ~ElementBus();
  ElementBus(const ElementBus&) = delete;
  ElementBus& operator=(const ElementBus&) = delete;

  GstBus* get() const { return bus_.get(); }
  /// Each takes every message off the bus. `reports` are errors and warnings.
  std::vector<Report> errors() { return take_reports(get(), GST_MESSAGE_ERROR); }
  std::vector<Report> warnings() { return take_reports(get(), GST_MESSAGE_WARNING); }
  std::vector<Report> reports() {
    return take_reports(get(), static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  }

 private:
  GstElement* element_;  // borrowed
  Owned<GstBus> bus_;
};

// --- The tape --------------------------------------------------------------------------------------------------

/// One thing that passed a pad: exactly one of the two is set.
struct Item {
  Owned<GstBuffer> buffer;
  Owned<GstEvent> event;
};

/// Everything that passed a pad downstream, in order.
class Tape {
 public:
  explicit Tape(GstPad* pad);
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Items so far in the form "stream-start caps segment 0 40 gap 80 eos": buffers as their pts in milliseconds.
  std::string text() const;
  std::vector<GstBuffer*> buffers() const;  ///< borrowed from the tape
  std::size_t buffer_count() const { return buffers().size(); }
  void clear();

 private:
  static GstPadProbeReturn probe(GstPad*, GstPadProbeInfo* info, gpointer self);
  Owned<GstPad> pad_;
  gulong id_ = 0;
  mutable std::mutex mutex_;
  std::vector<Item> items_;
};

// --- The element -----------------------------------------------------------------------------------------------

/// "cpu", or ELEMENT_TEST_BACKEND.
const char* test_backend();
/// A videoconvolve on test_backend() with these properties, in NULL. A sequence such as "preset=sharpen bias=0.5".
Owned<GstElement> make_element(const std::string& properties = "");
/// Gives an element the process's context of the GPU, where there is one. It lets go of it in NULL.
void share_context(GstElement* element);
/// A whole pipeline or bin from a launch line, with ${convolve} standing for videoconvolve on test_backend().
Owned<GstElement> parse(std::string launch);

/// Plays a pipeline until a message of this type or an error comes; false where another came, or none in `seconds`.
bool plays_to(GstElement* pipeline, GstMessageType type = GST_MESSAGE_EOS, int seconds = 30);

/// A chain of elements as one, with ghost pads "sink" and "src".
Owned<GstElement> parse_chain(std::string launch);

/// One videoconvolve, or a chain of elements, in PLAYING between a harness's pads.
class Harness {
 public:
  explicit Harness(Owned<GstElement> element);
  /// `caps` go in; "" leaves them to the test.
  explicit Harness(const std::string& properties = "", const std::string& caps = "");
  explicit Harness(const std::string& properties, const GstVideoInfo& info);
  ~Harness();
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  GstHarness* get() const { return harness_; }
  GstElement* element() const { return element_.get(); }
  GstBus* bus() const { return bus_.get(); }
  Tape& tape() { return *tape_; }

  void set(const char* property, const char* value);  ///< as gst-launch would
  std::string string(const char* property) const;     ///< of a string property
  void set_caps(const GstVideoInfo& info);
  GstFlowReturn push(GstBuffer* buffer) { return gst_harness_push(harness_, buffer); }
  bool push_event(GstEvent* event) { return gst_harness_push_event(harness_, event); }
  Owned<GstBuffer> try_pull() { return Owned<GstBuffer>(gst_harness_try_pull(harness_)); }
  /// A new TIME segment from 0.
  void push_segment(double rate = 1.0, GstClockTime stop = GST_CLOCK_TIME_NONE);
  void flush();  ///< FLUSH_START, FLUSH_STOP and a new segment

  std::vector<Report> errors() { return bus_.errors(); }
  std::vector<Report> warnings() { return bus_.warnings(); }
  std::vector<Report> reports() { return bus_.reports(); }

 private:
  Owned<GstElement> element_;
  ElementBus bus_;
  GstHarness* harness_ = nullptr;
  std::unique_ptr<Tape> tape_;
};

/// A text file in the temporary folder, gone with its owner.
class TextFile {
 public:
  explicit TextFile(const std::string& text);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// True where the GPU's transfer elements can run: nvcodec registers them only with a driver.
bool have_gpu();

}  // namespace element_test
