// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pool: the worker threads that all CPU backends of a process, and the plugin's copies, share.
//
// One process-wide set, so that several elements running at once do not ask for more threads than there are cores; the
// thread that calls run() works too. It lives as long as someone holds it. run() may be called from several threads at
// a time, and allocates nothing.
//
// In a process that was forked the parent's pool has no threads: run() works alone, and shared() makes another pool.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace convolve {

class Pool {
 public:
  using Task = void (*)(void* context, unsigned index, unsigned worker) noexcept;

  /// The process's pool, made by the first call while nobody holds one.
  static std::shared_ptr<Pool> shared();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// At least this many workers from here on, or as many as the system gives. Set-up: may allocate and throw.
  void reserve(unsigned workers);

  /// Calls `task` once for each index in [0, count), on at most `workers` threads, the caller among them; returns when
  /// all are done. `worker` < workers names the thread, so that each worker may own scratch memory.
  void run(unsigned workers, unsigned count, Task task, void* context) noexcept;

 private:
  struct Job;
  Pool();
  void work();
  static void drain(Job& job, unsigned worker) noexcept;

  std::mutex mutex_;
  std::condition_variable wake_;
  Job* jobs_ = nullptr;  // those that a worker may still join, oldest first
  bool stop_ = false;
  std::atomic<unsigned> posted_{0};  ///< jobs so far
  std::vector<std::thread> workers_;
  pid_t process_;  ///< whose threads the workers are
};

}  // namespace convolve
