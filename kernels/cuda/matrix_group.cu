// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0, filters of more than 9x7 taps: banded (Toeplitz) matrix products by warpgroups,
// 8-bit samples by 8-bit digits of the taps.
//
// A block makes tiles of 128 pixels by 64 rows, 32 rows a warpgroup, one after the other; one or two more warpgroups
// load the input rows of the next ones into shared memory, each component by itself, in which it is then made. The two
// that make tiles multiply in turn, so that samples are made while the tensor cores work. A window of 32 pixels holds
// all that the 16 outputs in its middle, a strip, can reach. The left matrix is 64 windows, 8 strips of every fourth
// row, read where the rows lie (warpgroup.cuh). The right matrix holds the taps that lead from a window to its strip,
// of all rows of the filter: 16 columns each, the last row first. An input row adds to the four output rows around it
// by one product, with 64 columns: rows of taps, or of zeros where they end.
//
// Digits of a tap share their sums: those of the high digit are shifted before the low one's products. The columns of
// a strip are numbered so that a thread ends with four neighbouring pixels.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/launch.hpp"
#include "cuda/matrix_group.cuh"
#include "cuda/matrix_group.hpp"

namespace convolve::cuda {
namespace {

using namespace group;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Barriers of so many threads of the block. Those that wait wait for the others to arrive.
template <int threads>
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}
template <int threads>
__device__ __forceinline__ void wait(unsigned barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

/// Their numbers between the loading warpgroups and the makers: of each stage, that it is full, and that it is empty.
template <int stages>
struct Stage {
  unsigned now = 0;
  __device__ __forceinline__ void advance() { now = now + 1 == stages ? 0 : now + 1; }
  __device__ __forceinline__ unsigned full() const { return 1 + now; }
  __device__ __forceinline__ unsigned empty() const { return 1 + stages + now; }
};

/// The two makers multiply in turn, so that one makes samples meanwhile: left alone they do both at the same time. A
/// turn passes on once its products are sent, not when they are done. The second maker passes one to begin with.
constexpr unsigned first_turn = 1 + 2 * most_stages;
static_assert(makers == 2 && first_turn + makers <= 16);
__device__ __forceinline__ void take_turn() {
  wait<128 * makers>(first_turn + threadIdx.y);
}
__device__ __forceinline__ void pass_turn() {
  arrive<128 * makers>(first_turn + 1 - threadIdx.y);
}

template <GroupFinish finish>
__device__ __forceinline__ float value_of(const GroupArgs& args, int sum, float level) {
  if (finish == GroupFinish::whole) {
    const float whole = __int2float_rn(sum);
    return __fmaf_rn(whole, args.gain, __fmaf_rn(whole, args.gain_low, level));
  }
  const float value = __fmaf_rn(__int_as_float(sum), args.gain, level);
  return finish == GroupFinish::lifted ? __fsub_rn(value, MatrixTaps::lift) : value;
}

/// A warpgroup's sums of a component.
template <int height>
__device__ __forceinline__ void make_sums(const GroupArgs& args, SharedMatrix left, SharedMatrix right, int start,
                                          int (&sum)[8 * group_rows]) {
  bool adds = args.digits == 1;
#pragma unroll
  for (int i = 0; i < 8 * group_rows; ++i) {
    if (adds)
      sum[i] = start;
    else
      asm volatile("" : "=r"(sum[i]));  // the first product does not add
  }
#pragma unroll 1
  for (int more = args.digits;;) {
    take_turn();
    begin_products(sum);
#pragma unroll
    for (int r = 0; r < group_rows + height - 1; ++r)
      multiply_add(sum, moved(left, r * pitch), moved(right, (padding + height - 1 - r) * 512), r > 0 || adds);
    send_products();
    pass_turn();
    end_products(sum);
    if (--more == 0) return;
    adds = true;
    right = moved(right, taps_bytes(height));
#pragma unroll
    for (int i = 0; i < 8 * group_rows; ++i) sum[i] = sum[i] * 256 + start;
  }
}

/// Makes a warpgroup's part of a tile from its components' input rows; calls done() when it has no more use for them.
template <int height, int C, class Done>
__device__ __forceinline__ void make_tile(const GroupArgs& args, const Tile& tile, const std::uint8_t* input,
                                          SharedMatrix right, const Done& done) {
  const GroupPlane& plane = *tile.plane;
  // The same in all lanes, as the compiler cannot know of threadIdx.
  const int group = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0);
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const SharedMatrix left = describe_matrix(
      static_cast<unsigned>(__cvta_generic_to_shared(input)) + group * warpgroup_rows * pitch, 16, group_rows * pitch);
  // A warp ends with the sums of 8 rows: of these four by four, and of a lane's four pixels.
  const int first_row = warpgroup_rows * group + 8 * warp, at = 4 * lane;
  const std::uint8_t* own = input + (first_row + height / 2) * pitch + margin + at;
  std::uint32_t packed[C][2 * group_rows];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (plane.copied >> c & 1) {
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r)
        packed[c][r] = *reinterpret_cast<const std::uint32_t*>(own + c * input_bytes(height) + r * pitch);
      if (c == C - 1) done();
      continue;
    }
    int sum[8 * group_rows];
    make_sums<height>(args, moved(left, c * input_bytes(height)), right, plane.start[c], sum);
    if (c == C - 1) done();
    const float level = plane.level[c];
    const auto finish_by = [&]<GroupFinish finish>(std::integral_constant<GroupFinish, finish>) {
#pragma unroll
      for (int r = 0; r < 2 * group_rows; ++r) {
        const int* of = sum + r % group_rows * 8 + r / group_rows * 2;
        packed[c][r] = pack(value_of<finish>(args, of[0], level), value_of<finish>(args, of[1], level),
                            value_of<finish>(args, of[4], level), value_of<finish>(args, of[5], level));
      }
    };
    if (args.finish == GroupFinish::reading)
      finish_by(std::integral_constant<GroupFinish, GroupFinish::reading>{});
    else if (args.finish == GroupFinish::lifted)
      finish_by(std::integral_constant<GroupFinish, GroupFinish::lifted>{});
    else
      finish_by(std::integral_constant<GroupFinish, GroupFinish::whole>{});
  }

  const int x = tile.x + at, y = tile.y + first_row;
  std::uint8_t* out = plane.out + y * plane.out_stride + static_cast<std::ptrdiff_t>(x) * C;
  const auto store = [&](const auto& put) {
#pragma unroll
    for (int r = 0; r < 2 * group_rows; ++r, out += plane.out_stride) {
      std::uint32_t apart[C];
#pragma unroll
      for (int c = 0; c < C; ++c) apart[c] = packed[c][r];
      put(interleaved<C>(apart), r);
    }
  };
  if (plane.aligned && tile.x + tile_width <= plane.across.length && tile.y + tile_rows <= plane.down.length)
    store([&](const Word<C>& word, int) { *reinterpret_cast<Word<C>*>(out) = word; });
  else
    store([&](const Word<C>& word, int r) {
      if (y + r >= plane.down.length) return;
#pragma unroll
      for (int b = 0; b < 4 * C; ++b)
        if (x + b / C < plane.across.length) out[b] = reinterpret_cast<const std::uint8_t*>(&word)[b];
    });
}

