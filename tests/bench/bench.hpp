// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The measuring programs' shared ground: options, the counters of a row, and the table that is printed.
//
// A row is one Google Benchmark benchmark named "<runner>/<algorithm>/<case>"; its figures are counters, so that
// --benchmark_out writes them as JSON:
//   us            median time of a frame
//   copy_us       the same for a copy of one frame, measured between the same rows' runs
//   times_copy    us / copy_us; windows of frames: us / (copy_us * (depth + 1) / 2), the copy of as many bytes
//   side, depth, components, type, rank, accumulator   the case, as what `auto` chooses by sees it (choose.py)
//   GBps, TMACps  bytes and multiply-adds that the case asks for, over us; ops_per_byte their ratio, at 2 ops a MAC
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>

#include "cases.hpp"
#include "convolve/backend.hpp"

namespace convolve::bench {

struct Options {
  int width = 3840, height = 2160;
  int iterations = 15;
  bool quick = false;
};

/// Fills the counters above.
void count(benchmark::State& state, const PlanDesc& desc, double us, double copy_us);

/// Registers every case that the backend's algorithms serve.
void register_cpu(const Options& options);
/// Effects on regions of frames; register_cpu() calls it.
void register_cpu_regions(const Options& options);
#ifdef CONVOLVE_HAVE_CUDA
/// False, with the reason on stderr, where there is no CUDA.
bool register_cuda(const Options& options);
/// Effects on regions of frames that rotate over so many bytes; register_cuda() calls it.
void register_cuda_regions(const Options& options, std::size_t rotated_bytes);
#endif

/// Google Benchmark's console table, with our columns.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool failed = false;  ///< a row has ended in an error

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
};

}  // namespace convolve::bench
