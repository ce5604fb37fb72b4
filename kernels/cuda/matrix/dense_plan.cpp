// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan of `matrix` with dense products of bytes: one filter of up to 7x9 taps over one frame, planes of evenly
// interleaved components. The kernels are in dense.cu; each block makes tiles, or single samples, of one plane.
#include <cuda_runtime.h>

#include <memory>

#include "cuda/common/launch.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/dense_args.hpp"
#include "cuda/matrix/dense_tuning.hpp"

namespace convolve::cuda {
namespace {

class DensePlan final : public Plan {
 public:
  DensePlan(const Device& device, const PlanDesc& desc, const MatrixTaps& taps)
      : capability_(device.capability),
        shape_(desc.filter.shape()),
        components_(max_components_of(desc.layout)),
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
    kernel_ = dense_matrix_kernel(radius_, taps, components_);
    const int resident = matrix_tile(components_, components_, radius_, limbs_).blocks_resident;
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
      blocks += set_dense_tiles(plane, matrix_tile(plane.components, components_, radius_, limbs_).rows,
                                aligned_for_tiles(plane, bits) && args_.max == ~0u);
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
  int components_;  ///< the most of a plane
  int limbs_, radius_;
  Table<std::byte> tables_;
  MatrixArgs args_{};
  MatrixKernel kernel_ = nullptr;
  unsigned more_memory_ = 0;
};

}  // namespace

std::unique_ptr<Plan> make_matrix_dense(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  return std::make_unique<DensePlan>(device, desc, taps);
}

}  // namespace convolve::cuda
