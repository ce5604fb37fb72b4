// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// register: each thread keeps sums of outputs in registers, and streams the rows that touch them from global memory:
// every input sample is loaded and converted once, then added into each output it belongs to. After Iandola et al.,
// "Communication-Minimizing 2D Convolution in GPU Registers" (2013), who keep the window instead of the sums. No
// shared memory, but for filters of over 15 taps an axis (large_tile.cu); coefficients ride in the kernel's parameters.
// Here: its plans, and the table of the register tile's kernels.
#include <algorithm>

#include "cuda/common/four_stream.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/register/frame_stream.hpp"
#include "cuda/register/half_stream.hpp"
#include "cuda/register/large_tile.hpp"
#include "cuda/register/register.hpp"
#include "cuda/register/row_stream.hpp"
#include "cuda/register/tile.cuh"
#include "cuda/register/tile_args.hpp"

namespace convolve::cuda {
namespace {

using RegisterTileLaunch = void (*)(const RegisterTileArgs& args, int blocks, cudaStream_t stream);

template <class Sample, PlaneMix mix, int width>
void launch(const RegisterTileArgs& args, int blocks, cudaStream_t stream) {
  register_tile_kernel<Sample, mix, width><<<blocks, 32 * register_warps, 0, stream>>>(args);
}

/// The kernels of a layout, by width class.
using LaunchRow = std::array<RegisterTileLaunch, register_classes.size()>;
template <class Sample, PlaneMix mix>
constexpr LaunchRow launches{launch<Sample, mix, register_classes[0]>, launch<Sample, mix, register_classes[1]>,
                             launch<Sample, mix, register_classes[2]>, launch<Sample, mix, register_classes[3]>};

const LaunchRow* find_register_tile(SampleType type, PlaneMix mix) {
  struct KernelRow {
    SampleType type;
    PlaneMix mix;
    const LaunchRow* launch;
  };
  static constexpr KernelRow kernels[]{
      {SampleType::u8, PlaneMix::one, &launches<std::uint8_t, PlaneMix::one>},
      {SampleType::u8, PlaneMix::one_and_two, &launches<std::uint8_t, PlaneMix::one_and_two>},
      {SampleType::u8, PlaneMix::three, &launches<std::uint8_t, PlaneMix::three>},
      {SampleType::u8, PlaneMix::four, &launches<std::uint8_t, PlaneMix::four>},
      {SampleType::u16, PlaneMix::one, &launches<std::uint16_t, PlaneMix::one>},
      {SampleType::u16, PlaneMix::one_and_two, &launches<std::uint16_t, PlaneMix::one_and_two>},
      {SampleType::u16, PlaneMix::four, &launches<std::uint16_t, PlaneMix::four>},
      {SampleType::f32, PlaneMix::one, &launches<float, PlaneMix::one>},
  };
  for (const KernelRow& row : kernels)
    if (row.type == type && row.mix == mix) return row.launch;
  return nullptr;
}

class RegisterPlan final : public Plan {
 public:
  RegisterPlan(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic)
      : capability_(device.capability),
        shape_(desc.filter.shape()),
        depth_(desc.filter.depth()),
        padded_(pad_filter(desc.filter)) {
    const FrameLayout& layout = desc.layout;
    const PlaneMix mix = plane_mix(layout);
    tile_ = (*find_register_tile(layout.type, mix))[padded_.index];
    tile_blocks_ = fill_register_tile(tile_args_, desc, arithmetic, padded_);
    for (int p = 0; p < layout.planes; ++p)
      tile_alignment_[p] = group_alignment(4 * layout.plane[p].components * bytes_per_sample(layout.type));
    if (!padded_.square) return;
    stream_args_.planes = layout.planes;
    stream_args_.numbers = tile_args_.numbers;
    std::copy_n(tile_args_.plane, layout.planes, stream_args_.plane);
    const int top = padded_.width / 2 - desc.filter.centre_y();
    if (depth_ > 1) {
      lay_out_frame_stream(device, desc, arithmetic, top);
      return;
    }
    if (make_half_taps(desc, arithmetic, half_args_.taps)) {
      lay_out_half_stream(device, desc);
      return;
    }
    if (four_.lay_out(device, desc, arithmetic, padded_.width, find_register_four)) {
      pad_taps(spatial_coefficients(desc.filter, arithmetic), desc.filter, padded_.width, padded_.width, top,
               four_.args.taps);
      for (float& tap : four_.args.taps) tap = four_.first_tap(tap);
    }
    stream_ = find_row_stream(layout.type, mix, padded_.index);
    if (!stream_) return;
    pad_taps(spatial_coefficients(desc.filter, arithmetic), desc.filter, padded_.width, padded_.width, top,
             stream_args_.taps);
    read_as_subnormal(desc, arithmetic);
    stream_blocks_ = lay_out_row_stream(stream_args_, desc.border, layout.type, padded_.width, row_stream_pixels,
                                        device.multiprocessors, stream_->resident());
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (four_.enqueue(window, out, static_cast<cudaStream_t>(stream))) return launch_error();
    bool whole = stream_blocks_ > 0, all_frames = frame_stream_ && stream_blocks_ > 0;
    for (int p = 0; p < tile_args_.planes; ++p) {
      RegisterTilePlane& grid = tile_args_.grid[p];
      grid.vectors = true;
      for (int t = 0; t < depth_; ++t) {
        tile_args_.in[t][p] = window.image[t] ? window.image[t]->plane[p] : PlaneView{};
        // Kernels for windows inside the frame know no ghost frames.
        const PlaneView& view = tile_args_.in[t][p];
        grid.vectors = grid.vectors && window.image[t] && aligned(view, tile_alignment_[p]);
        all_frames = all_frames && view.data && view.stride == tile_args_.in[0][p].stride &&
                     aligned(view, stream_args_.grid[p].alignment);
      }
      tile_args_.out[p] = stream_args_.out[p] = out.plane[p];
      grid.out_vectors = aligned(out.plane[p], tile_alignment_[p]);
      const PlaneView& in = stream_args_.in[p] = tile_args_.in[0][p];
      whole = whole && in.data && aligned(in, stream_args_.grid[p].alignment) &&
              aligned(out.plane[p], stream_args_.grid[p].alignment);
    }
    const auto queue = static_cast<cudaStream_t>(stream);
    if (whole && all_frames)
      launch_frame_stream(queue);
    else if (whole && in_halves_)
      enqueue_half_stream(queue);
    else if (whole && stream_)
      stream_->launch(capability_, stream_args_, stream_blocks_, queue);
    else
      tile_(tile_args_, tile_blocks_, queue);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::register_; }
  std::string describe() const override {
    const std::string columns = "register " + shape_ + ", as " + std::to_string(padded_.width) + " columns";
    if (four_.is_laid_out())
      return columns + ", through shared memory, " + std::to_string(four_.args.rows) + " rows a warp";
    if (stream_blocks_ > 0)
      return columns + (in_halves_ ? ", half precision" : "") + ", " + std::to_string(stream_args_.rows) +
             " rows a warp";
    return columns + (padded_.combined > 1 ? ", frames combined while loading" : "");
  }

