// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Engine: how the samples of one group are computed, as plain data and the functions of one SIMD target.
//
// Input rows are converted once ("staged"), borders included, into a ring of rows; a kernel then makes `block_rows`
// output rows at a time from the ring. Patterns repeat every `components` samples and are long enough to be loaded
// with whole vectors from any of their first `components` entries. No function allocates, and none reads or writes past
// the samples it is given, but for ring rows, which have room for `row_slack` elements after their end.
#pragma once

#include <memory>
#include <vector>

#include "convolve/arithmetic.hpp"
#include "convolve/component_group.hpp"
#include "convolve/plan.hpp"

namespace convolve::cpu {

inline constexpr int max_block_rows = 8;
inline constexpr int max_compiled_taps = 15;  ///< of a row or a column that kernels are compiled for, each number alone
inline constexpr int row_slack = 512;
inline constexpr int paired_bytes = 16;    ///< of each of two paired ring rows, in turns
inline constexpr int pattern_length = 96;  ///< components, plus a block of samples

/// A value for each component, in both precisions, repeated up to pattern_length.
struct Pattern {
  std::vector<float> single;
  std::vector<double> wide;

  Pattern() = default;
  explicit Pattern(const std::vector<double>& values);
  template <class T>
  const T* get() const {
    if constexpr (sizeof(T) == sizeof(float))
      return single.data();
    else
      return wide.data();
  }
};

/// Samples to ring elements: (sample >> shift) - zero; of several frames, their weighted sum.
struct Staging {
  int components = 1, shift = 0;
  Pattern zero, ghost;                 ///< ghost: with zero taken off, of one frame
  std::vector<double> weights;         ///< of the frames; empty: one frame as it is
  std::shared_ptr<const void> packed;  ///< the same in the function's own form, where it has one
  /// `rows`: for each frame the first of `n` samples, or null for ghost cells. Writes up to a vector past n.
  void (*run)(const Staging&, const void* const* rows, void* elements, int n) = nullptr;
};

/// A pass along the row while it is staged: of separable filters, element i comes from i, i + components, ...; or one
/// that lays the samples out anew.
struct RowPass {
  int components = 1;
  std::vector<double> coefficients;
  std::shared_ptr<const void> packed;
  int first = 0;              ///< tap that `coefficients` start with: those before it are 0, as are those after them
  int line_element_size = 4;  ///< what staging makes and this reads
  void (*run)(const RowPass&, const void* line, void* elements, int n) = nullptr;
};

/// Sums to samples; see Quantizer. All components take the way of the one that asks for most.
struct Quantization {
  int shift = 0;
  Division division = Division::product;
  float gain = 1, gain_low = 0, rounding_bias = 0, max = 255;
  double divisor = 1;
  Pattern offset;  ///< single: with the rounding bias of a product
};

/// Memory that will be read and written after this block: a kernel asks for it as it goes, so that staging and stores
/// find it in the cache. Sample i lies at i * step bytes. Addresses past the frame do no harm.
struct Ahead {
  static constexpr int usual_rows = 4;
  const char* in[max_block_rows * max_depth];  ///< Engine::ahead_rows of the centre frame, then of the others
  const char* out[max_block_rows];
  std::ptrdiff_t step;
  int inputs;

  /// A line that will be written.
  [[gnu::always_inline]] static inline void fetch_own(const char* line) {
#ifdef __x86_64__
    // The builtin makes it one for reading, but for newer targets.
    asm volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1, 3);
#endif
  }

  /// For samples [x, x + n) of `rows` rows from `first` on of one input; see fetch().
  template <int rows>
  [[gnu::always_inline]] inline void fetch_rows(int x, int n, int first) const {
    for (std::ptrdiff_t at = (x * step + 63) & -64; at < (x + n) * step; at += 64)
      for (int i = first; i < first + rows; ++i) {
        __builtin_prefetch(in[i] + at, 0, 3);
        fetch_own(out[i] + at);
      }
  }

  /// The same of usual_rows rows, half a line or less at a time: with few instructions where samples lie side by side.
  /// The input's lines are asked for as ones that will soon not be needed.
  template <int n>
  [[gnu::always_inline]] inline void fetch_side_by_side(int x, int first = 0) const {
    static_assert(n <= 32);
    if (step != 1 || n != 32) return fetch_rows<usual_rows>(x, n, first);
    if (x % 64 != 0) return;
    for (int i = first; i < first + usual_rows; ++i) {
      __builtin_prefetch(in[i] + x, 0, 0);
      fetch_own(out[i] + x);
    }
  }

  /// Lines that are asked for one by one, from row to row: many at a time would wait for each other.
  struct Lines {
    const char *in, *out;
    std::ptrdiff_t in_pitch, out_pitch;

    [[gnu::always_inline]] inline void fetch_next() {
      __builtin_prefetch(in, 0, 0);
      fetch_own(out);
      in += in_pitch;
      out += out_pitch;
    }
  };
  /// Those of samples [x, x + 64) of one input. Samples that do not lie side by side are asked for at once.
  template <int rows>
  [[gnu::always_inline]] inline Lines lines(int x) const {
    if (step != 1) {
      fetch_rows<rows>(x, 64, 0);
      return {in[0], out[0], 0, 0};
    }
    return {in[0] + x, out[0] + x, in[1] - in[0], out[1] - out[0]};
  }

