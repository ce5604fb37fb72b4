// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The cases of effects on regions, for both backends: so many regions of the same size, apart from one another, that
// cover a part of the frame.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "bench.hpp"
#include "convolve/region.hpp"

namespace convolve::bench {

struct RegionRow {
  const char* name;  ///< of the effect
  RegionEffect effect;
  const char* layout;
  int percent, side;  ///< of the frame's area; regions stand in `side` rows and columns
  RegionShape shape = RegionShape::rectangle;
  int feather = 0;

  /// "<runner>/<effect>/<layout>/<area>-<number of regions>[-<shape>]"
  std::string name_of(const std::string& runner) const {
    std::string text =
        runner + "/" + name + "/" + layout + "/" + std::to_string(percent) + "%-" + std::to_string(side * side);
    if (shape == RegionShape::ellipse) text += "-ellipse";
    if (feather > 0) text += "-feather";
    return text;
  }

  /// Apart from one another, each in the middle of its part of the frame.
  std::vector<Region> regions(int width, int height) const {
    std::vector<Region> found;
    const double scale = std::sqrt(percent / 100.0), part_width = static_cast<double>(width) / side,
                 part_height = static_cast<double>(height) / side;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        found.push_back(make_region((x + (1 - scale) / 2) * part_width, (y + (1 - scale) / 2) * part_height,
                                    scale * part_width, scale * part_height, 0, shape));
    return found;
  }
};

/// Registers a benchmark for each row, on its layout: run(state, row, desc) measures it.
template <class Run>
void register_rows(const char* runner, const std::vector<RegionRow>& rows, const Options& options, const Run& run) {
  for (const RegionRow& row : rows)
    for (const LayoutRow& layout : layouts()) {
      if (row.layout != std::string(layout.name)) continue;
      const RegionDesc desc{layout.make(options.width, options.height), options.width, options.height};
      benchmark::RegisterBenchmark(row.name_of(runner).c_str(),
                                   [run, row, desc](benchmark::State& state) { run(state, row, desc); })
          ->UseManualTime()
          ->Iterations(options.iterations);
    }
}

}  // namespace convolve::bench
