// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A stand-in for the CUDA runtime, linked into the plugin under test in place of libcudart_static.a, which asks the
// driver for private tables that no stand-in could offer. It has the functions that the plugin calls, each of them one
// call of the driver, found as the real runtime finds them: cuGetProcAddress() in libcuda.so.1.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <utility>

#undef cuGetProcAddress

namespace {

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

/// A driver function by its name; null where there is no driver.
void* find(const char* name) {
  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  static const auto get = [] {
    void* library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library ? reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2")) : nullptr;
  }();
  void* function = nullptr;
  if (get) get(name, &function, 12000, 0, nullptr);
  return function;
}

/// Runtime and driver share the numbers of their errors.
template <class... Parameters, class... Arguments>
cudaError_t call(CUresult (*function)(Parameters...), Arguments... arguments) {
  return note(function ? static_cast<cudaError_t>(function(static_cast<Parameters>(arguments)...))
                       : cudaErrorInsufficientDriver);
}

/// The real runtime compares versions when it is first used. A session's first call here is to make a stream.
cudaError_t check_version() {
  int version = 0;
  static const auto get_version = reinterpret_cast<CUresult (*)(int*)>(find("cuDriverGetVersion"));
  const cudaError_t error = call(get_version, &version);
  if (error != cudaSuccess) return error;
  return note(version / 1000 < CUDART_VERSION / 1000 ? cudaErrorInsufficientDriver : cudaSuccess);
}

CUdeviceptr device(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

/// Looks the function up once, with the signature that cuda.h gives it.
#define DRIVER(name) static const auto driver = reinterpret_cast<decltype(&name)>(find(#name))

extern "C" {

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver) return "CUDA driver version is insufficient for CUDA runtime version";
  DRIVER(cuGetErrorString);
  const char* text = nullptr;
  if (driver) driver(static_cast<CUresult>(error), &text);
  return text ? text : "unknown error";
}

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  return last_error;
}

cudaError_t cudaDriverGetVersion(int* version) {
  DRIVER(cuDriverGetVersion);
  return call(driver, version);
}

// --- Memory --------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  DRIVER(cuMemAlloc);
  CUdeviceptr address = 0;
  const cudaError_t error = call(driver, &address, bytes);
  *memory = reinterpret_cast<void*>(address);
  return error;
}

cudaError_t cudaFree(void* memory) {
  DRIVER(cuMemFree);
  return memory ? call(driver, device(memory)) : cudaSuccess;
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  DRIVER(cuMemHostAlloc);
  return call(driver, memory, bytes, flags);
}

cudaError_t cudaFreeHost(void* memory) {
  DRIVER(cuMemFreeHost);
  return call(driver, memory);
}

cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  DRIVER(cuMemHostRegister);
  return call(driver, memory, bytes, flags);
}

cudaError_t cudaHostUnregister(void* memory) {
  DRIVER(cuMemHostUnregister);
  return call(driver, memory);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  DRIVER(cuMemcpyDtoDAsync);
  static const auto up = reinterpret_cast<decltype(&cuMemcpyHtoDAsync)>(find("cuMemcpyHtoDAsync"));
  static const auto down = reinterpret_cast<decltype(&cuMemcpyDtoHAsync)>(find("cuMemcpyDtoHAsync"));
  if (kind == cudaMemcpyHostToDevice) return call(up, device(to), from, bytes, stream);
  if (kind == cudaMemcpyDeviceToHost) return call(down, to, device(from), bytes, stream);
  if (kind == cudaMemcpyDeviceToDevice) return call(driver, device(to), device(from), bytes, stream);
  return note(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  DRIVER(cuMemcpy2DAsync);
  CUDA_MEMCPY2D copy{};
  copy.srcPitch = from_pitch;
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  copy.srcMemoryType = kind == cudaMemcpyHostToDevice ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = kind == cudaMemcpyDeviceToHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.srcHost = from;
  copy.srcDevice = device(from);
  copy.dstHost = to;
  copy.dstDevice = device(to);
  return call(driver, &copy, stream);
}

// --- Streams and events --------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  DRIVER(cuStreamCreate);
  const cudaError_t error = check_version();
  return error != cudaSuccess ? error : call(driver, stream, flags);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  DRIVER(cuStreamDestroy);
  return call(driver, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  DRIVER(cuStreamSynchronize);
  return call(driver, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  DRIVER(cuStreamWaitEvent);
  return call(driver, stream, event, flags);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  DRIVER(cuEventCreate);
  return call(driver, event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  DRIVER(cuEventDestroy);
  return call(driver, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  DRIVER(cuEventRecord);
  return call(driver, event, stream);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  DRIVER(cuEventQuery);
  return call(driver, event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  DRIVER(cuEventSynchronize);
  return call(driver, event);
}
}
