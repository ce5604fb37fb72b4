// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Planes of evenly interleaved components as the kernels that stream rows through registers see them.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "convolve/arithmetic.hpp"
#include "convolve/plan.hpp"
#include "convolve/plane.hpp"

namespace convolve::cuda {

struct SamplePlane {
  int width, height;  ///< pixels
  int components;
  bool has_passthrough;  ///< some components are not filtered:
  std::uint32_t
      passthrough[3];       ///< their bits in a row's words, repeating after three words (of three components) or two
  float zero[4], ghost[4];  ///< ghost: less zero
  float offset[4];          ///< the quantizer's offset; where a product divides, with its rounding bias
  float start[4];           ///< what sums start from, of folded_planes() alone
};

/// The sample type's numbers, and the quantizer's that all components of a frame share.
struct SampleNumbers {
  int shift;
  float gain, rounding_bias, max;
  float divisor;   ///< of 16-bit samples: of remainder_value(); 0 where a product divides, below 0 where two do
  float gain_low;  ///< of two products: what `gain` lacks; else 0

  /// How sums of 16-bit samples are divided. Kernels ask `divisor` (by_division() in pixels.cuh).
  Division division() const {
    return divisor == 0 ? Division::product : divisor < 0 ? Division::two_products : Division::remainder;
  }
};

/// The alignment that a group of so many bytes asks for.
constexpr int group_alignment(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
}

/// The bits of a word of 16 that hold a sample which is stored so much higher.
constexpr std::uint32_t sample_mask(int shift) {
  return 0xFFFFu << shift & 0xFFFFu;
}

/// What the planes of a frame hold, as kernels are compiled for it. All planes are uniform().
enum class PlaneMix : std::uint8_t {
  none,         ///< any other layout
  one,          ///< one component each
  one_and_two,  ///< one or two components, as NV12 has them
  three,
  four,
};
PlaneMix plane_mix(const FrameLayout& layout);

/// True where all components of a plane are filtered, and of the same levels.
bool is_filtered_alike(const PlaneLayout& plane);

/// The most components of a plane of such a frame.
constexpr int max_components_of(PlaneMix mix) {
  return mix == PlaneMix::one ? 1 : mix == PlaneMix::one_and_two ? 2 : mix == PlaneMix::three ? 3 : 4;
}

/// The arithmetic of kernels that sum in floats, each component by itself, where `arithmetic` is that of the whole
/// frame. Of 16-bit samples the sums of integer taps may go beyond 24 bits in some components alone, which asks for
/// double precision. Floats sum the other components as exactly, and these within one code value where they round
/// little enough.
Arithmetic floats_arithmetic(const PlanDesc& desc, const Arithmetic& arithmetic);

/// True where such planes are what the layout has, and SampleNumbers can say how sums become samples; else sets `why`.
bool has_sample_planes(const FrameLayout& layout, const Arithmetic& arithmetic, std::string& why);

/// A plane of the layout, and what all planes share.
SamplePlane make_sample_plane(const FrameLayout& layout, const PlaneLayout& plane, const Arithmetic& arithmetic);
SampleNumbers make_sample_numbers(const FrameLayout& layout, const Arithmetic& arithmetic);
/// Replaces two products by a remainder step, for kernels without code for two products.
SampleNumbers by_remainder(SampleNumbers numbers);

/// Planes of 16-bit samples for kernels that read samples as subnormal floats (SubnormalWord in pixels.cuh): no zero
/// level is taken from samples, but sums start from what that comes to, levels and bias included, and `offset` is the
/// rounding bias alone. Ghosts are subnormal, too.
struct FoldedPlanes {
  SamplePlane plane[max_planes];
  SampleNumbers numbers;
};
/// `start_roundings`: how often a sum that has `start` in it is rounded. Null where sums would not be exact any more,
/// or not near enough, or where ghosts are no whole numbers.
std::optional<FoldedPlanes> folded_planes(const PlanDesc& desc, const Arithmetic& arithmetic, int start_roundings);

/// A subnormal sample times a tap that carries this factor, and then times the other, is the value times the tap. The
/// first takes `shift` off, for which samples are not shifted.
inline constexpr float unshifted_factor = 0x1p100f, second_factor = 0x1p49f;
inline constexpr int subnormal_exponent = 149;
inline float first_factor(int shift) {
  return std::ldexp(unshifted_factor, -shift);
}

}  // namespace convolve::cuda
