// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: the table of algorithms, and who makes the plan of a case. A new algorithm is a folder and a row of
// this table.
#include "convolve/backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convolve/fastest.hpp"
#include "cuda/bank/bank.hpp"
#include "cuda/cached_halo/cached_halo.hpp"
#include "cuda/choice.hpp"
#include "cuda/common/table.hpp"
#include "cuda/device.hpp"
#include "cuda/fastest.hpp"
#include "cuda/matrix/matrix.hpp"
#include "cuda/regions/regions.hpp"
#include "cuda/register/register.hpp"
#include "cuda/scene/luma_difference.hpp"
#include "cuda/separable/separable.hpp"
#include "cuda/textbook/textbook.hpp"
#include "cuda/views/areas.hpp"
#include "cuda/views/packed_422.hpp"
#include "cuda/views/semi_planar.hpp"
#include "cuda/views/triples.hpp"
#include "cuda/views/widened.hpp"

namespace convolve {
namespace cuda {
namespace {

/// An algorithm, and what some have beyond the rest.
struct Row {
  const Entry* entry;
  /// Whether the algorithm serves a case that has a bank, and its plan. Null: it serves none.
  bool (*serves_bank)(const Device&, const PlanDesc&, std::string& why) = nullptr;
  std::unique_ptr<Plan> (*make_bank)(const Device&, const PlanDesc&) = nullptr;
  /// make() where serves(), in one go, which saves work that both do.
  std::unique_ptr<Plan> (*make_if_served)(const Device&, const PlanDesc&, std::string& why) = nullptr;
  /// Whether the tensor cores run the case, or a stream of rows, which some rows of choice.hpp ask.
  bool (*on_tensor_cores)(const Device&, const PlanDesc&) = nullptr;
  bool (*streams_rows)(const Device&, const PlanDesc&) = nullptr;

  /// Whether the algorithm has the kernel for the case that a row of choice.hpp asks for.
  bool has_kernel(const ChoiceRow& row, const Device& device, const PlanDesc& desc) const {
    return (!row.tensor_cores || (on_tensor_cores && on_tensor_cores(device, desc))) &&
           (!row.stream_of_rows || (streams_rows && streams_rows(device, desc)));
  }
};

// Tests, error messages and `auto`'s last resort go through it from the top. The meson option cuda-kernels says which
// are built.
constexpr std::array table{
    Row{&basic},
#ifndef CONVOLVE_BASIC_KERNELS
    Row{&constant},
#endif
    Row{&tiled, serves_bank, make_bank},
#ifndef CONVOLVE_BASIC_KERNELS
    Row{&cached_halo_seed},
    Row{&cached_halo},
    Row{&register_, serves_bank_stream, make_bank_stream},
    Row{.entry = &separable, .on_tensor_cores = separable_on_tensor_cores, .streams_rows = separable_streams_rows},
    Row{&matrix, serves_bank_tensor, make_bank_tensor, make_matrix_if_served},
#endif
};

// The end of the message where `auto` finds no algorithm.
#ifdef CONVOLVE_BASIC_KERNELS
constexpr const char* served_by_none =
    "no CUDA algorithm of this build serves this case (it was made with cuda-kernels=basic, for filters of up to 31x31 "
    "taps)";
#else
constexpr const char* served_by_none = "no CUDA algorithm serves this case";
#endif

const Row* find(Algorithm algorithm) {
  for (const Row& row : table)
    if (row.entry->algorithm == algorithm) return &row;
  return nullptr;
}

/// A plan that `auto` or `fastest` chose: it runs as it is, and its description ends with why.
class ChosenPlan final : public Plan {
 public:
  ChosenPlan(std::unique_ptr<Plan> plan, std::function<std::string()> choice)
      : plan_(std::move(plan)), choice_(std::move(choice)) {}

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    return plan_->enqueue(window, out, stream);
  }
  Algorithm algorithm() const override { return plan_->algorithm(); }
  std::string describe() const override { return plan_->describe() + "; " + choice_(); }

 private:
  std::unique_ptr<Plan> plan_;
  std::function<std::string()> choice_;
};

bool fits(const Entry& entry, const PlanDesc& desc) {
  return std::max(desc.filter.height(), desc.filter.width()) <= entry.max_side;
}

bool serves_case(const Row& row, const Device& device, const PlanDesc& desc, std::string& why) {
  const Entry& entry = *row.entry;
  if (!desc.bank.empty()) {
    if (row.serves_bank) return row.serves_bank(device, desc, why);
    why = "it knows no banks of kernels (the properties bank and combine, and the presets that are banks)";
    return false;
  }
  if (fits(entry, desc)) return entry.serves(device, desc, why);
  const std::string most = std::to_string(entry.max_side);
  why = "it serves filters of up to " + most + "x" + most + " taps, but this one is " + desc.filter.shape();
  return false;
}

/// The algorithm's plan; null, and `why`, where it does not serve the case.
std::unique_ptr<Plan> make_if_served(const Row& row, const Device& device, const PlanDesc& desc, std::string& why) {
  if (row.make_if_served && fits(*row.entry, desc)) return row.make_if_served(device, desc, why);
  return serves_case(row, device, desc, why) ? row.entry->make(device, desc) : nullptr;
}

class CudaBackend final : public Backend {
 public:
  CudaBackend() : device_(probe_device()), table_(choice_table(device_.capability)) {
    device_.tables = std::make_shared<TablePool>();
    for (std::size_t i = 0; i < table.size(); ++i) algorithms_[i] = table[i].entry->algorithm;
  }

