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

/// Taps from one row of a kernel to the next: rows of floats are padded with zeros to whole groups of four.
template <class Sum>
int pitch_of(int width) {
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
template <class Sum>
constexpr int few = few_bytes / sizeof(Sum);
template <class Sum>
constexpr int most = max_bank* max_bank_taps*(std::is_same_v<Sum, float> ? max_bank_taps + 1 : max_bank_taps);
static_assert(sizeof(BankArgs<float, few<float>>) <= 4096 && sizeof(BankArgs<double, few<double>>) <= 4096);
static_assert(sizeof(BankArgs<float, most<float>>) <= 32764 && sizeof(BankArgs<double, most<double>>) <= 32764);

/// Four neighbours, loaded as one.
template <class T>
using Four = Samples<T, 4>;

template <class Sample, class Sum>
__device__ void fill(const FrameArgs& frame, const ComponentArgs& component, int left, int top, Sum* cells) {
  const int columns = tile_width + frame.width - 1;
  for (int j = threadIdx.y; j < tile_height<Sum> + frame.height - 1; j += warps) {
    const auto row = row_at<Sum, Sample>(frame, component, 0, top + j);
    for (int i = threadIdx.x; i < cells_x; i += 32) cells[j * cells_x + i] = i < columns ? row.at(left + i) : Sum(0);
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

/// The combination of the kernels before and one more sum.
template <class Sum>
__device__ __forceinline__ Sum combined(Combine combine, Sum all, Sum sum) {
  switch (combine) {
    case Combine::magnitude:
      return fma(sum, sum, all);
    case Combine::sum_abs:
      return all + fabs(sum);
    case Combine::max_abs:
      return fmax(all, fabs(sum));
    default:
      return fmax(all, sum);
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

template <class Sample, class Sum, int capacity>
__global__ void __launch_bounds__(32 * warps) bank_kernel(const __grid_constant__ BankArgs<Sum, capacity> args) {
  constexpr int rows = outputs_y<Sum>;
  __shared__ __align__(32) Sum cells[(tile_height<Sum> + max_bank_taps - 1) * cells_x];
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
    sum_kernel(cells + rows * threadIdx.y * cells_x + outputs_x * threadIdx.x,
               args.taps + n * frame.height * args.pitch, args.pitch, frame.height, frame.width, sum);
#pragma unroll
    for (int j = 0; j < rows; ++j)
#pragma unroll
      for (int o = 0; o < outputs_x; ++o) all[j][o] = combined(args.combine, all[j][o], sum[j][o]);
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
  std::vector<const Component*> components;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) components.push_back(&desc.layout.plane[p].component[c]);
  return choose_arithmetic(desc.bank, desc.layout, desc.border == Border::constant, components);
}

/// What the taps take in parameters, in bytes.
std::size_t bytes_of_taps(const PlanDesc& desc, const Arithmetic& arithmetic) {
  const std::size_t rows = desc.bank.kernels().size() * desc.filter.height();
  const int width = desc.filter.width();
  return arithmetic.accumulator == Accumulator::double_ ? rows * pitch_of<double>(width) * sizeof(double)
                                                        : rows * pitch_of<float>(width) * sizeof(float);
}

template <class Sample, class Sum, int capacity>
class BankPlan final : public Plan {
 public:
  BankPlan(const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes), name_(desc.bank.describe()) {
    const int width = desc.filter.width();
    args_.frame = make_frame_args(desc, arithmetic);
    tiles_ = set_tiles(args_.frame, tile_width, tile_height<Sum>);
    args_.kernels = static_cast<int>(desc.bank.kernels().size());
    args_.pitch = pitch_of<Sum>(width);
    args_.combine = desc.bank.combine();
    for (std::size_t i = 0; i < arithmetic.coefficients.size(); ++i)
      args_.taps[i / width * args_.pitch + i % width] = static_cast<Sum>(arithmetic.coefficients[i]);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind(args_.frame, planes_, window, out);
    bank_kernel<Sample, Sum, capacity><<<tiles_, dim3(32, warps), 0, static_cast<cudaStream_t>(stream)>>>(args_);
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
    if (large) return std::make_unique<BankPlan<Sample, Sum, most<Sum>>>(desc, arithmetic);
#endif
    return std::make_unique<BankPlan<Sample, Sum, few<Sum>>>(desc, arithmetic);
  });
}

}  // namespace convolve::cuda
