// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0, filters of more than 7x9 taps: banded (Toeplitz) matrix products by warpgroups,
// 8-bit samples, or the bytes of 16-bit ones, by 8-bit limbs of the taps. What a warpgroup makes of a tile is in
// u8_tile.cuh and u16_tile.cuh.
//
// A block makes tiles of 128 pixels by 64 rows, 32 rows a warpgroup, one after the other; one or two more warpgroups
// load the input rows of the next ones into shared memory, each component by itself, in which it is then made. The two
// that make tiles multiply in turn, so that samples are made while the tensor cores work. A window of 32 pixels holds
// all that the 16 outputs in its middle, a strip, can reach. The left matrix is 64 windows, 8 strips of every fourth
// row, read where the rows lie (products.cuh). The right matrix holds the taps that lead from a window to its strip,
// of all rows of the filter: 16 columns each, the last row first. An input row adds to the four output rows around it
// by one product, with 64 columns: rows of taps, or of zeros where they end.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/hopper/u16_tile.cuh"
#include "cuda/matrix/hopper/u8_tile.cuh"
#include "cuda/matrix/hopper/wgmma.hpp"

namespace convolve::cuda {
namespace {

using namespace group;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Calls what(std::integral_constant of the plane's bytes a pixel): the most of a plane, or half of them where there
/// are planes of one component beside others of two.
template <class Sample, int most, class What>
__device__ __forceinline__ void by_bytes(const Tile& tile, const What& what) {
  constexpr int pair = 2 * sizeof(Sample);
  if constexpr (most == pair)
    if (tile.plane->components != most) return what(std::integral_constant<int, pair / 2>{});
  what(std::integral_constant<int, most>{});
}

#endif

/// `most`: the most components of a plane; 3, and 4 of 8 bits, come alone.
template <class Sample, int height, int most>
__global__ void __launch_bounds__(128 * (makers + tuning(most).loaders), tuning(most).blocks_resident)
    wgmma_kernel(const __grid_constant__ WgmmaArgs args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) std::uint8_t memory[];
  constexpr int loaders = tuning(most).loaders, threads = 128 * (makers + loaders);
  constexpr int depth = tuning(most).stages, stage_bytes = most * input_bytes(height);
  std::uint8_t* taps = memory + depth * stage_bytes;
  Stage<depth> stage;
  // The block's first tiles are asked for, a warpgroup each, and the first is loaded by all: all wait for it.
  const Tile first(args, blockIdx.x);
  const unsigned second = blockIdx.x + gridDim.x;
  if (const unsigned number = blockIdx.x + threadIdx.y * gridDim.x; threadIdx.y < makers && number < args.tiles) {
    const Tile tile(args, number);
    by_bytes<Sample, most>(tile, [&](auto C) { Input<Sample, height, C, 0, makers>::prefetch_tile(tile); });
  }
  const int id = static_cast<int>(threadIdx.y * 128 + threadIdx.x);
  for (int i = id; i < args.limbs * taps_bytes(height) / 16; i += threads)
    ptx::copy_async<16>(ptx::address_in_shared(taps) + 16 * i, args.taps + i);
  pdl_wait();
  by_bytes<Sample, most>(first, [&](auto C) { Input<Sample, height, C, 0, makers + loaders>::load(memory, first); });
  ptx::commit_copies();
  publish_to_products<0>();
  __syncthreads();
  if (threadIdx.y >= makers) {
    ptx::give_registers<tuning(most).loader_registers>();
    unsigned loaded = 1, arriving = 0;  // barrier of the stage that is on its way
    stage.advance();
#pragma unroll 1
    for (unsigned number = second; number < args.tiles; number += gridDim.x, ++loaded, stage.advance()) {
      const Tile tile(args, number);
      by_bytes<Sample, most>(tile, [&](auto C) { Input<Sample, height, C, makers, loaders>::prefetch(tile); });
      if (loaded >= depth) ptx::wait_at_block_barrier<threads>(stage.empty());
      std::uint8_t* to = memory + stage.now * stage_bytes;
      by_bytes<Sample, most>(tile, [&](auto C) {
        if (C > 1 && arriving) {
          publish_to_products<0>();
          ptx::arrive_at_block_barrier<threads>(arriving);
        }
        Input<Sample, height, C, makers, loaders>::load(to, tile);
        ptx::commit_copies();
        if (C > 1 || arriving) {
          publish_to_products<C == 1 ? 1 : 0>();
          ptx::arrive_at_block_barrier<threads>(C == 1 ? arriving : stage.full());
        }
        arriving = C == 1 ? stage.full() : 0;
      });
    }
    if (arriving) {
      publish_to_products<0>();
      ptx::arrive_at_block_barrier<threads>(arriving);
    }
  } else {
    ptx::take_registers<tuning(most).maker_registers>();
    if (threadIdx.y == 1) pass_turn();
    const MatrixDescriptor right = describe_matrix(ptx::address_in_shared(taps), 128, 256);
#pragma unroll 1
    for (unsigned number = blockIdx.x; number < args.tiles; number += gridDim.x, stage.advance()) {
      const Tile tile(args, number);
      const bool wanted = number + depth * gridDim.x < args.tiles;  // the stage, once more
      if (number != blockIdx.x) ptx::wait_at_block_barrier<threads>(stage.full());
      by_bytes<Sample, most>(tile, [&](auto C) {
        const auto done = [&] {
          if (wanted) ptx::arrive_at_block_barrier<threads>(stage.empty());
        };
        const std::uint8_t* input = memory + stage.now * stage_bytes;
        if constexpr (sizeof(Sample) == 1)
          make_tile<height, C>(args, tile, input, right, done);
        else
          make_u16_tile<height, C>(args, tile, input, right, done);
      });
    }
  }
#endif
}

using WgmmaKernel = void (*)(WgmmaArgs);

template <int height>
WgmmaKernel kernel_for(SampleType type, int components) {
  if (type == SampleType::u16)
    return components == 2 ? wgmma_kernel<std::uint16_t, height, 2> : wgmma_kernel<std::uint16_t, height, 4>;
  return components == 1   ? wgmma_kernel<std::uint8_t, height, 1>
         : components == 2 ? wgmma_kernel<std::uint8_t, height, 2>
         : components == 3 ? wgmma_kernel<std::uint8_t, height, 3>
                           : wgmma_kernel<std::uint8_t, height, 4>;
}

WgmmaKernel kernel_for(int height, SampleType type, int components) {
  return height == 5    ? kernel_for<5>(type, components)
         : height == 7  ? kernel_for<7>(type, components)
         : height == 9  ? kernel_for<9>(type, components)
         : height == 11 ? kernel_for<11>(type, components)
                        : kernel_for<15>(type, components);
}

/// Components as the kernels count them: bytes.
int bytes_of(const FrameLayout& layout, int components) {
  return components * bytes_per_sample(layout.type);
}
int max_bytes(const FrameLayout& layout) {
  return bytes_of(layout, max_components_of(layout));
}

/// Shared memory of the kernel, for so many limbs.
int memory_of(int height, int most, int limbs) {
  return tuning(most).stages * most * input_bytes(height) + limbs * taps_bytes(height);
}
/// How many limbs it has room for beside the blocks that are to be resident.
int max_limbs(int height, int most) {
  constexpr int multiprocessor = 228 << 10, for_itself = 1 << 10;  // of compute capability 9.0, and each block's
  const int of_block = multiprocessor / tuning(most).blocks_resident - for_itself;
  int limbs = 2;
  while (limbs < U16Taps::max_limbs && memory_of(height, most, limbs + 1) <= of_block) ++limbs;
  return limbs;
}

/// Rows that a kernel takes for this filter, its centre in the middle; 0: none does.
int height_for(const Filter& f) {
  const int least = 2 * f.reach_y() + 1;
  for (const int height : heights)
    if (height >= least) return height;
  return 0;
}

/// The limbs' right matrices, that of the highest first: blocks of 8 columns by 16 rows, as products.cuh says.
/// limb(d, tap): d = 0: the highest.
template <class Limb>
std::vector<std::uint8_t> right_matrices(const Filter& filter, int limbs, int height, const Limb& limb) {
  std::vector<std::uint8_t> bytes;
  for (int d = 0; d < limbs; ++d)
    for (int row = height - 1 + padding; row >= 0; --row)
      for (int i = 0; i < 512; ++i) {  // which columns, then which half of the window
        const int n = (i >> 8) * 8 + (i >> 4 & 7), k = (i >> 7 & 1) * 16 + (i & 15);
        const int to = 4 * (n >> 1 & 3) + 2 * (n >> 3) + (n & 1);
        const int y = row - height / 2 + filter.centre_y(), x = k - margin - to + filter.centre_x();
        const bool tap = row < height && y >= 0 && y < filter.height() && x >= 0 && x < filter.width();
        bytes.push_back(tap ? static_cast<std::uint8_t>(limb(d, static_cast<std::size_t>(y) * filter.width() + x)) : 0);
      }
  return bytes;
}

/// The planes' shapes, and what they take from the frame.
WgmmaArgs args_of(const PlanDesc& desc) {
  WgmmaArgs args{};
  args.planes = desc.layout.planes;
  for (int p = 0; p < args.planes; ++p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    WgmmaPlane& plane = args.plane[p];
    const int width = layout.component[0].width;
    plane.across = edge_axis(desc.border, width);
    plane.down = edge_axis(desc.border, layout.component[0].height);
    plane.components = static_cast<std::uint8_t>(bytes_of(desc.layout, layout.components));
    plane.tiles_x = static_cast<unsigned>((width - 1) / tile_width + 1);
    plane.first_tile = args.tiles;
    args.tiles += plane.tiles_x * static_cast<unsigned>((plane.down.length - 1) / tile_rows + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    // Only to where groups of pixels stay aligned.
    plane.last_x = width >= tile_width && width % 8 == 0 ? width - tile_width : width;
  }
  return args;
}

WgmmaArgs args_of(const PlanDesc& desc, const MatrixTaps& taps) {
  WgmmaArgs args = args_of(desc);
  args.limbs = taps.limbs;
  args.gain = taps.gain;
  args.gain_low = taps.gain_low;
  args.epilogue = taps.epilogue == MatrixEpilogue::magic_number          ? WgmmaEpilogue::magic_number
                  : taps.epilogue == MatrixEpilogue::biased_magic_number ? WgmmaEpilogue::biased_magic_number
                                                                         : WgmmaEpilogue::quotient;
  for (int p = 0; p < args.planes; ++p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    WgmmaPlane& plane = args.plane[p];
    const PlaneMasks masks = plane_masks(layout);
    plane.ghost = masks.ghost;
    plane.passthrough_components = masks.passthrough_components;
    for (int c = 0; c < layout.components; ++c) {
      plane.start[c] = taps.start[p][c];
      plane.level[c] = args.epilogue == WgmmaEpilogue::quotient ? taps.level[p][c]
                       : args.epilogue == WgmmaEpilogue::biased_magic_number
                           ? MatrixTaps::rounding_bias - 0x1p23f * taps.gain
                           : -0x1p23f * taps.gain;
    }
  }
  return args;
}

WgmmaArgs args_of(const PlanDesc& desc, const U16Taps& taps, int height) {
  const FrameLayout& layout = desc.layout;
  const Arithmetic arithmetic = u16_arithmetic(desc);
  WgmmaArgs args = args_of(desc);
  args.limbs = taps.limbs;
  args.gain = taps.scale;
  args.numbers = make_sample_numbers(layout, arithmetic);
  const int weights = taps.limbs + 1 - taps.lowest;
  for (int n = 0; n < weights; ++n) {
    const int weight = taps.down ? taps.limbs - n : taps.lowest + n;
    for (int byte = 0; byte < 2; ++byte)
      if (const int limb = weight - byte; limb >= 0 && limb < taps.limbs)
        args.product[args.products++] = {byte * input_bytes(height), (taps.limbs - 1 - limb) * taps_bytes(height), 0,
                                         false};
    args.product[args.products - 1].shift = taps.down ? 1 : -1;
    args.product[args.products - 1].starts = n == weights - 2;
  }
  for (int p = 0; p < args.planes; ++p) {
    WgmmaPlane& plane = args.plane[p];
    const SamplePlane samples = make_sample_plane(layout, layout.plane[p], arithmetic);
    for (int c = 0; c < samples.components; ++c) {
      const Component& component = layout.plane[p].component[c];
      const auto ghost = static_cast<std::uint32_t>(std::clamp(component.ghost, 0.0, 1.0 * layout.max_value()));
      plane.ghost |= (ghost << layout.shift) * (samples.components == 1 ? 0x10001u : 1u << 16 * c);
      if (!component.filtered) plane.passthrough_components |= static_cast<std::uint8_t>(3u << 2 * c);
      plane.start[c] = taps.start[p][c];
      plane.level[c] = samples.offset[c];
    }
    // Copied samples stay as they are.
    plane.up = plane.passthrough_components ? 0 : 16 - layout.bits - layout.shift;
    plane.mask = plane.passthrough_components ? ~0u : (0xFFFFu & 0xFFFFu << (16 - layout.bits)) * 0x10001u;
  }
  return args;
}

class WgmmaPlan final : public Plan {
 public:
  WgmmaPlan(const Device& device, const PlanDesc& desc, const WgmmaArgs& args, const std::vector<std::uint8_t>& taps,
            std::string text)
      : text_(std::move(text)), taps_(device.tables, taps), args_(args) {
    args_.taps = reinterpret_cast<const uint4*>(taps_.get());
    const int most = max_bytes(desc.layout), height = height_for(desc.filter);
    kernel_ = kernel_for(height, desc.layout.type, most);
    warpgroups_ = static_cast<unsigned>(makers + tuning(most).loaders);
    blocks_ = static_cast<unsigned>(device.multiprocessors * tuning(most).blocks_resident);
    memory_ = static_cast<unsigned>(memory_of(height, most, args_.limbs));
    // Of the kernel, whichever plan it serves.
    const int largest = memory_of(height, most, max_limbs(height, most));
    if (cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, largest) != cudaSuccess)
      throw PlanError(std::string("shared memory for the filter: ") + launch_error());
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = taps_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      WgmmaPlane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.aligned = bits % (plane.components % 2 == 1 ? 8 : 16) == 0;
    }
    launch_pdl(90, kernel_, std::min(args_.tiles, blocks_), dim3(128, warpgroups_), stream, args_, memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override { return text_; }

 private:
  std::string text_;
  Table<std::uint8_t> taps_;
  WgmmaArgs args_{};
  unsigned memory_ = 0, blocks_ = 0, warpgroups_ = 0;
  WgmmaKernel kernel_ = nullptr;
};

bool serves_shape(const Device& device, const PlanDesc& desc, std::string& why) {
  const Filter& filter = desc.filter;
  const int height = height_for(filter);
  if (device.capability != 90)
    why = "16-bit samples, or planes of three components, on GPUs of a compute capability other than 9.0";
  else if (filter.depth() > 1)
    why = "several frames of 16-bit samples, or of planes of three components";
  else if (height == 0 || filter.reach_x() > margin)
    why = "a filter that reaches farther";
  for (int p = 0; p < desc.layout.planes && why.empty(); ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.width, margin) || !edge_folds_once(component.height, height / 2))
      why = "16-bit samples, or three components, of planes that are smaller than what the filter reaches";
  }
  return why.empty();
}

bool all_or_none_filtered(const FrameLayout& layout) {
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 1; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered != layout.plane[p].component[0].filtered) return false;
  return true;
}

}  // namespace

