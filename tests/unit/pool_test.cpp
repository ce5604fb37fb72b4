// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "threads/pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace convolve {
namespace {

constexpr unsigned jobs = 1000;

// Whether each of many jobs is done once.
bool does_each_job_once(Pool& pool, unsigned workers) {
  static std::array<std::atomic<int>, jobs> done;
  for (auto& count : done) count = 0;
  pool.run(
      workers, jobs, [](void*, unsigned index, unsigned) noexcept { ++done[index]; }, nullptr);
  for (const auto& count : done)
    if (count != 1) return false;
  return true;
}

// What `body` gives in a process that was forked; -1 where that does not end by itself within 20 seconds.
template <class Body>
int in_a_forked_process(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Pool, DoesEachJobOnceWithAnyNumberOfWorkers) {
  const std::shared_ptr<Pool> pool = Pool::shared();
  pool->reserve(3);
  for (const unsigned workers : {1U, 2U, 4U, 9U}) EXPECT_TRUE(does_each_job_once(*pool, workers)) << workers;
}

TEST(Pool, OfTheParentServesAForkedProcessAndMayBeLetGoThere) {
  std::shared_ptr<Pool> pool = Pool::shared();
  pool->reserve(3);
  // Some of the forks find a worker on its way back to sleep.
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(does_each_job_once(*pool, 4));
    ASSERT_EQ(in_a_forked_process([&] {
                const bool serves = does_each_job_once(*pool, 4);
                pool.reset();
                return serves ? 0 : 1;
              }),
              0);
  }
}

// ThreadSanitizer ends a forked process that begins a thread.
#if !defined(__SANITIZE_THREAD__)
TEST(Pool, IsAnotherOneInAForkedProcess) {
  const std::shared_ptr<Pool> pool = Pool::shared();
  pool->reserve(3);
  EXPECT_EQ(in_a_forked_process([&] {
              std::shared_ptr<Pool> own = Pool::shared();
              own->reserve(3);
              if (own == pool || !does_each_job_once(*own, 4)) return 1;
              own.reset();
              return 0;
            }),
            0);
}

TEST(Pool, DoesWithTheThreadsThatTheSystemGives) {
  EXPECT_EQ(in_a_forked_process([] {
              // The limit is not for the superuser.
              if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 2;
              const rlimit none{0, 0};
              if (setrlimit(RLIMIT_NPROC, &none) != 0) return 3;
              const std::shared_ptr<Pool> pool = Pool::shared();
              pool->reserve(3);
              return does_each_job_once(*pool, 4) ? 0 : 1;
            }),
            0);
}
#endif

}  // namespace
}  // namespace convolve
