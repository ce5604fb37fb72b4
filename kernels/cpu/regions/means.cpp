// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The first round of CpuRegionPlan: the sums of a row of cells of one region, and their means.
#include <algorithm>

#include "cpu/regions/region_plan.hpp"

namespace convolve::cpu {
namespace {

// Cells of up to so many pixels a side are summed column by column.
constexpr int small_cell = 64;

// Asks for the samples of a region that will be summed up next, where its rows are so few and so short that the
// processor does not see where they lead. Always inlined: see Ahead::fetch().
[[gnu::always_inline]] inline void ask_for(const PlaneView& view, const Sampling& s, std::ptrdiff_t pixel,
                                           const PixelRect& window) {
  constexpr std::ptrdiff_t line = 64, most_lines = 4;
  constexpr int most_rows = 64;
  const std::ptrdiff_t first = window.left / s.step_x * pixel, last = window.right / s.step_x * pixel;
  const int top = window.top / s.step_y, bottom = window.bottom / s.step_y;
  if (last - first > most_lines * line || bottom - top > most_rows) return;
  for (int y = top; y < bottom; ++y) {
    const char* const row = static_cast<const char*>(view.data) + y * view.stride;
    for (std::ptrdiff_t at = first & -line; at < last; at += line) __builtin_prefetch(row + at, 0, 3);
  }
}

}  // namespace

// A row of cells. Only what the region's columns of cells take is set to 0: regions may be far smaller than this.
struct CpuRegionPlan::CellSums {
  CellSums(const CellGrid& grid, const Sampling& s, int components) : columns(grid.x.count()), n(components) {
    std::fill_n(sums, columns * n, 0);
    std::fill_n(counts, columns, 0);
    for (int column = 0; column <= columns; ++column) begin[column] = grid.x.first_sample(column, s.step_x, s.width);
  }

  int columns, n;
  std::int64_t sums[CellMeans::max_columns * max_components];  ///< [column][component]
  std::int64_t counts[CellMeans::max_columns];
  int begin[CellMeans::max_columns + 1];  ///< the first sample of each column of cells
};

void CpuRegionPlan::take_means(unsigned task, Lines& lines, const Frame& frame) noexcept {
  const MeanTask& at = mean_tasks_[task];
  const Part& part = parts_[at.part];
  const Layer& layer = weights_.layers()[at.layer];
  const CellGrid& grid = grids_[at.layer];
  const Sampling& s = part.sampling;
  const auto next = static_cast<std::size_t>(at.layer) + 1;
  if (at.cell_row == 0 && next < weights_.layers().size()) {
    const PlaneView& view = frame.image.plane[part.group.plane];
    const int pixel = part.group.components * part.group.stride * bytes_per_sample(format_.type);
    ask_for(view, s, pixel, weights_.layers()[next].window);
  }
  CellSums cells(grid, s, part.group.components);
  const int top = std::max(grid.y.first_sample(at.cell_row, s.step_y, s.height), layer.window.top / s.step_y);
  const int bottom = std::min(grid.y.first_sample(at.cell_row + 1, s.step_y, s.height),
                              (layer.window.bottom + s.step_y - 1) / s.step_y);
  const bool rectangle = !layer.mapped && layer.box.shape == RegionShape::rectangle;
  if (rectangle && part.group.stride == 1 && grid.x.size() <= small_cell)
    sum_columns_of(at, top, bottom, cells, lines, frame);
  else
    sum_rows(at, top, bottom, cells, lines, frame);
  CellMeans& to = means(at.layer, at.part);
  for (int column = 0; column < cells.columns; ++column)
    to.set(at.cell_row * cells.columns + column, cells.counts[column], cells.sums + column * cells.n);
}

// Row by row, each in pieces of one cell.
void CpuRegionPlan::sum_rows(const MeanTask& at, int top, int bottom, CellSums& cells, Lines& lines,
                             const Frame& frame) const noexcept {
  const Part& part = parts_[at.part];
  const Layer& layer = weights_.layers()[at.layer];
  const int n = cells.n;
  const RegionWeights::Span reached = reach(part, at.layer);
  for (int y = top; y < bottom; ++y) {
    const RegionWeights::Span span = layer.mapped ? reached : weights_.core(layer, part.sampling, y);
    if (span.empty()) continue;
    if (layer.mapped) weights_.row(layer, part.sampling, y, span.first, span.last, lines.weights.data());
    const auto* row = static_cast<const unsigned char*>(gather(part, frame.image, y, span.first, span.last, lines));
    for (int column = 0; column < cells.columns; ++column) {
      const int first = std::max(span.first, cells.begin[column]), last = std::min(span.last, cells.begin[column + 1]);
      if (first >= last) continue;
      const void* from = row + static_cast<std::ptrdiff_t>(first - span.first) * n * bytes_per_sample(format_.type);
      if (layer.mapped) {
        cells.counts[column] += sum_full(from, format_, n, last - first, lines.weights.data() + (first - span.first),
                                         cells.sums + column * n);
      } else {
        sum_samples(from, format_, n, last - first, cells.sums + column * n);
        cells.counts[column] += last - first;
      }
    }
  }
}

// Of a rectangle, whose rows all have the same samples: these are summed down the rows first, a vector of columns at a
// time, and then along the row, once for all of its rows. Small cells would have one short piece a row otherwise.
void CpuRegionPlan::sum_columns_of(const MeanTask& at, int top, int bottom, CellSums& cells, Lines& lines,
                                   const Frame& frame) const noexcept {
  const Part& part = parts_[at.part];
  const Layer& layer = weights_.layers()[at.layer];
  const int n = cells.n;
  while (top < bottom && weights_.core(layer, part.sampling, top).empty()) ++top;
  while (top < bottom && weights_.core(layer, part.sampling, bottom - 1).empty()) --bottom;
  if (top >= bottom) return;
  const RegionWeights::Span span = weights_.core(layer, part.sampling, top);
  sum_columns(lines.sums.data(), gather(part, frame.image, top, span.first, span.last, lines),
              frame.image.plane[part.group.plane].stride, bottom - top, format_, (span.last - span.first) * n);
  for (int column = 0; column < cells.columns; ++column) {
    const int first = std::max(span.first, cells.begin[column]), last = std::min(span.last, cells.begin[column + 1]);
    if (first >= last) continue;
    cells.counts[column] = static_cast<std::int64_t>(last - first) * (bottom - top);
    for (int c = 0; c < n; ++c) {
      std::int64_t sum = 0;
      for (int x = first; x < last; ++x) sum += lines.sums[(x - span.first) * n + c];
      cells.sums[column * n + c] += sum;
    }
  }
}

}  // namespace convolve::cpu
