// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/views/areas.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "regions/pixel_rects.hpp"
#include "regions/weights.hpp"

namespace convolve::cuda {
namespace {

constexpr std::size_t max_views = 4;   ///< of one frame
constexpr std::size_t max_plans = 16;  ///< that are kept
constexpr int unit_x = 64, unit_y = 16;
/// What a launch costs, in the pixels that a GPU filters meanwhile: about a microsecond and a half.
constexpr std::int64_t launch_pixels = 3 << 19;

bool overlap(const PixelRect& a, const PixelRect& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// The same number or a little more, one of eight an octave and a whole number of units.
int rounded_up(int pixels, int unit) {
  int step = unit;
  while (pixels > 16 * step) step *= 2;
  return (pixels + step - 1) / step * step;
}

/// Where views lie along one axis.
struct ViewAxis {
  int pixels = 0;  ///< of the frame
  int unit = 1;    ///< views begin at a whole number of units
  int margin = 0;  ///< pixels that the filter reaches over, on either side
  bool wraps = false;

  struct Extent {
    int first, size;
  };
  /// The view that what is asked for, begin <= x < end, is filtered in.
  Extent view(int begin, int end) const {
    const Extent all{0, pixels};
    if (wraps && (begin < margin || end > pixels - margin)) return all;
    begin = std::max(begin - margin, 0);
    end = std::min(end + margin, pixels);
    const int first = begin / unit * unit, size = rounded_up(end - first, unit);
    if (first + size < pixels) return {first, size};
    // It ends where the frame does, and begins at a unit all the same.
    const int at_end = size - (pixels % unit ? unit - pixels % unit : 0);
    return at_end < pixels ? Extent{pixels - at_end, at_end} : all;
  }
};

class AreaPlan final : public Plan {
 public:
  AreaPlan(std::unique_ptr<Plan> whole, const PlanDesc& desc, PlanMaker make)
      : whole_(std::move(whole)), desc_(desc), make_(std::move(make)) {
    set_axes();
    plans_.reserve(max_plans);
  }

  const char* enqueue(const Window& window, const Image& out, void* stream) noexcept override {
    return whole_->enqueue(window, out, stream);
  }
  const char* enqueue_areas(const Window& window, const Image& out, std::span<const PixelRect> areas,
                            void* stream) noexcept override;
  Algorithm algorithm() const override { return whole_->algorithm(); }
  std::string describe() const override { return whole_->describe(); }

 private:
  struct SizedPlan {
    int width, height;
    std::uint64_t used;  ///< when, in calls
    std::unique_ptr<Plan> plan;
  };
  void set_axes();
  void find_parts(std::span<const PixelRect> areas);
  void merge_parts();
  std::int64_t cost(const PixelRect& part) const;
  PixelRect view_of(const PixelRect& part) const;
  PlanDesc desc_of(const PixelRect& view) const;
  Plan& plan_of(const PixelRect& view);
  Image image_of(const Image& frame, const PixelRect& view) const;

  std::unique_ptr<Plan> whole_;
  PlanDesc desc_;
  PlanMaker make_;
  ViewAxis across_, down_;
  bool has_views_ = true;
  PixelRect part_[max_views];  ///< what is asked for, put together
  std::size_t parts_ = 0;
  std::vector<SizedPlan> plans_;
  std::uint64_t calls_ = 0;
};

void AreaPlan::set_axes() {
  int most_x = 1, most_y = 1;
  for (int p = 0; p < desc_.layout.planes; ++p)
    for (int c = 0; c < desc_.layout.plane[p].components; ++c) {
      across_.pixels = std::max(across_.pixels, desc_.layout.plane[p].component[c].width);
      down_.pixels = std::max(down_.pixels, desc_.layout.plane[p].component[c].height);
    }
  for (int p = 0; p < desc_.layout.planes; ++p)
    for (int c = 0; c < desc_.layout.plane[p].components; ++c) {
      const Sampling sampling = sampling_of(desc_.layout.plane[p].component[c], across_.pixels, down_.pixels);
      most_x = std::max(most_x, sampling.step_x);
      most_y = std::max(most_y, sampling.step_y);
      // Else a part's size does not say how many samples it has.
      if ((across_.pixels - 1) / sampling.step_x + 1 != sampling.width ||
          (down_.pixels - 1) / sampling.step_y + 1 != sampling.height)
        has_views_ = false;
    }
  if (unit_x % most_x != 0 || unit_y % most_y != 0) has_views_ = false;
  across_.unit = unit_x;
  down_.unit = unit_y;
  across_.margin = (desc_.filter.width() / 2 + 1) * most_x;
  down_.margin = (desc_.filter.height() / 2 + 1) * most_y;
  across_.wraps = down_.wraps = is_periodic(desc_.border);
}

// About the work of filtering a part.
std::int64_t AreaPlan::cost(const PixelRect& part) const {
  const std::int64_t width = std::min(part.right - part.left + 2 * across_.margin + unit_x, across_.pixels);
  const std::int64_t height = std::min(part.bottom - part.top + 2 * down_.margin + unit_y, down_.pixels);
  return width * height + launch_pixels;
}

// Each area joins the part that it adds least to, or begins one of its own where that is less work.
void AreaPlan::find_parts(std::span<const PixelRect> areas) {
  parts_ = 0;
  for (PixelRect area : areas) {
    area = {std::max(area.left, 0), std::max(area.top, 0), std::min(area.right, across_.pixels),
            std::min(area.bottom, down_.pixels)};
    if (is_empty(area)) continue;
    std::size_t best = 0;
    std::int64_t least = 0;
    for (std::size_t i = 0; i < parts_; ++i) {
      const std::int64_t growth = cost(bounds_of(part_[i], area)) - cost(part_[i]);
      if (i == 0 || growth < least) best = i, least = growth;
    }
    if (parts_ == 0 || (parts_ < max_views && least > cost(area)))
      part_[parts_++] = area;
    else
      part_[best] = bounds_of(part_[best], area);
  }
  merge_parts();
}

// Views that overlap become one: each would spoil what the other has near its ends.
void AreaPlan::merge_parts() {
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t i = 0; i < parts_ && !merged; ++i)
      for (std::size_t k = i + 1; k < parts_ && !merged; ++k) {
        const PixelRect both = bounds_of(part_[i], part_[k]);
        if (!overlap(view_of(part_[i]), view_of(part_[k])) && cost(both) > cost(part_[i]) + cost(part_[k])) continue;
        part_[i] = both;
        part_[k] = part_[--parts_];
        merged = true;
      }
  }
}

PixelRect AreaPlan::view_of(const PixelRect& part) const {
  const ViewAxis::Extent x = across_.view(part.left, part.right), y = down_.view(part.top, part.bottom);
  return {x.first, y.first, x.first + x.size, y.first + y.size};
}

PlanDesc AreaPlan::desc_of(const PixelRect& view) const {
  PlanDesc desc = desc_;
  for (int p = 0; p < desc.layout.planes; ++p)
    for (int c = 0; c < desc.layout.plane[p].components; ++c) {
      Component& component = desc.layout.plane[p].component[c];
      const Sampling sampling = sampling_of(component, across_.pixels, down_.pixels);
      component.width = (view.right - view.left - 1) / sampling.step_x + 1;
      component.height = (view.bottom - view.top - 1) / sampling.step_y + 1;
    }
  return desc;
}

Plan& AreaPlan::plan_of(const PixelRect& view) {
  const int width = view.right - view.left, height = view.bottom - view.top;
  for (SizedPlan& sized : plans_)
    if (sized.width == width && sized.height == height) {
      sized.used = calls_;
      return *sized.plan;
    }
  std::unique_ptr<Plan> plan = make_(desc_of(view));
  if (plans_.size() == max_plans) {
    const auto oldest = std::ranges::min_element(plans_, {}, &SizedPlan::used);
    *oldest = {width, height, calls_, std::move(plan)};
    return *oldest->plan;
  }
  return *plans_.emplace_back(SizedPlan{width, height, calls_, std::move(plan)}).plan;
}

Image AreaPlan::image_of(const Image& frame, const PixelRect& view) const {
  Image image;
  for (int p = 0; p < desc_.layout.planes; ++p) {
    const Component& component = desc_.layout.plane[p].component[0];
    const Sampling sampling = sampling_of(component, across_.pixels, down_.pixels);
    const std::ptrdiff_t samples = view.left / sampling.step_x * component.step, stride = frame.plane[p].stride;
    image.plane[p] = {static_cast<std::byte*>(frame.plane[p].data) + view.top / sampling.step_y * stride +
                          samples * bytes_per_sample(desc_.layout.type),
                      stride};
  }
  return image;
}

const char* AreaPlan::enqueue_areas(const Window& window, const Image& out, std::span<const PixelRect> areas,
                                    void* stream) noexcept {
  if (!has_views_) return whole_->enqueue(window, out, stream);
  find_parts(areas);
  const std::int64_t frame = std::int64_t{across_.pixels} * down_.pixels + launch_pixels;
  std::int64_t work = 0;
  for (std::size_t i = 0; i < parts_; ++i) work += cost(part_[i]);
  if (work >= frame) return whole_->enqueue(window, out, stream);
  ++calls_;
  for (std::size_t i = 0; i < parts_; ++i) {
    const PixelRect view = view_of(part_[i]);
    Plan* plan = nullptr;
    try {
      plan = &plan_of(view);
    } catch (const std::exception&) {
      return whole_->enqueue(window, out, stream);
    }
    Image inputs[max_depth];
    Window views{.depth = window.depth};
    for (int t = 0; t < window.depth; ++t) {
      if (!window.image[t]) continue;
      inputs[t] = image_of(*window.image[t], view);
      views.image[t] = &inputs[t];
    }
    if (const char* fault = plan->enqueue(views, image_of(out, view), stream)) return fault;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Plan> make_area_plan(std::unique_ptr<Plan> whole, const PlanDesc& desc, PlanMaker make) {
  return std::make_unique<AreaPlan>(std::move(whole), desc, std::move(make));
}

}  // namespace convolve::cuda
