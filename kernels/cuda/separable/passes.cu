// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable for filters of any size, up to 255 taps an axis, alone or with one more tap at the centre: a row pass into
// device memory, and a column pass from there, in single or double precision; what the tensor cores serve is in
// large.cu. Two launches a frame of the window; frames that share their factors are combined while the row pass loads
// them. The taps ride in the kernels' parameters, which are constant memory.
//
//   frame(s) ──row_kernel──> rows ──column_kernel──> sums ──┐        of one frame, or of frames combined: no sums
//                            centres ────────┘       └──────┴──> frame, once the last frame of the window is in
//
// Each thread makes 4 neighbours in a row, or `column_outputs` rows of a column, and keeps their sums in registers, so
// that what it reads from shared or device memory serves as many multiply-adds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/wide_words.hpp"

namespace convolve::cuda {
namespace {

constexpr int threads = 128;
constexpr int row_outputs = 4, row_tile = threads * row_outputs;  ///< of a thread, and of a block
constexpr int max_row_taps = (max_factored_taps + row_outputs - 1) / row_outputs * row_outputs;
template <class Sum>
constexpr int column_outputs = sizeof(Sum) == 4 ? 16 : 8;
/// The rows that a thread of the column pass reads, at most: whole rounds of as many as it makes.
template <class Sum>
constexpr int max_column_taps =
    (max_factored_taps + 2 * column_outputs<Sum> - 2) / column_outputs<Sum>* column_outputs<Sum>;

/// One component, as the row pass sees it, and its blocks.
struct RowComponent {
  std::uint8_t plane, offset, step, filtered;
  int width, height, first_block, blocks_x;
  int pitch;  ///< sums from row to row: whole groups of a thread's outputs
  float zero;
  double ghost;            ///< level of ghost cells less `zero`
  std::int64_t first_sum;  ///< where its sums begin in `rows` and `centres`
};

template <class Sum>
struct RowArgs {
  PlaneView in[max_depth][max_planes];  ///< the frames to combine; null data: a frame of ghost cells
  RowComponent component[max_frame_components];
  Sum weight[max_depth];  ///< of each frame
  Sum taps[max_row_taps];
  Sum centre;  ///< the tap at the centre beside the product
  Sum *rows, *centres;
  std::int16_t components, frames, count, centre_x, shift;
  Border border;
};

template <class Sum>
struct ColumnArgs {
  PlaneView in[max_planes], out[max_planes];  ///< `in`: the centre frame, for components that are copied
  ComponentArgs component[max_frame_components];
  std::int64_t first_sum[max_frame_components];
  int pitch[max_frame_components];
  Sum taps[max_column_taps<Sum>];  ///< with zeros behind, for rows that a thread's first outputs do not reach
  Sum row_sum;                     ///< what the row pass makes of cells that are all 1
  const Sum *rows, *centres;       ///< `centres` is null where there is none
  Sum* sums;                       ///< of the frames before this one
  std::int16_t components, count, centre_y, shift;
  bool first, last;  ///< of the window's frames
  Border border;
};
static_assert(sizeof(RowArgs<double>) <= 4096 && sizeof(ColumnArgs<double>) <= 4096);

/// The window's frames at one position of a row, weighed. `x` may lie outside.
template <class Sample, class Sum>
__device__ __forceinline__ Sum combined(const RowArgs<Sum>& args, const RowComponent& component, int x, int y) {
  x = index_at(args.border, x, component.width);
  Sum sum = 0;
  for (int t = 0; t < args.frames; ++t) {
    const PlaneView& plane = args.in[t][component.plane];
    Sum value = static_cast<Sum>(component.ghost);
    if (plane.data != nullptr && x >= 0) {
      const auto* row = reinterpret_cast<const Sample*>(static_cast<const char*>(plane.data) + y * plane.stride);
      value = from_sample<Sum>(__ldg(row + component.offset + static_cast<std::ptrdiff_t>(x) * component.step),
                               args.shift, component.zero);
    }
    sum += args.weight[t] * value;
  }
  return sum;
}

/// The cells of a block's row, where the window is one frame and all of them lie inside of it.
template <class Sample, class Sum>
__device__ __forceinline__ void load_inside(const RowArgs<Sum>& args, const RowComponent& component, int x, int y,
                                            int count, Sum* cells) {
  const PlaneView& plane = args.in[0][component.plane];
  const auto* from = reinterpret_cast<const Sample*>(static_cast<const char*>(plane.data) + y * plane.stride) +
                     component.offset + static_cast<std::ptrdiff_t>(x) * component.step;
  const Sum weight = args.weight[0];
#pragma unroll
  for (int k = 0; k < (row_tile + max_row_taps) / threads; ++k) {
    const int i = k * threads + threadIdx.x;
    cells[i] =
        i < count ? weight * from_sample<Sum>(__ldg(from + i * component.step), args.shift, component.zero) : Sum{0};
  }
}

template <class Sample, class Sum>
__global__ void __launch_bounds__(threads) row_kernel(const __grid_constant__ RowArgs<Sum> args) {
  // The last taps of a row that is padded to whole groups meet cells that no output needs.
  __shared__ __align__(16) Sum cells[row_tile + max_row_taps];
  int c = 0;
  while (c + 1 < args.components && static_cast<int>(blockIdx.x) >= args.component[c + 1].first_block) ++c;
  const RowComponent& component = args.component[c];
  const int block = blockIdx.x - component.first_block, y = block / component.blocks_x;
  const int left = (block - y * component.blocks_x) * row_tile;
  const int outputs = min(row_tile, component.width - left), reached = outputs + args.count - 1;
  const int first = left - args.centre_x;
  if (args.frames == 1 && first >= 0 && first + reached <= component.width && args.in[0][component.plane].data)
    load_inside<Sample>(args, component, first, y, reached, cells);
  else
    for (int i = threadIdx.x; i < row_tile + max_row_taps; i += threads)
      cells[i] = i < reached ? combined<Sample>(args, component, first + i, y) : Sum{0};
  __syncthreads();
  const int x = threadIdx.x * row_outputs;
  if (x >= outputs) return;
  Sum sum[row_outputs] = {}, cell[2 * row_outputs];
#pragma unroll
  for (int i = 0; i < row_outputs; ++i) cell[row_outputs + i] = cells[x + i];
  for (int base = 0; base < args.count; base += row_outputs) {
#pragma unroll
    for (int i = 0; i < row_outputs; ++i) {
      cell[i] = cell[row_outputs + i];
      cell[row_outputs + i] = cells[x + base + row_outputs + i];
    }
#pragma unroll
    for (int k = 0; k < row_outputs; ++k)
#pragma unroll
      for (int j = 0; j < row_outputs; ++j) sum[j] += args.taps[base + k] * cell[k + j];
  }
  // Rows are padded to whole groups.
  const std::int64_t to = component.first_sum + static_cast<std::int64_t>(y) * component.pitch + left + x;
  *reinterpret_cast<Samples<Sum, row_outputs>*>(args.rows + to) = {sum[0], sum[1], sum[2], sum[3]};
  if (args.centres) {
    const Sum* const at = cells + args.centre_x + x;
    *reinterpret_cast<Samples<Sum, row_outputs>*>(args.centres + to) = {args.centre * at[0], args.centre * at[1],
                                                                        args.centre * at[2], args.centre * at[3]};
  }
}

template <class Sample, class Sum>
__global__ void __launch_bounds__(threads) column_kernel(const __grid_constant__ ColumnArgs<Sum> args) {
  constexpr int outputs = column_outputs<Sum>;
  int c = 0;
  while (c + 1 < args.components && static_cast<int>(blockIdx.x) >= args.component[c + 1].first_tile) ++c;
  const ComponentArgs& component = args.component[c];
  const int tile = blockIdx.x - component.first_tile, tile_y = tile / component.tiles_x;
  const int x = (tile - tile_y * component.tiles_x) * threads + threadIdx.x, top = tile_y * outputs;
  if (x >= component.width) return;
  const int lines = min(outputs, component.height - top);
  if (!component.filtered) {
    for (int j = 0; args.last && j < lines; ++j)
      *sample_at<Sample>(args.out[component.plane], component, x, top + j) =
          *sample_at<const Sample>(args.in[component.plane], component, x, top + j);
    return;
  }
  const std::int64_t first = args.first_sum[c] + x;
  const Sum ghost = static_cast<Sum>(component.ghost) * args.row_sum;
  Sum sum[outputs];
#pragma unroll
  for (int j = 0; j < outputs; ++j) {
    const std::int64_t at = first + static_cast<std::int64_t>(top + j) * args.pitch[c];
    sum[j] = !args.first && j < lines ? args.sums[at] : Sum{0};
    if (args.centres && j < lines) sum[j] += args.centres[at];
  }
  // Input row i meets output j with tap i - j. The last taps stay in registers, tap k in place k % outputs: a row takes
  // in one, and it takes the place of the one that no output needs any more. Rows beyond the last meet zeros.
  const Sum* const rows = args.rows + first;
  const int pitch = args.pitch[c], height = component.height, above = top - args.centre_y;
  Sum tap[outputs] = {};
#pragma unroll 1
  for (int base = 0; base < args.count + outputs - 1; base += outputs) {
    Sum cell[outputs];
    const bool inside = above + base >= 0 && above + base + outputs <= height;
#pragma unroll
    for (int i = 0; i < outputs; ++i) {
      const int y = inside ? above + base + i : index_at(args.border, above + base + i, height);
      cell[i] = y < 0 ? ghost : rows[static_cast<std::int64_t>(y) * pitch];
    }
#pragma unroll
    for (int i = 0; i < outputs; ++i) {
      tap[i] = args.taps[base + i];
#pragma unroll
      for (int j = 0; j < outputs; ++j) sum[j] += tap[(i - j + outputs) % outputs] * cell[i];
    }
  }
#pragma unroll
  for (int j = 0; j < outputs; ++j) {
    if (j >= lines) break;
    if (args.last)
      *sample_at<Sample>(args.out[component.plane], component, x, top + j) =
          quantize<Sample>(sum[j], component.quantizer, args.shift);
    else
      args.sums[first + static_cast<std::int64_t>(top + j) * args.pitch[c]] = sum[j];
  }
}

/// What one pair of launches computes: some frames of the window, combined, by one set of factors.
struct Pass {
  int first_frame = 0, frames = 1;
  std::vector<double> weight, row, column;
  double centre = 0;
};

/// The passes of a filter that has frame_factors(), in the numbers of its arithmetic.
std::vector<Pass> passes_of(const Filter& filter, const Arithmetic& arithmetic) {
  const bool combined = combines_frames(filter);
  const std::vector<FrameFactors> frames = combined ? filter.space_filter().frame_factors() : filter.frame_factors();
  std::vector<Pass> passes;
  for (const FrameFactors& frame : frames) {
    Pass& pass = passes.emplace_back();
    pass.first_frame = static_cast<int>(passes.size()) - 1;
    pass.weight = {1.0};
    SpaceFactors factors = in_numbers_of(arithmetic, frame.factors);
    pass.row = std::move(factors.row), pass.column = std::move(factors.column);
    pass.centre = arithmetic.exact_taps ? frame.exact_centre : frame.centre;
    if (!combined) continue;
    pass.frames = filter.depth();
    pass.weight = frame_weights(filter, arithmetic);
  }
  return passes;
}

template <class Sample, class Sum>
class PassesPlan final : public Plan {
 public:
  PassesPlan(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes), centre_t_(desc.filter.centre_t()), shape_(desc.filter.shape()) {
    FrameArgs frame = make_frame_args(desc, arithmetic);
    column_blocks_ = set_tiles(frame, threads, column_outputs<Sum>);
    passes_ = passes_of(desc.filter, arithmetic);
    row_args_.border = column_args_.border = desc.border;
    row_args_.shift = column_args_.shift = frame.shift;
    row_args_.components = column_args_.components = frame.components;
    row_args_.count = static_cast<std::int16_t>(desc.filter.width());
    row_args_.centre_x = static_cast<std::int16_t>(desc.filter.centre_x());
    column_args_.count = static_cast<std::int16_t>(desc.filter.height());
    column_args_.centre_y = static_cast<std::int16_t>(desc.filter.centre_y());
    std::int64_t sums = 0, blocks = 0;
    for (int c = 0; c < frame.components; ++c) {
      const ComponentArgs& from = column_args_.component[c] = frame.component[c];
      RowComponent& to = row_args_.component[c];
      to.plane = from.plane, to.offset = from.offset, to.step = from.step, to.filtered = from.filtered;
      to.width = from.width, to.height = from.height, to.zero = from.zero, to.ghost = from.ghost;
      to.first_sum = column_args_.first_sum[c] = sums;
      to.first_block = static_cast<int>(blocks);
      to.blocks_x = (from.width - 1) / row_tile + 1;
      to.pitch = column_args_.pitch[c] = (from.width + row_outputs - 1) / row_outputs * row_outputs;
      if (!from.filtered) continue;
      sums += std::int64_t{to.pitch} * from.height;
      blocks += std::int64_t{to.blocks_x} * from.height;
      if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
    }
    row_blocks_ = static_cast<unsigned>(blocks);
    const bool centred = std::any_of(passes_.begin(), passes_.end(), [](const Pass& pass) { return pass.centre != 0; });
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(sums, 1));
    rows_ = Table<Sum>(device.tables, room);
    if (centred) centres_ = Table<Sum>(device.tables, room);
    if (passes_.size() > 1) sums_ = Table<Sum>(device.tables, room);
    row_args_.rows = rows_.get(), row_args_.centres = centres_.get();
    column_args_.rows = rows_.get(), column_args_.centres = centres_.get(), column_args_.sums = sums_.get();
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < planes_; ++p) {
      column_args_.in[p] = window.image[centre_t_]->plane[p];
      column_args_.out[p] = out.plane[p];
    }
    const char* error = nullptr;
    for (const Pass& pass : passes_) {
      set(pass, window);
      column_args_.first = &pass == &passes_.front(), column_args_.last = &pass == &passes_.back();
      const auto cuda_stream = static_cast<cudaStream_t>(stream);
      if (row_blocks_ > 0) row_kernel<Sample, Sum><<<row_blocks_, threads, 0, cuda_stream>>>(row_args_);
      column_kernel<Sample, Sum><<<column_blocks_, threads, 0, cuda_stream>>>(column_args_);
      if (const char* failed = launch_error(); failed && !error) error = failed;
    }
    return error;
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (centres_.get() ? " with a centre tap" : "") + ", rows and columns in " +
           std::to_string(2 * passes_.size()) + " launches" + (sizeof(Sum) == 8 ? ", double precision" : "");
  }

