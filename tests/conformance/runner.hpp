// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runner: holds every backend of this machine, runs cases on all of their algorithms, and counts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trial.hpp"

namespace conformance {

struct RunnerOptions {
  std::string backend;    ///< empty: all
  std::string algorithm;  ///< empty: all, and auto
  std::string simd;       ///< SIMD targets of the CPU beside the best one, with commas between; empty: all
  int failures = 20;      ///< printed
  bool plans = false;     ///< print what each plan of a case says of itself
};

class Runner {
 public:
  /// Prints one line for each backend or SIMD target that this machine has not.
  explicit Runner(const RunnerOptions& options);

  bool has_backends() const { return !subjects_.empty(); }
  void run(const Case& c);
  void run_both(const Case& a, const Case& b);
  /// Several CPU backends in threads of their own, as several elements of one process have them.
  void run_parallel(const std::vector<Case>& cases);
  /// Those of large_frames() whose names are wanted.
  void run_large(const std::function<bool(const std::string&)>& wanted_name);
  /// The tallies. False where something failed or nothing ran.
  bool finish();
  bool failed() const { return failures_ > 0; }

 private:
  // A backend under test; its name says how it was made.
  struct Subject {
    std::string name;
    std::unique_ptr<Memory> memory;
    std::unique_ptr<convolve::Backend> backend;
    const char* simd_target = nullptr;
    std::size_t takes_every = 1;  // n: one case in n
  };
  struct Tally {
    std::size_t run = 0, failed = 0;
  };

  // Runs the case with that algorithm, and notes what came of it.
  void run_plan(const Subject& subject, const Trial& trial, const Case& c, convolve::Algorithm algorithm);
  bool wanted(const char* algorithm) const { return options_.algorithm.empty() || options_.algorithm == algorithm; }
  void note(const Subject& subject, const char* algorithm, const std::string& name, const std::string& wrong);

  RunnerOptions options_;
  std::vector<Subject> subjects_;
  std::map<std::string, Tally> tallies_;
  std::size_t cases_ = 0, exact_ = 0, checks_ = 0, failures_ = 0;
};

}  // namespace conformance
