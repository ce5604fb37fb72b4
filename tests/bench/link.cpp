// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link.hpp"

#ifdef CONVOLVE_HAVE_CUDA

#include <cuda_runtime_api.h>

#include <functional>
#include <stdexcept>

#include "element_runner.hpp"
#include "statistics.hpp"

namespace convolve::bench {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

double median_us(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs + 2; ++i) {
    const double start = wall_us();
    work();
    if (i > 1) times.push_back(wall_us() - start);
  }
  return median(times);
}

}  // namespace

bool have_link() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

LinkTimes measure_link(std::size_t bytes, int runs) {
  void *in = nullptr, *out = nullptr, *device_in = nullptr, *device_out = nullptr;
  cudaStream_t up = nullptr, down = nullptr;
  check(cudaMallocHost(&in, bytes));
  check(cudaMallocHost(&out, bytes));
  check(cudaMalloc(&device_in, bytes));
  check(cudaMalloc(&device_out, bytes));
  check(cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking));
  const auto upload = [&] { check(cudaMemcpyAsync(device_in, in, bytes, cudaMemcpyHostToDevice, up)); };
  const auto download = [&] { check(cudaMemcpyAsync(out, device_out, bytes, cudaMemcpyDeviceToHost, down)); };
  const auto wait = [&] {
    check(cudaStreamSynchronize(up));
    check(cudaStreamSynchronize(down));
  };
  const LinkTimes times{.to_device_us = median_us(runs,
                                                  [&] {
                                                    upload();
                                                    wait();
                                                  }),
                        .from_device_us = median_us(runs,
                                                    [&] {
                                                      download();
                                                      wait();
                                                    }),
                        .both_us = median_us(runs, [&] {
                          upload();
                          download();
                          wait();
                        })};
  cudaStreamDestroy(up);
  cudaStreamDestroy(down);
  cudaFree(device_in);
  cudaFree(device_out);
  cudaFreeHost(in);
  cudaFreeHost(out);
  return times;
}

}  // namespace convolve::bench

#else

namespace convolve::bench {
bool have_link() {
  return false;
}
LinkTimes measure_link(std::size_t, int) {
  return {};
}
}  // namespace convolve::bench

#endif
