// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Component groups: together they name each sample of a plane once, at the place that the component itself gives it.
#include "convolve/component_group.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <utility>

namespace {

using namespace convolve;

PlaneLayout plane(std::initializer_list<Component> components) {
  PlaneLayout layout;
  for (const Component& each : components) layout.component[layout.components++] = each;
  return layout;
}

PlaneLayout interleaved(int components, int width, int height) {
  PlaneLayout layout;
  layout.components = components;
  for (int c = 0; c < components; ++c)
    layout.component[c] = {.offset = c, .step = components, .width = width, .height = height};
  return layout;
}

FrameLayout frame(std::initializer_list<PlaneLayout> planes) {
  FrameLayout layout;
  for (const PlaneLayout& each : planes) layout.plane[layout.planes++] = each;
  return layout;
}

// YUY2 where luma comes first, UYVY where chroma does.
FrameLayout packed_422(int luma, int chroma) {
  return frame({plane({{.offset = luma, .step = 2, .width = 8, .height = 3},
                       {.offset = chroma, .step = 4, .width = 4, .height = 3},
                       {.offset = chroma + 2, .step = 4, .width = 4, .height = 3}})});
}

void expect_each_sample_once(const FrameLayout& layout) {
  std::set<std::pair<int, int>> named;  // plane, place in the row
  for (const ComponentGroup& group : make_component_groups(layout)) {
    EXPECT_EQ(group.samples(), group.width * group.components);
    for (int i = 0; i < group.samples(); ++i) {
      const Component& component = *group.component[i % group.components];
      const int place = group.offset + i * group.stride;
      EXPECT_EQ(place, component.offset + i / group.components * component.step);
      EXPECT_EQ(group.width, component.width);
      EXPECT_EQ(group.height, component.height);
      EXPECT_TRUE(named.insert({group.plane, place}).second) << "twice: plane " << group.plane << ", sample " << place;
    }
  }
  std::size_t samples = 0;
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c) samples += layout.plane[p].component[c].width;
  EXPECT_EQ(named.size(), samples);
}

TEST(ComponentGroups, NameEachSampleOnce) {
  expect_each_sample_once(frame({interleaved(1, 7, 5)}));
  expect_each_sample_once(frame({interleaved(1, 7, 5), interleaved(2, 4, 3)}));
  expect_each_sample_once(frame({interleaved(1, 7, 5), interleaved(1, 4, 3), interleaved(1, 4, 3)}));
  expect_each_sample_once(frame({interleaved(3, 7, 5)}));
  expect_each_sample_once(frame({interleaved(4, 7, 5)}));
  expect_each_sample_once(packed_422(0, 1));
  expect_each_sample_once(packed_422(1, 0));
}

TEST(ComponentGroups, OfAUniformPlaneAreOneAndOfPacked422Two) {
  EXPECT_EQ(make_component_groups(frame({interleaved(4, 7, 5)})).size(), 1U);
  EXPECT_EQ(make_component_groups(frame({interleaved(1, 7, 5), interleaved(2, 4, 3)})).size(), 2U);
  EXPECT_EQ(make_component_groups(packed_422(0, 1)).size(), 2U);
}

TEST(ComponentGroups, TellWhichOfTheirComponentsAreFiltered) {
  FrameLayout layout = frame({interleaved(3, 7, 5)});
  EXPECT_TRUE(make_component_groups(layout).front().all_filtered());
  layout.plane[0].component[1].filtered = false;
  EXPECT_FALSE(make_component_groups(layout).front().all_filtered());
  EXPECT_TRUE(make_component_groups(layout).front().any_filtered());
  for (Component& each : layout.plane[0].component) each.filtered = false;
  EXPECT_FALSE(make_component_groups(layout).front().any_filtered());
}

}  // namespace
