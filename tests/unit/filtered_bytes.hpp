// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// One frame of bytes through a plan of the CPU backend, one thread, edges replicated, beside the oracle.
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

struct FilteredBytes {
  double difference = 0;  ///< the largest from the oracle, in code values
  std::string described;  ///< the plan, by itself
};

/// `in` has height x width pixels, rows without padding, of one component for each zero level. `kernel` says to the
/// oracle what `filter` is.
inline FilteredBytes filter_bytes(Algorithm algorithm, const Filter& filter, const oracle::Kernel& kernel, int width,
                                  int height, const std::vector<double>& zeros, std::vector<std::uint8_t> in) {
  const auto components = static_cast<int>(zeros.size());
  const std::size_t step = zeros.size();
  PlanDesc desc;
  desc.algorithm = algorithm;
  desc.filter = filter;
  desc.layout = {.type = SampleType::u8, .bits = 8, .planes = 1};
  desc.layout.plane[0].components = components;
  for (int c = 0; c < components; ++c)
    desc.layout.plane[0].component[c] = {
        .offset = c, .step = components, .width = width, .height = height, .zero = zeros[c]};
  std::vector<std::uint8_t> out(in.size(), 0x5a);
  Image from, to;
  from.plane[0] = {in.data(), width * components};
  to.plane[0] = {out.data(), width * components};
  const std::unique_ptr<Plan> plan = make_cpu_backend(1)->make_plan(desc);
  Window window{1, {&from}};
  EXPECT_EQ(plan->enqueue(window, to, nullptr), nullptr);
  FilteredBytes result{0, plan->describe()};
  for (std::size_t c = 0; c < step; ++c) {
    oracle::Plane samples{width, height, {}};
    for (std::size_t i = c; i < in.size(); i += step) samples.samples.push_back(in[i]);
    const oracle::Plane expected =
        oracle::filter(kernel, {&samples}, oracle::Edge::replicate, oracle::Levels{8, zeros[c], 0, 0});
    for (std::size_t i = 0; i < expected.samples.size(); ++i)
      result.difference = std::max(result.difference, std::abs(expected.samples[i] - out[i * step + c]));
  }
  return result;
}

}  // namespace convolve
