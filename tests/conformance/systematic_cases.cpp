// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <array>
#include <string_view>

#include "cases.hpp"

namespace conformance {
namespace {

using convolve::BorderRow;
using convolve::borders;

bool makes_exact_taps(const KindRow& kind) {
  constexpr std::string_view names[] = {"fraction",       "integer", "integer-separable",
                                        "integer-sparse", "box",     "wide-integer"};
  return std::find(std::begin(names), std::end(names), kind.name) != std::end(names);
}

// A border level that is no whole number beside taps that are exact: samples that do not see it are exact too.
std::vector<Case> beside_fractional_borders(Random& random) {
  constexpr std::array border_shapes{Shape{1, 3, 3}, Shape{1, 1, 6}, Shape{1, 7, 7}, Shape{1, 15, 15}, Shape{3, 3, 5}};
  const auto all_kinds = kinds();
  CaseList list{random};
  for (const char* name : {"gray8", "nv12", "rgba8", "rgb8", "gray16", "p010", "i420-10", "yuy2"})
    for (const KindRow& kind : all_kinds)
      for (const Shape& shape : border_shapes) {
        if (!makes_exact_taps(kind)) continue;
        CaseOptions o = list.draw(name);
        o.border = convolve::Border::constant;
        o.kind = &kind;
        o.shape = shape;
        o.width = rotate(std::array{61, 132, 388, 20}, list.turn());
        o.height = rotate(std::array{23, 40, 19}, list.turn());
        o.levels = {rotate(std::array{0.5, 0.37, 0.01}, list.turn()), 0.5};
        list.add(o);
      }
  return list.cases;
}

bool exact_in_some_components(const Case& c) {
  bool some = false, all = true;
  for (int p = 0; p < c.desc.layout.planes; ++p)
    for (int i = 0; i < c.desc.layout.plane[p].components; ++i) {
      const convolve::Component& component = c.desc.layout.plane[p].component[i];
      if (!component.filtered) continue;
      const bool exact = is_exact(c, component);
      some |= exact;
      all &= exact;
    }
  return some && !all;
}

// Taps that are exact for chroma, whose sums are half as large as those of luma, and not for luma.
std::vector<Case> beside_sums_beyond_24_bits(Random& random) {
  constexpr std::array mixed_shapes{Shape{1, 3, 3}, Shape{1, 5, 5}, Shape{1, 1, 7}, Shape{1, 7, 7}, Shape{1, 11, 11}};
  const auto all_kinds = kinds();
  CaseList list{random};
  for (const char* name : {"ayuv64", "p016"})
    for (const KindRow& kind : all_kinds)
      for (const Shape& shape : mixed_shapes)
        for (int n = 0; n < 12 && makes_exact_taps(kind); ++n) {
          CaseOptions o = list.draw(name);
          o.kind = &kind;
          o.shape = shape;
          o.width = rotate(std::array{388, 61, 132, 20}, list.turn());
          o.height = rotate(std::array{40, 23, 70}, list.turn());
          list.add(o);
        }
  std::erase_if(list.cases, [](const Case& c) { return !exact_in_some_components(c); });
  return list.cases;
}

void add_layouts(CaseList& list) {
  for (const LayoutRow& layout : layouts())
    for (const BorderRow& border : borders)
      for (const Shape& shape : shapes) {
        CaseOptions o = list.draw(layout.name);
        o.border = border.value;
        o.shape = shape;
        o.kind = kind_in_turn(list.turn());
        list.add(o);
      }
}

void add_kinds(CaseList& list) {
  const auto all_kinds = kinds();
  for (const char* name : {"gray8", "nv12", "rgba8", "gray16", "yuy2"})
    for (const KindRow& kind : all_kinds)
      for (const Shape& shape : shapes) {
        CaseOptions o = list.draw(name);
        o.kind = &kind;
        o.shape = shape;
        list.add(o);
      }
}

void add_sizes(CaseList& list) {
  for (const char* name : {"gray8", "rgb8", "i420", "p010"})
    for (const Size& size : sizes)
      for (const BorderRow& border : borders)
        for (const Shape& shape : {Shape{1, 3, 3}, Shape{1, 15, 15}, Shape{1, 4, 7}}) {
          CaseOptions o = list.draw(name);
          o.border = border.value;
          o.shape = shape;
          o.width = size.width;
          o.height = size.height;
          o.kind = kind_in_turn(list.turn());
          list.add(o);
        }
}

void add_depths(CaseList& list) {
  constexpr std::array spatial{Shape{1, 3, 3}, Shape{1, 1, 1}, Shape{1, 5, 5}, Shape{1, 2, 3}, Shape{1, 7, 1}};
  for (const char* name : {"gray8", "nv12", "rgba8", "gray16", "p010", "yuy2", "rgbx8", "uyvy-chroma", "gray-f32"})
    for (int depth = 1; depth <= convolve::max_depth; ++depth)
      for (const BorderRow& border : borders) {
        CaseOptions o = list.draw(name);
        o.border = border.value;
        o.shape = rotate(spatial, list.turn());
        o.shape.depth = depth;
        o.kind = kind_in_turn(list.turn() / 5);
        if (o.width > 300 && o.height > 5) o.width = 131;
        list.add(o);
      }
}

// Large enough to be worth several threads, and several tiles each way.
void add_large_frames(CaseList& list) {
  for (const char* name : {"gray8", "rgba8", "nv12", "gray16", "i420-10", "yuy2"})
    for (const Shape& shape : {Shape{1, 3, 3}, Shape{1, 7, 7}, Shape{1, 15, 15}, Shape{3, 5, 5}}) {
      CaseOptions o = list.draw(name);
      o.shape = shape;
      o.width = 523;
      o.height = 301;
      o.kind = kind_in_turn(list.turn());
      list.add(o);
    }
}

// Rows of whole words, as camera frames have them: several tiles each way, their last ones moved back.
void add_whole_words(CaseList& list) {
  constexpr std::array whole_words{Size{388, 75}, Size{132, 40}, Size{512, 33}, Size{256, 18}};
  constexpr std::array names{"gray8", "rgba8", "nv12", "gray-alpha8", "rgbx8", "i420"};
  constexpr std::array few{Shape{1, 3, 3}, Shape{1, 5, 5}, Shape{1, 7, 9}, Shape{1, 6, 2}, Shape{1, 15, 15}};
  list.add_each(names, few, [&](CaseOptions& o, std::size_t turn) {
    o.width = rotate(whole_words, turn / 4).width;
    o.height = rotate(whole_words, turn / 4).height;
    if (turn % 4 != 3) o.in = o.out = turn % 4 == 2 ? Placement::bottom_up : Placement::aligned;
  });
}

// Wide enough to be cut into strips.
void add_wide_frames(CaseList& list) {
  for (const char* name : {"gray8", "rgba8", "gray16", "uyvy", "gray-f32"})
    for (const BorderRow& border : borders) {
      CaseOptions o = list.draw(name);
      o.border = border.value;
      o.width = 4099;
      o.height = 7;
      o.kind = kind_in_turn(list.turn());
      list.add(o);
    }
}

// Shapes that the matrix kernels cut planes into tiles for.
constexpr std::array tiled{Shape{1, 15, 15}, Shape{1, 9, 9}, Shape{1, 11, 11}, Shape{1, 13, 4}, Shape{1, 14, 12},
                           Shape{5, 3, 3},   Shape{5, 1, 1}, Shape{2, 7, 9},   Shape{3, 5, 5},  Shape{4, 2, 4},
                           Shape{15, 1, 3},  Shape{7, 7, 7}, Shape{3, 6, 8},   Shape{3, 7, 10}, Shape{2, 11, 4}};

constexpr std::array tiled_layouts{"gray8",   "nv12",         "rgba8",  "i420",   "p010", "gray16",  "rgb8",
                                   "i420-10", "gray-alpha16", "argb64", "ayuv64", "y412", "gray-f32"};

void add_tiles(CaseList& list) {
  list.add_each(tiled_layouts, tiled, [](CaseOptions& o, std::size_t turn) {
    o.width = turn % 3 == 0 ? 256 : 392;
    o.height = turn % 2 == 0 ? 37 : 18;
    o.in = turn % 4 == 0 ? Placement::bottom_up : Placement::aligned;
    o.out = turn % 5 == 0 ? Placement::bottom_up : Placement::tight;
  });
}

// Packed 4:2:2, whose luma and chroma are made at once: tiles, and rows that are no whole ones.
std::vector<Case> packed_in_tiles(Random& random) {
  std::vector<Shape> all_shapes{{1, 3, 3}, {1, 5, 5}, {1, 7, 7}, {1, 7, 9}, {1, 2, 8}, {1, 6, 3}};
  all_shapes.insert(all_shapes.end(), tiled.begin(), tiled.end());
  CaseList list{random};
  constexpr std::array names{"yuy2", "uyvy", "yuy2-luma", "uyvy-chroma"};
  list.add_each(names, all_shapes, [](CaseOptions& o, std::size_t turn) {
    o.width = rotate(std::array{512, 776, 256, 524, 521}, turn);
    o.height = rotate(std::array{37, 20, 70}, turn);
    o.in = turn % 4 == 0 ? Placement::bottom_up : Placement::aligned;
    o.out = turn % 7 == 0 ? Placement::bottom_up : Placement::aligned;
  });
  return list.cases;
}

// A few frames of bytes that factor over time as well, in rows of whole words: strips of lanes, at times with a side of
// the frame in the last one, and ranges of rows.
std::vector<Case> frames_that_factor(Random& random) {
  constexpr std::array few{Shape{5, 7, 7}, Shape{5, 3, 3}, Shape{2, 3, 1}, Shape{3, 1, 3}, Shape{4, 2, 6},
                           Shape{3, 7, 5}, Shape{5, 1, 1}, Shape{3, 3, 2}, Shape{5, 6, 7}};
  constexpr std::array names{"gray8", "yuy2", "uyvy", "rgb8",      "rgbx8",
                             "ayuv8", "nv12", "i420", "yuy2-luma", "uyvy-chroma"};
  const auto all_kinds = kinds();
  const auto factors = [](const KindRow& kind) {
    constexpr std::string_view wanted[] = {"real-separable", "real-mirrored", "real-box"};
    return std::find(std::begin(wanted), std::end(wanted), kind.name) != std::end(wanted);
  };
  std::vector<const KindRow*> real;
  for (const KindRow& kind : all_kinds)
    if (factors(kind)) real.push_back(&kind);
  CaseList list{random};
  list.add_each(names, few, [&](CaseOptions& o, std::size_t turn) {
    o.kind = real[turn % real.size()];
    o.width = rotate(std::array{512, 240, 496, 16, 1040, 48, 736}, turn);
    o.height = rotate(std::array{37, 20, 9, 70, 8}, turn);
    o.in = turn % 4 == 0 ? Placement::bottom_up : Placement::aligned;
    o.out = turn % 7 == 0 ? Placement::bottom_up : Placement::aligned;
  });
  return list.cases;
}

// Pixels of four 16-bit components, of which kernels stream rows through shared memory.
std::vector<Case> streamed_words(Random& random) {
  constexpr std::array streamed{Shape{1, 3, 3}, Shape{1, 5, 5},   Shape{1, 7, 7},   Shape{1, 4, 6},
                                Shape{1, 9, 9}, Shape{1, 13, 12}, Shape{1, 15, 15}, Shape{3, 3, 3},
                                Shape{5, 5, 5}, Shape{4, 7, 7},   Shape{15, 2, 3}};
  CaseList list{random};
  for (const char* name : {"argb64", "argb64-all", "rgba64", "ayuv64-opaque", "y412"})
    for (const KindRow& kind : kinds())
      for (const Shape& shape : streamed) {
        const std::size_t turn = list.turn();
        CaseOptions o = list.draw(name);
        o.kind = &kind;
        o.shape = shape;
        o.width = rotate(std::array{132, 388, 8, 260, 1032}, turn);
        o.height = rotate(std::array{45, 23, 150}, turn);
        if (turn % 8 != 0) o.in = o.out = turn % 4 == 1 ? Placement::bottom_up : Placement::aligned;
        list.add(o);
      }
  return list.cases;
}

// The largest filter of full rank that there is.
std::vector<Case> largest_filter(Random& random) {
  CaseList list{random};
  for (const BorderRow& border : borders) {
    CaseOptions o = draw_options(random);
    o.shape = {15, 15, 15};
    o.border = border.value;
    o.width = 37;
    o.height = 11;
    list.add(o);
  }
  return list.cases;
}

}  // namespace

std::vector<Case> systematic_cases(std::uint64_t seed) {
  Random random(seed);
  std::vector<Case> fractional = beside_fractional_borders(random);
  CaseList list{random};
  for (const auto add :
       {add_layouts, add_kinds, add_sizes, add_depths, add_large_frames, add_whole_words, add_wide_frames, add_tiles})
    add(list);
  list.append(packed_in_tiles(random));
  list.append(beside_sums_beyond_24_bits(random));
  list.append(largest_filter(random));
  list.append(cases_of_large_filters(random));
  list.append(frames_that_factor(random));
  list.append(streamed_words(random));
  list.cases.insert(list.cases.begin(), fractional.begin(), fractional.end());
  return list.cases;
}

}  // namespace conformance
