// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/scene/luma_difference.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace convolve::cpu {
namespace {

// The samples of a row, which may begin at any byte.
template <class Sample>
class Row {
 public:
  Row() = default;
  Row(const LumaTerm& term, const Image& image, int y) {
    const PlaneView& view = image.plane[static_cast<std::size_t>(term.plane)];
    first_ = static_cast<const std::byte*>(view.data) + y * view.stride +
             term.offset * static_cast<std::ptrdiff_t>(sizeof(Sample));
  }
  int operator[](int i) const {
    Sample sample;
    std::memcpy(&sample, first_ + i * static_cast<std::ptrdiff_t>(sizeof sample), sizeof sample);
    return sample;
  }

 private:
  const std::byte* first_ = nullptr;
};

template <class Sample>
std::uint64_t difference_of_one(Row<Sample> a, Row<Sample> b, int n, const LumaTerm& term, int shift) {
  std::uint64_t sum = 0;
  if (term.step == 1 && shift == 0) {  // a loop of its own, which the compiler vectorises
    for (int x = 0; x < n; ++x) sum += static_cast<unsigned>(std::abs(a[x] - b[x]));
  } else {
    for (int x = 0; x < n; ++x)
      sum += static_cast<unsigned>(std::abs((a[x * term.step] >> shift) - (b[x * term.step] >> shift)));
  }
  return sum * static_cast<std::uint64_t>(term.weight);
}

template <class Sample>
std::uint64_t difference_of_three(const LumaDesc& desc, const Image& a, const Image& b, int y) {
  std::array<Row<Sample>, 3> row_a, row_b;
  for (std::size_t i = 0; i < 3; ++i) {
    row_a[i] = {desc.term[i], a, y};
    row_b[i] = {desc.term[i], b, y};
  }
  std::uint64_t sum = 0;
  for (int x = 0; x < desc.width; ++x) {
    int difference = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const LumaTerm& term = desc.term[i];
      const int at = x * term.step;
      difference += term.weight * ((row_a[i][at] >> desc.shift) - (row_b[i][at] >> desc.shift));
    }
    sum += static_cast<unsigned>(std::abs(difference));
  }
  return sum;
}

class CpuLumaDifference final : public LumaDifference {
 public:
  explicit CpuLumaDifference(const LumaDesc& desc) : desc_(desc) {}

  const char* enqueue(const Image& a, const Image& b, void*) noexcept override {
    sum_ = desc_.type == SampleType::u8 ? add_up<std::uint8_t>(a, b) : add_up<std::uint16_t>(a, b);
    return nullptr;
  }
  std::uint64_t sum() const noexcept override { return sum_; }

 private:
  template <class Sample>
  std::uint64_t add_up(const Image& a, const Image& b) const {
    std::uint64_t sum = 0;
    for (int y = 0; y < desc_.height; ++y)
      sum += desc_.terms == 1 ? difference_of_one<Sample>({desc_.term[0], a, y}, {desc_.term[0], b, y}, desc_.width,
                                                          desc_.term[0], desc_.shift)
                              : difference_of_three<Sample>(desc_, a, b, y);
    return sum;
  }

  LumaDesc desc_;
  std::uint64_t sum_ = 0;
};

}  // namespace

std::unique_ptr<LumaDifference> make_luma_difference(const LumaDesc& desc) {
  return std::make_unique<CpuLumaDifference>(desc);
}

}  // namespace convolve::cpu
