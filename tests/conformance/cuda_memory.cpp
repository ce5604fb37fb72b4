// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory.hpp"

#ifdef CONVOLVE_HAVE_CUDA
#include <cuda_runtime_api.h>

#include <stdexcept>

namespace conformance {
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class CudaMemory final : public Memory {
 public:
  CudaMemory() {
    check(cudaSetDevice(0));
    // Not ordered behind the NULL stream: a plan that strays from its stream gives wrong results.
    for (cudaStream_t& stream : streams_) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~CudaMemory() override {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  void* allocate(std::size_t size, bool in_vectors) override {
    const std::size_t room = in_vectors ? (size + vector_bytes - 1) / vector_bytes * vector_bytes : size;
    void* data = nullptr;
    check(cudaMalloc(&data, room));
    if (room > size) {
      check(cudaMemsetAsync(static_cast<std::byte*>(data) + size, 0, room - size, streams_[0]));
      check(cudaStreamSynchronize(streams_[0]));
    }
    return data;
  }
  void release(void* data) override { cudaFree(data); }
  void upload(void* to, std::span<const std::byte> from) override {
    check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, streams_[0]));
    check(cudaStreamSynchronize(streams_[0]));
  }
  void download(std::span<std::byte> to, const void* from) override {
    check(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, streams_[0]));
    check(cudaStreamSynchronize(streams_[0]));
  }
  void* stream(int which) override { return streams_[which]; }
  void copy_late(std::span<const LateCopy> copies) override {
    conformance::copy_late(copies, streams_[0]);
    check(cudaGetLastError());
  }
  std::string synchronize() override {
    for (cudaStream_t stream : streams_)
      if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess)
        return cudaGetErrorString(error);
    return {};
  }

 private:
  cudaStream_t streams_[2] = {};
};

}  // namespace

std::unique_ptr<Memory> cuda_memory() {
  return std::make_unique<CudaMemory>();
}

}  // namespace conformance
#endif
