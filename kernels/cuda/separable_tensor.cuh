// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// separable on the tensor cores, for bytes: both passes are banded matrix products chained through registers.
//
// A warp owns a strip of 64 output bytes and marches down it, 16 rows a step. Its input window is `blocks` blocks of 32
// bytes. Lane (g, t) = (lane / 4, lane % 4) loads word g of each block, of rows 4t..4t+3 of a chunk of 16 rows;
// byte j of the words of all lanes is tile j, the 16 (or 32) x 8 operand of the column pass: V = C X, with C the banded
// matrix of the column, 16 output rows by the 32 rows of two chunks. V's fragments lie as the left operand of the row
// pass wants them, H = V R, whose columns are dealt out so that a lane ends with 8 neighbouring bytes of two rows.
// Neither pass touches shared memory or another lane.
//
// Real taps: half precision throughout, samples as subnormal halves (a byte is b * 2^-24), V less its middle level, H
// as a fraction of 255 less a half; the plan bounds the error and serves the case only where that is within one code
// value. Integer taps: 8-bit operands, 32-bit sums, V as two 8-bit digits; exact.
#pragma once

#include <type_traits>

#include "convolve/border.hpp"
#include "convolve/plane.hpp"
#include "cuda/rounding.cuh"
#include "cuda/separable_products.cuh"
#include "cuda/separable_tuning.hpp"

namespace convolve::cuda::tensor {

constexpr int column_entries = 48, row_entries = 96;
constexpr int column_origin = 15, row_origin = 31;  ///< the tables' entries for offset 0
constexpr int reach = 8;                            ///< rows between a step's first input and its first output
constexpr int step_rows = 16, chunk_rows = 16, block_bytes = 32, strip_bytes = 64;

struct TensorPlane {
  const std::uint8_t* in;
  std::uint8_t* out;
  std::ptrdiff_t in_stride, out_stride;
  int row_bytes, width, height;
  int first_block, blocks_x;
  int components;
  bool words, out_words;   ///< addresses and strides allow words in, pairs of words out
  std::uint32_t copied;    ///< the bytes of a word that are not filtered
  std::uint32_t ghost;     ///< a word of ghost cells
  bool pairs;              ///< addresses and strides allow pairs of words in
  std::uint32_t start[4];  ///< real: what H starts at, as two equal halves
  float offset[4];         ///< exact: the quantizer's offset and snap
  int constant[4];         ///< exact: what H's last digit starts at
};

struct TensorArgs {
  TensorPlane plane[max_planes];
  int planes, steps;
  Border border;
  std::uint32_t start;  ///< real: what V starts at, as two equal halves
  float gain, snap;
  std::uint32_t column[column_entries];
  std::uint32_t row[2][row_entries];  ///< for one component, and for two or four
};

__host__ __device__ constexpr int blocks_of(int components) {
  return components == 4 ? 4 : 3;
}
/// Pixels between a window's first input and its first output.
__host__ __device__ constexpr int offset_of(int components) {
  return components == 1 ? 16 : 8;
}

/// How one word of a window is made of the frame's row, where the window crosses a side: from two words, at byte
/// `at[0]` and `at[1]` (negative: ghost cells) with byte selector `at[2]`; or from bytes, negative ones ghost cells.
struct alignas(16) Source {
  int at[4];
};

struct Shared {
  std::uint32_t column[column_entries];
  std::uint32_t row[2][row_entries];
  Source source[TensorTile::warps][4 * 8];  ///< where windows cross a side of the frame
};

/// For positions outside an axis; few warps come here. Inline: with calls in its loop the kernel would lose its uniform
/// registers.
__device__ __forceinline__ int outside_index(Border border, int i, int n) {
  return border_index(border, i, n);
}

/// Where a warp's window lies, and how its lanes read it. One path for all warps, with short detours at the frame's
/// edges: a second copy of the code would cost more in instruction misses than it saves.
template <int C>
struct Input {
  static constexpr int blocks = blocks_of(C);
  using Words = std::uint32_t[blocks][4];  ///< of four rows
  const TensorArgs& args;
  const TensorPlane& plane;
  const std::uint8_t* const in;
  const std::ptrdiff_t stride;
  const Source* const source;    ///< where the window crosses a side of the frame: by word
  const int left, height, g, t;  ///< the window's first byte, and the lane
  const bool sides;              ///< the window crosses a side of the frame, or words cannot be loaded
  bool gather = false;           ///< words there are put together from bytes