 private:
  void set(const Pass& pass, const Window& window) noexcept {
    row_args_.frames = static_cast<std::int16_t>(pass.frames);
    double all = 0, weights = 0;
    for (int t = 0; t < pass.frames; ++t) {
      const Image* image = window.image[pass.first_frame + t];
      for (int p = 0; p < planes_; ++p) row_args_.in[t][p] = image ? image->plane[p] : PlaneView{};
      row_args_.weight[t] = static_cast<Sum>(pass.weight[t]);
      weights += pass.weight[t];
    }
    std::fill(std::begin(row_args_.taps), std::end(row_args_.taps), Sum{0});
    for (std::size_t k = 0; k < pass.row.size(); ++k) {
      row_args_.taps[k] = static_cast<Sum>(pass.row[k]);
      all += pass.row[k];
    }
    row_args_.centre = static_cast<Sum>(pass.centre);
    std::fill(std::begin(column_args_.taps), std::end(column_args_.taps), Sum{0});
    for (std::size_t k = 0; k < pass.column.size(); ++k) column_args_.taps[k] = static_cast<Sum>(pass.column[k]);
    column_args_.row_sum = static_cast<Sum>(all * weights);
  }

  int planes_, centre_t_;
  std::string shape_;
  std::vector<Pass> passes_;
  RowArgs<Sum> row_args_{};
  ColumnArgs<Sum> column_args_{};
  unsigned row_blocks_ = 0;
  int column_blocks_ = 0;
  Table<Sum> rows_, centres_, sums_;
};

