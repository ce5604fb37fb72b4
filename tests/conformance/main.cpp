// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance: every backend of this machine x every algorithm of its table x the cases, against the oracle.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cpu/simd/targets.hpp"
#include "runner.hpp"

namespace {

using namespace conformance;

struct Options {
  RunnerOptions runner;
  std::string filter;
  std::size_t cases = 0;  // 0: all
  double products = 0;    // that a case has at most, of samples and taps; 0: any number
  std::uint64_t seed = 20260101;
  bool list = false, large = false;
};

constexpr const char* usage =
    "conformance [options]\n"
    "  --quick              about 400 of the cases\n"
    "  --cases=N            about N of the cases, evenly spread\n"
    "  --filter=TEXT,...    those whose names hold all of these texts\n"
    "  --max-products=N     those of at most N products of a sample and a tap\n"
    "  --backend=NAME       cpu or cuda\n"
    "  --algorithm=NAME     one algorithm, auto or fastest\n"
    "  --simd=NAME,...      these SIMD targets of the CPU, or none, beside the best one\n"
    "  --seed=N             draw other cases\n"
    "  --failures=N         print the first N\n"
    "  --plans              print the plan of each run\n"
    "  --list               print the cases\n"
    "  --large              frames of up to 16384x16384, of those of --filter, and nothing else\n";

bool matches(const std::string& name, const std::string& filter) {
  for (std::size_t from = 0; from <= filter.size();) {
    const std::size_t to = std::min(filter.find(',', from), filter.size());
    if (name.find(filter.substr(from, to - from)) == std::string::npos) return false;
    from = to + 1;
  }
  return true;
}

// What a case costs, roughly: the products of the filtered samples of a frame and the taps.
double products_of(const Case& c) {
  double samples = 0;
  for (int p = 0; p < c.desc.layout.planes; ++p)
    for (int i = 0; i < c.desc.layout.plane[p].components; ++i) {
      const convolve::Component& k = c.desc.layout.plane[p].component[i];
      if (k.filtered) samples += static_cast<double>(k.width) * k.height;
    }
  return samples * c.kernel.depth * c.kernel.height * c.kernel.width;
}

// Of a list with commas between, says which names no SIMD target has.
bool all_are_targets(const std::string& names) {
  for (std::size_t from = 0; from < names.size();) {
    const std::string name = names.substr(from, names.find(',', from) - from);
    from += name.size() + 1;
    const auto targets = convolve::cpu::simd_targets();
    if (name == "none" || std::ranges::any_of(targets, [&](const auto& target) { return name == target.name; }))
      continue;
    std::fprintf(stderr, "conformance: \"%s\" is no SIMD target; there are:", name.c_str());
    for (const auto& target : targets) std::fprintf(stderr, " %s", target.name);
    std::fputs("\n", stderr);
    return false;
  }
  return true;
}

// Text that is no number would read as 0, which is all cases.
bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--quick")
      options.cases = 400;
    else if (name == "--list")
      options.list = true;
    else if (name == "--large")
      options.large = true;
    else if (name == "--cases" && is_number(value))
      options.cases = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--max-products" && is_number(value))
      options.products = std::strtod(value.c_str(), nullptr);
    else if (name == "--plans")
      options.runner.plans = true;
    else if (name == "--filter")
      options.filter = value;
    else if (name == "--backend")
      options.runner.backend = value;
    else if (name == "--algorithm")
      options.runner.algorithm = value;
    else if (name == "--simd" && all_are_targets(value))
      options.runner.simd = value;
    else if (name == "--seed" && is_number(value))
      options.seed = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--failures" && is_number(value))
      options.runner.failures = std::atoi(value.c_str());
    else
      return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<Case> cases = systematic_cases(options.seed);
  std::erase_if(cases, [&](const Case& c) {
    return !matches(c.name, options.filter) || (options.products > 0 && products_of(c) > options.products);
  });
  if (options.cases > 0 && options.cases < cases.size()) {
    std::vector<Case> some;
    for (std::size_t i = 0; i < options.cases; ++i) some.push_back(cases[i * cases.size() / options.cases]);
    cases = std::move(some);
  }
  if (options.list) {
    for (const Case& c : cases) std::puts(c.name.c_str());
    return 0;
  }

  Runner runner(options.runner);
  // 77: skipped, as where a machine without a GPU was asked for its GPU alone.
  if (!runner.has_backends()) return 77;
  const auto start = std::chrono::steady_clock::now();
  if (options.large) {
    runner.run_large([&](const std::string& name) { return matches(name, options.filter); });
  } else {
    std::printf("%zu cases, seed %llu\n", cases.size(), static_cast<unsigned long long>(options.seed));
    for (const Case& c : cases) runner.run(c);
    for (std::size_t i = 0; i + 1 < cases.size(); i += 1 + cases.size() / 60) runner.run_both(cases[i], cases[i + 1]);
    // The larger frames, which are worth several threads.
    std::erase_if(cases, [](const Case& c) { return c.desc.layout.plane[0].component[0].height < 300; });
    if (!cases.empty()) runner.run_parallel(cases);
  }
  const bool good = runner.finish();
  std::printf("%.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return good ? 0 : 1;
}
