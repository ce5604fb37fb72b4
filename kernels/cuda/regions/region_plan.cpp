// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <vector>

#include "cuda/common/device_array.hpp"
#include "cuda/common/launch.hpp"
#include "cuda/regions/args.hpp"
#include "cuda/regions/rectangles.hpp"
#include "cuda/regions/regions.hpp"
#include "cuda/regions/upload.hpp"
#include "regions/weights.hpp"

namespace convolve::cuda {
namespace {

int drawn_in(std::int64_t coordinate) {
  constexpr std::int64_t far = 1 << 29;
  return static_cast<int>(std::clamp(coordinate, -far, far));
}

/// The sums of cells of two frames: while one is added to, the effect of the frame before has cleared it.
class CellSums {
 public:
  /// Makes room for so many words.
  void reserve(std::uint64_t words) {
    if (words <= capacity_) return;
    const std::uint64_t enough = std::max(words, 2 * capacity_);
    for (auto& sums : sums_) sums = {};
    capacity_ = 0;
    for (auto& sums : sums_) sums = DeviceArray<RegionWord>(enough);
    capacity_ = enough;
    used_[0] = used_[1] = enough;  // with what lay there before
  }
  template <class Args>
  void bind(Args& args, std::uint64_t words, cudaStream_t stream) noexcept {
    // Only of sums whose frame was never finished.
    if (used_[turn_] > 0) cudaMemsetAsync(sums_[turn_].get(), 0, used_[turn_] * sizeof(RegionWord), stream);
    args.sums = sums_[turn_].get();
    args.stale = sums_[1 - turn_].get();
    args.stale_words = used_[1 - turn_];
    used_[turn_] = words;
  }
  /// The effect that clears the stale ones is queued.
  void turn() noexcept {
    used_[1 - turn_] = 0;
    turn_ = 1 - turn_;
  }

 private:
  DeviceArray<RegionWord> sums_[2];
  std::uint64_t capacity_ = 0, used_[2] = {};  ///< words that may not be 0, from the first on
  int turn_ = 0;
};

/// Puts this frame's planes in.
template <class Args>
void bind(Args& args, const Image& frame, const Image& filtered) {
  std::copy(frame.plane.begin(), frame.plane.end(), args.frame);
  std::copy(filtered.plane.begin(), filtered.plane.end(), args.filtered);
}

/// A plane of which no component is treated yet.
RegionPart plane_part(const RegionDesc& desc, int index) {
  const PlaneLayout& plane = desc.layout.plane[index];
  RegionPart part{};
  part.plane = static_cast<std::uint8_t>(index);
  for (int c = 0; c < plane.components; ++c)
    part.period = static_cast<std::uint8_t>(std::max<int>(part.period, plane.component[c].step));
  part.by_period = 1 / static_cast<float>(part.period);
  if (part.period > max_period) throw PlanError("samples that lie so far apart have no kernel for regions on CUDA");
  for (RegionSlot& slot : part.slot) slot.component = no_component;
  for (int c = 0; c < plane.components; ++c) {
    const Component& component = plane.component[c];
    const Sampling sampling = sampling_of(component, desc.width, desc.height);
    const auto shift_x = std::countr_zero(static_cast<unsigned>(sampling.step_x));
    for (int s = component.offset; s < part.period; s += component.step)
      part.slot[s] = {static_cast<std::uint8_t>((s - component.offset) / component.step << shift_x),
                      static_cast<std::uint8_t>(shift_x), no_component, 0};
    part.period_shift = static_cast<std::uint8_t>(
        shift_x + std::countr_zero(static_cast<unsigned>(part.period) / static_cast<unsigned>(component.step)));
    part.shift_y = static_cast<std::uint8_t>(std::countr_zero(static_cast<unsigned>(sampling.step_y)));
    part.samples = std::max(part.samples, component.offset + (component.width - 1) * component.step + 1);
    part.height = component.height;
  }
  return part;
}

/// What a plan was asked for last, to see that nothing has changed.
class LastRegions {
 public:
  /// Whether they are the same as last time; they are kept either way.
  bool same(std::span<const Region> regions, const RegionTreatment& treatment) {
    const auto mask_of = [](const Region& region) { return region.shape == RegionShape::mask ? region.mask : nullptr; };
    bool same = known_ && treatment == treatment_ && regions.size() == regions_.size();
    for (std::size_t i = 0, m = 0; same && i < regions.size(); ++i) {
      Region kept = regions_[i];
      kept.mask = regions[i].mask;  // another mask may lie where that one lay
      same = regions[i] == kept;
      if (const RegionMask* mask = mask_of(regions[i]); same && mask) {
        const RegionMask& last = masks_[m++];
        same = mask->width == last.width && mask->height == last.height && mask->held == last.held;
      }
    }
    if (same) return true;
    known_ = false;
    regions_.assign(regions.begin(), regions.end());
    std::size_t m = 0;
    for (const Region& region : regions)
      if (const RegionMask* mask = mask_of(region)) {
        if (m == masks_.size()) masks_.emplace_back();
        masks_[m++] = *mask;
      }
    treatment_ = treatment;
    known_ = true;
    return false;
  }
  void forget() { known_ = false; }

