// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace standin {
namespace {

constexpr std::size_t address_space = std::size_t{1} << 36;  // addresses are not used again
constexpr std::size_t alignment = 512;
constexpr auto filler = std::byte{0xdb};  // of memory that nobody has written

std::size_t page() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

std::vector<Context*>& stack() {
  thread_local std::vector<Context*> contexts;
  return contexts;
}

Device& Device::get() {
  static auto* const device = new Device;  // outlives threads that are still at work when the process ends
  return *device;
}

Device::Device() {
  void* reserved = mmap(nullptr, address_space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) std::abort();
  next_address_ = round_up(reinterpret_cast<CUdeviceptr>(reserved), alignment);
  last_address_ = reinterpret_cast<CUdeviceptr>(reserved) + address_space;
  const char* text = std::getenv("STANDIN_EAGER");
  eager = text && *text == '1';
}

CUresult Device::misuse(CUresult result, const std::string& what) {
  if (misuses++ == 0) first_misuse = what;
  std::fprintf(stderr, "stand-in driver: misuse: %s\n", what.c_str());
  return result;
}

Context* Device::find(CUcontext context) const {
  const auto found = contexts_.find(reinterpret_cast<Context*>(context));
  return found == contexts_.end() ? nullptr : found->second.get();
}

Context* Device::current(const char* function) {
  Context* context = stack().empty() ? nullptr : find(reinterpret_cast<CUcontext>(stack().back()));
  if (context) return context;
  const std::string name = function;
  for (const char* work :
       {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostRegister", "cuMemcpy", "cuLaunch", "cuEventRecord"})
    strayed += name.starts_with(work);
  misuse(CUDA_ERROR_INVALID_CONTEXT, name + " without a current context");
  return nullptr;
}

Context* Device::make_context() {
  auto context = std::make_unique<Context>();
  context->legacy = std::make_shared<Stream>();
  context->legacy->context = context.get();
  Context* made = context.get();
  contexts_.emplace(made, std::move(context));
  return made;
}

void Device::lose_contexts(CUresult error) {
  for (const auto& [handle, context] : contexts_) context->error = error;
}

void Device::destroy_context(Context* context) {
  run_all(*context);
  for (Event* event : context->events) delete event;
  lost += static_cast<int>(context->events.size() + context->streams.size());
  for (auto at = blocks_.begin(); at != blocks_.end();)
    if (at->second.context == context) {
      release_block(at->second);
      at = blocks_.erase(at);
      ++lost;
    } else {
      ++at;
    }
  for (auto at = host_.begin(); at != host_.end();)
    if (at->second.context == context) {
      if (!at->second.registered) std::free(reinterpret_cast<void*>(at->first));
      at = host_.erase(at);
      ++lost;
    } else {
      ++at;
    }
  const auto found = contexts_.find(context);
  past_.push_back(std::move(found->second));
  contexts_.erase(found);
}

// --- Streams -------------------------------------------------------------------------------------------------------

std::shared_ptr<Stream> Device::stream_of(Context* context, CUstream stream) {
  if (!stream || stream == CU_STREAM_LEGACY) return context->legacy;
  const auto found = context->streams.find(reinterpret_cast<Stream*>(stream));
  if (found != context->streams.end()) return found->second;
  misuse(CUDA_ERROR_INVALID_HANDLE, "a stream that is freed or of another context");
  return nullptr;
}

void Device::queue(const std::shared_ptr<Stream>& stream, std::function<bool()> work) {
  Context& context = *stream->context;
  const auto wait_for = [&](const std::shared_ptr<Stream>& other) {
    if (other->done == other->queued) return;
    stream->tasks.push_back({nullptr, other, other->queued});
    ++stream->queued;
  };
  if (stream == context.legacy) {
    for (const auto& [handle, other] : context.streams)
      if (other->blocking) wait_for(other);
  } else if (stream->blocking) {
    wait_for(context.legacy);
  }
  stream->tasks.push_back({std::move(work), nullptr, 0});
  ++stream->queued;
  if (eager) run_until(*stream, stream->queued);
}

void Device::run_until(Stream& stream, std::uint64_t position) {
  while (stream.done < position) {
    const Task task = std::move(stream.tasks.front());
    stream.tasks.pop_front();
    if (task.wait_for)
      run_until(*task.wait_for, task.position);
    else if (stream.context->error == CUDA_SUCCESS && !task.run())
      stream.context->error = CUDA_ERROR_ILLEGAL_ADDRESS;
    ++stream.done;
  }
}

void Device::run_all(Context& context) {
  for (const auto& stream : context.destroyed) run_until(*stream, stream->queued);
  context.destroyed.clear();
  for (const auto& [handle, stream] : context.streams) run_until(*stream, stream->queued);
  run_until(*context.legacy, context.legacy->queued);
}

// --- Memory --------------------------------------------------------------------------------------------------------

CUresult Device::allocate(Context* context, std::size_t bytes, CUdeviceptr* device) {
  if (bytes == 0) return misuse(CUDA_ERROR_INVALID_VALUE, "device memory of 0 bytes");
  if (used_ + bytes > limit || next_address_ + bytes + alignment > last_address_) return CUDA_ERROR_OUT_OF_MEMORY;
  Block block;
  block.context = context;
  block.bytes = bytes;
  block.mapped = round_up(bytes, page()) + page();
  void* mapping = mmap(nullptr, block.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  block.mapping = static_cast<std::byte*>(mapping);
  std::byte* const guard = block.mapping + block.mapped - page();
  mprotect(guard, page(), PROT_NONE);
  // Rows begin at a multiple of 64 bytes, as vector instructions of the CPU backend like them.
  block.host = guard - round_up(bytes, 64);
  std::memset(block.mapping, static_cast<int>(filler), static_cast<std::size_t>(guard - block.mapping));
  used_ += bytes;
  *device = next_address_;
  next_address_ += round_up(bytes, alignment) + alignment;
  blocks_.emplace(*device, block);
  return CUDA_SUCCESS;
}

void Device::release_block(Block& block) {
  const std::byte* const end = block.mapping + block.mapped - page();
  const auto untouched = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == filler; });
  };
  if (!untouched(block.mapping, block.host) || !untouched(block.host + block.bytes, end))
    misuse(CUDA_ERROR_ILLEGAL_ADDRESS, "bytes around a block of device memory were written");
  munmap(block.mapping, block.mapped);
  used_ -= block.bytes;
}

CUresult Device::free(CUdeviceptr device) {
  const auto found = blocks_.find(device);
  if (found == blocks_.end()) return misuse(CUDA_ERROR_INVALID_VALUE, "device memory freed that is none");
  run_all(*found->second.context);
  release_block(found->second);
  blocks_.erase(found);
  return CUDA_SUCCESS;
}

CUresult Device::allocate_host(Context* context, std::size_t bytes, void** memory) {
  if (bytes == 0) return misuse(CUDA_ERROR_INVALID_VALUE, "host memory of 0 bytes");
  if (posix_memalign(memory, page(), bytes) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(*memory, static_cast<int>(filler), bytes);
  host_[reinterpret_cast<std::uintptr_t>(*memory)] = {context, bytes, false};
  return CUDA_SUCCESS;
}

CUresult Device::free_host(void* memory) {
  const auto found = host_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == host_.end() || found->second.registered)
    return misuse(CUDA_ERROR_INVALID_VALUE, "host memory freed that is none");
  host_.erase(found);
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult Device::register_host(Context* context, void* memory, std::size_t bytes) {
  if (!memory || bytes == 0) return misuse(CUDA_ERROR_INVALID_VALUE, "no memory to register");
  const auto from = reinterpret_cast<std::uintptr_t>(memory);
  for (const auto& [at, range] : host_)
    if (at < from + bytes && from < at + range.bytes) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  host_[from] = {context, bytes, true};
  return CUDA_SUCCESS;
}

CUresult Device::unregister_host(void* memory) {
  const auto found = host_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == host_.end() || !found->second.registered)
    return misuse(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "host memory unregistered that is not registered");
  host_.erase(found);
  return CUDA_SUCCESS;
}

std::byte* Device::reach(const Context* context, CUdeviceptr device, std::size_t bytes) const {
  auto at = blocks_.upper_bound(device);
  if (at == blocks_.begin()) return nullptr;
  --at;
  const std::size_t skip = device - at->first;
  if (skip > at->second.bytes || bytes > at->second.bytes - skip) return nullptr;
  if (context && at->second.context != context) return nullptr;
  return at->second.host + skip;
}

bool Device::page_locked(const void* memory, std::size_t bytes) const {
  const auto from = reinterpret_cast<std::uintptr_t>(memory);
  auto at = host_.upper_bound(from);
  if (at == host_.begin()) return false;
  --at;
  return from + bytes <= at->first + at->second.bytes;
}

StandinCounts Device::counts() const {
  StandinCounts counts{};
  counts.contexts = static_cast<int>(contexts_.size());
  counts.device_blocks = static_cast<int>(blocks_.size());
  for (const auto& [at, range] : host_) ++(range.registered ? counts.registrations : counts.host_blocks);
  for (const auto& [handle, context] : contexts_) {
    counts.streams += static_cast<int>(context->streams.size());
    counts.events += static_cast<int>(context->events.size());
  }
  counts.lost = lost;
  counts.misuses = misuses;
  counts.strayed = strayed;
  return counts;
}

}  // namespace standin

using standin::Device;

extern "C" {

void standin_counts(StandinCounts* counts) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  *counts = device.counts();
}

void standin_forget() {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.lost = device.misuses = device.strayed = 0;
  device.first_misuse.clear();
}

const char* standin_first_misuse() {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  return device.first_misuse.c_str();
}

int standin_pushed_contexts() {
  return static_cast<int>(standin::stack().size());
}

void standin_limit_device_memory(std::size_t bytes) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.limit = bytes;
}

void standin_run_eagerly(bool eagerly) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.eager = eagerly;
}

void standin_lose_contexts(int error) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.lose_contexts(static_cast<CUresult>(error));
}

std::uint64_t standin_waits() {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  return device.waits;
}

void standin_report_version(int version) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.version = version;
}
}
