// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every driver function that a stream calls is made to fail at its first, second, third... call, until none is left to
// fail. Each run ends with all frames right, or with one error and no wrong frame; nothing is left behind; the next
// start of the same element works. With DRIVER_BELOW set to a real libcuda.so.1 the same runs on a GPU, except for
// what only the stand-in can tell (what is left behind, calls without a context).
#include "faults.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "scenario.hpp"
#include "standin.hpp"

namespace driver_test {
namespace {

struct Fault {
  const char* name;
  int error;     ///< a CUresult
  bool lasting;  ///< the context is lost
};
constexpr Fault out_of_memory{"out of memory", 2, false};
constexpr Fault illegal_address{"illegal address", 700, true};
constexpr Fault device_lost{"device lost", 999, true};
constexpr Fault no_kernel_image{"no kernel image", 209, false};
constexpr Fault map_failed{"map failed", 205, false};
constexpr Fault too_old{"driver too old", 803, false};

std::vector<Fault> faults_of(const std::string& function) {
  std::vector<Fault> faults{out_of_memory, illegal_address};
  if (function == "cuStreamSynchronize" || function == "cuMemHostAlloc") faults.push_back(device_lost);
  if (function == "cuLaunchKernel") faults.push_back(no_kernel_image);
  if (function == "cuMemHostRegister") faults.push_back(map_failed);
  if (function == "cuInit" || function == "cuDriverGetVersion") faults.push_back(too_old);
  return faults;
}

const bool standin = std::getenv("DRIVER_BELOW") == nullptr;
int runs = 0, injected = 0, absorbed = 0, failures = 0;
std::map<std::string, int> functions;
std::string running;  ///< for the watchdog

void fail(const std::string& label, const std::string& what) {
  ++failures;
  std::printf("FAILED: %s: %s\n", label.c_str(), what.c_str());
}

StandinCounts counts() {
  StandinCounts now{};
  standin_counts(&now);
  return now;
}

/// GstBufferPool forgets the buffers that it has when the allocation of another fails while it starts, and with them
/// their context.
bool leaked_by_a_pool(const std::string& label) {
  return label.starts_with("device memory: cuMemAllocPitch") || label.starts_with("device memory: cuCtxPopCurrent");
}

/// Compares with `before` what the driver holds when the element has stopped. It keeps its context until it goes, as
/// what else an element shares with others.
void check_stopped(const std::string& label, const StandinCounts& before) {
  if (!standin || label.find("cuCtxPushCurrent") != std::string::npos) return;
  const StandinCounts now = counts();
  const auto check = [&](int left, const char* what) {
    if (left > 0) fail(label, std::to_string(left) + " " + what + " left");
  };
  if (!leaked_by_a_pool(label)) check(now.device_blocks - before.device_blocks, "blocks of device memory");
  check(now.host_blocks - before.host_blocks, "blocks of host memory");
  check(now.registrations - before.registrations, "registrations of host memory");
  check(now.streams - before.streams, "streams");
  check(now.events - before.events, "events");
}

/// The same when the element is gone, which a fault that lasts has kept from freeing what its context holds.
void check_gone(const std::string& label, const StandinCounts& before, bool lasting) {
  static int pushed = standin_pushed_contexts();  // gst_cuda_context_new() itself forgets one where it fails half way
  const int forgotten = std::exchange(pushed, standin_pushed_contexts());
  if (!standin) return;
  if (label.find("cuCtxPushCurrent") != std::string::npos) {
    // What is to be freed in a context that cannot be entered stays. GStreamer's own functions work on without one.
    if (!label.starts_with("device memory") && counts().strayed != 0)
      fail(label, std::string("work without a context, first: ") + standin_first_misuse());
    if (!label.starts_with("device memory") && pushed != forgotten) fail(label, "a pop without a push");
    return standin_forget();
  }
  const bool start_of_a_pool = leaked_by_a_pool(label);
  const StandinCounts now = counts();
  if (now.contexts != before.contexts && !start_of_a_pool)
    fail(label, std::to_string(now.contexts - before.contexts) + " contexts left");
  if (now.lost != 0 && !lasting) fail(label, std::to_string(now.lost) + " things went with their context");
  if (now.misuses != 0) fail(label, std::string("misuse: ") + standin_first_misuse());
  if (label.find("cuCtxCreate") == std::string::npos && pushed != forgotten) fail(label, "a context stayed current");
  standin_forget();
}

void check_faulty(const Runner& runner, const Outcome& outcome, bool automatic, const std::string& label) {
  if (outcome.buffers_left != 0) fail(label, std::to_string(outcome.buffers_left) + " input buffers are left");
  if (outcome.errors.size() > 1) fail(label, "more than one error, the last: " + outcome.errors.back());
  if (outcome.warnings.size() > (automatic ? 1u : 0u)) fail(label, "unexpected warning: " + outcome.warnings.back());
  // GStreamer's elements stop without a message, or go on with what they could not copy.
  if (runner.has_neighbours()) return;
  const std::string wrong = outcome.errors.empty() ? runner.complete(outcome) : runner.right_so_far(outcome);
  if (!wrong.empty()) fail(label, wrong);
  if (outcome.errors.empty()) ++absorbed;
}

void check_recovery(const Runner& runner, GstElement* element, const std::string& label) {
  const Outcome outcome = runner.run(element);
  ++runs;
  const std::string text = label + ", the next start";
  if (!outcome.errors.empty()) fail(text, outcome.errors[0]);
  if (const std::string wrong = runner.complete(outcome); !wrong.empty()) fail(text, wrong);
  if (outcome.backend != "cuda") fail(text, "runs on " + outcome.backend);
}

/// One run with a fault that `begin` brings about and `end` ends, and one without. False where `fired` says that
/// nothing failed.
template <class Begin, class Fired, class End>
bool run_faulty(const Runner& runner, const std::string& label, bool automatic, bool lasting, Begin begin, Fired fired,
                End end) {
  running = label;
  alarm(30);
  const StandinCounts before = counts();
  element_test::Owned<GstElement> element = runner.make();
  begin();
  const Outcome outcome = runner.run(element.get());
  const bool any = fired(outcome);
  end();
  ++runs;
  if (any) {
    check_faulty(runner, outcome, automatic, label);
    if (!lasting) check_stopped(label, before);
    // A lost context is lost to all who share it, as GStreamer's own elements do; the filter makes another one.
    if (lasting && !runner.has_neighbours()) check_recovery(runner, element.get(), label + ", in the same pipeline");
    if (lasting) element = runner.make();
    check_recovery(runner, element.get(), label);
  }
  element.reset();
  if (any) check_gone(label, before, lasting);
  alarm(0);
  return any;
}

/// Fails the n-th call; false where there is none.
bool run_one(const Runner& runner, const std::string& function, const Fault& fault, int n, bool automatic) {
  const std::string label = std::string(runner.scenario().name) + (automatic ? ", auto: " : ": ") + function +
                            " call " + std::to_string(n) + ": " + fault.name;
  const bool fired = run_faulty(
      runner, label, automatic, fault.lasting,
      [&] {
        faults_reset();
        faults_arm(function.c_str(), static_cast<std::uint64_t>(n), fault.error, fault.lasting);
      },
      [](const Outcome&) { return faults_fired(); }, faults_reset);
  if (fired) ++injected, ++functions[function];
  return fired;
}

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// On a GPU, where each run makes contexts, the work is spread over processes and ends in time.
/// DRIVER_FAULTS_SHARE=i/k: of each k functions the i-th, counted from 0. DRIVER_FAULTS_SECONDS: how long all
/// scenarios take together, from the start of the process. A fault is begun only where one that takes as long as the
/// longest so far would end in time; what is left of a scenario's part goes to those after it.
struct Share {
  unsigned index = 0, of = 1;
  long seconds = 0;  ///< 0: without end
  const Clock::time_point start = Clock::now();

