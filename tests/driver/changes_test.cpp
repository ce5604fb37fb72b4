// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A filter that changes with each frame costs no allocation, no release and no wait of its own: over a stretch of
// frames the driver is asked for as many of those as where nothing changes. Each frame is what the oracle makes of it,
// so that no table is overwritten while work that reads it is queued.
#include <gst/gst.h>

#include <atomic>
#include <map>
#include <string>

#include "../element/stream.hpp"
#include "faults.hpp"

namespace element_test {
namespace {

/// What takes memory or gives it back, and what waits.
constexpr const char* costly[] = {"cuMemAlloc",     "cuMemAllocPitch", "cuMemAllocHost",      "cuMemHostAlloc",
                                  "cuMemFree",      "cuMemFreeHost",   "cuMemHostRegister",   "cuMemHostUnregister",
                                  "cuEventCreate",  "cuEventDestroy",  "cuStreamSynchronize", "cuEventSynchronize",
                                  "cuStreamCreate", "cuStreamDestroy", "cuCtxSynchronize"};

using Counts = std::map<std::string, std::uint64_t>;

struct Row {
  const char* name;
  const char *before, *after;  ///< elements beside the filter
  const char* format;
  int width, height;
  int depth, side;  ///< of the filter
};
constexpr const char* upload = "cudaupload ! video/x-raw(memory:CUDAMemory) ! ";
constexpr const char* download = " ! video/x-raw(memory:CUDAMemory) ! cudadownload";
constexpr Row rows[] = {
    {"system memory", "", "", "NV12", 34, 22, 1, 3},
    {"system memory in slabs", "", "", "RGBA", 1024, 800, 1, 3},
    {"CUDA memory", upload, download, "NV12", 34, 22, 1, 5},
    {"CUDA memory, three frames", upload, download, "I420", 34, 22, 3, 3},
};

constexpr int stretch = 6;

class Stream {
 public:
  explicit Stream(const Row& row)
      : row_(row),
        info_(video_info(row.format, row.width, row.height)),
        filtering_{random_kernel(random_, row.depth, row.side, row.side, 9, 9)},
        harness_(parse_chain(row.before +
                             ("videoconvolve name=f backend=cuda window=causal " + kernel_is(filtering_.kernel)) +
                             row.after)),
        filter_(gst_bin_get_by_name(GST_BIN(harness_.element()), "f")) {
    harness_.set_caps(info_);
  }

  /// Pushes frames, each after a change of the kernel where `change`, and counts what the driver is asked for.
  Counts run(bool change, int frames = stretch, bool warming_up = false) {
    faults_reset();
    for (int i = 0; i < frames; ++i) {
      if (change) set_kernel();
      const Owned<GstBuffer> input = random_buffer(random_, info_, i);
      CHECK(harness_.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "%s: frame %d", row_.name, i);
      const Owned<GstBuffer> output = harness_.try_pull();
      CHECK(output, "%s: no output %d", row_.name, i);
      // Windows of several frames have other tests.
      if (row_.depth == 1 && !warming_up)
        check_buffer(expected(filtering_, frame_of(input.get(), info_), info_), output.get(), info_, 0,
                     std::string(row_.name) + ", frame " + std::to_string(i));
    }
    Counts counts;
    for (const char* function : costly) counts[function] = faults_calls(function);
    return counts;
  }

  void set(const char* property, double value) { g_object_set(filter_.get(), property, value, nullptr); }

 private:
  void set_kernel() {
    filtering_.kernel = random_kernel(random_, row_.depth, row_.side, row_.side, 9, 9);
    gst_util_set_object_arg(G_OBJECT(filter_.get()), "kernel", text_of(filtering_.kernel).c_str());
  }

  const Row& row_;
  std::mt19937 random_{31};
  GstVideoInfo info_;
  Filtering filtering_;
  Harness harness_;
  Owned<GstElement> filter_;
};

ELEMENT_TEST_ROWS(a_filter_that_changes_each_frame_allocates_nothing_and_waits_for_nothing, std::size(rows)) {
  Stream stream(rows[row]);
  stream.run(true, 24, true);  // until there are slots and events enough
  const Counts steady = stream.run(false), changing = stream.run(true);
  for (const char* function : costly)
    CHECK(changing.at(function) == steady.at(function),
          "%s: %s was called %llu times in %d frames, %llu without changes", rows[row].name, function,
          static_cast<unsigned long long>(changing.at(function)), stretch,
          static_cast<unsigned long long>(steady.at(function)));
  CHECK(steady.at("cuMemAlloc") == 0, "%s: frames allocate", rows[row].name);
}

// A verdict on a pair of frames has to reach the host, which waits once for it: in place of the wait for the upload
// where frames come from system memory, beside that for the output in CUDA memory.
ELEMENT_TEST(scene_threshold_allocates_nothing_and_waits_once_a_frame_and_not_at_all_where_it_is_off) {
  const Row uploaded{"system memory, three frames", "", "", "NV12", 34, 22, 3, 3};
  for (const Row* row : {&uploaded, &rows[3]}) {
    Stream off(*row), on(*row);
    on.set("scene-threshold", 1);
    off.run(false, 8, true);
    on.run(false, 8, true);
    const Counts without = off.run(false), with = on.run(false);
    for (const char* function : costly) {
      const bool waits = std::string(function) == "cuStreamSynchronize";
      CHECK(with.at(function) == without.at(function) + (waits ? stretch : 0),
            "%s: %s was called %llu times in %d frames, %llu without a threshold", row->name, function,
            static_cast<unsigned long long>(with.at(function)), stretch,
            static_cast<unsigned long long>(without.at(function)));
    }
  }
}

/// Counts the element's words on slabs, which it says when it has made their plans.
void count_slabs(GstDebugCategory*, GstDebugLevel, const gchar*, const gchar*, gint, GObject*, GstDebugMessage* message,
                 gpointer count) {
  const char* text = gst_debug_message_get(message);
  if (text && std::string(text).find(" slabs") != std::string::npos) ++*static_cast<std::atomic<int>*>(count);
}

ELEMENT_TEST(the_plans_of_slabs_are_made_with_the_caps_and_the_settings_and_never_while_a_frame_waits) {
  std::atomic<int> said = 0;
  gst_debug_set_threshold_for_name("videoconvolve", GST_LEVEL_INFO);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(count_slabs, &said, nullptr);
  {
    Stream stream(rows[1]);
    CHECK(said == 1, "plans of slabs were made %d times before the first frame", said.load());
    stream.run(false);
    CHECK(said == 1, "plans of slabs were made %d times after frames", said.load());
  }
  {
    Stream stream(rows[2]);
    stream.run(false);
    CHECK(said == 1, "plans of slabs were made for frames in CUDA memory");
  }
  gst_debug_remove_log_function(count_slabs);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("driver-changes");
}
