// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Plan: one filter made ready for one frame layout, to be run on windows of frames.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "convolve/algorithm.hpp"
#include "convolve/bank.hpp"
#include "convolve/border.hpp"
#include "convolve/filter.hpp"
#include "convolve/plane.hpp"

namespace convolve {

/// Everything a plan depends on. Which components are filtered, and their levels, are part of the layout.
struct PlanDesc {
  FrameLayout layout;
  Filter filter;  ///< of a bank, its first kernel: all have its shape and centre
  Border border = Border::replicate;
  Algorithm algorithm = Algorithm::automatic;
  Bank bank{};  ///< empty: `filter` alone. An algorithm that knows no banks refuses the others.

  bool operator==(const PlanDesc&) const = default;
};

/// The input of one output frame: `filter.depth()` images, oldest first. A null image is a frame of ghost cells
/// (Border::constant in time). Components that are not filtered are copied from image `filter.centre_t()`, which is
/// never null. Owns nothing; all images stay valid and unchanged until the work is done.
struct Window {
  int depth = 0;
  const Image* image[max_depth] = {};
};

/// Why a plan could not be made: what() is fit for the user.
struct PlanError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Plan {
 public:
  /// Outlives the work that it queued: synchronise with its stream first. Backend::make_plan() says when CUDA's need
  /// not.
  virtual ~Plan() = default;
  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Filters one frame. `out` overlaps no input. CPU: done on return, `stream` is ignored. CUDA: queued on `stream`
  /// (a CUstream of the current context) in order behind what is there; never synchronises. Never allocates.
  /// Null on success, else a static text that says what failed.
  [[nodiscard]] virtual const char* enqueue(const Window& window, const Image& out, void* stream) noexcept = 0;

  /// Filters at least those parts of one frame, in pixels of the plan's largest component, exactly as enqueue() does;
  /// what `out` has elsewhere is undefined. They may overlap. Allocates where there are more of them than ever before.
  /// By default the whole frame is filtered.
  [[nodiscard]] virtual const char* enqueue_areas(const Window& window, const Image& out,
                                                  std::span<const PixelRect> areas, void* stream) noexcept {
    (void)areas;
    return enqueue(window, out, stream);
  }

  /// What runs: the algorithm, and one line with its chosen tuning.
  virtual Algorithm algorithm() const = 0;
  virtual std::string describe() const = 0;
};

/// Checks what every backend relies on: sizes, steps, offsets, depths, levels. Throws PlanError.
void validate(const PlanDesc& desc);

}  // namespace convolve
