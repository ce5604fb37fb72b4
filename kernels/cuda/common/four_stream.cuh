// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The steps that streams of rows of pixels of four 16-bit components share: how a warp brings a row of its strip into
// its lanes' reach, and how a lane makes four pixels of their sums.
//
//   frames ──copies in the background──> slots of shared memory, the next ones being under way
//   a slot ──each lane four pixels, and a sample of the sides──> floats, the window's frames added up
//          ──> a row of pixels of four floats in shared memory, of which each lane then reads what its taps meet
//
// So each sample is converted once, and none waits in registers, which hold sums. Pixels n, n + 4, n + 8 .. of a row
// lie together: what lanes read or write at once is in different banks.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/four_stream.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/common/prefetch.cuh"
#include "cuda/common/ptx.cuh"

namespace convolve::cuda {

/// A warp's shared memory, in bytes: two rows, of which one is read while the next is written, and the slots. `own`:
/// pixels that a lane makes of a row, 4 or 2.
template <int width, int slots, int own = 4>
struct FourShared {
  static constexpr int radius = width / 2, margin = radius <= 4 ? 4 : 8;  ///< margin: pixels either side of a strip
  static constexpr int strip = 32 * own, pixel = 8, place = 16, pitch = (strip + 2 * margin) / own * place,
                       row = own * pitch;
  static constexpr int side = strip * pixel, slot = side + 2 * margin * pixel;
  static constexpr int first_slot = 2 * row, bytes = first_slot + slots * slot;
  static_assert((own == 2 || pitch / place % 4 == 2) && radius <= margin);
  /// Where pixel n of a row lies, counted from the margin's first.
  static __device__ constexpr int at(int n) { return n % own * pitch + n / own * place; }
};

/// The strip and the rows of a warp.
struct FourPlace {
  int begin, end;  ///< the strip's columns
  int top, rows;   ///< the first row that is made; the rows that are read
  __device__ __forceinline__ FourPlace(const FourStreamArgs& args, int warp, int radius, int strip) {
    const int range = warp / args.strips;
    begin = (warp - range * args.strips) * strip;
    end = min(begin + strip, args.columns.length);
    top = range * args.rows;
    rows = min(args.rows, args.lines.length - top) + 2 * radius;
  }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// F: components that are filtered, four or three. `slots`: see FourShared. `several`: frames are added up.
template <int F, int width, int slots, bool several, int own = 4>
class FourRows {
  using Shared = FourShared<width, slots, own>;
  static constexpr int radius = width / 2;
  static constexpr int pieces = own / 2;                    ///< of 16 bytes, that a lane reads of a row
  static constexpr int extras = (8 * radius - 1) / 32 + 1;  ///< samples of the sides, for a lane

 public:
  __device__ __forceinline__ FourRows(const FourStreamArgs& args, char* memory, const FourPlace& place)
      : args_(args), place_(place), lane_(threadIdx.x & 31), memory_(memory) {
    slots_ = ptx::address_in_shared(memory) + Shared::first_slot;
    const int width_ = args.columns.length, mine = place.begin + 2 * lane_;
#pragma unroll
    for (int h = 0; h < pieces; ++h) has_[h] = mine + 64 * h < width_;
    own_from_ = Shared::pixel * mine;
    own_to_ = Shared::at(Shared::margin + 2 * lane_);
    copies_side_ = lane_ < 2 * radius;
    side_from_ = Shared::pixel * edge_index(args.columns, copies_side_ ? pixel_beside(lane_) : 0);
    // A lane converts one component of every eighth pixel of the sides.
    const int c = lane_ % 4;
    const std::uint32_t byte = (c < 2 ? args.order.front >> 8 * c : args.order.back >> 8 * (c - 2)) & 15;
    side_at_ = Shared::side + Shared::pixel * (lane_ / 4) + static_cast<int>(byte);
#pragma unroll
    for (int k = 0; k < extras; ++k) {
      const int pixel = lane_ / 4 + 8 * k, beside = pixel_beside(pixel);
      has_side_[k] = pixel < 2 * radius && c < F;
      side_to_[k] = Shared::at(beside - place.begin + Shared::margin) + 4 * c;
      side_ghost_[k] = args.columns.ghost && static_cast<unsigned>(beside) >= static_cast<unsigned>(width_);
    }
  }

