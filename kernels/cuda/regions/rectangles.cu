// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel of rectangles: what hides (sums of cells, then values between their means), and what writes a colour or
// the filter's output. A kernel that only writes needs half of the registers and no shared memory. Where the filter's
// output has many blocks, that saves up to a tenth of the time of both launches. But such a kernel took up to 1.7 times
// as long to fill a tenth of a frame: more blocks of the launches that follow fit a multiprocessor then, and crowd onto
// those that finish first (launch.hpp, residency_limit).
#include "cuda/regions/rectangle_effect.cuh"
#include "cuda/regions/rectangle_means.cuh"

namespace convolve::cuda {
namespace {

/// In one colour, or from the filtered frame.
template <class Sample>
__device__ __forceinline__ void write_tile(const RectangleArgs& args, const RectangleItem& item, int block) {
  const RegionPart& part = args.part[item.part];
  const RectangleTile tile = find_tile<Sample>(args, item, part, block);
  LaneWord<Sample> word(tile);
  unsigned fill = 0;
#pragma unroll
  for (int j = 0; j < word_samples<Sample>; ++j) {
    const RegionSlot* slot;
    const int pixel = pixel_of(part, word.at + j, slot);
    word.held |= static_cast<unsigned>(holds(args, item, pixel, *slot)) << j;
    fill |= static_cast<unsigned>(slot->fill << args.shift) << j * sample_bits<Sample>;
  }
  const PlaneView frame = args.frame[part.plane], filtered = args.filtered[part.plane];
  word.set_whole(frame);
  pdl_wait();
  const bool filters = args.effect == RegionEffect::filter, whole = word.whole && in_words(filtered);
  const unsigned value = ~(~0u / ((1u << sample_bits<Sample>)-1) * ((1u << args.shift) - 1));
  const int warp_rows = args.tile_rows / rectangle_warps;
  const int top = tile.y + static_cast<int>(threadIdx.x) / 32 * warp_rows, rows = min(warp_rows, tile.bottom - top);
  if (word.held == 0) return;
#pragma unroll 4
  for (int k = 0; k < rows; ++k) {
    unsigned samples = fill;
    if (filters) samples = load_samples(row_of<const Sample>(filtered, top + k) + word.at, word.held, whole) & value;
    store_samples(row_of<Sample>(frame, top + k) + word.at, samples, word.held, word.whole);
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
  if (args.early) start_next_launch();
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
  if (args.early) start_next_launch();
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
