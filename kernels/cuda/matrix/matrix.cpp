// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `matrix`: which of its kernels serves a case, and the plan of the dense ones (dense.cu), which divides
// planes among blocks. The sparse and the temporal kernels have a plan of their own (tiles.hpp), and so have those of
// warpgroups (hopper/wgmma.hpp). kernels/README.md draws the products.
#include "cuda/matrix/matrix.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "convolve/arithmetic.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/dense_args.hpp"
#include "cuda/matrix/dense_tuning.hpp"
#include "cuda/matrix/hopper/wgmma.hpp"
#include "cuda/matrix/packed_422.hpp"
#include "cuda/matrix/tiles.hpp"
#include "cuda/matrix/triples.hpp"

namespace convolve::cuda {
namespace {

/// True where warpgroups make it, if they serve it.
bool is_groups(const PlanDesc& desc) {
  return !fits_dense(desc.filter) || max_components_of(desc.layout) == 3;
}

bool is_temporal_u16(const PlanDesc& desc) {
  return desc.layout.type == SampleType::u16 && desc.filter.depth() > 1;
}

class MatrixPlan final : public Plan {
 public:
  MatrixPlan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps)
      : capability_(device.capability),
        shape_(desc.filter.shape()),
        max_(max_components_of(desc.layout)),
        limbs_(taps.limbs),
        radius_(dense_radius(desc.filter)) {
    set_dense_filter(args_, desc, taps);
    args_.planes = desc.layout.planes;
    args_.max = 0x01010101u * static_cast<unsigned>(desc.layout.max_value());
    for (int p = 0; p < desc.layout.planes; ++p) set_plane(args_.plane[p], desc.layout.plane[p], desc.border);
    Joined tables;
    const std::size_t matrices = tables.add(dense_matrix_taps(desc.filter, taps, radius_)),
                      fixed = tables.add(taps.fixed), levels = tables.add(dense_levels(taps, args_));
    tables_ = Table<std::byte>(device.tables, tables.bytes());
    args_.taps = array_at<uint4>(tables_, matrices);
    args_.fixed = array_at<int>(tables_, fixed);
    args_.levels = array_at<MatrixLevels>(tables_, levels);
    kernel_ = dense_matrix_kernel(radius_, taps, max_);
    const int resident = matrix_tile(max_, max_, radius_, limbs_).blocks_resident;
    args_.wave = static_cast<unsigned>(device.multiprocessors * dense_warps * resident);
    more_memory_ = residency_limit(reinterpret_cast<const void*>(kernel_), 32 * dense_warps, resident);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = tables_.send(stream)) return error;
    unsigned blocks = 0;
    for (unsigned p = 0; p < args_.planes; ++p) {
      MatrixPlane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.first_block = blocks;
      const bool aligned = bits % (4u * plane.components) == 0;
      blocks += set_dense_tiles(plane, matrix_tile(plane.components, max_, radius_, limbs_).rows,
                                aligned && args_.max == ~0u);
    }
    launch_pdl(capability_, kernel_, blocks, dim3(32, dense_warps), stream, args_, more_memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override {
    return "matrix " + shape_ + ", " + std::to_string(limbs_) + " limbs, " + name(args_.epilogue);
  }

 private:
  int capability_;
  std::string shape_;
  int max_, limbs_, radius_;
  Table<std::byte> tables_;
  MatrixArgs args_{};
  MatrixKernel kernel_ = nullptr;
  unsigned more_memory_ = 0;
};

LimbSums limb_sums_of(const PlanDesc& desc) {
  if (desc.filter.depth() > 1) return LimbSums::joined;
  if (!fits_dense(desc.filter)) return LimbSums::separate;
  return dense_limb_sums(dense_radius(desc.filter), max_components_of(desc.layout));
}

/// What the kernel that serves a case is made of.
struct MatrixCase {
  enum Kernel { none, u16, temporal_u16, triples, groups, dense_or_tiles, packed_422 } kernel = none;
  MatrixTaps taps;
  U16Taps u16_taps;
};

/// `kernel` none: no kernel serves the case, and `why` says what is in the way.
MatrixCase find_case(const Device& device, const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  MatrixCase found;
  why.clear();
  if (device.capability < 80)
    why = "GPUs of compute capability below 8.0";
  else if (layout.type == SampleType::f32 || (layout.type == SampleType::u8 && layout.shift != 0))
    why = "samples other than plain 8-bit ones, and 16-bit ones";
  if (why.empty() && is_packed_422_u8(layout)) {
    if (serves_matrix_packed_422(device, desc, found.taps, why)) found.kernel = MatrixCase::packed_422;
    return found;
  }
  const int most = max_components_of(layout);
  if (why.empty()) serves_planes(desc, why);
  if (is_temporal_u16(desc)) {
    if (why.empty() && serves_matrix_temporal_u16(desc, found.taps, why)) found.kernel = MatrixCase::temporal_u16;
    return found;
  }
  if (layout.type == SampleType::u16) {
    if (why.empty() && serves_matrix_u16(device, desc, found.u16_taps, why)) found.kernel = MatrixCase::u16;
    return found;
  }
  std::string why_not_triples;
  if (why.empty() && most == 3 && desc.filter.depth() > 1 && !serves_matrix_temporal(desc, why_not_triples)) {
    if (serves_matrix_triples(device, desc, found.taps, why_not_triples))
      found.kernel = MatrixCase::triples;
    else
      why = why_not_triples;
    return found;
  }
  std::string why_not_groups;
  if (why.empty() && is_groups(desc) && serves_matrix_wgmma(device, desc, found.taps, why_not_groups)) {
    found.kernel = MatrixCase::groups;
    return found;
  }
  if (why.empty() && ((most == 3 && desc.filter.depth() == 1) || is_over_max_taps(desc.filter))) why = why_not_groups;
  if (why.empty() && desc.filter.depth() > 1)
    serves_matrix_temporal(desc, why);
  else if (why.empty() && !fits_dense(desc.filter))
    serves_matrix_sparse(desc, why);
  if (why.empty() && make_matrix_taps(desc, limb_sums_of(desc), found.taps, why))
    found.kernel = MatrixCase::dense_or_tiles;
  return found;
}

bool serves(const Device& device, const PlanDesc& desc, std::string& why) {
  return find_case(device, desc, why).kernel != MatrixCase::none;
}

std::unique_ptr<Plan> make(const Device& device, const PlanDesc& desc) {
  std::string why;
  if (auto plan = make_matrix_if_served(device, desc, why)) return plan;
  throw PlanError("matrix: " + why);
}

}  // namespace

bool serves_planes(const PlanDesc& desc, std::string& why) {
  const FrameLayout& layout = desc.layout;
  const int most = max_components_of(layout);
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& plane = layout.plane[p];
    if (!plane.uniform() || (most > 2 && plane.components != most)) {
      why = "unevenly interleaved planes, or planes of three or four components beside others";
      return false;
    }
  }
  const bool whole_ghosts = all_filtered(layout, [&](const Component& component, int, int) {
    const double ghost = component.ghost;
    return ghost == static_cast<int>(ghost) && ghost >= 0 && ghost <= layout.max_value();
  });
  if (!has_ghost_cells(desc.border) || whole_ghosts) return true;
  why = "a border value that is no whole code value";
  return false;
}