 private:
  std::vector<Region> regions_;
  std::vector<RegionMask> masks_;  ///< in order, and perhaps some of earlier frames behind
  RegionTreatment treatment_;
  bool known_ = false;
};

class CudaRegionPlan final : public RegionPlan {
 public:
  CudaRegionPlan(const Device& device, const RegionDesc& desc)
      : capability_(device.capability), desc_(desc), weights_(desc.width, desc.height) {
    if (desc.layout.type == SampleType::f32) throw PlanError("regions are of 8-bit and 16-bit samples");
    int components = 0;
    for (int p = 0; p < desc.layout.planes; ++p) components += desc.layout.plane[p].components;
    if (components > max_region_components)
      throw PlanError("regions are treated in frames of up to " + std::to_string(max_region_components) +
                      " components on CUDA, but these have " + std::to_string(components));
    args_.width = desc.width;
    args_.height = desc.height;
    args_.shift = desc.layout.shift;
  }

  bool set_regions(std::span<const Region> regions, const RegionTreatment& treatment) override;
  std::span<const PixelRect> areas() const override { return areas_; }
  const char* apply(const Image& frame, const Image* filtered, void* stream) noexcept override;

 private:
  bool make(std::span<const Region> regions, const RegionTreatment& treatment);
  void set_parts(const RegionTreatment& treatment);
  void set_layers(const RegionTreatment& treatment);
  void set_layer(RegionLayer& to, const Layer& from, const RegionTreatment& treatment, std::int64_t pixels);
  template <int bytes>
  std::uint64_t tiles_of(const RegionLayer& layer) const;
  void set_list();
  template <class Args>
  const char* treat(Args& args, const Image& frame, const Image& filtered, void* stream) noexcept;
  const char* launch(const RectangleArgs& args, void* stream) const noexcept;
  const char* launch(const RegionArgs& args, void* stream) const noexcept;
  void write_spans(RowSpan* to) const;

