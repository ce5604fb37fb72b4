// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>

#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/pixels.cuh"
#include "cuda/common/table.hpp"
#include "cuda/views/packed_422.hpp"
#include "cuda/views/semi_planar.hpp"

namespace convolve::cuda {
namespace {

constexpr int threads = 256, vector_bytes = 16;

struct Args {
  PlaneView packed, luma, chroma;
  int samples, height;  ///< of a row of the packed plane; rows
  int blocks_x;
  int luma_at;  ///< the sample of each pair that is luma
  bool wide;    ///< the packed plane's address and stride allow 16 bytes
};

/// Samples 0, 2, ... or 1, 3, ... of two words.
template <class Sample>
__device__ __forceinline__ std::uint32_t every_second(std::uint32_t a, std::uint32_t b, int from) {
  constexpr bool bytes = sizeof(Sample) == 1;
  return __byte_perm(a, b, from ? (bytes ? 0x7531 : 0x7632) : (bytes ? 0x6420 : 0x5410));
}
/// Samples of two words in turn: the first or the second half of all.
template <class Sample>
__device__ __forceinline__ std::uint32_t in_turn(std::uint32_t a, std::uint32_t b, int half) {
  constexpr bool bytes = sizeof(Sample) == 1;
  return __byte_perm(a, b, half ? (bytes ? 0x7362 : 0x7632) : (bytes ? 0x5140 : 0x5410));
}

/// 16 bytes of the packed plane a thread, from it to the two planes or from those to it.
template <class Sample, bool join>
__global__ void __launch_bounds__(threads) move_kernel(const __grid_constant__ Args args) {
  constexpr int count = vector_bytes / static_cast<int>(sizeof(Sample));
  const int y = blockIdx.x / args.blocks_x;
  const int x = ((blockIdx.x - y * args.blocks_x) * threads + static_cast<int>(threadIdx.x)) * count;
  pdl_wait();
  if (x >= args.samples) return;
  Sample* const packed = row_of<Sample>(args.packed, y) + x;
  Sample* const luma = row_of<Sample>(args.luma, y) + x / 2;
  Sample* const chroma = row_of<Sample>(args.chroma, y) + x / 2;
  if (!args.wide || x + count > args.samples) {
    for (int i = 0; i < count && x + i < args.samples; ++i) {
      Sample& of_plane = (i % 2 == args.luma_at ? luma : chroma)[i / 2];
      if constexpr (join)
        packed[i] = of_plane;
      else
        of_plane = packed[i];
    }
    return;
  }
  if constexpr (join) {
    const uint2 a = *reinterpret_cast<const uint2*>(args.luma_at ? chroma : luma);
    const uint2 b = *reinterpret_cast<const uint2*>(args.luma_at ? luma : chroma);
    *reinterpret_cast<uint4*>(packed) = {in_turn<Sample>(a.x, b.x, 0), in_turn<Sample>(a.x, b.x, 1),
                                         in_turn<Sample>(a.y, b.y, 0), in_turn<Sample>(a.y, b.y, 1)};
  } else {
    const uint4 v = *reinterpret_cast<const uint4*>(packed);  // not __ldg(): see pdl_wait()
    const auto half = [&](int from) {
      return uint2{every_second<Sample>(v.x, v.y, from), every_second<Sample>(v.z, v.w, from)};
    };
    *reinterpret_cast<uint2*>(luma) = half(args.luma_at);
    *reinterpret_cast<uint2*>(chroma) = half(1 - args.luma_at);
  }
}

class SemiPlanarPlan final : public Plan {
 public:
  SemiPlanarPlan(const Device& device, const PlanDesc& desc, std::unique_ptr<Plan> planes)
      : capability_(device.capability), bytes_(bytes_per_sample(desc.layout.type)), planes_(std::move(planes)) {
    const PlaneLayout& plane = desc.layout.plane[0];
    const Component& luma = plane.component[luma_index(plane)];
    args_.samples = 2 * luma.width, args_.height = luma.height, args_.luma_at = luma.offset;
    args_.blocks_x = (args_.samples * bytes_ - 1) / (vector_bytes * threads) + 1;
    blocks_ = checked_blocks(std::int64_t{args_.blocks_x} * args_.height);
    // Whole groups of the widest loads that kernels make, which may end behind a row's end.
    const std::size_t stride = (static_cast<std::size_t>(luma.width) * bytes_ + 255) / 256 * 256;
    const std::size_t size = stride * static_cast<std::size_t>(luma.height);
    memory_ = Table<unsigned char>(device.tables, 4 * size);
    for (int p = 0; p < 2; ++p) {
      in_.plane[p] = {memory_.get() + p * size, static_cast<std::ptrdiff_t>(stride)};
      out_.plane[p] = {memory_.get() + (2 + p) * size, static_cast<std::ptrdiff_t>(stride)};
    }
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    const char* split_error = move(window.image[0]->plane[0], in_, false, stream);
    Window planes;
    planes.depth = 1, planes.image[0] = &in_;
    const char* error = planes_->enqueue(planes, out_, stream);
    const char* join_error = move(out.plane[0], out_, true, stream);
    return split_error ? split_error : error ? error : join_error;
  }
  Algorithm algorithm() const override { return planes_->algorithm(); }
  std::string describe() const override { return "as planes of luma and chroma: " + planes_->describe(); }

 private:
  const char* move(const PlaneView& packed, const Image& planes, bool join, void* stream) noexcept {
    args_.packed = packed, args_.luma = planes.plane[0], args_.chroma = planes.plane[1];
    args_.wide = aligned(packed, vector_bytes);
    const auto kernel = bytes_ == 1 ? (join ? move_kernel<std::uint8_t, true> : move_kernel<std::uint8_t, false>)
                                    : (join ? move_kernel<std::uint16_t, true> : move_kernel<std::uint16_t, false>);
    launch_pdl(capability_, kernel, blocks_, dim3(threads), stream, args_);
    return launch_error();
  }

  int capability_, bytes_;
  std::unique_ptr<Plan> planes_;
  unsigned blocks_ = 0;
  Table<unsigned char> memory_;
  Image in_, out_;
  Args args_{};
};

}  // namespace

bool is_large_packed_422(const PlanDesc& desc) {
  return is_packed_422(desc.layout) && is_over_max_taps(desc.filter) && desc.filter.depth() == 1;
}

PlanDesc as_semi_planar(const PlanDesc& desc) {
  PlanDesc planes = desc;
  const PlaneLayout& packed = desc.layout.plane[0];
  FrameLayout& layout = planes.layout;
  layout.planes = 2;
  layout.plane = {};
  const int luma = luma_index(packed);
  layout.plane[0].components = 1;
  layout.plane[0].component[0] = packed.component[luma];
  layout.plane[0].component[0].offset = 0, layout.plane[0].component[0].step = 1;
  layout.plane[1].components = 2;
  for (int c = 0; c < 3; ++c) {
    if (c == luma) continue;
    Component chroma = packed.component[c];
    chroma.offset /= 2, chroma.step = 2;
    layout.plane[1].component[chroma.offset] = chroma;
  }
  return planes;
}

std::unique_ptr<Plan> make_semi_planar(const Device& device, const PlanDesc& desc, std::unique_ptr<Plan> planes) {
  return std::make_unique<SemiPlanarPlan>(device, desc, std::move(planes));
}

}  // namespace convolve::cuda
