// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/dot/packing.hpp"

#include <algorithm>
#include <cmath>

namespace convolve::cpu::dot {

bool needs_pairs(const IntegerTaps& taps, int width, bool vnni) {
  constexpr int samples_in_16_bits = 32767 / 255;
  for (std::size_t row = 0; row < taps.taps.size(); row += width)
    for (int k = 0; k < width; ++k) {
      const int tap = taps.taps[row + k], next = k % 2 == 0 && k + 1 < width ? taps.taps[row + k + 1] : 0;
      if (tap < -128 || tap > 127) return true;
      const int above = std::max(tap, 0) + std::max(next, 0), below = std::min(tap, 0) + std::min(next, 0);
      if (!vnni && (above > samples_in_16_bits || -below > samples_in_16_bits)) return true;
    }
  return false;
}

const char* name_of(bool vnni, bool pairs) {
  if (vnni) return pairs ? "16-bit dot products" : "8-bit dot products";
  return pairs ? "16-bit multiply-adds" : "8-bit multiply-adds";
}

std::vector<std::int32_t> pack_words(const std::vector<std::int32_t>& taps, int width, bool pairs) {
  const int in_group = taps_in_group(pairs), bits = 32 / in_group;
  const std::uint32_t mask = (std::uint64_t{1} << bits) - 1;
  std::vector<std::int32_t> words;
  for (std::size_t row = 0; row < taps.size(); row += width)
    for (int k = 0; k < width; k += in_group) {
      std::uint32_t word = 0;
      for (int i = 0; i < in_group && k + i < width; ++i)
        word |= (static_cast<std::uint32_t>(taps[row + k + i]) & mask) << (bits * i);
      words.push_back(static_cast<std::int32_t>(word));
    }
  return words;
}

WindowOrder::WindowOrder(int components, bool pairs) {
  for (int lane = 0; lane < max_lanes; ++lane)
    for (int byte = 0; byte < 4; ++byte)
      order[4 * lane + byte] =
          pairs && byte % 2 ? 0x80 : static_cast<std::uint8_t>(lane % 4 + components * (pairs ? byte / 2 : byte));
}

BlockEpilogue::BlockEpilogue(const Quantization& q, const ComponentGroup& group, double zero_weight,
                             double max_magnitude, double more)
    : phases(group.components) {
  const auto all_offsets = [&](auto test) { return std::all_of(q.offset.wide.begin(), q.offset.wide.end(), test); };
  const bool product = q.division == Division::product;
  const bool plain =
      product && q.gain == 1 && q.rounding_bias == 0 && all_offsets([](double v) { return v == std::floor(v); });
  const bool narrow = all_offsets([&](double v) { return max_magnitude + std::abs(v) < 32767; });
  epilogue = plain ? Epilogue::saturate : product && narrow ? Epilogue::biased_product : Epilogue::division;
  for (int p = 0; p < group.components; ++p)
    for (int b = 0; b < vectors; ++b)
      for (int lane = 0; lane < max_lanes; ++lane) {
        const int c = (p + sample_of(b, lane)) % group.components;
        phases[p].offset[b][lane] = q.offset.single[c];
        phases[p].wide_offset[b][lane] = q.offset.wide[c];
        phases[p].passthrough[sample_of(b, lane)] = group.component[c]->filtered ? 0 : 255;
        const double start = more - group.component[c]->zero * zero_weight;
        phases[p].start[b][lane] = static_cast<std::int32_t>(plain ? start + q.offset.wide[c] : start);
      }
}

}  // namespace convolve::cpu::dot
