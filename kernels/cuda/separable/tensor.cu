// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of separable's tensor kernel. Its taps, and which cases they serve, are made in tensor_taps.cpp.
#include <cstdlib>
#include <limits>

#include "cuda/common/byte_planes.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/packed_422.hpp"
#include "cuda/common/sample_plane.hpp"
#include "cuda/common/table.hpp"
#include "cuda/separable/factors.hpp"
#include "cuda/separable/tensor.cuh"
#include "cuda/separable/tensor_taps.hpp"
#include "cuda/separable/triples.cuh"

namespace convolve::cuda {
namespace {

using namespace tensor;

template <Epilogue epilogue>
auto kernel_for(PlaneMix mix) {
  if (mix == PlaneMix::none) return packed_kernel<epilogue>;
  if (mix == PlaneMix::three) return triples_kernel<epilogue>;
  return mix == PlaneMix::one           ? tensor_kernel<epilogue, 1>
         : mix == PlaneMix::one_and_two ? tensor_kernel<epilogue, 3>
                                        : tensor_kernel<epilogue, 4>;
}

auto kernel_for(Epilogue epilogue, PlaneMix mix) {
  switch (epilogue) {
    case Epilogue::saturate:
      return kernel_for<Epilogue::saturate>(mix);
    case Epilogue::centre_tap:
      return kernel_for<Epilogue::centre_tap>(mix);
    case Epilogue::scaled:
      return kernel_for<Epilogue::scaled>(mix);
    case Epilogue::magic_number:
      return kernel_for<Epilogue::magic_number>(mix);
    default:  // make_tensor_taps() chooses among these five
      return kernel_for<Epilogue::biased>(mix);
  }
}

/// Threads of a block, and blocks of a multiprocessor.
struct BlockShape {
  int threads, blocks;
};
BlockShape block_shape(PlaneMix mix) {
  if (mix == PlaneMix::three) return {TripleTile::threads, TripleTile::blocks};
  const int components = mix == PlaneMix::one ? 1 : mix == PlaneMix::one_and_two ? 3 : 4;
  return {TensorTile::threads(components), TensorTile::blocks(components)};
}

/// A pixel of four components, as the bytes of a pair of packed 4:2:2 are.
PlaneLayout as_pairs(const PlaneLayout& plane) {
  PlaneLayout pairs{};
  pairs.components = 4;
  for (int b = 0; b < 4; ++b)
    pairs.component[static_cast<std::size_t>(b)] = plane.component[static_cast<std::size_t>(component_at(plane, b))];
  return pairs;
}

/// Three components take what compute capability 9.0 brought.
bool has_kernel(const Device& device, const PlanDesc& desc) {
  return device.capability >= (plane_mix(desc.layout) == PlaneMix::three ? 90 : 80);
}

class TensorPlan final : public Plan {
 public:
  TensorPlan(const Device& device, const PlanDesc& desc, const TensorArgs& args,
             const std::vector<std::uint32_t> (&fragments)[max_planes], Epilogue epilogue, PlaneMix mix,
             unsigned blocks)
      : shape_(desc.filter.shape()),
        args_(args),
        epilogue_(epilogue),
        mix_(mix),
        kernel_(kernel_for(epilogue, mix)),
        capability_(device.capability),
        blocks_(blocks),
        threads_(static_cast<unsigned>(block_shape(mix).threads)) {
    Joined tables;
    std::size_t first[max_planes] = {};
    for (int p = 0; p < args_.planes; ++p) first[p] = tables.add(fragments[p]);
    fragments_ = Table<std::byte>(device.tables, tables.bytes());
    for (int p = 0; p < args_.planes; ++p) args_.plane[p].fragments = array_at<uint4>(fragments_, first[p]);
    args_.wave = device.multiprocessors * block_shape(mix).blocks;
    // The limit is a multiprocessor's share of one wave.
    more_memory_ =
        residency_limit(reinterpret_cast<const void*>(kernel_), threads_, (blocks_ - 1) / device.multiprocessors + 1);
  }

