// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/regions/cells.hpp"

#include <algorithm>

#include "cpu/regions/samples.hpp"

namespace convolve::cpu {
namespace {

std::uint16_t rounded_mean(std::int64_t sum, std::int64_t count) {
  const std::int64_t floor = sum / count, rest = 2 * (sum % count);
  return static_cast<std::uint16_t>(floor + (rest > count || (rest == count && floor % 2 != 0) ? 1 : 0));
}

}  // namespace

void CellMeans::resize(const CellGrid& grid, int components_of_pixel, bool exact_means) {
  components = components_of_pixel;
  exact = exact_means;
  const auto cells = static_cast<std::size_t>(grid.x.count()) * static_cast<std::size_t>(grid.y.count());
  count.assign(cells, 0);
  if (exact)
    mean.assign((cells + 1) * static_cast<std::size_t>(components), 0);
  else
    rounded.assign(cells * static_cast<std::size_t>(components), 0);
}

void CellMeans::set(int cell, std::int64_t samples, const std::int64_t* sums) noexcept {
  count[cell] = samples;
  if (samples == 0) return;
  for (int c = 0; c < components; ++c)
    if (exact)
      mean[cell * components + c] = static_cast<double>(sums[c]) / static_cast<double>(samples);
    else
      rounded[cell * components + c] = rounded_mean(sums[c], samples);
}

void CellMeans::fill_empty(const CellGrid& grid) noexcept {
  const int columns = grid.x.count(), rows = grid.y.count();
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const int cell = row * columns + column;
      if (count[cell] > 0) continue;
      // Rings of growing distance; the nearest cell may be up to the diagonal's length beyond the first that has one.
      int nearest = -1, least = 0;
      for (int ring = 1; ring < std::max(rows, columns) && (nearest < 0 || ring * ring <= least); ++ring)
        for (int r = std::max(0, row - ring); r <= std::min(rows - 1, row + ring); ++r) {
          const bool whole_row = r == row - ring || r == row + ring;
          for (int c = std::max(0, column - ring); c <= std::min(columns - 1, column + ring); ++c) {
            if (!whole_row && c != column - ring && c != column + ring) continue;
            const int other = r * columns + c, distance = (r - row) * (r - row) + (c - column) * (c - column);
            if (count[other] == 0) continue;
            if (nearest < 0 || distance < least || (distance == least && other < nearest)) {
              nearest = other;
              least = distance;
            }
          }
        }
      if (nearest < 0) continue;
      if (exact)
        std::copy_n(&mean[nearest * components], components, &mean[cell * components]);
      else
        std::copy_n(&rounded[nearest * components], components, &rounded[cell * components]);
    }
}

void pixelate_row(const CellGrid& grid, const CellMeans& means, const Sampling& s, int y, int first, int last,
                  std::uint16_t* values) noexcept {
  const int n = means.components, columns = grid.x.count();
  const std::uint16_t* row = means.rounded.data() + grid.y.cell(y * s.step_y) * columns * n;
  int x = first;
  for (int column = grid.x.cell(first * s.step_x); x < last; ++column) {
    const int end = std::min(last, grid.x.first_sample(column + 1, s.step_x, s.width));
    if (n == 1) {
      std::fill(values + (x - first), values + (end - first), row[column]);
      x = end;
    }
    for (; x < end; ++x)
      for (int c = 0; c < n; ++c) values[(x - first) * n + c] = row[column * n + c];
  }
}

namespace {

// Cells of up to so many pixels are blurred pixel by pixel, along a row; a loop for each pair of centres is short
// there.
constexpr int narrow_cell = 32;

// Where pixels first <= x < last stand in a row of cells: level beyond the outer centres.
void place_pixels(const CellGrid& grid, const Sampling& s, int first, int last, BetweenCells* at) noexcept {
  const int columns = grid.x.count();
  int x = first;
  for (int column = -1; column < columns && x < last; ++column) {
    const bool between = column >= 0 && column + 1 < columns;
    const int end =
        column + 1 < columns ? std::min(last, grid.x.first_from_centre(column + 1, s.step_x, s.width)) : last;
    if (end <= x) continue;
    const std::int64_t centre = grid.x.centre(std::max(column, 0));
    const double scale = between ? 1 / static_cast<double>(grid.x.centre(column + 1) - centre) : 0;
    for (; x < end; ++x)
      at[x - first] = {std::max(column, 0), static_cast<double>(grid.x.middle(x * s.step_x) - centre) * scale};
  }
}

// The same of a row of wide cells, a ramp between each pair of centres.
void ramp_cells(const CellGrid& grid, const CellMeans& means, const Sampling& s, int row, int first, int last,
                double* to) noexcept {
  const int n = means.components, columns = grid.x.count();
  const double* mean = means.mean.data() + row * columns * n;
  int x = first;
  for (int column = -1; column < columns && x < last; ++column) {
    const int end =
        column + 1 < columns ? std::min(last, grid.x.first_from_centre(column + 1, s.step_x, s.width)) : last;
    if (end <= x) continue;
    const int left = std::max(column, 0), right = std::min(column + 1, columns - 1);
    Ramp ramp{mean + left * n, mean + right * n, 0, 0, 0};
    if (left < right && column >= 0) {
      ramp.at = static_cast<double>(grid.x.middle(x * s.step_x) - grid.x.centre(left));
      ramp.step = 2 * s.step_x;
      ramp.scale = 1 / static_cast<double>(grid.x.centre(right) - grid.x.centre(left));
    }
    make_ramp(to + (x - first) * n, ramp, n, end - x);
    x = end;
  }
}

}  // namespace

void blur_row(const CellGrid& grid, const CellMeans& means, const Sampling& s, int y, int first, int last,
              BlurredCells& cells, std::uint16_t* values) noexcept {
  // Between the two rows of cells whose centres lie around this one, or level beyond the outer ones.
  const std::int64_t middle = grid.y.middle(y * s.step_y);
  int upper = grid.y.cell(y * s.step_y);
  if (upper > 0 && middle < grid.y.centre(upper)) --upper;
  const int lower = std::min(upper + 1, grid.y.count() - 1);
  double down = 0;
  if (lower > upper && middle > grid.y.centre(upper))
    down = static_cast<double>(middle - grid.y.centre(upper)) /
           static_cast<double>(grid.y.centre(lower) - grid.y.centre(upper));
  const bool same = cells.means == &means && cells.first == first && cells.last == last;
  const bool narrow = grid.x.size() <= narrow_cell;
  if (!same && narrow) place_pixels(grid, s, first, last, cells.at.data());
  if (!same || cells.upper != upper) {
    const auto blur_cells = [&](int row, std::vector<double>& to) {
      if (!narrow) return ramp_cells(grid, means, s, row, first, last, to.data());
      const double* mean = means.mean.data() + row * grid.x.count() * means.components;
      interpolate_cells(to.data(), mean, cells.at.data(), means.components, last - first);
    };
    if (same && cells.upper == upper - 1)
      std::swap(cells.above, cells.below);
    else
      blur_cells(upper, cells.above);
    blur_cells(lower, cells.below);
    cells.means = &means;
    cells.upper = upper;
    cells.first = first;
    cells.last = last;
  }
  values_between(values, cells.above.data(), cells.below.data(), down, (last - first) * means.components);
}

}  // namespace convolve::cpu
