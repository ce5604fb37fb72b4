// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// bench-element: the element's rate, latency and host cost in both memories, and many streams side by side.
//
//   bench-element [--quick] [--frames=N] [--seconds=S] [Google Benchmark's own flags]
//
// Rows "element/<memory>/<format>/<size>/<filter>": N frames one after the other, from chain to push. Counters: fps,
// p50_us, p99_us, p999_us, thread_cpu_us (the streaming thread's, median), process_cpu_us (all threads', a frame).
// Rows "streams/<memory>/<n>": n elements of 1080p NV12, each on its own thread and paced at 30 frames a second for
// S seconds; late: frames that took longer than their 33 ms; then all at full rate: fps. Rows
// "changes/<memory>/<format>/<size>/<filter>": a property that changes before each frame, on the thread that pushes but
// outside of what is timed; change_us: how much more of the streaming thread such a frame takes, medians of frames with
// and without by turns. Rows "link/...": page-locked
// copies to and from the device at once, which bounds frames in system memory. GST_PLUGIN_PATH says where the plugin
// is.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "element_runner.hpp"
#include "link.hpp"
#include "skipped.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

struct Options {
  int frames = 5000;
  double seconds = 5;
  bool quick = false;
};

/// Where the frames are, and which backend filters them.
struct MemoryRow {
  const char* name;
  const char* settings;
  bool cuda_memory, pageable;
};
constexpr MemoryRow cpu{"cpu", "backend=cpu", false, false};
constexpr MemoryRow cpu_one_thread{"cpu1", "backend=cpu n-threads=1", false, false};
constexpr MemoryRow cuda_memory{"cuda-memory", "backend=cuda", true, false};
constexpr MemoryRow cuda_locked{"cuda-system", "backend=cuda", false, false};
constexpr MemoryRow cuda_pageable{"cuda-pageable", "backend=cuda", false, true};

struct ElementRow {
  const MemoryRow* memory;
  const char *format, *size;
  int width, height;
  const char *filter, *settings;
  const char* peer = nullptr;  ///< another element's launch line in place of ours
};

constexpr const char* sharpen = "preset=sharpen";
constexpr const char* gaussian_5 = "preset=gaussian-blur radius=2";
constexpr const char* gaussian_7 = "preset=gaussian-blur radius=3";
constexpr const char* motion_7 = "preset=motion-blur radius=3 angle=30";
constexpr const char* motion_15 = "preset=motion-blur radius=7 angle=30";
constexpr const char* denoise = "preset=temporal-denoise temporal-radius=2";

constexpr ElementRow rows[] = {
    {&cpu_one_thread, "NV12", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5},
    {&cpu_one_thread, "NV12", "1080p", 1920, 1080, "motion-7x7", motion_7},
    {&cpu_one_thread, "YUY2", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5},
    {&cpu_one_thread, "AYUV", "1080p", 1920, 1080, "gaussian-7x7", gaussian_7},
    {&cpu_one_thread, "AYUV", "1080p", 1920, 1080, "gaussianblur", "", "gaussianblur sigma=1.2"},
    {&cpu, "NV12", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5},
    {&cpu, "AYUV", "1080p", 1920, 1080, "gaussian-7x7", gaussian_7},
    {&cpu, "RGBA", "4K", 3840, 2160, "motion-7x7", motion_7},
    {&cuda_memory, "NV12", "64x64", 64, 64, "sharpen-3x3", sharpen},
    {&cuda_memory, "NV12", "1080p", 1920, 1080, "sharpen-3x3", sharpen},
    {&cuda_memory, "NV12", "1080p", 1920, 1080, "motion-15x15", motion_15},
    {&cuda_memory, "NV12", "4K", 3840, 2160, "sharpen-3x3", sharpen},
    {&cuda_memory, "NV12", "4K", 3840, 2160, "motion-15x15", motion_15},
    {&cuda_memory, "NV12", "4K", 3840, 2160, "denoise-3x3x5", denoise},
    {&cuda_memory, "RGBA", "4K", 3840, 2160, "gaussian-7x7", gaussian_7},
    {&cuda_locked, "NV12", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5},
    {&cuda_locked, "RGBA", "4K", 3840, 2160, "sharpen-3x3", sharpen},
    {&cuda_locked, "RGBA", "4K", 3840, 2160, "motion-15x15", motion_15},
    {&cuda_pageable, "RGBA", "4K", 3840, 2160, "sharpen-3x3", sharpen},
};

/// A property that goes to and fro between two values.
struct ChangeRow {
  const MemoryRow* memory;
  const char *format, *size;
  int width, height;
  const char *filter, *settings, *property;
  double values[2];
};
constexpr ChangeRow change_rows[] = {
    {&cpu_one_thread, "NV12", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5, "sigma", {1, 1.25}},
    {&cuda_memory, "NV12", "1080p", 1920, 1080, "sharpen-3x3", sharpen, "amount", {1, 0.7}},
    {&cuda_memory, "NV12", "1080p", 1920, 1080, "gaussian-5x5", gaussian_5, "sigma", {1, 1.25}},
    {&cuda_memory, "NV12", "1080p", 1920, 1080, "motion-15x15", motion_15, "angle", {30, 31}},
    {&cuda_memory, "NV12", "4K", 3840, 2160, "denoise-3x3x5", denoise, "sigma", {1, 1.25}},
    {&cuda_memory, "P010_10LE", "1080p", 1920, 1080, "motion-7x7", motion_7, "angle", {30, 31}},
    {&cuda_locked, "RGBA", "4K", 3840, 2160, "sharpen-3x3", sharpen, "amount", {1, 0.7}},
};

