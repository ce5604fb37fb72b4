// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Cases whose filter is a bank of kernels.
#pragma once

#include <vector>

#include "cases.hpp"

namespace conformance {

/// Every layout x border x combination, with kernels of every kind and size, in every number from 1 to 16, drawn.
std::vector<Case> bank_cases(std::uint64_t seed);

}  // namespace conformance
