// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix, bytes of three components in turn, over several frames: which cases triples.cuh serves, and its plan.
#include <algorithm>
#include <cassert>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/triples.cuh"

namespace convolve::cuda {
namespace triples {
namespace {

template <int radius>
auto kernel_of_limbs(int limbs) {
  return limbs == 1 ? triples_kernel<radius, 1> : triples_kernel<radius, 2>;
}

auto kernel_for(int radius, int limbs) {
  return radius == 1 ? kernel_of_limbs<1>(limbs) : radius == 2 ? kernel_of_limbs<2>(limbs) : kernel_of_limbs<3>(limbs);
}

class TriplesPlan final : public Plan {
 public:
  TriplesPlan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps)
      : capability_(device.capability),
        shape_(desc.filter.shape()),
        limbs_(taps.limbs),
        start_(taps.start[0][0]),
        centre_(desc.filter.centre_t()) {
    const PlaneLayout& plane = desc.layout.plane[0];
    const int radius = std::max(1, desc.filter.reach_y());
    tables_ = Table<std::uint32_t>(device.tables, left_matrices(desc.filter, taps, radius));
    kernel_ = kernel_for(radius, taps.limbs);
    args_.taps = reinterpret_cast<const uint4*>(tables_.get());
    args_.depth = desc.filter.depth();
    args_.width = plane.component[0].width;
    args_.height = plane.component[0].height;
    args_.row_bytes = 3 * args_.width;
    args_.tiles_x = (args_.row_bytes - 1) / tile_bytes + 1;
    args_.border = desc.border;
    args_.ghost = static_cast<std::uint8_t>(plane_masks(plane).ghost);
    args_.epilogue = taps.epilogue;
    args_.gain = taps.gain;
    args_.gain_low = taps.gain_low;
    args_.level = taps.level[0][0];
    blocks_ = checked_blocks(std::int64_t{args_.tiles_x} * ((args_.height - 1) / tile_rows + 1));
    const std::size_t area = taps.fixed.size() / static_cast<std::size_t>(args_.depth);
    for (std::size_t i = 0; i < taps.fixed.size(); ++i) frame_sum_[i / area] += taps.fixed[i];
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    assert(window.depth == args_.depth && window.image[centre_]);
    if (const char* error = tables_.send(stream)) return error;
    args_.frames = 0;
    args_.start = start_;
    args_.wide = true;
    for (int t = 0; t < args_.depth; ++t) {
      if (const Image* image = window.image[t]) {
        const PlaneView& from = image->plane[0];
        args_.in[args_.frames] = static_cast<const std::uint8_t*>(from.data);
        args_.in_stride[args_.frames] = from.stride;
        args_.tap_frame[args_.frames++] = static_cast<unsigned char>(t);
        args_.wide = args_.wide && aligned(from, block_bytes);
      } else {
        args_.start += frame_sum_[t] * args_.ghost;
      }
    }
    const PlaneView& to = out.plane[0];
    args_.out = static_cast<std::uint8_t*>(to.data);
    args_.out_stride = to.stride;
    args_.out_wide = aligned(to, block_bytes);
    launch_pdl(capability_, kernel_, blocks_, dim3(threads), stream, args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    return "matrix " + shape_ + ", " + std::to_string(limbs_) + " limbs, " + name(args_.epilogue) +
           ", three components";
  }

 private:
  int capability_;
  std::string shape_;
  int limbs_, start_, centre_;
  int frame_sum_[max_taps] = {};
  Table<std::uint32_t> tables_;
  TripleArgs args_{};
  void (*kernel_)(TripleArgs) = nullptr;
  unsigned blocks_ = 0;
};

}  // namespace
}  // namespace triples

bool serves_matrix_triples(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  const FrameLayout& layout = desc.layout;
  why.clear();
  if (device.capability < 90)
    why = "three components on GPUs of compute capability below 9.0";
  else if (plane_mix(layout) != PlaneMix::three || layout.planes > 1 || layout.type != SampleType::u8 ||
           layout.bits != 8 || layout.shift != 0 || !is_filtered_alike(layout.plane[0]))
    why = "three components that are not all filtered, and alike, or not of 8 bits";
  else if (desc.filter.reach_y() > triples::max_radius || desc.filter.reach_x() > triples::max_reach_x)
    why = "three components and filters of more than 7x11 taps";
  else if (desc.filter.rank() == 1)
    why = "three components and filters over several frames that factor, which separable is faster at";
  return why.empty() && make_matrix_taps(desc, LimbSums::joined, taps, why);
}

std::unique_ptr<Plan> make_matrix_triples(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  return std::make_unique<triples::TriplesPlan>(device, desc, taps);
}

}  // namespace convolve::cuda
