// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/backend.hpp"

#include <array>

#include "cpu/direct.hpp"

namespace convolve {
namespace {

constexpr std::array<Algorithm, 1> table{Algorithm::direct};

class CpuBackend final : public Backend {
 public:
  const char* name() const override { return "cpu"; }
  MemoryKind memory() const override { return MemoryKind::host; }
  std::span<const Algorithm> algorithms() const override { return table; }
  bool serves(Algorithm algorithm, const PlanDesc&) const override { return algorithm == Algorithm::direct; }
  std::unique_ptr<Plan> make_plan(const PlanDesc& desc) override {
    validate(desc);
    if (desc.algorithm != Algorithm::automatic && desc.algorithm != Algorithm::direct)
      throw PlanError(std::string("the CPU backend has no algorithm \"") + nick(desc.algorithm) +
                      "\"; it serves this case with: direct");
    return cpu::make_direct(desc);
  }
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(unsigned) {
  return std::make_unique<CpuBackend>();
}

}  // namespace convolve
