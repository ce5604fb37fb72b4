// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// matrix on compute capability 9.0: banded (Toeplitz) matrix products by warpgroups, 8-bit samples, or the bytes of
// 16-bit ones, by 8-bit limbs of the taps. The kernels of this file serve filters of one frame and up to 15 taps an
// axis: over 8-bit samples those of more than 7x9 taps, and all where pixels have three components; all over 16-bit
// samples. The plans are those of wgmma_422.cu, wgmma_long.cu and wgmma_long_u16.cu, too. What a warpgroup makes of a
// tile is in u8_tile.cuh and u16_tile.cuh.
//
// A block makes tiles of 128 pixels by 64 rows, 32 rows a warpgroup, one after the other; one or two more warpgroups
// load the input rows of the next ones into shared memory, each component by itself, in which it is then made. The two
// that make tiles multiply in turn, so that samples are made while the tensor cores work. A window of 32 pixels holds
// all that the 16 outputs in its middle, a strip, can reach. The left matrix is 64 windows, 8 strips of every fourth
// row, read where the rows lie (products.cuh). The right matrix holds the taps that lead from a window to its strip,
// of all rows of the filter: 16 columns each, the last row first. An input row adds to the four output rows around it
// by one product, with 64 columns: rows of taps, or of zeros where they end.
#include <cuda_runtime.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/launch.hpp"
#include "cuda/common/shared_memory.hpp"
#include "cuda/common/table.hpp"
#include "cuda/matrix/hopper/kernel.cuh"
#include "cuda/matrix/hopper/wgmma_422.hpp"
#include "cuda/matrix/hopper/wgmma_long.hpp"
#include "cuda/matrix/wgmma.hpp"

