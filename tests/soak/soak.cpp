// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Long runs: small frames through one pipeline as fast as it goes, then cycles of one pipeline between NULL and
// PLAYING. Memory is read after the first thousand of each and along the way; it has to be the same, to a page.
//
//   soak FRAMES CYCLES [ELEMENT, default videoconvolve]
//
// Another element, such as identity, shows what GStreamer itself keeps.
//
// run.sh sets malloc so that these numbers do not depend on which thread freed what. Two measures, both of the whole
// process, GStreamer included:
// - bytes that malloc has given out and not got back, over all its arenas (mallinfo2). A leak of any object shows here.
// - the resident set (/proc/self/statm), which also sees memory that malloc does not, such as mapped files and stacks.
//   It rises once where a page is touched for the first time, so its whole course is printed.
// Exits with 1 where either has grown by more than a page between the first thousand and the end.
#include <gst/gst.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr long warm_up = 1000;  // frames or cycles before the first reading that counts

struct Reading {
  long in_use = 0, resident = 0;  // bytes
};

Reading read_memory() {
  Reading reading;
  reading.in_use = static_cast<long>(mallinfo2().uordblks);
  long pages = 0, total = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  reading.resident = pages * sysconf(_SC_PAGESIZE);
  return reading;
}

// The readings of one run: a line for the first thousand, for each further tenth, and for the end.
class Course {
 public:
  Course(const char* what, long count) : what_(what), count_(count), step_(std::max(count / 10, warm_up)) {
    std::printf("\n| %s | malloc in use, bytes | resident, KiB |\n|---:|---:|---:|\n", what);
  }
  /// After the n-th, from 1 on.
  void passed(long n) {
    if (n != warm_up && n % step_ != 0 && n != count_) return;
    last_ = read_memory();
    if (n == warm_up) first_ = last_;
    std::printf("| %ld | %ld | %ld |\n", n, last_.in_use, last_.resident / 1024);
    std::fflush(stdout);
    reached_ = n;
  }
  bool flat() const {
    const long page = sysconf(_SC_PAGESIZE);
    const long in_use = last_.in_use - first_.in_use, resident = last_.resident - first_.resident;
    const bool good = reached_ == count_ && in_use <= page && resident <= page;
    std::printf("\n%s: %ld of %ld; malloc in use %+ld bytes, resident %+ld KiB since the first %ld: %s\n", what_,
                reached_, count_, in_use, resident / 1024, warm_up, good ? "flat" : "FAILED");
    return good;
  }

 private:
  const char* what_;
  long count_, step_, reached_ = 0;
  Reading first_, last_;
};

GstElement* parse(const std::string& line) {
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(line.c_str(), &error);
  if (error == nullptr) return pipeline;
  std::printf("FAILED: %s\n", error->message);
  std::exit(1);
}

// Until the stream ends; false with the message where it fails.
bool play_to_its_end(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                                   static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool good = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  if (!good) {
    GError* error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    std::printf("FAILED: %s\n", error->message);
    g_error_free(error);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
  return good;
}

const char* const source =
    "videotestsrc pattern=ball num-buffers=%ld ! video/x-raw,format=I420,width=32,height=24,framerate=30/1";
std::string element = "videoconvolve backend=cpu n-threads=1 preset=temporal-mean temporal-radius=2";

std::string line_for(long frames) {
  gchar* text = g_strdup_printf(source, frames);
  std::string line = std::string(text) + " ! " + element + " ! fakesink name=sink sync=false";
  g_free(text);
  return line;
}

struct Counter {
  Course* course;
  long frames = 0;
};

GstPadProbeReturn count(GstPad*, GstPadProbeInfo*, gpointer counter) {
  auto& c = *static_cast<Counter*>(counter);
  c.course->passed(++c.frames);
  return GST_PAD_PROBE_OK;
}

bool run_frames(long frames) {
  Course course("frames", frames);
  Counter counter{&course};
  GstElement* pipeline = parse(line_for(frames));
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, &counter, nullptr);
  const bool good = play_to_its_end(pipeline);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  return course.flat() && good;
}

bool run_cycles(long cycles) {
  Course course("state cycles", cycles);
  GstElement* pipeline = parse(line_for(4));
  bool good = true;
  for (long cycle = 1; good && cycle <= cycles; ++cycle) {
    good = play_to_its_end(pipeline);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    course.passed(cycle);
  }
  gst_object_unref(pipeline);
  return course.flat() && good;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const long frames = argc > 1 ? std::atol(argv[1]) : 0, cycles = argc > 2 ? std::atol(argv[2]) : 0;
  if (argc > 3) element = argv[3];
  if (frames <= warm_up || cycles <= warm_up) {
    std::fprintf(stderr, "soak FRAMES CYCLES [ELEMENT]: two numbers above %ld\n", warm_up);
    return 2;
  }
  const bool flat_frames = run_frames(frames), flat_cycles = run_cycles(cycles);
  return flat_frames && flat_cycles ? 0 : 1;
}
