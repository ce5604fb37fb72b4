// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/device.hpp"

namespace convolve::cuda {
namespace {

__global__ void trial_kernel() {}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  switch (error) {
    case cudaErrorInsufficientDriver: {
      int driver = 0;
      cudaDriverGetVersion(&driver);
      if (driver == 0) throw PlanError("no NVIDIA driver was found");
      throw PlanError("the NVIDIA driver serves CUDA " + std::to_string(driver / 1000) + "." +
                      std::to_string(driver % 1000 / 10) + ", which is too old: CUDA " +
                      std::to_string(CUDART_VERSION / 1000) + " is needed");
    }
    case cudaErrorNoDevice:
      throw PlanError("no NVIDIA GPU was found");
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      throw PlanError("this build holds no code for this GPU (see the meson option cuda-arch)");
    default:
      throw PlanError(std::string("a trial launch on the GPU failed: ") + cudaGetErrorString(error));
  }
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

}  // namespace

Device probe_device() {
  int index = 0;
  check(cudaGetDevice(&index));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  trial_kernel<<<1, 1, 0, stream>>>();
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  check(error);

  Device device;
  device.capability =
      10 * attribute(cudaDevAttrComputeCapabilityMajor, index) + attribute(cudaDevAttrComputeCapabilityMinor, index);
  // Kernels have what they were compiled for, which is less than the GPU has where the driver made the code from PTX.
  cudaFuncAttributes code{};
  if (cudaFuncGetAttributes(&code, trial_kernel) != cudaSuccess)
    cudaGetLastError();
  else if (code.ptxVersion > 0)
    device.capability = std::min(device.capability, code.ptxVersion);
  device.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, index);
  device.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
  // Parameters past 4 KB came with CUDA 12.1, for compiler and driver alike.
  int driver = 0;
  check(cudaDriverGetVersion(&driver));
  if (CUDART_VERSION >= 12010 && driver >= 12010) device.parameter_bytes = 32764;
  return device;
}

}  // namespace convolve::cuda
