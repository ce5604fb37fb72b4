// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels in floating point: several kernels over one input, whose sums are combined into one sample
// (convolve/bank.hpp). Rows are staged into a ring once (engine/engine.hpp), and each block of samples is summed with
// one kernel after the other while its rows are in the first-level cache:
//
//   ring rows ──kernel 1──> sums ─┐
//             ──kernel 2──> sums ─┼─ combined in registers ──> root, division, rounding ──> samples
//             ──   ...   ──> sums ─┘
//
// Taps of 0 are left out, the padding of smaller kernels among them. Pairs of 3x3 that factor as gradients do share
// their loads and pass along the rows before down the columns; gradient16.hpp has the same in integers for bytes.
#pragma once

#include "cpu/engine/engine.hpp"

namespace convolve::cpu {

/// `arithmetic`: that of the bank.
Engine make_bank(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

}  // namespace convolve::cpu
