// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sums of a strip to samples, and those to the frame: see large_strips.cuh.
#pragma once

#include <type_traits>

#include "cuda/common/epilogue.cuh"
#include "cuda/common/ptx.cuh"
#include "cuda/separable/large.hpp"

namespace convolve::cuda::large {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Stores a warp's samples. A lane has, of each tile of 16 pixels, rows g and g + 8 and four pixels from pixel 4 t on.
/// `plain`: see is_plain().
template <int C, bool plain>
struct StripSamples {
  static constexpr int words = StripWarp<C>::tiles * C;  ///< of a row that a lane makes
  const Args& args;
  const Plane& plane;
  std::uint8_t* out;  ///< the lane's bytes of row g of the next 16
  std::ptrdiff_t stride;
  int rows, there;    ///< of the frame from that row on, bytes of it from there on
  int x, t;           ///< byte 0 of the warp in the frame
  bool whole, reads;  ///< the lane's bytes are stored at once; the input's samples are needed
  int way;            ///< how sums become samples: see make_values()
  std::uint32_t passthrough;
  float gain, level[C];

  std::uint8_t* outlet;  ///< TripleOutlet
  bool by_outlet;        ///< the warp stores through that

  __device__ StripSamples(const Args& args, const Plane& plane, int x, int y, std::uint8_t* outlet)
      : args(args),
        plane(plane),
        stride(plane.out_stride),
        rows(plane.height - y),
        x(x),
        t(threadIdx.x & 3),
        outlet(outlet) {
    // Lanes of a pair exchange words: the even one ends with eight bytes of the first tile.
    const int at = C == 1 ? x + (t & 1) * 16 + t / 2 * 8 : x + 4 * C * t;
    out = plane.out + y * stride + at;
    there = plane.row_bytes - at;
    whole = plain || (plane.out_wide && there >= 4 * words);
    if constexpr (C == 3) {
      // 16 bytes where addresses allow as many, and a warp has all of its pixels.
      by_outlet = plain || (x + 4 * TripleOutlet::row_words <= plane.row_bytes &&
                            (reinterpret_cast<std::uintptr_t>(plane.out) | stride) % 16 == 0);
      if (by_outlet) out = plane.out + (y + rows_after()) * stride + x + 16 * (lane() % TripleOutlet::pieces);
    }
    reads = !plain && (args.centre != 0 || plane.passthrough);
    way = reads ? 0 : args.whole == 0 ? 1 : args.rounding == 0 ? 2 : 3;
    ptx::hide(way);

    passthrough = plane.passthrough;
    gain = args.gain;
#pragma unroll
    for (int c = 0; c < C; ++c) level[c] = plane.level[c];
  }

  /// sum(r, w, b): of byte b of word w of row 8 r of the next 16 rows; integers with Plane::start in them.
  template <class Sums>
  __device__ __forceinline__ void store(const Sums& sum) {
    std::uint32_t in[2][words], code[2][words];  // `in`: where samples of the input are needed
    float value[2][words][4];
    const auto take = [&](int r) {
      clear(in[r]);
      if (8 * r < rows) load(in[r], row_of(r));
#pragma unroll
      for (int w = 0; w < words; ++w) add_centre(value[r][w], in[r][w]);
    };
    make_values(
        value, sum, [&](int w, int b) { return level[(4 * w + b) % C]; }, take);
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const float(&v)[4] = value[r][w];
        code[r][w] = pack_bytes(v[0], v[1], v[2], v[3]);
      }
    if (!plain && C > 1 && C != 3 && way == 0 && passthrough)
#pragma unroll
      for (int r = 0; r < 2; ++r) pass(code[r], in[r]);
    put(code);
  }
  /// Three components: what put() left in the outlet goes to the frame, once all of the warp's words are there.
  __device__ __forceinline__ void flush() {
    if constexpr (C == 3) {
      if (!plain && !by_outlet) return;
      const int last = rows + 16 - rows_after();
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if (lane() < TripleOutlet::lanes && 8 * r < last)
          *reinterpret_cast<uint4*>(out + 8 * r * stride) =
              reinterpret_cast<const uint4*>(outlet)[r * TripleOutlet::lanes + lane()];
      out += 16 * stride;
    }
  }
  /// The same, of the last rows.
  __device__ __forceinline__ void finish() {
    if constexpr (C == 3) {
      __syncwarp();
      flush();
    }
  }
  /// The next 16 rows as they are.
  __device__ __forceinline__ void copy() {
    std::uint32_t in[2][words] = {};
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if (8 * r < rows) load(in[r], row_of(r));
    put(in);
    __syncwarp();
    flush();
  }

