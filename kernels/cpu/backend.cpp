// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/backend.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "convolve/fastest.hpp"
#include "cpu/algorithms.hpp"
#include "cpu/fastest.hpp"
#include "cpu/regions/region_plan.hpp"
#include "cpu/rows/row_plan.hpp"
#include "cpu/scene/luma_difference.hpp"
#include "threads/available_processors.hpp"

namespace convolve {
namespace {

// The cost of a frame with this algorithm, over all groups.
double cost(const cpu::AlgorithmEntry& entry, const PlanDesc& desc) {
  double sum = 0;
  for (const ComponentGroup& group : make_component_groups(desc.layout))
    if (group.any_filtered())
      sum += entry.make(desc, cpu::choose_arithmetic(desc, group), group).cost * group.samples() *
             static_cast<double>(group.height);
  return sum;
}

bool serves_case(const cpu::AlgorithmEntry& entry, const PlanDesc& desc) {
  return (desc.bank.empty() || entry.serves_banks) && entry.serves(desc);
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(unsigned threads) : threads_(threads ? threads : available_processors()) {
    std::transform(std::begin(cpu::algorithm_table), std::end(cpu::algorithm_table), algorithms_.begin(),
                   [](const cpu::AlgorithmEntry& entry) { return entry.algorithm; });
  }

  const char* name() const override { return "cpu"; }
  MemoryKind memory() const override { return MemoryKind::host; }
  std::span<const Algorithm> algorithms() const override { return algorithms_; }

  bool serves(Algorithm algorithm, const PlanDesc& desc) const override {
    return std::any_of(std::begin(cpu::algorithm_table), std::end(cpu::algorithm_table),
                       [&](const cpu::AlgorithmEntry& entry) {
                         return (is_free_choice(algorithm) || entry.algorithm == algorithm) && serves_case(entry, desc);
                       });
  }

  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    std::vector<const cpu::AlgorithmEntry*> serving;
    for (const cpu::AlgorithmEntry& entry : cpu::algorithm_table)
      if (serves_case(entry, desc)) serving.push_back(&entry);
    if (desc.algorithm == Algorithm::fastest) return make_fastest(desc, serving);
    const cpu::AlgorithmEntry* chosen = nullptr;
    double least = 0;
    std::string names;
    for (const cpu::AlgorithmEntry* entry : serving) {
      names += (names.empty() ? "" : ", ") + std::string(nick(entry->algorithm));
      if (desc.algorithm == Algorithm::automatic) {
        const double needed = cost(*entry, desc);
        if (chosen && needed >= least) continue;
        least = needed;
        chosen = entry;
      } else if (desc.algorithm == entry->algorithm) {
        chosen = entry;
      }
    }
    if (!chosen)
      throw PlanError(std::string("the CPU backend cannot run this case with algorithm \"") + nick(desc.algorithm) +
                      "\"; it can with: " + names);
    return make_plan_of(*chosen, desc);
  }

  std::unique_ptr<RegionPlan> make_region_plan(const RegionDesc& desc) override {
    PlanDesc checked;
    checked.layout = desc.layout;
    validate(checked);
    return std::make_unique<cpu::CpuRegionPlan>(desc, cpu::Threads{threads_, pool, this});
  }

  std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc) override {
    return cpu::make_luma_difference(desc);
  }

 private:
  std::unique_ptr<Plan> make_plan_of(const cpu::AlgorithmEntry& entry, const PlanDesc& desc) {
    PlanDesc chosen = desc;
    chosen.algorithm = entry.algorithm;
    return std::make_unique<cpu::RowPlan>(chosen, entry.make, cpu::Threads{threads_, pool, this});
  }

  std::unique_ptr<Plan> make_fastest(const PlanDesc& desc, const std::vector<const cpu::AlgorithmEntry*>& serving) {
    std::vector<std::unique_ptr<Plan>> plans;
    for (const cpu::AlgorithmEntry* entry : serving) plans.push_back(make_plan_of(*entry, desc));
    if (plans.empty()) throw PlanError("no CPU algorithm serves this case");
    if (plans.size() == 1) return std::move(plans.front());
    std::string text = "cpu " + text_of(desc.layout);
    for (const auto& plan : plans) text += "; " + plan->describe();
    std::optional<cpu::FrameTimer> timer;  // made where the case is new
    const std::vector<double> times =
        TimedCases::of_process().times(text, plans.size(), [&](std::size_t candidate) -> double {
          if (!timer) timer.emplace(desc.layout, desc.filter.depth());
          return (*timer)(*plans[candidate]);
        });
    return std::move(plans[static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin())]);
  }

  static std::shared_ptr<Pool> pool(void* context, unsigned workers) {
    auto& self = *static_cast<CpuBackend*>(context);
    const std::lock_guard lock(self.mutex_);
    self.pool_ = Pool::shared();
    self.pool_->reserve(workers - 1);
    return self.pool_;
  }

  unsigned threads_;
  std::array<Algorithm, std::size(cpu::algorithm_table)> algorithms_{};
  std::mutex mutex_;
  std::shared_ptr<Pool> pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace convolve