  const char* name() const override { return "cuda"; }
  MemoryKind memory() const override { return MemoryKind::device; }
  std::span<const Algorithm> algorithms() const override { return algorithms_; }

  bool serves(Algorithm algorithm, const PlanDesc& desc) const override {
    std::string why;
    if (is_free_choice(algorithm))
      return std::ranges::any_of(table, [&](const Row& row) { return serves_case(row, device_, desc, why); });
    const Row* row = find(algorithm);
    return row && serves_case(*row, device_, desc, why);
  }

  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    PlanDesc parts = desc;
    // What is the fastest for the whole frame need not be for a part, and to time that takes long.
    if (desc.algorithm == Algorithm::fastest) parts.algorithm = Algorithm::automatic;
    return make_area_plan(make_whole_plan(desc), parts,
                          [this](const PlanDesc& of_part) { return make_plan_of_rows(device_, of_part); });
  }

  std::unique_ptr<RegionPlan> make_region_plan(const RegionDesc& desc) override {
    return make_cuda_region_plan(device_, desc);
  }

  std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc) override {
    return cuda::make_luma_difference(device_, desc);
  }

 private:
  std::unique_ptr<Plan> make_whole_plan(const PlanDesc& desc) const {
    // A bank is not timed.
    return desc.algorithm == Algorithm::fastest && desc.bank.empty() ? make_fastest(desc)
                                                                     : make_plan_of_frames(device_, desc);
  }

  /// The plan of an algorithm by name, or that of `auto`, of copies of the frames where those cost less.
  std::unique_ptr<Plan> make_plan_of_frames(const Device& device, const PlanDesc& desc) const {
    auto plan = make_plan_of_rows(device, desc);
    if (!is_free_choice(desc.algorithm) || !is_worth_widening(desc, *plan)) return plan;
    const std::optional<PlanDesc> wide = as_widened(desc);
    if (!wide) return plan;
    try {
      auto widened = make_plan_of_rows(device, *wide);
      if (is_faster_widened(desc, *plan, *widened)) return make_widened(device, desc, *wide, std::move(widened));
    } catch (const std::bad_alloc&) {  // no memory for copies: the plan at hand needs none
    } catch (const PlanError&) {       // nor is it too large
    }
    return plan;
  }

  /// The plan whose kernels take rows as they are.
  std::unique_ptr<Plan> make_plan_of_rows(const Device& device, const PlanDesc& desc) const {
    return desc.bank.empty() ? make_plan_on(device, desc) : make_bank_plan(device, desc);
  }

  std::unique_ptr<Plan> make_bank_plan(const Device& device, const PlanDesc& desc) const {
    std::string why;
    if (is_free_choice(desc.algorithm)) {
      // The last algorithm of the table that serves banks is the fastest, and the first serves most of them.
      for (auto row = table.rbegin(); row != table.rend(); ++row)
        if (row->serves_bank && row->serves_bank(device, desc, why)) return row->make_bank(device, desc);
      throw PlanError("no CUDA algorithm serves this bank: " + why);
    }
    const Row* row = find(desc.algorithm);
    if (row && serves_case(*row, device, desc, why)) return row->make_bank(device, desc);
    throw PlanError(refusal(desc, why));
  }

  /// The plan of an algorithm by name, or of `auto`.
  std::unique_ptr<Plan> make_plan_on(const Device& device, const PlanDesc& desc) const {
    if (desc.algorithm == Algorithm::automatic) {
      if (is_packed_422(desc.layout)) {
        if (auto plan = make_by_table(device, desc, Rows::packed_422)) return plan;
        if (is_large_packed_422(desc))
          return make_semi_planar(device, desc, make_plan_on(device, as_semi_planar(desc)));
        const Packed422 views = split_packed_422(desc);
        return make_packed_422(device, desc.layout, make_plan_on(device, views.luma),
                               make_plan_on(device, views.chroma));
      }
      if (is_triple(desc)) {
        if (auto plan = make_by_table(device, desc, Rows::of_a_kernel)) return plan;
        return make_triple(device, desc, make_plan_on(device, as_one_component(desc)));
      }
      return make_by_table(device, desc);
    }
    const Row* row = find(desc.algorithm);
    std::string why;
    if (row)
      if (auto plan = make_if_served(*row, device, desc, why)) return plan;
    throw PlanError(refusal(desc, why));
  }

