// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sums of cells of rectangles: a warp has a part of one cell, so that a warp's sum is one addition to one cell.
//
//      a cell's rows, in vectors of 16 bytes        lane 0: rows 0 to 7 of vector 0
//        | s|ssss|ssss|s   |                        lane 1: rows 0 to 7 of vector 1 ...
//        | s|ssss|ssss|s   |                        lane 4: rows 8 to 15 of vector 0 ...
//
// A lane's vector holds samples of all components, and at a cell's ends those of other cells. A selector says which
// samples count: a word with a 1 for each sample of the component and of the cell. The dot product of a word with its
// selector adds them up in one instruction, whatever the order of the components is.
#pragma once

#include "cuda/regions/rectangles.cuh"

namespace convolve::cuda {

#ifdef __CUDACC__

inline constexpr int vector_words = vector_bytes / 4;

__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
#endif
}

/// Adds the samples of a word that a selector has a 1 for. Samples of 16 bits have theirs in its lower two bytes.
template <class Sample>
__device__ __forceinline__ unsigned add_selected(unsigned word, unsigned selector, unsigned sum) {
  return sizeof(Sample) == 1 ? __dp4a(word, selector, sum) : __dp2a_lo(word, selector, sum);
}

/// A component's samples in a cell's rows: those at begin, begin + step, ... before `end`.
struct Positions {
  int begin, end, step;
};

__device__ __forceinline__ Positions positions_of(const RegionPart& part, const RectangleAxis& x, int cell,
                                                  int component, int width) {
  const int offset = part.slot_of[component], shift = part.slot[offset].shift_x;
  const int step = part.period >> (part.period_shift - shift);
  const SampleRange range = range_of(x, cell, shift, width);
  return {offset + range.first * step, offset + (range.last - 1) * step + 1, step};
}

/// The selectors of the words of a vector whose first sample is at `at`.
template <class Sample>
__device__ __forceinline__ void select(const Positions& positions, int at, unsigned (&selector)[vector_words]) {
  constexpr int n = 4 / static_cast<int>(sizeof(Sample));
  const int from = positions.begin - at, to = positions.end - at;  // samples of the vector
  const bool by_3 = positions.step == 3;
  const int below_step = positions.step - 1;
  // The first sample of the word that is the component's, were all of them.
  int phase = by_3 ? (from % 3 + 3) % 3 : from & below_step;
#pragma unroll
  for (int i = 0; i < vector_words; ++i) {
    // Bytes of the word from the one of sample `from` on, and those before sample `to`.
    const unsigned below = __funnelshift_lc(~0u, 0, static_cast<unsigned>(max(from - i * n, 0) * 8));
    const unsigned above = __funnelshift_lc(~0u, 0, static_cast<unsigned>(max(to - i * n, 0) * 8));
    // Of 16 bits, samples behind the word's second one would have their 1 in its upper bytes.
    const unsigned every = positions.step == 1   ? 0x01010101u
                           : positions.step == 2 ? 0x00010001u
                           : by_3                ? 0x01000001u
                                                 : 0x00000001u;
    const unsigned pattern = phase < n ? every << 8 * phase : 0;
    selector[i] = pattern & above & ~below & (sizeof(Sample) == 1 ? ~0u : 0xffffu);
    // The next word is n samples on.
    if (by_3)
      phase = n % 3 == 1 ? (phase == 0 ? 2 : phase - 1) : (phase == 2 ? 0 : phase + 1);
    else
      phase = (phase - n) & below_step;
  }
}

/// The first `bytes` bytes of a vector at any address; the others are 0.
template <class Sample>
static __device__ __noinline__ uint4 load_samples_of_vector(const std::uint8_t* from, int bytes) {
  uint4 vector{};
#pragma unroll 1
  for (int i = 0; i < vector_bytes && i < bytes; i += static_cast<int>(sizeof(Sample))) {
    const unsigned sample = static_cast<unsigned>(*reinterpret_cast<const Sample*>(from + i)) << i % 4 * 8;
    vector.x |= i / 4 == 0 ? sample : 0;
    vector.y |= i / 4 == 1 ? sample : 0;
    vector.z |= i / 4 == 2 ? sample : 0;
    vector.w |= i / 4 == 3 ? sample : 0;
  }
  return vector;
}

/// A lane's vector in a few rows of a cell of a part.
struct LaneRows {
  const std::uint8_t* from;
  std::ptrdiff_t stride;
  int rows, bytes;  ///< up to vector_rows, and of the vector that lie in the row
  bool whole;       ///< the vectors can be loaded at once
};

/// Adds the warp's sums to the cell's; `to`: the lane's, of the component of its number.
template <class Sample, int components, int chains>
__device__ __forceinline__ void send_sums(unsigned (&sum)[components][chains], RegionWord* to, int shift) {
  unsigned all = 0;
#pragma unroll
  for (int c = 0; c < components; ++c) {
#pragma unroll
    for (int i = 1; i < chains; ++i) sum[c][0] += sum[c][i];
    const unsigned of_warp = sum_of_warp(sum[c][0]);
    if (threadIdx.x % 32 == c) all = of_warp;
  }
  if (threadIdx.x % 32 < components)
    atomicAdd(to, RegionWord{1} << sum_bits | (sizeof(Sample) > 1 ? all >> shift : all));
}