  __device__ bool crosses(int chunk) const { return chunk < 0 || chunk + chunk_rows > height; }
  /// Where the chunk's rows 4t..4t+3 are found; negative for ghost cells. Each lane looks up one row.
  __device__ void find_rows(int (&row)[4], int chunk) const {
    int mine = chunk + ((4 * g + t) & 15);
    if (static_cast<unsigned>(mine) >= static_cast<unsigned>(height)) mine = outside_index(args.border, mine, height);
#pragma unroll
    for (int i = 0; i < 4; ++i) row[i] = __shfl_sync(~0u, mine, 4 * t + i);
  }
  /// The chunk's rows 4t..4t+3; some words are stand-ins until mend() has seen them. `second` is what it needs besides.
  __device__ void load(Words& word, Words& second, int chunk) const {
    const std::uint8_t* from[4];
    if (!crosses(chunk)) {
      from[0] = in + (chunk + 4 * t) * stride;
#pragma unroll
      for (int i = 1; i < 4; ++i) from[i] = from[i - 1] + stride;
    } else {
      int row[4];
      find_rows(row, chunk);
#pragma unroll
      for (int i = 0; i < 4; ++i) from[i] = in + max(row[i], 0) * stride;
    }
    if (!sides) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int b = 0; b < blocks; ++b)
          word[b][i] = __ldg(reinterpret_cast<const std::uint32_t*>(from[i] + left + 4 * g + b * block_bytes));
    } else if (!gather) {
#pragma unroll
      for (int b = 0; b < blocks; ++b) {
        const Source words = source[b * 8 + g];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          word[b][i] = __ldg(reinterpret_cast<const std::uint32_t*>(from[i] + words.at[0]));
          second[b][i] = plane.ghost;
          if (words.at[1] >= 0) second[b][i] = __ldg(reinterpret_cast<const std::uint32_t*>(from[i] + words.at[1]));
        }
      }
    }
  }
  /// Puts the border's cells into the words of load().
  __device__ void mend(Words& word, const Words& second, int chunk) const {
    if (sides) {
      if (gather) {
        int row[4];
        find_rows(row, chunk);
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
          const Source bytes = source[b * 8 + g];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const std::uint8_t* from = in + max(row[i], 0) * stride;
            word[b][i] = 0;
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const std::uint32_t byte = bytes.at[e] < 0 ? plane.ghost >> (8 * e) & 255
                                                         : static_cast<std::uint32_t>(__ldg(from + bytes.at[e]));
              word[b][i] |= byte << (8 * e);
            }
          }
        }
      } else {
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
          const int selector = source[b * 8 + g].at[2];
#pragma unroll
          for (int i = 0; i < 4; ++i) word[b][i] = __byte_perm(word[b][i], second[b][i], selector);
        }
      }
    }
    if (crosses(chunk) && args.border == Border::constant) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (static_cast<unsigned>(chunk + 4 * t + i) >= static_cast<unsigned>(height))
#pragma unroll
          for (int b = 0; b < blocks; ++b) word[b][i] = plane.ghost;
    }
  }
};

/// Where the bytes of the window's word at byte `x` are found in a row.
template <int C>
__device__ __forceinline__ void find_bytes(Source& bytes, const TensorArgs& args, const TensorPlane& plane, int x) {
#pragma unroll 1
  for (int e = 0; e < 4; ++e) {
    const int pixel = outside_index(args.border, (x + e) >> (C >> 1), plane.width);
    bytes.at[e] = pixel < 0 ? -1 : pixel * C + ((x + e) & (C - 1));
  }
}
/// The same as words; false where two do not suffice.
__device__ __forceinline__ bool as_words(Source& words, const Source& bytes, const TensorPlane& plane) {
  int first = -1, second = -1, selector = 0;
  bool ghost = false, suffice = plane.words;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int at = bytes.at[e], word = at & ~3;
    if (at < 0) {
      ghost = true;
      selector |= (4 + e) << (4 * e);
    } else if (first < 0 || first == word) {
      first = word;
      selector |= (at & 3) << (4 * e);
    } else if (second < 0 || second == word) {
      second = word;
      selector |= (4 + (at & 3)) << (4 * e);
    } else {
      suffice = false;
    }
  }
  words.at[0] = max(first, 0);
  words.at[1] = ghost ? -1 : second >= 0 ? second : words.at[0];
  words.at[2] = selector;
  return suffice && !(ghost && second >= 0) && max(first, second) + 4 <= plane.row_bytes;
}