  Share() {
    if (const char* share = std::getenv("DRIVER_FAULTS_SHARE"))
      if (std::sscanf(share, "%u/%u", &index, &of) != 2 || index >= of) {
        std::fprintf(stderr, "DRIVER_FAULTS_SHARE is \"%s\"; like 0/8\n", share);
        std::exit(2);
      }
    if (const char* text = std::getenv("DRIVER_FAULTS_SECONDS")) seconds = std::atol(text);
  }
};
const Share share;
Seconds longest{0};        ///< of all faults so far, with the runs that follow them
Clock::time_point finish;  ///< of the scenario that runs
int left_out = 0;          ///< functions with a fault whose later calls were not reached in time

struct Series {
  std::string function;
  Fault fault;
};

bool is_over() {
  return share.seconds > 0 && Clock::now() + std::chrono::duration_cast<Clock::duration>(longest) >= finish;
}

/// Gives the next of `scenarios` that are still to run its part of the time.
void share_time_among(int scenarios) {
  const Clock::time_point now = Clock::now();
  finish = now + (share.start + std::chrono::seconds(share.seconds) - now) / scenarios;
}

/// The first call of each function with each of its faults, then the second calls, and so on: what runs out of time has
/// failed every function at its first calls.
void run_scenario(const Scenario& scenario, bool automatic, const char* only) {
  const StandinCounts before = counts();
  const Runner runner(scenario);
  faults_reset();
  runner.run(runner.make().get());
  std::vector<Series> open;
  for (int i = 0; const char* name = faults_called(i); ++i)
    if (only ? std::string(name) == only : static_cast<unsigned>(i) % share.of == share.index)
      for (const Fault& fault : faults_of(name)) open.push_back({name, fault});
  check_stopped(scenario.name, before);
  check_gone(scenario.name, before, false);
  for (int n = 1; !open.empty() && !is_over(); ++n)
    std::erase_if(open, [&](const Series& series) {
      if (is_over()) return false;
      const Clock::time_point begin = Clock::now();
      const bool any = run_one(runner, series.function, series.fault, n, automatic);
      longest = std::max(longest, Seconds(Clock::now() - begin));
      return !any;
    });
  left_out += static_cast<int>(open.size());
}

void run_with_old_driver(const std::string& backend) {
  const bool automatic = backend == "auto";
  const std::string label = "a driver of CUDA 11.4, backend=" + backend;
  run_faulty(
      Runner(make_scenarios(backend)[1]), label, automatic, false, [] { standin_report_version(11040); },
      [&](const Outcome& outcome) {
        if (outcome.errors.size() != (automatic ? 0u : 1u)) fail(label, "no error");
        if (outcome.warnings.size() != (automatic ? 1u : 0u)) fail(label, "no warning");
        return true;
      },
      [] { standin_report_version(13000); });
}

void run_with_little_memory() {
  for (const Scenario& scenario : make_scenarios("cuda")) {
    const Runner runner(scenario);
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{5000}, std::size_t{3} << 20})
      run_faulty(
          runner, std::string(scenario.name) + " with " + std::to_string(bytes) + " bytes on the device", false, false,
          [&] { standin_limit_device_memory(bytes); }, [](const Outcome&) { return true; },
          [] { standin_limit_device_memory(std::size_t{2} << 30); });
  }
}

