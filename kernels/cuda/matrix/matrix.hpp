// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The algorithm `matrix`: banded matrix products on the tensor cores.
#pragma once

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

extern const Entry matrix;

/// matrix.make() where matrix.serves(), in one go: the taps that say whether it serves are those that it is made of.
/// Null, and `why`, where it does not.
std::unique_ptr<Plan> make_matrix_if_served(const Device& device, const PlanDesc& desc, std::string& why);

}  // namespace convolve::cuda
