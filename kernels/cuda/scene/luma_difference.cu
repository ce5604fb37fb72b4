// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sum of the magnitudes of two frames' differences in luma. A block sums a row and adds its sum to the frame's in
// device memory. The block that finishes last puts that into page-locked memory, where the host reads it, and clears it
// for the next pair of frames.
#include <cuda_runtime.h>

#include "cuda/common/device_array.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/scene/luma_difference.hpp"

namespace convolve::cuda {
namespace {

constexpr int threads = 256, lanes = 32, vector_bytes = 16;
constexpr unsigned all_lanes = ~0u;

using Sum = unsigned long long;

/// All zero between launches.
struct Tally {
  Sum sum;
  Sum rows;  ///< that are in `sum`
};

struct Term {
  const std::uint8_t *a, *b;  ///< the component's first sample
  std::ptrdiff_t a_stride, b_stride;
  int step, weight;
};

struct DifferenceArgs {
  Term term[3];
  int width, shift;
  Tally* tally;
  Sum* result;
};

/// The sum of the magnitudes of the differences of the samples in two words.
template <class Sample>
__device__ __forceinline__ unsigned word_difference(unsigned a, unsigned b, int shift) {
  const unsigned mask = sizeof(Sample) == 1 ? (0xffu >> shift) * 0x01010101u : (0xffffu >> shift) * 0x00010001u;
  a = a >> shift & mask;
  b = b >> shift & mask;
  return sizeof(Sample) == 1 ? __vsadu4(a, b) : __vsadu2(a, b);
}

/// A thread's part of a row, from sample `first` on.
template <class Sample, int terms>
__device__ __forceinline__ Sum sample_differences(const DifferenceArgs& args, std::ptrdiff_t y, int first) {
  Sum sum = 0;
#pragma unroll 4
  for (int x = first + static_cast<int>(threadIdx.x); x < args.width; x += threads) {
    int difference = 0;
#pragma unroll
    for (int i = 0; i < terms; ++i) {
      const Term& term = args.term[i];
      const auto* a = reinterpret_cast<const Sample*>(term.a + y * term.a_stride);
      const auto* b = reinterpret_cast<const Sample*>(term.b + y * term.b_stride);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(x) * term.step;
      difference += term.weight * ((a[at] >> args.shift) - (b[at] >> args.shift));
    }
    sum += static_cast<unsigned>(abs(difference));
  }
  return sum;
}

/// The sum over row y of one component whose samples lie side by side, read a vector at a time.
template <class Sample>
__device__ __forceinline__ Sum vector_differences(const DifferenceArgs& args, std::ptrdiff_t y) {
  constexpr int samples = vector_bytes / sizeof(Sample);
  const Term& term = args.term[0];
  const auto* a = reinterpret_cast<const uint4*>(term.a + y * term.a_stride);
  const auto* b = reinterpret_cast<const uint4*>(term.b + y * term.b_stride);
  const int vectors = args.width / samples;
  Sum sum = 0;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += threads) {
    const uint4 left = a[i], right = b[i];
    sum += word_difference<Sample>(left.x, right.x, args.shift) + word_difference<Sample>(left.y, right.y, args.shift) +
           word_difference<Sample>(left.z, right.z, args.shift) + word_difference<Sample>(left.w, right.w, args.shift);
  }
  return sum * static_cast<unsigned>(term.weight) + sample_differences<Sample, 1>(args, y, vectors * samples);
}

/// Adds a block's sum to the frame's. The last of the launch's blocks hands that over.
__device__ __forceinline__ void add_row(const DifferenceArgs& args, Sum sum) {
  __shared__ Sum of_warp[threads / lanes];
  for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(all_lanes, sum, step);
  if (threadIdx.x % lanes == 0) of_warp[threadIdx.x / lanes] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < threads / lanes; ++warp) sum += of_warp[warp];
  atomicAdd(&args.tally->sum, sum);
  __threadfence();  // the sum is there before the row counts
  if (atomicAdd(&args.tally->rows, Sum{1}) + 1 != gridDim.x) return;
  __threadfence();
  args.tally->rows = 0;
  *args.result = atomicExch(&args.tally->sum, Sum{0});
}

template <class Sample, int terms, bool vectors>
__global__ void __launch_bounds__(threads) difference_kernel(const __grid_constant__ DifferenceArgs args) {
  pdl_wait();
  const std::ptrdiff_t y = blockIdx.x;
  if constexpr (vectors)
    add_row(args, vector_differences<Sample>(args, y));
  else
    add_row(args, sample_differences<Sample, terms>(args, y, 0));
}

using Kernel = void (*)(DifferenceArgs);

template <class Sample>
Kernel kernel_of(int terms, bool vectors) {
  if (terms == 3) return difference_kernel<Sample, 3, false>;
  return vectors ? difference_kernel<Sample, 1, true> : difference_kernel<Sample, 1, false>;
}

class CudaLumaDifference final : public LumaDifference {
 public:
  CudaLumaDifference(const Device& device, const LumaDesc& desc)
      : desc_(desc), capability_(device.capability), tally_(device.tables, {Tally{}}) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(Sum), cudaHostAllocDefault), "page-locked memory for the ends of scenes");
    result_.reset(static_cast<Sum*>(memory));
    *result_ = 0;
  }

  const char* enqueue(const Image& a, const Image& b, void* stream) noexcept override {
    if (const char* error = tally_.send(stream)) return error;
    DifferenceArgs args{};
    args.width = desc_.width;
    args.shift = desc_.shift;
    args.tally = tally_.get();
    args.result = result_.get();
    const int bytes = bytes_per_sample(desc_.type);
    bool vectors = desc_.terms == 1 && desc_.term[0].step == 1;
    for (int i = 0; i < desc_.terms; ++i) {
      const LumaTerm& term = desc_.term[i];
      const auto first = [&](const Image& image) {
        PlaneView view = image.plane[term.plane];
        view.data = static_cast<std::uint8_t*>(view.data) + static_cast<std::ptrdiff_t>(term.offset) * bytes;
        vectors = vectors && aligned(view, vector_bytes);
        return view;
      };
      const PlaneView from_a = first(a), from_b = first(b);
      args.term[i] = {static_cast<const std::uint8_t*>(from_a.data),
                      static_cast<const std::uint8_t*>(from_b.data),
                      from_a.stride,
                      from_b.stride,
                      term.step,
                      term.weight};
    }
    const Kernel kernel = desc_.type == SampleType::u8 ? kernel_of<std::uint8_t>(desc_.terms, vectors)
                                                       : kernel_of<std::uint16_t>(desc_.terms, vectors);
    launch_pdl(capability_, kernel, static_cast<unsigned>(desc_.height), dim3(threads), stream, args);
    return launch_error();
  }

  std::uint64_t sum() const noexcept override { return *result_; }

 private:
  struct FreeHost {
    void operator()(Sum* memory) const { cudaFreeHost(memory); }
  };

  LumaDesc desc_;
  int capability_;
  Table<Tally> tally_;
  std::unique_ptr<Sum, FreeHost> result_;  ///< page-locked, where the device writes it
};

}  // namespace

std::unique_ptr<LumaDifference> make_luma_difference(const Device& device, const LumaDesc& desc) {
  return std::make_unique<CudaLumaDifference>(device, desc);
}

}  // namespace convolve::cuda