/// Four rows of a block's words to the four tiles' operands: tile j is byte j of every word.
template <bool exact>
__device__ __forceinline__ void transpose(const std::uint32_t (&word)[4], std::uint32_t (&tile)[4][exact ? 1 : 2]) {
  constexpr std::uint32_t middle = exact ? 0x80808080 : 0;  // exact: samples less 128, as signed bytes
  const std::uint32_t w0 = word[0] ^ middle, w1 = word[1] ^ middle, w2 = word[2] ^ middle, w3 = word[3] ^ middle;
  const std::uint32_t a = __byte_perm(w0, w1, 0x5140), b = __byte_perm(w0, w1, 0x7362);
  const std::uint32_t c = __byte_perm(w2, w3, 0x5140), d = __byte_perm(w2, w3, 0x7362);
  if constexpr (exact) {
    tile[0][0] = __byte_perm(a, c, 0x5410);
    tile[1][0] = __byte_perm(a, c, 0x7632);
    tile[2][0] = __byte_perm(b, d, 0x5410);
    tile[3][0] = __byte_perm(b, d, 0x7632);
  } else {
    constexpr std::uint32_t high = 0;
    tile[0][0] = __byte_perm(a, high, 0x4140);
    tile[0][1] = __byte_perm(c, high, 0x4140);
    tile[1][0] = __byte_perm(a, high, 0x4342);
    tile[1][1] = __byte_perm(c, high, 0x4342);
    tile[2][0] = __byte_perm(b, high, 0x4140);
    tile[2][1] = __byte_perm(d, high, 0x4140);
    tile[3][0] = __byte_perm(b, high, 0x4342);
    tile[3][1] = __byte_perm(d, high, 0x4342);
  }
}

/// The matrices' fragments of one lane, and the two passes with them.
template <bool exact, int C>
struct Products;

template <int C>
struct Products<false, C> {
  static constexpr int blocks = blocks_of(C);
  static constexpr int shifts = C == 1 ? 10 : C == 2 ? 4 : 1;                 ///< of the row's fragments
  [[maybe_unused]] static constexpr int least = C == 1 ? 6 : C == 2 ? 2 : 0;  ///< minus the first of them
  static constexpr int spans = C == 4 ? 3 : 2;                                ///< blocks that an output block takes
  std::uint32_t column[2][4], row[spans][shifts];
  std::uint32_t value[blocks][4][2];  ///< V, tile by tile: rows g and g + 8
  std::uint32_t start[2], from[C];    ///< what V and H start at

