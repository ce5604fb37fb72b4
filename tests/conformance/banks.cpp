// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance_banks [--backend=cpu|cuda] [--cases=N] [--seed=N]: random banks of kernels over every layout, border and
// combination, with every algorithm (and SIMD target) of the backend, against the oracle. Algorithms that know no banks
// have to refuse them with a message that names one which does.
#include <cstdio>

#include "bank_cases.hpp"
#include "options.hpp"
#include "runner.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  const auto options = random_options(argc, argv, {.cases = 1200, .seed = 20261124}, true);
  if (!options) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  RunnerOptions on_backend;
  on_backend.backend = options->backend;
  Runner runner(on_backend);
  if (!runner.has_backends()) return 77;
  int left = options->cases;
  for (int round = 0; left > 0; ++round) {
    const std::vector<Case> cases = bank_cases(options->case_seed(round));
    for (std::size_t i = 0; i < cases.size() && left > 0; ++i, --left) {
      runner.run(cases[i]);
      if (i % 40 == 1) runner.run_both(cases[i - 1], cases[i]);
    }
    if (left <= 0 && options->backend == "cpu") runner.run_parallel({cases.begin(), cases.begin() + 20});
  }
  return runner.finish() ? 0 : 1;
}
