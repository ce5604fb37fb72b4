// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Banks of kernels on CUDA: how `tiled`, which serves all of them, `register`, which serves those of 3x3 on most
// frames, and `matrix`, which serves small ones of 8 bits on the tensor cores, run a case that has a bank. Host code
// only.
#pragma once

#include <memory>
#include <string>

#include "cuda/common/entry.hpp"

namespace convolve::cuda {

/// How the kernels combine a bank's results: the magnitude of one kernel is its absolute value.
inline Combine combine_of(const Bank& bank) {
  return bank.combine() == Combine::magnitude && bank.kernels().size() == 1 ? Combine::max_abs : bank.combine();
}

/// True where the taps of the (validated) case's bank fit this device's kernel parameters; else `why` says what is
/// missing.
bool serves_bank(const Device& device, const PlanDesc& desc, std::string& why);

/// Called only where it serves. Allocates nothing on the device; throws PlanError where the frame is too large for one
/// launch.
std::unique_ptr<Plan> make_bank(const Device& device, const PlanDesc& desc);

/// True where the tensor cores serve the (validated) case's bank; else `why` says what they do not serve.
bool serves_bank_tensor(const Device& device, const PlanDesc& desc, std::string& why);

/// Called only where it serves. Throws PlanError, std::bad_alloc.
std::unique_ptr<Plan> make_bank_tensor(const Device& device, const PlanDesc& desc);

/// True where rows streamed through registers serve the (validated) case's bank; else `why` says what they do not
/// serve.
bool serves_bank_stream(const Device& device, const PlanDesc& desc, std::string& why);

/// Called only where it serves. Allocates nothing on the device.
std::unique_ptr<Plan> make_bank_stream(const Device& device, const PlanDesc& desc);

}  // namespace convolve::cuda
