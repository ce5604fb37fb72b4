// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels. A block loads a tile with its halo into shared memory once, as numbers; a thread then sums one
// kernel after the other over it, for 4 neighbouring outputs in each of several rows, and combines the sums in
// registers:
//
//   tile ──kernel 1──> sums ─┐
//        ──kernel 2──> sums ─┼─ combined in registers ──> root, division, rounding ──> samples
//        ──   ...   ──> sums ─┘
//
// All planes of a frame are one launch. The taps ride in the launch's parameters, which are constant memory.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda/bank/bank.hpp"
#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"

namespace convolve::cuda {
namespace {

constexpr int warps = 4, outputs_x = 4;  ///< of a block; neighbours in a row of a thread
/// Rows of a thread: doubles take twice the registers and the shared memory.
template <class Sum>
constexpr int outputs_y = std::is_same_v<Sum, float> ? 8 : 4;
template <class Sum>
constexpr int tile_height = warps* outputs_y<Sum>;
constexpr int tile_width = 32 * outputs_x, cells_x = tile_width + max_bank_taps + 1;

/// Kernels of up to 3x3 are padded to that with zeros, and summed by code of their own.
constexpr int small_side = 3;

/// Taps from one row of a kernel to the next: rows of floats are padded with zeros to whole groups of four.
template <class Sum>
constexpr int pitch_of(int width) {
  return std::is_same_v<Sum, float> ? (width + 3) / 4 * 4 : width;
}

template <class Sum, int capacity>
struct BankArgs {
  FrameArgs frame;
  int kernels, pitch;
  Combine combine;
  alignas(16) Sum taps[capacity];  ///< [kernel][row][column]
};
// Taps within 4 KB of parameters; and those of the largest bank, in either precision.
constexpr int few_bytes = 1536;
static_assert(max_bank * small_side * pitch_of<float>(small_side) * sizeof(float) <= few_bytes &&
              max_bank * small_side * pitch_of<double>(small_side) * sizeof(double) <= few_bytes);
template <class Sum>
constexpr int few = few_bytes / sizeof(Sum);
template <class Sum>
constexpr int most = max_bank* max_bank_taps*(std::is_same_v<Sum, float> ? max_bank_taps + 1 : max_bank_taps);
static_assert(sizeof(BankArgs<float, few<float>>) <= 4096 && sizeof(BankArgs<double, few<double>>) <= 4096);
static_assert(sizeof(BankArgs<float, most<float>>) <= 32764 && sizeof(BankArgs<double, most<double>>) <= 32764);

/// Four neighbours, loaded as one.
template <class T>
using Four = Samples<T, 4>;

/// Loads the tile. Where a lane's columns lie in a row is the same for all rows, so that a row is a few loads in a row,
/// none of which waits for another.
template <class Sample, class Sum>
__device__ void fill(const FrameArgs& frame, const ComponentArgs& component, int left, int top, Sum* cells) {
  constexpr int columns_of_lane = (cells_x + 31) / 32;
  const int columns = tile_width + frame.width - 1;
  int column[columns_of_lane];  // samples from the first one; -1: ghost cells, and what only taps of 0 meet
#pragma unroll
  for (int k = 0; k < columns_of_lane; ++k) {
    const int i = threadIdx.x + 32 * k;
    const int x = i < columns ? index_at(frame.border, left + i, component.width) : -1;
    column[k] = x < 0 ? -1 : x * component.step;
  }
#pragma unroll 2
  for (int j = threadIdx.y; j < tile_height<Sum> + frame.height - 1; j += warps) {
    const auto row = row_at<Sum, Sample>(frame, component, 0, top + j);
    const Sum ghost = row.ghost();
    Sum value[columns_of_lane];
#pragma unroll
    for (int k = 0; k < columns_of_lane; ++k) {
      const bool inside = row.samples != nullptr && column[k] >= 0;
      value[k] = inside ? from_sample<Sum>(__ldg(row.samples + column[k]), row.shift, component.zero) : ghost;
    }
#pragma unroll
    for (int k = 0; k < columns_of_lane; ++k)
      if (const int i = threadIdx.x + 32 * k; i < cells_x) cells[j * cells_x + i] = value[k];
  }
}

/// Taps k .. k + 3 of a row that begins at `row`; 0 beyond its end.
template <class Sum>
__device__ __forceinline__ Four<Sum> taps_at(const Sum* row, int k, int width) {
  if constexpr (std::is_same_v<Sum, float>) {
    return *reinterpret_cast<const Four<float>*>(row + k);
  } else {
    Four<Sum> four;
#pragma unroll
    for (int n = 0; n < 4; ++n) four.value[n] = k + n < width ? row[k + n] : 0;
    return four;
  }
}

/// One kernel's sums. `cells`: from this thread's first cell on.
template <class Sum>
__device__ __forceinline__ void sum_kernel(const Sum* cells, const Sum* taps, int pitch, int height, int width,
                                           Sum (&sum)[outputs_y<Sum>][outputs_x]) {
#pragma unroll
  for (int j = 0; j < outputs_y<Sum>; ++j)
#pragma unroll
    for (int o = 0; o < outputs_x; ++o) sum[j][o] = 0;
  for (int i = 0; i < height + outputs_y<Sum> - 1; ++i) {
    const Sum* from = cells + i * cells_x;
    Four<Sum> low, high = *reinterpret_cast<const Four<Sum>*>(from);
    for (int k = 0; k < width; k += 4) {
      low = high;
      high = *reinterpret_cast<const Four<Sum>*>(from + k + 4);
#pragma unroll
      for (int j = 0; j < outputs_y<Sum>; ++j) {
        // Input row i meets output row j with row i - j of the kernel.
        if (i < j || i - j >= height) continue;
        const Four<Sum> tap = taps_at(taps + (i - j) * pitch, k, width);
#pragma unroll
        for (int n = 0; n < 4; ++n)
#pragma unroll
          for (int o = 0; o < outputs_x; ++o)
            sum[j][o] = fma(tap.value[n], n + o < 4 ? low.value[(n + o) & 3] : high.value[(n + o) & 3], sum[j][o]);
      }
    }
  }
}

/// Sums one kernel of 3x3, whose taps stay in registers meanwhile.
template <class Sum>
__device__ __forceinline__ void sum_3x3(const Sum* cells, const Sum* taps, Sum (&sum)[outputs_y<Sum>][outputs_x]) {
  constexpr int rows = outputs_y<Sum>, pitch = pitch_of<Sum>(small_side);
  Sum tap[small_side][small_side];
#pragma unroll
  for (int r = 0; r < small_side; ++r)
#pragma unroll
    for (int k = 0; k < small_side; ++k) tap[r][k] = taps[r * pitch + k];
#pragma unroll
  for (int i = 0; i < rows + small_side - 1; ++i) {
    const Four<Sum> low = *reinterpret_cast<const Four<Sum>*>(cells + i * cells_x);
    const Four<Sum> high = *reinterpret_cast<const Four<Sum>*>(cells + i * cells_x + 4);
#pragma unroll
    for (int r = 0; r < small_side; ++r) {
      const int j = i - r;
      if (j < 0 || j >= rows) continue;
#pragma unroll
      for (int k = 0; k < small_side; ++k)
#pragma unroll
        for (int o = 0; o < outputs_x; ++o) {
          const Sum value = k + o < 4 ? low.value[(k + o) & 3] : high.value[(k + o) & 3];
          sum[j][o] = r == 0 && k == 0 ? tap[r][k] * value : fma(tap[r][k], value, sum[j][o]);
        }
    }
  }
}

/// Combines the kernels before with one more. The choice stands outside of the loops: within, it is made for each sum.
template <class Sum>
__device__ __forceinline__ void combine_sums(Combine combine, Sum (&all)[outputs_y<Sum>][outputs_x],
                                             const Sum (&sum)[outputs_y<Sum>][outputs_x]) {
  const auto each = [&](const auto& combined) {
#pragma unroll
    for (int j = 0; j < outputs_y<Sum>; ++j)
#pragma unroll
      for (int o = 0; o < outputs_x; ++o) all[j][o] = combined(all[j][o], sum[j][o]);
  };
  switch (combine) {
    case Combine::magnitude:
      return each([](Sum before, Sum one) { return fma(one, one, before); });
    case Combine::sum_abs:
      return each([](Sum before, Sum one) { return before + fabs(one); });
    case Combine::max_abs:
      return each([](Sum before, Sum one) { return fmax(before, fabs(one)); });
    default:  // Combine::max
      return each([](Sum before, Sum one) { return fmax(before, one); });
  }
}

__device__ __forceinline__ float root(float square) {
  return __fsqrt_rn(square);
}
__device__ __forceinline__ double root(double square) {
  return __dsqrt_rn(square);
}

template <class Sample, class Sum>
__device__ __forceinline__ void store_four(const FrameArgs& frame, const ComponentArgs& component, int x, int y,
                                           const Sum (&value)[outputs_x]) {
  Four<Sample> code;
  if constexpr (std::is_same_v<Sum, float>) {
    code = quantize4<Sample>(value, component.quantizer, frame.shift);
  } else {
#pragma unroll
    for (int o = 0; o < outputs_x; ++o) code.value[o] = quantize<Sample>(value[o], component.quantizer, frame.shift);
  }
  Sample* out = sample_at<Sample>(frame.out[component.plane], component, x, y);
  if (component.step == 1 && x + outputs_x <= component.width &&
      reinterpret_cast<std::uintptr_t>(out) % sizeof(code) == 0) {
    *reinterpret_cast<Four<Sample>*>(out) = code;
    return;
  }
#pragma unroll
  for (int o = 0; o < outputs_x; ++o)
    if (x + o < component.width) out[static_cast<std::ptrdiff_t>(o) * component.step] = code.value[o];
}

/// `side`: the most taps of an axis.
template <class Sample, class Sum, int capacity, int side>
__global__ void __launch_bounds__(32 * warps) bank_kernel(const __grid_constant__ BankArgs<Sum, capacity> args) {
  constexpr int rows = outputs_y<Sum>;
  __shared__ __align__(32) Sum cells[(tile_height<Sum> + side - 1) * cells_x];
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int left = tile.x * tile_width, top = tile.y * tile_height<Sum>;
  const int x = left + outputs_x * threadIdx.x, y = top + rows * threadIdx.y;
  if (!component.filtered) {
    for (int j = 0; j < rows && y + j < component.height; ++j)
      for (int o = 0; o < outputs_x && x + o < component.width; ++o)
        copy_sample<Sample>(frame, component, x + o, y + j);
    return;
  }
  fill<Sample>(frame, component, left - frame.centre_x, top - frame.centre_y, cells);
  __syncthreads();
  // Combined with a sum, this leaves that sum.
  const Sum start = args.combine == Combine::max ? -static_cast<Sum>(INFINITY) : 0;
  Sum all[rows][outputs_x];
#pragma unroll
  for (int j = 0; j < rows; ++j)
#pragma unroll
    for (int o = 0; o < outputs_x; ++o) all[j][o] = start;
  for (int n = 0; n < args.kernels; ++n) {
    Sum sum[rows][outputs_x];
    const Sum* const first = cells + rows * threadIdx.y * cells_x + outputs_x * threadIdx.x;
    if constexpr (side == small_side)
      sum_3x3(first, args.taps + n * side * pitch_of<Sum>(side), sum);
    else
      sum_kernel(first, args.taps + n * frame.height * args.pitch, args.pitch, frame.height, frame.width, sum);
    combine_sums(args.combine, all, sum);
  }
  if (x >= component.width) return;
#pragma unroll
  for (int j = 0; j < rows; ++j) {
    if (y + j >= component.height) return;
    if (args.combine == Combine::magnitude)
#pragma unroll
      for (int o = 0; o < outputs_x; ++o) all[j][o] = root(all[j][o]);
    store_four<Sample>(frame, component, x, y + j, all[j]);
  }
}

Arithmetic arithmetic_of(const PlanDesc& desc) {
  return choose_arithmetic(desc.bank, desc.layout, has_ghost_cells(desc.border), all_components(desc.layout));
}

/// Bytes of kernel parameters that the taps take.
std::size_t bytes_of_taps(const PlanDesc& desc, const Arithmetic& arithmetic) {
  const std::size_t rows = desc.bank.kernels().size() * desc.filter.height();
  const int width = desc.filter.width();
  return arithmetic.accumulator == Accumulator::double_ ? rows * pitch_of<double>(width) * sizeof(double)
                                                        : rows * pitch_of<float>(width) * sizeof(float);
}

template <class Sample, class Sum, int capacity, int side>
class BankPlan final : public Plan {
 public:
  BankPlan(const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes), name_(desc.bank.describe()) {
    const int height = desc.filter.height(), width = desc.filter.width();
    FrameArgs& frame = args_.frame;
    frame = make_frame_args(desc, arithmetic);
    int down = 0, right = 0;
    if (side == small_side) {
      down = 1 - frame.centre_y, right = 1 - frame.centre_x;
      frame.height = frame.width = side;
      frame.centre_y = frame.centre_x = 1;
    }
    tiles_ = set_tiles(frame, tile_width, tile_height<Sum>);
    args_.kernels = static_cast<int>(desc.bank.kernels().size());
    args_.pitch = pitch_of<Sum>(frame.width);
    args_.combine = desc.bank.combine();
    const double* from = arithmetic.coefficients.data();
    for (int n = 0; n < args_.kernels; ++n)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          args_.taps[(n * frame.height + y + down) * args_.pitch + x + right] = static_cast<Sum>(*from++);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind(args_.frame, planes_, window, out);
    bank_kernel<Sample, Sum, capacity, side><<<tiles_, dim3(32, warps), 0, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::tiled; }
  std::string describe() const override {
    return "tiled " + name_ + ", each tile read once, sums of " + (std::is_same_v<Sum, double> ? "double" : "single") +
           " precision";
  }

