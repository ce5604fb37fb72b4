// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stand-in driver's functions for devices, contexts, streams, events and launches. Names and signatures are those
// of NVIDIA's driver API; memory and copies are in copies.cpp.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "device.hpp"

using namespace standin;

namespace {

constexpr int capability_major = 9, capability_minor = 0;

struct ErrorName {
  CUresult value;
  const char *name, *text;
};
constexpr ErrorName errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX is too new"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported driver"},
};

const ErrorName* find_error(CUresult value) {
  for (const ErrorName& error : errors)
    if (error.value == value) return &error;
  return nullptr;
}

CUresult destroy_stream(CUstream stream) {
  Call call("cuStreamDestroy");
  if (call.failed) return call.failed;
  const std::shared_ptr<Stream> found = Device::get().stream_of(call.context, stream);
  if (!found || found == call.context->legacy) return CUDA_ERROR_INVALID_HANDLE;
  call.context->destroyed.push_back(found);
  call.context->streams.erase(found.get());
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  const std::lock_guard lock(Device::get().mutex);
  *version = Device::get().version;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult value, const char** name) {
  const ErrorName* error = find_error(value);
  *name = error ? error->name : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult value, const char** text) {
  const ErrorName* error = find_error(value);
  *text = error ? error->text : "unknown error";
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  static void* const self = dlopen("libcuda-standin.so", RTLD_LAZY | RTLD_NOLOAD);
  *function = nullptr;
  for (const char* version : {"_v2", ""})
    if (!*function) *function = dlsym(self, (std::string(name) + version).c_str());
  if (status) *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// --- Devices -------------------------------------------------------------------------------------------------------

CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = 0;
  return index == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(size), "Stand-in");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = capability_major;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = capability_minor;
      break;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      *value = 512;
      break;
    default:
      *value = 0;  // nothing that is optional is there
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 0;
  return CUDA_SUCCESS;
}

// --- Contexts ------------------------------------------------------------------------------------------------------

CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice) {
  const std::lock_guard lock(Device::get().mutex);
  Context* made = Device::get().make_context();
  stack().push_back(made);
  *context = reinterpret_cast<CUcontext>(made);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  Context* found = device.find(context);
  if (!found) return device.misuse(CUDA_ERROR_INVALID_CONTEXT, "a context destroyed that is none");
  if (!stack().empty() && stack().back() == found) stack().pop_back();
  device.destroy_context(found);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  Context* found = device.find(context);
  if (!found) return device.misuse(CUDA_ERROR_INVALID_CONTEXT, "a context pushed that is none");
  stack().push_back(found);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  if (stack().empty()) {
    ++device.strayed;
    return device.misuse(CUDA_ERROR_INVALID_CONTEXT, "a context popped where none was pushed");
  }
  if (context) *context = reinterpret_cast<CUcontext>(stack().back());
  stack().pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = stack().empty() ? nullptr : reinterpret_cast<CUcontext>(stack().back());
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  Call call("cuCtxSynchronize");
  if (call.failed) return call.failed;
  ++Device::get().waits;
  Device::get().run_all(*call.context);
  return call.context->error;
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext) {
  return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

// --- Streams and events --------------------------------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  Call call("cuStreamCreate");
  if (call.failed) return call.failed;
  auto made = std::make_shared<Stream>();
  made->context = call.context;
  made->blocking = flags != CU_STREAM_NON_BLOCKING;
  *stream = reinterpret_cast<CUstream>(made.get());
  call.context->streams.emplace(made.get(), made);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return destroy_stream(stream);
}

#undef cuStreamDestroy
CUresult cuStreamDestroy(CUstream stream) {
  return destroy_stream(stream);
}

