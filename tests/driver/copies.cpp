// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The stand-in driver's functions for memory and copies. As in CUDA's manual, a copy from pageable host memory has read
// it when the call returns, a copy to pageable memory is done then, and only page-locked memory is read and written
// later, in the stream's order.
#include <cstdlib>
#include <cstring>

#include "device.hpp"

using namespace standin;

namespace {

/// One side of a copy: rows in host or in device memory.
struct Side {
  bool device = false;
  std::uintptr_t address = 0;
  std::size_t pitch = 0;

  std::size_t extent(std::size_t width, std::size_t height) const { return pitch * (height - 1) + width; }
};

struct Copy {
  Side from, to;
  std::size_t width = 0, height = 0;
};

std::byte* row_of(const Side& side, std::byte* base, std::size_t y) {
  return base + side.pitch * y;
}

/// Runs when the copy's turn in its stream has come. `staged`: rows of pageable memory, read when the copy was queued.
bool run_copy(const Copy& copy, std::vector<std::byte>& staged) {
  const auto base_of = [&](const Side& side) {
    return side.device ? Device::get().reach(nullptr, side.address, side.extent(copy.width, copy.height))
                       : reinterpret_cast<std::byte*>(side.address);
  };
  std::byte* const from = base_of(copy.from);
  std::byte* const to = base_of(copy.to);
  if (!from || !to) {
    Device::get().misuse(CUDA_ERROR_ILLEGAL_ADDRESS, "device memory was freed before a copy had its turn");
    return false;
  }
  for (std::size_t y = 0; y < copy.height; ++y)
    std::memcpy(row_of(copy.to, to, y), staged.empty() ? row_of(copy.from, from, y) : &staged[y * copy.width],
                copy.width);
  return true;
}

CUresult queue_copy(Context* context, const std::shared_ptr<Stream>& stream, const Copy& copy, bool wait) {
  Device& device = Device::get();
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (copy.width == 0 || copy.height == 0) return CUDA_SUCCESS;
  for (const Side* side : {&copy.from, &copy.to}) {
    if (copy.height > 1 && side->pitch < copy.width)
      return device.misuse(CUDA_ERROR_INVALID_VALUE, "a copy whose rows overlap");
    if (side->device && !device.reach(nullptr, side->address, side->extent(copy.width, copy.height)))
      return device.misuse(CUDA_ERROR_INVALID_VALUE, "a copy beyond its block of device memory");
  }
  const auto locked = [&](const Side& side) {
    return side.device ||
           device.page_locked(reinterpret_cast<void*>(side.address), side.extent(copy.width, copy.height));
  };
  std::vector<std::byte> staged;
  if (!locked(copy.from)) {
    staged.resize(copy.width * copy.height);
    for (std::size_t y = 0; y < copy.height; ++y)
      std::memcpy(&staged[y * copy.width], row_of(copy.from, reinterpret_cast<std::byte*>(copy.from.address), y),
                  copy.width);
  }
  device.queue(stream, [copy, staged]() mutable { return run_copy(copy, staged); });
  if (wait) ++device.waits;
  if (wait || !locked(copy.to)) device.run_until(*stream, stream->queued);
  return context->error;
}

Copy copy_of(const CUDA_MEMCPY2D& asked) {
  Copy copy;
  copy.width = asked.WidthInBytes;
  copy.height = asked.Height;
  const auto side = [&](CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch, std::size_t x,
                        std::size_t y) {
    Side made;
    made.device = type == CU_MEMORYTYPE_DEVICE;
    made.pitch = pitch ? pitch : asked.WidthInBytes;
    made.address = (made.device ? device : reinterpret_cast<std::uintptr_t>(host)) + y * made.pitch + x;
    return made;
  };
  copy.from = side(asked.srcMemoryType, asked.srcHost, asked.srcDevice, asked.srcPitch, asked.srcXInBytes, asked.srcY);
  copy.to = side(asked.dstMemoryType, asked.dstHost, asked.dstDevice, asked.dstPitch, asked.dstXInBytes, asked.dstY);
  return copy;
}

CUresult copy_line(const char* function, const Side& from, const Side& to, std::size_t bytes, CUstream stream) {
  Call call(function);
  if (call.failed) return call.failed;
  return queue_copy(call.context, Device::get().stream_of(call.context, stream), {from, to, bytes, 1}, false);
}

Side device_side(CUdeviceptr address) {
  return {true, address, 0};
}
Side host_side(const void* address) {
  return {false, reinterpret_cast<std::uintptr_t>(address), 0};
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* device, std::size_t bytes) {
  Call call("cuMemAlloc");
  return call.failed ? call.failed : Device::get().allocate(call.context, bytes, device);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* device, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  Call call("cuMemAllocPitch");
  if (call.failed) return call.failed;
  *pitch = (width + 511) / 512 * 512;
  return Device::get().allocate(call.context, *pitch * height, device);
}

CUresult cuMemFree_v2(CUdeviceptr device) {
  Call call("cuMemFree");
  return call.failed ? call.failed : Device::get().free(device);
}

CUresult cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  Call call("cuMemHostAlloc");
  return call.failed ? call.failed : Device::get().allocate_host(call.context, bytes, memory);
}

CUresult cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  Call call("cuMemAllocHost");
  return call.failed ? call.failed : Device::get().allocate_host(call.context, bytes, memory);
}

#undef cuMemAllocHost
CUresult cuMemAllocHost(void** memory, std::size_t bytes) {
  Call call("cuMemAllocHost");
  return call.failed ? call.failed : Device::get().allocate_host(call.context, bytes, memory);
}

CUresult cuMemFreeHost(void* memory) {
  Call call("cuMemFreeHost");
  return call.failed ? call.failed : Device::get().free_host(memory);
}

CUresult cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  Call call("cuMemHostRegister");
  return call.failed ? call.failed : Device::get().register_host(call.context, memory, bytes);
}

CUresult cuMemHostUnregister(void* memory) {
  Call call("cuMemHostUnregister");
  return call.failed ? call.failed : Device::get().unregister_host(memory);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* asked) {
  Call call("cuMemcpy2D");
  return call.failed ? call.failed : queue_copy(call.context, call.context->legacy, copy_of(*asked), true);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* asked, CUstream stream) {
  Call call("cuMemcpy2DAsync");
  if (call.failed) return call.failed;
  return queue_copy(call.context, Device::get().stream_of(call.context, stream), copy_of(*asked), false);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_line("cuMemcpyHtoDAsync", host_side(from), device_side(to), bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_line("cuMemcpyDtoHAsync", device_side(from), host_side(to), bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_line("cuMemcpyDtoDAsync", device_side(from), device_side(to), bytes, stream);
}
}
