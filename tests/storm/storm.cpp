// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Storms: eight pipelines around one videoconvolve each, in one process. For each a thread draws actions: states,
// flushing seeks at several rates, caps, GAPs, pads unlinked and linked again while frames flow. One thread more sets
// properties of all eight. All of it is legal, so that any error message fails the storm, and so does a pipeline that
// does not play to its end afterwards.
//
//   storm [SECONDS, default 10 [SEED, default 1]]
//
// The seed fixes what each thread draws, not how the threads interleave. The environment chooses the plugin
// (GST_PLUGIN_PATH_1_0) and the backend (STORM_BACKEND, default cpu). STORM_ELEMENT=identity puts that element in the
// filter's place, and sets no properties: what fails then is not the filter's.
#include <gst/gst.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> over = false;
std::atomic<bool> failed = false;

void report(const char* what, const char* where) {
  std::printf("FAILED: %s (%s)\n", what, where);
  std::fflush(stdout);
  failed = true;
}

// What stands in the filter's place, or null.
const char* other_element() {
  return std::getenv("STORM_ELEMENT");
}

// Draws from a fixed list.
template <class T, std::size_t n>
const T& any_of(std::mt19937& random, const T (&list)[n]) {
  return list[random() % n];
}

// --- One pipeline ---------------------------------------------------------------------------------------------------

// The link before the filter, taken apart and put together while its source pad is blocked by what it is about to send.
// An idle probe would not do: with identity in the filter's place it leaves the stream "not-linked" now and then.
struct Relink {
  std::mutex mutex;
  bool cancelled = false;
  bool done = false;
};

class Pipeline {
 public:
  explicit Pipeline(int index) : name_("pipeline " + std::to_string(index)) {
    const char* backend = std::getenv("STORM_BACKEND");
    const char* other = other_element();
    const std::string filter = other ? other : std::string("videoconvolve backend=") + (backend ? backend : "cpu");
    const std::string line =
        "videotestsrc name=source num-buffers=100000 ! capsfilter name=caps caps-change-mode=delayed "
        "caps=video/x-raw,format=I420,width=32,height=24,"
        "framerate=25/1 ! " +
        filter + " name=filter ! fakesink name=sink sync=false";
    GError* error = nullptr;
    pipeline_ = gst_parse_launch(line.c_str(), &error);
    if (error != nullptr) {
      report(error->message, name_.c_str());
      std::exit(1);
    }
    source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
    caps_ = gst_bin_get_by_name(GST_BIN(pipeline_), "caps");
    filter_ = gst_bin_get_by_name(GST_BIN(pipeline_), "filter");
    source_pad_ = gst_element_get_static_pad(caps_, "src");
    filter_pad_ = gst_element_get_static_pad(filter_, "sink");
    bus_ = gst_element_get_bus(pipeline_);
    gst_pad_add_probe(source_pad_, GST_PAD_PROBE_TYPE_BUFFER, passed, this, nullptr);
  }
  ~Pipeline() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    for (gpointer object : {gpointer(source_), gpointer(caps_), gpointer(filter_), gpointer(source_pad_),
                            gpointer(filter_pad_), gpointer(bus_), gpointer(pipeline_)})
      gst_object_unref(object);
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* filter() const { return filter_; }
  long frames() const { return frames_; }
  long actions() const { return actions_; }
  long stopped() const { return stopped_; }

  // Draws actions until the storm is over, then plays to an end.
  void run(unsigned seed) {
    std::mt19937 random(seed);
    play();
    while (!over && !failed) {
      act(random);
      ++actions_;
      check_messages();
      g_usleep(random() % 4000);
    }
    if (!failed) finish();
  }

 private:
  void act(std::mt19937& random) {
    switch (random() % 8) {
      case 0: {
        const GstState states[] = {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING};
        set_state(any_of(random, states));
        break;
      }
      case 1:
        seek(random);
        break;
      case 2:
        set_caps(random);
        break;
      case 3:
        gaps_ += 1 + static_cast<int>(random() % 3);
        break;
      case 4:
        relink();
        break;
      default:
        play();
    }
  }

  void play() { gst_element_set_state(pipeline_, GST_STATE_PLAYING); }

