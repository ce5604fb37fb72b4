// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The row stream of banks as its plan sees it: arguments, and which kernel a case takes. Its grid is that of
// common/row_stream.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>
#include <string>

#include "convolve/bank.hpp"
#include "cuda/common/row_stream.hpp"

namespace convolve::cuda {

inline constexpr int bank_stream_side = 3;  ///< rows and columns that a kernel of the bank is padded to

/// How the kernels' sums become one value.
enum class BankSum : std::uint8_t {
  linear,      ///< sum or maximum of the sums or of their magnitudes
  root,        ///< magnitude by an approximate root
  exact_root,  ///< magnitude of whole numbers of less than 2^22, rounded right. Samples of 16 bits
};

/// What is summed.
enum class BankTaps : std::uint8_t {
  any,       ///< one kernel of the bank after the other
  gradients  ///< two kernels: (1, m, 1) down times (-1, 0, 1) across, and the same lying down
};

struct BankStreamArgs : RowStreamFrame {
  int kernels;
  Combine combine;
  float middle;           ///< m of BankTaps::gradients
  EdgeAxis luma_columns;  ///< packed 4:2:2: the luma's; the grid's are those of pairs
  float taps[max_bank * bank_stream_side * bank_stream_side];  ///< [kernel][row][column]
};
static_assert(sizeof(BankStreamArgs) <= 4096);

/// The planes that kernels are compiled for. Packed 4:2:2 is a plane of pairs, each of four bytes, whose luma or chroma
/// comes first.
enum class BankPlanes : std::uint8_t { one, one_and_two, three, four, luma_first, chroma_first };

constexpr bool is_packed_422(BankPlanes planes) {
  return planes == BankPlanes::luma_first || planes == BankPlanes::chroma_first;
}

/// A bank as the kernels take it.
struct BankStreamCase {
  SampleType type = SampleType::u8;
  BankPlanes planes = BankPlanes::one;
  BankTaps taps = BankTaps::any;
  BankSum sum = BankSum::linear;
  BankStreamArgs args{};  ///< all but the grid
};
/// Nothing, and `why`, where no kernel of this kind would be right. Whether there is one, and whether it knows the
/// planes' sizes, find_bank_stream() and lay_out_row_stream() say.
std::optional<BankStreamCase> make_bank_stream_case(const PlanDesc& desc, std::string& why);

struct BankStreamKernel {
  void (*launch)(int capability, const BankStreamArgs& args, int blocks, cudaStream_t stream);
  int (*resident)();  ///< blocks on a multiprocessor, in the current context
};
/// Null where there is none.
const BankStreamKernel* find_bank_stream(SampleType type, BankPlanes planes, BankTaps taps, BankSum sum);

/// Pixels that a thread makes of a row.
constexpr int bank_stream_pixels(int components, int /*width*/) {
  return components == 1 || components == 3 ? 8 : 4;
}

/// Blocks to be resident on a multiprocessor: bounds the registers.
constexpr int bank_stream_blocks(int bytes, BankPlanes planes, BankTaps taps) {
  if (planes == BankPlanes::one) return bytes == 4 ? 5 : 6;
  if (planes == BankPlanes::three || (is_packed_422(planes) && taps == BankTaps::any)) return 3;
  return planes == BankPlanes::four || is_packed_422(planes) ? 4 : 5;
}
/// While row i is filtered, row i + 1 is loaded, and row i + 1 + this is brought to the cache.
constexpr int bank_stream_further(int components) {
  return components == 3 ? 4 : 2;
}

}  // namespace convolve::cuda
