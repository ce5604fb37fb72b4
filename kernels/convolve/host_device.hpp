// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// CONVOLVE_HD marks the few small functions that the host and the CUDA kernels share.
#pragma once

#ifdef __CUDACC__
#define CONVOLVE_HD __host__ __device__ __forceinline__
#else
#define CONVOLVE_HD inline
#endif
