// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable: filters that are the product of a column and a row, or the sum of two or three of those, both passes on
// chip. Here: what is served, and the kernel that serves all of rank 1, whatever the sample type, layout, precision or
// alignment. A block adds up the frames of the window while it loads its tile into shared memory, filters the tile's
// rows, then its columns. The fast kernels are in tensor.cu (one frame of bytes), frame_rows.cu (bytes over a few
// frames, small real taps), tensor_frames.cu (other bytes over several frames, and packed 4:2:2) and single.cuh (16
// bits, floats, and the bytes that the tensor cores do not serve); filters of over 15 taps an axis are in large.cu
// (bytes) and passes.cu.
#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/separable.hpp"
#include "cuda/separable/tuning.hpp"

namespace convolve::cuda {
namespace {

template <class Sum>
struct Args {
  FrameArgs frame;
  Sum time[max_taps], column[max_taps], row[max_taps];
};

/// The window's frames at one position, weighed.
template <class Sample, class Sum>
__device__ Sum combined(const Args<Sum>& args, const ComponentArgs& component, int x, int y) {
  x = border_index(args.frame.border, x, component.width);
  y = border_index(args.frame.border, y, component.height);
  const Sum ghost = static_cast<Sum>(component.ghost);
  Sum sum = 0;
  for (int t = 0; t < args.frame.depth; ++t) {
    const Source<Sample, Sum> source(args.frame, component, t);
    sum += args.time[t] * (x < 0 || y < 0 || source.is_ghost() ? ghost : source.inside(x, y));
  }
  return sum;
}

template <class Sample, class Sum>
__global__ void __launch_bounds__(SharedTile::threads) shared_kernel(const __grid_constant__ Args<Sum> args) {
  constexpr int width = SharedTile::width, height = SharedTile::height, halo = max_taps - 1;
  __shared__ Sum cells[height + halo][width + halo];
  __shared__ Sum rows[height + halo][width];
  const FrameArgs& frame = args.frame;
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int left = tile.x * width, top = tile.y * height;
  const int columns = min(width, component.width - left), lines = min(height, component.height - top);
  if (!component.filtered) {
    for (int i = threadIdx.x; i < width * lines; i += SharedTile::threads)
      if (i % width < columns) copy_sample<Sample>(frame, component, left + i % width, top + i / width);
    return;
  }
  const int cells_x = columns + frame.width - 1, cells_y = lines + frame.height - 1;
  for (int i = threadIdx.x; i < cells_y * (width + halo); i += SharedTile::threads) {
    const int x = i % (width + halo), y = i / (width + halo);
    if (x < cells_x)
      cells[y][x] = combined<Sample>(args, component, left - frame.centre_x + x, top - frame.centre_y + y);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < cells_y * width; i += SharedTile::threads) {
    const int x = i % width, y = i / width;
    if (x >= columns) continue;
    Sum sum = 0;
    for (int k = 0; k < frame.width; ++k) sum += args.row[k] * cells[y][x + k];
    rows[y][x] = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < lines * width; i += SharedTile::threads) {
    const int x = i % width, y = i / width;
    if (x >= columns) continue;
    Sum sum = 0;
    for (int k = 0; k < frame.height; ++k) sum += args.column[k] * rows[y + k][x];
    store_sum<Sample>(frame, component, left + x, top + y, sum);
  }
}

template <class Sample, class Sum>
class SharedPlan final : public Plan {
 public:
  SharedPlan(const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors)
      : planes_(desc.layout.planes), shape_(desc.filter.shape()) {
    args_.frame = make_frame_args(desc, arithmetic);
    tiles_ = set_tiles(args_.frame, SharedTile::width, SharedTile::height);
    std::copy(factors.time.begin(), factors.time.end(), args_.time);
    const SpaceFactors& space = factors.space.front();
    std::copy(space.column.begin(), space.column.end(), args_.column);
    std::copy(space.row.begin(), space.row.end(), args_.row);
  }
  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    bind(args_.frame, planes_, window, out);
    shared_kernel<Sample, Sum><<<tiles_, SharedTile::threads, 0, static_cast<cudaStream_t>(stream)>>>(args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", shared memory, tile " + std::to_string(SharedTile::width) + "x" +
           std::to_string(SharedTile::height);
  }

