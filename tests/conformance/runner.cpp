// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runner.hpp"

#include <cstdio>
#include <thread>

#include "cpu/simd/targets.hpp"
#include "large.hpp"
#include "open_backend.hpp"

namespace conformance {

using convolve::Algorithm;

Runner::Runner(const RunnerOptions& options) : options_(options) {
  const bool tiles_alone = options.backend == "cpu" && options.algorithm == nick(Algorithm::matrix);
  if (tiles_alone && !convolve::cpu::use_amx()) {
    std::puts("SKIPPED cpu, matrix: no AMX on this machine");
  } else if (options.backend.empty() || options.backend == "cpu") {
    for (const unsigned threads : {1u, 2u, 3u})
      subjects_.push_back({"cpu, " + std::to_string(threads) + " threads", host_memory(),
                           convolve::make_cpu_backend(threads), nullptr, threads == 1 ? 1u : 3u});
    for (const convolve::cpu::SimdTarget& target : convolve::cpu::simd_targets()) {
      const std::string listed = "," + options.simd + ",", name = std::string(",") + target.name + ",";
      if (!options.simd.empty() && listed.find(name) == std::string::npos) continue;
      if (!target.available)
        std::printf("SKIPPED cpu with %s: not on this machine\n", target.name);
      else if (target.name != std::string(convolve::cpu::simd_target()))
        subjects_.push_back(
            {std::string("cpu, ") + target.name, host_memory(), convolve::make_cpu_backend(1), target.name, 2});
    }
  }
  if (options.backend.empty() || options.backend == "cuda") {
    try {
      OpenBackend opened = open_cuda();
      subjects_.push_back({"cuda", std::move(opened.memory), std::move(opened.backend)});
    } catch (const std::exception& error) {
      std::printf("SKIPPED cuda: %s\n", error.what());
    }
  }
  for (const Subject& subject : subjects_)
    for (const Algorithm algorithm : subject.backend->algorithms())
      if (wanted(nick(algorithm))) tallies_[subject.name + ", " + nick(algorithm)];
}

void Runner::note(const Subject& subject, const char* algorithm, const std::string& name, const std::string& wrong) {
  Tally& tally = tallies_[subject.name + ", " + algorithm];
  ++tally.run;
  ++checks_;
  if (wrong.empty()) return;
  ++tally.failed;
  if (static_cast<int>(++failures_) <= options_.failures)
    std::printf("FAILED %s, %s: %s\n    %s\n", subject.name.c_str(), algorithm, name.c_str(), wrong.c_str());
}

void Runner::run_plan(const Subject& subject, const Trial& trial, const Case& c, Algorithm algorithm) {
  if (options_.plans) try {
      convolve::PlanDesc desc = c.desc;
      desc.algorithm = algorithm;
      std::printf("plan: %s\n", subject.backend->make_plan(desc)->describe().c_str());
    } catch (const convolve::PlanError&) {  // the trial says so
    }
  note(subject, nick(algorithm), c.name, trial.run(*subject.backend, *subject.memory, algorithm));
}

void Runner::run(const Case& c) {
  const Trial trial(c);
  ++cases_;
  exact_ += c.exact;
  for (const Subject& subject : subjects_) {
    if (c.seed % subject.takes_every != 0) continue;
    convolve::cpu::force_simd_target(subject.simd_target);
    bool served = false;
    for (const Algorithm algorithm : subject.backend->algorithms()) {
      if (!wanted(nick(algorithm))) continue;
      if (subject.backend->serves(algorithm, c.desc)) {
        served = true;
        run_plan(subject, trial, c, algorithm);
      } else if (const std::string wrong = trial.run_refused(*subject.backend, algorithm); !wrong.empty()) {
        note(subject, nick(algorithm), c.name, wrong);
      }
    }
    // Times all that serve each case, so only where it is asked for by name.
    if (options_.algorithm == nick(Algorithm::fastest)) run_plan(subject, trial, c, Algorithm::fastest);
    if (!wanted("auto")) continue;
    if (!served && options_.algorithm.empty()) note(subject, "auto", c.name, "no algorithm serves this case");
    run_plan(subject, trial, c, Algorithm::automatic);
  }
  convolve::cpu::force_simd_target(nullptr);
}

void Runner::run_both(const Case& a, const Case& b) {
  const Trial first(a), second(b);
  ++cases_;
  for (const Subject& subject : subjects_) {
    if (subject.simd_target) continue;
    for (const Algorithm algorithm : subject.backend->algorithms())
      if (wanted(nick(algorithm)) && subject.backend->serves(algorithm, a.desc) &&
          subject.backend->serves(algorithm, b.desc))
        note(subject, nick(algorithm), "two at once: " + a.name + " and " + b.name,
             Trial::run_both(first, second, *subject.backend, *subject.memory, algorithm));
  }
}

void Runner::run_parallel(const std::vector<Case>& cases) {
  if (!wanted("auto") || (!options_.backend.empty() && options_.backend != "cpu")) return;
  const std::vector<Trial> trials(cases.begin(), cases.end());
  constexpr unsigned elements = 4;
  std::vector<std::string> wrong(elements * trials.size());
  std::vector<std::thread> threads;
  for (unsigned e = 0; e < elements; ++e)
    threads.emplace_back([&, e] {
      const std::unique_ptr<Memory> memory = host_memory();
      const std::unique_ptr<convolve::Backend> backend = convolve::make_cpu_backend(1 + e);
      for (std::size_t i = 0; i < trials.size(); ++i) {
        const std::size_t mine = (i + e) % trials.size();
        wrong[e * trials.size() + mine] = trials[mine].run(*backend, *memory, Algorithm::automatic);
      }
    });
  for (std::thread& thread : threads) thread.join();
  Subject subject;
  subject.name = "cpu, in parallel";
  cases_ += cases.size();
  for (std::size_t i = 0; i < wrong.size(); ++i) note(subject, "auto", cases[i % cases.size()].name, wrong[i]);
}

void Runner::run_large(const std::function<bool(const std::string&)>& wanted_name) {
  tallies_.clear();
  for (const LargeRow& row : large_frames()) {
    const std::string name = name_of(row);
    if (!wanted_name(name)) continue;
    const LargeTrial trial(row);
    ++cases_;
    for (const Subject& subject : subjects_) {
      if (subject.simd_target) continue;
      for (const Algorithm algorithm : subject.backend->algorithms())
        if (wanted(nick(algorithm)) && subject.backend->serves(algorithm, trial.desc()))
          note(subject, nick(algorithm), name, trial.run(*subject.backend, *subject.memory, algorithm));
    }
  }
}

bool Runner::finish() {
  for (const auto& [name, tally] : tallies_)
    std::printf("  %-28s %6zu run, %zu failed%s\n", name.c_str(), tally.run, tally.failed,
                tally.run == 0 ? " (serves none of these cases on this machine)" : "");
  std::printf("%zu cases (%zu exact), %zu checks, %zu failed\n", cases_, exact_, checks_, failures_);
  if (checks_ == 0) std::puts("nothing was run: that is a failure");
  return failures_ == 0 && checks_ > 0;
}

}  // namespace conformance