  const char* enqueue(const convolve::Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = fragments_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      TensorPlane& plane = args_.plane[p];
      const PlaneView& from = window.image[0]->plane[p];
      const PlaneView& to = out.plane[p];
      bind(plane, from, to);
      plane.words = plane.simple && aligned(from, 4) && std::abs(from.stride) <= std::numeric_limits<int>::max();
      plane.wide = aligned(from, 16);
      plane.out_wide = aligned(to, 16);
    }
    launch_pdl(capability_, kernel_, blocks_, dim3(threads_), stream, args_, more_memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + (epilogue_ == Epilogue::centre_tap ? " with a centre tap" : "") +
           ", tensor cores, " + (in_halves(epilogue_) ? "half precision" : "8-bit integers") +
           (mix_ == PlaneMix::none ? ", luma and chroma at once" : "");
  }

 private:
  std::string shape_;
  Table<std::byte> fragments_;
  TensorArgs args_;
  Epilogue epilogue_;
  PlaneMix mix_;
  void (*kernel_)(TensorArgs);
  int capability_;
  unsigned blocks_, threads_, more_memory_ = 0;
};

}  // namespace

bool serves_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                             const SpaceFactors& factors, double centre) {
  TensorTaps taps;
  return has_kernel(device, desc) && make_tensor_taps(desc, arithmetic, factors, centre, taps);
}

std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const SpaceFactors& f, double centre) {
  const FrameLayout& layout = desc.layout;
  const Filter& filter = desc.filter;
  TensorTaps taps;
  if (!has_kernel(device, desc) || !make_tensor_taps(desc, arithmetic, f, centre, taps)) return nullptr;
  const bool packed = is_even_packed_422(layout);

  TensorArgs args{};
  args.planes = layout.planes;
  args.border = desc.border;
  args.gain = static_cast<float>(taps.gain);
  args.offset = static_cast<float>(taps.offset);
  args.rounding_bias = static_cast<float>(taps.rounding_bias);
  args.centre = static_cast<float>(taps.centre);
  std::vector<std::uint32_t> fragments[max_planes];
  std::int64_t blocks = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& from = layout.plane[p];
    TensorPlane& to = args.plane[p];
    to.components = packed ? 4 : from.components;
    to.width = packed ? from.component[static_cast<std::size_t>(luma_index(from))].width / 2 : from.component[0].width;
    to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    to.columns = edge_axis(desc.border, to.width);
    to.rows = edge_axis(desc.border, to.height);
    to.above = filter.centre_y();
    to.lines = TensorTile::rows + filter.height() - 1;
    to.simple = edge_folds_once(to.width, max_radius) && edge_folds_once(to.height, max_radius) &&
                (!is_periodic(desc.border) || to.row_bytes % block_bytes == 0);
    const PlaneMasks masks = packed ? plane_masks(as_pairs(from)) : plane_masks(from);
    to.passthrough = masks.passthrough;
    to.ghost = masks.ghost;
    fragments[p] = packed ? make_packed_fragments(filter, taps, from) : make_fragments(filter, taps, p, to.components);
    if (packed) {
      args.luma = edge_axis(desc.border, 2 * to.width);
      args.luma_byte = from.component[static_cast<std::size_t>(luma_index(from))].offset;
    }
    to.first_block = static_cast<int>(blocks);
    to.tiles_x = (to.row_bytes - 1) / TensorTile::bytes_of(to.components) + 1;
    to.tiles_x_inverse = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + to.tiles_x - 1) / to.tiles_x);
    const std::int64_t tiles_y = (to.height - 1) / TensorTile::rows + 1, tiles = to.tiles_x * tiles_y;
    blocks += tiles;
    // Beyond, the inverse is not exact.
    if (to.tiles_x * tiles >= std::int64_t{1} << 32) return nullptr;
    checked_blocks(blocks);
    to.tiles = static_cast<int>(tiles);
  }
  return std::make_unique<TensorPlan>(device, desc, args, fragments, taps.epilogue, plane_mix(layout),
                                      static_cast<unsigned>(blocks));
}

}  // namespace convolve::cuda