  // A pipeline that stops does so from its sink upwards. What the source sends meanwhile meets stopped pads, and GstPad
  // answers it with "error" or "not-negotiated" where it was a sticky event: the source's "streaming stopped" is then
  // no fault (identity in the filter's place gets it too).
  void set_state(GstState state) {
    check_messages();
    gst_element_set_state(pipeline_, state);
    if (state <= GST_STATE_READY) check_messages(/* stopping= */ true);
  }

  void seek(std::mt19937& random) {
    const double rates[] = {1.0, 2.0, 0.5, -1.0};
    const GstClockTime start = random() % 100 * GST_SECOND;
    gst_element_seek(pipeline_, any_of(random, rates), GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                     static_cast<gint64>(start), GST_SEEK_TYPE_SET, static_cast<gint64>(start + 100 * GST_SECOND));
  }

  void set_caps(std::mt19937& random) {
    const char* const formats[] = {"I420", "NV12",      "GRAY8",     "BGRx",     "RGBA",
                                   "Y444", "I420_10LE", "P010_10LE", "GRAY16_LE"};
    const char* const modes[] = {"progressive", "interleaved"};
    gchar* text = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1,interlace-mode=%s",
                                  any_of(random, formats), 1 + static_cast<int>(random() % 40),
                                  2 + static_cast<int>(random() % 30), any_of(random, modes));
    gst_util_set_object_arg(G_OBJECT(caps_), "caps", text);
    g_free(text);
  }

  static GstPadProbeReturn blocked(GstPad* pad, GstPadProbeInfo*, gpointer data) {
    auto& relink = **static_cast<std::shared_ptr<Relink>*>(data);
    const std::lock_guard lock(relink.mutex);
    if (relink.cancelled || relink.done) return GST_PAD_PROBE_REMOVE;
    if (GstPad* peer = gst_pad_get_peer(pad)) {
      gst_pad_unlink(pad, peer);
      if (gst_pad_link_full(pad, peer, GST_PAD_LINK_CHECK_NOTHING) != GST_PAD_LINK_OK) report("no link", "relink");
      gst_object_unref(peer);
    }
    relink.done = true;
    return GST_PAD_PROBE_REMOVE;
  }

  // A stream that is stopped or paused sends nothing, so that it is given up after a while.
  void relink() {
    auto shared = std::make_shared<Relink>();
    const gulong id = gst_pad_add_probe(source_pad_, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, blocked,
                                        new std::shared_ptr<Relink>(shared),
                                        [](gpointer data) { delete static_cast<std::shared_ptr<Relink>*>(data); });
    for (int i = 0; i < 50; ++i) {
      g_usleep(1000);
      const std::lock_guard lock(shared->mutex);
      if (shared->done) return;
    }
    {
      const std::lock_guard lock(shared->mutex);
      shared->cancelled = true;
    }
    gst_pad_remove_probe(source_pad_, id);
  }

  // Before a frame goes in: now and then a GAP of its length.
  static GstPadProbeReturn passed(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    auto& pipeline = *static_cast<Pipeline*>(self);
    ++pipeline.frames_;
    if (pipeline.gaps_ > 0) {
      --pipeline.gaps_;
      const GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
      gst_pad_push_event(pad, gst_event_new_gap(GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer)));
    }
    return GST_PAD_PROBE_OK;
  }

  void check_messages(bool stopping = false) {
    while (GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR)) {
      if (stopping && GST_MESSAGE_SRC(message) == GST_OBJECT(source_)) {
        ++stopped_;
        gst_message_unref(message);
        continue;
      }
      GError* error = nullptr;
      gchar* details = nullptr;
      gst_message_parse_error(message, &error, &details);
      report((std::string(error->message) + "; " + (details ? details : "")).c_str(), name_.c_str());
      g_error_free(error);
      g_free(details);
      gst_message_unref(message);
    }
  }

  void finish() {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_util_set_object_arg(G_OBJECT(caps_), "caps", "video/x-raw,format=I420,width=32,height=24,framerate=25/1");
    gst_element_set_state(pipeline_, GST_STATE_PAUSED);
    gst_element_get_state(pipeline_, nullptr, nullptr, 60 * GST_SECOND);
    gst_element_seek(pipeline_, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
                     4 * GST_SECOND);
    play();
    GstMessage* message = gst_bus_timed_pop_filtered(bus_, 60 * GST_SECOND, GST_MESSAGE_EOS);
    if (message == nullptr)
      report("no end of stream within a minute of the storm", name_.c_str());
    else
      gst_message_unref(message);
  }

  std::string name_;
  GstElement *pipeline_ = nullptr, *source_ = nullptr, *caps_ = nullptr, *filter_ = nullptr;
  GstPad *source_pad_ = nullptr, *filter_pad_ = nullptr;
  GstBus* bus_ = nullptr;
  std::atomic<long> frames_ = 0, actions_ = 0;
  long stopped_ = 0;  // times that the source was stopped in the midst of an event
  std::atomic<int> gaps_ = 0;
};

