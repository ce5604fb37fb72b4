// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string_view>

namespace conformance {
namespace {

using convolve::Border;

constexpr std::array sizes{Size{33, 31},  Size{1, 1},   Size{640, 37}, Size{7, 5},  Size{130, 70},
                           Size{1921, 3}, Size{2, 3},   Size{65, 19},  Size{1, 40}, Size{258, 9},
                           Size{16, 16},  Size{300, 1}, Size{64, 33}};
constexpr std::array shapes{Shape{1, 3, 3}, Shape{1, 5, 5},   Shape{1, 1, 1},  Shape{1, 15, 15}, Shape{1, 7, 7},
                            Shape{1, 2, 2}, Shape{1, 1, 15},  Shape{1, 15, 1}, Shape{1, 3, 5},   Shape{1, 4, 6},
                            Shape{1, 9, 9}, Shape{1, 11, 11}, Shape{1, 14, 3}, Shape{1, 13, 13}, Shape{1, 1, 3},
                            Shape{1, 3, 1}, Shape{1, 8, 15},  Shape{1, 6, 12}, Shape{1, 1, 2},   Shape{1, 12, 10}};
constexpr std::array level_choices{LevelChoice{0, 0},     LevelChoice{1, 0.5},     LevelChoice{0.5, 0.5},
                                   LevelChoice{1, -0.25}, LevelChoice{0.37, 0.13}, LevelChoice{0, 1},
                                   LevelChoice{0, 3e7}};

oracle::Edge edge_of(Border border) {
  switch (border) {
    case Border::constant:
      return oracle::Edge::constant;
    case Border::replicate:
      return oracle::Edge::replicate;
    case Border::reflect:
      return oracle::Edge::reflect;
    case Border::reflect_101:
      return oracle::Edge::reflect_101;
    case Border::wrap:
      return oracle::Edge::wrap;
  }
  throw std::logic_error("a border mode that the oracle does not know");
}

bool multiple_of_quarter(double v) {
  return 4 * v == std::floor(4 * v);
}

bool makes_exact_taps(const KindRow& kind) {
  constexpr std::string_view names[] = {"fraction",       "integer", "integer-separable",
                                        "integer-sparse", "box",     "wide-integer"};
  return std::find(std::begin(names), std::end(names), kind.name) != std::end(names);
}

// Planes of their own sizes; components in any order, apart by up to 4 samples, each with levels of its own.
convolve::FrameLayout any_layout(int width, int height, Random& random) {
  convolve::FrameLayout layout;
  layout.type = static_cast<convolve::SampleType>(random.integer(0, 2));
  const bool byte = layout.type == convolve::SampleType::u8;
  layout.bits = byte ? random.integer(1, 8) : random.integer(9, 16);
  layout.shift = layout.type == convolve::SampleType::f32 ? 0 : random.integer(0, (byte ? 8 : 16) - layout.bits);
  const double full = layout.type == convolve::SampleType::f32 ? 1 : std::ldexp(1.0, layout.bits) - 1;
  layout.planes = random.integer(1, convolve::max_planes);
  for (int p = 0; p < layout.planes; ++p) {
    convolve::PlaneLayout& plane = layout.plane[p];
    plane.components = random.integer(1, convolve::max_components);
    std::array offsets{0, 1, 2, 3};
    const int step = random.integer(plane.components, 4);
    for (int i = 0; i < step; ++i) std::swap(offsets[i], offsets[random.integer(i, step - 1)]);
    const int w = random.chance(0.5) ? width : random.integer(1, width);
    const int h = random.chance(0.5) ? height : random.integer(1, height);
    for (int i = 0; i < plane.components; ++i) {
      convolve::Component& k = plane.component[i];
      k = {.offset = offsets[i], .step = step, .width = w, .height = h, .filtered = random.chance(0.8)};
      if (random.chance(0.1)) k.width = random.integer(1, w);
      if (random.chance(0.1)) k.height = random.integer(1, h);
      const auto level = [&] { return random.chance(0.5) ? 0 : std::floor(random.real(0, full + 1)); };
      k.zero = level();
      k.ghost = random.chance(0.2) ? random.real(0, full) : level();
      k.bias = random.chance(0.3) ? random.real(-2 * full, 2 * full) : level() / 2;
    }
  }
  return layout;
}

}  // namespace

const LayoutRow* layout_named(std::string_view name) {
  for (const LayoutRow& row : layouts())
    if (row.name == name) return &row;
  throw std::logic_error("no layout of that name");
}

// Integers over one divisor, in lowest terms, whose sum of products fits 24 bits.
bool is_exact(const Case& c, const convolve::Component& component) {
  if (c.kernel.divisor == 0 || c.desc.layout.type == convolve::SampleType::f32) return false;
  // An offset that is no short binary fraction makes ties of its own rounding.
  if (!multiple_of_quarter(component.bias)) return false;
  std::int64_t common = c.kernel.divisor;
  for (const std::int64_t n : c.kernel.integers) common = std::gcd(common, n);
  double magnitude = 0;
  for (const std::int64_t n : c.kernel.integers) magnitude += static_cast<double>(std::abs(n / common));
  const double full = std::ldexp(1.0, c.desc.layout.bits) - 1;
  double input = std::max(component.zero, full - component.zero);
  if (c.desc.border == Border::constant) input = std::max(input, std::abs(component.ghost - component.zero));
  return magnitude * input < 0x1p24;
}

bool is_exact(const Case& c) {
  for (int p = 0; p < c.desc.layout.planes; ++p)
    for (int i = 0; i < c.desc.layout.plane[p].components; ++i) {
      const convolve::Component& k = c.desc.layout.plane[p].component[i];
      if (!k.filtered) continue;
      if (!is_exact(c, k) || (c.desc.border == Border::constant && k.ghost != std::floor(k.ghost))) return false;
    }
  return true;
}

CaseOptions draw_options(Random& random) {
  CaseOptions o;
  o.layout = &random.pick(layouts());
  o.kind = &random.pick(kinds());
  o.border = random.pick(convolve::borders).value;
  o.shape = random.pick(shapes);
  const Size size = random.pick(sizes);
  o.width = size.width;
  o.height = size.height;
  o.content = random.chance(0.5) ? Content::noise : static_cast<Content>(random.integer(0, 4));
  o.levels = random.pick(level_choices);
  o.in = static_cast<Placement>(random.integer(0, 5));
  o.out = static_cast<Placement>(random.integer(0, 5));
  return o;
}

bool sees_fractional_ghost(const Case& c, const convolve::Component& component, int x, int y) {
  if (component.ghost == std::floor(component.ghost)) return false;
  if (c.ghosts) return true;
  if (c.edge != oracle::Edge::constant) return false;
  const int left = x - c.kernel.centre_x, top = y - c.kernel.centre_y;
  return left < 0 || top < 0 || left + c.kernel.width > component.width || top + c.kernel.height > component.height;
}

Case make_case(const CaseOptions& o, std::uint64_t seed) {
  Random random(seed);
  Case c;
  c.seed = seed;
  LevelChoice levels = o.levels;
  // A float that holds a bias beyond all code values holds nothing else.
  if (o.layout && o.layout->type == convolve::SampleType::f32) levels.bias = std::min(levels.bias, 1.0);
  c.desc.layout = o.layout ? make_layout(*o.layout, o.width, o.height, levels) : o.free_layout;
  c.desc.border = o.border;
  c.edge = edge_of(o.border);
  FilterPair pair = make_filter(*o.kind, o.shape, random);
  c.desc.filter = std::move(pair.filter);
  c.kernel = std::move(pair.kernel);
  c.content = o.content;
  c.in = o.in;
  c.out = o.out;
  if (o.border == Border::constant && o.shape.depth > 1 && random.chance(0.7))
    c.ghosts = static_cast<unsigned>(random.next()) & ((1u << o.shape.depth) - 1) & ~(1u << c.kernel.centre_t);
  c.exact = is_exact(c);

  char text[512];
  std::snprintf(text, sizeof text, "%s %dx%d, %s, %s value=%g bias=%g, %s, in %s, out %s%s%s, seed %llx",
                o.layout ? o.layout->name : "any-layout", o.width, o.height, pair.text.c_str(),
                convolve::borders[static_cast<int>(o.border)].nick, levels.border_value, levels.bias,
                content_names[static_cast<int>(o.content)], placement_names[static_cast<int>(o.in)],
                placement_names[static_cast<int>(o.out)], c.ghosts ? ", null frames" : "", c.exact ? ", exact" : "",
                static_cast<unsigned long long>(seed));
  c.name = text;
  return c;
}

Case random_case(std::uint64_t seed) {
  Random random(~seed);
  CaseOptions o = draw_options(random);
  o.shape = {random.chance(0.7) ? 1 : random.integer(1, 15), random.integer(1, 15), random.integer(1, 15)};
  if (o.shape.depth > 5) o.shape.height = random.integer(1, 5);
  const bool wide = random.chance(0.3);
  o.width = wide ? random.integer(1, 700) : random.integer(1, 80);
  o.height = wide ? random.integer(1, 20) : random.integer(1, 50);
  if (random.chance(0.25)) {
    o.layout = nullptr;
    o.free_layout = any_layout(o.width, o.height, random);
  }
  o.levels = {random.chance(0.5) ? random.integer(0, 1) : random.real(0, 1),
              random.chance(0.5) ? random.integer(-2, 2) * 0.5 : random.real(-1, 1)};
  return make_case(o, seed);
}

namespace {

// A border level that is no whole number beside taps that are exact: samples that do not see it are exact too.
std::vector<Case> beside_fractional_borders(Random& random) {
  constexpr std::array border_shapes{Shape{1, 3, 3}, Shape{1, 1, 6}, Shape{1, 7, 7}, Shape{1, 15, 15}, Shape{3, 3, 5}};
  const auto all_kinds = kinds();
  std::vector<Case> cases;
  for (const char* name : {"gray8", "nv12", "rgba8", "rgb8", "gray16", "p010", "i420-10", "yuy2"})
    for (const KindRow& kind : all_kinds)
      for (const Shape& shape : border_shapes) {
        if (!makes_exact_taps(kind)) continue;
        const std::size_t turn = cases.size();
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.border = Border::constant;
        o.kind = &kind;
        o.shape = shape;
        o.width = rotate(std::array{61, 132, 388, 20}, turn);
        o.height = rotate(std::array{23, 40, 19}, turn);
        o.levels = {rotate(std::array{0.5, 0.37, 0.01}, turn), 0.5};
        cases.push_back(make_case(o, random.next()));
      }
  return cases;
}

// Shapes that the matrix kernels cut planes into tiles for.
constexpr std::array tiled{Shape{1, 15, 15}, Shape{1, 9, 9}, Shape{1, 11, 11}, Shape{1, 13, 4}, Shape{1, 14, 12},
                           Shape{5, 3, 3},   Shape{5, 1, 1}, Shape{2, 7, 9},   Shape{3, 5, 5},  Shape{4, 2, 4},
                           Shape{15, 1, 3},  Shape{7, 7, 7}, Shape{3, 6, 8},   Shape{3, 7, 10}, Shape{2, 11, 4}};

constexpr std::array tiled_layouts{"gray8",   "nv12",         "rgba8",  "i420",   "p010", "gray16",
                                   "i420-10", "gray-alpha16", "argb64", "ayuv64", "y412", "gray-f32"};

// Packed 4:2:2, whose luma and chroma are made at once: tiles, and rows that are no whole ones.
std::vector<Case> packed_in_tiles(Random& random) {
  std::vector<Shape> all_shapes{{1, 3, 3}, {1, 5, 5}, {1, 7, 7}, {1, 7, 9}, {1, 2, 8}, {1, 6, 3}};
  all_shapes.insert(all_shapes.end(), tiled.begin(), tiled.end());
  const auto all_kinds = kinds();
  std::vector<Case> cases;
  for (const char* name : {"yuy2", "uyvy", "yuy2-luma", "uyvy-chroma"})
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Shape& shape : all_shapes) {
        const std::size_t turn = cases.size();
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.border = border.value;
        o.shape = shape;
        o.width = rotate(std::array{512, 776, 256, 524, 521}, turn);
        o.height = rotate(std::array{37, 20, 70}, turn);
        o.in = turn % 4 == 0 ? Placement::bottom_up : Placement::aligned;
        o.out = turn % 7 == 0 ? Placement::bottom_up : Placement::aligned;
        o.kind = &all_kinds[turn % all_kinds.size()];
        cases.push_back(make_case(o, random.next()));
      }
  return cases;
}

}  // namespace

