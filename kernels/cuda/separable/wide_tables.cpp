// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/separable/wide_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "cuda/common/half.hpp"

namespace convolve::cuda::wide {
namespace {

constexpr double sample_unit = 0x1p-24;

/// The pixel of a strip that column n of the row pass' product makes, so that a lane of the column pass ends with
/// neighbours that are vectors, which four lanes store side by side.
int pixel_of(const Strips& strips, int n) {
  const int i = n / 8, t = n % 8 / 2, e = n % 2, pairs = strips.run / 2;
  return i / pairs * 4 * strips.run + t * strips.run + i % pairs * 2 + e;
}
/// The pixel of a window that row k of a product of the row pass takes in.
int window_pixel(const Strips& strips, int product, int k) {
  const int of_piece = strips.piece_pixels / 4, t = k % 8 / 2, e = k % 2;
  return product / of_piece * 4 * strips.piece_pixels + t * strips.piece_pixels + product % of_piece * 4 + k / 8 * 2 +
         e;
}

/// The same of products of bytes, of 32 rows; below 0: none.
int window_pixel_of_bytes(const Strips& strips, int product, int k) {
  const int words = strips.piece_pixels / 4, word = 2 * product + k / 16, t = k % 16 / 4, e = k % 4;
  const int pixel = word / words * 4 * strips.piece_pixels + t * strips.piece_pixels + word % words * 4 + e;
  return pixel < strips.window ? pixel : -1;
}

/// The pieces of a strip's window, and the taps of its pixels.
class Window {
 public:
  Window(const Strips& strips, const StripAxis& axis, const std::vector<std::uint16_t>& tap_bits)
      : strips_(strips), axis_(axis), tap_bits_(tap_bits) {
    bits_.resize(strips.matrix_halves());
    outside_.resize(static_cast<std::size_t>(strips.pixels));
    low_ = high_ = outside_;
  }
  void set_inner() {
    for (int q = 0; q < strips_.pieces(); ++q) piece_.push_back(q);
    for (int n = 0; n < strips_.pixels; ++n)
      std::copy(tap_bits_.begin(), tap_bits_.end(), &bits_[index(n, axis_.lead + n)]);
  }
  /// Of the strip that begins at `left`. False where a tap finds no place.
  bool set(int left) {
    if (strips_.edges) return set_edges(left);
    if (strips_.tiles) return set_tile(left);
    first_ = left - axis_.before;
    for (int q = 0; q < strips_.pieces(); ++q) piece_.push_back(piece_at(first_ / unit() + q));
    for (int n = 0; n < std::min(strips_.pixels, axis_.width - left); ++n)
      if (!place_taps(n)) return false;
    return true;
  }
  void append_taps(const std::vector<int>& order, std::vector<std::byte>& to) const {
    std::vector<std::uint16_t> halves;
    halves.reserve(order.size());
    for (const int i : order) halves.push_back(bits_[static_cast<std::size_t>(i)]);
    append(to, halves);
  }
  void append_bytes(const std::vector<int>& order, std::vector<std::byte>& to) const {
    for (const int i : order)
      to.push_back(i < 0 ? std::byte{0} : static_cast<std::byte>(half_value(bits_[static_cast<std::size_t>(i)])));
  }
  /// Of bytes, in whole numbers.
  void append_whole_starts(std::vector<std::byte>& to) const {
    std::vector<std::int32_t> starts;
    for (int c = 0; c < strips_.components; ++c)
      for (int n = 0; n < strips_.pixels; ++n)
        starts.push_back(static_cast<std::int32_t>(axis_.ghost[static_cast<std::size_t>(c)] *
                                                   outside_[static_cast<std::size_t>(pixel_of(strips_, n))]));
    append(to, starts);
  }
  /// Of bytes with edges, whose sums begin with nothing: of two columns each, what the taps on the left of the frame
  /// add up to, and on its right.
  void append_edges(std::vector<std::byte>& to) const {
    std::vector<std::int32_t> sums;
    for (int n = 0; n < strips_.pixels; n += 2)
      for (const std::vector<double>* const side : {&low_, &high_})
        for (int e = 0; e < 2; ++e)
          sums.push_back(static_cast<std::int32_t>((*side)[static_cast<std::size_t>(pixel_of(strips_, n + e))]));
    append(to, sums);
  }
  void append_starts(std::vector<std::byte>& to) const {
    if (strips_.start_products) return append_start_products(to);
    std::vector<float> starts;
    for (int c = 0; c < strips_.components; ++c)
      for (int n = 0; n < strips_.pixels; ++n) starts.push_back(static_cast<float>(start(c, n)));
    append(to, starts);
  }
  void append_offsets(std::vector<std::byte>& to) const {
    std::vector<std::int32_t> offsets;
    for (const int piece : piece_) {
      const int at = (piece * unit() - first_) * strips_.pixel_bytes;
      offsets.push_back(strips_.pixel_bytes == 3 ? vectors_at(at, 3 * (axis_.width - piece * unit())) : at);
    }
    append(to, offsets);
  }

