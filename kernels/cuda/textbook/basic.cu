// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// basic: one thread an output, filter and frames in global memory, a border test at each tap. Serves every case.
#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/textbook/textbook.hpp"

namespace convolve::cuda {
namespace {

constexpr int block_width = 32, block_height = 8;

template <class Sample, class Sum>
__global__ void __launch_bounds__(block_width* block_height)
    basic_kernel(const __grid_constant__ FrameArgs frame, const Sum* __restrict__ taps) {
  const TileId tile = find_component(frame, blockIdx.x);
  const ComponentArgs& component = frame.component[tile.component];
  const int x = tile.x * block_width + threadIdx.x, y = tile.y * block_height + threadIdx.y;
  if (x >= component.width || y >= component.height) return;
  if (!component.filtered) return copy_sample<Sample>(frame, component, x, y);
  Sum sum = 0;
  for (int t = 0; t < frame.depth; ++t)
    for (int j = 0; j < frame.height; ++j) {
      const auto row = row_at<Sum, Sample>(frame, component, t, y - frame.centre_y + j);
      for (int i = 0; i < frame.width; ++i) sum += *taps++ * row.at(x - frame.centre_x + i);
    }
  store_sum<Sample>(frame, component, x, y, sum);
}

template <class Sample, class Sum>
class Basic final : public Plan {
 public:
  Basic(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic)
      : planes_(desc.layout.planes),
        shape_(desc.filter.shape()),
        frame_(make_frame_args(desc, arithmetic)),
        tiles_(set_tiles(frame_, block_width, block_height)),
        taps_(device.tables, std::vector<Sum>(arithmetic.coefficients.begin(), arithmetic.coefficients.end())) {}

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = taps_.send(stream)) return error;
    bind(frame_, planes_, window, out);
    basic_kernel<Sample, Sum>
        <<<tiles_, dim3(block_width, block_height), 0, static_cast<cudaStream_t>(stream)>>>(frame_, taps_.get());
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::basic; }
  std::string describe() const override { return "basic " + shape_ + ", block 32x8"; }

 private:
  int planes_;
  std::string shape_;
  FrameArgs frame_;
  int tiles_;
  Table<Sum> taps_;
};

bool serves(const Device&, const PlanDesc&, std::string&) {
  return true;
}

std::unique_ptr<Plan> make(const Device& device, const PlanDesc& desc) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  return with_types(desc.layout.type, arithmetic.accumulator, [&]<class Sample, class Sum>() -> std::unique_ptr<Plan> {
    return std::make_unique<Basic<Sample, Sum>>(device, desc, arithmetic);
  });
}

}  // namespace

const Entry basic{Algorithm::basic, serves, make, max_dense_taps};

}  // namespace convolve::cuda
