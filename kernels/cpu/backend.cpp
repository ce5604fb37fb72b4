// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/backend.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <thread>

#include "cpu/algorithms.hpp"

namespace convolve {
namespace {

struct Row {
  Algorithm algorithm;
  bool (*serves)(const PlanDesc&);
  std::unique_ptr<Plan> (*make)(const PlanDesc&, const cpu::Threads&);
};

constexpr std::array<Row, 1> table{{
    {Algorithm::direct, cpu::direct_serves, cpu::make_direct},
}};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads)
      : threads_(threads ? threads : std::max(1u, std::thread::hardware_concurrency())) {
    std::transform(table.begin(), table.end(), algorithms_.begin(), [](const Row& row) { return row.algorithm; });
  }

  const char* name() const override { return "cpu"; }
  MemoryKind memory() const override { return MemoryKind::host; }
  std::span<const Algorithm> algorithms() const override { return algorithms_; }

  bool serves(Algorithm algorithm, const PlanDesc& desc) const override {
    return std::any_of(table.begin(), table.end(), [&](const Row& row) {
      return (algorithm == Algorithm::automatic || row.algorithm == algorithm) && row.serves(desc);
    });
  }

  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    const cpu::Threads threads{threads_, pool, this};
    std::string serving;
    for (const Row& row : table) {
      if (!row.serves(desc)) continue;
      if (desc.algorithm == row.algorithm) return row.make(desc, threads);
      serving += (serving.empty() ? "" : ", ") + std::string(nick(row.algorithm));
    }
    if (desc.algorithm == Algorithm::automatic) return cpu::make_direct(desc, threads);
    throw PlanError(std::string("the CPU backend cannot run this case with algorithm \"") + nick(desc.algorithm) +
                    "\"; it can with: " + serving);
  }

 private:
  static std::shared_ptr<cpu::Pool> pool(void* context, unsigned lanes) {
    auto& self = *static_cast<CpuBackend*>(context);
    const std::lock_guard lock(self.mutex_);
    if (!self.pool_) self.pool_ = cpu::Pool::shared();
    self.pool_->reserve(lanes - 1);
    return self.pool_;
  }

  unsigned threads_;
  std::array<Algorithm, table.size()> algorithms_{};
  std::mutex mutex_;
  std::shared_ptr<cpu::Pool> pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace convolve
