// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where a plane's windows lie in tiles of boxes of bytes: see byte_box.cuh. Host code only.
#pragma once

#include <algorithm>

#include "cuda/separable/byte_box.cuh"

namespace convolve::cuda::byte_box {

constexpr int floor_div(int a, int b) {
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/// Sets one stream's: its first pair of words begins `sample` samples of the stream before or after the thread's own.
template <class S>
void set_end(Ends& to, int stream, int from_stream, int word, bool funnel) {
  for (int j = 0; j <= S::words; ++j) {
    const int i = word + j, thread = floor_div(i, S::words);
    to.offset[stream][j] = 4 * (from_stream * S::stream_words + (i - thread * S::words) * S::pitch + S::pad + thread);
  }
  to.select[stream] = funnel ? two_words : whole_words;
}
/// `at`: the byte from the thread's first on where the end lies, of luma `luma_at`.
template <Kind kind, class S>
void set_ends(Ends& to, int at, int luma_at) {
  const int word = floor_div(at, 4), k = at - 4 * word;
  if constexpr (kind == Kind::pairs) {
    const int luma_word = floor_div(luma_at, 4);
    set_end<S>(to, 0, 0, luma_word, luma_at - 4 * luma_word == 2);
    set_end<S>(to, 1, 1, word, false);
  } else {
    set_end<S>(to, 0, k & 1, word, k >= 2);
    set_end<S>(to, 1, !(k & 1), word + (k == 3), k == 1 || k == 2);
  }
}
/// The windows of boxes of so many columns. False where a tile has no room for them.
template <Kind kind, int warps>
bool set_windows(Plane& to, int columns, int centre) {
  using S = Shape<kind, warps>;
  const int c = kind == Kind::pairs ? 4 : to.components, width = columns * c;
  to.before = centre * c, to.after = (columns - 1 - centre) * c;
  const int back = ceil_div(to.after, S::bytes), at = to.after - back * S::bytes;
  const int luma_at = to.after / 2 - back * S::bytes;
  set_ends<kind, S>(to.enters, at, luma_at);
  set_ends<kind, S>(to.leaves, at - width, luma_at - width / 2);
  to.back = back * S::bytes;
  // A tile's last pixel may be the frame's last, and mirrored about itself lead `after` before it.
  to.first_thread = ceil_div(std::max(to.before, to.after) + to.back, S::bytes);
  to.outputs = (S::threads - to.first_thread) * S::bytes;
  to.lead = to.first_thread * S::bytes - to.back;
  to.tiles_x = to.outputs > 0 ? (to.row_bytes - 1) / to.outputs + 1 : 0;
  return to.outputs > 0 && width - at <= S::pad * S::bytes;
}

/// Shared memory of a block of `groups` tiles that begin with sums of `units` units.
template <Kind kind, int warps>
int group_bytes(int groups, int units) {
  using S = Shape<kind, warps>;
  return std::max(groups * static_cast<int>(sizeof(Shared<S>)), units * 2 * S::words * S::threads * 4);
}

}  // namespace convolve::cuda::byte_box