  __device__ void prepare(const TensorArgs& args, const TensorPlane& plane, const Shared& shared, int g, int t) {
    start[0] = start[1] = args.start;
#pragma unroll
    for (int c = 0; c < C; ++c) from[c] = plane.start[c];
#pragma unroll
    for (int chunk = 0; chunk < 2; ++chunk)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        column[chunk][i] = shared.column[column_origin + 16 * chunk + 4 * t + (i >> 1) * 2 - g - (i & 1) * 8];
    const std::uint32_t* entry = shared.row[C == 1 ? 0 : 1] + row_origin;
#pragma unroll
    for (int b = 0; b < spans; ++b)
#pragma unroll
      for (int s = 0; s < shifts; ++s) {
        if constexpr (C == 1) row[b][s] = entry[8 * t + 32 * b + s - least - 8 * (g >> 1) - (g & 1)];
        if constexpr (C == 2) row[b][s] = entry[4 * t + 16 * b + s - least - 4 * (g >> 1) - (g & 1)];
        if constexpr (C == 4) row[b][s] = entry[8 * b + 2 * t - g - least];
      }
  }
  __device__ void columns(int b, int j, const std::uint32_t (&upper)[2], const std::uint32_t (&lower)[2]) {
    std::uint32_t d[2];
    mma_f16_k16(d, column[0], upper[0], upper[1], start);
    mma_f16_k16(value[b][j], column[1], lower[0], lower[1], d);
  }
  __device__ void pack(int) {}
  /// A lane's eight bytes of output block `ob`, of rows g and g + 8.
  __device__ void rows(uint2 (&bytes)[2], int ob, const TensorArgs&, bool skip_last) const {
    std::uint32_t code[4][2];
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int c = C == 1 ? 0 : C == 2 ? n & 1 : n;
      std::uint32_t d[2] = {from[c], from[c]};
      if constexpr (C == 1) {
#pragma unroll
        for (int b = 0; b < 2; ++b)
#pragma unroll
          for (int j = 0; j < 4; j += 2)
            product(d, value[ob + b][j], value[ob + b][j + 1], row[b][j - 2 * n + least],
                    row[b][j + 1 - 2 * n + least]);
      } else if constexpr (C == 2) {
        const int i = n >> 1;
#pragma unroll
        for (int b = 0; b < 2; ++b)
          product(d, value[ob + b][c], value[ob + b][c + 2], row[b][-2 * i + least], row[b][1 - 2 * i + least]);
      } else if (n < 3 || !skip_last) {
        product(d, value[ob][n], value[ob + 1][n], row[0][0], row[1][0]);
        std::uint32_t e[2];
        mma_f16_k8(e, value[ob + 2][n][0], value[ob + 2][n][1], row[2][0], d);
        d[0] = e[0], d[1] = e[1];
      }
      code[n][0] = codes_of_halves(d[0]);
      code[n][1] = codes_of_halves(d[1]);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if constexpr (C == 1) {
        bytes[h] = {__byte_perm(code[0][h], code[1][h], 0x6420), __byte_perm(code[2][h], code[3][h], 0x6420)};
      } else {
        const std::uint32_t a = __byte_perm(code[0][h], code[1][h], 0x6240);
        const std::uint32_t b = __byte_perm(code[2][h], code[3][h], 0x6240);
        if constexpr (C == 2)
          bytes[h] = {a, b};
        else
          bytes[h] = {__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632)};
      }
    }
  }
  static __device__ void product(std::uint32_t (&d)[2], const std::uint32_t (&left)[2], const std::uint32_t (&right)[2],
                                 std::uint32_t b0, std::uint32_t b1) {
    const std::uint32_t a[4] = {left[0], left[1], right[0], right[1]};
    std::uint32_t e[2];
    mma_f16_k16(e, a, b0, b1, d);
    d[0] = e[0], d[1] = e[1];
  }
};

template <int C>
struct Products<true, C> {
  static constexpr int blocks = blocks_of(C);
  std::uint32_t column[4], row[2][C == 1 ? 6 : 2];
  int sums[2][4][4];                              ///< V of the block at hand and the one before, tile by tile
  std::uint32_t low[blocks][4], high[blocks][4];  ///< V's digits, as the row pass takes them
  int constant[C];                                ///< of TensorPlane
  float offset[C];

