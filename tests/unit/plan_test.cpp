// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/plan.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "convolve/backend.hpp"

namespace {

using convolve::Component;
using convolve::PlanDesc;
using convolve::SampleType;

PlanDesc good() {
  PlanDesc desc;
  desc.layout.planes = 1;
  desc.layout.plane[0].components = 1;
  desc.layout.plane[0].component[0] = Component{.width = 4, .height = 3};
  return desc;
}

Component& component(PlanDesc& desc) {
  return desc.layout.plane[0].component[0];
}

TEST(Validate, AcceptsTheExtremesThatAreAllowed) {
  PlanDesc desc = good();
  EXPECT_NO_THROW(validate(desc));
  desc.layout.bits = 1;
  EXPECT_NO_THROW(validate(desc));
  desc.layout.type = SampleType::u16;
  desc.layout.bits = 10;
  desc.layout.shift = 6;
  EXPECT_NO_THROW(validate(desc));
  desc.layout.type = SampleType::f32;
  desc.layout.bits = 0;
  EXPECT_NO_THROW(validate(desc));
}

TEST(Validate, NamesTheFault) {
  struct Row {
    const char* says;
    std::function<void(PlanDesc&)> spoil;
  };
  const Row rows[] = {
      {"0 planes", [](PlanDesc& d) { d.layout.planes = 0; }},
      {"5 planes", [](PlanDesc& d) { d.layout.planes = 5; }},
      {"9 bits", [](PlanDesc& d) { d.layout.bits = 9; }},
      {"0 bits", [](PlanDesc& d) { d.layout.bits = 0; }},
      {"8 bits", [](PlanDesc& d) { d.layout.type = SampleType::u16; }},
      {"17 bits", [](PlanDesc& d) { d.layout.type = SampleType::u16, d.layout.bits = 17; }},
      {"shift of 1", [](PlanDesc& d) { d.layout.shift = 1; }},
      {"shift of -1", [](PlanDesc& d) { d.layout.bits = 6, d.layout.shift = -1; }},
      {"0 components", [](PlanDesc& d) { d.layout.plane[0].components = 0; }},
      {"5 components", [](PlanDesc& d) { d.layout.plane[0].components = 5; }},
      {"0x3 samples", [](PlanDesc& d) { component(d).width = 0; }},
      {"4x-1 samples", [](PlanDesc& d) { component(d).height = -1; }},
      {"steps 1 to 4", [](PlanDesc& d) { component(d).step = 5; }},
      {"steps 1 to 4", [](PlanDesc& d) { component(d).step = 0; }},
      {"offsets are 0 to 3", [](PlanDesc& d) { component(d).offset = 4; }},
      {"offsets are 0 to 3", [](PlanDesc& d) { component(d).offset = -1; }},
      {"finite", [](PlanDesc& d) { component(d).zero = std::numeric_limits<double>::quiet_NaN(); }},
      {"finite", [](PlanDesc& d) { component(d).bias = std::numeric_limits<double>::infinity(); }},
      {"finite", [](PlanDesc& d) { component(d).ghost = -std::numeric_limits<double>::infinity(); }},
  };
  const auto cpu = convolve::make_cpu_backend(1);
  for (const Row& row : rows) {
    PlanDesc desc = good();
    row.spoil(desc);
    try {
      validate(desc);
      ADD_FAILURE() << "accepted: " << row.says;
    } catch (const convolve::PlanError& error) {
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << "it says: " << error.what();
    }
    EXPECT_THROW(cpu->make_plan(desc), convolve::PlanError) << row.says;
  }
}

TEST(Algorithms, TableIsInTheEnumsOrderWithNicksOfItsOwn) {
  std::set<std::string> nicks;
  for (std::size_t i = 0; i < convolve::algorithms.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(convolve::algorithms[i].value), i);
    EXPECT_TRUE(nicks.insert(convolve::algorithms[i].nick).second);
    EXPECT_STREQ(convolve::nick(convolve::algorithms[i].value), convolve::algorithms[i].nick);
  }
}

TEST(Algorithms, CpuBackendRefusesAnothersAndNamesItsOwn) {
  const auto cpu = convolve::make_cpu_backend(1);
  PlanDesc desc = good();
  desc.algorithm = convolve::Algorithm::tiled;
  try {
    cpu->make_plan(desc);
    FAIL() << "a plan was made";
  } catch (const convolve::PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("tiled"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("direct"), std::string::npos) << error.what();
  }
}

TEST(PlaneLayout, UniformMeansInterleavedInOrder) {
  convolve::PlaneLayout plane;
  plane.components = 2;
  plane.component[0] = Component{.offset = 0, .step = 2, .width = 4, .height = 3};
  plane.component[1] = Component{.offset = 1, .step = 2, .width = 4, .height = 3};
  EXPECT_TRUE(plane.uniform());
  plane.component[1].width = 3;
  EXPECT_FALSE(plane.uniform());
  plane.component[1].width = 4;
  plane.component[1].step = 4;
  EXPECT_FALSE(plane.uniform());
}

}  // namespace
