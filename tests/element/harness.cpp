// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harness.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace element_test {
namespace {

struct Case {
  const char* name;
  int rows;
  void (*entry)(int);
};

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

constexpr double seconds_per_case = 60;

// A context of the GPU takes a fifth of a second to make and let go of, and seconds where several processes do so at
// once, so all elements of a process are given one. It is there from the first test on.
GstContext* cuda_context = nullptr;

void make_cuda_context() {
  const Owned<GstElement> element(gst_element_factory_make("videoconvolve", nullptr));
  if (!element) return;
  gst_object_ref_sink(element.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "cuda");
  gst_element_set_state(element.get(), GST_STATE_READY);
  cuda_context = gst_element_get_context(element.get(), "gst.cuda.context");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

// ELEMENT_TEST_SHARE=K/N: every N-th of the tests alone, from the K-th on, counted from 0. Ends the program where the
// text is none.
struct Share {
  std::size_t first = 0, step = 1;
};
Share share_of_tests() {
  Share share;
  const char* text = g_getenv("ELEMENT_TEST_SHARE");
  if (text && (std::sscanf(text, "%zu/%zu", &share.first, &share.step) != 2 || share.first >= share.step)) {
    std::fprintf(stderr, "ELEMENT_TEST_SHARE=%s is no K/N with K from 0 to N - 1\n", text);
    std::exit(2);
  }
  return share;
}

int run_cases(const char* suite_name, bool fork, bool on_gpu);

void fill_in(std::string& launch) {
  const std::string mark = "${convolve}";
  for (std::size_t at = 0; (at = launch.find(mark, at)) != std::string::npos;)
    launch.replace(at, mark.size(), std::string("videoconvolve backend=") + test_backend());
}

}  // namespace

bool add_test(const char* name, int rows, void (*entry)(int)) {
  cases().push_back({name, rows, entry});
  return true;
}

int run_tests(const char* suite_name, bool fork) {
  return run_cases(suite_name, fork, g_str_equal(test_backend(), "cuda"));
}

namespace {

int run_cases(const char* suite_name, bool fork, bool on_gpu) {
  static char program[] = "element-test";
  static char* arguments[] = {program, nullptr};
  int count = 1;
  char** values = arguments;
  gst_check_init(&count, &values);
  Suite* suite = suite_create(suite_name);
  const Share share = share_of_tests();
  for (std::size_t i = share.first; i < cases().size(); i += share.step) {
    const Case& test = cases()[i];
    TCase* tcase = tcase_create(test.name);
    tcase_set_timeout(tcase, seconds_per_case);
    tcase_add_loop_test(tcase, test.entry, 0, test.rows);
    suite_add_tcase(suite, tcase);
  }
  if (!fork) g_setenv("CK_FORK", "no", TRUE);
  const bool forks = g_strcmp0(g_getenv("CK_FORK"), "no") != 0;  // which CUDA does not survive
  if (!forks && on_gpu && have_gpu()) make_cuda_context();
  const int failures = gst_check_run_suite(suite, suite_name, __FILE__);
  if (cuda_context) gst_context_unref(std::exchange(cuda_context, nullptr));
  return failures;
}

}  // namespace

int run_gpu_tests(const char* suite) {
  gst_init(nullptr, nullptr);
  if (!have_gpu()) {
    std::puts("SKIP: no GPU with GStreamer's cudaupload and cudadownload: tests in CUDA memory do not run");
    return 77;
  }
  return run_cases(suite, false, true);
}

ElementBus::ElementBus(GstElement* element) : element_(element), bus_(gst_bus_new()) {
  gst_element_set_bus(element, bus_.get());
}

ElementBus::~ElementBus() {
  gst_element_set_state(element_, GST_STATE_NULL);
  gst_element_set_bus(element_, nullptr);
}

std::vector<Report> take_reports(GstBus* bus, GstMessageType mask) {
  std::vector<Report> reports;
  while (Owned<GstMessage> message{gst_bus_pop(bus)}) {
    const GstMessageType type = GST_MESSAGE_TYPE(message.get());
    if (!(type & mask)) continue;
    Report report;
    report.type = type;
    if (type == GST_MESSAGE_ERROR || type == GST_MESSAGE_WARNING) {
      GError* error = nullptr;
      gchar* debug = nullptr;
      (type == GST_MESSAGE_ERROR ? gst_message_parse_error : gst_message_parse_warning)(message.get(), &error, &debug);
      report.domain = error->domain;
      report.code = error->code;
      report.text = error->message;
      report.debug = debug ? debug : "";
      g_error_free(error);
      g_free(debug);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

Tape::Tape(GstPad* pad) : pad_(GST_PAD(gst_object_ref(pad))) {
  id_ = gst_pad_add_probe(
      pad, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH), probe,
      this, nullptr);
}

Tape::~Tape() {
  gst_pad_remove_probe(pad_.get(), id_);
}

GstPadProbeReturn Tape::probe(GstPad*, GstPadProbeInfo* info, gpointer self) {
  Tape& tape = *static_cast<Tape*>(self);
  const std::lock_guard lock(tape.mutex_);
  Item item;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    item.buffer.reset(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
  else if (info->type & (GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH))
    item.event.reset(gst_event_ref(GST_PAD_PROBE_INFO_EVENT(info)));
  else
    return GST_PAD_PROBE_OK;
  tape.items_.push_back(std::move(item));
  return GST_PAD_PROBE_OK;
}

std::string Tape::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Item& item : items_) {
    if (!text.empty()) text += ' ';
    if (item.event)
      text += GST_EVENT_TYPE_NAME(item.event.get());
    else if (GST_BUFFER_PTS_IS_VALID(item.buffer.get()))
      text += std::to_string(GST_BUFFER_PTS(item.buffer.get()) / GST_MSECOND);
    else
      text += '?';
  }
  return text;
}

std::vector<GstBuffer*> Tape::buffers() const {
  const std::lock_guard lock(mutex_);
  std::vector<GstBuffer*> found;
  for (const Item& item : items_)
    if (item.buffer) found.push_back(item.buffer.get());
  return found;
}

void Tape::clear() {
  const std::lock_guard lock(mutex_);
  items_.clear();
}

const char* test_backend() {
  const char* name = std::getenv("ELEMENT_TEST_BACKEND");
  return name && *name ? name : "cpu";
}

Owned<GstElement> make_element(const std::string& properties) {
  return parse("${convolve} " + properties);
}

void share_context(GstElement* element) {
  if (cuda_context) gst_element_set_context(element, cuda_context);
}

namespace {

Owned<GstElement> with_context(GstElement* element) {
  gst_object_ref_sink(element);
  share_context(element);
  return Owned<GstElement>(element);
}

}  // namespace

Owned<GstElement> parse(std::string launch) {
  fill_in(launch);
  GError* error = nullptr;
  GstElement* element = gst_parse_launch(launch.c_str(), &error);
  CHECK(element && !error, "cannot parse \"%s\": %s", launch.c_str(), error ? error->message : "?");
  return with_context(element);
}

bool plays_to(GstElement* pipeline, GstMessageType type, int seconds) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline));
  const Owned<GstMessage> end(gst_bus_timed_pop_filtered(bus.get(), seconds * GST_SECOND,
                                                         static_cast<GstMessageType>(type | GST_MESSAGE_ERROR)));
  return end && GST_MESSAGE_TYPE(end.get()) == type;
}

