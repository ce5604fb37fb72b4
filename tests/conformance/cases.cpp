// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string_view>

namespace conformance {
namespace {

using convolve::Border;

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
  o.content = random.chance(0.5)
                  ? Content::noise
                  : static_cast<Content>(random.integer(0, static_cast<int>(std::size(content_names)) - 1));
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

CaseOptions CaseList::draw(std::string_view layout) {
  CaseOptions o = draw_options(random);
  o.layout = layout_named(layout);
  return o;
}

const KindRow* kind_in_turn(std::size_t turn) {
  const auto all_kinds = kinds();
  return &all_kinds[turn % all_kinds.size()];
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
  std::snprintf(text, sizeof text, "%s %dx%d, %s, %s value=%g bias=%g, %s, in %s, out %s%s%s, seed 0x%llx",
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

}  // namespace conformance
