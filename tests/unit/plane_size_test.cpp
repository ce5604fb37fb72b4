// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sizes of planes and of fields, against figures that were worked out by hand.
#include "plane_size.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "fields.hpp"

namespace {

using namespace convolve;

/// NV12 at 7 x 486: a plane of luma, and one of 4 x 243 pairs.
FrameLayout nv12() {
  FrameLayout layout;
  layout.planes = 2;
  layout.plane[0].components = 1;
  layout.plane[0].component[0] = {.offset = 0, .step = 1, .width = 7, .height = 486};
  layout.plane[1].components = 2;
  for (int c = 0; c < 2; ++c) layout.plane[1].component[c] = {.offset = c, .step = 2, .width = 4, .height = 243};
  return layout;
}

TEST(PlaneSize, CountsRowsAndBytesWithoutPadding) {
  FrameLayout layout = nv12();
  EXPECT_EQ(rows(layout, 0), 486);
  EXPECT_EQ(row_bytes(layout, 0), 7);
  EXPECT_EQ(rows(layout, 1), 243);
  EXPECT_EQ(row_bytes(layout, 1), 8);
  layout.type = SampleType::u16;
  EXPECT_EQ(row_bytes(layout, 1), 16);
}

TEST(PlaneSize, OfYuy2IsThatOfItsLastSample) {
  FrameLayout layout;
  layout.planes = 1;
  layout.plane[0].components = 3;
  layout.plane[0].component[0] = {.offset = 0, .step = 2, .width = 5, .height = 3};
  layout.plane[0].component[1] = {.offset = 1, .step = 4, .width = 3, .height = 3};
  layout.plane[0].component[2] = {.offset = 3, .step = 4, .width = 3, .height = 3};
  EXPECT_EQ(row_bytes(layout, 0), 12);
}

// Two planes of 4 x 3 bytes, with their first rows so many bytes apart.
bool overlap(std::ptrdiff_t apart, std::ptrdiff_t stride, std::ptrdiff_t other_stride) {
  static std::byte memory[200];
  FrameLayout layout;
  layout.planes = 2;
  for (int p = 0; p < 2; ++p) {
    layout.plane[p].components = 1;
    layout.plane[p].component[0] = {.offset = 0, .step = 1, .width = 4, .height = 3};
  }
  Image image;
  image.plane[0] = {memory + 100, stride};
  image.plane[1] = {memory + 100 + apart, other_stride};
  const bool overlaps = planes_overlap(image, layout, 0, 1);
  EXPECT_EQ(planes_overlap(image, layout, 1, 0), overlaps);
  return overlaps;
}

TEST(PlanesOverlap, WhereTheyHaveBytesInCommon) {
  EXPECT_TRUE(overlap(0, 4, 4));
  EXPECT_TRUE(overlap(11, 4, 4));
  EXPECT_FALSE(overlap(12, 4, 4));  // one behind the other
  EXPECT_FALSE(overlap(-12, 4, 4));
  EXPECT_FALSE(overlap(4, 8, 8));  // side by side
  EXPECT_TRUE(overlap(3, 8, 8));
  EXPECT_TRUE(overlap(5, 8, 8));
  EXPECT_FALSE(overlap(5, 9, 9));
  EXPECT_FALSE(overlap(12, 8, 8));   // rows in turn, one row lower
  EXPECT_FALSE(overlap(20, 8, -8));  // the other's rows go upwards
  EXPECT_TRUE(overlap(16, 8, -8));
  EXPECT_TRUE(overlap(8, 8, 9));  // rows of different strides, which may meet
}

TEST(PackPlanes, LiesWithoutGapsOrAtTheUnitsAsked) {
  const PackedPlanes tight = pack_planes(nv12());
  EXPECT_EQ(tight.offset[1], 7u * 486);
  EXPECT_EQ(tight.stride[1], 8);
  EXPECT_EQ(tight.bytes, 7u * 486 + 8u * 243);
  const PackedPlanes wide = pack_planes(nv12(), 64, 256);
  EXPECT_EQ(wide.stride[0], 64);
  EXPECT_EQ(wide.offset[1], 31232u);  // 64 * 486 = 31104, rounded up to 122 * 256
  EXPECT_EQ(wide.bytes, 31232u + 15616u);
  std::vector<std::byte> memory(wide.bytes);
  EXPECT_EQ(wide.at(memory.data()).plane[1].data, memory.data() + 31232);
}

TEST(CopyRows, CopiesThoseRowsAloneWhateverTheStrides) {
  const char from[] = "abcdefghi";  // rows of 3
  char to[] = "............";       // rows of 4, bottom up
  copy_rows({const_cast<char*>(from), 3}, {to + 8, -4}, 2, 1, 3);
  EXPECT_STREQ(to, "gh..de......");
}

TEST(Fields, OfAnOddNumberOfChromaRowsGiveTheTopFieldOneMore) {
  const Field top = make_field(nv12(), 0), bottom = make_field(nv12(), 1);
  EXPECT_EQ(rows(top.layout, 0), 243);
  EXPECT_EQ(rows(bottom.layout, 0), 243);
  EXPECT_EQ(rows(top.layout, 1), 122);
  EXPECT_EQ(rows(bottom.layout, 1), 121);
  char memory[64];
  const Image frame{{{{&memory[0], 16}, {&memory[40], -24}}}};
  const Image image = bottom.image_of(frame);
  EXPECT_EQ(image.plane[0].data, &memory[16]);
  EXPECT_EQ(image.plane[0].stride, 32);
  EXPECT_EQ(image.plane[1].data, &memory[16]);
  EXPECT_EQ(image.plane[1].stride, -48);
}

TEST(Fields, WithoutRowsOfAPlaneLeaveItOut) {
  FrameLayout layout = nv12();
  layout.plane[0].component[0].height = 2;
  for (int c = 0; c < 2; ++c) layout.plane[1].component[c].height = 1;
  EXPECT_EQ(make_field(layout, 0).layout.planes, 2);
  EXPECT_EQ(make_field(layout, 1).layout.planes, 1);
  layout.plane[0].component[0].height = 1;
  EXPECT_EQ(make_field(layout, 1).layout.planes, 0);
}

}  // namespace
