// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames cut into slabs are filtered as whole ones are, with two output frames taken in turn.
#include "slabs.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "convolve/backend.hpp"
#include "plane_size.hpp"

namespace {

using namespace convolve;

/// Planes of `components` interleaved samples, each subsampled by its `unit` in both directions.
struct PlaneShape {
  int components, unit;
};
FrameLayout make_layout(const std::vector<PlaneShape>& shapes, int width, int height) {
  FrameLayout layout;
  layout.planes = static_cast<int>(shapes.size());
  for (int p = 0; p < layout.planes; ++p) {
    layout.plane[p].components = shapes[p].components;
    for (int c = 0; c < shapes[p].components; ++c) {
      Component& component = layout.plane[p].component[c];
      component.offset = c;
      component.step = shapes[p].components;
      component.width = (width + shapes[p].unit - 1) / shapes[p].unit;
      component.height = (height + shapes[p].unit - 1) / shapes[p].unit;
      component.ghost = 77;
    }
  }
  return layout;
}

struct Frame {
  std::vector<std::byte> memory[max_planes];
  Image image;
  explicit Frame(const FrameLayout& layout) {
    for (int p = 0; p < layout.planes; ++p) {
      memory[p].resize(static_cast<std::size_t>(row_bytes(layout, p)) * rows(layout, p));
      image.plane[p] = {memory[p].data(), row_bytes(layout, p)};
    }
  }
};

struct Case {
  const char* name;
  std::vector<PlaneShape> planes;
  int width, height, filter_height, filter_width;
  Border border;
};
const Case cases[] = {
    {"RGBA", {{4, 1}}, 1500, 1400, 7, 3, Border::replicate},
    {"NV12, odd height", {{1, 1}, {2, 2}}, 2001, 1999, 15, 1, Border::reflect},
    {"I420, even filter", {{1, 1}, {1, 2}, {1, 2}}, 2001, 2001, 6, 2, Border::reflect_101},
    {"grey, one row of taps", {{1, 1}}, 3000, 2003, 1, 5, Border::wrap},
    {"grey, constant", {{1, 1}}, 3000, 2002, 2, 2, Border::constant},
};

TEST(Slabs, GiveWhatTheWholeFrameGives) {
  std::mt19937 random(1);
  const std::unique_ptr<Backend> backend = make_cpu_backend();
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const FrameLayout layout = make_layout(test.planes, test.width, test.height);
    TapArray taps{1, test.filter_height, test.filter_width, {}};
    for (int i = 0; i < test.filter_height * test.filter_width; ++i)
      taps.taps.push_back(Tap::fraction(static_cast<int>(random() % 9) - 3, 16));
    const Filter filter(taps);
    Frame in(layout), whole(layout), joined(layout);
    for (auto& plane : in.memory)
      for (std::byte& sample : plane) sample = static_cast<std::byte>(random());
    Window window{1, {&in.image}};
    ASSERT_EQ(backend->make_plan({layout, filter, test.border})->enqueue(window, whole.image, nullptr), nullptr);

    const std::vector<Slab> slabs = cut_into_slabs(layout, test.height, filter, test.border);
    ASSERT_GE(slabs.size(), 2u);
    Frame results[2]{Frame(layout), Frame(layout)};
    // Two slabs late, as a download may be: nothing that it still needs has been overwritten by then.
    const auto collect = [&](std::size_t k) {
      for (int p = 0; p < layout.planes; ++p) {
        const int first = plane_row(layout, p, test.height, slabs[k].first);
        const int last = plane_row(layout, p, test.height, slabs[k].last);
        const std::size_t width = row_bytes(layout, p);
        std::copy_n(results[k % 2].memory[p].begin() + first * width, (last - first) * width,
                    joined.memory[p].begin() + first * width);
      }
    };
    int next = 0;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
      const Slab& slab = slabs[k];
      EXPECT_EQ(slab.first, next);
      next = slab.last;
      const FrameLayout part = make_layout(test.planes, test.width, slab.bottom - slab.top);
      const Image slice = from_row(in.image, layout, test.height, slab.top);
      const Window piece{1, {&slice}};
      const Image out = from_row(results[k % 2].image, layout, test.height, slab.top);
      ASSERT_EQ(backend->make_plan({part, filter, test.border})->enqueue(piece, out, nullptr), nullptr);
      if (k >= 2) collect(k - 2);
    }
    collect(slabs.size() - 2);
    collect(slabs.size() - 1);
    EXPECT_EQ(next, test.height);
    for (int p = 0; p < layout.planes; ++p) EXPECT_EQ(joined.memory[p], whole.memory[p]) << "plane " << p;
  }
}

TEST(Slabs, AreNotCutWhereThatWouldBeWrongOrNotWorthIt) {
  const FrameLayout large = make_layout({{4, 1}}, 1500, 1400), small = make_layout({{1, 1}}, 640, 480);
  const FrameLayout flat = make_layout({{4, 1}}, 100000, 40);
  TapArray taps{1, 15, 1, {}};
  taps.taps.assign(15, Tap::integer(1));
  const Filter filter(taps);
  EXPECT_TRUE(cut_into_slabs(large, 1400, filter, Border::wrap).empty());
  EXPECT_TRUE(cut_into_slabs(small, 480, filter, Border::replicate).empty());
  EXPECT_TRUE(cut_into_slabs(flat, 40, filter, Border::replicate).empty());
  EXPECT_FALSE(cut_into_slabs(large, 1400, filter, Border::replicate).empty());
}

}  // namespace
