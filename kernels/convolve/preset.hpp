// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Presets: named filters made from a few parameters. A new preset is a row and its maker in preset.cpp, and its name
// below.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convolve/bank.hpp"
#include "convolve/filter.hpp"

namespace convolve {

enum class Preset : std::uint8_t {
  identity,
  box_blur,
  gaussian_blur,
  motion_blur,
  sharpen,
  unsharp,
  emboss,
  laplacian,
  laplacian_of_gaussian,
  sobel_x,
  sobel_y,
  scharr_x,
  scharr_y,
  prewitt_x,
  prewitt_y,
  temporal_mean,
  temporal_denoise,
  temporal_difference,
  difference_of_gaussians,
  gabor,
  sobel,
  scharr,
  prewitt,
  roberts,
  kirsch,
  robinson,
};

struct PresetParameters {
  int radius = 1;           ///< spatial radius, 0..127
  double sigma = 0;         ///< of Gaussians, in samples; 0: (2 * radius + 1) / 6
  double sigma2 = 0;        ///< of the Gaussian that difference-of-gaussians takes away; 0: 1.6 times the other's
  double wavelength = 4;    ///< of gabor, in samples
  double amount = 1;        ///< strength of sharpen, unsharp and emboss
  double angle = 0;         ///< degrees, counter-clockwise from the x axis: motion-blur, emboss, gabor
  int temporal_radius = 1;  ///< 0..7
  bool causal = false;      ///< temporal presets end at the current frame instead of being centred on it

  double effective_sigma() const { return sigma > 0 ? sigma : (2 * radius + 1) / 6.0; }
  bool operator==(const PresetParameters&) const = default;
};

struct PresetRow {
  Preset value;
  const char* nick;
  const char* description;
  std::optional<int> sum;  ///< what the taps sum to, whatever the parameters; empty: it depends on them
  TapArray (*make)(const PresetParameters&);                              ///< null: a bank
  std::vector<TapArray> (*make_bank)(const PresetParameters&) = nullptr;  ///< null: one kernel
  Combine combine = Combine::none;                                        ///< of a bank
};

/// What a preset is made of: one kernel and Combine::none, or a bank and how its results are combined.
struct PresetKernels {
  std::vector<TapArray> kernels;
  Combine combine = Combine::none;
};

std::span<const PresetRow> presets();
/// Throws std::invalid_argument with a message fit for the user: parameters out of range.
PresetKernels make_preset_kernels(Preset preset, const PresetParameters& parameters);
/// The kernel of a preset that is no bank. Throws likewise, also where it is one.
TapArray make_preset(Preset preset, const PresetParameters& parameters);

}  // namespace convolve
