// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel times on CUDA: a graph of many frames, replayed and timed by events, beside a graph of as many copies.
//
// Frames rotate over four times the L2, windows slide by one frame as in a stream, samples are random. Each iteration
// replays both graphs, so that a change of clocks hits both.
#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>

#include "bench.hpp"
#include "cuda_frames.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

/// What all rows share.
struct Cuda {
  std::unique_ptr<Backend> backend;
  cudaStream_t stream = nullptr;
  std::size_t rotated_bytes = 0;
  std::unique_ptr<DeviceFrames> frames;

  DeviceFrames& frames_of(const FrameLayout& layout) {
    if (!frames || !(frames->layout() == layout)) {
      frames.reset();
      frames = std::make_unique<DeviceFrames>(layout, rotated_bytes);
    }
    return *frames;
  }
};

void run(benchmark::State& state, Cuda& cuda, const PlanDesc& desc) {
  std::unique_ptr<Plan> plan;
  try {
    plan = cuda.backend->make_plan(desc);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
    return;
  }
  const DeviceFrames& frames = cuda.frames_of(desc.layout);
  const char* fault = nullptr;
  const auto filter = [&](int n) {
    for (int i = 0; i < n && !fault; ++i)
      fault = plan->enqueue(frames.window(i, desc.filter.depth()), frames.out(i), cuda.stream);
  };
  filter(frames.count());
  CHECK(cudaStreamSynchronize(cuda.stream));
  const auto before = std::chrono::steady_clock::now();
  filter(frames.count());
  const double host_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count() / frames.count();
  CHECK(cudaStreamSynchronize(cuda.stream));
  if (fault) {
    state.SkipWithError(fault);
    return;
  }
  const double rough_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count() / frames.count();
  // About a millisecond of frames in a graph: its start costs nothing, and slow kernels do not hold up the rest.
  constexpr int most = 96;
  const int n = std::clamp(static_cast<int>(1000 / rough_us), 4, most);
  Graph filters(cuda.stream, [&] { filter(n); });
  Graph copies(cuda.stream, [&] {
    for (int i = 0; i < most; ++i) frames.copy(i, cuda.stream);
  });
  if (fault) {
    state.SkipWithError(fault);
    return;
  }
  filters.replay_us();
  copies.replay_us();
  std::vector<double> us, copy_us;
  for ([[maybe_unused]] auto iteration : state) {
    us.push_back(filters.replay_us() / n);
    copy_us.push_back(copies.replay_us() / most);
    state.SetIterationTime(us.back() * 1e-6);
  }
  count(state, desc, median(us), median(copy_us));
  state.counters["enqueue_us"] = host_us;
  state.SetLabel(plan->describe());
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

}  // namespace

bool register_cuda(const Options& options) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "bench: no CUDA device: CUDA rows are left out\n");
    return false;
  }
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  auto cuda = std::make_shared<Cuda>();
  try {
    cuda->backend = make_cuda_backend();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s: CUDA rows are left out\n", error.what());
    return false;
  }
  CHECK(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
  const int l2 = attribute(cudaDevAttrL2CacheSize);
  cuda->rotated_bytes = options.quick ? 0 : std::size_t{4} * static_cast<std::size_t>(l2);

  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int driver = 0, runtime = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  benchmark::AddCustomContext("gpu", properties.name);
  benchmark::AddCustomContext("compute_capability",
                              std::to_string(properties.major) + "." + std::to_string(properties.minor));
  benchmark::AddCustomContext("multiprocessors", std::to_string(properties.multiProcessorCount));
  benchmark::AddCustomContext("clock_khz", std::to_string(attribute(cudaDevAttrClockRate)));
  benchmark::AddCustomContext("l2_bytes", std::to_string(l2));
  benchmark::AddCustomContext("cuda_driver_api", std::to_string(driver));
  benchmark::AddCustomContext("cuda_runtime", std::to_string(runtime));

  register_cuda_regions(options, cuda->rotated_bytes);
  std::vector<Algorithm> algorithms{Algorithm::automatic};
  for (Algorithm algorithm : cuda->backend->algorithms()) algorithms.push_back(algorithm);
  for (const Case& c : all_cases()) {
    PlanDesc desc = c.desc(options.width, options.height);
    for (Algorithm algorithm : algorithms) {
      desc.algorithm = algorithm;
      if (!cuda->backend->serves(algorithm, desc)) continue;  // not even `auto`: the filter is too large
      benchmark::RegisterBenchmark(("cuda/" + std::string(nick(algorithm)) + "/" + c.name()).c_str(),
                                   [cuda, desc](benchmark::State& state) { run(state, *cuda, desc); })
          ->UseManualTime()
          ->Iterations(options.iterations);
    }
  }
  return true;
}

}  // namespace convolve::bench