/// Calls what(std::integral_constant of the plane's components), of which there are one or `most`.
template <int most, class What>
__device__ __forceinline__ void by_components(const Tile& tile, const What& what) {
  if (most != 2 || tile.plane->components == most)
    what(std::integral_constant<int, most>{});
  else
    what(std::integral_constant<int, 1>{});
}

#endif

/// `most`: the most components of a plane; 4 comes alone.
template <int height, int most>
__global__ void __launch_bounds__(128 * (makers + tuning(most).loaders), tuning(most).blocks_resident)
    group_kernel(const __grid_constant__ GroupArgs args) {
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
    by_components<most>(tile, [&](auto C) { Input<height, C, 0, makers>::prefetch_tile(tile); });
  }
  const int id = static_cast<int>(threadIdx.y * 128 + threadIdx.x);
  for (int i = id; i < args.digits * taps_bytes(height) / 16; i += threads)
    copy_async<16>(static_cast<unsigned>(__cvta_generic_to_shared(taps)) + 16 * i, args.taps + i);
  wait_for_stream();
  by_components<most>(first, [&](auto C) { Input<height, C, 0, makers + loaders>::load(memory, first); });
  end_copies();
  publish_to_products<0>();
  __syncthreads();
  if (threadIdx.y >= makers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(tuning(most).loader_registers));
    unsigned loaded = 1, arriving = 0;  // barrier of the stage that is on its way
    stage.advance();
