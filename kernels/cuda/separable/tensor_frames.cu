// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of tensor_frames.cuh, and which cases it serves.
#include <algorithm>
#include <cstdint>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/half.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/byte_steps.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/tensor_frames.cuh"

namespace convolve::cuda {
namespace {

using namespace tensor;

/// Which of the kernels makes a layout's planes.
struct FramesKernel {
  int margin;  ///< blocks of 16 bytes that outputs reach on either side
  bool apart;  ///< components are in even bytes or in odd ones
  void (*run)(FramesArgs);
  int shared;  ///< bytes of shared memory

  FramesKernel(const PlanDesc& desc, bool packed, Epilogue epilogue) : apart(true) {
    int step = packed ? 4 : 1;
    for (int p = 0; p < desc.layout.planes && !packed; ++p) {
      step = std::max(step, desc.layout.plane[p].components);
      apart = apart && desc.layout.plane[p].components % 2 == 0;
    }
    margin = desc.filter.reach_x() * step <= block_bytes ? 1 : 2;
    if (margin == 1)
      apart ? choose<1, true>(epilogue) : choose<1, false>(epilogue);
    else
      apart ? choose<2, true>(epilogue) : choose<2, false>(epilogue);
  }
  int matrices() const { return apart ? 2 * (margin + 1) : 2 * margin + 1; }

 private:
  template <int margin, bool apart>
  void choose(Epilogue epilogue) {
    epilogue == Epilogue::scaled ? set<margin, apart, true>() : set<margin, apart, false>();
  }
  template <int margin, bool apart, bool scaled>
  void set() {
    run = frames_kernel<margin, apart, scaled>;
    shared = FramesMemory<margin>::bytes;
  }
};

bool serves(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic, const Factors& factors,
            FrameTaps& taps) {
  bool packed = false;
  const Filter& filter = desc.filter;
  return device.capability >= 90 && factors.space.size() == 1 && has_byte_steps(desc.layout, packed) &&
         filter.depth() > 1 && filter.reach_x() <= max_radius && filter.reach_y() <= max_radius &&
         make_frame_taps(desc, arithmetic, factors.time, factors.space.front(), taps);
}

class FramesPlan final : public Plan {
 public:
  FramesPlan(const Device& device, const PlanDesc& desc, FrameTaps taps)
      : capability_(device.capability),
        frames_(desc),
        taps_(std::move(taps)),
        kernel_(desc, frames_.packed, taps_.taps.epilogue) {
    allow_shared_memory(kernel_.run, kernel_.shared);
    args_.wave = device.multiprocessors * FramesTile::resident;
    const Filter& filter = desc.filter;
    args_.planes = desc.layout.planes;
    args_.border = desc.border;
    args_.above = filter.centre_y();
    args_.lines = FramesTile::rows + filter.height() - 1;
    args_.gain = static_cast<float>(taps_.taps.gain);
    Joined tables;
    std::vector<std::uint32_t> columns;
    const auto column = taps_.taps.column.begin();
    for (int t = 0; t < frames_.depth; ++t)
      add_half_columns({column + t * filter.height(), column + (t + 1) * filter.height()}, filter.centre_y(), columns);
    std::vector<std::uint32_t> chosen;
    add_chosen_columns(chosen);
    const std::size_t columns_at = tables.add(columns), chosen_at = tables.add(chosen);
    std::size_t rows_at[max_planes] = {};
    std::int64_t blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      blocks = set_plane(desc, p, blocks);
      std::vector<std::uint32_t> rows;
      add_half_rows(taps_.taps.row, filter.centre_x(), kernel_.margin, kernel_.apart, args_.plane[p].step, rows);
      rows_at[p] = tables.add(rows);
    }
    blocks_ = static_cast<unsigned>(blocks);
    tables_ = Table<std::byte>(device.tables, tables.bytes());
    args_.columns = array_at<uint4>(tables_, columns_at);
    args_.chosen = array_at<std::uint32_t>(tables_, chosen_at);
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].rows = array_at<uint4>(tables_, rows_at[p]);
  }

