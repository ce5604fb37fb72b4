// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A stand-in for the CUDA driver, for machines without an NVIDIA GPU. This is a mock: it shows that the plugin asks the
// driver for the right things in the right order, and what the plugin does when the driver refuses. It shows nothing of
// the CUDA kernels, of speed, or of how a real driver behaves beyond what NVIDIA's manual says of the functions below.
//
// "Device" memory is host memory whose device address differs from its host address. Nothing is mapped at the device
// address, so that host code that follows such a pointer crashes. Each block ends at a page that nobody may touch.
// Work is kept in its stream until something waits for it, which is as late as CUDA allows: a frame that is handed on
// without waiting is seen with its old content, and memory that is freed too early is seen as such.
//
// libcuda.so.1 (faults.cpp) is what GStreamer and the plugin load. It counts calls, makes some of them fail, and
// forwards the others to libcuda-standin.so (or to a real driver).
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// What was made and is not yet freed, over all contexts. Memory that goes with its context counts as `lost`, work that
/// is asked for without a context and a pop without a push as `strayed`.
struct StandinCounts {
  int contexts, device_blocks, host_blocks, registrations, streams, events, lost, misuses, strayed;
};
void standin_counts(StandinCounts* counts);
/// Sets the counts of lost things and misuses back to 0.
void standin_forget();
/// The first misuse since, or an empty text: a call without a context, a copy beyond its block, a freed stream.
const char* standin_first_misuse();
/// How many contexts the calling thread has pushed and not popped.
int standin_pushed_contexts();
/// Device memory that there is; 2 GiB from the start.
void standin_limit_device_memory(std::size_t bytes);
/// Whether work runs when it is queued (true), or as late as CUDA allows (false, the default; STANDIN_EAGER=1 in the
/// environment also sets it).
void standin_run_eagerly(bool eagerly);
/// All contexts that there are fail with this CUresult from now on, until they are destroyed.
void standin_lose_contexts(int error);
/// How often a host thread waited for a stream or a whole context.
std::uint64_t standin_waits();
/// What cuDriverGetVersion() says; 13000 is CUDA 13.0.
void standin_report_version(int version);

/// How a kernel of the stand-in reaches device memory: the host address of `bytes` bytes from `device` on, or null
/// where they are not all in one block of the stream's own context.
using StandinReach = void* (*)(void* context, std::uint64_t device, std::size_t bytes);
/// A CUfunction of the stand-in is the address of such a function. `parameters` is the launch's parameter buffer.
/// False: the kernel touched what it may not, and the context fails from then on.
using StandinKernel = bool (*)(void* parameters, StandinReach reach, void* context);
}