std::vector<Case> systematic_cases(std::uint64_t seed) {
  Random random(seed);
  std::vector<Case> cases = beside_fractional_borders(random);
  std::size_t turn = 0;
  const auto add = [&](const CaseOptions& o) {
    cases.push_back(make_case(o, random.next()));
    ++turn;
  };
  const auto all_kinds = kinds();

  for (const LayoutRow& layout : layouts())
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Shape& shape : shapes) {
        CaseOptions o = draw_options(random);
        o.layout = &layout;
        o.border = border.value;
        o.shape = shape;
        o.kind = &all_kinds[turn % all_kinds.size()];
        add(o);
      }

  for (const char* name : {"gray8", "nv12", "rgba8", "gray16", "yuy2"})
    for (const KindRow& kind : all_kinds)
      for (const Shape& shape : shapes) {
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.kind = &kind;
        o.shape = shape;
        add(o);
      }

  for (const char* name : {"gray8", "rgb8", "i420", "p010"})
    for (const Size& size : sizes)
      for (const convolve::BorderRow& border : convolve::borders)
        for (const Shape& shape : {Shape{1, 3, 3}, Shape{1, 15, 15}, Shape{1, 4, 7}}) {
          CaseOptions o = draw_options(random);
          o.layout = layout_named(name);
          o.border = border.value;
          o.shape = shape;
          o.width = size.width;
          o.height = size.height;
          o.kind = &all_kinds[turn % all_kinds.size()];
          add(o);
        }

  constexpr std::array spatial{Shape{1, 3, 3}, Shape{1, 1, 1}, Shape{1, 5, 5}, Shape{1, 2, 3}, Shape{1, 7, 1}};
  for (const char* name : {"gray8", "nv12", "rgba8", "gray16", "p010", "yuy2", "rgbx8", "uyvy-chroma", "gray-f32"})
    for (int depth = 1; depth <= convolve::max_depth; ++depth)
      for (const convolve::BorderRow& border : convolve::borders) {
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.border = border.value;
        o.shape = rotate(spatial, turn);
        o.shape.depth = depth;
        o.kind = &all_kinds[(turn / 5) % all_kinds.size()];
        if (o.width > 300 && o.height > 5) o.width = 131;
        add(o);
      }
  // Large enough to be worth several threads, and several tiles each way.
  for (const char* name : {"gray8", "rgba8", "nv12", "gray16", "i420-10", "yuy2"})
    for (const Shape& shape : {Shape{1, 3, 3}, Shape{1, 7, 7}, Shape{1, 15, 15}, Shape{3, 5, 5}}) {
      CaseOptions o = draw_options(random);
      o.layout = layout_named(name);
      o.shape = shape;
      o.width = 523;
      o.height = 301;
      o.kind = &all_kinds[turn % all_kinds.size()];
      add(o);
    }
  // Rows of whole words, as camera frames have them: several tiles each way, their last ones moved back.
  constexpr std::array whole_words{Size{388, 75}, Size{132, 40}, Size{512, 33}, Size{256, 18}};
  for (const char* name : {"gray8", "rgba8", "nv12", "gray-alpha8", "rgbx8", "i420"})
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Shape& shape : {Shape{1, 3, 3}, Shape{1, 5, 5}, Shape{1, 7, 9}, Shape{1, 6, 2}, Shape{1, 15, 15}}) {
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.border = border.value;
        o.shape = shape;
        o.width = rotate(whole_words, turn / 4).width;
        o.height = rotate(whole_words, turn / 4).height;
        if (turn % 4 != 3) o.in = o.out = turn % 4 == 2 ? Placement::bottom_up : Placement::aligned;
        o.kind = &all_kinds[turn % all_kinds.size()];
        add(o);
      }
  // Wide enough to be cut into strips.
  for (const char* name : {"gray8", "rgba8", "gray16", "uyvy", "gray-f32"})
    for (const convolve::BorderRow& border : convolve::borders) {
      CaseOptions o = draw_options(random);
      o.layout = layout_named(name);
      o.border = border.value;
      o.width = 4099;
      o.height = 7;
      o.kind = &all_kinds[turn % all_kinds.size()];
      add(o);
    }
  // Planes that the matrix kernels cut into tiles.
  for (const char* name : tiled_layouts)
    for (const convolve::BorderRow& border : convolve::borders)
      for (const Shape& shape : tiled) {
        CaseOptions o = draw_options(random);
        o.layout = layout_named(name);
        o.border = border.value;
        o.shape = shape;
        o.width = turn % 3 == 0 ? 256 : 392;
        o.height = turn % 2 == 0 ? 37 : 18;
        o.in = turn % 4 == 0 ? Placement::bottom_up : Placement::aligned;
        o.out = turn % 5 == 0 ? Placement::bottom_up : Placement::tight;
        o.kind = &all_kinds[turn % all_kinds.size()];
        add(o);
      }
  for (const Case& c : packed_in_tiles(random)) cases.push_back(c);
  // The largest filter that there is.
  for (const convolve::BorderRow& border : convolve::borders) {
    CaseOptions o = draw_options(random);
    o.shape = {15, 15, 15};
    o.border = border.value;
    o.width = 37;
    o.height = 11;
    add(o);
  }
  for (const Case& c : cases_of_large_filters(random)) cases.push_back(c);
  return cases;
}

}  // namespace conformance
