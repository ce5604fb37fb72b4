// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FilterPlan: the plan of an algorithm whose coefficients ride in its kernel's parameters.
//
// An algorithm gives a Launcher: `static constexpr Algorithm algorithm`; the tuning it would run with, a value that has
// tile_width, tile_height and a describe(); and the template launch(), the one place where its kernel is launched.
#pragma once

#include <memory>
#include <string>

#include "convolve/arithmetic.hpp"
#include "cuda/common/dispatch.hpp"
#include "cuda/common/entry.hpp"
#include "cuda/common/launch.hpp"

namespace convolve::cuda {

template <class Launcher, class Sample, class Sum, int capacity>
class FilterPlan final : public Plan {
 public:
  FilterPlan(const PlanDesc& desc, const Arithmetic& arithmetic, const typename Launcher::Tuning& tuning)
      : planes_(desc.layout.planes), shape_(desc.filter.shape()), tuning_(tuning) {
    args_.frame = make_frame_args(desc, arithmetic);
    tiles_ = set_tiles(args_.frame, tuning.tile_width, tuning.tile_height);
    for (std::size_t i = 0; i < arithmetic.coefficients.size(); ++i)
      args_.taps.value[i] = static_cast<Sum>(arithmetic.coefficients[i]);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind(args_.frame, planes_, window, out);
    Launcher::template launch<Sample, Sum, capacity>(args_, tuning_, tiles_, static_cast<cudaStream_t>(stream));
    return launch_error();
  }
  Algorithm algorithm() const override { return Launcher::algorithm; }
  std::string describe() const override {
    return std::string(nick(Launcher::algorithm)) + " " + shape_ + ", " + tuning_.describe();
  }

 private:
  int planes_;
  std::string shape_;
  typename Launcher::Tuning tuning_;
  FilterArgs<Sum, capacity> args_{};
  int tiles_ = 0;
};

/// True where the coefficients fit this device's kernel parameters.
inline bool parameters_hold(const Device& device, const PlanDesc& desc, std::string& why) {
  if (desc.filter.count() <= few_taps) return true;
  if (desc.filter.count() > max_filter_taps) {
    why = "a filter of " + std::to_string(desc.filter.count()) + " taps; constant memory beside the frame holds " +
          std::to_string(max_filter_taps);
    return false;
  }
#if CUDART_VERSION >= 12010
  if (sizeof(FilterArgs<double, max_filter_taps>) <= device.parameter_bytes) return true;
#else
  static_cast<void>(device);
#endif
  why = "a filter of " + std::to_string(desc.filter.count()) + " taps; over " + std::to_string(few_taps) +
        " need CUDA 12.1 or later, at build time and of the driver";
  return false;
}

template <class Launcher>
std::unique_ptr<Plan> make_filter_plan(const PlanDesc& desc, const typename Launcher::Tuning& tuning) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  return with_types(desc.layout.type, arithmetic.accumulator, [&]<class Sample, class Sum>() -> std::unique_ptr<Plan> {
#if CUDART_VERSION >= 12010
    if (desc.filter.count() > few_taps)
      return std::make_unique<FilterPlan<Launcher, Sample, Sum, max_filter_taps>>(desc, arithmetic, tuning);
#endif
    return std::make_unique<FilterPlan<Launcher, Sample, Sum, few_taps>>(desc, arithmetic, tuning);
  });
}

}  // namespace convolve::cuda
