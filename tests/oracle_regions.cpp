// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "oracle_regions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace oracle {
namespace {

using Int = std::int64_t;

Int floor_division(Int a, Int b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// To nearest, ties to even. What is within 1e-10 of a tie is one: the values here are quotients of small integers.
double round_even(long double value) {
  const long double floor = std::floor(value), rest = value - floor;
  if (std::abs(rest - 0.5L) < 1e-10L) return static_cast<double>(std::fmod(floor, 2) == 0 ? floor : floor + 1);
  return static_cast<double>(rest > 0.5L ? floor + 1 : floor);
}

// A region ready for questions about pixels, anywhere on or off the frame.
struct Shape {
  WholeBox box;
  const Box* given = nullptr;
  Int width() const { return box.right - box.left; }
  Int height() const { return box.bottom - box.top; }

  bool holds(Int x, Int y) const {
    if (x < box.left || x >= box.right || y < box.top || y >= box.bottom) return false;
    if (given->mask_width > 0) {
      const auto column = static_cast<std::size_t>((2 * (x - box.left) + 1) * given->mask_width / (2 * width()));
      const auto row = static_cast<std::size_t>((2 * (y - box.top) + 1) * given->mask_height / (2 * height()));
      return given->mask[row * static_cast<std::size_t>(given->mask_width) + column] != 0;
    }
    if (!given->ellipse) return true;
    // The sample's centre, from the ellipse's, in units of the half axes.
    const long double u = static_cast<long double>(2 * (x - box.left) + 1 - width()) / width();
    const long double v = static_cast<long double>(2 * (y - box.top) + 1 - height()) / height();
    return u * u + v * v <= 1;
  }
};

std::vector<Shape> shapes(const std::vector<Box>& boxes, double grow) {
  std::vector<Shape> result;
  for (const Box& box : boxes)
    if (const Shape shape{whole(box, grow), &box}; !shape.box.empty()) result.push_back(shape);
  return result;
}

// Whether a pixel is one that the effect covers in full.
struct Core {
  const std::vector<Shape>& shapes;
  const Sampling& sampling;
  bool outside;

  bool holds(std::size_t region, Int x, Int y) const {
    if (!outside) return shapes[region].holds(x, y);
    if (x < 0 || y < 0 || x >= sampling.frame_width || y >= sampling.frame_height) return false;
    return std::none_of(shapes.begin(), shapes.end(), [&](const Shape& shape) { return shape.holds(x, y); });
  }
  // Chebyshev's distance to the nearest pixel held; more than `limit`: none is that near.
  int distance(std::size_t region, Int x, Int y, int limit) const {
    for (int d = 0; d <= limit; ++d)
      for (Int i = -d; i <= d; ++i)
        if (holds(region, x + i, y - d) || holds(region, x + i, y + d) || holds(region, x - d, y + i) ||
            holds(region, x + d, y + i))
          return d;
    return limit + 1;
  }
};

// The cells of one region in one component.
class Cells {
 public:
  Cells(const WholeBox& box, const Treatment& treatment, const Sampling& sampling) : box_(box), sampling_(sampling) {
    const Int longer = std::max(box.right - box.left, box.bottom - box.top);
    size_ = (longer + treatment.cells - 1) / treatment.cells;
    first_ = {index(std::max<Int>(box.left, 0), box.left, box.right),
              index(std::max<Int>(box.top, 0), box.top, box.bottom)};
    last_ = {index(std::min<Int>(box.right, sampling.frame_width) - 1, box.left, box.right),
             index(std::min<Int>(box.bottom, sampling.frame_height) - 1, box.top, box.bottom)};
  }

  void add(int x, int y, double value) {
    auto& [sum, count] = cells_[{cell_y(y), cell_x(x)}];
    sum += static_cast<Int>(value);
    ++count;
  }
  double pixelated(int x, int y) const { return round_even(mean(cell_x(x), cell_y(y))); }

  double blurred(int x, int y) const {
    const auto [k, t] =
        between(static_cast<Int>(x) * sampling_.step_x - box_.left, first_.first, last_.first, box_.right - box_.left);
    const auto [r, s] =
        between(static_cast<Int>(y) * sampling_.step_y - box_.top, first_.second, last_.second, box_.bottom - box_.top);
    const long double upper = mean(k, r) * (1 - t) + mean(k + 1, r) * t;
    const long double lower = mean(k, r + 1) * (1 - t) + mean(k + 1, r + 1) * t;
    return round_even(upper * (1 - s) + lower * s);
  }

 private:
  Int index(Int pixel, Int begin, Int end) const {
    return floor_division(std::clamp(pixel, begin, end - 1) - begin, size_);
  }
  Int cell_x(int x) const { return index(static_cast<Int>(x) * sampling_.step_x, box_.left, box_.right); }
  Int cell_y(int y) const { return index(static_cast<Int>(y) * sampling_.step_y, box_.top, box_.bottom); }

  // Twice the middle of a cell that may be cut short by the region's end, in pixels from its beginning.
  Int centre(Int cell, Int length) const { return cell * size_ + std::min((cell + 1) * size_, length); }

  // The cell whose centre lies before the middle of a pixel, and how far it is to the next one's.
  std::pair<Int, long double> between(Int pixel, Int first, Int last, Int length) const {
    const Int at = 2 * pixel + 1;
    if (at <= centre(first, length)) return {first, 0};
    for (Int k = first; k < last; ++k)
      if (at < centre(k + 1, length))
        return {k, static_cast<long double>(at - centre(k, length)) /
                       static_cast<long double>(centre(k + 1, length) - centre(k, length))};
    return {last, 0};
  }

  // Of the nearest cell that has samples, among those on the frame; the first of equally near ones.
  long double mean(Int k, Int r) const {
    k = std::clamp(k, first_.first, last_.first);
    r = std::clamp(r, first_.second, last_.second);
    const std::pair<Int, Int>* best = nullptr;
    Int best_distance = 0;
    for (const auto& [at, cell] : cells_) {
      const Int distance = (at.first - r) * (at.first - r) + (at.second - k) * (at.second - k);
      if (!best || distance < best_distance) best = &at, best_distance = distance;
    }
    const auto& [sum, count] = cells_.at(*best);
    return static_cast<long double>(sum) / static_cast<long double>(count);
  }

  WholeBox box_;
  const Sampling& sampling_;
  Int size_ = 1;
  std::pair<Int, Int> first_, last_;                          // column, row: of the cells that meet the frame
  std::map<std::pair<Int, Int>, std::pair<Int, Int>> cells_;  // (row, column): sum and count
};

template <class Visit>
void for_each_pixel(const Sampling& s, int x, int y, Visit&& visit) {
  for (int j = y * s.step_y; j < std::min((y + 1) * s.step_y, s.frame_height); ++j)
    for (int i = x * s.step_x; i < std::min((x + 1) * s.step_x, s.frame_width); ++i) visit(i, j);
}

int columns(const Sampling& s) {
  return (s.frame_width + s.step_x - 1) / s.step_x;
}
int rows(const Sampling& s) {
  return (s.frame_height + s.step_y - 1) / s.step_y;
}

}  // namespace

WholeBox whole(const Box& box, double grow) {
  for (const double number : {box.x, box.y, box.w, box.h})
    if (std::isnan(number)) return {};
  if (box.w <= 0 || box.h <= 0) return {};
  // Far beyond any frame, and small enough for integers.
  const auto drawn_in = [](double at) { return std::clamp(at, -0x1p40, 0x1p40); };
  const auto edge = [&](double at) { return static_cast<Int>(std::nearbyint(drawn_in(at))); };
  const double x = drawn_in(box.x), y = drawn_in(box.y), w = drawn_in(box.w), h = drawn_in(box.h);
  return {edge(x - grow * w), edge(y - grow * h), edge(x + w + grow * w), edge(y + h + grow * h)};
}

Weights weights(const std::vector<Box>& boxes, const Treatment& treatment, const Sampling& sampling) {
  const std::vector<Shape> regions = shapes(boxes, treatment.grow);
  const Core core{regions, sampling, treatment.outside};
  const std::size_t count = treatment.outside ? 1 : regions.size();
  const int f = treatment.feather;
  // A region with no pixel on the frame has no means, and leaves the samples of its feather to others.
  const bool means = treatment.effect == Effect::blur || treatment.effect == Effect::pixelate;
  std::vector<bool> counts(count, !means);
  for (std::size_t r = 0; r < count; ++r)
    for (int y = 0; y < sampling.frame_height; ++y)
      for (int x = 0; x < sampling.frame_width; ++x)
        if (core.holds(r, x, y)) counts[r] = true;
  Weights result;
  for (int y = 0; y < rows(sampling); ++y)
    for (int x = 0; x < columns(sampling); ++x) {
      int best = 0, owner = 0;
      for (std::size_t r = 0; r < count; ++r) {
        if (!counts[r]) continue;
        int largest = 0;
        for_each_pixel(sampling, x, y, [&](int i, int j) {
          const int d = core.distance(r, i, j, f);
          if (d <= f) largest = std::max(largest, static_cast<int>(std::nearbyint(256.0 * (f + 1 - d) / (f + 1))));
        });
        if (largest > best) best = largest, owner = static_cast<int>(r);
      }
      result.weight.push_back(best);
      result.region.push_back(owner);
    }
  return result;
}

Plane treat(const std::vector<Box>& boxes, const Treatment& treatment, const Sampling& sampling, const Plane& in,
            const Plane* filtered, int fill) {
  const Weights w = weights(boxes, treatment, sampling);
  const std::vector<Shape> regions = shapes(boxes, treatment.grow);
  const Core core{regions, sampling, treatment.outside};
  const bool hides = treatment.effect == Effect::blur || treatment.effect == Effect::pixelate;

  std::vector<Cells> cells;
  if (treatment.outside)
    cells.emplace_back(WholeBox{0, 0, sampling.frame_width, sampling.frame_height}, treatment, sampling);
  else
    for (const Shape& shape : regions) cells.emplace_back(shape.box, treatment, sampling);
  for (std::size_t r = 0; r < cells.size() && hides; ++r)
    for (int y = 0; y < in.height; ++y)
      for (int x = 0; x < in.width; ++x) {
        bool any = false;
        for_each_pixel(sampling, x, y, [&](int i, int j) { any |= core.holds(r, i, j); });
        if (any) cells[r].add(x, y, in.samples[static_cast<std::size_t>(y) * in.width + x]);
      }

  Plane out = in;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x) {
      const std::size_t at = static_cast<std::size_t>(y) * in.width + x;
      const int weight = w.weight[at];
      if (weight == 0) continue;
      double effect = fill;
      if (treatment.effect == Effect::filter) effect = filtered->samples[at];
      if (hides) {
        const Cells& of = cells[static_cast<std::size_t>(w.region[at])];
        effect = treatment.effect == Effect::blur ? of.blurred(x, y) : of.pixelated(x, y);
      }
      out.samples[at] = std::nearbyint((in.samples[at] * (256 - weight) + effect * weight) / 256);
    }
  return out;
}

}  // namespace oracle
