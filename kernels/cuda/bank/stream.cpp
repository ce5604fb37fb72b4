// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The plan of the row stream of banks.
#include "cuda/bank/stream.hpp"

#include <memory>
#include <optional>
#include <string>

#include "cuda/bank/bank.hpp"
#include "cuda/common/launch.hpp"

namespace convolve::cuda {
namespace {

const BankStreamKernel* kernel_of(const BankStreamCase& stream) {
  return find_bank_stream(stream.type, stream.planes, stream.taps, stream.sum);
}

class BankStreamPlan final : public Plan {
 public:
  BankStreamPlan(const Device& device, const PlanDesc& desc, const BankStreamCase& stream)
      : capability_(device.capability),
        name_(desc.bank.describe()),
        kernel_(kernel_of(stream)),
        args_(stream.args),
        gradients_(stream.taps == BankTaps::gradients),
        blocks_(lay_out_row_stream(args_, desc.border, stream.type, bank_stream_side, bank_stream_pixels,
                                   device.multiprocessors, kernel_->resident())),
        unaligned_(make_bank(device, desc)) {}

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      args_.in[p] = window.image[0]->plane[p];
      args_.out[p] = out.plane[p];
      if (!aligned(args_.in[p], args_.grid[p].alignment) || !aligned(args_.out[p], args_.grid[p].alignment))
        return unaligned_->enqueue(window, out, stream);
    }
    kernel_->launch(capability_, args_, blocks_, static_cast<cudaStream_t>(stream));
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::register_; }
  std::string describe() const override {
    return "register " + name_ + (gradients_ ? ", as gradients" : "") + ", " + std::to_string(args_.rows) +
           " rows a warp";
  }

 private:
  int capability_;
  std::string name_;
  const BankStreamKernel* kernel_;
  BankStreamArgs args_;
  bool gradients_;
  int blocks_;
  std::unique_ptr<Plan> unaligned_;  ///< runs frames whose rows are not aligned
};

}  // namespace

bool serves_bank_stream(const Device& device, const PlanDesc& desc, std::string& why) {
  std::optional<BankStreamCase> stream = make_bank_stream_case(desc, why);
  if (!stream) return false;
  if (!kernel_of(*stream)) {
    why = "banks over so many components of this sample type";
    return false;
  }
  if (lay_out_row_stream(stream->args, desc.border, stream->type, bank_stream_side, bank_stream_pixels, 1, 1) == 0) {
    why = "banks over rows that are no whole vectors";
    return false;
  }
  return serves_bank(device, desc, why);
}

std::unique_ptr<Plan> make_bank_stream(const Device& device, const PlanDesc& desc) {
  std::string why;
  return std::make_unique<BankStreamPlan>(device, desc, *make_bank_stream_case(desc, why));
}

}  // namespace convolve::cuda
