// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Kernel strings: kernels in the words of other programs. A string starts with the name of its grammar:
//
//   ffmpeg:   options of FFmpeg's filter convolution
//   im: imc:  a kernel of ImageMagick, for -morphology Convolve and Correlate
//   vs:       arguments of VapourSynth's std.Convolution
//   svg:      attributes of SVG's feConvolveMatrix
//
// Each grammar has a file. No GStreamer in here.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convolve/bank.hpp"
#include "convolve/border.hpp"
#include "convolve/filter.hpp"

namespace convolve {

/// What a string says. It takes the place of kernel, scale, normalize, bias, border-mode, border-value and operation.
struct KernelString {
  std::vector<TapArray> kernels{1};  ///< in the order of correlation, their centres at tap n/2; several: a bank
  Combine combine = Combine::none;
  FilterOptions options;  ///< `convolve` is false: kernels are turned already
  double bias_codes = 0;  ///< in code values
  double bias = 0;        ///< as a fraction of the range; beside bias_codes
  Border border = Border::replicate;
  /// Which planes are filtered, luma or green, Cb or blue, Cr or red, alpha: instead of `components`.
  std::optional<std::array<bool, 4>> planes;
  bool planes_are_red_first = false;  ///< of RGB the planes are red, green, blue instead
};

/// The kernel string that a file's text holds, without a byte order mark of UTF-8 and without the lines that start with
/// #. Absent where what is left does not start with the name of a grammar.
std::optional<std::string> kernel_string_in_file(std::string_view text);

/// Throws std::invalid_argument that names the part at fault, why it cannot be honoured, and what can.
KernelString parse_kernel_string(std::string_view text);

}  // namespace convolve