 protected:
  static __device__ int lane() {
    return threadIdx.x & 31;
  }
  /// Of three components: how many rows after that which the lane makes it stores.
  static __device__ int rows_after() {
    return lane() / TripleOutlet::pieces - lane() / 4;
  }
  /// Row 8 r of the next 16 of the input.
  __device__ const std::uint8_t* row_of(int r) const {
    return plane.in + (plane.height - rows + 8 * r) * plane.in_stride;
  }
  static __device__ __forceinline__ void clear(std::uint32_t (&words_of)[words]) {
#pragma unroll
    for (std::uint32_t& word : words_of) word = 0;
  }
  /// Components that are copied.
  __device__ __forceinline__ void pass(std::uint32_t (&code)[words], const std::uint32_t (&in)[words]) const {
#pragma unroll
    for (int w = 0; w < words; ++w) code[w] = (code[w] & ~passthrough) | (in[w] & passthrough);
  }
  template <class Make>
  static __device__ __forceinline__ void for_each_value(float (&value)[2][words][4], const Make& make) {
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int w = 0; w < words; ++w)
#pragma unroll
        for (int b = 0; b < 4; ++b) value[r][w][b] = make(r, w, b);
  }
  /// Sums to values that are rounded to samples. level(w, b): of byte b of word w; take(r): takes row r of the input
  /// in, and adds the tap at the centre. Each branch is one for all samples, since a warp waits at it.
  template <class Sums, class Level, class Take>
  __device__ __forceinline__ void make_values(float (&value)[2][words][4], const Sums& sum, const Level& level,
                                              const Take& take) const {
    constexpr bool exact = std::is_integral_v<decltype(sum(0, 0, 0))>;
    // The usual ways first, with one branch.
    if constexpr (exact) {
      if (plain || way >= 2) {
        for_each_value(value, [&](int r, int w, int b) { return whole_product(sum(r, w, b), args.whole_level); });
        if (way == 3)
          for_each_value(value, [&](int r, int w, int b) { return __fadd_rn(value[r][w][b], -args.rounding); });
        return;
      }
    } else if (plain || way == 1) {
      for_each_value(value, [&](int r, int w, int b) { return __fmaf_rn(sum(r, w, b), gain, level(w, b)); });
      return;
    }
    const bool divides = !exact || args.whole == 0;
    if (divides)
      for_each_value(value, [&](int r, int w, int b) { return as_float(sum(r, w, b)); });
    else
      for_each_value(value, [&](int r, int w, int b) {
        return __fadd_rn(whole_product(sum(r, w, b), args.whole_level), -args.rounding);
      });
    if (reads)
#pragma unroll
      for (int r = 0; r < 2; ++r) take(r);
    if (!divides) return;
    if (exact && args.divisor != 0)
      for_each_value(
          value, [&](int r, int w, int b) { return remainder_value(value[r][w][b], gain, level(w, b), args.divisor); });
    else
      for_each_value(value, [&](int r, int w, int b) {
        const float v = value[r][w][b];
        return __fmaf_rn(v, gain, exact ? __fmul_rn(v, args.gain_low) : level(w, b));
      });
  }
  /// The tap at the centre times four bytes of the input.
  __device__ __forceinline__ void add_centre(float (&value)[4], std::uint32_t in) const {
#pragma unroll
    for (int b = 0; b < 4; ++b)  // a byte in the mantissa of 2^23 is 2^23 + that byte
      value[b] = fmaf(args.centre, __uint_as_float(__byte_perm(in, 0x4B000000, 0x7440 | b)) - 8388608.f, value[b]);
  }
  template <class Sum>
  __device__ __forceinline__ float whole_product(Sum sum, float level) const {
    return __fmaf_rn(__int_as_float(static_cast<int>(sum)), gain, level);
  }
  static __device__ float as_float(float sum) {
    return sum;
  }
  static __device__ float as_float(int sum) {
    return __int2float_rn(sum);
  }
  __device__ __forceinline__ void load(std::uint32_t (&in)[words], const std::uint8_t* row) const {
    load_words(in, row, x + 4 * C * t, C == 1 ? 16 : 4);
  }
  /// Words from byte `at` of a row on, `step` bytes apart, as far as the row has them.
  template <int n>
  __device__ __forceinline__ void load_words(std::uint32_t (&to)[n], const std::uint8_t* row, int at, int step) const {
    if (plane.out_wide && at + (n - 1) * step + 4 <= plane.row_bytes) {
#pragma unroll
      for (int w = 0; w < n; ++w) to[w] = __ldg(reinterpret_cast<const std::uint32_t*>(row + at + w * step));
    } else {
#pragma unroll 1
      for (int b = 0; b < 4; ++b)
#pragma unroll
        for (int w = 0; w < n; ++w)
          if (at + w * step + b < plane.row_bytes) to[w] |= std::uint32_t{__ldg(row + at + w * step + b)} << 8 * b;
    }
  }
  /// Both rows' words, of three components through flush(), and goes on to the next 16 rows.
  __device__ __forceinline__ void put(std::uint32_t (&code)[2][words]) {
    if constexpr (C == 3)
      if (plain || by_outlet) {
        put_into_outlet(code);
        rows -= 16;
        return;
      }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if constexpr (C == 1) {
        const std::uint32_t other = __shfl_xor_sync(~0u, t & 1 ? code[r][0] : code[r][1], 1);
        code[r][0] = t & 1 ? other : code[r][0];
        code[r][1] = t & 1 ? code[r][1] : other;
      }
      if (8 * r < rows && (!plain || there > 0)) put_row(out + 8 * r * stride, code[r]);
    }
    out += 16 * stride;
    rows -= 16;
  }
  __device__ __forceinline__ void put_into_outlet(const std::uint32_t (&code)[2][words]) const {
    std::uint32_t* const own = reinterpret_cast<std::uint32_t*>(outlet) + lane() * words;  // rows follow each other
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int w = 0; w < words; ++w) own[8 * r * TripleOutlet::row_words + w] = code[r][w];
  }
  __device__ __forceinline__ void put_row(std::uint8_t* to, const std::uint32_t (&code)[words]) const {
    if (plain || whole) {
      if constexpr (C == 4)
        *reinterpret_cast<uint4*>(to) = {code[0], code[1], code[2], code[3]};
      else if constexpr (C == 3)
#pragma unroll
        for (int w = 0; w < 3; ++w) reinterpret_cast<std::uint32_t*>(to)[w] = code[w];
      else
        *reinterpret_cast<uint2*>(to) = {code[0], code[1]};
      return;
    }
#pragma unroll 1
    for (int b = 0; b < 4; ++b)
#pragma unroll
      for (int w = 0; w < words; ++w)
        if (4 * w + b < there) to[4 * w + b] = static_cast<std::uint8_t>(code[w] >> 8 * b);
  }
};

#endif

}  // namespace convolve::cuda::large
