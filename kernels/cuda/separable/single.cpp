// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable's kernel in single precision: which cases it serves, which kernel serves them, and
// the grid.
#include "cuda/separable/single.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/four_stream.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/separable/factors.hpp"

namespace convolve::cuda {
namespace {

/// Whether the kernel is one of those that copy some of four components. Copied samples go through it as values, which
/// hold all of their bits where those are 16.
bool copies_components(const FrameLayout& layout, std::size_t terms) {
  if (layout.type != SampleType::u16 || layout.bits != 16 || layout.planes != 1 || terms != 1) return false;
  const std::vector<const Component*> all = all_components(layout);
  return plane_mix(layout) == PlaneMix::four &&
         std::any_of(all.begin(), all.end(), [](const Component* k) { return !k->filtered; });
}

/// The kernel of a size that serves the filter, centred, and that size; null where there is none.
struct Found {
  const SingleKernel* kernel = nullptr;
  const SingleKernel* subnormal = nullptr;  ///< the same by subnormal samples, where there is one
  int width = 0;
};
Found find_kernel(const FrameLayout& layout, const Filter& filter, std::size_t terms) {
  struct TableRow {
    SampleType type;
    PlaneMix mix;
    const SingleKernels* kernels;
    const SingleKernels* subnormal = nullptr;
  };
  static constexpr TableRow table[]{
      {SampleType::u8, PlaneMix::one, &single_u8_one},
      {SampleType::u8, PlaneMix::one_and_two, &single_u8_one_and_two},
      {SampleType::u8, PlaneMix::three, &single_u8_three},
      {SampleType::u8, PlaneMix::four, &single_u8_four},
      {SampleType::u16, PlaneMix::one, &single_u16_one, &single_subnormal_one},
      {SampleType::u16, PlaneMix::one_and_two, &single_u16_one_and_two, &single_subnormal_one_and_two},
      {SampleType::u16, PlaneMix::four, &single_u16_four, &single_subnormal_four},
      {SampleType::f32, PlaneMix::one, &single_f32_one},
  };
  const int width = 2 * std::max(filter.reach_x(), filter.reach_y()) + 1;
  for (const TableRow& row : table)
    if (row.type == layout.type && row.mix == plane_mix(layout))
      for (std::size_t i = 0; i < single_sizes.size(); ++i) {
        const SingleSize size = single_sizes[i];
        const SingleKernel& kernel = (copies_components(layout, terms) ? single_u16_four_copying : *row.kernels)[i];
        if (!kernel.run || size.width < width || size.terms != static_cast<int>(terms)) continue;
        const SingleKernels* const subnormal =
            copies_components(layout, terms) ? &single_subnormal_four_copying : row.subnormal;
        return {&kernel, subnormal && terms == 1 ? &(*subnormal)[i] : nullptr, size.width};
      }
  return {};
}

/// True where the kernel that reads samples as subnormal floats takes 4 % longer than the other: pairs of components
/// under 7 columns of taps, one frame.
bool is_slower(const FrameLayout& layout, int width, int depth) {
  return plane_mix(layout) == PlaneMix::one_and_two && width == 7 && depth == 1;
}

class SingleTilesPlan final : public Plan {
 public:
  SingleTilesPlan(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors)
      : capability_(device.capability), shape_(desc.filter.shape()), terms_(static_cast<int>(factors.space.size())) {
    const FrameLayout& layout = desc.layout;
    const std::vector<SpaceFactors>& terms = factors.space;
    const Found found = find_kernel(layout, desc.filter, terms.size());
    const int width = found.width;
    // Sums have their levels in them while columns are added up.
    std::optional<FoldedPlanes> folded;
    if (found.subnormal && !is_slower(layout, width, desc.filter.depth()))
      folded = folded_planes(desc, arithmetic, desc.filter.height() + 2);
    const SingleKernel& kernel = folded ? *found.subnormal : *found.kernel;
    run_ = desc.filter.depth() == 1 ? kernel.run : kernel.combine;
    shared_ = kernel.shared;
    allow_shared_memory(run_, shared_);
    args_.border = desc.border;
    args_.planes = layout.planes;
    args_.frames = desc.filter.depth();
    args_.centre_t = desc.filter.centre_t();
    args_.numbers = folded ? folded->numbers : make_sample_numbers(layout, arithmetic);
    std::copy(factors.time.begin(), factors.time.end(), args_.time);
    for (std::size_t r = 0; r < terms.size(); ++r) {
      std::copy(terms[r].row.begin(), terms[r].row.end(), args_.row[r] + width / 2 - desc.filter.centre_x());
      std::copy(terms[r].column.begin(), terms[r].column.end(), args_.column[r] + width / 2 - desc.filter.centre_y());
    }
    if (folded) carry_factors(layout.shift);
    const bool copies = copies_components(layout, terms.size());
    std::int64_t blocks = 0;
    for (int p = 0; p < layout.planes; ++p) {
      SamplePlane& plane = args_.plane[p] =
          folded ? folded->plane[p] : make_sample_plane(layout, layout.plane[p], arithmetic);
      if (copies) set_components(layout.plane[p], plane, width, folded.has_value());
      SinglePlane& grid = args_.grid[p];
      grid.first_block = static_cast<int>(blocks);
      grid.tiles_x = (plane.width * plane.components - 1) / SingleTile::width + 1;
      blocks += std::int64_t{grid.tiles_x} * ((plane.height - 1) / single_rows(terms_) + 1);
      checked_blocks(blocks);
    }
    blocks_ = static_cast<unsigned>(blocks);
    bytes_ = bytes_per_sample(layout.type);
    if (terms_ == 1) lay_out_stream(device, desc, arithmetic, factors);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (four_.enqueue(window, out, static_cast<cudaStream_t>(stream))) return launch_error();
    for (int p = 0; p < args_.planes; ++p) {
      SinglePlane& grid = args_.grid[p];
      grid.vectors = true;
      for (int t = 0; t < args_.frames; ++t) {
        const PlaneView view = window.image[t] ? window.image[t]->plane[p] : PlaneView{};
        args_.in[t][p] = view;
        // Tiles that are read at once have all their frames.
        grid.vectors = grid.vectors && view.data && aligned(view, group_alignment(8 * bytes_));
      }
      args_.out[p] = out.plane[p];
      grid.out_vectors = aligned(out.plane[p], group_alignment(4 * bytes_));
    }
    launch_pdl(capability_, run_, blocks_, dim3(SingleTile::threads), stream, args_, static_cast<unsigned>(shared_));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", rank " + std::to_string(terms_) + ", single precision" +
           (args_.frames > 1 ? ", frames combined while loading" : "") +
           (four_.is_laid_out() ? ", " + std::to_string(four_.args.rows) + " rows a warp" : "");
  }

