// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/dispatch.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/views/triples.hpp"

namespace convolve::cuda {
namespace {

constexpr int triple = 3, threads = 128;

template <class Sum>
struct EdgeArgs {
  FrameArgs frame;
  const Sum* taps;
  int columns;  ///< at either side
};

/// Makes the outputs that a filter reaches an edge from, each by a thread.
template <class Sum>
__global__ void __launch_bounds__(threads) edge_kernel(const __grid_constant__ EdgeArgs<Sum> args) {
  const FrameArgs& frame = args.frame;
  const Sum* taps = args.taps;
  const int columns = args.columns;
  pdl_wait();
  const int index = blockIdx.x * threads + threadIdx.x, samples = 2 * columns * frame.components;
  const int y = index / samples, at = index - y * samples, column = at / frame.components;
  const ComponentArgs& component = frame.component[at - column * frame.components];
  if (y >= component.height) return;
  const int x = column < columns ? column : component.width - 2 * columns + column;
  Sum sum = 0;
  for (int t = 0; t < frame.depth; ++t)
    for (int j = 0; j < frame.height; ++j) {
      const auto row = row_at<Sum, std::uint8_t>(frame, component, t, y - frame.centre_y + j);
      for (int i = 0; i < frame.width; ++i) sum += __ldg(taps++) * row.at(x - frame.centre_x + i);
    }
  store_sum<std::uint8_t>(frame, component, x, y, sum);
}

template <class Sum>
class TriplePlan final : public Plan {
 public:
  TriplePlan(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, std::unique_ptr<Plan> view)
      : capability_(device.capability),
        view_(std::move(view)),
        taps_(device.tables, std::vector<Sum>(arithmetic.coefficients.begin(), arithmetic.coefficients.end())),
        args_{make_frame_args(desc, arithmetic), taps_.get(), desc.filter.reach_x()} {}

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = taps_.send(stream)) return error;
    const char* view_error = view_->enqueue(window, out, stream);
    if (args_.columns == 0) return view_error;
    bind(args_.frame, 1, window, out);
    const int samples = 2 * args_.columns * triple * args_.frame.component[0].height;
    launch_pdl(capability_, edge_kernel<Sum>, static_cast<unsigned>((samples - 1) / threads + 1), dim3(threads), stream,
               args_);
    const char* error = launch_error();
    return view_error ? view_error : error;
  }
  Algorithm algorithm() const override { return view_->algorithm(); }
  std::string describe() const override { return "as one component: " + view_->describe(); }

 private:
  int capability_;
  std::unique_ptr<Plan> view_;
  Table<Sum> taps_;
  EdgeArgs<Sum> args_;
};

}  // namespace

bool is_triple(const PlanDesc& desc) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  if (layout.planes != 1 || layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0) return false;
  const PlaneLayout& plane = layout.plane[0];
  if (plane.components != triple || !plane.uniform()) return false;
  for (const Component& k : {plane.component[0], plane.component[1], plane.component[2]})
    if (!k.filtered || k.zero != plane.component[0].zero || k.bias != plane.component[0].bias ||
        k.ghost != plane.component[0].ghost)
      return false;
  // Filters of one frame are left to `register` and to the warpgroups' kernel, which need no second launch.
  if (filter.depth() == 1) return false;
  if (plane.component[0].width < 4 * filter.reach_x() + 1) return false;
  // A new filter has its centre in the middle.
  if (filter.centre_t() != filter.depth() / 2) return false;
  return filter.reach_x() <= 1 && filter.reach_y() <= 3;
}

PlanDesc as_one_component(const PlanDesc& desc) {
  PlanDesc view = desc;
  PlaneLayout& plane = view.layout.plane[0];
  plane.components = 1;
  plane.component[0].step = 1;
  plane.component[0].width *= triple;
  // With the centre in the middle, as a new filter has it.
  const Filter& filter = desc.filter;
  TapArray taps{filter.depth(), 2 * filter.reach_y() + 1, 2 * triple * filter.reach_x() + 1, {}};
  taps.taps.assign(static_cast<std::size_t>(taps.depth) * taps.height * taps.width, Tap::integer(0));
  const int down = filter.reach_y() - filter.centre_y(), right = filter.reach_x() - filter.centre_x();
  std::size_t from = 0;
  for (int t = 0; t < filter.depth(); ++t)
    for (int y = 0; y < filter.height(); ++y)
      for (int x = 0; x < filter.width(); ++x, ++from)
        taps.at(t, y + down, triple * (x + right)) =
            filter.exact() ? Tap::fraction(filter.exact()->taps[from], filter.exact()->divisor)
                           : Tap::real(filter.taps()[from]);
  view.filter = Filter(taps);
  return view;
}

std::unique_ptr<Plan> make_triple(const Device& device, const PlanDesc& desc, std::unique_ptr<Plan> view) {
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  if (arithmetic.accumulator == Accumulator::double_)
    return std::make_unique<TriplePlan<double>>(device, desc, arithmetic, std::move(view));
  return std::make_unique<TriplePlan<float>>(device, desc, arithmetic, std::move(view));
}

}  // namespace convolve::cuda
