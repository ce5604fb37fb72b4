// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Changes from many threads at once, state cycles, and memory that stays flat. Worth most under ThreadSanitizer.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>

#include "stream.hpp"

namespace element_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

// --- Properties against running buffers --------------------------------------------------------------------------

// Two kernels of unlike size; each output has to be of one or the other, whole.
ELEMENT_TEST(five_hundred_kernel_changes_from_two_threads_take_hold_whole) {
  std::mt19937 random(60);
  const GstVideoInfo info = video_info("I420", 40, 30);
  const Filtering filters[] = {{random_kernel(random, 1, 5, 5, 6, 8)}, {random_kernel(random, 1, 1, 3, 6, 8)}};
  const std::string texts[] = {text_of(filters[0].kernel), text_of(filters[1].kernel)};
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Frame wanted[] = {expected(filters[0], frame_of(input.get(), info), info),
                          expected(filters[1], frame_of(input.get(), info), info)};
  Harness harness("kernel=\"" + texts[0] + "\"", info);
  std::atomic<int> running = 2;
  const auto change = [&](int first) {
    for (int i = 0; i < 250; ++i) {
      harness.set("kernel", texts[(first + i) % 2].c_str());
      std::this_thread::yield();
    }
    --running;
  };
  std::thread one(change, 0), two(change, 1);
  int seen[2] = {};
  while (running > 0 || seen[0] + seen[1] < 50) {
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    const Owned<GstBuffer> out = harness.try_pull();
    CHECK(out != nullptr, "no output");
    const Frame found = frame_of(out.get(), info);
    const std::string difference = first_difference(wanted[0], found, info, 0);
    if (difference.empty()) {
      ++seen[0];
    } else {
      const std::string other = first_difference(wanted[1], found, info, 0);
      CHECK(other.empty(), "a mixture: against the first filter %s; against the second %s", difference.c_str(),
            other.c_str());
      ++seen[1];
    }
    harness.tape().clear();
  }
  one.join();
  two.join();
  CHECK(harness.reports().empty(), "an error or a warning");
}

