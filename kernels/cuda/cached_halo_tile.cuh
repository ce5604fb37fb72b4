// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo's tile: its place in the frame, and how it is filled from planes of any layout.
//
// A tile holds, for each component of a group, rows of floats: value less zero level, `side` columns of margin, the
// tile's columns, `side` columns of margin. A group is a uniform plane's components, or a single component.
#pragma once

#include "cuda/cached_halo_tuning.hpp"
#include "cuda/frame.cuh"

namespace convolve::cuda {

/// Frames [first, end) of the window, combined by their weights.
struct Frames {
  int first, end;
};

struct Group {
  std::uint8_t first, count;  ///< components
  std::uint8_t across, down;  ///< strips
};

struct HaloFrame {
  FrameArgs frame;
  float weight[max_taps];  ///< of each frame; 1 where they are not combined
  Group group[max_frame_components];
  std::uint8_t groups, combine;
  std::uint8_t in_aligned[max_planes], out_aligned[max_planes];  ///< to 16 bytes, rows and all
};

template <int capacity>
struct HaloArgs : HaloFrame {
  float taps[capacity];  ///< [frame, unless combined][row][2 * reach + 1]
};
static_assert(sizeof(HaloArgs<few_taps>) <= 4096);

#ifdef __CUDACC__

struct Tile {
  int first, components;    ///< of the frame
  int x, y, width, height;  ///< outputs
  int across, down;         ///< strips
  int pitch, plane;         ///< cells from row to row, from component to component
};

template <int side>
__device__ __forceinline__ Tile find_tile(const HaloFrame& args, int index, int rows) {
  int g = 0;
  while (g + 1 < args.groups && index >= args.frame.component[args.group[g + 1].first].first_tile) ++g;
  const Group& group = args.group[g];
  const ComponentArgs& leader = args.frame.component[group.first];
  Tile tile;
  tile.first = group.first;
  tile.components = group.count;
  tile.across = group.across;
  tile.down = group.down;
  tile.width = group.across * cached_halo_tuning::strip_width;
  tile.height = group.down * rows;
  tile.pitch = tile.width + 2 * side;
  tile.plane = tile.pitch * tile.height;
  const int place = index - leader.first_tile, y = place / leader.tiles_x;
  tile.x = (place - y * leader.tiles_x) * tile.width;
  tile.y = y * tile.height;
  return tile;
}

/// Sample i of 32-bit words of samples, less `zero`. Integers meet the exponent of 2^23, and leave it by one
/// subtraction.
template <class Sample>
__device__ __forceinline__ float unpack(const std::uint32_t* words, int i, int shift, float zero) {
  if constexpr (sizeof(Sample) == 1)
    return __uint_as_float(__byte_perm(words[i / 4], 0x4B000000u, 0x7440u | (i % 4))) - (8388608.f + zero);
  else if constexpr (sizeof(Sample) == 2)
    return __uint_as_float(0x4B000000u | ((words[i / 2] >> (i % 2 * 16) & 0xffffu) >> shift)) - (8388608.f + zero);
  else
    return __uint_as_float(words[i]) - zero;
}

/// Reads `n` aligned 32-bit words as wide as they come.
template <int n>
__device__ __forceinline__ void load_words(const void* from, std::uint32_t (&words)[n]) {
  if constexpr (n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < n; i += 4) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(from) + i / 4);
      words[i] = v.x, words[i + 1] = v.y, words[i + 2] = v.z, words[i + 3] = v.w;
    }
  } else if constexpr (n % 2 == 0) {
#pragma unroll
    for (int i = 0; i < n; i += 2) {
      const uint2 v = __ldg(reinterpret_cast<const uint2*>(from) + i / 2);
      words[i] = v.x, words[i + 1] = v.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) words[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + i);
  }
}

/// One cell, anywhere, whatever the layout.
template <class Sample>
__device__ __noinline__ float any_cell(const HaloFrame& args, const ComponentArgs& component, Frames frames, int x,
                                       int y) {
  float sum = 0;
  for (int t = frames.first; t < frames.end; ++t)
    sum = fmaf(args.weight[t], row_at<float, Sample>(args.frame, component, t, y).at(x), sum);
  return sum;
}

