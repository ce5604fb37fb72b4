// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of `matrix` for packed 4:2:2 of 8 bits (YUY2, UYVY and their kin): luma and chroma in one launch, each word
// of a frame read once and written once. One frame: packed_422.cu, and from over 7x9 to 15x15 taps hopper/wgmma_422.cu;
// several: temporal_422.cu. Host code only.
#pragma once

#include <memory>
#include <string>

#include "cuda/common/entry.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

/// True for one plane of packed 4:2:2 of plain 8-bit samples, of any width.
bool is_packed_422_u8(const FrameLayout& layout);
/// True where the kernels serve the case, which is_packed_422_u8(); `taps` are then those that they are made with, else
/// `why` says what is in the way.
bool serves_matrix_packed_422(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_packed_422(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

/// Packed 4:2:2 and filters over several frames. `pairs`: the case with a pair of pixels as one pixel of four
/// components, which a frame of an even width is but for what its luma's filter and borders mean. `luma`: the first
/// luma's byte.
bool serves_matrix_temporal_422(const PlanDesc& pairs, std::string& why);
std::unique_ptr<Plan> make_matrix_temporal_422(const Device& device, const PlanDesc& pairs, int luma,
                                               const MatrixTaps& taps);

}  // namespace convolve::cuda