 private:
  /// What the sums of column n of the row pass' product begin with.
  double start(int c, int n) const {
    const double outside = outside_[static_cast<std::size_t>(pixel_of(strips_, n))];
    return axis_.row_start + axis_.ghost[static_cast<std::size_t>(c)] * outside * sample_unit;
  }
  /// As products read them, in the layout of the taps: in the first two rows two halves, with edges in the next ones
  /// the taps that meet the first pixel and those that meet the last, then zeros.
  void append_start_products(std::vector<std::byte>& to) const {
    std::vector<std::uint16_t> halves;
    const auto add = [&halves](double value) {
      halves.push_back(half_bits(value));
      halves.push_back(half_bits(value - half_value(halves.back())));
    };
    for (int c = 0; c < strips_.components; ++c) {
      for (int n = 0; n < strips_.pixels; ++n) {
        const auto pixel = static_cast<std::size_t>(pixel_of(strips_, n));
        add(start(c, n)), add(low_[pixel]), add(high_[pixel]);
        halves.insert(halves.end(), 2, 0);
      }
      if (!strips_.edges) halves.insert(halves.end(), static_cast<std::size_t>(8 * strips_.pixels), 0);
    }
    append(to, halves);
  }
  int unit() const { return strips_.piece_pixels; }
  /// A piece of 24 bytes at a multiple of 8, of which `there` are of the frame, as a vector of 16 bytes and one of 8,
  /// each at a multiple of its size: where the first one is, and how many times 8 bytes, from -1 on, the other is
  /// behind that. A vector with no byte of the frame is elsewhere.
  static int vectors_at(int at, int there) {
    if (at % 16 == 0) return at + (there > 16 ? 3 : 1);
    return there > 8 ? at + 8 : at - 8 + 2;
  }
  /// The piece of the frame that stands for that at a place.
  int piece_at(int place) const {
    const int count = (axis_.width + unit() - 1) / unit();
    switch (axis_.border) {
      case Border::reflect:
      case Border::reflect_101:
        return border_index(Border::reflect, place, count);
      case Border::wrap:
        return border_index(Border::wrap, place, count);
      case Border::constant:
      case Border::replicate:
        break;
    }
    return border_index(Border::replicate, place, count);
  }
  std::size_t index(int n, int slot) const {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(strips_.window) + static_cast<std::size_t>(slot);
  }
  std::uint16_t& at(int n, int slot) { return bits_[index(n, slot)]; }
  bool is_inside(int q) const { return piece_[static_cast<std::size_t>(q)] == first_ / unit() + q; }