  /// Asks the second level cache for the first rows, or of several frames for the first row of each of the first four.
  __device__ __forceinline__ void prefetch() const {
    const int n = lane_ / 8, column = Shared::pixel * place_.begin + cache_line * (lane_ % 8);
    const PlaneView view = args_.in[several ? min(n, args_.frames - 1) : 0];
    const int line = edge_index(args_.lines, place_.top - radius + (several ? 0 : n));
    if (view.data && column < Shared::pixel * place_.end)
      prefetch_line(static_cast<const char*>(view.data) + line * view.stride + column);
  }

  /// Starts the first copies.
  __device__ __forceinline__ void begin() {
    line_ = edge_index(args_.lines, place_.top - radius);
#pragma unroll 1
    for (int s = 0; s < slots - 1; ++s) start();
  }

  /// Makes the next row of the strip, which is row i. Returns it as the lane's taps meet it: at(margin - radius)
  /// is the first pixel that they do.
  __device__ __forceinline__ const char* make(int i) {
    float sum[own][F] = {}, beside[extras] = {};
    std::uint32_t last[own] = {};  // the words that hold the copied component
    const bool ghosts = args_.lines.ghost &&
                        static_cast<unsigned>(place_.top - radius + i) >= static_cast<unsigned>(args_.lines.length);
#pragma unroll 1
    for (int t = 0; t < (several ? args_.frames : 1); ++t) {
      ptx::wait_for_copies<slots - 2>();
      __syncwarp();  // this slot has come for all, and the one before it has been read by all
      const char* const slot = memory_ + take_;
      std::uint32_t word[2 * own], side[extras];
#pragma unroll
      for (int h = 0; h < pieces; ++h) {
        const uint4 piece = *reinterpret_cast<const uint4*>(slot + 16 * lane_ + 512 * h);
        word[4 * h] = piece.x, word[4 * h + 1] = piece.y, word[4 * h + 2] = piece.z, word[4 * h + 3] = piece.w;
      }
#pragma unroll
      for (int k = 0; k < extras; ++k)
        side[k] = *reinterpret_cast<const std::uint16_t*>(slot + side_at_ + 8 * Shared::pixel * k);
      take_ = take_ == Shared::first_slot + (slots - 1) * Shared::slot ? Shared::first_slot : take_ + Shared::slot;
      start();
      const float weight = several ? args_.time[t] : 1;
      const auto add = [&](float& to, float sample) { to = several ? fmaf(weight, sample, to) : sample; };
      const float zero = args_.zero[lane_ % 4], ghost = args_.ghost[lane_ % 4];
      if (ghosts || (several && !args_.in[t].data)) {
#pragma unroll
        for (int n = 0; n < own * F; ++n) add(sum[n / F][n % F], args_.ghost[n % F]);
#pragma unroll
        for (int k = 0; k < extras; ++k) add(beside[k], ghost);
        continue;
      }
#pragma unroll
      for (int n = 0; n < own; ++n) {
        std::uint32_t low = word[2 * n], high = word[2 * n + 1];
        if constexpr (F == 3) {
          const std::uint32_t stored = low;
          low = __byte_perm(stored, high, args_.order.front);
          high = __byte_perm(stored, high, args_.order.back);
          if (!several || t == args_.centre_t) last[n] = high;
          low &= args_.mask, high &= args_.mask;
        }
        add(sum[n][0], value(low & 0xFFFF, args_.zero[0]));
        add(sum[n][1], value(low >> 16, args_.zero[1]));
        add(sum[n][2], value(high & 0xFFFF, args_.zero[2]));
        if constexpr (F == 4) add(sum[n][3], value(high >> 16, 0));
      }
#pragma unroll
      for (int k = 0; k < extras; ++k)
        add(beside[k], side_ghost_[k] ? ghost : value(F == 3 ? side[k] & args_.mask : side[k], zero));
    }
    char* const row = memory_ + (i & 1) * Shared::row;
    put(row, sum, beside, last);
    __syncwarp();  // and all have read the row before the last, where the next one will be written
    return row + lane_ * Shared::place;
  }

