// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The numbers and arguments of separable's kernel on the tensor cores for windows of frames, tensor_frames.cu.
#pragma once

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/common/limits.hpp"

namespace convolve::cuda::tensor {

/// A block makes a tile, a warp `sets` sets of 16 bytes by 16 rows of it.
struct FramesTile {
  static constexpr int bytes = 256, bands = 4, rows = 16 * bands, sets = 8,
                       threads = 32 * bands * (bytes / (16 * sets));
  static constexpr int matrix_bytes = 512;  ///< of a matrix of the row
  /// The most matrices that a row has.
  static constexpr int max_matrices = 6;
  /// Blocks to be resident on a multiprocessor: bounds the registers. See tensor_frames.cuh.
  static constexpr int resident = 3;
};

struct FramesPlane {
  const std::uint8_t* in[max_taps];  ///< of the frames that are there
  std::ptrdiff_t in_stride[max_taps];
  const std::uint8_t* centre;  ///< of the frame that components are copied from
  std::ptrdiff_t centre_stride;
  std::uint8_t* out;
  std::ptrdiff_t out_stride;
  int row_bytes, height;
  int step[2], length[2];  ///< bytes between a component's samples, and their number, of even bytes and of odd ones
  int first_block, tiles_x;
  bool wide, out_wide;               ///< addresses and strides allow 16 bytes at once
  std::uint32_t ghost, passthrough;  ///< of four bytes; all are filtered where components are three in turn
  float from[4];                     ///< what H starts at, by byte
  const uint4* rows;                 ///< the row's matrices
  int matrices;                      ///< their number
  int whole;   ///< bytes of a row that are whole blocks of 16, if addresses and strides allow these, else 0
  bool wraps;  ///< the border is periodic, and the other side of the frame is whole blocks
};

struct FramesArgs {
  FramesPlane plane[max_planes];
  int planes, frames, wave;  ///< wave: blocks that run at once
  int above, lines;          ///< the rows that a tile takes: from that many above it on, so many
  Border border;
  unsigned char tap_frame[max_taps];  ///< whose column each of the frames takes
  const uint4* columns;               ///< [frame][lane]
  const std::uint32_t* chosen;        ///< by lane, which columns of those matrices there are
  std::uint32_t start;                ///< of V, two halves
  float gain;                         ///< of H
};

}  // namespace convolve::cuda::tensor
