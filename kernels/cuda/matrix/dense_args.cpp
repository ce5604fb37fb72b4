// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/dense_args.hpp"

#include <algorithm>

#include "cuda/matrix/dense_tuning.hpp"

namespace convolve::cuda {

bool fits_dense(const Filter& filter) {
  return filter.reach_y() <= dense_radius_max && filter.reach_x() <= dense_margin;
}

int dense_radius(const Filter& filter) {
  return std::max(1, filter.reach_y());
}

void set_dense_filter(MatrixArgs& args, const PlanDesc& desc, const MatrixTaps& taps) {
  args.taps_x = desc.filter.width();
  args.taps_y = desc.filter.height();
  args.centre_x = desc.filter.centre_x();
  args.centre_y = desc.filter.centre_y();
  args.gain = taps.gain;
  args.gain_low = taps.gain_low;
  args.gain_high = 256 * taps.gain;
  args.epilogue = taps.epilogue;
  args.border = desc.border;
}

std::vector<MatrixLevels> dense_levels(const MatrixTaps& taps, const MatrixArgs& args) {
  std::vector<MatrixLevels> all(args.planes);
  const bool real = taps.epilogue == Epilogue::separate_limbs, reading = taps.epilogue == Epilogue::magic_number;
  for (unsigned p = 0; p < args.planes; ++p) {
    MatrixLevels& levels = all[p];
    const unsigned ghost = args.plane[p].ghost;
    levels.ghosts = {ghost, ghost, ghost, ghost};
    for (int c = 0; c < max_components; ++c) {
      const int start = real ? taps.real_start : taps.start[p][c];
      levels.start[c] = {start, start, start, start};
      levels.base[c] = reading ? -0x1p23f * taps.gain : taps.base[p][c];
      levels.level[c] = taps.level[p][c];
      levels.sum_start[c] = taps.start[p][c] - (reading ? float_bits : 0);
    }
  }
  return all;
}

}  // namespace convolve::cuda