/// Groups of 4 columns of `components` interleaved samples; `wide` of them to a load, where that makes 16 bytes.
template <class Sample, int components, int wide>
__device__ __forceinline__ void fill_columns(const HaloFrame& args, const Tile& tile, Frames frames, float* cells,
                                             int side) {
  constexpr int words = components * sizeof(Sample);  // in a group
  const ComponentArgs* const component = args.frame.component + tile.first;
  const int width = component[0].width, plane = component[0].plane;
  const bool plain = args.in_aligned[plane] && component[0].step == components;
  const int pieces = tile.width / (4 * wide);
  for (int i = threadIdx.x; i < pieces * tile.height; i += blockDim.x) {
    const int row = i / pieces, column = (i - row * pieces) * 4 * wide;
    const int x = tile.x + column, y = index_at(args.frame.border, tile.y + row, component[0].height);
    float* const to = cells + row * tile.pitch + side + column;
    if (!plain || x + 4 * wide > width) {
#pragma unroll 1
      for (int k = 0; k < 4 * wide; ++k)
#pragma unroll 1
        for (int c = 0; c < components; ++c)
          to[c * tile.plane + k] = any_cell<Sample>(args, component[c], frames, x + k, tile.y + row);
      continue;
    }
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(x) * components * sizeof(Sample) +
                                  (components == 1 ? component[0].offset * sizeof(Sample) : 0);
    if constexpr (wide > 1) {
      // A single frame. Lanes take their groups in turns that keep the stores to shared memory apart.
      const PlaneView& view = args.frame.in[frames.first][plane];
      const bool ghost = y < 0 || view.data == nullptr;
      std::uint32_t in[wide * words] = {};
      if (!ghost) load_words(static_cast<const char*>(view.data) + y * view.stride + offset, in);
#pragma unroll
      for (int k = 0; k < wide; ++k) {
        const int g = (k + threadIdx.x / (8 / wide)) % wide;
        std::uint32_t group[words];
#pragma unroll
        for (int w = 0; w < words; ++w) {
          group[w] = in[w];
#pragma unroll
          for (int other = 1; other < wide; ++other)
            if (g == other) group[w] = in[other * words + w];
        }
#pragma unroll
        for (int c = 0; c < components; ++c) {
          const float zero = component[c].zero, level = static_cast<float>(component[c].ghost);
          float4 v;
          v.x = ghost ? level : unpack<Sample>(group, c, args.frame.shift, zero);
          v.y = ghost ? level : unpack<Sample>(group, components + c, args.frame.shift, zero);
          v.z = ghost ? level : unpack<Sample>(group, 2 * components + c, args.frame.shift, zero);
          v.w = ghost ? level : unpack<Sample>(group, 3 * components + c, args.frame.shift, zero);
          *reinterpret_cast<float4*>(to + c * tile.plane + 4 * g) = v;
        }
      }
    } else {
      float sum[4 * components] = {};
      for (int t = frames.first; t < frames.end; ++t) {
        const PlaneView& view = args.frame.in[t][plane];
        const float weight = args.weight[t];
        if (y < 0 || view.data == nullptr) {
#pragma unroll
          for (int k = 0; k < 4 * components; ++k)
            sum[k] = fmaf(weight, static_cast<float>(component[k % components].ghost), sum[k]);
        } else {
          std::uint32_t in[words];
          load_words(static_cast<const char*>(view.data) + y * view.stride + offset, in);
#pragma unroll
          for (int k = 0; k < 4 * components; ++k)
            sum[k] = fmaf(weight, unpack<Sample>(in, k, args.frame.shift, component[k % components].zero), sum[k]);
        }
      }
#pragma unroll
      for (int c = 0; c < components; ++c)
        *reinterpret_cast<float4*>(to + c * tile.plane) =
            make_float4(sum[c], sum[components + c], sum[2 * components + c], sum[3 * components + c]);
    }
  }
}

template <class Sample, int components>
__device__ __forceinline__ void fill_plane(const HaloFrame& args, const Tile& tile, Frames frames, float* cells,
                                           int side) {
  constexpr int bytes = 4 * components * sizeof(Sample);  // of a group of 4 columns
  if constexpr (bytes < 16 && 16 % bytes == 0)
    if (frames.end - frames.first == 1)
      return fill_columns<Sample, components, 16 / bytes>(args, tile, frames, cells, side);
  fill_columns<Sample, components, 1>(args, tile, frames, cells, side);
}

/// Every cell of the tile, margins too. All threads of the block call it.
template <class Sample, int side>
__device__ __forceinline__ void fill_tile(const HaloFrame& args, const Tile& tile, Frames frames, float* cells) {
  switch (tile.components) {
    case 1:
      fill_plane<Sample, 1>(args, tile, frames, cells, side);
      break;
    case 2:
      fill_plane<Sample, 2>(args, tile, frames, cells, side);
      break;
    case 3:
      fill_plane<Sample, 3>(args, tile, frames, cells, side);
      break;
    case 4:
      fill_plane<Sample, 4>(args, tile, frames, cells, side);
      break;
  }
  const int margins = 2 * side * tile.height;
  for (int i = threadIdx.x; i < margins * tile.components; i += blockDim.x) {
    const int c = i / margins, row = (i - c * margins) / (2 * side), k = i % (2 * side);
    const int column = k < side ? k : tile.width + k;
    cells[c * tile.plane + row * tile.pitch + column] =
        any_cell<Sample>(args, args.frame.component[tile.first + c], frames, tile.x - side + column, tile.y + row);
  }
}

/// A halo row into the warp's own line: the strip's columns and their margins.
template <class Sample, int side>
__device__ __noinline__ void stage_row(const HaloFrame& args, const ComponentArgs& component, Frames frames, int x,
                                       int y, float* line) {
  __syncwarp();  // the last line was read
  for (int t = frames.first; t < frames.end; ++t) {
    const auto row = row_at<float, Sample>(args.frame, component, t, y);
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < cached_halo_tuning::strip_width + 2 * side; i += 32)
      line[i] = fmaf(args.weight[t], row.at(x - side + i), t == frames.first ? 0.f : line[i]);
  }
  __syncwarp();
}

#endif

}  // namespace convolve::cuda