std::string launch_line(const MemoryRow& memory, const char* settings) {
  return std::string("videoconvolve ") + memory.settings + " " + settings;
}

void count(benchmark::State& state, const FrameTimes& times) {
  state.counters["frames"] = static_cast<double>(times.latency.size());
  state.counters["p50_us"] = percentile(times.latency, 0.5);
  state.counters["p99_us"] = percentile(times.latency, 0.99);
  state.counters["p999_us"] = percentile(times.latency, 0.999);
  state.counters["thread_cpu_us"] = median(times.thread_cpu);
}

void run_element(benchmark::State& state, const ElementRow& row, const Options& options) {
  const StreamFormat format{row.format, row.width, row.height, row.memory->cuda_memory};
  ElementRunner runner(row.peer ? row.peer : launch_line(*row.memory, row.settings), format, row.memory->pageable);
  const int warm_up = options.quick ? 1 : 20;
  for (int i = 0; i < warm_up + 4; ++i) runner.push();
  FrameTimes times;
  // Slow rows stop at ten seconds.
  const double cpu_start = process_cpu_us(), start = wall_us();
  for ([[maybe_unused]] auto iteration : state) {
    for (int i = 0; i < options.frames && wall_us() - start < 10e6; ++i) runner.push(&times);
    state.SetIterationTime((wall_us() - start) * 1e-6);
  }
  const double elapsed = wall_us() - start, frames = static_cast<double>(times.latency.size());
  count(state, times);
  state.counters["fps"] = frames / elapsed * 1e6;
  state.counters["process_cpu_us"] = (process_cpu_us() - cpu_start) / frames;
  state.SetLabel(runner.active());
}

void run_changes(benchmark::State& state, const ChangeRow& row, const Options& options) {
  const StreamFormat format{row.format, row.width, row.height, row.memory->cuda_memory};
  ElementRunner runner(launch_line(*row.memory, row.settings), format);
  int changes = 0;
  const auto change = [&] { runner.set(row.property, row.values[++changes % 2]); };
  for (int i = 0; i < 24; ++i) {
    change();
    runner.push();
  }
  FrameTimes plain, changed;
  const int pairs = options.quick ? 5 : 500;
  const double start = wall_us();
  for ([[maybe_unused]] auto iteration : state) {
    for (int i = 0; i < pairs && wall_us() - start < 10e6; ++i) {
      runner.push(&plain);
      change();
      runner.push(&changed);
    }
    state.SetIterationTime((wall_us() - start) * 1e-6);
  }
  count(state, changed);
  state.counters["change_us"] = median(changed.thread_cpu) - median(plain.thread_cpu);
  state.counters["plain_thread_cpu_us"] = median(plain.thread_cpu);
  state.SetLabel(runner.active());
}

