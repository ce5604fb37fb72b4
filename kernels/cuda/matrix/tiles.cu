// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan behind tiles.cuh, and the samples of planes that are not aligned.
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>

#include "cuda/common/launch.hpp"
#include "cuda/common/limits.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/dense_args.hpp"
#include "cuda/matrix/tiles.cuh"
#include "cuda/matrix/u16_byte_taps.hpp"

namespace convolve::cuda {
namespace {

std::int64_t pieces(std::int64_t length, int piece) {
  return (length + piece - 1) / piece;
}

/// One sample to a thread, at any address.
__global__ void __launch_bounds__(32 * sample_warps) sample_kernel(const __grid_constant__ TileArgs args) {
#if __CUDA_ARCH__ >= 800
  pdl_wait();
  const unsigned p = plane_of_block(args);
  const TilePlane& plane = args.plane[p];
  const int C = plane.components, row_samples = plane.x.length * C;
  const auto [y, at] = sample_place(plane.first_block, row_samples);
  if (y >= plane.y.length) return;
  const int x = at / C, c = at - x * C;
  std::uint8_t& out = plane.out[y * plane.out_stride + at];
  if (plane.passthrough_components >> c & 1) {
    out = __ldg(args.centre[p].data + y * args.centre[p].stride + at);
    return;
  }
  const int ghost = plane.ghost >> 8 * c & 255;
  int sum = args.epilogue == Epilogue::separate_limbs ? 0 : plane.start[c];
  for_each_tap(args, p, x, y, plane.x.length, [&](int tap, const std::uint8_t* row, int column) {
    sum += tap * (column < 0 ? ghost : __ldg(row + column * C + c));
  });
  out = sample_of(args, plane, c, sum);
#endif
}

class TilePlan final : public Plan {
 public:
  TilePlan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps, const TileKernel& kernel)
      : shape_(desc.filter.shape()),
        depth_(desc.filter.depth()),
        bytes_(bytes_per_sample(desc.layout.type)),
        centre_(desc.filter.centre_t()),
        taps_(taps),
        kernel_(kernel) {
    Joined tables;
    const std::size_t matrices = tables.add(kernel.matrices), fixed = tables.add(taps.fixed);
    tables_ = Table<std::byte>(device.tables, tables.bytes());
    kernel_.matrices.clear();
    args_.taps = array_at<uint4>(tables_, matrices);
    args_.fixed = array_at<int>(tables_, fixed);
    args_.depth = depth_;
    args_.planes = desc.layout.planes;
    args_.wave = kernel.wave;
    set_filter(args_, desc, taps);
    args_.mask[0] = (kernel.mask & 255) * 0x01010101u;
    args_.mask[1] = (kernel.mask >> 8 & 255) * 0x01010101u;
    args_.numbers = kernel.numbers;
    // ghosts: what each frame of ghost cells of level 1 would add.
    const std::size_t area = taps.fixed.size() / static_cast<std::size_t>(depth_);
    for (std::size_t i = 0; i < taps.fixed.size(); ++i) frame_sum_[i / area] += taps.fixed[i];
    for (int p = 0; p < desc.layout.planes; ++p) add_plane(desc, p);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    assert(window.depth == depth_ && window.image[centre_]);
    if (const char* error = tables_.send(stream)) return error;
    args_.frames = 0;
    int ghost_sum = 0;
    for (int t = 0; t < depth_; ++t) {
      if (const Image* image = window.image[t]) {
        for (int p = 0; p < args_.planes; ++p) args_.in[args_.frames][p] = frame_of(image->plane[p]);
        args_.tap_frame[args_.frames++] = static_cast<unsigned char>(t);
      } else {
        ghost_sum += frame_sum_[t];
      }
    }
    for (int p = 0; p < args_.planes; ++p) {
      TilePlane& plane = args_.plane[p];
      plane.out = static_cast<std::uint8_t*>(out.plane[p].data);
      plane.out_stride = out.plane[p].stride;
      plane.stride = static_cast<int>(args_.in[0][p].stride);
      args_.centre[p] = frame_of(window.image[centre_]->plane[p]);
      for (int byte = 0; byte < plane.components; ++byte) {
        TilePlane& levels = args_.plane[p + byte / max_components];
        const int c = byte / bytes_, at = byte % max_components;
        const int ghosts = ghost_sum * static_cast<int>(levels.ghost >> 8 * at & 255);
        levels.start[at] = taps_.epilogue == Epilogue::separate_limbs
                               ? taps_.real_start
                               : (byte % bytes_ == 0 ? taps_.start[p][c] : 0) + ghosts;
        levels.base[at] = taps_.base[p][c];
        levels.level[at] = taps_.level[p][c];
      }
    }
    const bool direct = is_direct();
    const int warps = direct ? kernel_.warps : sample_warps;
    unsigned blocks = 0;
    for (int p = 0; p < args_.planes; ++p) {
      TilePlane& plane = args_.plane[p];
      plane.first_block = blocks;
      const std::int64_t samples = static_cast<std::int64_t>(plane.x.length) * plane.y.length * plane.components;
      blocks += static_cast<unsigned>(((direct ? plane.tiles : pieces(samples, 32)) + warps - 1) / warps);
    }
    launch_pdl(kernel_.early,
               direct           ? kernel_.run
               : kernel_.sample ? kernel_.sample
                                : sample_kernel,
               blocks, dim3(32, warps), stream, args_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    return "matrix " + shape_ + ", " + std::to_string(taps_.limbs) + " limbs, " + name(args_.epilogue) + ", " +
           kernel_.name;
  }

 private:
  static TileFrame frame_of(const PlaneView& view) noexcept {
    return {static_cast<const std::uint8_t*>(view.data), view.stride};
  }

  void add_plane(const PlanDesc& desc, int p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    TilePlane& plane = args_.plane[p];
    plane.x = edge_axis(desc.border, layout.component[0].width);
    plane.y = edge_axis(desc.border, layout.component[0].height);
    plane.components = static_cast<std::uint8_t>(bytes_ * layout.components);
    for (int first = 0; first < plane.components; first += max_components) {
      TilePlane& levels = args_.plane[p + first / max_components];
      const PlaneMasks masks = bytes_ == 1 ? plane_masks(layout) : u16_byte_masks(desc.layout, layout, first);
      levels.ghost = masks.ghost;
      levels.passthrough = masks.passthrough;
      levels.passthrough_components = masks.passthrough_components;
    }
    const int bytes = plane.components == 3 ? triple_tile_bytes : tile_bytes;
    plane.band = static_cast<unsigned>(2 * pieces(plane.x.length * plane.components, bytes));
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.band - 1) / plane.band);
    plane.tiles = static_cast<unsigned>(plane.band * pieces(plane.y.length, 2 * kernel_.rows));
  }