  /// For samples [first, first + n). Always inlined: GCC 12 takes a function that only prefetches for one without
  /// effect, and drops its calls. Own: the output is asked for to be written; AMX and dot products gain by that, others
  /// lose. `rows` is Engine::ahead_rows.
  template <bool Own = false, int rows = usual_rows>
  [[gnu::always_inline]] inline void fetch(int first, int n) const {
    for (std::ptrdiff_t at = (first * step + 63) & -64; at < (first + n) * step; at += 64) {
      for (int i = 0; i < rows; ++i) {
        __builtin_prefetch(in[i] + at, 0, 3);
        if constexpr (Own)
          fetch_own(out[i] + at);
        else
          __builtin_prefetch(out[i] + at, 1, 3);
      }
      for (int i = rows; i < inputs; ++i) __builtin_prefetch(in[i] + at, 0, 3);
    }
  }
};

/// What a kernel call works on: rows[t * frame_rows + i] is ring row i of frame t, at tap column 0 of the first output
/// sample; i < height + block_rows - 1.
struct Block {
  const void* const* rows;
  int frame_rows;
  void* const* out;  ///< block_rows pointers; null: that row is not wanted
  int n;             ///< samples
  const void* const*
      passthrough;  ///< null, or the input rows where Engine::copies_passthrough, at the first output sample
  /// Where Engine::reads_centre, block_rows input rows at the first output sample: n samples each, side by side. A row
  /// that is not wanted has the last one that is.
  const void* const* centre;
  void* scratch;      ///< Engine::scratch_bytes of this thread
  void* state;        ///< where Engine::state_element_size
  bool state_is_new;  ///< no block above this one has left its sums there
  Ahead ahead;
};

/// The rows of a ring frame whose taps are not all 0.
struct TapRows {
  int first, count;
};

struct Kernel {
  int depth = 1, height = 1, width = 1;  ///< taps
  int components = 1;                    ///< distance of neighbouring taps
  std::vector<double> coefficients;      ///< [depth][height][width]
  std::vector<float> coefficients_f;     ///< the same
  std::vector<TapRows> tap_rows;         ///< of each frame, for kernels that skip rows of zeros
  std::shared_ptr<const void> packed;    ///< the same in the kernel's own form, where it has one
  Pattern start;                         ///< of the sums, for kernels over samples whose zero levels are still in
  double centre = 0;  ///< tap of the samples in Block::centre, for kernels that read them as they are
  Pattern zero;       ///< levels of those samples
  Quantization quantization;
  void (*run)(const Kernel&, const Block&) = nullptr;
};

struct Engine {
  int element_size = 4;    ///< of the ring, in bytes
  int block_rows = 4;      ///< output rows of one kernel call
  int block_samples = 64;  ///< that a kernel makes at a time; a last block may be smaller, at the cost of a whole one
  int ahead_rows = Ahead::usual_rows;
  int scratch_bytes = 0;  ///< for each thread, 64-byte aligned
  /// Ring rows 2i and 2i + 1 are laid out together by the row pass: row 2i + 1 starts paired_bytes after row 2i.
  bool paired_rows = false;
  /// Staging only copies, so the kernel may read the frame's own rows: for whole blocks of 64 samples, up to so many
  /// elements past as many as it makes. Negative: not so.
  int reads_past = -1;
  bool copies_passthrough = false;  ///< the kernel copies components that are not filtered, from Block::passthrough
  bool reads_centre = false;        ///< the kernel reads the input under each output sample, from Block::centre
  int ring_bytes = 192 << 10;       ///< what a strip's ring may take, unless the strip becomes too narrow
  Staging staging;
  /// A filter that is a sum of products of a column and a row has a ring "frame" for each: `terms` of each frame that
  /// the ring holds. Ring frame i is made by pass i % size from its frame's line; no passes: staging makes ring rows.
  std::vector<RowPass> row_passes;
  int terms = 1;
  /// Bytes that the kernel keeps of each column from one block to the next, in Block::state; 0: none. Such a kernel
  /// reads all ring rows for its first block, and then the first and the last block_rows of them.
  int state_element_size = 0;
  Kernel kernel;
  const char* name = "";  ///< of the kernel, for describe()
  double cost = 1;        ///< instructions for each 16 samples, roughly: `auto` takes the least
};

/// Levels of a group's components, and their rounding: where every algorithm starts.
Staging make_staging(const FrameLayout& layout, const ComponentGroup& group);
Quantization make_quantization(const Arithmetic& arithmetic, const FrameLayout& layout, const ComponentGroup& group);

/// The arithmetic of one group: components of other groups have no say in it.
Arithmetic choose_arithmetic(const PlanDesc& desc, const ComponentGroup& group);

/// Makes the engine of one component group; an algorithm has one.
using EngineMaker = Engine (*)(const PlanDesc& desc, const Arithmetic& arithmetic, const ComponentGroup& group);

}  // namespace convolve::cpu
