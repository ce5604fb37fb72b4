// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What cached-halo's kernels are given: taps padded to a compiled radius, groups of components, and the tiles of each.
#include "cuda/cached_halo/args.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "convolve/is_whole.hpp"
#include "cuda/common/launch.hpp"

namespace convolve::cuda {
namespace {

using namespace cached_halo_tuning;

/// Uniform planes are filtered whole, others component by component. Returns the number of tiles.
int group_tiles(HaloFrame& args, const FrameLayout& layout) {
  std::int64_t tiles = 0;
  int first = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const bool whole = layout.plane[p].uniform();
    const int count = whole ? layout.plane[p].components : 1;
    for (int c = 0; c < layout.plane[p].components; c += count, first += count) {
      const int height = strips(count) * rows;
      ComponentArgs& leader = args.frame.component[first];
      args.group[args.groups++] = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
      leader.first_tile = static_cast<int>(tiles);
      leader.tiles_x = (leader.width - 1) / strip_width + 1;
      tiles += static_cast<std::int64_t>(leader.tiles_x) * ((leader.height - 1) / height + 1);
      if (tiles > std::numeric_limits<int>::max()) throw PlanError("the frame is too large for one launch");
    }
  }
  return static_cast<int>(tiles);
}

bool has_whole_zero_levels(const FrameLayout& layout) {
  for (int p = 0; p < layout.planes; ++p)
    for (int c = 0; c < layout.plane[p].components; ++c)
      if (!is_whole(layout.plane[p].component[c].zero)) return false;
  return true;
}

std::uintptr_t address_bits(const PlaneView& view) {
  return reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.stride);
}

}  // namespace

int compiled_radius(const Filter& filter, SampleType type, bool many_taps) {
  const int radius = filter.reach_x();
  return *std::find_if(radii.begin(), radii.end(),
                       [&](int r) { return r >= radius && compiled(r, bytes_per_sample(type), many_taps); });
}

bool has_many_taps(const Filter& filter, SampleType type) {
  const int frames = combines_frames(filter) ? 1 : filter.depth();
  return frames * filter.height() * (2 * compiled_radius(filter, type, false) + 1) > few_taps;
}

bool serves_cached_halo(std::size_t parameter_bytes, const PlanDesc& desc, std::string& why) {
  const SampleType type = desc.layout.type;
  const Arithmetic arithmetic = choose_arithmetic(desc.filter, desc.layout, has_ghost_cells(desc.border));
  if (arithmetic.accumulator == Accumulator::double_)
    why = "its sums need double precision";
  else if (type == SampleType::u8 && desc.layout.shift != 0)
    why = "8-bit samples that do not end at bit 0";
  else if (type != SampleType::f32 && !has_whole_zero_levels(desc.layout))
    why = "a zero level that is no whole number";
  else if (has_many_taps(desc.filter, type) && parameter_bytes < sizeof(HaloArgs<max_filter_taps>))
    why = "over " + std::to_string(few_taps) + " taps need CUDA 12.1 or later, at build time and of the driver";
  else
    return true;
  return false;
}

int fill_halo_args(HaloFrame& args, float* taps, const PlanDesc& desc, const Arithmetic& arithmetic, int radius) {
  const Filter& filter = desc.filter;
  args.frame = make_frame_args(desc, arithmetic);
  // Integers are read as the low bits of a float of 2^23, which goes away with the zero level.
  const float bias = desc.layout.type == SampleType::f32 ? 0.f : 8388608.f;
  for (int c = 0; c < args.frame.components; ++c) {
    args.base[c] = args.frame.component[c].zero + bias;
    args.ghost[c] = static_cast<float>(args.frame.component[c].ghost);
  }
  args.combine = combines_frames(filter);
  const std::vector<double> coefficients = spatial_coefficients(filter, arithmetic),
                            weights = frame_weights(filter, arithmetic);
  std::fill(std::begin(args.weight), std::end(args.weight), 1.f);
  std::copy(weights.begin(), weights.end(), args.weight);
  // Each row is padded to 2 * radius + 1 taps with the centre in its middle.
  const int pad = radius - filter.centre_x();
  for (std::size_t i = 0; i < coefficients.size(); ++i)
    taps[i / filter.width() * (2 * radius + 1) + pad + i % filter.width()] = static_cast<float>(coefficients[i]);
  return group_tiles(args, desc.layout);
}

void bind_halo(HaloFrame& args, int planes, const Window& window, const Image& out) noexcept {
  bind(args.frame, planes, window, out);
  for (int p = 0; p < planes; ++p) {
    std::uintptr_t bits = 0;
    for (int t = 0; t < window.depth; ++t)
      if (window.image[t]) bits |= address_bits(window.image[t]->plane[p]);
    args.in_aligned[p] = bits % 16 == 0;
    args.out_aligned[p] = address_bits(out.plane[p]) % 16 == 0;
  }
}

}  // namespace convolve::cuda