CUresult cuStreamSynchronize(CUstream stream) {
  Call call("cuStreamSynchronize");
  if (call.failed) return call.failed;
  Device& device = Device::get();
  const std::shared_ptr<Stream> found = device.stream_of(call.context, stream);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  ++device.waits;
  if (found == call.context->legacy) device.run_all(*call.context);
  device.run_until(*found, found->queued);
  return call.context->error;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  Call call("cuStreamWaitEvent");
  if (call.failed) return call.failed;
  const std::shared_ptr<Stream> found = Device::get().stream_of(call.context, stream);
  auto* waited = reinterpret_cast<Event*>(event);
  if (!found || !call.context->events.contains(waited)) return CUDA_ERROR_INVALID_HANDLE;
  if (!waited->stream) return CUDA_SUCCESS;
  found->tasks.push_back({nullptr, waited->stream, waited->position});
  ++found->queued;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  Call call("cuEventCreate");
  if (call.failed) return call.failed;
  auto* made = new Event{call.context, nullptr, 0};
  call.context->events.insert(made);
  *event = reinterpret_cast<CUevent>(made);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  Call call("cuEventDestroy");
  if (call.failed) return call.failed;
  auto* held = reinterpret_cast<Event*>(event);
  if (call.context->events.erase(held) == 0)
    return Device::get().misuse(CUDA_ERROR_INVALID_HANDLE, "an event destroyed that is none");
  delete held;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  Call call("cuEventRecord");
  if (call.failed) return call.failed;
  const std::shared_ptr<Stream> found = Device::get().stream_of(call.context, stream);
  auto* held = reinterpret_cast<Event*>(event);
  if (!found || !call.context->events.contains(held)) return CUDA_ERROR_INVALID_HANDLE;
  held->stream = found;
  held->position = found->queued;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  Call call("cuEventQuery");
  if (call.failed) return call.failed;
  auto* held = reinterpret_cast<Event*>(event);
  if (!call.context->events.contains(held)) return CUDA_ERROR_INVALID_HANDLE;
  return !held->stream || held->stream->done >= held->position ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  Call call("cuEventSynchronize");
  if (call.failed) return call.failed;
  auto* held = reinterpret_cast<Event*>(event);
  if (!call.context->events.contains(held)) return CUDA_ERROR_INVALID_HANDLE;
  ++Device::get().waits;
  if (held->stream) Device::get().run_until(*held->stream, held->position);
  return call.context->error;
}

// --- Launches ------------------------------------------------------------------------------------------------------

CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream stream, void**, void** extra) {
  Call call("cuLaunchKernel");
  if (call.failed) return call.failed;
  Device& device = Device::get();
  const std::shared_ptr<Stream> found = device.stream_of(call.context, stream);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  std::vector<std::byte> parameters;
  const void* buffer = nullptr;
  for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) parameters.resize(*static_cast<std::size_t*>(extra[1]));
  }
  if (buffer) std::memcpy(parameters.data(), buffer, parameters.size());
  const auto kernel = reinterpret_cast<StandinKernel>(function);
  const StandinReach reach = [](void* context, std::uint64_t address, std::size_t bytes) -> void* {
    return Device::get().reach(static_cast<Context*>(context), address, bytes);
  };
  device.queue(found, [kernel, parameters, reach, context = call.context]() mutable {
    return kernel(parameters.data(), reach, context);
  });
  return CUDA_SUCCESS;
}

// --- What GStreamer looks up and nothing here calls ------------------------------------------------------------------

CUresult standin_unsupported() {
  return CUDA_ERROR_NOT_SUPPORTED;
}
}

#define UNSUPPORTED(name) asm(".globl " #name "\n.set " #name ", standin_unsupported\n.type " #name ", @function\n")
UNSUPPORTED(cuGraphicsMapResources);
UNSUPPORTED(cuGraphicsUnmapResources);
UNSUPPORTED(cuGraphicsUnregisterResource);
UNSUPPORTED(cuGraphicsGLRegisterImage);
UNSUPPORTED(cuGraphicsGLRegisterBuffer);
UNSUPPORTED(cuGLGetDevices_v2);
UNSUPPORTED(cuGraphicsResourceSetMapFlags_v2);
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray);
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2);
UNSUPPORTED(cuModuleLoadData);
UNSUPPORTED(cuModuleUnload);
UNSUPPORTED(cuModuleGetFunction);
UNSUPPORTED(cuTexObjectCreate);
UNSUPPORTED(cuTexObjectDestroy);
