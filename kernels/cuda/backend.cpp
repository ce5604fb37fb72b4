// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend: the table of algorithms, and who makes the plan of a case. A new algorithm is a folder and a row of
// this table.
#include "convolve/backend.hpp"

#include <array>

#include "cuda/cached_halo/cached_halo.hpp"
#include "cuda/choice.hpp"
#include "cuda/device.hpp"
#include "cuda/matrix/matrix.hpp"
#include "cuda/register/register.hpp"
#include "cuda/separable/separable.hpp"
#include "cuda/textbook/textbook.hpp"

namespace convolve {
namespace cuda {
namespace {

// Tests, error messages and `auto`'s last resort go through it from the top.
constexpr std::array table{
    &basic, &constant, &tiled, &cached_halo_seed, &cached_halo, &register_, &separable, &matrix,
};

const Entry* find(Algorithm algorithm) {
  for (const Entry* entry : table)
    if (entry->algorithm == algorithm) return entry;
  return nullptr;
}

class CudaBackend final : public Backend {
 public:
  CudaBackend() : device_(probe_device()) {
    for (std::size_t i = 0; i < table.size(); ++i) algorithms_[i] = table[i]->algorithm;
  }

  const char* name() const override { return "cuda"; }
  MemoryKind memory() const override { return MemoryKind::device; }
  std::span<const Algorithm> algorithms() const override { return algorithms_; }

  bool serves(Algorithm algorithm, const PlanDesc& desc) const override {
    std::string why;
    if (algorithm == Algorithm::automatic) return choose(desc) != nullptr;
    const Entry* entry = find(algorithm);
    return entry && entry->serves(device_, desc, why);
  }

  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    if (desc.algorithm == Algorithm::automatic) {
      const Entry* entry = choose(desc);
      if (!entry) throw PlanError("no CUDA algorithm serves this case");
      return entry->make(device_, desc);
    }
    const Entry* entry = find(desc.algorithm);
    std::string why;
    if (entry && entry->serves(device_, desc, why)) return entry->make(device_, desc);
    throw PlanError(refusal(entry, desc, why));
  }

 private:
  const Entry* choose(const PlanDesc& desc) const {
    std::string why;
    const Case wanted = case_of(desc);
    for (const ChoiceRow& row : choices) {
      const Entry* entry = row.matches(wanted) ? find(row.algorithm) : nullptr;
      if (entry && entry->serves(device_, desc, why)) return entry;
    }
    return nullptr;
  }

  std::string refusal(const Entry* entry, const PlanDesc& desc, const std::string& why) const {
    std::string text = std::string("algorithm \"") + nick(desc.algorithm) + "\" ";
    text += entry ? "does not serve this case: " + why : "is not one of the CUDA backend's";
    text += "; these do: auto";
    std::string ignored;
    for (const Entry* other : table)
      if (other->serves(device_, desc, ignored)) text += std::string(", ") + nick(other->algorithm);
    return text;
  }

  Device device_;
  std::array<Algorithm, table.size()> algorithms_{};
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend() {
  return std::make_unique<cuda::CudaBackend>();
}

}  // namespace convolve
