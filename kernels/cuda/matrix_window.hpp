// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan of `matrix` for filters over several frames. Host code only.
#pragma once

#include <memory>
#include <string>

#include "cuda/matrix.hpp"

namespace convolve::cuda {

/// True where a filter over several frames of plain 8-bit samples is served; else `why` says what is not.
bool serves_matrix_window(const PlanDesc& desc, std::string& why);

std::unique_ptr<Plan> make_matrix_window(const PlanDesc& desc, const MatrixTaps& taps);

}  // namespace convolve::cuda
