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
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/launch.hpp"
#include "cuda/rounding.cuh"
#include "cuda/separable.hpp"
#include "cuda/separable_products.cuh"
#include "cuda/separable_tuning.hpp"

namespace convolve::cuda {
namespace {

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

/// Kept out of line: it is long, and few warps need it.
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
        if constexpr (C == 4) row[b][s] = entry[8 * b + 2 * t - g];
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
      bytes[h] = {to_bytes(code[h][0], code[h][1], code[h][2], code[h][3]),
                  to_bytes(code[h][4], code[h][5], code[h][6], code[h][7])};
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

template <bool exact>
void launch(const TensorArgs& args, int components, int blocks, cudaStream_t stream) {
  constexpr int threads = 32 * TensorTile::warps;
  if (components == 1)
    tensor_kernel<exact, 1><<<blocks, threads, 0, stream>>>(args);
  else if (components == 3)
    tensor_kernel<exact, 3><<<blocks, threads, 0, stream>>>(args);
  else
    tensor_kernel<exact, 4><<<blocks, threads, 0, stream>>>(args);
}

class TensorPlan final : public Plan {
 public:
  TensorPlan(const PlanDesc& desc, const TensorArgs& args, bool exact, int components, int blocks)
      : shape_(desc.filter.shape()), args_(args), exact_(exact), components_(components), blocks_(blocks) {}

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    for (int p = 0; p < args_.planes; ++p) {
      TensorPlane& plane = args_.plane[p];
      const PlaneView& from = window.image[0]->plane[p];
      const PlaneView& to = out.plane[p];
      plane.in = static_cast<const std::uint8_t*>(from.data);
      plane.in_stride = from.stride;
      plane.words = plane.row_bytes >= 4 && aligned(from, 4);
      plane.pairs = aligned(from, 8);
      plane.out = static_cast<std::uint8_t*>(to.data);
      plane.out_stride = to.stride;
      plane.out_words = aligned(to, 8);
    }
    const auto queue = static_cast<cudaStream_t>(stream);
    exact_ ? launch<true>(args_, components_, blocks_, queue) : launch<false>(args_, components_, blocks_, queue);
    return launch_error();
  }
  Algorithm algorithm() const override { return Algorithm::separable; }
  std::string describe() const override {
    return "separable " + shape_ + ", tensor cores, " + (exact_ ? "8-bit integers" : "half precision") + ", " +
           std::to_string(args_.steps) + " steps of 16 rows";
  }

 private:
  static bool aligned(const PlaneView& view, int bytes) {
    return (reinterpret_cast<std::uintptr_t>(view.data) | static_cast<std::uintptr_t>(view.stride)) % bytes == 0;
  }

  std::string shape_;
  TensorArgs args_;
  bool exact_;
  int components_, blocks_;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}
double magnitude_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += std::abs(v);
  return sum;
}
double at(const std::vector<double>& values, int i) {
  return i >= 0 && i < static_cast<int>(values.size()) ? values[i] : 0;
}
double as_half(double v) {
  return __half2float(__float2half_rn(static_cast<float>(v)));
}
std::uint32_t half_bits(double v) {
  return __half_as_ushort(__float2half_rn(static_cast<float>(v)));
}

/// How far rounding to a half can move values of this magnitude.
double half_ulp(double magnitude) {
  return magnitude == 0 ? 0 : std::ldexp(1.0, std::max(std::ilogb(magnitude) - 11, -25));
}

/// The products in half precision: taps scaled for them, and how far the result can be from the exact one. Samples
/// are scaled by 2^-24, H by 1 / 255.
struct Halves {
  std::vector<double> column, row;
  double start;          ///< what V starts at, a half
  double unit;           ///< the scale of V: scaled = value * unit
  double magnitude;      ///< the largest |H| less its offset
  double error_of_taps;  ///< of H, from rounded taps and V

  explicit Halves(const Factors& f) {
    double largest = 0;
    for (const double v : f.column) largest = std::max(largest, std::abs(v));
    const int scale = 15 - 1 - std::ilogb(largest);
    unit = std::ldexp(1.0, scale - 24);
    double sum = 0, column_magnitude = 0, column_error = 0, row_magnitude = 0, row_error = 0;
    for (const double v : f.column) {
      const double wanted = std::ldexp(v, scale);
      column.push_back(as_half(wanted));
      sum += column.back();
      column_magnitude += std::abs(column.back());
      column_error += std::abs(column.back() - wanted);
    }
    for (const double v : f.row) {
      const double wanted = v / (255 * unit);
      row.push_back(as_half(wanted));
      row_magnitude += std::abs(row.back());
      row_error += std::abs(row.back() - wanted);
    }
    const double sample = std::ldexp(1.0, -24);
    start = as_half(-128 * sum * sample);
    const double v_magnitude = 128 * column_magnitude * sample + std::abs(128 * sum * sample + start);
    const double v_error = 128 * column_error * sample + 2 * half_ulp(v_magnitude);
    magnitude = v_magnitude * row_magnitude;
    error_of_taps = v_error * row_magnitude + v_magnitude * row_error;
  }
  /// How far a code value can be from the exact one before it is rounded, where H starts at `offset`: four sums, and
  /// the half that is added last.
  double error(double offset) const {
    return 255 * (error_of_taps + 4 * half_ulp(magnitude + std::abs(offset)) + half_ulp(offset) + half_ulp(0.75));
  }
};