 private:
  /// The stream of rows that is taken where it serves the case, and addresses.
  void lay_out_stream(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                      const Factors& factors) {
    const Filter& filter = desc.filter;
    const int width = 2 * std::max(filter.reach_x(), filter.reach_y()) + 1;
    const bool one = args_.frames == 1;
    // Beyond, tiles are faster unless a remainder step divides.
    if (width > 11 && args_.numbers.division() != Division::remainder) return;
    if (!four_.lay_out(device, desc, arithmetic, width, one ? find_separable_four : find_separable_four_frames)) return;
    const SpaceFactors& space = factors.space.front();
    FourStreamArgs& to = four_.args;
    const int centre = four_.width() / 2;
    float *const row = to.taps, *const column = row + four_.width();
    std::copy(space.row.begin(), space.row.end(), row + centre - filter.centre_x());
    std::copy(space.column.begin(), space.column.end(), column + centre - filter.centre_y());
    const auto first_tap = [&](double tap) { return four_.first_tap(tap); };
    if (one)
      std::transform(row, column, row, first_tap);
    else
      std::transform(factors.time.begin(), factors.time.end(), to.time, first_tap);
  }
  /// Gives the taps what turns subnormal samples into values: what meets the samples first, and what comes after it.
  void carry_factors(int shift) {
    const bool several = args_.frames > 1;
    for (float& weight : args_.time) weight *= first_factor(shift);
    for (float& tap : args_.row[0]) tap *= several ? second_factor : first_factor(shift);
    if (!several)
      for (float& tap : args_.column[0]) tap *= second_factor;
  }
  /// The numbers of each component of the one plane, some of which are copied.
  void set_components(const PlaneLayout& layout, SamplePlane& plane, int width, bool subnormal) {
    for (int c = 0; c < 4; ++c) {
      ComponentNumbers& to = args_.component[c];
      to.copied = !layout.component[c].filtered;
      if (!to.copied) {
        std::copy(std::begin(args_.time), std::end(args_.time), to.time);
        std::copy(std::begin(args_.column[0]), std::end(args_.column[0]), to.column);
        to.gain = args_.numbers.gain, to.gain_low = args_.numbers.gain_low, to.divisor = args_.numbers.divisor;
        continue;
      }
      to.gain = to.divisor = 1;
      to.time[args_.centre_t] = subnormal ? unshifted_factor : 1;
      to.column[width / 2] = subnormal ? second_factor : 1;
      plane.zero[c] = plane.start[c] = 0;
      plane.offset[c] = args_.numbers.division() == Division::product ? args_.numbers.rounding_bias : 0;
    }
  }

  int capability_;
  std::string shape_;
  int terms_;
  SingleArgs args_{};
  FourStream four_;
  void (*run_)(SingleArgs) = nullptr;
  int shared_ = 0;
  unsigned blocks_ = 0;
  int bytes_ = 1;
};

}  // namespace

bool serves_separable_single(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             std::size_t terms) {
  const FrameLayout& layout = desc.layout;
  std::string why;
  if (!has_sample_planes(layout, arithmetic, why) || arithmetic.accumulator == Accumulator::double_) return false;
  const SingleKernel* kernel = find_kernel(layout, desc.filter, terms).kernel;
  if (!kernel || kernel->shared > device.shared_bytes) return false;
  for (int p = 0; p < layout.planes; ++p) {
    const SamplePlane plane = make_sample_plane(layout, layout.plane[p], arithmetic);
    // The kernel takes no zero level from floats, for speed.
    if (layout.type == SampleType::f32 && plane.zero[0] != 0) return false;
    // A lane's samples begin with any of three components.
    for (int c = 1; plane.components == 3 && c < 3; ++c)
      if (plane.zero[c] != plane.zero[0] || plane.ghost[c] != plane.ghost[0] || plane.offset[c] != plane.offset[0])
        return false;
    if (plane.components == 3 && plane.has_passthrough) return false;
  }
  return true;
}

std::unique_ptr<Plan> make_separable_single(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& factors) {
  return std::make_unique<SingleTilesPlan>(device, desc, arithmetic, factors);
}

}  // namespace convolve::cuda