  int capability_;
  RegionDesc desc_;
  LastRegions last_;
  RegionWeights weights_;
  std::vector<PixelRect> areas_;
  RegionArgs args_{};
  std::vector<RegionLayer> layers_;
  unsigned tiles_ = 0;
  RectangleList rectangles_;
  bool by_rectangles_ = false;  ///< the kernel of rectangles treats the list
  std::uint64_t words_ = 0;     ///< of all layers' cells
  CellSums sums_;
  Upload upload_;
  bool to_be_sent_ = false;
};

bool CudaRegionPlan::set_regions(std::span<const Region> regions, const RegionTreatment& treatment) {
  // Lists that have not changed are neither made nor sent again.
  if (last_.same(regions, treatment)) return tiles_ > 0;
  try {
    return make(regions, treatment);
  } catch (...) {
    last_.forget();
    throw;
  }
}

bool CudaRegionPlan::make(std::span<const Region> regions, const RegionTreatment& treatment) {
  const bool by_means = hides_by_means(treatment.effect);
  areas_.clear();
  tiles_ = 0;
  to_be_sent_ = false;
  set_parts(treatment);
  if (args_.parts == 0) return false;
  // A region whose feather alone reaches the frame has no means to give.
  weights_.set(regions, treatment.outside, treatment.feather, by_means);
  for (const Layer& layer : weights_.layers()) areas_.push_back(layer.window);
  if (areas_.empty()) return false;
  args_.effect = treatment.effect;
  args_.feather = weights_.feather();
  set_layers(treatment);
  by_rectangles_ = rectangles_.set(args_, layers_, bytes_per_sample(desc_.layout.type), capability_);
  if (by_rectangles_) words_ = rectangles_.words();
  if (by_means) sums_.reserve(words_);
  if (!by_rectangles_) set_list();
  return true;
}

void CudaRegionPlan::set_parts(const RegionTreatment& treatment) {
  int components = 0;
  args_.parts = 0;
  for (int p = 0; p < desc_.layout.planes; ++p) {
    RegionPart part = plane_part(desc_, p);
    const PlaneLayout& plane = desc_.layout.plane[p];
    for (int c = 0; c < plane.components; ++c) {
      const Component& component = plane.component[c];
      const int level = treatment.fill[p][c];
      if (!component.filtered || (treatment.effect == RegionEffect::fill && level < 0)) continue;
      part.slot_of[part.components] = static_cast<std::uint8_t>(component.offset);
      for (int s = component.offset; s < part.period; s += component.step) {
        part.slot[s].component = part.components;
        part.slot[s].fill = static_cast<std::uint16_t>(std::max(level, 0));
      }
      ++part.components;
    }
    if (part.components == 0) continue;
    part.first_component = static_cast<std::uint8_t>(components);
    components += part.components;
    args_.part[args_.parts++] = part;
  }
  args_.words = 2 * components;
}

void CudaRegionPlan::set_layers(const RegionTreatment& treatment) {
  const bool bytes = desc_.layout.type == SampleType::u8;
  words_ = 0;
  std::uint64_t tiles = 0;
  args_.wide = false;
  std::int64_t pixels = 0;
  for (const PixelRect& area : areas_)
    pixels += static_cast<std::int64_t>(area.right - area.left) * (area.bottom - area.top);
  layers_.resize(weights_.layers().size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    RegionLayer& layer = layers_[l];
    set_layer(layer, weights_.layers()[l], treatment, pixels);
    layer.first_tile = static_cast<int>(tiles);
    tiles += bytes ? tiles_of<1>(layer) : tiles_of<2>(layer);
    if (tiles > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      throw PlanError("there are too many regions for one launch");
  }
  tiles_ = static_cast<unsigned>(tiles);
}

// All of a layer but its first tile. `pixels`: of all layers' windows.
void CudaRegionPlan::set_layer(RegionLayer& to, const Layer& from, const RegionTreatment& treatment,
                               std::int64_t pixels) {
  const bool by_means = hides_by_means(treatment.effect);
  const Region& box = from.box;
  to.x = to.y = {};
  to.sums = words_;
  if (by_means) {
    const CellGrid grid(box, std::clamp(treatment.cells, 1, 64), desc_.width, desc_.height);
    to.x = grid.x;
    to.y = grid.y;
    words_ += static_cast<std::uint64_t>(grid.x.count()) * static_cast<std::uint64_t>(grid.y.count()) *
              static_cast<std::uint64_t>(args_.words);
  }
  to.box = {drawn_in(box.left), drawn_in(box.top), drawn_in(box.right), drawn_in(box.bottom)};
  to.window = from.window;
  to.middle = drawn_in((box.top + box.bottom - 1) / 2);
  to.first_row = drawn_in(from.first_row);
  to.at = from.at;
  to.kind = static_cast<std::uint8_t>(from.mapped                         ? LayerKind::map
                                      : box.shape == RegionShape::ellipse ? LayerKind::spans
                                                                          : LayerKind::rectangle);
  args_.wide |= by_means && !(to.x.narrow() && to.y.narrow());
  to.tile_y = static_cast<std::uint8_t>(tile_rows_shift(by_means ? to.x.size() : 0, pixels));
}

// The tiles of a layer, in all planes. The bytes of a sample are known to the compiler, which divides by them.
template <int bytes>
std::uint64_t CudaRegionPlan::tiles_of(const RegionLayer& layer) const {
  std::uint64_t tiles = 0;
  for (int p = 0; p < args_.parts; ++p) {
    const SampleRect samples = samples_in(args_.part[p], layer.window, bytes);
    tiles +=
        static_cast<std::uint64_t>(samples.columns(bytes)) * static_cast<std::uint64_t>(samples.rows(layer.tile_y));
  }
  return tiles;
}

// Short lists ride in the parameters; else all goes into a slot: layers, then spans, then maps.
void CudaRegionPlan::set_list() {
  args_.layers = static_cast<int>(layers_.size());
  args_.list = nullptr;
  if (layers_.size() <= few_layers && weights_.spans().empty() && weights_.map().empty()) {
    std::copy(layers_.begin(), layers_.end(), args_.few);
    for (std::size_t l = 0; l < layers_.size(); ++l) args_.first_tile[l] = layers_[l].first_tile;
    return;
  }
  const std::size_t spans_at = layers_.size() * sizeof(RegionLayer);
  const std::size_t map_at = spans_at + weights_.spans().size() * sizeof(RowSpan);
  std::byte* slot = upload_.prepare(map_at + weights_.map().size_bytes());
  std::memcpy(slot, layers_.data(), spans_at);
  auto* spans = reinterpret_cast<RowSpan*>(slot + spans_at);
  write_spans(spans);
  if (!weights_.map().empty()) std::memcpy(slot + map_at, weights_.map().data(), weights_.map().size_bytes());
  const std::byte* there = upload_.device();
  args_.list = reinterpret_cast<const RegionLayer*>(there);
  args_.spans = reinterpret_cast<const RowSpan*>(there + spans_at);
  args_.map = reinterpret_cast<const std::uint16_t*>(there + map_at);
  to_be_sent_ = true;
}

// Layers' spans lie one behind the other. Most need not be drawn in, which takes longer than to copy them.
void CudaRegionPlan::write_spans(RowSpan* to) const {
  constexpr std::int64_t far = 1 << 29;
  const std::span<const RegionWeights::PixelSpan> spans = weights_.spans();
  const bool near = std::ranges::all_of(
      weights_.layers(), [](const Layer& layer) { return layer.box.left >= -far && layer.box.right <= far; });
  for (std::size_t i = 0; i < spans.size(); ++i)
    to[i] = near ? RowSpan{static_cast<int>(spans[i].left), static_cast<int>(spans[i].right)}
                 : RowSpan{drawn_in(spans[i].left), drawn_in(spans[i].right)};
}

const char* CudaRegionPlan::apply(const Image& frame, const Image* filtered, void* stream) noexcept {
  if (tiles_ == 0) return nullptr;
  const bool filters = args_.effect == RegionEffect::filter;
  assert(!filters || filtered);
  const Image none{};
  if (to_be_sent_) upload_.send(static_cast<cudaStream_t>(stream));
  to_be_sent_ = false;
  return by_rectangles_ ? treat(rectangles_.args(), frame, filters ? *filtered : none, stream)
                        : treat(args_, frame, filters ? *filtered : none, stream);
}

template <class Args>
const char* CudaRegionPlan::treat(Args& args, const Image& frame, const Image& filtered, void* stream) noexcept {
  const bool by_means = hides_by_means(args.effect);
  bind(args, frame, filtered);
  args.stale_words = 0;
  if (by_means) sums_.bind(args, words_, static_cast<cudaStream_t>(stream));
  if (const char* fault = launch(args, stream)) return fault;
  if (by_means) sums_.turn();
  return nullptr;
}

// By the kernel of rectangles, and by those of all lists.
const char* CudaRegionPlan::launch(const RectangleArgs& args, void* stream) const noexcept {
  launch_rectangles(capability_, desc_.layout.type, args, stream);
  return launch_error();
}

const char* CudaRegionPlan::launch(const RegionArgs& args, void* stream) const noexcept {
  if (hides_by_means(args.effect)) {
    launch_means(capability_, desc_.layout.type, tiles_, args, stream);
    if (const char* fault = launch_error()) return fault;
  }
  launch_effect(capability_, desc_.layout.type, tiles_, args, stream);
  return launch_error();
}

}  // namespace

std::unique_ptr<RegionPlan> make_cuda_region_plan(const Device& device, const RegionDesc& desc) {
  return std::make_unique<CudaRegionPlan>(device, desc);
}

}  // namespace convolve::cuda
