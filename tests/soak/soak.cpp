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
// run.sh sets malloc so that these numbers do not depend on which thread freed what. Three measures, all of the whole
// process, GStreamer included:
// - bytes that malloc has given out and not got back (mallinfo2). A leak of any object shows here.
// - the anonymous part of the resident set (/proc/self/statm), which also sees mappings and stacks that are not given
//   back, once malloc has returned what is free to the system.
// - the whole resident set, for information: the kernel maps files by 64 KiB, so that code that runs for the first
//   time after a while adds to it.
// Exits with 1 where one of the first two has grown by more than a page between the first thousand and the end.
#include <gst/gst.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace {

constexpr long warm_up = 1000;  // frames or cycles before the first reading that counts

struct Reading {
  long in_use = 0, anonymous = 0, resident = 0;  // bytes
};

Reading read_memory() {
  malloc_trim(0);  // what is free does not count, wherever between blocks in use it lies
  Reading reading;
  const struct mallinfo2 info = mallinfo2();
  reading.in_use = static_cast<long>(info.uordblks + info.hblkhd);
  long total = 0, resident = 0, of_files = 0;  // pages
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld %ld", &total, &resident, &of_files) != 3) std::abort();
    std::fclose(file);
  }
  reading.resident = resident * sysconf(_SC_PAGESIZE);
  reading.anonymous = (resident - of_files) * sysconf(_SC_PAGESIZE);
  return reading;
}

long count_threads() {
  long count = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

// A thread of GLib's pool without work waits half a second, then its idle time (15 s unless told otherwise), and ends,
// which gives back 2800 bytes. With an idle time of next to nothing, which main() sets, all of them have ended once the
// count of threads stays as it is for a second. Ten seconds are the most that is waited; the count is in the table.
void settle() {
  long before = count_threads();
  for (int same = 0, waited = 0; same < 10 && waited < 100; ++waited) {
    g_usleep(G_USEC_PER_SEC / 10);
    const long now = count_threads();
    same = now == before ? same + 1 : 0;
    before = now;
  }
}

// The readings of one run: a line for the first thousand, for each further tenth, and for the end. A block may lie on
// one page or on two, as the threads of a cycle met. What is lost stays lost, so that a line has the least of the last
// five frames or cycles.
class Course {
 public:
  Course(const char* what, long count) : what_(what), count_(count), step_(std::max(count / 10, warm_up)) {
    std::printf(
        "\n| %s | malloc in use, bytes | anonymous, KiB | resident, KiB | threads |\n|---:|---:|---:|---:|---:|\n",
        what);
  }
  /// After the n-th, from 1 on.
  void passed(long n) {
    const long next = n <= warm_up ? warm_up : std::min((n + step_ - 1) / step_ * step_, count_);
    if (n <= next - window) return;
    settle();
    const Reading reading = read_memory();
    if (!lowest_) lowest_ = reading;
    lowest_->in_use = std::min(lowest_->in_use, reading.in_use);
    lowest_->anonymous = std::min(lowest_->anonymous, reading.anonymous);
    lowest_->resident = std::min(lowest_->resident, reading.resident);
    if (n != next) return;
    last_ = *lowest_;
    lowest_.reset();
    if (n == warm_up) first_ = last_;
    std::printf("| %ld | %ld | %ld | %ld | %ld |\n", n, last_.in_use, last_.anonymous / 1024, last_.resident / 1024,
                count_threads());
    std::fflush(stdout);
    reached_ = n;
  }
  bool flat() const {
    const long page = sysconf(_SC_PAGESIZE);
    const long in_use = last_.in_use - first_.in_use, anonymous = last_.anonymous - first_.anonymous;
    const bool good = reached_ == count_ && in_use <= page && anonymous <= page;
    std::printf("\n%s: %ld of %ld; malloc in use %+ld bytes, anonymous %+ld KiB since the first %ld: %s\n", what_,
                reached_, count_, in_use, anonymous / 1024, warm_up, good ? "flat" : "FAILED");
    return good;
  }

 private:
  static constexpr long window = 5;  // frames or cycles that a line is the least of
  const char* what_;
  long count_, step_, reached_ = 0;
  std::optional<Reading> lowest_;  // since the last line
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
  g_thread_pool_set_max_idle_time(1);  // milliseconds; for settle()
  const long frames = argc > 1 ? std::atol(argv[1]) : 0, cycles = argc > 2 ? std::atol(argv[2]) : 0;
  if (argc > 3) element = argv[3];
  if (frames <= warm_up || cycles <= warm_up) {
    std::fprintf(stderr, "soak FRAMES CYCLES [ELEMENT]: two numbers above %ld\n", warm_up);
    return 2;
  }
  const bool flat_frames = run_frames(frames), flat_cycles = run_cycles(cycles);
  return flat_frames && flat_cycles ? 0 : 1;
}
