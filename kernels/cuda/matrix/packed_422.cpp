// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/matrix/packed_422.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/dense_args.hpp"
#include "cuda/matrix/dense_tuning.hpp"
#include "cuda/matrix/packed_422.cuh"
#include "cuda/matrix/wgmma.hpp"

namespace convolve::cuda {
namespace {

/// True where packed_422.cu serves the filter.
bool is_small(const Filter& filter) {
  return filter.depth() == 1 && fits_dense(filter);
}

/// The case with a pair of pixels as one pixel of four components. The last pair of an odd row, which need not be whole
/// in memory, is left out.
PlanDesc as_pairs(const PlanDesc& desc) {
  PlanDesc pairs = desc;
  const PlaneLayout& from = desc.layout.plane[0];
  PlaneLayout& plane = pairs.layout.plane[0];
  plane.components = 4;
  for (int c = 0; c < from.components; ++c)
    for (int b = from.component[c].offset; b < 4; b += from.component[c].step)
      plane.component[static_cast<std::size_t>(b)] = from.component[c];
  const int width = from.component[luma_index(from)].width / 2;
  for (int b = 0; b < 4; ++b) {
    Component& component = plane.component[static_cast<std::size_t>(b)];
    component.offset = b;
    component.step = 4;
    component.width = width;
  }
  return pairs;
}

class Packed422Plan final : public Plan {
 public:
  Packed422Plan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps)
      : capability_(device.capability),
        shape_(desc.filter.shape()),
        limbs_(taps.limbs),
        tile_(packed_422_tile(dense_radius(desc.filter), taps.limbs)) {
    MatrixArgs& matrix = args_.matrix;
    set_plane(matrix.plane[0], as_pairs(desc).layout.plane[0], desc.border);
    const PlaneLayout& layout = desc.layout.plane[0];
    const Component& luma = layout.component[luma_index(layout)];
    args_.luma_width = luma.width;
    args_.luma_offset = luma.offset;
    args_.order = packed_422_order(luma.offset);
    set_dense_filter(matrix, desc, taps);
    matrix.planes = 1;
    matrix.max = ~0u;
    Joined tables;
    const std::size_t matrices = tables.add(dense_matrix_taps(desc.filter, taps, dense_radius(desc.filter))),
                      fixed = tables.add(taps.fixed), levels = tables.add(dense_levels(taps, matrix));
    tables_ = Table<std::byte>(device.tables, tables.bytes());
    matrix.taps = array_at<uint4>(tables_, matrices);
    matrix.fixed = array_at<int>(tables_, fixed);
    matrix.levels = array_at<MatrixLevels>(tables_, levels);
    kernel_ = packed_422_kernel(dense_radius(desc.filter), taps);
    matrix.wave = static_cast<unsigned>(device.multiprocessors * dense_warps * tile_.blocks_resident);
    more_memory_ = residency_limit(reinterpret_cast<const void*>(kernel_), 32 * dense_warps, tile_.blocks_resident);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = tables_.send(stream)) return error;
    MatrixPlane& plane = args_.matrix.plane[0];
    const std::uintptr_t bits = bind(plane, window.image[0]->plane[0], out.plane[0]);
    const unsigned blocks = set_tiles(plane, bits % 16 == 0);
    launch_pdl(capability_, kernel_, blocks, dim3(32, dense_warps), stream, args_, more_memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    return "matrix " + shape_ + ", " + std::to_string(limbs_) + " limbs, " + name(args_.matrix.epilogue) +
           ", luma and chroma at once";
  }

 private:
  /// Lays out the tiles, as set_dense_tiles() does for other planes: they leave out the columns whose inputs reach a
  /// side where rows are no whole groups of four pairs.
  unsigned set_tiles(MatrixPlane& plane, bool aligned) const noexcept {
    const int rest = plane.width & 3, pairs = (args_.luma_width + 1) / 2;
    const bool whole = args_.luma_width % 8 == 0;
    plane.left = whole ? 0 : dense_margin;
    plane.right = whole ? plane.width : plane.width - dense_margin - rest;
    if (aligned && plane.right - plane.left >= matrix_tile_width && plane.height >= tile_.rows) {
      plane.tiles_x = static_cast<unsigned>((plane.right - 1) / matrix_tile_width + 1);
      plane.tiles = plane.tiles_x * static_cast<unsigned>((plane.height - 1) / tile_.rows + 1);
      plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    } else {
      plane.left = plane.right = 0;
      plane.tiles = 0;
    }
    const std::int64_t bytes = 4ll * (plane.left + pairs - plane.right) * plane.height;
    plane.edge_blocks = static_cast<unsigned>((bytes + 32 * dense_warps - 1) / (32 * dense_warps));
    return plane.edge_blocks + (plane.tiles + dense_warps - 1) / dense_warps;
  }

  int capability_;
  std::string shape_;
  int limbs_;
  MatrixTile tile_;
  Table<std::byte> tables_;
  Packed422Args args_{};
  Packed422Kernel kernel_ = nullptr;
  unsigned more_memory_ = 0;
};

}  // namespace

bool is_packed_422_u8(const FrameLayout& layout) {
  if (!lies_as_packed_422(layout) || layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0)
    return false;
  const PlaneLayout& plane = layout.plane[0];
  const int luma = luma_index(plane);
  unsigned offsets = 0;
  for (int c = 0; c < 3; ++c)
    if (c != luma) offsets |= 1u << plane.component[c].offset;
  return offsets == (plane.component[luma].offset == 0 ? 0b1010u : 0b0101u);
}

bool serves_matrix_packed_422(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  const PlanDesc pairs = as_pairs(desc);
  if (!serves_planes(pairs, why)) return false;
  if (all_filtered(pairs.layout, [](const Component&, int, int) { return false; })) {
    why = "packed 4:2:2 with nothing to filter";
    return false;
  }
  if (is_small(desc.filter)) return make_matrix_taps(pairs, LimbSums::separate_float, taps, why);
  const PlaneLayout& layout = desc.layout.plane[0];
  if (layout.component[luma_index(layout)].width % 2 != 0) {
    why = "packed 4:2:2 of an odd width with filters over several frames or of more than 7x9 taps";
    return false;
  }
  if (desc.filter.depth() == 1) return serves_matrix_wgmma_422(device, pairs, taps, why);
  return serves_matrix_temporal_422(pairs, why) && make_matrix_taps(pairs, LimbSums::joined, taps, why);
}

std::unique_ptr<Plan> make_matrix_packed_422(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  if (is_small(desc.filter)) return std::make_unique<Packed422Plan>(device, desc, taps);
  const PlaneLayout& layout = desc.layout.plane[0];
  const int luma = layout.component[luma_index(layout)].offset;
  return desc.filter.depth() == 1 ? make_matrix_wgmma_422(device, as_pairs(desc), luma, taps)
                                  : make_matrix_temporal_422(device, as_pairs(desc), luma, taps);
}

}  // namespace convolve::cuda
