// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The SIMD targets of the CPU backend, and a way to force one, for tests and benchmarks.
//
//   for (const SimdTarget& target : simd_targets())
//     if (target.available) {
//       force_simd_target(target.name);
//       ... make plans and run them: a plan keeps the target that held when it was made ...
//     }
//   force_simd_target(nullptr);  // back to the best
//
// Forcing is for the whole process. It is not meant for concurrent use with the making of plans.
#pragma once

#include <span>

namespace convolve::cpu {

struct SimdTarget {
  const char* name;  ///< "amx", "vnni", "avx512", "avxvnni", "avx2", "sse4", "neon", "scalar": best first
  bool available;    ///< compiled in, and this machine has it
};

/// Every target of this build.
std::span<const SimdTarget> simd_targets();

/// False where there is no such target, or the machine lacks it. Null: the best.
bool force_simd_target(const char* name);

/// The target that a plan made now would use.
const char* simd_target();

/// The instructions beyond Highway's targets that a plan made now may use.
bool use_vnni();  ///< dot products, in the form of AVX-512 or of AVX
bool use_amx();   ///< AMX tiles with 8-bit integers; granted by the kernel to this process

}  // namespace convolve::cpu