  __device__ void prepare(const TensorArgs&, const TensorPlane& plane, const Shared& shared, int g, int t) {
#pragma unroll
    for (int c = 0; c < C; ++c) constant[c] = plane.constant[c], offset[c] = plane.offset[c];
#pragma unroll
    for (int i = 0; i < 4; ++i) column[i] = shared.column[column_origin + 4 * t + (i >> 1) * 16 - g - (i & 1) * 8];
    const std::uint32_t* entry = shared.row[C == 1 ? 0 : 1] + row_origin;
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      if constexpr (C == 1) {
#pragma unroll
        for (int s = 0; s < 6; ++s) row[b][s] = entry[8 * t + 32 * b + 2 * s - 6 - 8 * (g >> 1) - (g & 1)];
      } else if constexpr (C == 2) {
#pragma unroll
        for (int i = 0; i < 2; ++i) row[b][i] = entry[4 * t + 16 * b - 2 * i - 4 * (g >> 1) - (g & 1)];
      } else {
#pragma unroll
        for (int ob = 0; ob < 2; ++ob) row[b][ob] = entry[16 * b + 2 * t - g - 8 * ob];
      }
    }
  }
  __device__ void columns(int b, int j, const std::uint32_t (&upper)[1], const std::uint32_t (&lower)[1]) {
    mma_s8_s8(sums[b & 1][j], column, upper[0], lower[0]);
  }
  static __device__ void digits(std::uint32_t& low, std::uint32_t& high, int s0, int s1, int s2, int s3) {
    const std::uint32_t first = __byte_perm(s0, s1, 0x5410), second = __byte_perm(s2, s3, 0x5410);
    low = __byte_perm(first, second, 0x6420);
    high = __byte_perm(first, second, 0x7531);
  }
  /// The digits of block b, whose sums are complete. One component: of the whole block. Two: word pairs by component.
  /// Four: of blocks b - 1 and b together, by component.
  __device__ void pack(int b) {
    const int(&s)[4][4] = sums[b & 1];
    if constexpr (C == 1) {
      digits(low[b][0], high[b][0], s[0][0], s[1][0], s[2][0], s[3][0]);
      digits(low[b][1], high[b][1], s[0][2], s[1][2], s[2][2], s[3][2]);
      digits(low[b][2], high[b][2], s[0][1], s[1][1], s[2][1], s[3][1]);
      digits(low[b][3], high[b][3], s[0][3], s[1][3], s[2][3], s[3][3]);
    } else if constexpr (C == 2) {
#pragma unroll
      for (int c = 0; c < 2; ++c)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          digits(low[b][2 * c + h], high[b][2 * c + h], s[c][2 * h], s[c + 2][2 * h], s[c][2 * h + 1],
                 s[c + 2][2 * h + 1]);
    } else if (b & 1) {
      const int(&before)[4][4] = sums[0];
#pragma unroll
      for (int c = 0; c < 4; ++c)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          digits(low[b - 1 + h][c], high[b - 1 + h][c], before[c][2 * h], before[c][2 * h + 1], s[c][2 * h],
                 s[c][2 * h + 1]);
    }
  }
  /// A lane's eight bytes of output block `ob`, of rows g and g + 8.
  __device__ void rows(uint2 (&bytes)[2], int ob, const TensorArgs& args, bool skip_last) const {
    float code[2][8];
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int c = C == 1 ? 0 : C == 2 ? n & 1 : n;
      int d[4] = {};
      if (C < 4 || n < 3 || !skip_last) {
        products<true>(d, ob, n);
#pragma unroll
        for (int i = 0; i < 4; ++i) d[i] = d[i] * 256 + constant[c];
        products<false>(d, ob, n);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int e = i & 1;
        const int to = C == 1 ? 2 * n + e : C == 2 ? (2 * (n >> 1) + e) * 2 + (n & 1) : 4 * e + n;
        code[i >> 1][to] = __fadd_rn(__fmaf_rn(static_cast<float>(d[i]), args.gain, offset[c]), -args.snap);
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h)
      bytes[h] = {pack_bytes(code[h][0], code[h][1], code[h][2], code[h][3]),
                  pack_bytes(code[h][4], code[h][5], code[h][6], code[h][7])};
  }
  /// The high digits, signed, or the low ones, on top of d.
  template <bool signed_digit>
  __device__ void products(int (&d)[4], int ob, int n) const {
    const std::uint32_t(&digit)[blocks][4] = signed_digit ? high : low;
    if constexpr (C == 1) {
      if constexpr (signed_digit)
        mma_s8_s8(d, digit[ob], row[0][3 - n], row[0][5 - n]);
      else
        product<false>(d, digit[ob], row[0][3 - n], row[0][5 - n]);
      product<signed_digit>(d, digit[ob + 1], row[1][3 - n], row[1][5 - n]);
    } else {
      const int c = n & 1, i = C == 2 ? n >> 1 : ob;
      const std::uint32_t pairs[4] = {digit[ob][2 * c], digit[ob][2 * c + 1], digit[ob + 1][2 * c],
                                      digit[ob + 1][2 * c + 1]};
      const std::uint32_t fours[4] = {digit[0][n], digit[1][n], digit[2][n], digit[3 % blocks][n]};
      if constexpr (signed_digit)
        mma_s8_s8(d, C == 2 ? pairs : fours, row[0][i], row[1][i]);
      else
        product<false>(d, C == 2 ? pairs : fours, row[0][i], row[1][i]);
    }
  }
  template <bool signed_digit>
  static __device__ void product(int (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    const int c[4] = {d[0], d[1], d[2], d[3]};
    if constexpr (signed_digit)
      mma_s8_s8(d, a, b0, b1, c);
    else
      mma_u8_s8(d, a, b0, b1, c);
  }
};

