// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of `matrix` by warpgroups, which only compute capability 9.0 has. They are made in hopper/: wgmma.cu,
// wgmma_422.cu and wgmma_long.cu. Host code only.
#pragma once

#include <memory>
#include <string>

#include "cuda/common/entry.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

#ifdef CONVOLVE_WARPGROUPS
/// True where it serves this case, of plain 8-bit samples; `taps` are then those that it is made with. Else `why` says
/// what is not served.
bool serves_matrix_wgmma(const Device& device, const PlanDesc& desc, MatrixTaps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_wgmma(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);
/// Packed 4:2:2 of an even width, `pairs` being the case with a pair of pixels as one pixel of four
/// components, and `luma` the byte of a pair's first.
bool serves_matrix_wgmma_422(const Device& device, const PlanDesc& pairs, MatrixTaps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_wgmma_422(const Device& device, const PlanDesc& pairs, int luma,
                                            const MatrixTaps& taps);
/// 16-bit samples of one, two and four components.
bool serves_matrix_u16(const Device& device, const PlanDesc& desc, U16Taps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_u16(const Device& device, const PlanDesc& desc, const U16Taps& taps);
#else  // built without code for that chip
inline bool serves_matrix_wgmma(const Device&, const PlanDesc&, MatrixTaps&, std::string& why) {
  why = "planes of three components, or more than 15 taps an axis: this build has no code for compute capability 9.0";
  return false;
}
inline std::unique_ptr<Plan> make_matrix_wgmma(const Device&, const PlanDesc&, const MatrixTaps&) {
  return nullptr;
}
inline bool serves_matrix_wgmma_422(const Device&, const PlanDesc&, MatrixTaps&, std::string& why) {
  why = "packed 4:2:2 with filters of more than 7x9 taps: this build has no code for compute capability 9.0";
  return false;
}
inline std::unique_ptr<Plan> make_matrix_wgmma_422(const Device&, const PlanDesc&, int, const MatrixTaps&) {
  return nullptr;
}
inline bool serves_matrix_u16(const Device&, const PlanDesc&, U16Taps&, std::string& why) {
  why = "16-bit samples: this build has no code for compute capability 9.0";
  return false;
}
inline std::unique_ptr<Plan> make_matrix_u16(const Device&, const PlanDesc&, const U16Taps&) {
  return nullptr;
}
#endif

}  // namespace convolve::cuda
