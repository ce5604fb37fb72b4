// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A SIMD target that Highway dispatches to and that has no AMX code must be an answer, whatever the processor has.
#include <gtest/gtest.h>

#include "convolve/backend.hpp"
#include "convolve/component_group.hpp"
#include "cpu/amx/matrix.hpp"
#include "cpu/simd/highway.hpp"
#include "cpu/simd/targets.hpp"
// After highway.hpp, which says what is built.
#include <hwy/highway.h>

namespace {

using namespace convolve;

PlanDesc gray() {
  PlanDesc desc;
  desc.layout.planes = 1;
  desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = {.width = 64, .height = 8};
  return desc;
}

// Targets better than the best that the kernels are written for would take its place on newer processors.
TEST(SimdTargets, NoneAboveTheOnesThatTheKernelsAreWrittenForIsBuilt) {
  EXPECT_EQ(HWY_TARGETS & (HWY_AVX3 - 1), 0);
}

TEST(SimdTargets, ATargetWithoutTilesRefusesThem) {
  ASSERT_TRUE(cpu::force_simd_target("scalar"));
  const PlanDesc desc = gray();
  const std::vector<ComponentGroup> groups = make_component_groups(desc.layout);
  EXPECT_FALSE(cpu::matrix_serves(desc));
  EXPECT_THROW(cpu::make_matrix(desc, cpu::choose_arithmetic(desc, groups[0]), groups[0]), PlanError);
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  PlanDesc forced = desc;
  forced.algorithm = Algorithm::matrix;
  EXPECT_FALSE(backend->serves(Algorithm::matrix, desc));
  EXPECT_THROW(backend->make_plan(forced), PlanError);
  cpu::force_simd_target(nullptr);
}

}  // namespace