/// Eight bytes of a row, from or to any address; `left` of them are in the frame.
__device__ __forceinline__ uint2 load_pair(const std::uint8_t* from, int left) {
  std::uint64_t bytes = 0;
#pragma unroll 1
  for (int i = 0; i < min(left, 8); ++i) bytes |= static_cast<std::uint64_t>(__ldg(from + i)) << (8 * i);
  return {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(bytes >> 32)};
}
__device__ __forceinline__ void store_bytes(std::uint8_t* to, uint2 pair, int left) {
  const std::uint64_t bytes = pair.x | static_cast<std::uint64_t>(pair.y) << 32;
#pragma unroll 1
  for (int i = 0; i < min(left, 8); ++i) to[i] = static_cast<std::uint8_t>(bytes >> (8 * i));
}
__device__ __forceinline__ void store_pair(std::uint8_t* to, uint2 pair, bool words, int left) {
  if (words && left >= 8)
    *reinterpret_cast<uint2*>(to) = pair;
  else
    store_bytes(to, pair, left);
}

/// Rows g, g + 8, ... of a strip that is not filtered.
__device__ __forceinline__ void copy_strip(const TensorPlane& plane, int x, int y, int rows, int g) {
#pragma unroll 1
  for (int i = g; i < rows; i += 8)
#pragma unroll 1
    for (int b = 0; b < strip_bytes; b += block_bytes) {
      const int left = plane.row_bytes - x - b;
      const std::uint8_t* from = plane.in + (y + i) * plane.in_stride + x + b;
      const uint2 pair = plane.pairs && left >= 8 ? __ldg(reinterpret_cast<const uint2*>(from)) : load_pair(from, left);
      store_pair(plane.out + (y + i) * plane.out_stride + x + b, pair, plane.out_words, left);
    }
}

