// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// lines: samples picked out of a row and put back. `size` is that of a sample in bytes: 1, 2 or 4. Addresses need no
// alignment. Within the span of the named samples, bytes between them may be read and written back as they were: one
// thread at a time works on a row.
#pragma once

#include <array>

#include "convolve/component_group.hpp"

namespace convolve::cpu {

/// to[i] = from[i * stride], n samples.
void gather(void* to, const void* from, int n, int stride, int size);
/// to[i * stride] = from[i].
void scatter(void* to, const void* from, int n, int stride, int size);
/// to[i * stride] = from[i * stride].
void copy_samples(void* to, const void* from, int n, int stride, int size);

/// A mask of bytes whose period divides its length, for every pixel of up to 4 samples of up to 4 bytes.
using ByteMask = std::array<unsigned char, 192>;
/// Takes the bytes of `from` where the mask is 255, and leaves those of `to` where it is 0.
void blend(void* to, const void* from, int bytes, const ByteMask& mask);

/// Copies the n pixels of a row of a group that `index` names, one after the other.
void pick_pixels(unsigned char* to, const unsigned char* row, const int* index, int n, const ComponentGroup& g,
                 int sample_size);

}  // namespace convolve::cpu
