// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Backend: makes plans for one kind of memory. The plugin and the tests hold backends; backends know neither.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "convolve/luma_difference.hpp"
#include "convolve/plan.hpp"
#include "convolve/region.hpp"

namespace convolve {

enum class MemoryKind : std::uint8_t { host, device };

class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual const char* name() const = 0;  ///< "cpu" or "cuda"
  virtual MemoryKind memory() const = 0;
  /// The algorithms of this backend, in the order of its table; tests iterate them.
  virtual std::span<const Algorithm> algorithms() const = 0;
  /// True where the algorithm can run this case on this machine.
  virtual bool serves(Algorithm algorithm, const PlanDesc& desc) const = 0;
  /// Throws PlanError: a layout that cannot be, or a forced algorithm that does not serve the case (the message names
  /// those that do). CUDA: the context to run in is current, here and at each enqueue. May allocate; the plan may
  /// not outlive its backend. CUDA: where all plans of a backend are enqueued on one stream, a plan may go while its
  /// work is queued there; plans of like filters then allocate nothing once there were a few.
  virtual std::unique_ptr<Plan> make_plan(const PlanDesc& desc) = 0;
  /// Throws PlanError where the backend treats no regions, or not of this layout.
  virtual std::unique_ptr<RegionPlan> make_region_plan(const RegionDesc& desc);
  /// May allocate, and may not outlive its backend nor go while its work is queued.
  virtual std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc) = 0;
};

/// `threads` 0: one a core. The pool starts with the first plan that has work for it and ends with the backend.
std::unique_ptr<Backend> make_cpu_backend(unsigned threads = 0);

#ifdef CONVOLVE_HAVE_CUDA
/// Trial-launches a kernel in the current CUDA context and throws PlanError with the reason where that fails.
std::unique_ptr<Backend> make_cuda_backend();
#endif

}  // namespace convolve