  /// A place beside the frame where a pixel is, the nearest to `near`; below 0 where there is none.
  int find(int pixel, int near) const {
    int best = -1;
    for (int q = 0; q < strips_.pieces(); ++q) {
      const int slot = q * unit() + pixel % unit();
      if (piece_[static_cast<std::size_t>(q)] != pixel / unit() || is_inside(q)) continue;
      if (best < 0 || std::abs(slot - near) < std::abs(best - near)) best = slot;
    }
    return best;
  }
  bool set_tile(int left) {
    first_ = left - axis_.before;
    piece_.assign(static_cast<std::size_t>(strips_.pieces()), 0);
    for (int n = 0; n < std::min(strips_.pixels, axis_.width - left); ++n)
      if (!add_all_taps(n)) return false;
    return true;
  }
  /// With the taps of inner strips; beside the frame they meet zeros.
  bool set_edges(int left) {
    set_inner();
    first_ = left - axis_.before;
    for (int n = 0; n < strips_.pixels; ++n)
      for (std::size_t k = 0; k < axis_.taps.size(); ++k) {
        const int pixel = first_ + axis_.lead + n + static_cast<int>(k);
        if (pixel < 0) low_[static_cast<std::size_t>(n)] += axis_.taps[k];
        if (pixel >= axis_.width) high_[static_cast<std::size_t>(n)] += axis_.taps[k];
      }
    return true;
  }
  /// The taps of pixel n of the strip, those that meet one pixel added up.
  bool add_all_taps(int n) {
    std::vector<double> sums(static_cast<std::size_t>(strips_.window));
    for (std::size_t k = 0; k < axis_.taps.size(); ++k) {
      int slot = axis_.lead + n + static_cast<int>(k);
      const int pixel = first_ + slot;
      const bool outside = pixel < 0 || pixel >= axis_.width;
      if (outside && axis_.border == Border::constant) {
        outside_[static_cast<std::size_t>(n)] += axis_.taps[k];
        continue;
      }
      if (outside && axis_.border != Border::wrap) {
        if (!axis_.adds_taps) return false;
        slot = border_index(axis_.border, pixel, axis_.width) - first_;
      }
      if (slot < 0 || slot >= strips_.window) return false;
      sums[static_cast<std::size_t>(slot)] += axis_.taps[k];
    }
    for (int slot = 0; slot < strips_.window; ++slot)
      if (!set_tap(n, slot, sums[static_cast<std::size_t>(slot)])) return false;
    return true;
  }
  /// The taps of pixel n of the strip.
  bool place_taps(int n) {
    double low = 0, high = 0;            // of what repeats the first pixel of the frame, and the last
    std::vector<std::size_t> elsewhere;  // taps that meet pixels of the frame from beside it
    for (std::size_t k = 0; k < tap_bits_.size(); ++k) {
      const int slot = axis_.lead + n + static_cast<int>(k), pixel = first_ + slot;
      if (pixel >= 0 && pixel < axis_.width)
        at(n, slot) = tap_bits_[k];
      else if (axis_.border == Border::constant)
        outside_[static_cast<std::size_t>(n)] += axis_.taps[k];
      else if (axis_.border == Border::replicate)
        (pixel < 0 ? low : high) += axis_.taps[k];
      else
        elsewhere.push_back(k);
    }
    return place_elsewhere(n, elsewhere) && repeat(n, 0, low) && repeat(n, axis_.width - 1, high);
  }
  bool place_elsewhere(int n, const std::vector<std::size_t>& taps) {
    std::vector<std::pair<int, double>> sums;  // of pixels without a place of their own for these taps
    for (const std::size_t k : taps) {
      const int slot = axis_.lead + n + static_cast<int>(k);
      const int pixel = border_index(axis_.border, first_ + slot, axis_.width), there = find(pixel, slot);
      if (there >= 0 && at(n, there) == 0) {
        at(n, there) = tap_bits_[k];
        continue;
      }
      const int own = pixel - first_;
      if (!axis_.adds_taps || own < 0 || own >= strips_.window) return false;
      const auto with = std::find_if(sums.begin(), sums.end(), [own](const auto& sum) { return sum.first == own; });
      if (with != sums.end())
        with->second += axis_.taps[k];
      else
        sums.emplace_back(own, half_value(at(n, own)) + axis_.taps[k]);
    }
    return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return set_tap(n, sum.first, sum.second); });
  }
  /// Adds a sum of taps to that of a pixel of the frame, as two halves, or where there is place for one as that.
  bool repeat(int n, int pixel, double taps) {
    if (taps == 0) return true;
    const int own = pixel - first_, other = find(pixel, own);
    if (own < 0 || own >= strips_.window || (other < 0 && !axis_.adds_taps)) return false;
    const double all = taps + half_value(at(n, own));
    if (!set_tap(n, own, all)) return false;
    if (other >= 0) at(n, other) = half_bits(all - half_value(at(n, own)));
    return true;
  }
  /// False where it is no half.
  bool set_tap(int n, int slot, double tap) {
    if (std::abs(tap) > largest_half) return false;
    at(n, slot) = half_bits(tap);
    return true;
  }
  template <class T>
  static void append(std::vector<std::byte>& to, const std::vector<T>& values) {
    const std::size_t first = to.size();
    to.resize(first + values.size() * sizeof(T));
    std::memcpy(&to[first], values.data(), values.size() * sizeof(T));
  }

