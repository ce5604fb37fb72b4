// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the stand-in driver keeps: contexts, streams with the work that waits in them, and blocks of memory. One lock
// guards all of it and is held while queued work runs; that work calls no driver function.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "standin.hpp"

namespace standin {

struct Context;
struct Stream;

struct Task {
  std::function<bool()> run;         ///< false: an illegal address
  std::shared_ptr<Stream> wait_for;  ///< instead of `run`: that stream has to come to `position` first
  std::uint64_t position = 0;
};

struct Stream {
  Context* context = nullptr;
  bool blocking = true;  ///< waits for the context's legacy stream, and is waited for by it
  std::deque<Task> tasks;
  std::uint64_t queued = 0, done = 0;
};

struct Event {
  Context* context = nullptr;
  std::shared_ptr<Stream> stream;
  std::uint64_t position = 0;
};

/// A block of device memory.
struct Block {
  Context* context = nullptr;
  std::size_t bytes = 0;
  std::byte* host = nullptr;     ///< where its bytes really are
  std::byte* mapping = nullptr;  ///< pages around them, the last of which nobody may touch
  std::size_t mapped = 0;
};

/// Page-locked host memory.
struct HostRange {
  Context* context = nullptr;
  std::size_t bytes = 0;
  bool registered = false;  ///< the caller's own memory
};

struct Context {
  CUresult error = CUDA_SUCCESS;  ///< sticks until the context is destroyed
  std::shared_ptr<Stream> legacy;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Stream>> destroyed;  ///< streams whose work may not have run yet
  std::set<Event*> events;
};

class Device {
 public:
  static Device& get();

  std::mutex mutex;
  bool eager = false;
  int version = 13000;
  std::size_t limit = std::size_t{2} << 30;
  std::uint64_t waits = 0;
  int lost = 0, misuses = 0, strayed = 0;
  std::string first_misuse;

  // All functions below are called with the mutex held.

  CUresult misuse(CUresult result, const std::string& what);
  /// The calling thread's context, or null with the misuse noted.
  Context* current(const char* function);
  Context* find(CUcontext context) const;

  Context* make_context();
  void destroy_context(Context* context);
  void lose_contexts(CUresult error);
  std::shared_ptr<Stream> stream_of(Context* context, CUstream stream);
  void queue(const std::shared_ptr<Stream>& stream, std::function<bool()> work);
  void run_until(Stream& stream, std::uint64_t position);
  void run_all(Context& context);

  CUresult allocate(Context* context, std::size_t bytes, CUdeviceptr* device);
  CUresult free(CUdeviceptr device);
  CUresult allocate_host(Context* context, std::size_t bytes, void** memory);
  CUresult free_host(void* memory);
  CUresult register_host(Context* context, void* memory, std::size_t bytes);
  CUresult unregister_host(void* memory);

  /// The host address of device memory, or null where a byte of it lies beyond its block.
  std::byte* reach(const Context* context, CUdeviceptr device, std::size_t bytes) const;
  bool page_locked(const void* memory, std::size_t bytes) const;

  StandinCounts counts() const;

 private:
  Device();
  void release_block(Block& block);

  std::map<Context*, std::unique_ptr<Context>> contexts_;
  std::vector<std::unique_ptr<Context>> past_;  ///< kept, so that no handle comes twice
  std::map<CUdeviceptr, Block> blocks_;
  std::map<std::uintptr_t, HostRange> host_;
  CUdeviceptr next_address_ = 0, last_address_ = 0;
  std::size_t used_ = 0;
};

/// Locks the device and finds the calling thread's context; `failed` says why there is none to work in.
struct Call {
  explicit Call(const char* function) : lock(Device::get().mutex), context(Device::get().current(function)) {
    failed = context ? context->error : CUDA_ERROR_INVALID_CONTEXT;
  }
  std::unique_lock<std::mutex> lock;
  Context* context;
  CUresult failed;
};

/// The calling thread's stack of contexts.
std::vector<Context*>& stack();

}  // namespace standin
