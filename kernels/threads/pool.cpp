// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/pool.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace convolve {
namespace {

// Waking a thread takes about as long as this: a frame that follows at once, or a job that is nearly done, is waited
// for awake.
constexpr std::chrono::microseconds patience{50};

template <class Done>
void wait_awake(Done done) {
  for (const auto end = std::chrono::steady_clock::now() + patience;
       !done() && std::chrono::steady_clock::now() < end;) {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
}

}  // namespace

// Lives on the stack of run(); what is not atomic is guarded by the pool's mutex, and so are changes of `active`.
struct Pool::Job {
  Job(Task t, void* c, unsigned w, unsigned n) : task(t), context(c), workers(w), count(n) {}

  Task task;
  void* context;
  unsigned workers, count;
  std::atomic<unsigned> next{0};
  unsigned joined = 1;
  std::atomic<unsigned> active{0};
  std::condition_variable done;
  Job* after = nullptr;
};

std::shared_ptr<Pool> Pool::shared() {
  static std::mutex mutex;
  static std::weak_ptr<Pool> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Pool> pool = current.lock();
  if (!pool || pool->process_ != getpid())
    current = pool = std::shared_ptr<Pool>(new Pool, [](Pool* last) {
      // A process that was forked has the memory of its parent's threads but not the threads: none of them can be
      // joined, and the condition that they wait for cannot be destroyed. The memory stays.
      if (last->process_ == getpid()) delete last;
    });
  return pool;
}

Pool::Pool() : process_(getpid()) {}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::reserve(unsigned workers) {
  const std::lock_guard lock(mutex_);
  workers_.reserve(workers);
  try {
    while (workers_.size() < workers) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // The system gives no more threads, as in a container with a limit. run() does with those that there are.
  }
}

void Pool::drain(Job& job, unsigned worker) noexcept {
  for (unsigned i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.count;)
    job.task(job.context, i, worker);
}

void Pool::run(unsigned workers, unsigned count, Task task, void* context) noexcept {
  // In a process that was forked the workers are gone, and what they held when they went, the mutex or a place in the
  // queue of the condition, would be waited for without end.
  if (workers < 2 || count < 2 || process_ != getpid()) {
    for (unsigned i = 0; i < count; ++i) task(context, i, 0);
    return;
  }
  Job job{task, context, workers, count};
  {
    const std::lock_guard lock(mutex_);
    Job** end = &jobs_;
    while (*end) end = &(*end)->after;
    *end = &job;
    posted_.fetch_add(1, std::memory_order_relaxed);
  }
  for (unsigned i = 1; i < workers; ++i) wake_.notify_one();
  drain(job, 0);
  std::unique_lock lock(mutex_);
  // Nobody joins from here on.
  for (Job** link = &jobs_; *link; link = &(*link)->after)
    if (*link == &job) {
      *link = job.after;
      break;
    }
  const auto done = [&] { return job.active.load(std::memory_order_relaxed) == 0; };
  if (!done()) {
    lock.unlock();
    wait_awake(done);
    lock.lock();
  }
  job.done.wait(lock, done);
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!stop_ && !jobs_) {
      const unsigned seen = posted_.load(std::memory_order_relaxed);
      lock.unlock();
      wait_awake([&] { return posted_.load(std::memory_order_relaxed) != seen; });
      lock.lock();
    }
    wake_.wait(lock, [this] { return stop_ || jobs_; });
    if (stop_) return;
    Job& job = *jobs_;
    const unsigned worker = job.joined++;
    ++job.active;
    if (job.joined == job.workers) jobs_ = job.after;
    lock.unlock();
    drain(job, worker);
    lock.lock();
    // Under the lock: once the caller sees no active worker, the job is gone.
    if (--job.active == 0) job.done.notify_one();
  }
}

}  // namespace convolve