  const Strips& strips_;
  const StripAxis& axis_;
  const std::vector<std::uint16_t>& tap_bits_;
  int first_ = 0;                    ///< pixel of the window
  std::vector<int> piece_;           ///< of the frame, in the window's order
  std::vector<std::uint16_t> bits_;  ///< [pixel of the strip][pixel of the window]
  std::vector<double> outside_;      ///< for each pixel of the strip, the sum of taps that meet ghost cells
  std::vector<double> low_, high_;   ///< with edges: that of those before the frame's first pixel and behind its last
};

/// The places of luma's taps in a window's, as blocks that repeat. Of the rows and columns of a block of products, the
/// first ones are pixels 32 a + 2 b of the window and 32 c + 2 d of the strip, and its taps depend on a - c and d - b
/// alone.
std::vector<int> band_order(const Strips& strips) {
  std::vector<int> order;
  for (int a = 0; a < strips.window / 32 - 1; ++a)
    for (int i = 0; i < 7; ++i) {
      const int b = std::max(0, 3 - i), d = std::max(0, i - 3);
      for (int n = 0; n < 8; ++n)
        for (int k = 0; k < 8; ++k)
          order.push_back(pixel_of(strips, 8 * d + n) * strips.window +
                          window_pixel(strips, 2 * a + b / 2, b % 2 * 8 + k));
    }
  return order;
}

}  // namespace

StripTables::StripTables(const std::vector<StripPart>& parts, bool bytes) : of_bytes_(bytes) {
  const int rows = bytes ? 32 : 16;  // of a product
  for (const StripPart& from : parts) {
    Part& part = parts_.emplace_back(Part{from, {}, {}});
    for (const double tap : part.axis.taps) part.tap_bits.push_back(half_bits(tap));
    if (part.strips.has_bands()) {
      part.order = band_order(part.strips);
      continue;
    }
    part.order.reserve(part.strips.matrix_halves());
    // As products read them in shared memory: blocks of 8 columns by 8 rows, whose columns are 16 bytes.
    for (int product = 0; product < (part.strips.window + rows - 1) / rows; ++product)
      for (int half = 0; half < 2; ++half)
        for (int n = 0; n < part.strips.pixels; ++n)
          for (int k = rows / 2 * half; k < rows / 2 * (half + 1); ++k) {
            const int pixel =
                bytes ? window_pixel_of_bytes(part.strips, product, k) : window_pixel(part.strips, product, k);
            part.order.push_back(pixel < 0 ? -1 : pixel_of(part.strips, n) * part.strips.window + pixel);
          }
  }
}

template <class Set>
bool StripTables::add_table(Set&& set) {
  std::vector<Window> windows;
  for (const Part& part : parts_) {
    windows.emplace_back(part.strips, part.axis, part.tap_bits);
    if (!set(part, windows.back())) return false;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i)
    of_bytes_ ? windows[i].append_bytes(parts_[i].order, bytes_) : windows[i].append_taps(parts_[i].order, bytes_);
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (!of_bytes_)
      windows[i].append_starts(bytes_);
    else if (parts_[i].strips.edges)
      windows[i].append_edges(bytes_);
    else
      windows[i].append_whole_starts(bytes_);
  windows.back().append_offsets(bytes_);
  return true;
}

void StripTables::add_inner() {
  add_table([](const Part&, Window& window) {
    window.set_inner();
    return true;
  });
}

bool StripTables::add(int left) {
  const int strip = left / parts_.back().strips.pixels;
  return add_table([&](const Part& part, Window& window) { return window.set(strip * part.strips.pixels); });
}

std::vector<std::uint16_t> column_blocks(const std::vector<double>& taps, int blocks, int lead) {
  std::vector<std::uint16_t> halves;
  for (int block = 0; block < blocks; ++block)
    for (int row = 0; row < 8; ++row)
      for (int k = 0; k < 8; ++k) {
        const int tap = 8 * (block - 7) + k - row - lead;
        halves.push_back(tap >= 0 && tap < static_cast<int>(taps.size())
                             ? half_bits(taps[static_cast<std::size_t>(tap)])
                             : std::uint16_t{0});
      }
  return halves;
}

std::vector<std::uint16_t> box_column_blocks(const std::vector<double>& taps, int blocks, int limb, int lead) {
  std::vector<std::uint16_t> weights = column_blocks(taps, blocks, lead);
  for (std::uint16_t& weight : weights)
    if (weight != 0) weight = static_cast<std::uint16_t>(limb << 8 | 1);
  return weights;
}

}  // namespace convolve::cuda::wide
