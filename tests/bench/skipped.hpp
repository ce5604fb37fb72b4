// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What Google Benchmark calls a run that did not take place: an error before 1.8, a skip since.
#pragma once

#include <string>

namespace convolve::bench {

/// Why a run was left out; null: it was not.
template <class Run>
const std::string* why_skipped(const Run& run) {
  if constexpr (requires { run.skip_message; })
    return run.skipped ? &run.skip_message : nullptr;
  else
    return run.error_occurred ? &run.error_message : nullptr;
}

}  // namespace convolve::bench
