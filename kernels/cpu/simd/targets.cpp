// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/simd/targets.hpp"

#include "cpu/simd/highway.hpp"
// After highway.hpp, which says what is built.
#include <hwy/highway.h>

#include <array>
#include <atomic>
#include <cstring>

#if HWY_ARCH_X86_64
#include <cpuid.h>
#endif
#if HWY_ARCH_X86_64 && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace convolve::cpu {
namespace {

#ifdef CONVOLVE_EMULATE
bool has_vnni() {
  return hwy::SupportedTargets() & HWY_AVX3;
}
bool has_avx_vnni() {
  return hwy::SupportedTargets() & HWY_AVX2;
}
#elif HWY_ARCH_X86_64
bool has_vnni() {
  return (hwy::SupportedTargets() & HWY_AVX3) && __builtin_cpu_supports("avx512vnni");
}
bool has_avx_vnni() {
  unsigned a, b, c, d;
  return (hwy::SupportedTargets() & HWY_AVX2) && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}
#else
bool has_vnni() {
  return false;
}
bool has_avx_vnni() {
  return false;
}
#endif

#ifdef CONVOLVE_EMULATE
bool has_amx() {
  return has_vnni();
}
bool amx_granted() {
  return true;
}
#elif HWY_ARCH_X86_64 && defined(__linux__)
constexpr int get_supported = 0x1021, request_permission = 0x1023, tile_data = 18;  // of arch_prctl

bool has_amx() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool tiles = d >> 24 & 1, integers = d >> 25 & 1;
  unsigned long features = 0;
  return tiles && integers && has_vnni() && syscall(SYS_arch_prctl, get_supported, &features) == 0 &&
         (features >> tile_data & 1);
}

bool amx_granted() {
  static const bool granted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return granted;
}
#else
bool has_amx() {
  return false;
}
bool amx_granted() {
  return false;
}
#endif

struct Row {
  std::int64_t highway;
  bool vnni, amx;
};

constexpr std::int64_t fallback = HWY_SCALAR | HWY_EMU128;
#if HWY_ARCH_X86
constexpr std::array<Row, 7> rows{{{HWY_AVX3, true, true},
                                   {HWY_AVX3, true, false},
                                   {HWY_AVX3, false, false},
                                   {HWY_AVX2, true, false},
                                   {HWY_AVX2, false, false},
                                   {HWY_SSE4, false, false},
                                   {fallback, false, false}}};
constexpr std::array<const char*, rows.size()> names{"amx", "vnni", "avx512", "avxvnni", "avx2", "sse4", "scalar"};
#elif HWY_ARCH_ARM
constexpr std::array<Row, 2> rows{{{HWY_NEON, false, false}, {fallback, false, false}}};
constexpr std::array<const char*, rows.size()> names{"neon", "scalar"};
#else
constexpr std::array<Row, 1> rows{{{fallback, false, false}}};
constexpr std::array<const char*, rows.size()> names{"scalar"};
#endif

std::array<SimdTarget, rows.size()> find_targets() {
  const std::int64_t supported = (hwy::SupportedTargets() & HWY_TARGETS) | fallback;
  std::array<SimdTarget, rows.size()> targets{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const bool vnni = !row.vnni || (row.highway == HWY_AVX2 ? has_avx_vnni() : has_vnni());
    targets[i] = {names[i], (supported & row.highway) && vnni && (!row.amx || has_amx())};
  }
  return targets;
}

const std::array<SimdTarget, rows.size()>& targets() {
  static const auto found = find_targets();
  return found;
}

std::atomic<int> forced{-1};

std::size_t in_force() {
  if (const int i = forced; i >= 0) return static_cast<std::size_t>(i);
  std::size_t best = 0;
  while (!targets()[best].available) ++best;
  return best;
}

}  // namespace

std::span<const SimdTarget> simd_targets() {
  return targets();
}

bool force_simd_target(const char* name) {
  int found = -1;
  if (name) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (std::strcmp(targets()[i].name, name) == 0 && targets()[i].available) found = static_cast<int>(i);
    if (found < 0) return false;
  }
  forced = found;
  hwy::SetSupportedTargetsForTest(found < 0 ? 0 : rows[static_cast<std::size_t>(found)].highway);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return true;
}

const char* simd_target() {
  return targets()[in_force()].name;
}

bool use_vnni() {
  return rows[in_force()].vnni;
}

bool use_amx() {
  return rows[in_force()].amx && amx_granted();
}

}  // namespace convolve::cpu
