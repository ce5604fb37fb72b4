// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The fault layer: a libcuda.so.1 that counts every call of a driver function, makes one of them fail when told to, and
// forwards the others to the driver below. That is libcuda-standin.so from the same folder, or the library that
// DRIVER_BELOW names, such as /usr/lib/x86_64-linux-gnu/libcuda.so.1 on a machine with a GPU.
//
// GStreamer and the CUDA runtime both ask for "libcuda.so.1": a program that is linked with this library, or runs with
// its folder first in LD_LIBRARY_PATH, gives them this one. What the CUDA runtime calls through NVIDIA's private tables
// (cuGetExportTable) passes by uncounted.
#pragma once

#include <cstdint>

extern "C" {

/// Nothing fails any more, and all counts start anew.
void faults_reset();
/// The `nth` call from now on, counted from 1, of the function (without version suffix: "cuMemAlloc") returns `error`.
/// A `lasting` fault is one of the whole context: from then on all that use it fail with the same error, until
/// faults_reset(). A function that frees something has done so when it reports the error, unless the fault lasts.
void faults_arm(const char* function, std::uint64_t nth, int error, bool lasting);
/// Whether the armed call came.
bool faults_fired();
/// How often it was called since the last reset.
std::uint64_t faults_calls(const char* function);
/// The name of the i-th function that was called since the last reset, or null.
const char* faults_called(int i);
}
