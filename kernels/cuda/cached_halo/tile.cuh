// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// cached-halo's tile: its place in the frame, and how it is filled from planes of any layout.
//
// A tile holds, for each component of a group, rows of floats (value less zero level): a margin of columns, the tile's
// own, a margin. A group is a uniform plane's components, or a single component. Pieces of rows that lie inside the
// frame are loaded 16 bytes at a time where they are aligned; what is left over (edge tiles, odd strides, scattered
// components) cell by cell.
#pragma once

#include <algorithm>

#include "cuda/cached_halo/args.hpp"

namespace convolve::cuda {

/// Frames [first, end) of the window, combined by their weights.
struct Frames {
  int first, end;
};

/// Sample i of 32-bit words of samples, less its zero level. Integers are read as the low bits of a float of 2^23, so
/// that one subtraction of `base`, 2^23 + zero level, converts them.
template <class Sample>
__device__ __forceinline__ float unpack(const std::uint32_t* words, int i, int shift, float base) {
  if constexpr (sizeof(Sample) == 1)
    return __uint_as_float(__byte_perm(words[i / 4], 0x4B000000u, 0x7440u | (i % 4))) - base;
  else if constexpr (sizeof(Sample) == 2)
    return __uint_as_float(0x4B000000u | ((words[i / 2] >> (i % 2 * 16) & 0xffffu) >> shift)) - base;
  else
    return __uint_as_float(words[i]) - base;
}

/// Reads `n` aligned 32-bit words as wide as they come.
template <int n>
__device__ __forceinline__ void load_words(const void* from, std::uint32_t* words) {
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

/// A single stored sample's bits, as unpack() takes them.
template <class Sample>
__device__ __forceinline__ std::uint32_t load_bits(const Sample* from) {
  if constexpr (sizeof(Sample) == 4)
    return __float_as_uint(__ldg(from));
  else
    return __ldg(from);
}

/// The shape of a tile, known when compiled.
template <class Sample, int radius, int components>
struct Shape {
  static constexpr int bytes = components * sizeof(Sample);                  // of a column
  static constexpr int piece = bytes == 3 ? 4 : bytes < 4 ? 16 / bytes : 4;  ///< columns to a load
  static constexpr int side = cached_halo_tuning::margin(radius) > piece ? cached_halo_tuning::margin(radius) : piece;
  static constexpr int down = cached_halo_tuning::strips(components);
  static constexpr int width = cached_halo_tuning::strip_width;
  static constexpr int height = down * cached_halo_tuning::rows;
  static constexpr int pitch = width + 2 * side;  ///< cells from row to row
  static_assert(pitch % piece == 0 && side % piece == 0);
};

/// Cells that a block needs where `halo_rows` are held too.
template <class Sample, int radius>
constexpr int cells_with(int halo_rows) {
  const auto cells = [&](auto shape, int components) {
    return components * decltype(shape)::pitch * (decltype(shape)::height + halo_rows);
  };
  return std::max({cells(Shape<Sample, radius, 1>(), 1), cells(Shape<Sample, radius, 2>(), 2),
                   cells(Shape<Sample, radius, 3>(), 3), cells(Shape<Sample, radius, 4>(), 4)});
}

/// This block's tile. Cells are found by `pitch`, `plane` and `side`, as in Shape.
struct Tile {
  int first, components;  ///< of the frame
  int x, y, height;       ///< outputs
  int top, rows;          ///< rows held: from `top`, which is 0, or where the halo is held too, negative
  int pitch, plane, side;
};

__device__ __forceinline__ int find_group(const HaloFrame& args, int index) {
  int g = 0;
  while (g + 1 < args.groups && index >= args.frame.component[args.group[g + 1].first].first_tile) ++g;
  return g;
}

template <class Sample, int radius, int components>
__device__ __forceinline__ Tile make_tile(const HaloFrame& args, int first, int index) {
  using S = Shape<Sample, radius, components>;
  const ComponentArgs& leader = args.frame.component[first];
  const unsigned place = index - leader.first_tile, across = leader.tiles_x, y = place / across;
  Tile tile;
  tile.first = first;
  tile.components = components;
  tile.x = static_cast<int>(place - y * across) * S::width;
  tile.y = static_cast<int>(y) * S::height;
  tile.height = S::height;
  tile.top = args.combine ? -args.frame.centre_y : 0;
  tile.rows = args.combine ? S::height + args.frame.height - 1 : S::height;
  tile.pitch = S::pitch;
  tile.plane = S::pitch * tile.rows;
  tile.side = S::side;
  return tile;
}

template <class Sample, int radius>
__device__ __forceinline__ Tile find_tile(const HaloFrame& args, int index) {
  const HaloGroup group = args.group[find_group(args, index)];
  switch (group.count) {
    case 1:
      return make_tile<Sample, radius, 1>(args, group.first, index);
    case 2:
      return make_tile<Sample, radius, 2>(args, group.first, index);
    case 3:
      return make_tile<Sample, radius, 3>(args, group.first, index);
  }
  return make_tile<Sample, radius, 4>(args, group.first, index);
}

/// Columns [left, right) of rows [top, bottom) of what the tile holds, cell by cell.
template <class Sample>
__device__ __forceinline__ void fill_cells(const HaloFrame& args, const Tile tile, Frames frames, float* cells,
                                           int left, int right, int top, int bottom) {
  const int across = right - left, each = across * (bottom - top);
  if (each <= 0) return;
  for (int i = threadIdx.x; i < each * tile.components; i += blockDim.x) {
    const int c = i / each, place = i - c * each, row = place / across, column = left + place - row * across;
    const ComponentArgs& component = args.frame.component[tile.first + c];
    const int x = border_index(args.frame.border, tile.x - tile.side + column, component.width);
    const int y = border_index(args.frame.border, tile.y + tile.top + top + row, component.height);
    float sum = 0;
#pragma unroll 4
    for (int t = frames.first; t < frames.end; ++t) {
      const PlaneView& view = args.frame.in[t][component.plane];
      float value = args.ghost[tile.first + c];
      if (x >= 0 && y >= 0 && view.data) {
        const std::uint32_t bits = load_bits(sample_at<const Sample>(view, component, x, y));
        value = unpack<Sample>(&bits, 0, args.frame.shift, args.base[tile.first + c]);
      }
      sum = fmaf(args.weight[t], value, sum);
    }
    cells[c * tile.plane + (top + row) * tile.pitch + column] = sum;
  }
}

/// Whole pieces of one frame, those inside it: all loads are under way before the first is used.
template <class Sample, int components, class S>
__device__ __forceinline__ void fill_pieces(const HaloFrame& args, const Tile& tile, const PlaneView& view,
                                            float* cells) {
  constexpr int groups = S::piece / 4, words = components * sizeof(Sample);  // groups of 4 columns; their words
  constexpr int across = S::pitch / S::piece, pieces = across * S::height, threads = cached_halo_tuning::warps * 32;
  constexpr int rounds = (pieces + threads - 1) / threads;
  const ComponentArgs* const component = args.frame.component + tile.first;
  const char* const corner =
      reinterpret_cast<const char*>(sample_at<const Sample>(view, component[0], tile.x - S::side, tile.y) -
                                    (components > 1 ? component[0].offset : 0));
  const int first = S::side - tile.x, end = component[0].width + first, bottom = component[0].height - tile.y;
  std::uint32_t in[rounds][groups * words];
  bool whole[rounds];
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    const int i = threadIdx.x + r * threads, row = i / across, column = i % across * S::piece;
    whole[r] = (pieces % threads == 0 || i < pieces) && column >= first && column + S::piece <= end && row < bottom;
    if (whole[r])
      load_words<groups * words>(corner + row * view.stride + column * (components * static_cast<int>(sizeof(Sample))),
                                 in[r]);
  }
#pragma unroll
  for (int r = 0; r < rounds; ++r) {
    if (!whole[r]) continue;
    const int i = threadIdx.x + r * threads, row = i / across, column = i % across * S::piece;
    float* const to = cells + row * S::pitch + column;
#pragma unroll
    for (int k = 0; k < groups; ++k) {
      // Lanes take their groups in turns that keep the stores to shared memory apart.
      const int g = groups == 1 ? 0 : (k + threadIdx.x / (8 / groups)) % groups;
      std::uint32_t group[words];
#pragma unroll
      for (int w = 0; w < words; ++w) {
        group[w] = in[r][w];
#pragma unroll
        for (int other = 1; other < groups; ++other)
          if (g == other) group[w] = in[r][other * words + w];
      }
#pragma unroll
      for (int c = 0; c < components; ++c) {
        const float base = args.base[tile.first + c];
        const int shift = args.frame.shift;
        *reinterpret_cast<float4*>(to + c * tile.plane + 4 * g) =
            make_float4(unpack<Sample>(group, c, shift, base), unpack<Sample>(group, components + c, shift, base),
                        unpack<Sample>(group, 2 * components + c, shift, base),
                        unpack<Sample>(group, 3 * components + c, shift, base));
      }
    }
  }
}

/// Every cell that the tile holds. All threads of the block call it.
template <class Sample, int radius>
__device__ __forceinline__ void fill_tile(const HaloFrame& args, const Tile& tile, Frames frames, float* cells) {
  const ComponentArgs& leader = args.frame.component[tile.first];
  const PlaneView& view = args.frame.in[frames.first][leader.plane];
  int left = 0, right = 0, bottom = 0;  // of what goes by whole pieces
  if (!args.combine && args.in_aligned[leader.plane] && leader.step == tile.components && view.data) {
    int piece = 4;
    switch (tile.components) {
      case 1:
        fill_pieces<Sample, 1, Shape<Sample, radius, 1>>(args, tile, view, cells);
        piece = Shape<Sample, radius, 1>::piece;
        break;
      case 2:
        fill_pieces<Sample, 2, Shape<Sample, radius, 2>>(args, tile, view, cells);
        piece = Shape<Sample, radius, 2>::piece;
        break;
      case 3:
        fill_pieces<Sample, 3, Shape<Sample, radius, 3>>(args, tile, view, cells);
        break;
      case 4:
        fill_pieces<Sample, 4, Shape<Sample, radius, 4>>(args, tile, view, cells);
        break;
    }
    const int start = tile.x - tile.side;  // the tile's first column in the frame
    if (start >= 0 && start + tile.pitch <= leader.width && tile.y + tile.height <= leader.height) return;
    left = start < 0 ? (-start + piece - 1) / piece * piece : 0;
    right = max(left, min(tile.pitch, (leader.width - start) / piece * piece));
    bottom = min(tile.height, leader.height - tile.y);
  }
  // The rest: beside the whole pieces, and below them.
#pragma unroll 1
  for (int part = 0; part < 3; ++part)
    fill_cells<Sample>(args, tile, frames, cells, part == 1 ? right : 0, part == 0 ? left : tile.pitch,
                       part == 2 ? bottom : 0, part == 2 ? tile.rows : bottom);
}

/// A strip's halo rows, one at a time: asked for while the row before is worked on, then kept in the warp's own line of
/// strip_width columns and their margins. Any layout: each lane keeps the places of its columns in a row.
template <class Sample, int side>
class HaloRow {
 public:
  static constexpr int cells = cached_halo_tuning::strip_width + 2 * side;

