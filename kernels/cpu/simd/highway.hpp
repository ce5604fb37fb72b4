// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the files that are compiled once for each SIMD target share: which of Highway's targets are built.
// Scalable vectors (SVE, RVV) cannot be held in the arrays that register blocks are. Newer versions of Highway have
// targets above AVX3 (bits below its own: Zen 4, Sapphire Rapids), which they would choose in its place on such
// processors; the code here is written for AVX3 and takes what lies beyond it as instructions of its own.
#pragma once

// CONVOLVE_NATIVE_TARGET, one of Highway's targets, leaves out all others but the baseline, which every processor has.
#ifdef CONVOLVE_NATIVE_TARGET
#define CONVOLVE_LEFT_OUT ((HWY_AVX3 | HWY_AVX2 | HWY_SSE4) & ~CONVOLVE_NATIVE_TARGET)
#else
#define CONVOLVE_LEFT_OUT 0
#endif
#define HWY_DISABLED_TARGETS \
  ((HWY_AVX3 - 1) | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | CONVOLVE_LEFT_OUT)

#include <hwy/base.h>
#include <hwy/detect_targets.h>

#ifdef __clang__
#define CONVOLVE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CONVOLVE_UNROLL _Pragma("GCC unroll 16")
#endif