/// All runners push from threads of their own until the time is up; `interval_us` 0: as fast as they can.
std::vector<FrameTimes> push_side_by_side(std::vector<std::unique_ptr<ElementRunner>>& runners, double interval_us,
                                          double duration_us) {
  std::vector<FrameTimes> times(runners.size());
  std::vector<std::thread> threads;
  std::atomic<bool> refused{false};
  const double start = wall_us() + 20000;
  for (std::size_t i = 0; i < runners.size(); ++i)
    threads.emplace_back([&, i] {
      // Phases are spread over the interval, as cameras' are.
      double next = start + interval_us * static_cast<double>(i) / static_cast<double>(runners.size());
      try {
        while (next < start + duration_us && !refused) {
          if (const double wait = next - wall_us(); wait > 0) g_usleep(static_cast<gulong>(wait));
          runners[i]->push(&times[i]);
          next = interval_us > 0 ? next + interval_us : wall_us();
        }
      } catch (const std::exception&) {
        refused = true;
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (refused) throw std::runtime_error("an element refused a frame");
  return times;
}

void run_streams(benchmark::State& state, const MemoryRow& memory, int n, const Options& options) {
  const StreamFormat format{"NV12", 1920, 1080, memory.cuda_memory};
  std::vector<std::unique_ptr<ElementRunner>> runners;
  for (int i = 0; i < n; ++i) {
    runners.push_back(std::make_unique<ElementRunner>(launch_line(memory, gaussian_5), format, memory.pageable,
                                                      i > 0 ? runners.front().get() : nullptr));
    for (int k = 0; k < 3; ++k) runners.back()->push();
  }
  constexpr double interval_us = 1e6 / 30;
  FrameTimes all;
  double late = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double cpu_start = process_cpu_us(), start = wall_us();
    for (const FrameTimes& times : push_side_by_side(runners, interval_us, options.seconds * 1e6)) {
      all.latency.insert(all.latency.end(), times.latency.begin(), times.latency.end());
      all.thread_cpu.insert(all.thread_cpu.end(), times.thread_cpu.begin(), times.thread_cpu.end());
    }
    state.counters["cores"] = (process_cpu_us() - cpu_start) / (wall_us() - start);
    const double full_rate_us = options.seconds * 1e6 / 4;
    double frames = 0;
    for (const FrameTimes& times : push_side_by_side(runners, 0, full_rate_us))
      frames += static_cast<double>(times.latency.size());
    state.counters["fps"] = frames / full_rate_us * 1e6;
    state.SetIterationTime((wall_us() - start) * 1e-6);
  }
  for (double latency : all.latency) late += latency > interval_us;
  count(state, all);
  state.counters["late"] = late;
  state.SetLabel(runners.front()->active());
}

void run_link(benchmark::State& state, std::size_t bytes) {
  LinkTimes times{};
  for ([[maybe_unused]] auto iteration : state) times = measure_link(bytes, 25);
  state.SetIterationTime(times.both_us * 1e-6);
  state.counters["to_device_us"] = times.to_device_us;
  state.counters["from_device_us"] = times.from_device_us;
  state.counters["both_us"] = times.both_us;
  state.counters["fps"] = 1e6 / times.both_us;
}

class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool failed = false;  ///< a row has ended in an error

  bool ReportContext(const Context&) override {
    std::printf("%-52s %9s %9s %9s %9s %10s %11s %s\n", "row", "fps", "p50 us", "p99 us", "p99.9 us", "thread CPU",
                "process CPU", "");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const std::string name = run.run_name.function_name;
      if (const std::string* why = why_skipped(run)) {
        failed = true;
        std::printf("%-52s %s\n", name.c_str(), why->c_str());
        continue;
      }
      const auto value = [&](const char* key) {
        const auto found = run.counters.find(key);
        return found == run.counters.end() ? 0.0 : static_cast<double>(found->second);
      };
      std::printf("%-52s %9.1f %9.1f %9.1f %9.1f %10.1f %11.1f %s", name.c_str(), value("fps"), value("p50_us"),
                  value("p99_us"), value("p999_us"), value("thread_cpu_us"), value("process_cpu_us"),
                  run.report_label.c_str());
      for (const char* key : {"late", "cores", "change_us", "to_device_us", "from_device_us", "both_us"})
        if (run.counters.count(key)) std::printf(" %s %.1f", key, value(key));
      std::printf("\n");
      std::fflush(stdout);
    }
  }
};

/// Registers a row whose exceptions become the row's error.
template <class Run>
void add(const std::string& name, Run run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [run](benchmark::State& state) {
                                 try {
                                   run(state);
                                 } catch (const std::exception& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1);
}

bool factory_exists(const char* launch_line) {
  const std::string text = launch_line;
  GstElementFactory* factory = gst_element_factory_find(text.substr(0, text.find(' ')).c_str());
  if (factory) gst_object_unref(factory);
  return factory != nullptr;
}

void add_rows(const Options& options, bool cuda) {
  for (const ElementRow& row : rows) {
    if (!cuda && std::strncmp(row.memory->name, "cuda", 4) == 0) continue;
    if (row.peer && !factory_exists(row.peer)) continue;
    add(std::string("element/") + row.memory->name + "/" + row.format + "/" + row.size + "/" + row.filter,
        [row, options](benchmark::State& state) { run_element(state, row, options); });
  }
  for (const ChangeRow& row : change_rows) {
    if (!cuda && std::strncmp(row.memory->name, "cuda", 4) == 0) continue;
    add(std::string("changes/") + row.memory->name + "/" + row.format + "/" + row.size + "/" + row.filter,
        [row, options](benchmark::State& state) { run_changes(state, row, options); });
  }
  for (const MemoryRow* memory : {&cpu_one_thread, &cuda_memory, &cuda_locked}) {
    if (!cuda && std::strncmp(memory->name, "cuda", 4) == 0) continue;
    for (int n : {1, 4, 16, 64}) {
      if (memory == &cpu_one_thread && n > 4) continue;
      add(std::string("streams/") + memory->name + "/" + std::to_string(n),
          [memory, n, options](benchmark::State& state) { run_streams(state, *memory, n, options); });
    }
  }
  if (cuda)
    add("link/page-locked/RGBA/4K", [](benchmark::State& state) { run_link(state, std::size_t{3840} * 2160 * 4); });
}

}  // namespace
}  // namespace convolve::bench

int main(int argc, char** argv) {
  using namespace convolve::bench;
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick")
      options = {.frames = 3, .seconds = 0.1, .quick = true};
    else if (argument.starts_with("--frames="))
      options.frames = std::atoi(argv[i] + 9);
    else if (argument.starts_with("--seconds="))
      options.seconds = std::atof(argv[i] + 10);
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  gst_init(nullptr, nullptr);
  add_rows(options, have_link());
  TableReporter table;
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks(&table);
  benchmark::Shutdown();
  return ran > 0 && !table.failed ? 0 : 1;
}