namespace convolve::cuda {
namespace {

using namespace wgmma;

WgmmaKernel kernel_for(WgmmaShape shape, SampleType type, int components) {
  if (shape.has_long_windows())
    return type == SampleType::u8 ? long_windows_kernel(shape, components) : u16_long_windows_kernel(shape, components);
  return kernel_among<short_windows>(shape, [&]<WgmmaShape s>() {
    return type == SampleType::u8 ? u8_kernel<s>(components) : u16_kernel<s>(components);
  });
}

/// Components as the kernels count them: bytes.
int bytes_of(const FrameLayout& layout, int components) {
  return components * bytes_per_sample(layout.type);
}
int max_bytes(const FrameLayout& layout) {
  return bytes_of(layout, max_components_of(layout));
}

/// The planes' shapes, and what they take from the frame.
WgmmaArgs args_of(const PlanDesc& desc) {
  WgmmaArgs args{};
  args.planes = desc.layout.planes;
  for (int p = 0; p < args.planes; ++p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    WgmmaPlane& plane = args.plane[p];
    const int width = layout.component[0].width;
    plane.across = edge_axis(desc.border, width);
    plane.down = edge_axis(desc.border, layout.component[0].height);
    plane.components = static_cast<std::uint8_t>(bytes_of(desc.layout, layout.components));
    plane.tiles_x = static_cast<unsigned>((width - 1) / tile_width + 1);
    plane.first_tile = args.tiles;
    args.tiles += plane.tiles_x * static_cast<unsigned>((plane.down.length - 1) / tile_rows + 1);
    plane.reciprocal = static_cast<unsigned>(((1ull << 32) + plane.tiles_x - 1) / plane.tiles_x);
    // Only to where groups of pixels stay aligned.
    plane.last_x = width >= tile_width && width % 8 == 0 ? width - tile_width : width;
  }
  return args;
}

/// The place in `wgmma_epilogues` of the one that makes samples with these taps. A quotient also serves sums that are
/// scaled, whose `gain_low` is 0, and those that are only saturated, whose divisor is 1.
std::uint8_t epilogue_for(const MatrixTaps& taps) {
  const auto found = std::find(wgmma_epilogues.begin(), wgmma_epilogues.end() - 1, taps.epilogue);
  return static_cast<std::uint8_t>(found - wgmma_epilogues.begin());
}

WgmmaArgs args_of(const PlanDesc& desc, const MatrixTaps& taps) {
  WgmmaArgs args = args_of(desc);
  args.limbs = taps.limbs;
  args.gain = taps.gain;
  args.gain_low = taps.gain_low;
  args.epilogue = epilogue_for(taps);
  const Epilogue epilogue = wgmma_epilogues[args.epilogue];
  for (int p = 0; p < args.planes; ++p) {
    const PlaneLayout& layout = desc.layout.plane[p];
    WgmmaPlane& plane = args.plane[p];
    const PlaneMasks masks = plane_masks(layout);
    plane.ghost = masks.ghost;
    plane.passthrough_components = masks.passthrough_components;
    for (int c = 0; c < layout.components; ++c) {
      plane.start[c] = taps.start[p][c];
      plane.level[c] = epilogue == Epilogue::quotient              ? taps.level[p][c]
                       : epilogue == Epilogue::biased_magic_number ? MatrixTaps::rounding_bias - 0x1p23f * taps.gain
                                                                   : -0x1p23f * taps.gain;
    }
  }
  return args;
}

WgmmaArgs args_of(const PlanDesc& desc, const U16Taps& taps, WgmmaShape shape) {
  const FrameLayout& layout = desc.layout;
  const Arithmetic arithmetic = u16_arithmetic(desc);
  WgmmaArgs args = args_of(desc);
  args.limbs = taps.limbs;
  args.gain = taps.scale;
  args.numbers = make_sample_numbers(layout, arithmetic);
  if (args.numbers.division() != Division::remainder) {  // sums are scaled while they are divided
    args.numbers.gain = static_cast<float>(static_cast<double>(args.numbers.gain) * taps.scale);
    args.numbers.gain_low *= taps.scale;
  }
  const int weights = taps.limbs + 1 - taps.lowest;
  for (int n = 0; n < weights; ++n) {
    const int weight = taps.down ? taps.limbs - n : taps.lowest + n;
    for (int byte = 0; byte < 2; ++byte)
      if (const int limb = weight - byte; limb >= 0 && limb < taps.limbs)
        args.product[args.products++] = {byte * shape.input_bytes(), (taps.limbs - 1 - limb) * shape.taps_bytes(), 0,
                                         false};
    args.product[args.products - 1].shift = taps.down ? 1 : -1;
    args.product[args.products - 1].starts = n == weights - 2;
  }
  for (int p = 0; p < args.planes; ++p) {
    WgmmaPlane& plane = args.plane[p];
    const SamplePlane samples = make_sample_plane(layout, layout.plane[p], arithmetic);
    for (int c = 0; c < samples.components; ++c) {
      const Component& component = layout.plane[p].component[c];
      const auto ghost = static_cast<std::uint32_t>(std::clamp(component.ghost, 0.0, 1.0 * layout.max_value()));
      (c < 2 ? plane.ghost : plane.last_ghost) |=
          (ghost << layout.shift) * (samples.components == 1 ? 0x10001u : 1u << 16 * (c % 2));
      if (!component.filtered) plane.passthrough_components |= static_cast<std::uint8_t>(3u << 2 * c);
      plane.start[c] = taps.start[p][c];
      plane.level[c] = samples.offset[c];
    }
    // Copied samples stay as they are.
    plane.up = static_cast<std::uint8_t>(plane.passthrough_components ? 0 : 16 - layout.bits - layout.shift);
    plane.mask = plane.passthrough_components ? ~0u : sample_mask(16 - layout.bits) * 0x10001u;
  }
  return args;
}

class WgmmaPlan final : public Plan {
 public:
  WgmmaPlan(const Device& device, const PlanDesc& desc, const WgmmaArgs& args, const std::vector<std::uint8_t>& taps,
            std::string text)
      : WgmmaPlan(device, kernel_for(shape_for(desc.filter), desc.layout.type, max_bytes(desc.layout)),
                  shape_for(desc.filter), max_bytes(desc.layout), args, taps, std::move(text)) {}
  /// `most`: bytes of a pixel.
  WgmmaPlan(const Device& device, WgmmaKernel kernel, WgmmaShape shape, int most, const WgmmaArgs& args,
            const std::vector<std::uint8_t>& taps, std::string text)
      : text_(std::move(text)), taps_(device.tables, taps), args_(args), kernel_(kernel) {
    args_.taps = reinterpret_cast<const uint4*>(taps_.get());
    warpgroups_ = static_cast<unsigned>(makers + tuning(shape, most).loaders);
    const int bytes = memory_of(shape, most, args_.limbs);
    memory_ = static_cast<unsigned>(bytes);
    blocks_ = static_cast<unsigned>(device.multiprocessors *
                                    std::min(tuning(shape, most).blocks_resident, blocks_by_memory(bytes)));
    allow_shared_memory(kernel_, memory_of(shape, most, max_limbs(shape, most)));
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    if (const char* error = taps_.send(stream)) return error;
    for (int p = 0; p < args_.planes; ++p) {
      WgmmaPlane& plane = args_.plane[p];
      const std::uintptr_t bits = bind(plane, window.image[0]->plane[p], out.plane[p]);
      plane.aligned = bits % (plane.components % 2 == 1 ? 8 : 16) == 0;
    }
    launch_pdl(90, kernel_, std::min(args_.tiles, blocks_), dim3(128, warpgroups_), stream, args_, memory_);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::matrix; }
  std::string describe() const override { return text_; }

 private:
  std::string text_;
  Table<std::uint8_t> taps_;
  WgmmaArgs args_{};
  WgmmaKernel kernel_;
  unsigned memory_ = 0, blocks_ = 0, warpgroups_ = 0;
};

bool serves_shape(const Device& device, const PlanDesc& desc, std::string& why) {
  const Filter& filter = desc.filter;
  const WgmmaShape shape = shape_for(filter);
  if (device.capability != 90)
    why = is_over_max_taps(filter)
              ? "filters of more than 15 taps an axis on GPUs of a compute capability other than 9.0"
              : "16-bit samples, or planes of three components, on GPUs of a compute capability other than 9.0";
  else if (filter.depth() > 1)
    why = "several frames of 16-bit samples, of planes of three components, or of more than 15 taps an axis";
  else if (shape.height == 0 || (shape.has_long_windows() && max_bytes(desc.layout) > 4))
    why = "a filter that reaches farther";
  for (int p = 0; p < desc.layout.planes && why.empty(); ++p) {
    const Component& component = desc.layout.plane[p].component[0];
    if (!edge_folds_once(component.width, shape.margin) || !edge_folds_once(component.height, shape.height / 2))
      why =
          "16-bit samples, three components, or more than 15 taps an axis, of planes that are smaller than what the "
          "filter reaches";
  }
  return why.empty();
}

bool all_or_none_filtered(const FrameLayout& layout) {
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 1; c < layout.plane[p].components; ++c)
      if (layout.plane[p].component[c].filtered != layout.plane[p].component[0].filtered) return false;
  return true;
}

}  // namespace

