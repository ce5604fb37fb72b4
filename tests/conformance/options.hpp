// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The command line of the conformance programs that draw all of their cases at random:
//
//   [--backend=cpu|cuda] [--cases=N] [--seed=N]
//
// Runs with different --seed share no case, however near the two numbers are. A failure prints the seed of its case:
// --seed=THAT --cases=1 runs the case again. conformance_banks, which draws some thousand cases from a seed, prints
// names alone: the same command line runs them again.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "random.hpp"

namespace conformance {

struct RandomOptions {
  std::string backend = "cpu";
  int cases = 0;
  std::uint64_t seed = 0;  ///< of the first case

  /// The seed of a case by its number, from 0 on: the first has --seed itself, the others one that both are mixed into.
  std::uint64_t case_seed(int number) const {
    if (number == 0) return seed;
    return Random(Random(seed).next() + static_cast<std::uint64_t>(number)).next();
  }
};

/// Reads the command line over `defaults`; `knows_cuda`: --backend=cuda is an option. Prints what is wrong with it and
/// returns nothing where it names an unknown option or backend, or less than one case, since a run without a case could
/// not fail.
inline std::optional<RandomOptions> random_options(int argc, char** argv, RandomOptions defaults, bool knows_cuda) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    bool good = true;
    if (name == "--cases") {
      defaults.cases = std::atoi(value.c_str());
      good = defaults.cases > 0;
    } else if (name == "--seed") {
      defaults.seed = std::strtoull(value.c_str(), nullptr, 0);
    } else if (name == "--backend") {
      defaults.backend = value;
      good = value == "cpu" || (knows_cuda && value == "cuda");
    } else {
      good = false;
    }
    if (!good) {
      std::fprintf(stderr, "%s: %s: there are %s--cases=N (1 or more) and --seed=N\n", argv[0], argument.c_str(),
                   knows_cuda ? "--backend=cpu, --backend=cuda, " : "");
      return std::nullopt;
    }
  }
  return defaults;
}

}  // namespace conformance