  __device__ __forceinline__ HaloRow(const HaloFrame& args, int component)
      : args_(args),
        component_(args.frame.component[component]),
        base_(args.base[component]),
        level_(args.ghost[component]) {}
  /// x: the strip's first column. Before all else.
  __device__ __forceinline__ void place(int x) {
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int column =
          border_index(args_.frame.border, x - side + static_cast<int>(threadIdx.x % 32) + 32 * r, component_.width);
      place_[r] = column < 0 ? -1 : component_.offset + column * component_.step;
    }
  }
  /// y: in the frame, or -1 for ghost cells.
  __device__ __forceinline__ void load(int t, int y) {
    const PlaneView& view = args_.frame.in[t][component_.plane];
    ghost_ = y < 0 || view.data == nullptr;
    const Sample* const row = reinterpret_cast<const Sample*>(static_cast<const char*>(view.data) + y * view.stride);
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      bits_[r] = 0;
      if (!ghost_ && place_[r] >= 0) bits_[r] = load_bits(row + place_[r]);
    }
  }
  __device__ __forceinline__ void store(float* line) const {
    __syncwarp();  // the row before it was read
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int i = threadIdx.x % 32 + 32 * r;
      const float value = unpack<Sample>(bits_ + r, 0, args_.frame.shift, base_);
      if (i < cells) line[i] = ghost_ || place_[r] < 0 ? level_ : value;
    }
    __syncwarp();
  }

 private:
  static constexpr int rounds = (cells + 31) / 32;
  const HaloFrame& args_;
  const ComponentArgs& component_;
  const float base_, level_;
  int place_[rounds];  ///< in a row, or -1: a ghost cell
  std::uint32_t bits_[rounds];
  bool ghost_;
};

}  // namespace convolve::cuda