// Every property that may change while playing, at once, from threads of their own.
ELEMENT_TEST(all_properties_may_change_at_once_while_frames_and_events_flow) {
  std::mt19937 random(61);
  const GstVideoInfo info = video_info("NV12", 24, 18);
  Harness harness("preset=box-blur", info);
  gst_harness_set_drop_buffers(harness.get(), TRUE);
  struct Setting {
    const char *name, *values[3];
  };
  static constexpr Setting settings[] = {
      {"preset", {"sharpen", "temporal-mean", "sobel-x"}},
      {"kernel", {"<>", "<<1,2,1>>", "<<<1>>,<<2>>,<<1>>>"}},
      {"radius", {"0", "2", "7"}},
      {"temporal-radius", {"0", "1", "7"}},
      {"window", {"causal", "centered", "causal"}},
      {"border-mode", {"constant", "wrap", "reflect"}},
      {"components", {"luma", "chroma", "luma+chroma"}},
      {"normalize", {"true", "false", "true"}},
      {"operation", {"convolve", "correlate", "convolve"}},
      {"bias", {"0", "0.5", "-0.1"}},
      {"scale", {"1", "0.5", "2"}},
      {"kernel", {"<<1,2>,<3>>", "<<2>>", "<<1,1>>"}},
      {"bank", {"<  >", "<<<1,2>>,<<3>>>", "<<1>>"}},
      {"combine", {"none", "max", "magnitude"}},
  };
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (const Setting& setting : settings)
    threads.emplace_back([&harness, &stop, &setting] {
      for (int i = 0; !stop; ++i) {
        harness.set(setting.name, setting.values[i % 3]);
        g_usleep(500);
      }
    });
  threads.emplace_back([&harness, &stop] {
    while (!stop) {
      harness.string("active-algorithm");
      harness.string("active-backend");
      gst_harness_query_latency(harness.get());
      g_usleep(300);
    }
  });
  const gint64 end = g_get_monotonic_time() + 2 * G_USEC_PER_SEC;
  int pushed = 0;
  for (; g_get_monotonic_time() < end; ++pushed) {
    CHECK(harness.push(random_buffer(random, info, pushed).release()) == GST_FLOW_OK, "push failed");
    if (pushed % 16 == 15) harness.push_event(gst_event_new_gap(pushed * frame_duration, frame_duration));
    CHECK(harness.errors().empty(), "an error message");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  harness.push_event(gst_event_new_eos());
  const int out = static_cast<int>(harness.tape().buffer_count());
  CHECK(out == pushed, "%d outputs for %d inputs", out, pushed);
}

// --- GstHarness's own storms ---------------------------------------------------------------------------------------

// A plan takes longer to make there, and the GPU may have other work: storms last longer, so that frames get through.
bool on_cuda() {
  return std::string_view(test_backend()) == "cuda";
}

// Machines under sanitizers and other loads are slow without being stuck.
template <class Condition>
bool wait_until(Condition condition) {
  const gint64 deadline = g_get_monotonic_time() + 30 * G_USEC_PER_SEC;
  while (!condition()) {
    if (g_get_monotonic_time() > deadline) return false;
    g_usleep(1000);
  }
  return true;
}

constexpr const char* storm_filters[] = {"preset=box-blur", "preset=temporal-mean temporal-radius=2",
                                         "preset=temporal-mean temporal-radius=2 window=causal"};

ELEMENT_TEST_ROWS(the_harness_storms_of_frames_events_and_properties_pass, std::size(storm_filters)) {
  std::mt19937 random(62);
  const GstVideoInfo info = video_info("GRAY8", 24, 18);
  Harness harness(storm_filters[row], info);
  GstHarness* h = harness.get();
  gst_harness_set_drop_buffers(h, TRUE);
  const Owned<GstCaps> caps(gst_video_info_to_caps(&info));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  const Owned<GstBuffer> buffer = random_buffer(random, info);
  stamp(buffer.get(), 100);  // not late by the QoS events below
  const Owned<GstEvent> gap(gst_event_new_gap(0, 1));
  const Owned<GstEvent> reconfigure(gst_event_new_reconfigure());
  const Owned<GstEvent> qos(gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, 10 * GST_MSECOND, 0));
  const Owned<GstEvent> seek(
      gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0));
  GValue bias = G_VALUE_INIT, radius = G_VALUE_INIT;
  g_value_init(&bias, G_TYPE_DOUBLE);
  g_value_set_double(&bias, 0.25);
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(harness.element()), "temporal-radius");
  g_value_init(&radius, spec->value_type);
  g_value_copy(g_param_spec_get_default_value(spec), &radius);
  std::vector<GstHarnessThread*> threads = {
      gst_harness_stress_push_buffer_start(h, caps.get(), &segment, buffer.get()),
      gst_harness_stress_push_buffer_start(h, caps.get(), &segment, buffer.get()),
      gst_harness_stress_push_event_start_full(h, gap.get(), 1000),
      gst_harness_stress_push_upstream_event_start_full(h, reconfigure.get(), 1000),
      gst_harness_stress_push_upstream_event_start_full(h, qos.get(), 1000),
      gst_harness_stress_push_upstream_event_start_full(h, seek.get(), 1000),
      gst_harness_stress_property_start_full(h, "bias", &bias, 1000),
      gst_harness_stress_property_start_full(h, "temporal-radius", &radius, 1000),
  };
  const int rounds = on_cuda() ? 400 : 100;
  int round = 0;
  std::size_t outputs = 0;
  const bool enough = wait_until([&] {
    CHECK(harness.errors().empty(), "an error message");
    harness.set("temporal-radius", round % 2 ? "3" : "0");
    outputs += harness.tape().buffer_count();
    harness.tape().clear();
    g_usleep(G_USEC_PER_SEC / 100);
    return ++round >= rounds && outputs > 10;
  });
  const guint frames = gst_harness_stress_thread_stop(threads[0]);
  for (std::size_t i = 1; i < threads.size(); ++i) gst_harness_stress_thread_stop(threads[i]);
  CHECK(enough && frames > 10, "only %u frames went in, and %zu came out", frames, outputs);
  CHECK(harness.errors().empty(), "an error message");
}

