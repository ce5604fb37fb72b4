// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel times on the CPU, one thread ("cpu1") and two ("cpu2"), beside memcpy and, in the rows of `auto`, OpenCV.
//
// Ours, the copy and the peers take turns within each iteration, on the same frames, so that what else the machine does
// hits all alike. One thread is timed by the process's CPU time, which leaves out what others took; two by the wall
// clock, after a few untimed frames, as in a stream: while the peers run on one core the other falls asleep. Rows of
// two threads take turns with one thread too, by the same clock and after as many frames: a core's clock and its
// neighbours' load change from row to row. Counters beside the shared ones: <peer>_us, and vs_<peer>, the peer's time
// over ours; that peer is `one_thread`.
#include <functional>
#include <memory>

#include "bench.hpp"
#include "host_frames.hpp"
#include "opencv_peers.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

constexpr int awake = 4;  // frames before the timed one

struct Cpu {
  std::shared_ptr<Backend> backend;
  unsigned threads;
  std::shared_ptr<Backend> one_thread;                  ///< null where `backend` is that
  std::shared_ptr<std::unique_ptr<HostFrames>> frames;  ///< shared by all thread counts

  HostFrames& frames_of(const FrameLayout& layout) const {
    if (!*frames || !((*frames)->layout() == layout)) {
      frames->reset();
      *frames = std::make_unique<HostFrames>(layout);
    }
    return **frames;
  }
};

void run(benchmark::State& state, const Cpu& cpu, const PlanDesc& desc) {
  std::unique_ptr<Plan> plan, alone;
  try {
    plan = cpu.backend->make_plan(desc);
    if (cpu.one_thread) alone = cpu.one_thread->make_plan(desc);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
    return;
  }
  const HostFrames& frames = cpu.frames_of(desc.layout);
  const bool cpu_time = cpu.threads == 1;
  const auto timed = [&](const std::function<void()>& work) {
    const double start = clock_us(cpu_time);
    work();
    return clock_us(cpu_time) - start;
  };
  std::vector<Peer> peers;
  if (desc.algorithm == Algorithm::automatic) peers = opencv_peers(desc, cpu.threads);
  std::vector<std::vector<double>> peer_us(peers.size());
  std::vector<double> us, copy_us, alone_us;
  const char* fault = nullptr;
  const auto frame = [&](Plan& with, int at) {
    if (!fault) fault = with.enqueue(frames.window(at, desc.filter.depth()), frames.out(at), nullptr);
  };
  const auto frame_of_stream = [&](Plan& with, int at) {
    for (int k = 1; k <= awake; ++k) frame(with, at + k);
    return timed([&] { frame(with, at); });
  };
  frame(*plan, 0);
  if (alone) frame(*alone, 0);
  for (Peer& peer : peers) peer.run(frames.in(0), frames.out(0));
  int i = 1;
  for ([[maybe_unused]] auto iteration : state) {
    us.push_back(cpu.threads > 1 ? frame_of_stream(*plan, i) : timed([&] { frame(*plan, i); }));
    if (alone) alone_us.push_back(frame_of_stream(*alone, i));
    copy_us.push_back(timed([&] { frames.copy(i + 1); }));
    for (std::size_t p = 0; p < peers.size(); ++p)
      peer_us[p].push_back(timed([&] { peers[p].run(frames.in(i + 2), frames.out(i + 2)); }));
    state.SetIterationTime(us.back() * 1e-6);
    ++i;
  }
  if (fault) {
    state.SkipWithError(fault);
    return;
  }
  count(state, desc, median(us), median(copy_us));
  for (std::size_t p = 0; p < peers.size(); ++p) {
    state.counters[peers[p].name + "_us"] = median(peer_us[p]);
    state.counters["vs_" + peers[p].name] = median(peer_us[p]) / median(us);
  }
  if (alone) {
    state.counters["one_thread_us"] = median(alone_us);
    state.counters["vs_one_thread"] = median(alone_us) / median(us);
  }
  state.SetLabel(plan->describe());
}

}  // namespace

void register_cpu(const Options& options) {
  const auto frames = std::make_shared<std::unique_ptr<HostFrames>>();
  std::vector<std::shared_ptr<Cpu>> cpus;
  const std::shared_ptr<Backend> one = make_cpu_backend(1);
  cpus.push_back(std::make_shared<Cpu>(Cpu{one, 1, nullptr, frames}));
  cpus.push_back(std::make_shared<Cpu>(Cpu{make_cpu_backend(2), 2, one, frames}));
  register_cpu_regions(options);
  for (const Case& c : all_cases()) {
    PlanDesc desc = c.desc(options.width, options.height);
    for (const auto& cpu : cpus) {
      std::vector<Algorithm> algorithms{Algorithm::automatic};
      for (Algorithm algorithm : cpu->backend->algorithms()) algorithms.push_back(algorithm);
      for (Algorithm algorithm : algorithms) {
        desc.algorithm = algorithm;
        if (algorithm != Algorithm::automatic && !cpu->backend->serves(algorithm, desc)) continue;
        const std::string name =
            "cpu" + std::to_string(cpu->threads) + "/" + std::string(nick(algorithm)) + "/" + c.name();
        benchmark::RegisterBenchmark(name.c_str(), [cpu, desc](benchmark::State& state) { run(state, *cpu, desc); })
            ->UseManualTime()
            ->Iterations(options.iterations);
      }
    }
  }
}

}  // namespace convolve::bench
