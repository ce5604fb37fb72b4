// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "region_cases.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "random.hpp"

namespace conformance {
namespace {

oracle::Box random_box(int width, int height, Random& random) {
  oracle::Box box;
  const auto whole = [&](double low, double high) { return std::nearbyint(random.real(low, high)); };
  box.x = whole(-0.3 * width - 2, 1.1 * width);
  box.y = whole(-0.3 * height - 2, 1.1 * height);
  box.w = whole(1, 0.8 * width + 2);
  box.h = whole(1, 0.8 * height + 2);
  if (random.chance(0.1)) box.w = 1;
  if (random.chance(0.1)) box.h = 1;
  if (random.chance(0.2)) box.x += random.real(-1, 1), box.w += random.real(0, 1);
  if (random.chance(0.05)) box.w = random.chance(0.5) ? 0 : -box.w;
  if (random.chance(0.05)) {
    constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              1e300,
                              -1e300,
                              -2147483648.0,
                              4294967295.0,
                              1e7,
                              -1e7};
    double* of[] = {&box.x, &box.y, &box.w, &box.h};
    *random.pick(of) = random.pick(odd);
  }
  if (random.chance(0.05)) box.x = -3e9, box.y = -1e9, box.w = 7e9, box.h = 2.1e9;
  box.ellipse = random.chance(0.4);
  if (random.chance(0.2)) {
    box.mask_width = random.integer(1, 9);
    box.mask_height = random.integer(1, 7);
    for (int i = 0; i < box.mask_width * box.mask_height; ++i)
      box.mask.push_back(random.chance(0.5) ? static_cast<std::uint8_t>(random.integer(1, 255)) : 0);
  }
  return box;
}

}  // namespace

RegionCase random_region_case(std::uint64_t seed) {
  Random random(seed);
  RegionCase c;
  do c.row = &random.pick(layouts());
  while (c.row->type == convolve::SampleType::f32);
  c.width = random.chance(0.2) ? random.integer(1, 4) : random.integer(5, 45);
  c.height = random.chance(0.2) ? random.integer(1, 4) : random.integer(5, 33);
  c.layout = make_layout(*c.row, c.width, c.height, {0, 0});
  const int count = random.chance(0.1) ? 0 : random.chance(0.5) ? 1 : random.integer(2, 6);
  for (int i = 0; i < count; ++i) c.boxes.push_back(random_box(c.width, c.height, random));
  c.treatment.effect = static_cast<oracle::Effect>(random.integer(0, 3));
  c.treatment.outside = random.chance(0.3);
  c.treatment.feather = random.chance(0.5) ? 0 : random.chance(0.05) ? 256 : random.integer(1, 12);
  if (c.treatment.feather == 256) c.width = c.height = 7, c.layout = make_layout(*c.row, 7, 7, {0, 0});
  c.treatment.cells = random.chance(0.5) ? random.integer(1, 8) : random.integer(1, 64);
  c.treatment.grow = random.chance(0.6) ? 0 : random.chance(0.5) ? random.integer(-2, 4) * 0.25 : random.real(-0.5, 4);
  constexpr convolve::RegionEffect effects[] = {convolve::RegionEffect::filter, convolve::RegionEffect::blur,
                                                convolve::RegionEffect::pixelate, convolve::RegionEffect::fill};
  c.asked.effect = effects[static_cast<int>(c.treatment.effect)];
  c.asked.outside = c.treatment.outside;
  c.asked.feather = c.treatment.feather;
  c.asked.cells = c.treatment.cells;
  for (auto& plane : c.asked.fill)
    for (int& level : plane) level = random.integer(0, c.layout.max_value());
  constexpr const char* names[] = {"filter", "blur", "pixelate", "fill"};
  char text[256];
  std::snprintf(text, sizeof text, "seed 0x%llx: %s %dx%d, %s%s, feather %d, %d cells, grow %g",
                static_cast<unsigned long long>(seed), c.row->name, c.width, c.height,
                names[static_cast<int>(c.treatment.effect)], c.treatment.outside ? " outside" : "", c.treatment.feather,
                c.treatment.cells, c.treatment.grow);
  c.name = text;
  for (const oracle::Box& box : c.boxes) {
    std::snprintf(text, sizeof text, "\n    %g,%g %gx%g%s", box.x, box.y, box.w, box.h,
                  box.mask_width ? " mask"
                  : box.ellipse  ? " ellipse"
                                 : "");
    c.name += text;
  }
  return c;
}

// Another size, and no boxes.
static void start_anew(RegionCase& c, int width, int height) {
  c.width = width;
  c.height = height;
  c.layout = make_layout(*c.row, width, height, {0, 0});
  c.boxes.clear();
}

RegionCase large_region_case(std::uint64_t seed) {
  Random random(seed);
  RegionCase c = random_region_case(seed);
  start_anew(c, 640, 360);
  for (int i = 0; i < 40; ++i) c.boxes.push_back(random_box(c.width, c.height, random));
  // Beyond what rides in a kernel's parameters, without spans and maps, and more than a block lists.
  if (seed % 2 == 0)
    for (oracle::Box& box : c.boxes) box.ellipse = false, box.mask_width = box.mask_height = 0;
  if (seed % 4 == 0)
    for (int i = 0; i < 100; ++i) c.boxes.push_back(c.boxes[static_cast<std::size_t>(i % 40)]);
  return c;
}

RegionCase crowded_region_case(std::uint64_t seed) {
  Random random(seed);
  RegionCase c = random_region_case(seed);
  const int width = random.integer(1, 40), height = random.integer(1, 30);
  start_anew(c, width, height);
  c.treatment.outside = c.asked.outside = false;
  c.treatment.feather = c.asked.feather = random.chance(0.4) ? 0 : random.integer(1, 6);
  for (int i = random.integer(20, 60); i > 0; --i) {
    c.boxes.push_back(random_box(c.width, c.height, random));
    c.boxes.back().mask_width = c.boxes.back().mask_height = 0;
  }
  return c;
}

RegionCase apart_region_case(std::uint64_t seed) {
  Random random(seed);
  RegionCase c = random_region_case(seed);
  const int width = random.integer(40, 900), height = random.integer(30, 500);
  start_anew(c, width, height);
  c.treatment.outside = c.asked.outside = false;
  c.treatment.feather = c.asked.feather = 0;
  c.treatment.grow = 0;
  const int columns = random.chance(0.3) ? 1 : random.integer(1, 12),
            rows = random.chance(0.3) ? 1 : random.integer(1, 9);
  const double across = static_cast<double>(c.width) / columns, down = static_cast<double>(c.height) / rows;
  for (int i = 0; i < columns * rows; ++i) {
    const auto edge = [&](int number, double part, double& from, double& size) {
      const double begin = std::ceil(number * part), end = std::floor((number + 1) * part);
      from = begin + (random.chance(0.2) ? 0 : std::floor(random.real(0, (end - begin) / 2)));
      size = random.chance(0.2) ? end - from : std::ceil(random.real(0, end - from));
      if (number == 0 && random.chance(0.2)) from -= 100, size += 100;
    };
    oracle::Box box;
    edge(i % columns, across, box.x, box.w);
    edge(i / columns, down, box.y, box.h);
    c.boxes.push_back(box);
  }
  return c;
}

}  // namespace conformance