// A flush stops the pusher at once, as a seek in a pipeline would, and frames start again behind it.
ELEMENT_TEST_ROWS(a_storm_of_flushes_leaves_a_stream_that_plays, std::size(storm_filters)) {
  std::mt19937 random(66);
  const GstVideoInfo info = video_info("GRAY8", 24, 18);
  Harness harness(storm_filters[row], info);
  gst_harness_set_drop_buffers(harness.get(), TRUE);
  const Owned<GstBuffer> buffer = random_buffer(random, info);
  std::mutex stream;  // of the pusher; a flush takes it once FLUSH_START has stopped the pusher
  std::atomic<bool> stop = false;
  std::atomic<int> pushed = 0;
  std::thread pusher([&] {
    while (!stop) {
      const std::lock_guard lock(stream);
      if (harness.push(gst_buffer_ref(buffer.get())) == GST_FLOW_OK) ++pushed;
      if (pushed % 8 == 0) harness.push_event(gst_event_new_gap(0, 1));
    }
  });
  std::thread changes([&] {
    for (int i = 0; !stop; ++i) {
      harness.set("temporal-radius", std::to_string(i % 8).c_str());
      harness.set("bias", i % 2 ? "0.1" : "0");
      g_usleep(700);
    }
  });
  const int rounds = on_cuda() ? 800 : 200;
  for (int i = 0; i < rounds; ++i) {
    int before = 0;
    harness.push_event(gst_event_new_flush_start());
    {
      const std::lock_guard lock(stream);
      before = pushed;
      harness.push_event(gst_event_new_flush_stop(TRUE));
      harness.push_segment();
    }
    harness.tape().clear();
    CHECK(harness.errors().empty(), "an error message");
    g_usleep(2000);
    // Every other flush may come before a frame is through; those between leave it the time it takes.
    if (i % 2 == 0) CHECK(wait_until([&] { return pushed > before; }), "no frame got through after flush %d", i);
  }
  stop = true;
  pusher.join();
  changes.join();
  CHECK(harness.errors().empty(), "an error message");
  harness.set("temporal-radius", "2");
  harness.flush();
  harness.tape().clear();
  push_all(harness, random_stream(random, info, 8));
  harness.push_event(gst_event_new_eos());
  CHECK(harness.tape().buffer_count() == 8, "%zu outputs for 8 inputs", harness.tape().buffer_count());
}