 private:
  /// A sample less its zero level, exactly: both are multiples of the least float.
  static __device__ __forceinline__ float value(std::uint32_t sample, float zero) {
    return F == 4 ? __uint_as_float(sample) : __fsub_rn(__uint_as_float(sample), zero);
  }
  /// Puts a lane's pixels and its samples of the sides into a row.
  __device__ __forceinline__ void put(char* row, const float (&sum)[own][F], const float (&beside)[extras],
                                      const std::uint32_t (&last)[own]) const {
#pragma unroll
    for (int n = 0; n < own; ++n)
      if (has_[n / 2])
        *reinterpret_cast<float4*>(row + own_to_ + n % 2 * Shared::pitch + n / 2 * (64 / own) * Shared::place) = {
            sum[n][0], sum[n][1], sum[n][2], F == 4 ? sum[n][F - 1] : __uint_as_float(last[n])};
#pragma unroll
    for (int k = 0; k < extras; ++k)
      if (has_side_[k]) *reinterpret_cast<float*>(row + side_to_[k]) = beside[k];
  }
  /// The column of pixel n of the sides: first those to the left of the strip.
  __device__ __forceinline__ int pixel_beside(int n) const {
    return n < radius ? place_.begin - radius + n : place_.end + n - radius;
  }
  /// Starts to copy the next row of a frame to the next slot.
  __device__ __forceinline__ void start() {
    if (put_row_ < place_.rows) {
      const PlaneView view = args_.in[several ? put_frame_ : 0];
      if (!several || view.data) {
        const char* const row = static_cast<const char*>(view.data) + line_ * view.stride;
        const std::uint32_t to = slots_ + put_;
#pragma unroll
        for (int h = 0; h < pieces; ++h)
          ptx::copy_async<16>(to + 16 * lane_ + 512 * h, row + own_from_ + 512 * h, has_[h]);
        ptx::copy_async<8>(to + Shared::side + 8 * lane_, row + side_from_, copies_side_);
      }
      if (!several || ++put_frame_ == args_.frames) {
        put_frame_ = 0;
        ++put_row_;
        line_ = edge_index(args_.lines, place_.top - radius + put_row_);
      }
      put_ = put_ == (slots - 1) * Shared::slot ? 0 : put_ + Shared::slot;
    }
    ptx::commit_copies();
  }