#pragma unroll 1
    for (unsigned number = second; number < args.tiles; number += gridDim.x, ++loaded, stage.advance()) {
      const Tile tile(args, number);
      by_components<most>(tile, [&](auto C) { Input<height, C, makers, loaders>::prefetch(tile); });
      if (loaded >= depth) wait<threads>(stage.empty());
      std::uint8_t* to = memory + stage.now * stage_bytes;
      by_components<most>(tile, [&](auto C) {
        if (C > 1 && arriving) {
          publish_to_products<0>();
          arrive<threads>(arriving);
        }
        Input<height, C, makers, loaders>::load(to, tile);
        end_copies();
        if (C > 1 || arriving) {
          publish_to_products<C == 1 ? 1 : 0>();
          arrive<threads>(C == 1 ? arriving : stage.full());
        }
        arriving = C == 1 ? stage.full() : 0;
      });
    }
    if (arriving) {
      publish_to_products<0>();
      arrive<threads>(arriving);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(tuning(most).maker_registers));
    if (threadIdx.y == 1) pass_turn();
    const SharedMatrix right = describe_matrix(static_cast<unsigned>(__cvta_generic_to_shared(taps)), 128, 256);
#pragma unroll 1
    for (unsigned number = blockIdx.x; number < args.tiles; number += gridDim.x, stage.advance()) {
      const Tile tile(args, number);
      const bool wanted = number + depth * gridDim.x < args.tiles;  // the stage, once more
      if (number != blockIdx.x) wait<threads>(stage.full());
      by_components<most>(tile, [&](auto C) {
        make_tile<height, C>(args, tile, memory + stage.now * stage_bytes, right, [&] {
          if (wanted) arrive<threads>(stage.empty());
        });
      });
    }
  }
#endif
}

template <int height>
auto kernel_for(int components) {
  return components == 1   ? group_kernel<height, 1>
         : components == 2 ? group_kernel<height, 2>
                           : group_kernel<height, 4>;
}

auto kernel_for(int height, int components) {
  return height == 7    ? kernel_for<7>(components)
         : height == 9  ? kernel_for<9>(components)
         : height == 11 ? kernel_for<11>(components)
                        : kernel_for<15>(components);
}

/// Rows that a kernel takes for this filter, its centre in the middle; 0: none does.
int height_for(const Filter& f) {
  const int least = 2 * f.reach_y() + 1;
  for (const int height : heights)
    if (height >= least) return height;
  return 0;
}

/// The digits' right matrices: blocks of 8 columns by 16 rows, as warpgroup.cuh says.
std::vector<std::uint8_t> right_matrices(const Filter& filter, const MatrixTaps& taps, int height) {
  std::vector<std::uint8_t> bytes;
  for (int d = 0; d < taps.digits; ++d)
    for (int row = height - 1 + padding; row >= -padding; --row)
      for (int i = 0; i < 512; ++i) {  // which columns, then which half of the window
        const int n = (i >> 8) * 8 + (i >> 4 & 7), k = (i >> 7 & 1) * 16 + (i & 15);
        const int to = 4 * (n >> 1 & 3) + 2 * (n >> 3) + (n & 1);
        const int y = row - height / 2 + filter.centre_y(), x = k - margin - to + filter.centre_x();
        const bool tap = row >= 0 && row < height && y >= 0 && y < filter.height() && x >= 0 && x < filter.width();
        bytes.push_back(tap ? static_cast<std::uint8_t>(taps.digit(d, static_cast<std::size_t>(y) * filter.width() + x))
                            : 0);
      }
  return bytes;
}