bool serves_matrix_wgmma(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why) {
  why.clear();
  if (!serves_shape(device, desc, why)) return false;
  if (desc.layout.bits != 8) {
    why = "samples of fewer than 8 bits";
    return false;
  }
  return make_matrix_taps(desc, LimbSums::joined_biased, taps, why,
                          max_limbs(shape_for(desc.filter), max_bytes(desc.layout)));
}

std::unique_ptr<Plan> make_matrix_wgmma(const Device& device, const PlanDesc& desc, const MatrixTaps& taps) {
  const auto limb = [&](int d, std::size_t tap) { return taps.limb(d, tap); };
  return std::make_unique<WgmmaPlan>(device, desc, args_of(desc, taps),
                                     right_matrices(desc.filter, taps.limbs, shape_for(desc.filter), limb),
                                     "matrix " + desc.filter.shape() + ", " + std::to_string(taps.limbs) + " limbs, " +
                                         name(taps.epilogue) + ", warpgroups");
}

bool serves_matrix_wgmma_422(const Device& device, const PlanDesc& pairs, MatrixTaps& taps, std::string& why) {
  why.clear();
  if (!serves_shape(device, pairs, why)) return false;
  const WgmmaShape shape = shape_for(pairs.filter);
  if (shape.has_long_windows()) {
    why = "packed 4:2:2 with filters of more than 15 taps an axis";
    return false;
  }
  return make_matrix_taps(pairs, LimbSums::joined_biased, taps, why, max_limbs(packed_422_shape(shape), 4));
}

std::unique_ptr<Plan> make_matrix_wgmma_422(const Device& device, const PlanDesc& pairs, int luma,
                                            const MatrixTaps& taps) {
  const WgmmaShape shape = packed_422_shape(shape_for(pairs.filter));
  WgmmaArgs args = args_of(pairs, taps);
  // By the components of a tile; the levels of ghost cells stay by the bytes of a pair.
  WgmmaPlane& plane = args.plane[0];
  const WgmmaPlane by_byte = plane;
  const int byte_of[4] = {luma, luma + 2, 1 - luma, 3 - luma};
  plane.passthrough_components = 0;
  for (int c = 0; c < 4; ++c) {
    plane.start[c] = by_byte.start[byte_of[c]];
    plane.level[c] = by_byte.level[byte_of[c]];
    plane.passthrough_components |= static_cast<std::uint8_t>((by_byte.passthrough_components >> byte_of[c] & 1) << c);
  }
  const auto limb = [&](int d, std::size_t tap) { return taps.limb(d, tap); };
  return std::make_unique<WgmmaPlan>(device, packed_422_wgmma_kernel(shape, luma), shape, 4, args,
                                     right_matrices(pairs.filter, taps.limbs, shape, limb),
                                     "matrix " + pairs.filter.shape() + ", " + std::to_string(taps.limbs) + " limbs, " +
                                         name(taps.epilogue) + ", warpgroups, luma and chroma at once");
}

bool serves_matrix_u16(const Device& device, const PlanDesc& desc, U16Taps& taps, std::string& why) {
  const FrameLayout& layout = desc.layout;
  why.clear();
  if (!serves_shape(device, desc, why)) return false;
  if (max_components_of(layout) == 3)
    why = "pixels of three 16-bit components";
  else if (layout.bits != 16 && !all_or_none_filtered(layout))
    why = "planes of samples of 9 to 15 bits of which some components are copied";
  else
    return has_sample_planes(layout, u16_arithmetic(desc), why) &&
           make_u16_taps(desc, max_limbs(shape_for(desc.filter), max_bytes(layout)), taps, why);
  return false;
}

std::unique_ptr<Plan> make_matrix_u16(const Device& device, const PlanDesc& desc, const U16Taps& taps) {
  const WgmmaShape shape = shape_for(desc.filter);
  const WgmmaArgs args = args_of(desc, taps, shape);
  const auto limb = [&](int d, std::size_t tap) { return taps.limb(taps.limbs - 1 - d, tap); };
  return std::make_unique<WgmmaPlan>(device, desc, args, right_matrices(desc.filter, taps.limbs, shape, limb),
                                     "matrix " + desc.filter.shape() + ", " + std::to_string(taps.limbs) + " limbs, " +
                                         std::to_string(args.products) + " products of bytes, warpgroups");
}

}  // namespace convolve::cuda
