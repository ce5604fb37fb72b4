// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel times on CUDA: a graph of many frames, replayed and timed by events, beside a graph of as many copies.
//
// Frames rotate over four times the L2, windows slide by one frame as in a stream, samples are random. Each iteration
// replays both graphs, so that a change of clocks hits both.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "bench.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

class Graph {
 public:
  Graph(cudaStream_t stream, const std::function<void()>& record) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    record();
    CHECK(cudaStreamEndCapture(stream_, &graph));
    CHECK(cudaGraphInstantiate(&executable_, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventCreate(&start_));
    CHECK(cudaEventCreate(&stop_));
    CHECK(cudaGraphUpload(executable_, stream_));
  }
  ~Graph() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaGraphExecDestroy(executable_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  double replay_us() {
    float ms = 0;
    CHECK(cudaEventRecord(start_, stream_));
    CHECK(cudaGraphLaunch(executable_, stream_));
    CHECK(cudaEventRecord(stop_, stream_));
    CHECK(cudaEventSynchronize(stop_));
    CHECK(cudaEventElapsedTime(&ms, start_, stop_));
    return ms * 1000.0;
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

/// Device frames of one layout, inputs random; kept from row to row while the layout stays.
class DeviceFrames {
 public:
  DeviceFrames(const FrameLayout& layout, std::size_t total)
      : layout_(layout), shape_(layout), pitch_((shape_.bytes + 65535) / 65536 * 65536) {
    count_ = static_cast<int>(std::max<std::size_t>(6, (total + 2 * shape_.bytes - 1) / (2 * shape_.bytes)));
    CHECK(cudaMalloc(&memory_, pitch_ * 2 * count_));
    const std::vector<unsigned char> data = random_frames(layout.type, shape_.bytes);
    for (int i = 0; i < 2 * count_; ++i) CHECK(cudaMemcpy(base(i), data.data(), shape_.bytes, cudaMemcpyHostToDevice));
    for (int i = 0; i < 2 * count_; ++i) images_.push_back(shape_.at(base(i)));
  }
  ~DeviceFrames() { cudaFree(memory_); }
  DeviceFrames(const DeviceFrames&) = delete;
  DeviceFrames& operator=(const DeviceFrames&) = delete;

  const FrameLayout& layout() const { return layout_; }
  int count() const { return count_; }
  /// The window that ends with frame `i`, and where its output goes.
  Window window(int i, int depth) const {
    Window window{.depth = depth};
    for (int t = 0; t < depth; ++t) window.image[t] = &images_[static_cast<std::size_t>((i + t) % count_)];
    return window;
  }
  const Image& out(int i) const { return images_[static_cast<std::size_t>(count_ + i % count_)]; }
  void copy(int i, cudaStream_t stream) const {
    CHECK(cudaMemcpyAsync(base(count_ + i % count_), base(i % count_), shape_.bytes, cudaMemcpyDeviceToDevice, stream));
  }

 private:
  char* base(int i) const { return static_cast<char*>(memory_) + pitch_ * static_cast<std::size_t>(i); }

  FrameLayout layout_;
  FrameShape shape_;
  std::size_t pitch_;  ///< from frame to frame; memcpy is slower from addresses that are no multiple of 4096
  int count_ = 0;
  void* memory_ = nullptr;
  std::vector<Image> images_;
};

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
