// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// fuzz: random cases for some seconds, on every backend and algorithm, against the oracle.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "runner.hpp"

namespace {

constexpr const char* usage =
    "fuzz [options]\n"
    "  --seconds=N          how long, default 5\n"
    "  --seed=N             where to start; default: anywhere\n"
    "  --case=HEX           one case again, by the seed that its failure printed\n"
    "  --backend=NAME       cpu or cuda\n"
    "  --algorithm=NAME     one algorithm, or auto\n";

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  std::uint64_t seed = std::random_device{}();
  std::string one;
  conformance::RunnerOptions options;
  options.failures = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--seconds")
      seconds = std::atof(value.c_str());
    else if (name == "--seed")
      seed = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--case")
      one = value;
    else if (name == "--backend")
      options.backend = value;
    else if (name == "--algorithm")
      options.algorithm = value;
    else
      return std::fputs(usage, stderr), 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  conformance::Runner runner(options);
  if (!runner.has_backends()) return 77;
  if (!one.empty()) {
    runner.run(conformance::random_case(std::strtoull(one.c_str(), nullptr, 16)));
    return runner.finish() ? 0 : 1;
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  conformance::Random random(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end && !runner.failed())
    runner.run(conformance::random_case(random.next()));
  return runner.finish() ? 0 : 1;
}