 private:
  /// The grid is the row stream's.
  void lay_out_frame_stream(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, int top) {
    const FrameStreamKernel* const kernel = find_frame_stream(desc.layout.type, padded_);
    if (!kernel) return;
    pad_taps(arithmetic.coefficients, desc.filter, padded_.width, padded_.width, top, frame_args_.taps);
    stream_blocks_ = lay_out_row_stream(stream_args_, desc.border, desc.layout.type, padded_.width, row_stream_pixels,
                                        device.multiprocessors, kernel->resident());
    frame_stream_ = kernel;
    frame_args_.planes = stream_args_.planes;
    frame_args_.frames = depth_;
    frame_args_.centre_t = desc.filter.centre_t();
    frame_args_.rows = stream_args_.rows;
    std::copy_n(stream_args_.plane, max_planes, frame_args_.plane);
    std::copy_n(stream_args_.grid, max_planes, frame_args_.grid);
    frame_args_.numbers = stream_args_.numbers;
  }
  /// Lets the row stream read samples as subnormal floats, where that is right.
  void read_as_subnormal(const PlanDesc& desc, const Arithmetic& arithmetic) {
    const FrameLayout& layout = desc.layout;
    const RowStreamKernel* const kernel = find_subnormal_row_stream(plane_mix(layout), padded_.index);
    if (!kernel || layout.type != SampleType::u16) return;
    const auto folded = folded_planes(desc, arithmetic, desc.filter.count() + 2);
    if (!folded) return;
    stream_ = kernel;
    stream_args_.numbers = folded->numbers;
    stream_args_.numbers.gain *= second_factor, stream_args_.numbers.gain_low *= second_factor;
    std::copy_n(folded->plane, layout.planes, stream_args_.plane);
    for (int p = 0; p < layout.planes; ++p)
      for (float& start : stream_args_.plane[p].start) start /= second_factor;
    for (float& tap : stream_args_.taps) tap *= first_factor(layout.shift);
  }
  void lay_out_half_stream(const Device& device, const PlanDesc& desc) {
    stream_blocks_ = lay_out_row_stream(
        stream_args_, desc.border, desc.layout.type, padded_.width, [](int, int) { return half_stream_span; },
        device.multiprocessors, resident_half_streams());
    static_cast<RowStreamFrame&>(half_args_) = stream_args_;
    in_halves_ = true;
  }
  void enqueue_half_stream(cudaStream_t queue) noexcept {
    half_args_.in[0] = stream_args_.in[0];
    half_args_.out[0] = stream_args_.out[0];
    launch_half_stream(capability_, half_args_, stream_blocks_, queue);
  }
  void launch_frame_stream(cudaStream_t queue) noexcept {
    for (int p = 0; p < frame_args_.planes; ++p) {
      for (int t = 0; t < depth_; ++t) frame_args_.in[t][p] = tile_args_.in[t][p];
      frame_args_.out[p] = tile_args_.out[p];
    }
    frame_stream_->launch(capability_, frame_args_, stream_blocks_, queue);
  }

