// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// conformance: every backend of this machine x every algorithm of its table x the cases, against the oracle.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "trial.hpp"

namespace {

using namespace conformance;
using convolve::Algorithm;
using convolve::Backend;

struct Options {
  std::string filter, backend, algorithm;
  std::size_t cases = 0;  // 0: all
  std::uint64_t seed = 20260101;
  bool list = false;
  int failures = 20;  // printed
};

constexpr const char* usage =
    "conformance [options]\n"
    "  --quick              about 400 of the cases\n"
    "  --cases=N            about N of the cases, evenly spread\n"
    "  --filter=TEXT,...    those whose names hold all of these texts\n"
    "  --backend=NAME       cpu or cuda\n"
    "  --algorithm=NAME     one algorithm\n"
    "  --seed=N             draw other cases\n"
    "  --failures=N         print the first N\n"
    "  --list               print the cases\n";

// A backend under test: its name says how it was made.
struct Subject {
  std::string name;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Backend> backend;
  unsigned stride = 1;  // takes every n-th case
};

std::vector<Subject> subjects(const std::string& wanted) {
  std::vector<Subject> all;
  if (wanted.empty() || wanted == "cpu")
    for (const unsigned threads : {1u, 2u, 3u})
      all.push_back({"cpu, " + std::to_string(threads) + " threads", host_memory(), convolve::make_cpu_backend(threads),
                     threads == 1 ? 1u : 3u});
  if (wanted.empty() || wanted == "cuda") {
#ifdef CONVOLVE_HAVE_CUDA
    try {
      Subject cuda{"cuda", cuda_memory(), nullptr};
      cuda.backend = convolve::make_cuda_backend();
      all.push_back(std::move(cuda));
    } catch (const std::exception& error) {
      std::printf("SKIPPED cuda: %s\n", error.what());
    }
#else
    std::printf("SKIPPED cuda: built without it\n");
#endif
  }
  return all;
}

bool matches(const std::string& name, const std::string& filter) {
  for (std::size_t from = 0; from <= filter.size();) {
    const std::size_t to = std::min(filter.find(',', from), filter.size());
    if (name.find(filter.substr(from, to - from)) == std::string::npos) return false;
    from = to + 1;
  }
  return true;
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
    else if (name == "--cases")
      options.cases = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--filter")
      options.filter = value;
    else if (name == "--backend")
      options.backend = value;
    else if (name == "--algorithm")
      options.algorithm = value;
    else if (name == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "--failures")
      options.failures = std::atoi(value.c_str());
    else
      return false;
  }
  return true;
}

struct Tally {
  std::size_t run = 0, failed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(usage, stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::vector<Case> cases = systematic_cases(options.seed);
  std::erase_if(cases, [&](const Case& c) { return !matches(c.name, options.filter); });
  if (options.cases > 0 && options.cases < cases.size()) {
    std::vector<Case> some;
    for (std::size_t i = 0; i < options.cases; ++i) some.push_back(cases[i * cases.size() / options.cases]);
    cases = std::move(some);
  }
  if (options.list) {
    for (const Case& c : cases) std::puts(c.name.c_str());
    return 0;
  }

  std::vector<Subject> all = subjects(options.backend);
  if (all.empty()) {
    // A machine without a GPU was asked for its GPU alone.
    return options.backend == "cuda" ? 77 : 1;
  }
  std::printf("%zu cases, seed %llu\n", cases.size(), static_cast<unsigned long long>(options.seed));
  const auto start = std::chrono::steady_clock::now();
  std::map<std::string, Tally> tallies;
  std::size_t run = 0, failed = 0, exact = 0;
  const auto note = [&](const Subject& subject, const char* algorithm, const Case& c, const std::string& wrong) {
    Tally& tally = tallies[subject.name + ", " + algorithm];
    ++tally.run;
    ++run;
    if (wrong.empty()) return;
    ++tally.failed;
    if (static_cast<int>(++failed) <= options.failures)
      std::printf("FAILED %s, %s: %s\n    %s\n", subject.name.c_str(), algorithm, c.name.c_str(), wrong.c_str());
  };

  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const Trial trial(c);
    exact += c.exact;
    for (const Subject& subject : all) {
      if (i % subject.stride != 0) continue;
      bool served = false;
      for (const Algorithm algorithm : subject.backend->algorithms()) {
        tallies[subject.name + ", " + nick(algorithm)];
        if (!options.algorithm.empty() && options.algorithm != nick(algorithm)) continue;
        if (subject.backend->serves(algorithm, c.desc)) {
          served = true;
          note(subject, nick(algorithm), c, trial.run(*subject.backend, *subject.memory, algorithm));
        } else if (const std::string wrong = trial.run_refused(*subject.backend, algorithm); !wrong.empty()) {
          note(subject, nick(algorithm), c, wrong);
        }
      }
      if (options.algorithm.empty() || options.algorithm == "auto") {
        const std::string wrong = trial.run(*subject.backend, *subject.memory, Algorithm::automatic);
        note(subject, "auto", c, !served && options.algorithm.empty() ? "no algorithm serves this case" : wrong);
      }
    }
  }

  for (const auto& [name, tally] : tallies)
    std::printf("  %-28s %6zu run, %zu failed%s\n", name.c_str(), tally.run, tally.failed,
                tally.run == 0 && options.algorithm.empty() ? " (serves no case on this machine)" : "");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%zu cases (%zu exact), %zu checks, %zu failed, %.1f s\n", cases.size(), exact, run, failed, seconds);
  if (run == 0) std::puts("nothing was run: that is a failure");
  return failed > 0 || run == 0 ? 1 : 0;
}
