// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the CUDA rows are measured with: graphs of many frames, and the frames in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "cases.hpp"

namespace convolve::bench {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

/// What is recorded on a stream, to be replayed and timed by events.
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
    const std::vector<unsigned char> data = random_frames(layout, shape_.bytes);
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
  const Image& out(int i) const {
    return images_[static_cast<std::size_t>(count_) + static_cast<std::size_t>(i % count_)];
  }
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

}  // namespace convolve::bench
