// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ImageMagick's kernels by name, as the program itself shows them with -define morphology:showKernel=1: gradients and
// compasses of 3x3, Laplacians, Gaussians and what is made of them, and shapes. Arguments are a geometry: AxB+C+D, or
// A,B,C,D.
#include "kernel_string/imagemagick_named.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

namespace convolve::kernel_string {
namespace {

void read_arguments(Request& request, std::string_view text) {
  const std::string all(text);
  for (int i = 0; !(text = trim(text)).empty(); ++i) {
    if (i == 4) fail(quoted(all) + " has more than the four arguments of " + std::string(request.name));
    std::string_view digits = text;
    if (digits.front() == '+') digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && std::isfinite(value)) {
      request.values[i] = value;
      text = trim(text.substr(end - text.data()));
    } else if (text.find_first_of("xX,") != 0) {
      fail("the argument " + quoted(text) + " of " + std::string(request.name) +
           " is no number; write them as in 0x2+90 or 0,2,90");
    }
    if (text.find_first_of("xX,:/") == 0) text.remove_prefix(1);
  }
}

PlacedKernel of_integers(int side, std::initializer_list<int> taps) {
  PlacedKernel kernel = centred(side, side);
  std::transform(taps.begin(), taps.end(), kernel.taps.taps.begin(), [](int tap) { return Tap::integer(tap); });
  return kernel;
}

PlacedKernel of_reals(const std::array<double, 9>& taps) {
  PlacedKernel kernel = centred(3, 3);
  std::transform(taps.begin(), taps.end(), kernel.taps.taps.begin(), Tap::real);
  return kernel;
}

double angle_of(const Request& request, int i) {
  const double angle = request.value(i);
  if (std::fmod(angle, 45) != 0 || std::abs(angle) > 3600) {
    std::string shown = std::to_string(angle);
    shown.erase(shown.find_last_not_of('0') + 1);
    if (shown.ends_with('.')) shown.pop_back();
    fail("the angle \"" + shown + "\" of " + std::string(request.name) + " is no multiple of 45 degrees");
  }
  return angle;
}

int eighths(double angle) {
  return static_cast<int>(angle) / 45 % 8;
}

// ---- Gaussians

// How far a Gaussian reaches: the last distance at which it has a share of its sum above 1 / 65535, along a line or
// over a square. A program built with fewer bits a sample stops earlier; what it leaves out is below a code value.
int reach_of(const Request& request, double sigma, bool over_square) {
  if (request.value(0) >= 1) return radius_of(request, 0, 1, 1);
  if (request.value(0) > 0 || sigma == 0) return 1;
  double sum = 1 + 2 * std::exp(-1 / (2 * sigma * sigma));
  for (int reach = 2;; ++reach) {
    const double last = std::exp(-reach * reach / (2 * sigma * sigma));
    sum += 2 * last;
    if (last / (over_square ? sum * sum : sum) < 1.0 / 65535) return reach - 1;
    if (reach > max_factored_taps / 2)
      fail("the sigma of " + std::string(request.name) + " reaches over more than " +
           std::to_string(max_factored_taps) + " taps; give a radius before it, as in " + std::string(request.name) +
           ":20x" + std::to_string(static_cast<int>(std::min(sigma, 1e6))));
  }
}

double gaussian(double sigma, int x, int y) {
  if (sigma == 0) return x == 0 && y == 0 ? 1 : 0;
  const double of_two = 2 * sigma * sigma;
  return std::exp(-(x * x + y * y) / of_two) / (std::numbers::pi * of_two);
}

double sigma_of(const Request& request, int i) {
  const double sigma = std::abs(request.value(i));
  return sigma < 1e-12 ? 0 : sigma;
}

std::vector<PlacedKernel> make_gaussian(const Request& request) {
  const double sigma = sigma_of(request, 1);
  PlacedKernel kernel =
      square(reach_of(request, sigma, true), [&](int x, int y) { return Tap::real(gaussian(sigma, x, y)); });
  divide_each_sign(kernel.taps);
  return {kernel};
}

std::vector<PlacedKernel> make_difference(const Request& request) {
  const double sigma = sigma_of(request, 1), other = sigma_of(request, 2);
  PlacedKernel kernel = square(reach_of(request, std::max(sigma, other), true),
                               [&](int x, int y) { return Tap::real(gaussian(sigma, x, y) - gaussian(other, x, y)); });
  divide_each_sign(kernel.taps);
  return {kernel};
}

std::vector<PlacedKernel> make_laplacian_of_gaussian(const Request& request) {
  const double sigma = sigma_of(request, 1);
  PlacedKernel kernel = square(reach_of(request, sigma, true), [&](int x, int y) {
    const double r = sigma == 0 ? 0 : (x * x + y * y) / (2 * sigma * sigma);
    return Tap::real((1 - r) * gaussian(sigma, x, y));
  });
  divide_each_sign(kernel.taps);
  return {kernel};
}

// A line of Gaussian samples, each the sum of three a third apart, from `first` thirds on.
PlacedKernel gaussian_line(int taps, int first, double sigma) {
  PlacedKernel kernel = centred(taps, 1);
  for (int i = 0; i < taps; ++i) {
    double sum = 0;
    for (int third = 0; third < 3; ++third) {
      const double distance = (first + 3.0 * i + third) / 3;
      sum += std::exp(-distance * distance / (2 * sigma * sigma));
    }
    kernel.taps.taps[i] = Tap::real(sum);
  }
  return kernel;
}

std::vector<PlacedKernel> make_blur(const Request& request) {
  const double sigma = sigma_of(request, 1);
  const int reach = reach_of(request, sigma, false);
  PlacedKernel kernel = centred(2 * reach + 1, 1);
  if (sigma == 0)
    kernel.taps.taps[reach] = Tap::integer(1);
  else
    kernel = gaussian_line(2 * reach + 1, -(3 * reach + 1), sigma);
  divide_each_sign(kernel.taps);
  turn(kernel, eighths(angle_of(request, 2)), request.name);
  return {kernel};
}

std::vector<PlacedKernel> make_comet(const Request& request) {
  const double sigma = sigma_of(request, 1);
  const int taps = request.value(0) >= 1 ? radius_of(request, 0, 1, 1) : reach_of(request, sigma, false) + 1;
  PlacedKernel kernel = centred(taps, 1);
  if (sigma == 0)
    kernel.taps.taps[0] = Tap::integer(1);
  else
    kernel = gaussian_line(taps, 0, sigma);
  kernel.x = 0;
  divide_by_sum(kernel.taps);
  turn(kernel, eighths(angle_of(request, 2)), request.name);
  return {kernel};
}

std::vector<PlacedKernel> make_binomial(const Request& request) {
  const int radius = radius_of(request, 0, 1, 1);
  if (radius > 6) fail("the radius of Binomial is 1 to 6; write Gaussian for a wider one");
  std::vector<std::int64_t> row{1};
  for (int i = 0; i < 2 * radius; ++i) {
    row.push_back(0);
    for (std::size_t k = row.size() - 1; k > 0; --k) row[k] += row[k - 1];
  }
  return {square(radius, [&](int x, int y) { return Tap::integer(row[x + radius] * row[y + radius]); })};
}

// ---- Gradients and Laplacians

template <int... taps>
std::vector<PlacedKernel> turned_3x3(const Request& request) {
  PlacedKernel kernel = of_integers(3, {taps...});
  turn(kernel, eighths(angle_of(request, 0)), request.name);
  return {kernel};
}

// The nine masks of Frei and Chen's basis as ImageMagick has them: its seventh has one sign of its own.
PlacedKernel frei_chen_mask(int i) {
  constexpr double h = std::numbers::sqrt2 / 2, s = 1.0 / 6, t = 1.0 / 3;
  static constexpr std::array<std::array<double, 9>, 9> masks{{{h, 0, -h, 1, 0, -1, h, 0, -h},
                                                               {h, 1, h, 0, 0, 0, h, 1, h},
                                                               {1, -h, 0, -h, 0, h, 0, h, -1},
                                                               {0, h, -1, -h, 0, h, 1, -h, 0},
                                                               {0, -.5, 0, .5, 0, .5, 0, -.5, 0},
                                                               {.5, 0, -.5, 0, 0, 0, -.5, 0, .5},
                                                               {s, -t, s, -t, 2 * t, -t, -s, -t, s},
                                                               {-t, s, -t, s, 2 * t, s, -t, s, -t},
                                                               {t, t, t, t, t, t, t, t, t}}};
  return of_reals(masks[i]);
}

std::vector<PlacedKernel> make_frei_chen(const Request& request) {
  constexpr double r = std::numbers::sqrt2, h = r / 2;
  const int type = static_cast<int>(std::clamp(request.value(0), -4000.0, 4000.0));
  std::vector<PlacedKernel> kernels;
  if (type == 10) {
    for (int i = 0; i < 9; ++i) kernels.push_back(frei_chen_mask(i));
  } else if (type == 1 || (type >= 11 && type <= 19)) {
    kernels = {frei_chen_mask(type == 1 ? 0 : type - 11)};
  } else if (type == 2) {
    kernels = {of_reals({h, 1, 0, 1, 0, -1, 0, -1, -h})};
  } else {
    kernels = {of_reals({1, 0, -1, r, 0, -r, 1, 0, -1})};
  }
  // Without a second argument a large type is the angle.
  const int angle = request.value(1) != 0 ? 1 : 0;
  if (angle == 1 || std::abs(type) > 30)
    for (PlacedKernel& kernel : kernels) turn(kernel, eighths(angle_of(request, angle)), request.name);
  return kernels;
}

std::vector<PlacedKernel> make_laplacian(const Request& request) {
  switch (static_cast<int>(std::clamp(request.value(0), -1.0, 100.0))) {
    case 1:
      return {of_integers(3, {0, -1, 0, -1, 4, -1, 0, -1, 0})};
    case 2:
      return {of_integers(3, {-2, 1, -2, 1, 4, 1, -2, 1, -2})};
    case 3:
      return {of_integers(3, {1, -2, 1, -2, 4, -2, 1, -2, 1})};
    case 5:
      return {of_integers(5, {-4, -1, 0, -1, -4, -1, 2, 3, 2, -1, 0, 3, 4, 3, 0, -1, 2, 3, 2, -1, -4, -1, 0, -1, -4})};
    case 7:
      return {square(3, [](int x, int y) { return Tap::integer(8 - x * x - y * y); })};
    case 15:
      return {of_integers(5, {0, 0, -1, 0, 0, 0, -1, -2, -1, 0, -1, -2, 16, -2, -1, 0, -1, -2, -1, 0, 0, 0, -1, 0, 0})};
    case 19: {
      static constexpr int quarter[5][5] = {// from the centre outward
                                            {40, 24, 0, -5, -2},
                                            {24, 12, -3, -5, -2},
                                            {0, -3, -5, -4, -1},
                                            {-5, -5, -4, -2, -1},
                                            {-2, -2, -1, -1, 0}};
      return {square(4, [](int x, int y) { return Tap::integer(quarter[std::abs(y)][std::abs(x)]); })};
    }
    default:
      return {of_integers(3, {-1, -1, -1, -1, 8, -1, -1, -1, -1})};
  }
}

std::vector<PlacedKernel> make_unity(const Request& request) {
  return {{{1, 1, 1, {Tap::real(request.value(0, 1))}}}};
}

struct Row {
  std::string_view name;
  std::vector<PlacedKernel> (*make)(const Request&);
  bool turns;  ///< whether @, > and < make a list; the others look the same from every side
};
constexpr Row rows[] = {{"Unity", make_unity, false},
                        {"Gaussian", make_gaussian, false},
                        {"DoG", make_difference, false},
                        {"LoG", make_laplacian_of_gaussian, false},
                        {"Blur", make_blur, true},
                        {"Comet", make_comet, true},
                        {"Binomial", make_binomial, false},
                        {"Laplacian", make_laplacian, false},
                        {"Sobel", turned_3x3<1, 0, -1, 2, 0, -2, 1, 0, -1>, true},
                        {"FreiChen", make_frei_chen, true},
                        {"Roberts", turned_3x3<0, 0, 0, 1, -1, 0, 0, 0, 0>, true},
                        {"Prewitt", turned_3x3<1, 0, -1, 1, 0, -1, 1, 0, -1>, true},
                        {"Compass", turned_3x3<1, 1, -1, 1, -2, -1, 1, 1, -1>, true},
                        {"Kirsch", turned_3x3<5, -3, -3, 5, 0, -3, 5, -3, -3>, true},
                        {"Diamond", make_diamond, false},
                        {"Square", make_square, false},
                        {"Rectangle", make_rectangle, true},
                        {"Disk", make_disk, false},
                        {"Octagon", make_octagon, false},
                        {"Plus", make_plus, false},
                        {"Cross", make_cross, false},
                        {"Ring", make_ring, false},
                        {"Peaks", make_peaks, false}};

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char p, char q) { return lower(p) == lower(q); });
}

}  // namespace

std::vector<PlacedKernel> named_kernels(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(": \t\r\n,@<>"), text.size());
  Request request{text.substr(0, end), {}};
  const auto* row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return same_name(r.name, request.name); });
  if (row == std::end(rows)) {
    std::string names;
    for (const Row& r : rows) names += (names.empty() ? "" : ", ") + std::string(r.name);
    fail("the kernel " + quoted(request.name) + " is not known by name; there are " + names +
         ": give others as numbers, as -define morphology:showKernel=1 prints them");
  }
  request.name = row->name;
  std::string_view arguments = trim(text.substr(end));
  if (arguments.starts_with(':') || arguments.starts_with(',')) arguments.remove_prefix(1);
  const char turns = take_turns(arguments);
  read_arguments(request, arguments);
  std::vector<PlacedKernel> kernels = row->make(request);
  if (!row->turns || kernels.size() > 1) return kernels;
  return in_directions(kernels.front(), turns, row->name);
}

}  // namespace convolve::kernel_string
