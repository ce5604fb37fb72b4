// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// lines: samples picked out of a row, and put back. `size` is that of a sample in bytes: 1, 2 or 4. Addresses need no
// alignment. Nothing outside the named samples is written; within a row's span, all may be read.
#pragma once

namespace convolve::cpu {

/// to[i] = from[i * stride], n samples.
void gather(void* to, const void* from, int n, int stride, int size);
/// to[i * stride] = from[i].
void scatter(void* to, const void* from, int n, int stride, int size);
/// to[i * stride] = from[i * stride].
void copy_samples(void* to, const void* from, int n, int stride, int size);

}  // namespace convolve::cpu