/// Adds up the lane's rows and the warp's sums to the cell's, which begin at `to`.
template <class Sample, int components>
__device__ __forceinline__ void sum_rows(const RectangleArgs& args, const Positions (&positions)[max_components],
                                         const LaneRows& lane, int at, RegionWord* sums, int sum_words) {
  // Sums of their own for words that lie side by side: else each addition would wait for the one before.
  constexpr int chains = components <= 2 ? vector_words : 1;
  unsigned selector[components][vector_words], sum[components][chains] = {};
#pragma unroll
  for (int c = 0; c < components; ++c) select<Sample>(positions[c], at, selector[c]);
  const auto add = [&](const uint4& vector) {
    const unsigned word[vector_words] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int i = 0; i < vector_words; ++i)
#pragma unroll
      for (int c = 0; c < components; ++c)
        sum[c][i % chains] = add_selected<Sample>(word[i], selector[c][i], sum[c][i % chains]);
  };
  const unsigned value = ~(~0u / ((1u << 8 * sizeof(Sample)) - 1) * ((1u << args.shift) - 1));
  const auto shorten = [&](uint4& vector) {
    vector.x &= value, vector.y &= value, vector.z &= value, vector.w &= value;
  };
  // All addresses are found before the wait.
  const std::uint8_t* row[vector_rows];
  RegionWord* to = sums + static_cast<int>(threadIdx.x) % 32 * sum_words;
  ptx::hide_here(to);
  __builtin_assume(__isGlobal(to));
#pragma unroll
  for (int k = 0; k < vector_rows; ++k) {
    row[k] = lane.from + k * lane.stride;
    ptx::hide_here(row[k]);
    __builtin_assume(__isGlobal(row[k]));
  }
  pdl_wait();
  if (lane.whole) {
    // All rows at once, as far as registers hold them.
    constexpr int batch = components <= 2 ? vector_rows : 4;
#pragma unroll
    for (int first = 0; first < vector_rows; first += batch) {
      uint4 vector[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        vector[k] = {};
        if (first + k < lane.rows) vector[k] = *reinterpret_cast<const uint4*>(row[first + k]);
      }
      if (sizeof(Sample) > 1 && args.shift != 0) {
#pragma unroll
        for (int k = 0; k < batch; ++k) shorten(vector[k]);
      }
#pragma unroll
      for (int k = 0; k < batch; ++k) add(vector[k]);
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < lane.rows && k < vector_rows; ++k) {
      uint4 vector = load_samples_of_vector<Sample>(lane.from + k * lane.stride, lane.bytes);
      if (sizeof(Sample) > 1) shorten(vector);
      add(vector);
    }
  }
  send_sums<Sample>(sum, to, args.shift);
  clear_stale(args);
}

template <class Sample, int components>
__device__ __forceinline__ void sum_item(const RectangleArgs& args, const RectangleItem& item, int block) {
  constexpr int bytes = sizeof(Sample);
  const RegionPart& part = args.part[item.part];
  const int number = block * rectangle_warps + static_cast<int>(threadIdx.x) / 32;
  const int cell = divided(number, item.by_warps), slice = number - cell * item.warps;
  const int cell_y = divided(cell, item.x.by_count), cell_x = cell - cell_y * item.x.count;
  const SampleRange rows = range_of(item.y, cell_y, part.shift_y, args.height);
  Positions positions[max_components];
  int begin = INT_MAX, end = 0;
#pragma unroll
  for (int c = 0; c < components; ++c) {
    positions[c] = positions_of(part, item.x, cell_x, c, args.width);
    begin = min(begin, positions[c].begin);
    end = max(end, positions[c].end);
  }
  const int first = begin * bytes / vector_bytes, vectors = (end * bytes - 1) / vector_bytes + 1 - first;
  const int vector = slice * 32 + static_cast<int>(threadIdx.x) % 32;
  const int group = divided(vector, __fdividef(1, static_cast<float>(vectors)));
  const int at = (first + vector - group * vectors) * vector_bytes;
  const PlaneView& plane = args.frame[part.plane];
  const int row = rows.first + group * vector_rows;
  LaneRows lane;
  lane.stride = plane.stride;
  lane.from = static_cast<const std::uint8_t*>(plane.data) + row * plane.stride + at;
  lane.rows = cell_y < item.y.count ? rows.last - row : 0;  // the item's last block is not full
  lane.bytes = part.samples * bytes - at;
  lane.whole =
      lane.bytes >= vector_bytes &&
      ((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(plane.data)) | static_cast<unsigned>(plane.stride)) &
       (vector_bytes - 1)) == 0;
#pragma unroll
  for (int k = 0; k < vector_rows; ++k)
    if (k < lane.rows) prefetch_line(lane.from + k * lane.stride);
  if (cell_y >= item.y.count) {
    pdl_wait();
    clear_stale(args);
    return;
  }
  sum_rows<Sample, components>(args, positions, lane, at / bytes,
                               args.sums + (item.first_sum + cell * components) * args.sum_words, args.sum_words);
}

/// Adds a block's part of an item's samples.
template <class Sample>
__device__ __forceinline__ void sum_block(const RectangleArgs& args, const RectangleItem& item, int block) {
  switch (args.part[item.part].components) {
    case 1:
      return sum_item<Sample, 1>(args, item, block);
    case 2:
      return sum_item<Sample, 2>(args, item, block);
    case 3:
      return sum_item<Sample, 3>(args, item, block);
    default:
      return sum_item<Sample, 4>(args, item, block);
  }
}

#endif

}  // namespace convolve::cuda