/// Memory for a filter that is refused once is asked for again when what the element has to spare is freed.
void run_refused_once() {
  const Runner runner(make_scenarios("cuda")[1]);
  const std::string label = "memory for the filter refused once";
  run_faulty(
      runner, label, false, false,
      [] {
        faults_reset();
        faults_arm("cuMemAlloc", 1, out_of_memory.error, false);
      },
      [&](const Outcome& outcome) {
        if (!faults_fired() || !outcome.errors.empty()) fail(label, "the stream stops");
        return true;
      },
      faults_reset);
}

void hung(int) {
  std::fprintf(stderr, "FAILED: %s: it hangs\n", running.c_str());
  _exit(1);
}

const char* only_function = nullptr;
std::string only_scenario;

// In a test case, as the harness's checks want one around them.
ELEMENT_TEST(each_call_of_the_driver_fails_in_turn) {
  // Loading nvcodec leaves a context current on the thread that does it.
  const element_test::Owned<GstElement> upload(gst_element_factory_make("cudaupload", nullptr));
  std::vector<std::pair<Scenario, bool>> scenarios;  // and whether the backend is chosen
  for (const char* backend : {"cuda", "auto"})
    for (Scenario& scenario : make_scenarios(backend)) {
      const bool automatic = *backend == 'a';
      // What differs is the start, which one scenario shows.
      if (automatic && scenario.name != std::string("window")) continue;
      if (only_scenario.empty() || only_scenario == scenario.name)
        scenarios.emplace_back(std::move(scenario), automatic);
    }
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    share_time_among(static_cast<int>(scenarios.size() - i));
    run_scenario(scenarios[i].first, scenarios[i].second, only_function);
  }
  if (standin && !only_function) {
    run_with_old_driver("cuda");
    run_with_old_driver("auto");
    run_with_little_memory();
    run_refused_once();
  }
  for (const auto& [name, times] : functions) std::printf("%s: %d faults\n", name.c_str(), times);
  std::printf("%zu functions, %d faults injected (%d of them without a lost frame), %d runs, %d failures\n",
              functions.size(), injected, absorbed, runs, failures);
  if (left_out > 0) std::printf("out of time: %d pairs of function and fault had later calls\n", left_out);
  CHECK(failures == 0 && injected > 0, "%d failures", failures);
}

// From READY, where the backend stays open.
ELEMENT_TEST(a_context_lost_while_playing_is_renewed_at_the_next_start) {
  using namespace element_test;
  std::mt19937 random(95);
  const GstVideoInfo info = video_info("NV12", 32, 16);
  Harness harness(make_element("backend=cuda preset=sharpen"));
  harness.set_caps(info);
  const Owned<GstBuffer> input = random_buffer(random, info);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "the first frame");
  faults_arm("cuStreamSynchronize", 1, illegal_address.error, true);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_ERROR, "the GPU failed, and the frame did not");
  faults_reset();
  CHECK(harness.errors().size() == 1, "not one error");
  gst_element_set_state(harness.element(), GST_STATE_READY);
  CHECK(gst_element_set_state(harness.element(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE, "no start");
  harness.push_event(gst_event_new_stream_start("again"));
  harness.set_caps(info);
  harness.push_segment();
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "the next start runs in the context that is lost");
  CHECK(harness.string("active-backend") == "cuda", "it runs on another backend");
}

}  // namespace
}  // namespace driver_test

/// Arguments: a function's name and a scenario's, to run those alone.
int main(int count, char** arguments) {
  using namespace driver_test;
  gst_init(nullptr, nullptr);
  signal(SIGALRM, hung);
  if (!element_test::have_gpu()) {
    std::puts("SKIP: GStreamer's cudaupload does not register here");
    return 77;
  }
  if (count > 1) only_function = arguments[1];
  if (count > 2) only_scenario = arguments[2];
  return element_test::run_tests("driver-faults", false);
}