template <bool exact>
void fill_tables(TensorArgs& args, const Filter& filter, const std::vector<double>& column,
                 const std::vector<double>& row, int components) {
  const auto word = [](const std::vector<double>& taps, int i, const int(&offset)[4]) {
    std::uint32_t bits = 0;
    for (int e = 0; e < (exact ? 4 : 2); ++e) {
      const double tap = at(taps, i + offset[e]);
      bits |= exact ? (static_cast<std::uint32_t>(static_cast<int>(tap)) & 255) << (8 * e) : half_bits(tap) << (16 * e);
    }
    return bits;
  };
  for (int i = 0; i < column_entries; ++i)
    args.column[i] = word(column, i - column_origin - reach + filter.centre_y(), {0, 1, 2, 3});
  for (int i = 0; i < row_entries; ++i) {
    const int at = i - row_origin + filter.centre_x();
    args.row[0][i] = exact ? word(row, at - offset_of(1), {0, 1, 2, 3}) : word(row, at - offset_of(1), {0, 4});
    if (components == 4)
      args.row[1][i] = exact ? word(row, at - offset_of(4), {0, 1, 8, 9}) : word(row, at - offset_of(4), {0, 1});
    else
      args.row[1][i] = exact ? word(row, at - offset_of(2), {0, 1, 2, 3}) : word(row, at - offset_of(2), {0, 2});
  }
}

}  // namespace

std::unique_ptr<Plan> make_separable_tensor(const Device& device, const PlanDesc& desc, const Arithmetic& arithmetic,
                                            const Factors& f) {
  const FrameLayout& layout = desc.layout;
  if (device.capability < 80 || desc.filter.depth() > 1) return nullptr;
  if (layout.type != SampleType::u8 || layout.bits != 8 || layout.shift != 0) return nullptr;
  if (arithmetic.accumulator == Accumulator::double_) return nullptr;
  const bool exact = arithmetic.accumulator == Accumulator::exact;

  TensorArgs args{};
  args.planes = layout.planes;
  args.border = desc.border;
  const double column = magnitude_of(f.column), row = magnitude_of(f.row), sum = sum_of(f.column) * sum_of(f.row);
  if (column == 0 || row == 0) return nullptr;
  const Halves halves(f);
  if (exact) {
    const auto fits = [](double v) { return v >= -128 && v <= 127; };
    if (!std::all_of(f.column.begin(), f.column.end(), fits) || !std::all_of(f.row.begin(), f.row.end(), fits))
      return nullptr;
    if (128 * column > 32767) return nullptr;  // V's two digits
  } else {
    args.start = half_bits(halves.start) * 0x10001u;
  }

  int components = 0;
  std::int64_t tiles = 0;
  for (int p = 0; p < layout.planes; ++p) {
    const PlaneLayout& from = layout.plane[p];
    TensorPlane& to = args.plane[p];
    if (!from.uniform() || from.components == 3) return nullptr;
    if (!(components & from.components)) components += from.components;
    to.components = from.components;
    to.width = from.component[0].width;
    to.height = from.component[0].height;
    to.row_bytes = to.width * to.components;
    tiles += (to.row_bytes / strip_bytes + 1LL) * (to.height / step_rows + 1LL);
    for (int i = 0; i < 4; ++i) {
      const Component& c = from.component[i % from.components];
      if (!c.filtered) {
        to.copied |= 255u << (8 * i);
        continue;
      }
      const Quantizer q = make_quantizer(arithmetic, layout, c);
      if (q.wide || c.zero != std::floor(c.zero)) return nullptr;
      args.gain = q.gain;
      args.snap = q.snap;
      double ghost = 0;
      if (desc.border == Border::constant) {
        ghost = std::nearbyint(c.ghost);
        if (ghost < 0 || ghost > 255) return nullptr;
      }
      to.ghost |= static_cast<std::uint32_t>(ghost) << (8 * i);
      if (exact) {
        to.offset[i] = q.offset + q.snap;
        to.constant[i] = static_cast<int>((128 - c.zero) * sum);
      } else {
        const double offset = c.zero + c.bias - c.zero * sum - halves.start / halves.unit * sum_of(f.row);
        const double scaled = offset / 255 - 0.5;
        to.start[i] = half_bits(scaled) * 0x10001u;
        const double ghost_error = desc.border == Border::constant ? std::abs(ghost - c.ghost) * column * row : 0;
        if (!(halves.error(scaled) + ghost_error < 0.95) || !(std::abs(scaled) < 1000)) return nullptr;
      }
    }
  }
  if (components == 2) components = 3;
  if (components > 4) return nullptr;

  const std::int64_t resident = std::int64_t{device.multiprocessors} * TensorTile::warps * TensorTile::blocks;
  args.steps = static_cast<int>(std::clamp<std::int64_t>((tiles + resident - 1) / resident, 1, TensorTile::most_steps));
  std::int64_t blocks = 0;
  for (int p = 0; p < layout.planes; ++p) {
    TensorPlane& plane = args.plane[p];
    constexpr int block_width = strip_bytes * TensorTile::warps;
    plane.first_block = static_cast<int>(blocks);
    plane.blocks_x = (plane.row_bytes - 1) / block_width + 1;
    blocks += std::int64_t{plane.blocks_x} * ((plane.height - 1) / (step_rows * args.steps) + 1);
    if (blocks > (1LL << 30)) throw PlanError("the frame is too large for one launch");
  }
  if (exact)
    fill_tables<true>(args, desc.filter, f.column, f.row, components);
  else
    fill_tables<false>(args, desc.filter, halves.column, halves.row, components);
  return std::make_unique<TensorPlan>(desc, args, exact, components, static_cast<int>(blocks));
}

}  // namespace convolve::cuda
