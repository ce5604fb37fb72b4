// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel of rectangles: what hides (sums of cells, then values between their means), and what writes a colour or
// the filter's output. A kernel that only writes needs half of the registers and no shared memory. Where the filter's
// output has many blocks, that saves up to a fifth of the time of both launches. But with such a kernel a tenth of a
// frame took up to a third longer to filter: more blocks of the launches that follow fit a multiprocessor then, and
// crowd onto those that finish first (launch.hpp, residency_limit).
#include "cuda/regions/rectangle_effect.cuh"
#include "cuda/regions/rectangle_means.cuh"

namespace convolve::cuda {
namespace {

/// A lane's word of each row of a warp.
struct WordColumn {
  const std::uint8_t* from;  ///< of the filtered frame, in the first row
  std::uint8_t* to;
  std::ptrdiff_t from_stride, to_stride;
  int rows;
  unsigned fill, value;  ///< the colour; the bits of samples that have their value
};

/// Writes a column. The filtered frame's words can be read whole. `parts`: some lane has a part of a word.
template <class Sample, bool filters>
__device__ __forceinline__ void write_column(WordColumn column, const LaneWord<Sample>& word, bool parts) {
  constexpr int batch = filters ? 8 : 4;  // rows whose loads are under way at once
#pragma unroll 1
  for (; column.rows > 0; column.rows -= batch) {
    unsigned samples[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      samples[k] = column.fill;
      if (filters && k < column.rows)
        samples[k] = *reinterpret_cast<const unsigned*>(column.from + k * column.from_stride);
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      if (k >= column.rows) continue;
      if (filters) samples[k] &= column.value;
      std::uint8_t* const to = column.to + k * column.to_stride;
      if (parts)
        store_parts(reinterpret_cast<Sample*>(to), samples[k], word.held, word.whole);
      else
        *reinterpret_cast<unsigned*>(to) = samples[k];
    }
    column.from += batch * column.from_stride;
    column.to += batch * column.to_stride;
  }
}

/// In one colour, or from the filtered frame.
template <class Sample>
__device__ __forceinline__ void write_tile(const RectangleArgs& args, const RectangleItem& item, int block) {
  constexpr int n = word_samples<Sample>;
  const RegionPart& part = args.part[item.part];
  const RectangleTile tile = find_tile<Sample>(args, item, part, block);
  LaneWord<Sample> word(tile);
  WordColumn column{};
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const RegionSlot* slot;
    const int pixel = pixel_of(part, word.at + j, slot);
    word.held |= static_cast<unsigned>(holds(args, item, pixel, *slot)) << j;
    column.fill |= static_cast<unsigned>(slot->fill << args.shift) << j * sample_bits<Sample>;
  }
  const PlaneView frame = args.frame[part.plane], filtered = args.filtered[part.plane];
  word.set_whole(frame);
  const bool filters = args.effect == RegionEffect::filter;
  const int warp_rows = args.tile_rows / rectangle_warps;
  const int top = tile.y + static_cast<int>(threadIdx.x) / 32 * warp_rows;
  column.rows = word.held == 0 ? 0 : min(warp_rows, tile.bottom - top);
  column.value = ~(~0u / ((1u << sample_bits<Sample>)-1) * ((1u << args.shift) - 1));
  column.from_stride = filtered.stride, column.to_stride = frame.stride;
  column.from = reinterpret_cast<const std::uint8_t*>(row_of<const Sample>(filtered, top) + word.at);
  column.to = reinterpret_cast<std::uint8_t*>(row_of<Sample>(frame, top) + word.at);
  const bool parts = __any_sync(~0u, word.held && !word.whole);
  const bool by_word = !__any_sync(~0u, word.held && !(in_words(filtered) && word.at + n <= part.samples));
  // All of this is found before the wait: what is read of the arguments may have to come from memory.
  ptx::hide_here(column.fill);
  ptx::hide_here(column.value);
  ptx::hide_here(column.from);
  ptx::hide_here(column.to);
  __builtin_assume(__isGlobal(column.from));
  __builtin_assume(__isGlobal(column.to));
  pdl_wait();
  if (!filters) return write_column<Sample, false>(column, word, parts);
  if (by_word) return write_column<Sample, true>(column, word, parts);
#pragma unroll 1
  for (int k = 0; k < column.rows; ++k) {
    const Sample* from = reinterpret_cast<const Sample*>(column.from + k * filtered.stride);
    store_samples(reinterpret_cast<Sample*>(column.to + k * frame.stride),
                  load_samples(from, word.held, false) & column.value, word.held, word.whole);
  }
}

/// A block's tile of write_tile().
template <class Sample>
__device__ __forceinline__ void write_block(const RectangleArgs& args) {
  __shared__ RectangleItem own;
  const int block = static_cast<int>(blockIdx.x), item = find_item(args, args.first_tile, block);
  copy_item(args.item[item], own);
  write_tile<Sample>(args, own, block - args.first_tile[item]);
}

/// What a block does that has neither sums nor a tile: it ends when the first sum is complete, about when others do.
/// The next launch's blocks would take its place too soon otherwise, and not be spread evenly. One warp looks at the
/// sum: looks and additions to it queue.
__device__ __forceinline__ void idle(const RectangleArgs& args) {
  pdl_wait();
  if (static_cast<int>(blockIdx.x) < args.blocks) clear_stale(args);
  if (threadIdx.x < 32) complete_sum(args.sums, args.item[0].warps);
}

/// Effects made of means: the first blocks add to the sums of cells, and the others, each a tile, wait for the sums
/// that they need. A sample is overwritten when its cell's sum is complete, that is, when it has been read.
/// `resident`: blocks that a multiprocessor holds at once, at least, which says how many registers there are.
template <class Sample, int resident>
__global__ void __launch_bounds__(rectangle_threads, resident)
    rectangles_kernel(const __grid_constant__ RectangleArgs args) {
  __shared__ RectangleMeans means;
  start_next_launch();
  if (static_cast<int>(blockIdx.x) >= args.blocks) {
    idle(args);
    return;
  }
  if (!hides_by_means(args.effect)) {
    write_block<Sample>(args);
    return;
  }
  const int tile = static_cast<int>(blockIdx.x) - args.tile_blocks;
  if (tile < 0) {
    if (static_cast<int>(blockIdx.x) >= args.means_blocks) {
      idle(args);
      return;
    }
    const int block = static_cast<int>(blockIdx.x), item = find_item(args, args.first_means, block);
    sum_block<Sample>(args, args.item[item], block - args.first_means[item]);
  } else {
    const int item = find_item(args, args.first_tile, tile);
    hide_tile<Sample>(args, args.item[item], tile - args.first_tile[item], means);
  }
}

/// Effects that are not made of means.
template <class Sample>
__global__ void __launch_bounds__(rectangle_threads) write_kernel(const __grid_constant__ RectangleArgs args) {
  start_next_launch();
  write_block<Sample>(args);
}

template <class Sample>
auto kernel_for(int capability, const RectangleArgs& args) {
  // Eight do not leave WideColumns enough registers, and what lies in local memory instead is waited for. A colour and
  // the filter's output need a third of them, but mostly take longer with more blocks, and with fewer.
  constexpr int usual = 8, wide = 6;
  if (args.writes_alone) return write_kernel<Sample>;
  return hides_by_means(args.effect) && capability == 90 ? rectangles_kernel<Sample, wide>
                                                         : rectangles_kernel<Sample, usual>;
}

}  // namespace

void launch_rectangles(int capability, SampleType type, const RectangleArgs& args, void* stream) noexcept {
  const auto kernel =
      type == SampleType::u8 ? kernel_for<std::uint8_t>(capability, args) : kernel_for<std::uint16_t>(capability, args);
  launch_pdl(capability, kernel, static_cast<unsigned>(args.launched), dim3(rectangle_threads), stream, args);
}

}  // namespace convolve::cuda