  int capability_;
  std::string shape_;
  int depth_;
  PaddedFilter padded_;
  RegisterTileArgs tile_args_{};
  RowStreamArgs stream_args_{};
  int tile_alignment_[max_planes] = {};
  int tile_blocks_ = 0, stream_blocks_ = 0;
  RegisterTileLaunch tile_ = nullptr;
  const RowStreamKernel* stream_ = nullptr;
  FrameStreamArgs frame_args_{};
  const FrameStreamKernel* frame_stream_ = nullptr;
  FourStream four_;
  HalfStreamArgs half_args_{};
  bool in_halves_ = false;
};

Arithmetic arithmetic_of(const PlanDesc& desc) {
  return floats_arithmetic(desc, choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border)));
}

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  const Arithmetic arithmetic = arithmetic_of(desc);
  if (is_over_max_taps(desc.filter)) return serves_large_tile(device, desc, arithmetic, why);
  const PaddedFilter padded = pad_filter(desc.filter);
  if (!has_sample_planes(layout, arithmetic, why)) return false;
  if (!find_register_tile(layout.type, plane_mix(layout)))
    why = "so many components of this sample type";
  else if (padded.sums * desc.filter.height() * padded.width > max_coefficients)
    why = "a filter of " + desc.filter.shape() + " taps that is no product of time and space";
  else
    return true;
  return false;
}

std::unique_ptr<Plan> make(const Device& device, const PlanDesc& desc) {
  const Arithmetic arithmetic = arithmetic_of(desc);
  if (is_over_max_taps(desc.filter)) return make_large_tile(desc, arithmetic);
  return std::make_unique<RegisterPlan>(device, desc, arithmetic);
}

}  // namespace

const Entry register_{Algorithm::register_, serves, make, max_dense_taps};

}  // namespace convolve::cuda