template <bool exact, int C>
__device__ __forceinline__ void filter_strip(const TensorArgs& args, const TensorPlane& plane, Shared& shared) {
  constexpr int blocks = blocks_of(C), parts = exact ? 1 : 2;
  // From the shuffle the compiler knows that a warp agrees on it, and on the branches below.
  const int warp = __shfl_sync(~0u, threadIdx.x >> 5, 0);
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const int block = blockIdx.x - plane.first_block, band = block / plane.blocks_x;
  const int strip = ((block - band * plane.blocks_x) * TensorTile::warps + warp) * strip_bytes;
  const int top = band * args.steps * step_rows, height = plane.height;
  const int left = strip - offset_of(C) * C;
  const int steps = min(args.steps, (height - top + step_rows - 1) / step_rows);
  const bool works = strip < plane.row_bytes;
  const bool sides = left < 0 || left + blocks * block_bytes > plane.row_bytes || !plane.words;

  Input<C> input{args, plane, plane.in, plane.in_stride, shared.source[warp], left, height, g, t, sides};
  if (sides && works) {
    Source words;
    bool suffice = true;
    if (lane < 8 * blocks) {
      find_bytes<C>(shared.source[warp][lane], args, plane, left + 4 * lane);
      suffice = as_words(words, shared.source[warp][lane], plane);
    }
    input.gather = !__all_sync(~0u, suffice);
    if (!input.gather && lane < 8 * blocks) shared.source[warp][lane] = words;
    __syncwarp();
  }
  // The first loads are under way while the tables are copied.
  typename Input<C>::Words word, second, above, above_second;
  if (works) {
    input.load(above, above_second, top - reach);
    input.load(word, second, top - reach + chunk_rows);
  }
  for (int i = threadIdx.x; i < column_entries; i += blockDim.x) shared.column[i] = args.column[i];
  for (int i = threadIdx.x; i < row_entries; i += blockDim.x) {
    shared.row[0][i] = args.row[0][i];
    shared.row[1][i] = args.row[1][i];
  }
  __syncthreads();
  if (!works) return;
  if (C == 1 && plane.copied) {
    copy_strip(plane, strip + 8 * t, top, min(steps * step_rows, height - top), g);
    return;
  }

  Products<exact, C> products;
  products.prepare(args, plane, shared, g, t);
  std::uint32_t upper[blocks][4][parts];
  input.mend(above, above_second, top - reach);
#pragma unroll
  for (int b = 0; b < blocks; ++b) transpose<exact>(above[b], upper[b]);
  const bool skip_last = C == 4 && plane.copied >> 24;
  const int mine = plane.row_bytes - strip - 8 * t;  // bytes from this lane's first to the row's end
  const bool whole = strip + strip_bytes <= plane.row_bytes && plane.out_words;
  const std::ptrdiff_t out_stride = plane.out_stride;
  std::uint8_t* out = plane.out + (top + g) * out_stride + strip + 8 * t;
  const std::uint8_t* centre = input.in + (top + g) * input.stride + strip + 8 * t;
  const bool copies = C > 1 && plane.copied;

#pragma unroll 1
  for (int y = top; y < top + steps * step_rows; y += step_rows) {
    const int chunk = y - reach + chunk_rows;
    uint2 copied[2][2] = {};
    if (copies) {
#pragma unroll
      for (int ob = 0; ob < 2; ++ob)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          if (y + g + 8 * h < height) {
            const std::uint8_t* from = centre + 8 * h * input.stride + ob * block_bytes;
            if (whole && plane.pairs)
              copied[ob][h] = __ldg(reinterpret_cast<const uint2*>(from));
            else
              copied[ob][h] = load_pair(from, mine - ob * block_bytes);
          }
      centre += step_rows * input.stride;
    }
    input.mend(word, second, chunk);
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      std::uint32_t lower[4][parts];
      transpose<exact>(word[b], lower);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (C < 4 || j < 3 || !skip_last) products.columns(b, j, upper[b][j], lower[j]);
#pragma unroll
        for (int i = 0; i < parts; ++i) upper[b][j][i] = lower[j][i];
      }
      products.pack(b);
    }
    // The next words are on their way before the row pass begins.
    if (y + step_rows < top + steps * step_rows) input.load(word, second, chunk + chunk_rows);
#pragma unroll
    for (int ob = 0; ob < 2; ++ob) {
      uint2 bytes[2];
      products.rows(bytes, ob, args, skip_last);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        uint2& pair = bytes[h];
        if (copies) {
          pair.x = (pair.x & ~plane.copied) | (copied[ob][h].x & plane.copied);
          pair.y = (pair.y & ~plane.copied) | (copied[ob][h].y & plane.copied);
        }
        std::uint8_t* to = out + 8 * h * out_stride + ob * block_bytes;
        if (y + g + 8 * h < height) {
          if (whole)
            *reinterpret_cast<uint2*>(to) = pair;
          else
            store_pair(to, pair, plane.out_words, mine - ob * block_bytes);
        }
      }
    }
    out += step_rows * out_stride;
  }
}

/// `components`: the sum of the numbers of components that the frame's planes have, each counted once: 1, 3 or 4.
template <bool exact, int components>
__global__ void __launch_bounds__(32 * TensorTile::warps, TensorTile::blocks)
    tensor_kernel(const __grid_constant__ TensorArgs args) {
  __shared__ Shared shared;
  int p = 0;
  while (p + 1 < args.planes && static_cast<int>(blockIdx.x) >= args.plane[p + 1].first_block) ++p;
  const TensorPlane& plane = args.plane[p];
  if constexpr (components == 4) {
    filter_strip<exact, 4>(args, plane, shared);
  } else if constexpr (components == 3) {
    if (plane.components == 1)
      filter_strip<exact, 1>(args, plane, shared);
    else
      filter_strip<exact, 2>(args, plane, shared);
  } else {
    filter_strip<exact, 1>(args, plane, shared);
  }
}

}  // namespace convolve::cuda::tensor