 private:
  int planes_, tiles_ = 0;
  std::string name_;
  BankArgs<Sum, capacity> args_{};
};

}  // namespace

bool serves_bank(const Device& device, const PlanDesc& desc, std::string& why) {
  const std::size_t bytes = bytes_of_taps(desc, arithmetic_of(desc));
  if (bytes <= few_bytes) return true;
  if (CUDART_VERSION >= 12010 && device.parameter_bytes >= sizeof(BankArgs<double, most<double>>)) return true;
  why = "the taps of a " + desc.bank.describe() + " take " + std::to_string(bytes) + " bytes; over " +
        std::to_string(few_bytes) + " need CUDA 12.1 or later, at build time and of the driver";
  return false;
}

std::unique_ptr<Plan> make_bank(const Device&, const PlanDesc& desc) {
  const Arithmetic arithmetic = arithmetic_of(desc);
  const bool large = bytes_of_taps(desc, arithmetic) > few_bytes;
  return with_types(desc.layout.type, arithmetic.accumulator, [&]<class Sample, class Sum>() -> std::unique_ptr<Plan> {
#if CUDART_VERSION >= 12010
    if (large) return std::make_unique<BankPlan<Sample, Sum, most<Sum>, max_bank_taps>>(desc, arithmetic);
#endif
    if (std::max(desc.filter.height(), desc.filter.width()) <= small_side)
      return std::make_unique<BankPlan<Sample, Sum, few<Sum>, small_side>>(desc, arithmetic);
    return std::make_unique<BankPlan<Sample, Sum, few<Sum>, max_bank_taps>>(desc, arithmetic);
  });
}

}  // namespace convolve::cuda