  const char* enqueue(const convolve::Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = tables_.send(stream)) return error;
    args_.frames = 0;
    const unsigned missing = frames_.missing(window);
    for (int t = 0; t < frames_.depth; ++t)
      if (!(missing >> t & 1)) args_.tap_frame[args_.frames++] = static_cast<unsigned char>(t);
    args_.start = half_twice(taps_.start_of(missing));
    for (int p = 0; p < args_.planes; ++p) bind_plane(p, window, out, missing);
    launch_pdl(capability_, kernel_.run, blocks_, dim3(FramesTile::threads), stream, args_,
               static_cast<unsigned>(kernel_.shared));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + frames_.shape + ", tensor cores, half precision" + ", frames combined in the column pass" +
           (frames_.packed ? ", luma and chroma at once" : "");
  }

 private:
  std::int64_t set_plane(const PlanDesc& desc, int p, std::int64_t first_block) {
    const PlaneLayout& from = desc.layout.plane[p];
    FramesPlane& to = args_.plane[p];
    for (int b = 0; b < 2; ++b) {
      to.step[b] = step_at(from, frames_.packed, b);
      to.length[b] = frames_.at(p, b).width;
    }
    to.height = from.component[0].height;
    to.row_bytes = to.step[0] * to.length[0];
    for (int b = 0; b < 4; ++b) {
      const double ghost = std::clamp(frames_.at(p, b).ghost, 0.0, 255.0);
      to.ghost |= static_cast<unsigned>(std::nearbyint(ghost)) << 8 * b;
    }
    to.passthrough = frames_.passthrough(p);
    to.matrices = kernel_.matrices();
    to.first_block = static_cast<int>(first_block);
    to.tiles_x = (to.row_bytes - 1) / FramesTile::bytes + 1;
    const std::int64_t end = first_block + std::int64_t{to.tiles_x} * ((to.height - 1) / FramesTile::rows + 1);
    checked_blocks(end);
    return end;
  }

  void bind_plane(int p, const convolve::Window& window, const Image& out, unsigned missing) noexcept {
    const PlaneLayout& layout = frames_.layout.plane[p];
    FramesPlane& plane = args_.plane[p];
    plane.wide = true;
    for (int f = 0; f < args_.frames; ++f) {
      const PlaneView& from = window.image[args_.tap_frame[f]]->plane[p];
      plane.in[f] = static_cast<const std::uint8_t*>(from.data);
      plane.in_stride[f] = from.stride;
      plane.wide = plane.wide && aligned(from, block_bytes);
    }
    const PlaneView &centre = window.image[frames_.centre]->plane[p], &to = out.plane[p];
    plane.centre = static_cast<const std::uint8_t*>(centre.data);
    plane.centre_stride = centre.stride;
    plane.out = static_cast<std::uint8_t*>(to.data);
    plane.out_stride = to.stride;
    plane.out_wide = aligned(to, block_bytes);
    plane.whole = plane.wide ? plane.row_bytes / block_bytes * block_bytes : 0;
    plane.wraps =
        is_periodic(args_.border) && plane.whole == plane.row_bytes && plane.row_bytes >= kernel_.margin * block_bytes;
    for (int b = 0; b < 4; ++b) {
      const Component& component = at_byte(layout, frames_.packed, b);
      plane.from[b] =
          static_cast<float>(taps_.from_of(p, index_at(layout, frames_.packed, b), component.ghost, missing));
    }
  }

  int capability_;
  ByteFrames frames_;
  FrameTaps taps_;
  FramesKernel kernel_;
  Table<std::byte> tables_;
  FramesArgs args_{};
  unsigned blocks_ = 0;
};

}  // namespace

bool serves_separable_frames(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const Factors& factors) {
  FrameTaps taps;
  return serves(device, desc, arithmetic, factors, taps);
}

std::unique_ptr<Plan> make_separable_frames(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& factors) {
  FrameTaps taps;
  if (!serves(device, desc, arithmetic, factors, taps)) return nullptr;
  return std::make_unique<FramesPlan>(device, desc, std::move(taps));
}

}  // namespace convolve::cuda