 private:
  int planes_, tiles_;
  std::string shape_;
  Args<Sum> args_{};
};

/// Without terms where the filter has no such factors.
Factors factors_of(const PlanDesc& desc, const Arithmetic& arithmetic) {
  const Filter& filter = desc.filter;
  const bool frames = filter.depth() > 1;
  if (frames && !combines_frames(filter)) return {};
  const Filter space = filter.space_filter();
  Factors factors{{1.0}, {}};
  if (frames) factors.time = frame_weights(filter, arithmetic);
  if (space.space_factors())
    factors.space = {in_numbers_of(arithmetic, *space.space_factors())};
  else
    factors.space = low_rank_terms(filter, arithmetic, desc.layout, has_ghost_cells(desc.border));
  return factors;
}

/// The factors and the arithmetic of a filter on a layout.
struct Decomposition {
  Arithmetic arithmetic;
  Factors factors;
};
Decomposition decompose(const PlanDesc& desc) {
  const bool constant = has_ghost_cells(desc.border);
  const Arithmetic direct = choose_arithmetic(desc.filter, desc.layout, constant);
  const Arithmetic of_terms = low_rank_arithmetic(desc.filter, direct, desc.layout, constant);
  const Arithmetic arithmetic = floats_arithmetic(desc, of_terms);
  return {arithmetic, factors_of(desc, arithmetic)};
}

/// The factors of a filter that has a tap at the centre beside them; null for others.
const FrameFactors* centred_factors(const Filter& filter) {
  const std::vector<FrameFactors>& frames = filter.frame_factors();
  return frames.size() == 1 && frames[0].centre != 0 ? &frames[0] : nullptr;
}

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  if (is_over_max_taps(desc.filter)) {
    if (!desc.filter.frame_factors().empty()) return true;
    why = "a filter of over " + std::to_string(max_taps) +
          " taps an axis that is no column times a row, nor that and " + "one more tap at the centre";
    return false;
  }
  const auto [arithmetic, factors] = decompose(desc);
  if (const FrameFactors* frame = centred_factors(desc.filter);
      frame && serves_separable_tensor(device, desc, arithmetic, frame->factors, frame->centre))
    return true;
  const std::size_t terms = factors.space.size();
  if (terms == 0)
    why = "a filter that is no sum of up to " + std::to_string(max_terms) + " products of a column and a row";
  else if (terms > 1 && !serves_separable_single(device, desc, arithmetic, terms))
    why = "a filter of rank " + std::to_string(terms) + " on this layout, or in double precision";
  else
    return true;
  return false;
}

/// Makes a plan for any number of frames and any alignment.
std::unique_ptr<Plan> make_any(const Device& device, const PlanDesc& desc, const Decomposition& it) {
  if (auto plan = make_separable_frames(device, desc, it.arithmetic, it.factors)) return plan;
  if (serves_separable_single(device, desc, it.arithmetic, it.factors.space.size()))
    return make_separable_single(device, desc, it.arithmetic, it.factors);
  if (it.factors.space.size() != 1) throw PlanError("the frame is too large for one launch");
  return with_types(desc.layout.type, it.arithmetic.accumulator,
                    [&]<class Sample, class Sum>() -> std::unique_ptr<Plan> {
                      return std::make_unique<SharedPlan<Sample, Sum>>(desc, it.arithmetic, it.factors);
                    });
}

std::unique_ptr<Plan> make(const Device& device, const PlanDesc& desc) {
  if (is_over_max_taps(desc.filter)) return make_separable_passes(device, desc);
  const Decomposition it = decompose(desc);
  if (const FrameFactors* frame = centred_factors(desc.filter))
    if (auto plan = make_separable_tensor(device, desc, it.arithmetic, frame->factors, frame->centre)) return plan;
  if (it.factors.space.size() == 1)
    if (auto plan = make_separable_tensor(device, desc, it.arithmetic, it.factors.space.front())) return plan;
  const auto make_unaligned = [&] { return make_any(device, desc, it); };
  if (auto plan = make_separable_frame_rows(device, desc, it.arithmetic, it.factors, make_unaligned)) return plan;
  return make_any(device, desc, it);
}

}  // namespace

bool separable_on_tensor_cores(const Device& device, const PlanDesc& desc) {
  if (is_over_max_taps(desc.filter)) return passes_on_tensor_cores(device, desc);
  const Decomposition it = decompose(desc);
  const FrameFactors* frame = centred_factors(desc.filter);
  return (frame && serves_separable_tensor(device, desc, it.arithmetic, frame->factors, frame->centre)) ||
         (it.factors.space.size() == 1 &&
          serves_separable_tensor(device, desc, it.arithmetic, it.factors.space.front(), 0)) ||
         serves_separable_frames(device, desc, it.arithmetic, it.factors);
}

bool separable_streams_rows(const Device&, const PlanDesc& desc) {
  if (is_over_max_taps(desc.filter)) return false;
  const Decomposition it = decompose(desc);
  return serves_separable_frame_rows(desc, it.arithmetic, it.factors);
}

const Entry separable{Algorithm::separable, serves, make, max_factored_taps};

}  // namespace convolve::cuda
