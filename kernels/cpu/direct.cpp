// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/direct.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convolve/arithmetic.hpp"

namespace convolve::cpu {
namespace {

template <class Sample>
class Direct final : public Plan {
 public:
  explicit Direct(const PlanDesc& desc)
      : desc_(desc), arithmetic_(choose_arithmetic(desc.filter, desc.layout, desc.border == Border::constant)) {
    for (int p = 0; p < desc.layout.planes; ++p)
      for (int c = 0; c < desc.layout.plane[p].components; ++c)
        quantizer_[p][c] = make_quantizer(arithmetic_, desc.layout, desc.layout.plane[p].component[c]);
  }

  const char* enqueue(const Window& window, const Image& out, void*) noexcept override {
    for (int p = 0; p < desc_.layout.planes; ++p)
      for (int c = 0; c < desc_.layout.plane[p].components; ++c) filter(p, c, window, out);
    return nullptr;
  }
  Algorithm algorithm() const override { return Algorithm::direct; }
  std::string describe() const override { return "direct " + desc_.filter.shape(); }

 private:
  static Sample* row(const PlaneView& view, int y) {
    return reinterpret_cast<Sample*>(static_cast<char*>(view.data) + y * view.stride);
  }

  void filter(int p, int c, const Window& window, const Image& out) const {
    const Component& k = desc_.layout.plane[p].component[c];
    const Filter& f = desc_.filter;
    for (int y = 0; y < k.height; ++y)
      for (int x = 0; x < k.width; ++x) {
        const std::ptrdiff_t at = k.offset + static_cast<std::ptrdiff_t>(x) * k.step;
        Sample& result = row(out.plane[p], y)[at];
        if (!k.filtered) {
          result = row(window.image[f.centre_t()]->plane[p], y)[at];
          continue;
        }
        double sum = 0;
        std::size_t tap = 0;
        for (int t = 0; t < f.depth(); ++t)
          for (int dy = 0; dy < f.height(); ++dy) {
            const int yy = border_index(desc_.border, y + dy - f.centre_y(), k.height);
            for (int dx = 0; dx < f.width(); ++dx, ++tap) {
              const int xx = border_index(desc_.border, x + dx - f.centre_x(), k.width);
              double in = k.ghost;
              if (window.image[t] && yy >= 0 && xx >= 0)
                in = load(row(window.image[t]->plane[p], yy)[k.offset + static_cast<std::ptrdiff_t>(xx) * k.step]);
              sum += arithmetic_.coefficients[tap] * (in - k.zero);
            }
          }
        result = store(quantizer_[p][c].wide_value(sum), quantizer_[p][c]);
      }
  }

  double load(Sample s) const {
    if constexpr (std::is_floating_point_v<Sample>)
      return s;
    else
      return static_cast<double>(s >> desc_.layout.shift);
  }
  Sample store(double v, const Quantizer& q) const {
    if constexpr (std::is_floating_point_v<Sample>)
      return static_cast<Sample>(v);
    else
      return static_cast<Sample>(static_cast<int>(std::clamp(std::nearbyint(v), 0.0, double{q.max}))
                                 << desc_.layout.shift);
  }

  PlanDesc desc_;
  Arithmetic arithmetic_;
  Quantizer quantizer_[max_planes][max_components];
};

}  // namespace

std::unique_ptr<Plan> make_direct(const PlanDesc& desc) {
  switch (desc.layout.type) {
    case SampleType::u8:
      return std::make_unique<Direct<std::uint8_t>>(desc);
    case SampleType::u16:
      return std::make_unique<Direct<std::uint16_t>>(desc);
    case SampleType::f32:
      return std::make_unique<Direct<float>>(desc);
  }
  return nullptr;
}

}  // namespace convolve::cpu