  /// Which rows of the table: all, those whose kernels take packed 4:2:2 as it is, or those that ask for one of an
  /// algorithm's kernels, which are faster than a view of RGB over several frames.
  enum class Rows : std::uint8_t { all, packed_422, of_a_kernel };

  /// The plan of the first of these rows that matches the case and whose algorithm serves it; of some rows, null where
  /// none does.
  std::unique_ptr<Plan> make_by_table(const Device& device, const PlanDesc& desc, Rows rows = Rows::all) const {
    std::string why;
    const Case wanted = case_of(desc);
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const ChoiceRow& choice = table_.rows[row];
      const bool takes_422 = rows == Rows::packed_422 && choice.algorithm == Algorithm::matrix;
      if (rows != Rows::all && !takes_422 && !choice.asks_for_a_kernel()) continue;
      const Row* found = choice.matches(wanted) ? find(choice.algorithm) : nullptr;
      if (!found || !found->has_kernel(choice, device, desc)) continue;
      if (auto plan = make_if_served(*found, device, desc, why))
        return std::make_unique<ChosenPlan>(std::move(plan),
                                            [this, row] { return describe_choice(table_, row, device_.capability); });
    }
    if (rows != Rows::all) return nullptr;
    throw PlanError(served_by_none);
  }

  /// The plan of one of fastest_candidates(); null where that does not serve the case.
  std::unique_ptr<Plan> make_candidate(const Device& device, const PlanDesc& desc, Algorithm algorithm) const {
    PlanDesc one = desc;
    one.algorithm = algorithm;
    if (algorithm == Algorithm::automatic) return make_plan_of_frames(device, one);
    std::string why;
    return make_if_served(*find(algorithm), device, one, why);
  }

  /// The plan of the algorithm that was the fastest when the case was timed; where nothing could be timed, that of the
  /// table.
  std::unique_ptr<Plan> make_fastest(const PlanDesc& desc) const {
    const std::vector<Algorithm> candidates = fastest_candidates(algorithms_, desc);
    std::vector<double> times;
    std::string why_not = "no algorithm could run";
    try {
      times = time_candidates(desc, candidates);
    } catch (const std::bad_alloc&) {
      why_not = "there is no device memory for it";
    } catch (const PlanError& error) {
      why_not = error.what();
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (std::isfinite(times[i])) order.push_back(i);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i]; });
    std::string text = "fastest of";
    for (const std::size_t i : order) text += (i == order.front() ? " " : ", ") + timing_text(candidates[i], times[i]);
    for (const std::size_t i : order)
      if (auto plan = make_candidate(device_, desc, candidates[i]))
        return std::make_unique<ChosenPlan>(std::move(plan), [text] { return text; });
    auto plan = make_candidate(device_, desc, Algorithm::automatic);
    return std::make_unique<ChosenPlan>(std::move(plan), [why_not] { return "fastest: not timed, " + why_not; });
  }

  /// Seconds a frame; infinity for what does not serve the case, or failed. Throws where the frames cannot be had.
  std::vector<double> time_candidates(const PlanDesc& desc, const std::vector<Algorithm>& candidates) const {
    Device device = device_;
    device.tables = std::make_shared<TablePool>();  // its slots are used on the timer's stream
    std::optional<FrameTimer> timer;                // made where the case is new
    return TimedCases::of_process().times(text_of_case(desc, candidates), candidates.size(),
                                          [&](std::size_t i) -> double {
                                            constexpr double never = std::numeric_limits<double>::infinity();
                                            if (!timer) timer.emplace(desc.layout, desc.filter.depth());
                                            try {
                                              const auto plan = make_candidate(device, desc, candidates[i]);
                                              return plan ? (*timer)(*plan) : never;
                                            } catch (const PlanError&) {
                                              return never;
                                            } catch (const std::bad_alloc&) {
                                              return never;
                                            }
                                          });
  }

  std::string refusal(const PlanDesc& desc, const std::string& why) const {
    std::string text = std::string("algorithm \"") + nick(desc.algorithm) + "\" ";
    text += find(desc.algorithm) ? "does not serve this case: " + why : "is not one of this CUDA backend's";
    text += "; these do: auto";
    std::string ignored;
    for (const Row& row : table)
      if (serves_case(row, device_, desc, ignored)) text += std::string(", ") + nick(row.entry->algorithm);
    return text;
  }

  Device device_;
  const ChoiceTable& table_;
  std::array<Algorithm, table.size()> algorithms_{};
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<cuda::CudaBackend>();
}

}  // namespace convolve
