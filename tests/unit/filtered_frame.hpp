// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One frame through a plan of the CPU backend, one thread, edges replicated, beside the oracle.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convolve/backend.hpp"
#include "oracle.hpp"

namespace convolve {

struct FilteredFrame {
  double difference = 0;  ///< the largest from the oracle, in code values
  std::string described;  ///< the plan, by itself
};

/// `in` has height x width pixels, rows without padding, of one component for each zero level: bytes, or words whose
/// samples of `bits` bits lie `shift` bits up. `kernel` says to the oracle what `filter` is.
template <class Sample>
FilteredFrame filter_frame(Algorithm algorithm, const Filter& filter, const oracle::Kernel& kernel, int width,
                           int height, const std::vector<double>& zeros, std::vector<Sample> in,
                           int bits = 8 * sizeof(Sample), int shift = 0) {
  const auto components = static_cast<int>(zeros.size());
  const std::size_t step = zeros.size();
  PlanDesc desc;
  desc.algorithm = algorithm;
  desc.filter = filter;
  const SampleType type = sizeof(Sample) == 1 ? SampleType::u8 : SampleType::u16;
  desc.layout = {.type = type, .bits = bits, .shift = shift, .planes = 1};
  desc.layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    desc.layout.plane[0].component[c] = {
        .offset = c, .step = components, .width = width, .height = height, .zero = zeros[c]};
  std::vector<Sample> out(in.size(), 0x5a);
  Image from, to;
  const auto stride = static_cast<std::ptrdiff_t>(width * components * sizeof(Sample));
  from.plane[0] = {in.data(), stride};
  to.plane[0] = {out.data(), stride};
  const std::unique_ptr<Plan> plan = make_cpu_backend(1)->make_plan(desc);
  Window window{1, {&from}};
  EXPECT_EQ(plan->enqueue(window, to, nullptr), nullptr);
  FilteredFrame result{0, plan->describe()};
  for (std::size_t c = 0; c < step; ++c) {
    oracle::Plane samples{width, height, {}};
    for (std::size_t i = c; i < in.size(); i += step) samples.samples.push_back(in[i] >> shift);
    const oracle::Plane expected =
        oracle::filter(kernel, {&samples}, oracle::Edge::replicate, oracle::Levels{bits, zeros[c], 0, 0});
    for (std::size_t i = 0; i < expected.samples.size(); ++i)
      result.difference =
          std::max(result.difference, std::abs(expected.samples[i] - std::ldexp(out[i * step + c], -shift)));
  }
  return result;
}

}  // namespace convolve
