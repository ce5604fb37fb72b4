// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "opencv_peers.hpp"

#ifdef HAVE_OPENCV

#include <algorithm>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "convolve/preset.hpp"

namespace convolve::bench {
namespace {

int depth_of(SampleType type) {
  return type == SampleType::u8 ? CV_8U : type == SampleType::u16 ? CV_16U : CV_32F;
}

/// Calls `filter(in, out)` on each plane, as matrices over the same memory.
template <class Filter2D>
auto on_planes(const FrameLayout& layout, Filter2D filter) {
  return [layout, filter](const Image& in, const Image& out) {
    for (int p = 0; p < layout.planes; ++p) {
      const PlaneLayout& plane = layout.plane[p];
      const int type = CV_MAKETYPE(depth_of(layout.type), plane.components);
      const auto matrix = [&](const PlaneView& view) {
        return cv::Mat(plane.component[0].height, plane.component[0].width, type, view.data,
                       static_cast<std::size_t>(view.stride));
      };
      const cv::Mat source = matrix(in.plane[p]);
      cv::Mat destination = matrix(out.plane[p]);
      filter(source, destination);
    }
  };
}

/// Both Sobel derivatives in single precision and their magnitude, left in single precision.
void sobel_magnitude(const cv::Mat& in, cv::Mat&) {
  thread_local cv::Mat x, y, magnitude;
  cv::Sobel(in, x, CV_32F, 1, 0, 3, 1, 0, cv::BORDER_REPLICATE);
  cv::Sobel(in, y, CV_32F, 0, 1, 3, 1, 0, cv::BORDER_REPLICATE);
  cv::magnitude(x, y, magnitude);
}

}  // namespace

std::vector<Peer> opencv_peers(const PlanDesc& desc, unsigned threads) {
  const Filter& filter = desc.filter;
  if (filter.depth() != 1 || desc.layout.shift != 0) return {};
  for (int p = 0; p < desc.layout.planes; ++p)
    if (!desc.layout.plane[p].uniform()) return {};
  cv::setNumThreads(static_cast<int>(threads));
  if (!desc.bank.empty()) {
    const PresetKernels sobel = make_preset_kernels(Preset::sobel, {});
    if (!(desc.bank == Bank(sobel.kernels, sobel.combine))) return {};
    return {{"Sobel_magnitude", on_planes(desc.layout, sobel_magnitude)}};
  }

  cv::Mat taps(filter.height(), filter.width(), CV_32F);
  for (int y = 0; y < filter.height(); ++y)
    for (int x = 0; x < filter.width(); ++x) taps.at<float>(y, x) = static_cast<float>(filter.tap(0, y, x));
  std::vector<Peer> peers{{"filter2D", on_planes(desc.layout, [taps](const cv::Mat& in, cv::Mat& out) {
                             cv::filter2D(in, out, -1, taps, {-1, -1}, 0, cv::BORDER_REPLICATE);
                           })}};
  if (const auto& factors = filter.space_factors()) {
    const cv::Mat row(factors->row, true), column(factors->column, true);
    peers.push_back({"sepFilter2D", on_planes(desc.layout, [row, column](const cv::Mat& in, cv::Mat& out) {
                       cv::sepFilter2D(in, out, -1, row, column, {-1, -1}, 0, cv::BORDER_REPLICATE);
                     })});
    const cv::Size size(filter.width(), filter.height());
    const std::vector<double>& all = filter.taps();
    if (std::count(all.begin(), all.end(), all.front()) == filter.count() && filter.exact())
      peers.push_back({"boxFilter", on_planes(desc.layout, [size](const cv::Mat& in, cv::Mat& out) {
                         cv::boxFilter(in, out, -1, size, {-1, -1}, true, cv::BORDER_REPLICATE);
                       })});
    const double sigma = size.width / 6.0;  // as the Gaussian preset has it
    if (!filter.exact())
      peers.push_back({"GaussianBlur", on_planes(desc.layout, [size, sigma](const cv::Mat& in, cv::Mat& out) {
                         cv::GaussianBlur(in, out, size, sigma, sigma, cv::BORDER_REPLICATE);
                       })});
  }
  return peers;
}

std::function<void(const Image& frame)> opencv_region_blur(const RegionDesc& desc, const std::vector<Region>& regions,
                                                           int cells) {
  cv::setNumThreads(1);
  return [desc, regions, cells](const Image& frame) {
    for (int p = 0; p < desc.layout.planes; ++p) {
      const PlaneLayout& plane = desc.layout.plane[p];
      const int width = plane.component[0].width, height = plane.component[0].height;
      cv::Mat all(height, width, CV_MAKETYPE(depth_of(desc.layout.type), plane.components), frame.plane[p].data,
                  static_cast<std::size_t>(frame.plane[p].stride));
      for (const Region& region : regions) {
        const auto scaled = [](std::int64_t at, int samples, int pixels) {
          return static_cast<int>(at * samples / pixels);
        };
        const cv::Point first(scaled(region.left, width, desc.width), scaled(region.top, height, desc.height));
        const cv::Point last(scaled(region.right, width, desc.width), scaled(region.bottom, height, desc.height));
        cv::Mat part = all(cv::Rect(first, last));
        if (part.empty()) continue;  // smaller than a sample
        const int cell = std::max(part.cols, part.rows) / cells | 1;
        cv::GaussianBlur(part, part, {cell, cell}, 0, 0, cv::BORDER_REPLICATE | cv::BORDER_ISOLATED);
      }
    }
  };
}

}  // namespace convolve::bench

#else

namespace convolve::bench {
std::vector<Peer> opencv_peers(const PlanDesc&, unsigned) {
  return {};
}
std::function<void(const Image&)> opencv_region_blur(const RegionDesc&, const std::vector<Region>&, int) {
  return nullptr;
}
}  // namespace convolve::bench

#endif