bool serves_matrix_wgmma(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  why.clear();
  if (!serves_shape(device, desc, why)) return false;
  if (desc.layout.bits != 8) {
    why = "samples of fewer than 8 bits";
    return false;
  }
  return make_matrix_taps(desc, LimbSums::joined_biased, taps, why,
                          max_limbs(height_for(desc.filter), max_bytes(desc.layout)));
}

std::unique_ptr<Plan> make_matrix_wgmma(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const auto limb = [&](int d, std::size_t tap) { return taps.limb(d, tap); };
  return std::make_unique<WgmmaPlan>(device, desc, args_of(desc, taps),
                                     right_matrices(desc.filter, taps.limbs, height_for(desc.filter), limb),
                                     "matrix " + desc.filter.shape() + ", " + std::to_string(taps.limbs) + " limbs, " +
                                         name(taps.epilogue) + ", warpgroups");
}

bool serves_matrix_u16(const Device& device, const PlanDesc& desc, U16Taps& taps, std::string& why) {
  const FrameLayout& layout = desc.layout;
  why.clear();
  if (!serves_shape(device, desc, why)) return false;
  if (max_components_of(layout) > 2)
    why = "pixels of more than two 16-bit components";
  else if (!all_or_none_filtered(layout))
    why = "planes of 16-bit samples of which one component is copied";
  else
    return has_sample_planes(layout, u16_arithmetic(desc), why) &&
           make_u16_taps(desc, max_limbs(height_for(desc.filter), max_bytes(layout)), taps, why);
  return false;
}

std::unique_ptr<Plan> make_matrix_u16(const Device& device, const PlanDesc& desc, const U16Taps& taps) {
  const int height = height_for(desc.filter);
  const WgmmaArgs args = args_of(desc, taps, height);
  const auto limb = [&](int d, std::size_t tap) { return taps.limb(taps.limbs - 1 - d, tap); };
  return std::make_unique<WgmmaPlan>(device, desc, args, right_matrices(desc.filter, taps.limbs, height, limb),
                                     "matrix " + desc.filter.shape() + ", " + std::to_string(taps.limbs) + " limbs, " +
                                         std::to_string(args.products) + " products of bytes, warpgroups");
}

}  // namespace convolve::cuda
