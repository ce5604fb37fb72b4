// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plans of `matrix` for filters over several frames, and for filters of more than 7x9 taps (rows x columns). Host
// code only.
#pragma once

#include <memory>
#include <string>

#include "cuda/common/entry.hpp"
#include "cuda/matrix/taps.hpp"

namespace convolve::cuda {

/// True where this filter over several frames, of plain 8-bit samples, is served; else `why` says what is not.
bool serves_matrix_temporal(const PlanDesc& desc, std::string& why);
std::unique_ptr<Plan> make_matrix_temporal(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);
/// The plan for frames of one plane of three components.
std::unique_ptr<Plan> make_matrix_temporal_triples(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

/// Filters over several frames of 16-bit samples. serves...() fills in the `taps` that make...() wants.
bool serves_matrix_temporal_u16(const PlanDesc& desc, MatrixTaps& taps, std::string& why);
std::unique_ptr<Plan> make_matrix_temporal_u16(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

/// Filters of one frame, of any size, by sparse products.
bool serves_matrix_sparse(const PlanDesc& desc, std::string& why);
std::unique_ptr<Plan> make_matrix_sparse(const Device& device, const PlanDesc& desc, const MatrixTaps& taps);

}  // namespace convolve::cuda
