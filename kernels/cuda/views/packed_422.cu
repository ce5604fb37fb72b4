// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>

#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/table.hpp"
#include "cuda/views/packed_422.hpp"

namespace convolve::cuda {
namespace {

constexpr int threads = 128;

struct MergeArgs {
  PlaneView luma, out;    ///< rows of whole groups of 16 bytes, at addresses of such; and any
  int row_words, height;  ///< pairs of samples in a row: bytes, or 16 bits
  int row_blocks;         ///< of a row
  bool vectors;           ///< addresses and strides of both are multiples of 16
  std::uint32_t mask;     ///< of the luma's bits in each pair
};

/// Takes the luma of each pair from the one frame into the other. Pair: of two bytes or two 16-bit words.
template <class Pair>
__global__ void __launch_bounds__(threads) merge_kernel(const __grid_constant__ MergeArgs args) {
  constexpr int in_group = 16 / sizeof(Pair);
  const Pair mask = static_cast<Pair>(args.mask);
  const int y = blockIdx.x / args.row_blocks;
  const int first = ((blockIdx.x - y * args.row_blocks) * threads + threadIdx.x) * in_group;
  pdl_wait();
  if (first >= args.row_words) return;
  const Pair* from =
      reinterpret_cast<const Pair*>(static_cast<const char*>(args.luma.data) + y * args.luma.stride) + first;
  char* to = static_cast<char*>(args.out.data) + y * args.out.stride + first * static_cast<int>(sizeof(Pair));
  if (args.vectors && first + in_group <= args.row_words) {
    const std::uint32_t bits = sizeof(Pair) == 2 ? args.mask * 0x10001u : args.mask;
    const uint4 luma = *reinterpret_cast<const uint4*>(from);
    uint4 all = *reinterpret_cast<const uint4*>(to);
    all.x = (all.x & ~bits) | (luma.x & bits), all.y = (all.y & ~bits) | (luma.y & bits);
    all.z = (all.z & ~bits) | (luma.z & bits), all.w = (all.w & ~bits) | (luma.w & bits);
    *reinterpret_cast<uint4*>(to) = all;
    return;
  }
  // Any address that a sample may have.
  using Sample = std::conditional_t<sizeof(Pair) == 2, std::uint8_t, std::uint16_t>;
  const int second = mask >> 8 * sizeof(Sample) ? 1 : 0;
  for (int i = 0; i < in_group && first + i < args.row_words; ++i)
    reinterpret_cast<Sample*>(to)[2 * i + second] = reinterpret_cast<const Sample*>(from)[2 * i + second];
}

class Packed422Plan final : public Plan {
 public:
  Packed422Plan(const Device& device, const FrameLayout& layout, std::unique_ptr<Plan> luma,
                std::unique_ptr<Plan> chroma)
      : capability_(device.capability),
        luma_(std::move(luma)),
        chroma_(std::move(chroma)),
        bytes_(bytes_per_sample(layout.type)) {
    const PlaneLayout& plane = layout.plane[0];
    const Component& y = plane.component[luma_index(plane)];
    // Whole groups of the widest loads that kernels make, which may end behind a row's end.
    const std::size_t stride = (static_cast<std::size_t>(y.width) * 2 * bytes_ + 255) / 256 * 256;
    memory_ = Table<unsigned char>(device.tables, stride * static_cast<std::size_t>(y.height));
    filtered_.plane[0] = {memory_.get(), static_cast<std::ptrdiff_t>(stride)};
    args_.luma = filtered_.plane[0];
    args_.row_words = y.width;
    args_.height = y.height;
    args_.mask = (bytes_ == 1 ? 0xFFu : 0xFFFFu) << 8 * bytes_ * y.offset;
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    const char* luma_error = luma_->enqueue(window, filtered_, stream);
    const char* chroma_error = chroma_->enqueue(window, out, stream);
    args_.out = out.plane[0];
    args_.vectors = aligned(args_.out, 16);
    args_.row_blocks = (args_.row_words * 2 * bytes_ - 1) / (16 * threads) + 1;
    launch_pdl(capability_, bytes_ == 1 ? merge_kernel<std::uint16_t> : merge_kernel<std::uint32_t>,
               static_cast<unsigned>(args_.row_blocks * args_.height), dim3(threads), stream, args_);
    const char* error = launch_error();
    return luma_error ? luma_error : chroma_error ? chroma_error : error;
  }
  Algorithm algorithm() const override { return luma_->algorithm(); }
  std::string describe() const override {
    return "luma and chroma apart: " + luma_->describe() + "; " + chroma_->describe();
  }

 private:
  int capability_;
  std::unique_ptr<Plan> luma_, chroma_;
  int bytes_;
  Table<unsigned char> memory_;
  Image filtered_;
  MergeArgs args_{};
};

}  // namespace

bool is_packed_422(const FrameLayout& layout) {
  if (!lies_as_packed_422(layout) || layout.type == SampleType::f32) return false;
  const PlaneLayout& plane = layout.plane[0];
  const int luma = luma_index(plane);
  // The view of four samples a pixel is as wide as the chroma, and the luma's fits in where rows are even.
  if (!plane.component[luma].filtered || plane.component[luma].width % 2 != 0) return false;
  bool any = false;
  for (int c = 0; c < 3; ++c) any |= c != luma && plane.component[c].filtered;
  return any;
}

Packed422 split_packed_422(const PlanDesc& desc) {
  Packed422 views{desc, desc};
  const PlaneLayout& plane = desc.layout.plane[0];
  const Component& y = plane.component[luma_index(plane)];
  PlaneLayout& two = views.luma.layout.plane[0];
  two.components = 2;
  for (int c = 0; c < 2; ++c) {
    two.component[c] = y;
    two.component[c].offset = c;
    two.component[c].filtered = c == y.offset;
  }
  PlaneLayout& four = views.chroma.layout.plane[0];
  four.components = 4;
  const int first = plane.component[0].step == 4 ? 0 : 1;
  for (int c = 0; c < 4; ++c) {
    four.component[c] = plane.component[first];
    four.component[c].offset = c;
    four.component[c].filtered = false;
  }
  for (int c = 0; c < 3; ++c)
    if (plane.component[c].step == 4) four.component[plane.component[c].offset] = plane.component[c];
  for (Component& component : four.component) component.step = 4;
  return views;
}

std::unique_ptr<Plan> make_packed_422(const Device& device, const FrameLayout& layout, std::unique_ptr<Plan> luma,
                                      std::unique_ptr<Plan> chroma) {
  return std::make_unique<Packed422Plan>(device, layout, std::move(luma), std::move(chroma));
}

}  // namespace convolve::cuda
