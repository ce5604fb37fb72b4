// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// tiled's numbers: the block, and what its threads stand for, by the longer side of the filter.
#pragma once

#include <array>

namespace convolve::cuda {

enum class TileBlock {
  input,  ///< a thread for each sample of the input tile: loading is simple, the outer threads idle afterwards
  output  ///< a thread for each output: loading takes several rounds, then all of them work
};

struct TiledRow {
  int max_side;
  TileBlock block;
  int block_width, block_height;
};

inline constexpr std::array tiled_rows{
    TiledRow{2, TileBlock::input, 32, 16},
    TiledRow{31, TileBlock::output, 32, 16},
};

}  // namespace convolve::cuda