void set_plane(MatrixPlane& plane, const PlaneLayout& layout, Border border) {
  plane.width = layout.component[0].width;
  plane.height = layout.component[0].height;
  plane.across = edge_axis(border, plane.width);
  plane.down = edge_axis(border, plane.height);
  plane.components = static_cast<std::uint8_t>(layout.components);
  const PlaneMasks masks = plane_masks(layout);
  plane.ghost = masks.ghost;
  plane.passthrough = masks.passthrough;
  plane.passthrough_components = masks.passthrough_components;
}

unsigned set_dense_tiles(MatrixPlane& plane, int rows, bool aligned) noexcept {
  // A width that is no multiple of four leaves out the columns whose inputs reach a side.
  const int odd = plane.width & 3;
  plane.left = odd ? dense_margin : 0;
  plane.right = odd ? plane.width - dense_margin - odd : plane.width;
  if (aligned && plane.right - plane.left >= matrix_tile_width && plane.height >= rows) {
    plane.tiles_x = static_cast<unsigned>((plane.right - 1) / matrix_tile_width + 1);
    plane.tiles = plane.tiles_x * static_cast<unsigned>((plane.height - 1) / rows + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
  } else {
    plane.left = plane.right = 0;
    plane.tiles = 0;
  }
  const std::int64_t columns = plane.left + plane.width - plane.right;
  plane.edge_blocks =
      static_cast<unsigned>((columns * plane.height * plane.components + 32 * dense_warps - 1) / (32 * dense_warps));
  return plane.edge_blocks + (plane.tiles + dense_warps - 1) / dense_warps;
}

std::unique_ptr<Plan> make_matrix_if_served(const Device& device, const PlanDesc& desc, std::string& why) {
  const MatrixCase found = find_case(device, desc, why);
  if (found.kernel == MatrixCase::none) return nullptr;
  if (found.kernel == MatrixCase::u16) return make_matrix_u16(device, desc, found.u16_taps);
  if (found.kernel == MatrixCase::temporal_u16) return make_matrix_temporal_u16(device, desc, found.taps);
  if (found.kernel == MatrixCase::triples) return make_matrix_triples(device, desc, found.taps);
  if (found.kernel == MatrixCase::groups) return make_matrix_wgmma(device, desc, found.taps);
  if (found.kernel == MatrixCase::packed_422) return make_matrix_packed_422(device, desc, found.taps);
  if (desc.filter.depth() > 1) return make_matrix_temporal(device, desc, found.taps);
  if (!fits_dense(desc.filter)) return make_matrix_sparse(device, desc, found.taps);
  return std::make_unique<MatrixPlan>(device, desc, found.taps);
}

const Entry matrix{Algorithm::matrix, serves, make, max_dense_taps};

}  // namespace convolve::cuda