/// The factors and the arithmetic of a filter on all components of a layout.
Arithmetic arithmetic_of(const PlanDesc& desc) {
  const bool constant = has_ghost_cells(desc.border);
  const std::vector<const Component*> components = all_components(desc.layout);
  return frame_factors_arithmetic(desc.filter, choose_arithmetic(desc.filter, desc.layout, constant, components),
                                  desc.layout, constant, components);
}

}  // namespace

bool repeats_by_fours(const FrameLayout& layout) {
  const PlaneMix mix = plane_mix(layout);
  if (mix != PlaneMix::three) return mix != PlaneMix::none;
  return std::all_of(layout.plane.begin(), layout.plane.begin() + layout.planes, is_filtered_alike);
}

bool passes_on_tensor_cores(const Device& device, const PlanDesc& desc) {
  const Arithmetic arithmetic = arithmetic_of(desc);
  return serves_separable_byte_box(device, desc, arithmetic) || serves_separable_large(device, desc, arithmetic);
}

std::unique_ptr<Plan> make_separable_passes(const Device& device, const PlanDesc& desc) {
  const Arithmetic arithmetic = arithmetic_of(desc);
  if (auto plan = make_separable_wide_words(device, desc, arithmetic)) return plan;
  if (auto plan = make_separable_box(device, desc, arithmetic)) return plan;
  if (auto plan = make_separable_byte_box(device, desc, arithmetic)) return plan;
  if (auto plan = make_separable_large(device, desc, arithmetic)) return plan;
  return with_types(desc.layout.type, arithmetic.accumulator, [&]<class Sample, class Sum>() -> std::unique_ptr<Plan> {
    return std::make_unique<PassesPlan<Sample, Sum>>(device, desc, arithmetic);
  });
}

}  // namespace convolve::cuda
