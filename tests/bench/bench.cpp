// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// bench: kernel times of every algorithm, layout, filter shape and tap class, on the CPU and on CUDA.
//
//   bench [--backend=cpu|cuda|all] [--simd=TARGET] [--frame=WxH] [--iterations=N] [--quick] [FLAG...]
//   bench --benchmark_filter='auto/GRAY8' --benchmark_out=result.json --benchmark_context=commit=...,hardware=...
//
// FLAG: Google Benchmark's own.
#include "bench.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "convolve/arithmetic.hpp"
#include "cpu/simd/targets.hpp"
#include "cuda/choice.hpp"
#include "skipped.hpp"

namespace convolve::bench {

void count(benchmark::State& state, const PlanDesc& desc, double us, double copy_us) {
  const Work work = work_of(desc);
  const double bytes_of_a_copy = work.bytes * 2 / (desc.filter.depth() + 1);
  state.counters["us"] = us;
  int components = 0;
  for (int p = 0; p < desc.layout.planes; ++p) components = std::max(components, desc.layout.plane[p].components);
  const Filter& filter = desc.filter;
  state.counters["side"] = std::max(filter.height(), filter.width());
  state.counters["depth"] = filter.depth();
  state.counters["components"] = components;
  state.counters["type"] = static_cast<int>(desc.layout.type);
  state.counters["rank"] = filter.rank();
  state.counters["accumulator"] =
      static_cast<int>(choose_arithmetic(filter, desc.layout, desc.border == Border::constant).accumulator);
  state.counters["one_limb"] = cuda::takes_one_limb(desc);
  state.counters["copy_us"] = copy_us;
  state.counters["times_copy"] = us / (copy_us * work.bytes / bytes_of_a_copy);
  state.counters["GBps"] = work.bytes / us * 1e-3;
  state.counters["TMACps"] = work.macs / us * 1e-6;
  state.counters["ops_per_byte"] = 2 * work.macs / work.bytes;
}

bool TableReporter::ReportContext(const Context&) {
  std::printf("%-56s %10s %9s %9s %9s %8s  %s\n", "runner/algorithm/layout/filter/taps", "us", "x copy", "GB/s",
              "TMAC/s", "ops/B", "peers and tuning");
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const std::string name = run.run_name.function_name;
    if (const std::string* why = why_skipped(run)) {
      failed = true;
      std::printf("%-56s %s\n", name.c_str(), why->c_str());
      continue;
    }
    const auto value = [&](const char* key) {
      const auto found = run.counters.find(key);
      return found == run.counters.end() ? 0.0 : static_cast<double>(found->second);
    };
    std::printf("%-56s %10.2f %9.2f %9.1f %9.4f %8.1f ", name.c_str(), value("us"), value("times_copy"), value("GBps"),
                value("TMACps"), value("ops_per_byte"));
    for (const auto& [key, counter] : run.counters)
      if (key.starts_with("vs_")) std::printf(" %s %.2f", key.c_str(), static_cast<double>(counter));
    std::printf(" %s\n", run.report_label.c_str());
    std::fflush(stdout);
  }
}

}  // namespace convolve::bench

int main(int argc, char** argv) {
  using namespace convolve::bench;
  Options options;
  std::string_view backend = "all";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick")
      options = {.width = 128, .height = 72, .iterations = 1, .quick = true};
    else if (argument.starts_with("--backend="))
      backend = argument.substr(10);
    else if (argument.starts_with("--simd=")) {
      if (!convolve::cpu::force_simd_target(argv[i] + 7)) {
        std::fprintf(stderr, "bench: --simd=%s: no such target on this machine\n", argv[i] + 7);
        return 2;
      }
    } else if (argument.starts_with("--iterations="))
      options.iterations = std::atoi(argv[i] + 13);
    else if (argument.starts_with("--frame=")) {
      if (std::sscanf(argv[i] + 8, "%dx%d", &options.width, &options.height) != 2) return 2;
    } else
      argv[kept++] = argv[i];
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("frame", std::to_string(options.width) + "x" + std::to_string(options.height));

  bool ready = true;
#ifdef CONVOLVE_HAVE_CUDA
  if (backend != "cpu") ready = register_cuda(options) || backend == "all";
#else
  ready = backend != "cuda";
#endif
  if (backend != "cuda") register_cpu(options);
  if (!ready) return 77;
  TableReporter table;
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks(&table);
  benchmark::Shutdown();
  return ran > 0 && !table.failed ? 0 : 1;
}