  /// True where all frames have the same stride, groups of four pixels are aligned, and offsets fit 32 bits.
  bool is_direct() const noexcept {
    for (int p = 0; p < args_.planes; ++p) {
      const TilePlane& plane = args_.plane[p];
      const std::ptrdiff_t stride = args_.in[0][p].stride;
      auto bits = reinterpret_cast<std::uintptr_t>(plane.out) | static_cast<std::uintptr_t>(plane.out_stride) |
                  static_cast<std::uintptr_t>(stride);
      for (int f = 0; f < args_.frames; ++f) {
        if (args_.in[f][p].stride != stride) return false;
        bits |= reinterpret_cast<std::uintptr_t>(args_.in[f][p].data);
      }
      if (bits % static_cast<unsigned>(group_alignment(4 * plane.components)) != 0 ||
          std::abs(stride) >= std::numeric_limits<int>::max() / plane.y.length)
        return false;
    }
    return true;
  }

  std::string shape_;
  int depth_, bytes_, centre_;  ///< bytes: of a sample
  MatrixTaps taps_;
  TileKernel kernel_;
  int frame_sum_[max_taps] = {};
  Table<std::byte> tables_;
  TileArgs args_{};
};

}  // namespace

bool holds_tiles(const PlanDesc& desc, int rows, std::string& why) {
  const int bytes = bytes_per_sample(desc.layout.type);
  if (bytes == 1 && desc.layout.bits != 8) {
    why = "samples of fewer than 8 bits";
    return false;
  }
  for (int p = 0; p < desc.layout.planes; ++p) {
    const PlaneLayout& plane = desc.layout.plane[p];
    const int width = plane.component[0].width;
    if (width % 4 != 0 || width * plane.components * bytes < tile_bytes || plane.component[0].height < rows) {
      why = "filters over several frames, or of more than 7x9 taps, of planes of fewer than 128 bytes by " +
            std::to_string(rows) + " rows, or of a width that is no multiple of 4";
      return false;
    }
  }
  return true;
}

std::unique_ptr<Plan> make_tile_plan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps,
                                     const TileKernel& kernel) {
  return std::make_unique<TilePlan>(device, desc, taps, kernel);
}

}  // namespace convolve::cuda
