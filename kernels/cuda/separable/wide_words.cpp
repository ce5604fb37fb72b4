// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan of separable's kernel for 16-bit samples and 16 to 31 taps an axis.
#include "cuda/separable/wide_words.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cuda/common/folded_planes.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/separable/factors.hpp"

namespace convolve::cuda {
namespace {

/// The smallest kernel that has room for the filter, centred; null where there is none.
const WideKernel* find_kernel(const FrameLayout& layout, const Filter& filter) {
  const PlaneMix mix = plane_mix(layout);
  if (layout.type != SampleType::u16 || filter.depth() != 1 || (mix != PlaneMix::one && mix != PlaneMix::one_and_two))
    return nullptr;
  const int width = 2 * std::max(filter.reach_x(), filter.reach_y()) + 1;
  for (const WideKernel& kernel : mix == PlaneMix::one ? wide_words_one : wide_words_one_and_two)
    if (kernel.width >= width) return &kernel;
  return nullptr;
}

class WidePlan final : public Plan {
 public:
  WidePlan(const Device& device, const PlanDesc& desc, const WideKernel& kernel, const SpaceFactors& factors,
           const FoldedPlanes& folded)
      : capability_(device.capability), shape_(desc.filter.shape()), kernel_(kernel) {
    allow_shared_memory(kernel.run, kernel.shared);
    SingleArgs& args = args_.single;
    args.border = desc.border;
    args.planes = desc.layout.planes;
    args.frames = 1;
    args.numbers = folded.numbers;
    const float first = first_factor(desc.layout.shift);
    float *const row = args_.row + kernel.width / 2 - desc.filter.centre_x(), *const column = args_.column +
                                                                                              kernel.width / 2 -
                                                                                              desc.filter.centre_y();
    for (std::size_t k = 0; k < factors.row.size(); ++k) row[k] = static_cast<float>(factors.row[k]) * first;
    for (std::size_t k = 0; k < factors.column.size(); ++k)
      column[k] = static_cast<float>(factors.column[k]) * second_factor;
    std::int64_t blocks = 0;
    for (int p = 0; p < args.planes; ++p) {
      const SamplePlane& plane = args.plane[p] = folded.plane[p];
      SinglePlane& grid = args.grid[p];
      grid.first_block = static_cast<int>(blocks);
      grid.tiles_x = (plane.width * plane.components - 1) / SingleTile::width + 1;
      blocks += std::int64_t{grid.tiles_x} * ((plane.height - 1) / WideTile::rows + 1);
      checked_blocks(blocks);
    }
    blocks_ = static_cast<unsigned>(blocks);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    SingleArgs& args = args_.single;
    for (int p = 0; p < args.planes; ++p) {
      args.in[0][p] = window.image[0]->plane[p];
      args.out[p] = out.plane[p];
      args.grid[p].vectors = aligned(args.in[0][p], group_alignment(16));
      args.grid[p].out_vectors = aligned(out.plane[p], group_alignment(8));
    }
    launch_pdl(capability_, kernel_.run, blocks_, dim3(SingleTile::threads), stream, args_,
               static_cast<unsigned>(kernel_.shared));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", rank 1, single precision, tiles of " + std::to_string(WideTile::rows) + " rows";
  }

 private:
  int capability_;
  std::string shape_;
  WideKernel kernel_;
  WideArgs args_{};
  unsigned blocks_ = 0;
};

}  // namespace

std::unique_ptr<Plan> make_separable_wide_words(const Device& device, const PlanDesc& desc,
                                                const Arithmetic& arithmetic) {
  const WideKernel* const kernel = find_kernel(desc.layout, desc.filter);
  if (!kernel || kernel->shared > device.shared_bytes || !desc.filter.space_factors()) return nullptr;
  const Filter& filter = desc.filter;
  const double roundings = filter.sum_abs() * (filter.height() + filter.width() + 3);
  const std::optional<FoldedPlanes> folded = folded_planes(desc, arithmetic, roundings, filter.height() + 2);
  if (!folded) return nullptr;
  return std::make_unique<WidePlan>(device, desc, *kernel, in_numbers_of(arithmetic, *desc.filter.space_factors()),
                                    *folded);
}

}  // namespace convolve::cuda