// --- Properties of all of them --------------------------------------------------------------------------------------

struct Property {
  const char* name;
  std::initializer_list<const char*> values;
};

constexpr Property properties[] = {
    {"preset", {"temporal-mean", "box-blur", "identity", "temporal-denoise"}},
    {"temporal-radius", {"0", "1", "3", "7"}},
    {"radius", {"0", "1", "2", "5"}},
    {"window", {"centered", "causal", "centered", "causal"}},
    {"border-mode", {"constant", "replicate", "reflect", "reflect-101", "wrap"}},
    {"bias", {"0", "0.1", "-0.2", "0"}},
    {"scale", {"1", "0.5", "1.25", "1"}},
    {"operation", {"correlate", "convolve", "correlate", "convolve"}},
    {"components", {"y", "all", "luma", "all"}},
    {"n-threads", {"1", "2", "3", "1"}},
    {"scene-threshold", {"0", "0.1", "1", "0"}},
    {"regions", {"off", "inside", "outside", "off"}},
    {"region-effect", {"filter", "blur", "pixelate", "fill"}},
    {"region-feather", {"0", "3", "0", "9"}},
    {"region-shape", {"rectangle", "ellipse", "rectangle", "ellipse"}},
    {"region-missing", {"nothing", "everything", "nothing", "everything"}},
    {"region-boxes", {"<<2,2,9,7>>", "<<0,0,1,1>,<5,5,30,30>>", "<<1,1,4,4>>", "<<3,0,8,20>>"}},
};

long change_properties(const std::vector<std::unique_ptr<Pipeline>>& pipelines, unsigned seed) {
  std::mt19937 random(seed);
  long changes = 0;
  while (!over && !failed && !other_element()) {
    const Property& property = any_of(random, properties);
    GObject* filter = G_OBJECT(pipelines[random() % pipelines.size()]->filter());
    gst_util_set_object_arg(filter, property.name, property.values.begin()[random() % property.values.size()]);
    ++changes;
    g_usleep(random() % 1000);
  }
  return changes;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1;
  constexpr int elements = 8;
  long frames = 0, actions = 0, changes = 0, stopped = 0;
  {
    std::vector<std::unique_ptr<Pipeline>> pipelines;
    for (int i = 0; i < elements; ++i) pipelines.push_back(std::make_unique<Pipeline>(i));
    std::vector<std::thread> threads;
    for (int i = 0; i < elements; ++i)
      threads.emplace_back(
          [&pipelines, i, seed] { pipelines[static_cast<std::size_t>(i)]->run(seed + 1 + static_cast<unsigned>(i)); });
    threads.emplace_back([&] { changes = change_properties(pipelines, seed); });
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end && !failed) g_usleep(20000);
    over = true;
    for (std::thread& thread : threads) thread.join();
    for (const auto& pipeline : pipelines) {
      frames += pipeline->frames();
      actions += pipeline->actions();
      stopped += pipeline->stopped();
    }
  }
  gst_deinit();
  // A storm that did nothing has shown nothing.
  if (!failed && actions == 0) report("no thread came to act", "give the storm more seconds, or a quieter machine");
  if (!failed && frames == 0) report("no frame went through", "give the storm more seconds, or a quieter machine");
  std::printf(
      "storm of %g s, seed %u: %d elements, %ld actions, %ld changes of properties, %ld frames, %ld stops amid an "
      "event%s\n",
      seconds, seed, elements, actions, changes, frames, stopped, failed ? ": FAILED" : "");
  return failed ? 1 : 0;
}