// It stops amid frames and starts between two, as in a pipeline: one that is under way would overtake the pad's events.
ELEMENT_TEST(states_may_change_while_frames_arrive) {
  std::mt19937 random(63);
  const GstVideoInfo info = video_info("GRAY8", 24, 18);
  Harness harness("preset=temporal-mean temporal-radius=2", info);
  gst_harness_set_drop_buffers(harness.get(), TRUE);
  const Owned<GstBuffer> buffer = random_buffer(random, info);
  std::mutex stream;  // of the pusher
  std::atomic<bool> stop = false;
  std::atomic<int> pushed = 0, refused = 0;
  std::thread pusher([&] {
    for (; !stop; g_usleep(100)) {
      const std::lock_guard lock(stream);
      ++(harness.push(gst_buffer_ref(buffer.get())) == GST_FLOW_OK ? pushed : refused);
    }
  });
  for (int i = 0; i < (on_cuda() ? 4 : 200); ++i) {
    gst_element_set_state(harness.element(), i % 2 ? GST_STATE_NULL : GST_STATE_READY);
    const int before = refused;
    CHECK(wait_until([&] { return refused > before; }), "round %d: a stopped element takes frames", i);
    std::unique_lock lock(stream);
    CHECK(gst_element_set_state(harness.element(), GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS, "no start");
    lock.unlock();
    const int frames = pushed + 1 + i % 8;
    CHECK(wait_until([&] { return pushed >= frames; }), "round %d: no frame gets through", i);
  }
  stop = true;
  pusher.join();
  CHECK(harness.reports().empty(), "there was a report");
}

// --- Seeks in a pipeline -------------------------------------------------------------------------------------------

ELEMENT_TEST(a_storm_of_seeks_and_property_changes_ends_in_an_orderly_eos) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=100000 ! video/x-raw,format=I420,width=32,height=24,framerate=25/1 ! ${convolve} "
      "name=f "
      "preset=temporal-mean temporal-radius=2 ! fakesink sync=false");
  const Owned<GstElement> filter(gst_bin_get_by_name(GST_BIN(pipeline.get()), "f"));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND);
  std::atomic<bool> stop = false;
  std::thread changes([&] {
    for (int i = 0; !stop; ++i) {
      const std::string radius = std::to_string(i % 8);
      gst_util_set_object_arg(G_OBJECT(filter.get()), "temporal-radius", radius.c_str());
      gst_util_set_object_arg(G_OBJECT(filter.get()), "window", i % 3 ? "centered" : "causal");
      g_usleep(1000);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const double rate = std::array{1.0, 2.0, -1.0}[i % 3];
    const auto flags = static_cast<GstSeekFlags>(i % 4 == 3 ? GST_SEEK_FLAG_NONE : GST_SEEK_FLAG_FLUSH);
    // A seek that does not flush waits for the stream, which waits for the sink while that is not PLAYING again.
    if (flags == GST_SEEK_FLAG_NONE) gst_element_get_state(pipeline.get(), nullptr, nullptr, 10 * GST_SECOND);
    gst_element_seek(pipeline.get(), rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, (i % 10) * GST_SECOND,
                     GST_SEEK_TYPE_SET, (i % 10 + 20) * GST_SECOND);
    g_usleep(5000);
  }
  stop = true;
  changes.join();
  gst_element_seek(pipeline.get(), 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
                   GST_SECOND);
  CHECK(plays_to(pipeline.get()), "no EOS");
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

// --- Memory and states -------------------------------------------------------------------------------------------

// Resident memory in KiB.
long resident() {
  long pages = 0, ignored = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &ignored, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

constexpr long allowed_growth = 2048;  // KiB: a leak of 0.2 KiB a frame shows

ELEMENT_TEST(memory_is_flat_over_ten_thousand_frames) {
  std::mt19937 random(64);
  const GstVideoInfo info = video_info("I420", 64, 48);
  Harness harness("preset=temporal-mean temporal-radius=2", info);
  gst_harness_set_drop_buffers(harness.get(), TRUE);
  const Owned<GstBuffer> input = random_buffer(random, info);
  long before = 0;
  const int frames = sanitized ? 1000 : 10000;
  for (int i = 0; i < frames; ++i) {
    GstBuffer* buffer = gst_buffer_copy(input.get());
    stamp(buffer, i);
    CHECK(harness.push(buffer) == GST_FLOW_OK, "push failed");
    if (i % 50 == 0) harness.set("bias", i % 100 ? "0.1" : "0.2");
    harness.tape().clear();
    if (i == frames / 10) before = resident();
  }
  const long grown = resident() - before;
  CHECK(sanitized || grown < allowed_growth, "memory grew by %ld KiB", grown);
}

ELEMENT_TEST(two_hundred_state_cycles_give_the_same_picture_and_flat_memory) {
  std::mt19937 random(65);
  const GstVideoInfo info = video_info("I420", 64, 48);
  const Filtering f{random_kernel(random, 3, 3, 3, 6, 16)};
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
  const std::vector<Frame> wanted = expected(f, frames_of(input, info), info);
  Harness harness(kernel_is(f.kernel));
  long before = 0;
  for (int cycle = 0; cycle < 200; ++cycle) {
    gst_element_set_state(harness.element(), cycle % 3 ? GST_STATE_NULL : GST_STATE_READY);
    share_context(harness.element());  // else each cycle makes one, and the driver keeps memory of each
    gst_harness_play(harness.get());
    harness.push_event(gst_event_new_stream_start("cycle"));
    harness.set_caps(info);
    harness.push_segment();
    harness.tape().clear();
    push_all(harness, input);
    // Every other cycle ends with frames still held.
    if (cycle % 2) {
      harness.push_event(gst_event_new_eos());
      check_tape(harness, wanted, input, info, "cycle " + std::to_string(cycle));
    }
    while (harness.try_pull()) {
    }
    harness.tape().clear();
    while (GstEvent* event = gst_harness_try_pull_event(harness.get())) gst_event_unref(event);
    CHECK(harness.errors().empty(), "an error message");
    if (cycle == 40) before = resident();
  }
  const long grown = resident() - before;
  CHECK(sanitized || grown < allowed_growth, "memory grew by %ld KiB", grown);
}

ELEMENT_TEST(every_state_can_be_reached_from_every_other) {
  const Owned<GstElement> element = make_element("preset=temporal-mean");
  const GstState states[] = {GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING};
  for (const GstState from : states)
    for (const GstState to : states) {
      CHECK(gst_element_set_state(element.get(), from) != GST_STATE_CHANGE_FAILURE, "%s fails",
            gst_element_state_get_name(from));
      CHECK(gst_element_set_state(element.get(), to) != GST_STATE_CHANGE_FAILURE, "%s to %s fails",
            gst_element_state_get_name(from), gst_element_state_get_name(to));
    }
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("stress");
}