Owned<GstElement> parse_chain(std::string launch) {
  fill_in(launch);
  GError* error = nullptr;
  GstElement* element = gst_parse_bin_from_description(launch.c_str(), TRUE, &error);
  CHECK(element && !error, "cannot parse \"%s\": %s", launch.c_str(), error ? error->message : "?");
  return with_context(element);
}

Harness::Harness(Owned<GstElement> element) : element_(std::move(element)), bus_(element_.get()) {
  harness_ = gst_harness_new_with_element(element_.get(), "sink", "src");
  const Owned<GstPad> pad(gst_element_get_static_pad(element_.get(), "src"));
  tape_ = std::make_unique<Tape>(pad.get());
}

Harness::Harness(const std::string& properties, const std::string& caps) : Harness(make_element(properties)) {
  if (!caps.empty()) gst_harness_set_src_caps_str(harness_, caps.c_str());
}

Harness::Harness(const std::string& properties, const GstVideoInfo& info) : Harness(properties) {
  set_caps(info);
}

Harness::~Harness() {
  tape_.reset();
  gst_harness_teardown(harness_);
}

void Harness::set(const char* property, const char* value) {
  gst_util_set_object_arg(G_OBJECT(element_.get()), property, value);
}

std::string Harness::string(const char* property) const {
  gchar* value = nullptr;
  g_object_get(element_.get(), property, &value, nullptr);
  std::string text = value ? value : "";
  g_free(value);
  return text;
}

void Harness::set_caps(const GstVideoInfo& info) {
  gst_harness_set_src_caps(harness_, gst_video_info_to_caps(&info));
}

void Harness::push_segment(double rate, GstClockTime stop) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.stop = stop;
  push_event(gst_event_new_segment(&segment));
}

void Harness::flush() {
  push_event(gst_event_new_flush_start());
  push_event(gst_event_new_flush_stop(TRUE));
  push_segment();
}

TextFile::TextFile(const std::string& text) {
  gchar* path = nullptr;
  const int file = g_file_open_tmp("videoconvolve-XXXXXX.txt", &path, nullptr);
  CHECK(file >= 0 && close(file) == 0 &&
            g_file_set_contents(path, text.data(), static_cast<gssize>(text.size()), nullptr),
        "no temporary file");
  path_ = path;
  g_free(path);
}

TextFile::~TextFile() {
  std::remove(path_.c_str());
}

bool have_gpu() {
  const Owned<GstElementFactory> up(gst_element_factory_find("cudaupload"));
  return up != nullptr;
}

}  // namespace element_test