class GroupPlan final : public Plan {
 public:
  GroupPlan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps)
      : text_("matrix " + desc.filter.shape() + ", " + std::to_string(taps.digits) + " digits, " + name(taps.finish) +
              ", warpgroups"),
        taps_(right_matrices(desc.filter, taps, height_for(desc.filter))) {
    args_.planes = desc.layout.planes;
    args_.taps = reinterpret_cast<const uint4*>(taps_.get());
    args_.digits = taps.digits;
    args_.gain = taps.gain;
    args_.gain_low = taps.gain_low;
    args_.finish = taps.finish == MatrixFinish::reading  ? GroupFinish::reading
                   : taps.finish == MatrixFinish::lifted ? GroupFinish::lifted
                                                         : GroupFinish::whole;
    for (int p = 0; p < args_.planes; ++p) add_plane(desc, taps, p);
    const int most = most_components(desc.layout);
    const int height = height_for(desc.filter);
    kernel_ = kernel_for(height, most);
    warpgroups_ = static_cast<unsigned>(makers + tuning(most).loaders);
    blocks_ = static_cast<unsigned>(device.multiprocessors * tuning(most).blocks_resident);
    // Of the kernel, whichever plan it serves: for two digits.
    const int largest = tuning(most).stages * most * input_bytes(height) + 2 * taps_bytes(height);
    memory_ = static_cast<unsigned>(largest - (2 - taps.digits) * taps_bytes(height));
    if (cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize, largest) != cudaSuccess)
      throw PlanError(std::string("shared memory for the filter: ") + launch_error());
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      GroupPlane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.aligned = bits % (plane.components == 1 ? 8 : 16) == 0;
    }
    launch_early(90, kernel_, std::min(args_.tiles, blocks_), dim3(128, warpgroups_), stream, args_, memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override { return text_; }

 private:
  void add_plane(const PlanDesc& desc, const MatrixTaps& taps, int p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    GroupPlane& plane = args_.plane[p];
    const int width = layout.component[0].width;
    plane.across = edge_axis(desc.border, width);
    plane.down = edge_axis(desc.border, layout.component[0].height);
    plane.components = static_cast<std::uint8_t>(layout.components);
    const PlaneMasks masks = plane_masks(layout);
    plane.ghost = masks.ghost;
    plane.copied = masks.copied;
    plane.tiles_x = static_cast<unsigned>((width - 1) / tile_width + 1);
    plane.first_tile = args_.tiles;
    args_.tiles += plane.tiles_x * static_cast<unsigned>((plane.down.length - 1) / tile_rows + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    // Only to where groups of pixels stay aligned.
    plane.last_x = width >= tile_width && width % 8 == 0 ? width - tile_width : width;
    for (int c = 0; c < layout.components; ++c) {
      plane.start[c] = taps.start[p][c];
      plane.level[c] = args_.finish == GroupFinish::whole    ? taps.level[p][c]
                       : args_.finish == GroupFinish::lifted ? MatrixTaps::lift - 0x1p23f * taps.gain
                                                             : -0x1p23f * taps.gain;
    }
  }

  std::string text_;
  DeviceArray<std::uint8_t> taps_;
  GroupArgs args_{};
  unsigned memory_ = 0, blocks_ = 0, warpgroups_ = 0;
  void (*kernel_)(GroupArgs) = nullptr;
};

}  // namespace

bool serves_matrix_group(const Device& device, const PlanDesc& desc, MatrixTaps& taps) {
  const Filter& filter = desc.filter;
  const int height = height_for(filter);
  if (device.capability != 90 || filter.depth() > 1 || desc.layout.bits != 8 || height == 0 ||
      filter.reach_x() > margin)
    return false;
  for (int p = 0; p < desc.layout.planes; ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.width, margin) || !edge_folds_once(component.height, height / 2)) return false;
  }
  std::string why;
  return make_matrix_taps(desc, MatrixReading::lifted, taps, why);
}

std::unique_ptr<Plan> make_matrix_group(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  return std::make_unique<GroupPlan>(device, desc, taps);
}

}  // namespace convolve::cuda
