// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "convolve/preset.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

#include "convolve/is_whole.hpp"
#include "convolve/shortest_text.hpp"

namespace convolve {
namespace {

using Parameters = PresetParameters;
// Whole numbers, as doubles: binomials of large radii go beyond 64 bits, where their leading bits will do.
using Integers = std::vector<double>;

TapArray zeros(int depth, int height, int width) {
  TapArray array{depth, height, width, {}};
  array.taps.assign(static_cast<std::size_t>(depth) * height * width, Tap::integer(0));
  return array;
}

TapArray product(const Integers& column, const Integers& row) {
  TapArray array = zeros(1, static_cast<int>(column.size()), static_cast<int>(row.size()));
  for (int y = 0; y < array.height; ++y)
    for (int x = 0; x < array.width; ++x) array.at(0, y, x) = Tap::real(column[y] * row[x]);
  return array;
}

Integers convolve_integers(const Integers& a, const Integers& b) {
  Integers c(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
  return c;
}

// Row n of Pascal's triangle, n + 1 taps: the integer Gaussian.
Integers binomial(int n) {
  Integers taps{1};
  for (int i = 0; i < n; ++i) taps = convolve_integers(taps, {1, 1});
  return taps;
}

std::vector<double> gaussian(int radius, double sigma) {
  std::vector<double> taps;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    // A deviation whose square underflows leaves the centre alone.
    taps.push_back(i == 0 ? 1 : std::exp(-i * i / (2 * sigma * sigma)));
    sum += taps.back();
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

TapArray identity(const Parameters&) {
  TapArray array = zeros(1, 1, 1);
  array.taps[0] = Tap::integer(1);
  return array;
}

TapArray box_blur(const Parameters& p) {
  const int n = 2 * p.radius + 1;
  TapArray array = zeros(1, n, n);
  array.taps.assign(array.taps.size(), Tap::fraction(1, n * n));
  return array;
}

TapArray gaussian_blur(const Parameters& p) {
  const std::vector<double> g = gaussian(p.radius, p.effective_sigma());
  const int n = static_cast<int>(g.size());
  TapArray array = zeros(1, n, n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) array.at(0, y, x) = Tap::real(g[y] * g[x]);
  return array;
}

// cos and sin of whole multiples of 90 degrees are exact.
std::array<double, 2> direction(double degrees) {
  const double turns = degrees / 90;
  if (is_whole(turns)) {
    constexpr double cosines[4] = {1, 0, -1, 0};
    const int quarter = static_cast<int>(std::fmod(std::fmod(turns, 4) + 4, 4));
    return {cosines[quarter], cosines[(quarter + 3) % 4]};
  }
  const double radians = degrees * std::numbers::pi / 180;
  return {std::cos(radians), std::sin(radians)};
}

// A line of 2 * radius + 1 points through the centre, each shared out between its four neighbours.
TapArray motion_blur(const Parameters& p) {
  const int r = p.radius;
  const auto [cosine, sine] = direction(p.angle);
  std::vector<std::vector<double>> weight(2 * r + 1, std::vector<double>(2 * r + 1, 0));
  for (int i = -r; i <= r; ++i) {
    const double x = r + i * cosine, y = r - i * sine;
    const int x0 = static_cast<int>(std::floor(x)), y0 = static_cast<int>(std::floor(y));
    const double fx = x - x0, fy = y - y0;
    for (int dy = 0; dy < 2; ++dy)
      for (int dx = 0; dx < 2; ++dx) {
        const double w = (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy);
        if (w > 0) weight[std::clamp(y0 + dy, 0, 2 * r)][std::clamp(x0 + dx, 0, 2 * r)] += w;
      }
  }
  int reach_y = 0, reach_x = 0;
  for (int y = -r; y <= r; ++y)
    for (int x = -r; x <= r; ++x)
      if (weight[y + r][x + r] > 0) {
        reach_y = std::max(reach_y, std::abs(y));
        reach_x = std::max(reach_x, std::abs(x));
      }
  TapArray array = zeros(1, 2 * reach_y + 1, 2 * reach_x + 1);
  for (int y = -reach_y; y <= reach_y; ++y)
    for (int x = -reach_x; x <= reach_x; ++x) {
      const double w = weight[y + r][x + r];
      array.at(0, y + reach_y, x + reach_x) =
          is_whole(w) ? Tap::fraction(static_cast<std::int64_t>(w), 2 * r + 1) : Tap::real(w / (2 * r + 1));
    }
  return array;
}

// Second derivatives in x and in y, summed; a radius over 1 smooths across each of them with binomials.
TapArray laplacian(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  const Integers curve = convolve_integers({1, -2, 1}, binomial(2 * r - 2));
  Integers smooth = binomial(2 * r);
  if (r == 1) smooth = {0, 1, 0};
  TapArray array = product(curve, smooth);
  const TapArray other = product(smooth, curve);
  for (std::size_t i = 0; i < array.taps.size(); ++i)
    array.taps[i] = Tap::real(array.taps[i].value + other.taps[i].value);
  return array;
}

// in - amount * laplacian(in), the 3x3 one at every radius.
TapArray sharpen(const Parameters& p) {
  TapArray array = zeros(1, 3, 3);
  for (const auto& [y, x] : {std::array{0, 1}, {1, 0}, {1, 2}, {2, 1}}) array.at(0, y, x) = Tap::real(-p.amount);
  array.at(0, 1, 1) = Tap::real(1 + 4 * p.amount);
  return array;
}

// in + amount * (in - gaussian(in)).
TapArray unsharp(const Parameters& p) {
  TapArray array = gaussian_blur(p);
  for (Tap& tap : array.taps) tap = Tap::real(-p.amount * tap.value);
  Tap& centre = array.at(0, p.radius, p.radius);
  centre = Tap::real(centre.value + 1 + p.amount);
  return array;
}

// in + amount * slope along the angle.
TapArray emboss(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  const auto [cosine, sine] = direction(p.angle);
  TapArray array = zeros(1, 2 * r + 1, 2 * r + 1);
  for (int y = -r; y <= r; ++y)
    for (int x = -r; x <= r; ++x)
      array.at(0, y + r, x + r) = Tap::real(p.amount * (x * cosine - y * sine) + (x == 0 && y == 0 ? 1 : 0));
  return array;
}

// Sampled from the continuous function, with the mean taken off so that flat areas give 0.
TapArray laplacian_of_gaussian(const Parameters& p) {
  const int r = std::max(p.radius, 1), n = 2 * r + 1;
  const double sigma = p.effective_sigma();
  if (sigma < 1e-14)
    throw std::invalid_argument("sigma is " + shortest_text(sigma) +
                                "; the taps of laplacian-of-gaussian grow with 1 / sigma^2, and it is 0 (a sixth of "
                                "their width) or at least 1e-14 for them");
  const std::vector<double> g = gaussian(r, sigma);
  std::vector<double> values;
  double sum = 0;
  for (int y = -r; y <= r; ++y)
    for (int x = -r; x <= r; ++x) {
      values.push_back(g[y + r] * g[x + r] * (x * x + y * y - 2 * sigma * sigma) / std::pow(sigma, 4));
      sum += values.back();
    }
  TapArray array = zeros(1, n, n);
  for (std::size_t i = 0; i < values.size(); ++i) array.taps[i] = Tap::real(values[i] - sum / (n * n));
  return array;
}

// Marr and Hildreth, Theory of edge detection (1980): with 1.6 between the deviations it is close to the Laplacian of a
// Gaussian.
TapArray difference_of_gaussians(const Parameters& p) {
  const int r = std::max(p.radius, 1), n = 2 * r + 1;
  const double sigma = p.effective_sigma();
  const std::vector<double> narrow = gaussian(r, sigma), wide = gaussian(r, p.sigma2 > 0 ? p.sigma2 : 1.6 * sigma);
  TapArray array = zeros(1, n, n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) array.at(0, y, x) = Tap::real(narrow[y] * narrow[x] - wide[y] * wide[x]);
  return array;
}

// A cosine along the direction, under a Gaussian (Daugman, 1985); magnitudes sum to 1.
TapArray gabor(const Parameters& p) {
  const int r = std::max(p.radius, 1), n = 2 * r + 1;
  const std::vector<double> envelope = gaussian(r, p.effective_sigma());
  const auto [cosine, sine] = direction(p.angle);
  std::vector<double> values;
  double magnitude = 0;
  for (int y = -r; y <= r; ++y)
    for (int x = -r; x <= r; ++x) {
      // Rows count downwards, angles upwards.
      const double along = x * cosine - y * sine;
      values.push_back(envelope[y + r] * envelope[x + r] * std::cos(2 * std::numbers::pi * along / p.wavelength));
      magnitude += std::abs(values.back());
    }
  TapArray array = zeros(1, n, n);
  for (std::size_t i = 0; i < values.size(); ++i) array.taps[i] = Tap::real(values[i] / magnitude);
  return array;
}

Integers sobel_slope(int r) {
  return convolve_integers({-1, 0, 1}, binomial(2 * r - 2));
}

TapArray sobel_x(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  return product(binomial(2 * r), sobel_slope(r));
}

TapArray sobel_y(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  return product(sobel_slope(r), binomial(2 * r));
}

TapArray scharr_x(const Parameters&) {
  return product({3, 10, 3}, {-1, 0, 1});
}
TapArray scharr_y(const Parameters&) {
  return product({-1, 0, 1}, {3, 10, 3});
}

// The slope of the least-squares line, over rows of equal weight.
Integers ramp(int r) {
  Integers taps;
  for (int i = -r; i <= r; ++i) taps.push_back(i);
  return taps;
}

TapArray prewitt_x(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  return product(Integers(2 * r + 1, 1), ramp(r));
}

TapArray prewitt_y(const Parameters& p) {
  const int r = std::max(p.radius, 1);
  return product(ramp(r), Integers(2 * r + 1, 1));
}

TapArray temporal_mean(const Parameters& p) {
  const int n = 2 * p.temporal_radius + 1;
  TapArray array = zeros(n, 1, 1);
  array.taps.assign(n, Tap::fraction(1, n));
  return array;
}

// Gaussian in time and space. Causal: half of a Gaussian twice as wide, with its peak on the current frame.
TapArray temporal_denoise(const Parameters& p) {
  const int n = 2 * p.temporal_radius + 1;
  const int reach = p.causal ? 2 * p.temporal_radius : p.temporal_radius;
  std::vector<double> time = gaussian(reach, (2 * reach + 1) / 6.0);
  time.resize(n);
  double sum = 0;
  for (const double tap : time) sum += tap;
  for (double& tap : time) tap /= sum;
  const std::vector<double> g = gaussian(p.radius, p.effective_sigma());
  const int m = static_cast<int>(g.size());
  TapArray array = zeros(n, m, m);
  for (int t = 0; t < n; ++t)
    for (int y = 0; y < m; ++y)
      for (int x = 0; x < m; ++x) array.at(t, y, x) = Tap::real(time[t] * g[y] * g[x]);
  return array;
}

// This frame less the one temporal-radius frames before it.
TapArray temporal_difference(const Parameters& p) {
  const int t = std::max(p.temporal_radius, 1);
  TapArray array = zeros(p.causal ? t + 1 : 2 * t, 1, 1);
  array.at(0, 0, 0) = Tap::integer(-1);
  array.at(t, 0, 0) = Tap::integer(1);
  return array;
}

std::vector<TapArray> sobel(const Parameters& p) {
  return {sobel_x(p), sobel_y(p)};
}
std::vector<TapArray> scharr(const Parameters& p) {
  return {scharr_x(p), scharr_y(p)};
}
std::vector<TapArray> prewitt(const Parameters& p) {
  return {prewitt_x(p), prewitt_y(p)};
}

TapArray integers(int side, const std::vector<int>& taps) {
  TapArray array = zeros(1, side, side);
  std::transform(taps.begin(), taps.end(), array.taps.begin(), [](int tap) { return Tap::integer(tap); });
  return array;
}

// The differences along both diagonals of 2x2 samples (Roberts, 1963).
std::vector<TapArray> roberts(const Parameters&) {
  return {integers(2, {1, 0, 0, -1}), integers(2, {0, 1, -1, 0})};
}

// A mask in eight directions: its outer taps, clockwise from the top left, turned by 45 degrees at a time.
std::vector<TapArray> compass(std::array<int, 8> ring) {
  std::vector<TapArray> masks;
  for (int turn = 0; turn < 8; ++turn) {
    masks.push_back(integers(3, {ring[0], ring[1], ring[2], ring[7], 0, ring[3], ring[6], ring[5], ring[4]}));
    std::rotate(ring.begin(), ring.end() - 1, ring.end());
  }
  return masks;
}
// Kirsch, Computer determination of the constituent structure of biological images (1971).
std::vector<TapArray> kirsch(const Parameters&) {
  return compass({5, 5, 5, -3, -3, -3, -3, -3});
}
// Robinson, Edge detection by compass gradient masks (1977), the mask of 1 2 1.
std::vector<TapArray> robinson(const Parameters&) {
  return compass({1, 2, 1, 0, -1, -2, -1, 0});
}

constexpr auto table = std::to_array<PresetRow>({
    {Preset::identity, "identity", "No change", 1, identity},
    {Preset::box_blur, "box-blur", "Mean of the square of this radius", 1, box_blur},
    {Preset::gaussian_blur, "gaussian-blur", "Gaussian blur (radius, sigma)", 1, gaussian_blur},
    {Preset::motion_blur, "motion-blur", "Mean along a line (radius, angle)", 1, motion_blur},
    {Preset::sharpen, "sharpen", "Less the 3x3 Laplacian (amount)", 1, sharpen},
    {Preset::unsharp, "unsharp", "Unsharp mask (radius, sigma, amount)", 1, unsharp},
    {Preset::emboss, "emboss", "Relief lit along a direction (radius, amount, angle)", 1, emboss},
    {Preset::laplacian, "laplacian", "Laplacian (radius)", 0, laplacian},
    {Preset::laplacian_of_gaussian, "laplacian-of-gaussian", "Laplacian of a Gaussian (radius, sigma)", 0,
     laplacian_of_gaussian},
    {Preset::sobel_x, "sobel-x", "Sobel derivative in x (radius)", 0, sobel_x},
    {Preset::sobel_y, "sobel-y", "Sobel derivative in y, down (radius)", 0, sobel_y},
    {Preset::scharr_x, "scharr-x", "Scharr derivative in x, 3x3", 0, scharr_x},
    {Preset::scharr_y, "scharr-y", "Scharr derivative in y, down, 3x3", 0, scharr_y},
    {Preset::prewitt_x, "prewitt-x", "Prewitt derivative in x (radius)", 0, prewitt_x},
    {Preset::prewitt_y, "prewitt-y", "Prewitt derivative in y, down (radius)", 0, prewitt_y},
    {Preset::temporal_mean, "temporal-mean", "Mean over frames (temporal-radius)", 1, temporal_mean},
    {Preset::temporal_denoise, "temporal-denoise", "Gaussian over frames and space (temporal-radius, radius, sigma)", 1,
     temporal_denoise},
    {Preset::temporal_difference, "temporal-difference", "This frame less an earlier one (temporal-radius)", 0,
     temporal_difference},
    {Preset::difference_of_gaussians, "difference-of-gaussians", "Gaussian less a wider one (radius, sigma, sigma2)", 0,
     difference_of_gaussians},
    {Preset::gabor, "gabor", "Waves along a direction under a Gaussian (radius, sigma, wavelength, angle)",
     std::nullopt, gabor},
    {Preset::sobel, "sobel", "Bank: Sobel gradient, both directions (radius)", 0, nullptr, sobel, Combine::magnitude},
    {Preset::scharr, "scharr", "Bank: Scharr gradient, both directions, 3x3", 0, nullptr, scharr, Combine::magnitude},
    {Preset::prewitt, "prewitt", "Bank: Prewitt gradient, both directions (radius)", 0, nullptr, prewitt,
     Combine::magnitude},
    {Preset::roberts, "roberts", "Bank: Roberts cross, both diagonals, 2x2", 0, nullptr, roberts, Combine::magnitude},
    {Preset::kirsch, "kirsch", "Bank: Kirsch compass, the largest of eight directions, 3x3", 0, nullptr, kirsch,
     Combine::max},
    {Preset::robinson, "robinson", "Bank: Robinson compass, the largest of eight directions, 3x3", 0, nullptr, robinson,
     Combine::max},
});

}  // namespace

std::span<const PresetRow> presets() {
  return table;
}

PresetKernels make_preset_kernels(Preset preset, const PresetParameters& parameters) {
  if (parameters.radius < 0 || 2 * parameters.radius + 1 > max_factored_taps)
    throw std::invalid_argument("radius is " + std::to_string(parameters.radius) + "; it is 0 to 127");
  if (parameters.temporal_radius < 0 || 2 * parameters.temporal_radius + 1 > max_depth)
    throw std::invalid_argument("temporal-radius is " + std::to_string(parameters.temporal_radius) + "; it is 0 to 7");
  for (const PresetRow& row : table)
    if (row.value == preset)
      return {row.make ? std::vector{row.make(parameters)} : row.make_bank(parameters), row.combine};
  throw std::invalid_argument("no preset has the number " + std::to_string(static_cast<int>(preset)));
}

TapArray make_preset(Preset preset, const PresetParameters& parameters) {
  PresetKernels made = make_preset_kernels(preset, parameters);
  if (made.combine != Combine::none) throw std::invalid_argument("the preset is a bank of kernels");
  return std::move(made.kernels.front());
}

}  // namespace convolve