  const FourStreamArgs& args_;
  const FourPlace& place_;
  const int lane_;
  char* const memory_;
  std::uint32_t slots_;
  bool has_[pieces], copies_side_, has_side_[extras], side_ghost_[extras];
  int own_from_, own_to_, side_from_, side_at_, side_to_[extras];
  int take_ = Shared::first_slot, put_ = 0;  ///< slots, in bytes
  int put_row_ = 0, put_frame_ = 0, line_ = 0;
};

/// Rounds a lane's sums of its pixels and stores them. `copied`: F == 3: the copied components of two pixels a word.
template <int F, int own>
__device__ __forceinline__ void finish_four(const FourStreamArgs& args, const float (&sum)[own * F],
                                            const std::uint32_t (&copied)[own / 2], char* to) {
  std::uint32_t code[own * F];
  if (args.gain_low != 0)
#pragma unroll
    for (int i = 0; i < own * F; ++i) {
      const float quotient = __fmaf_rn(sum[i], args.gain, __fmul_rn(sum[i], args.gain_low));
      code[i] = ptx::round_to_u16(__fadd_rn(__fadd_rn(quotient, four_stream_whole), args.offset[i % F]));
    }
  else if (args.numbers.divisor != 0)
#pragma unroll
    for (int i = 0; i < own * F; ++i)
      code[i] = ptx::round_to_u16(remainder_value(__fmul_rn(sum[i], second_factor), args.numbers.gain,
                                                  args.offset[i % F], args.numbers.divisor));
  else
#pragma unroll
    for (int i = 0; i < own * F; ++i)
      code[i] =
          ptx::round_to_u16(__fadd_rn(__fmaf_rn(sum[i], args.gain, args.offset[i % F]), -args.numbers.rounding_bias));
  // Samples have all their 16 bits where all components are filtered.
  if (F == 3 && args.numbers.shift != 0)
#pragma unroll
    for (int i = 0; i < own * F; ++i)
      code[i] = min(code[i], static_cast<std::uint32_t>(args.numbers.max)) << args.numbers.shift;
  std::uint32_t word[2 * own];
#pragma unroll
  for (int n = 0; n < own; ++n) {
    const std::uint32_t* const c = code + n * F;
    const std::uint32_t front = __byte_perm(c[0], c[1], 0x5410);
    if constexpr (F == 4) {
      word[2 * n] = front, word[2 * n + 1] = __byte_perm(c[2], c[F - 1], 0x5410);
    } else {
      const std::uint32_t back = __byte_perm(c[2], copied[n / 2], n % 2 ? 0x7610 : 0x5410);
      word[2 * n] = __byte_perm(front, back, args.order.stored_front);
      word[2 * n + 1] = __byte_perm(front, back, args.order.stored_back);
    }
  }
#pragma unroll
  for (int i = 0; i < own / 2; ++i)
    reinterpret_cast<uint4*>(to)[i] = {word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]};
}

/// The copied components of a lane's pixels, two a word, on their way from where they are read to the row that they
/// belong to, `radius` rows later.
template <int radius, int own>
struct FourCopied {
  std::uint32_t word[radius + 1][own / 2] = {};
  /// Row i has been read; `last`: the words that hold its components.
  __device__ __forceinline__ void put(const std::uint32_t (&last)[own]) {
#pragma unroll
    for (int h = 0; h < own / 2; ++h) {
#pragma unroll
      for (int r = radius; r > 0; --r) word[r][h] = word[r - 1][h];
      word[0][h] = __byte_perm(last[2 * h], last[2 * h + 1], 0x7632);
    }
  }
  __device__ __forceinline__ const std::uint32_t (&oldest() const)[own / 2] {
    return word[radius];
  }
};

/// A warp's way down its strip. add_row(place, i, row, sum, last) adds row i of the place to the lane's sums, of which
/// those of the topmost row are complete then, and gets the words that hold the copied component of its pixels.
template <int F, int width, int slots, bool several, int own, class AddRow>
__device__ __forceinline__ void run_four_stream(const FourStreamArgs& args, const AddRow& add_row) {
  extern __shared__ __align__(16) char shared[];
  using Shared = FourShared<width, slots, own>;
  constexpr int radius = width / 2;
  const int local = __shfl_sync(~0u, threadIdx.x >> 5, 0), warp = blockIdx.x * four_stream_warps + local;
  if (warp >= args.warps) return;
  const FourPlace place(args, warp, radius, Shared::strip);
  FourRows<F, width, slots, several, own> rows(args, shared + local * Shared::bytes, place);
  rows.prefetch();
  pdl_wait();
  rows.begin();
  const int x = place.begin + own * (threadIdx.x & 31);
  const bool stores = x < place.end;
  char* to = static_cast<char*>(args.out.data) + place.top * args.out.stride + x * Shared::pixel;
  float sum[width][own * F] = {};
  FourCopied<F == 3 ? radius : 0, own> copied;
#pragma unroll 1
  for (int i = 0; i < place.rows; ++i) {
    const char* const row = rows.make(i);
    std::uint32_t last[own];
    add_row(place, i, row, sum, last);
    if constexpr (F == 3) copied.put(last);
    if (i >= 2 * radius) {
      if (stores) finish_four<F, own>(args, sum[0], copied.oldest(), to);
      to += args.out.stride;
    }
  }
}

#endif

}  // namespace convolve::cuda
