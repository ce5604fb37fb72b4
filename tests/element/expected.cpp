// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "expected.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace element_test {
namespace {

int bits_of(const GstVideoInfo& info, int component) {
  return GST_VIDEO_FORMAT_INFO_DEPTH(info.finfo, component);
}
enum class Role { luma, chroma, red, green, blue, alpha };

Role role_of(const GstVideoInfo& info, int component) {
  if (component == 3) return Role::alpha;
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(info.finfo)) return std::array{Role::red, Role::green, Role::blue}[component];
  return component == 0 ? Role::luma : Role::chroma;
}

bool is_filtered(const Filtering& f, Role role) {
  return std::array{f.luma, f.chroma, f.red, f.green, f.blue, f.alpha}[static_cast<int>(role)];
}

// The design's table of levels.
oracle::Levels levels_of(const Filtering& f, const GstVideoInfo& info, int component) {
  const int bits = bits_of(info, component);
  const Role role = role_of(info, component);
  const double full = std::ldexp(1.0, bits) - 1, step = std::ldexp(1.0, bits - 8);
  oracle::Levels levels;
  levels.bits = bits;
  if (f.code_levels) {
    levels.offset = f.bias;
    levels.ghost = f.border_value * full;
    return levels;
  }
  switch (role) {
    case Role::luma: {
      const bool limited =
          GST_VIDEO_FORMAT_INFO_IS_YUV(info.finfo) && info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
      levels.zero = limited ? 16 * step : 0;
      const double nominal = limited ? 219 * step : full;
      levels.offset = f.bias * nominal;
      levels.ghost = levels.zero + f.border_value * nominal;
      break;
    }
    case Role::chroma:
      levels.zero = levels.ghost = 128 * step;
      break;
    case Role::alpha:
      levels.ghost = f.border_value * full;
      break;
    default:
      levels.offset = f.bias * full;
      levels.ghost = f.border_value * full;
  }
  return levels;
}

const char* role_name(Role role) {
  return std::array{"luma", "chroma", "red", "green", "blue", "alpha"}[static_cast<int>(role)];
}

std::string tap_text(const oracle::Kernel& kernel, std::size_t i) {
  char text[64];
  if (kernel.divisor == 0)
    std::snprintf(text, sizeof text, "%.17g", kernel.taps[i]);
  else if (kernel.divisor == 1)
    std::snprintf(text, sizeof text, "%d", static_cast<int>(kernel.integers[i]));
  else
    std::snprintf(text, sizeof text, "%d/%d", static_cast<int>(kernel.integers[i]), static_cast<int>(kernel.divisor));
  return text;
}

}  // namespace

const char* name_of(oracle::Edge edge) {
  switch (edge) {
    case oracle::Edge::constant:
      return "constant";
    case oracle::Edge::replicate:
      return "replicate";
    case oracle::Edge::reflect:
      return "reflect";
    case oracle::Edge::reflect_101:
      return "reflect-101";
    case oracle::Edge::wrap:
      break;
  }
  return "wrap";
}

oracle::Kernel make_kernel(int depth, int height, int width, const std::vector<double>& values, std::int64_t divisor) {
  oracle::Kernel kernel;
  kernel.depth = depth;
  kernel.height = height;
  kernel.width = width;
  kernel.centre_t = depth / 2;
  kernel.centre_y = height / 2;
  kernel.centre_x = width / 2;
  kernel.divisor = divisor;
  if (divisor == 0)
    kernel.taps = values;
  else
    kernel.integers.assign(values.begin(), values.end());
  return kernel;
}

oracle::Kernel random_kernel(std::mt19937& random, int depth, int height, int width, int largest,
                             std::int64_t divisor) {
  std::uniform_int_distribution<int> tap(-largest, largest);
  std::vector<double> values(static_cast<std::size_t>(depth) * height * width);
  for (double& value : values) value = tap(random);
  values[values.size() / 2] = largest;
  return make_kernel(depth, height, width, values, divisor);
}

oracle::Kernel random_real_kernel(std::mt19937& random, int depth, int height, int width) {
  std::uniform_real_distribution<double> tap(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(depth) * height * width);
  for (double& value : values) value = 4 * tap(random) / static_cast<double>(values.size());
  values[values.size() / 2] = 0.7071;
  return make_kernel(depth, height, width, values, 0);
}

std::string text_of(const oracle::Kernel& kernel) {
  std::string text = kernel.depth > 1 ? "<" : "";
  std::size_t i = 0;
  for (int t = 0; t < kernel.depth; ++t) {
    text += t ? ",<" : "<";
    for (int y = 0; y < kernel.height; ++y) {
      text += y ? ",<" : "<";
      for (int x = 0; x < kernel.width; ++x, ++i) {
        if (x) text += ",";
        text += tap_text(kernel, i);
      }
      text += ">";
    }
    text += ">";
  }
  return text + (kernel.depth > 1 ? ">" : "");
}

oracle::Kernel flipped(oracle::Kernel kernel) {
  std::reverse(kernel.taps.begin(), kernel.taps.end());
  std::reverse(kernel.integers.begin(), kernel.integers.end());
  kernel.centre_t = kernel.depth - 1 - kernel.centre_t;
  kernel.centre_y = kernel.height - 1 - kernel.centre_y;
  kernel.centre_x = kernel.width - 1 - kernel.centre_x;
  return kernel;
}

oracle::Kernel causal(oracle::Kernel kernel) {
  kernel.centre_t = kernel.depth - 1;
  return kernel;
}

std::vector<Frame> expected(const Filtering& filtering, const std::vector<Frame>& frames, const GstVideoInfo& info) {
  const oracle::Kernel& kernel = filtering.kernel;
  const int count = static_cast<int>(frames.size());
  // A stream is not periodic: its ends replicate where space wraps.
  const oracle::Edge time_edge = filtering.edge == oracle::Edge::wrap ? oracle::Edge::replicate : filtering.edge;
  std::vector<Frame> out(frames.size());
  for (int t = 0; t < count; ++t) {
    // An output is due when the last frame that its filter asks for has come, and knows of none after that.
    const int come = std::min(count, t + kernel.depth - kernel.centre_t);
    for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c) {
      if (!is_filtered(filtering, role_of(info, c))) {
        out[t].component.push_back(frames[t].component[c]);
        continue;
      }
      std::vector<const oracle::Plane*> window;
      for (int i = 0; i < kernel.depth; ++i) {
        const std::int64_t from = oracle::fold(time_edge, t + i - kernel.centre_t, come);
        window.push_back(from < 0 ? nullptr : &frames[from].component[c]);
      }
      out[t].component.push_back(oracle::filter(kernel, window, filtering.edge, levels_of(filtering, info, c)));
    }
  }
  return out;
}

Frame expected(const Filtering& filtering, const Frame& frame, const GstVideoInfo& info) {
  return std::move(expected(filtering, std::vector<Frame>{frame}, info)[0]);
}

int tolerance(const Filtering& filtering, const GstVideoInfo& info) {
  if (filtering.kernel.divisor == 0) return 1;
  double magnitude = 0;
  for (const std::int64_t n : filtering.kernel.integers) magnitude += std::abs(static_cast<double>(n));
  for (int c = 0; c < static_cast<int>(GST_VIDEO_INFO_N_COMPONENTS(&info)); ++c) {
    if (!is_filtered(filtering, role_of(info, c))) continue;
    const double ghost = levels_of(filtering, info, c).ghost;
    if (filtering.edge == oracle::Edge::constant && ghost != std::floor(ghost)) return 1;
    if (magnitude * std::ldexp(1.0, bits_of(info, c)) >= 0x1p24) return 1;
  }
  return 0;
}

std::string first_difference(const Frame& wanted, const Frame& found, const GstVideoInfo& info, int tolerance) {
  for (std::size_t c = 0; c < wanted.component.size(); ++c) {
    const oracle::Plane &want = wanted.component[c], &have = found.component[c];
    for (std::size_t i = 0; i < want.samples.size(); ++i)
      if (!(std::abs(want.samples[i] - have.samples[i]) <= tolerance)) {
        char text[200];
        std::snprintf(text, sizeof text, "%s %dx%d: component %d (%s), sample (%d, %d): expected %g, found %g",
                      gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), GST_VIDEO_INFO_WIDTH(&info),
                      GST_VIDEO_INFO_HEIGHT(&info), static_cast<int>(c), role_name(role_of(info, static_cast<int>(c))),
                      static_cast<int>(i) % want.width, static_cast<int>(i) / want.width, want.samples[i],
                      have.samples[i]);
        return text;
      }
  }
  return "";
}

void check_equal(const Frame& wanted, const Frame& found, const GstVideoInfo& info, int tolerance,
                 const std::string& label) {
  const std::string difference = first_difference(wanted, found, info, tolerance);
  CHECK(difference.empty(), "%s: %s (tolerance %d)", label.c_str(), difference.c_str(), tolerance);
}

void check_buffer(const Frame& wanted, GstBuffer* found, const GstVideoInfo& info, int tolerance,
                  const std::string& label) {
  CHECK(found != nullptr, "%s: no output buffer", label.c_str());
  check_equal(wanted, frame_of(found, info), info, tolerance, label);
}

void check_stream(const std::string& properties, const Filtering& filtering, const GstVideoInfo& info,
                  const std::vector<Owned<GstBuffer>>& input, const std::string& label) {
  const std::vector<Frame> wanted = expected(filtering, frames_of(input, info), info);
  Harness harness(properties, info);
  for (const Owned<GstBuffer>& buffer : input) {
    const GstFlowReturn flow = harness.push(gst_buffer_ref(buffer.get()));
    if (flow != GST_FLOW_OK) {
      const std::vector<Report> errors = harness.errors();
      CHECK(false, "%s: push returned %s: %s (%s)", label.c_str(), gst_flow_get_name(flow),
            errors.empty() ? "no message" : errors[0].text.c_str(), errors.empty() ? "" : errors[0].debug.c_str());
    }
  }
  harness.push_event(gst_event_new_eos());
  for (std::size_t t = 0; t < input.size(); ++t) {
    const Owned<GstBuffer> out = harness.try_pull();
    const std::string where = label + ", frame " + std::to_string(t);
    check_buffer(wanted[t], out.get(), info, tolerance(filtering, info), where);
    CHECK(GST_BUFFER_PTS(out.get()) == GST_BUFFER_PTS(input[t].get()) &&
              GST_BUFFER_DURATION(out.get()) == GST_BUFFER_DURATION(input[t].get()) &&
              GST_BUFFER_OFFSET(out.get()) == GST_BUFFER_OFFSET(input[t].get()),
          "%s: pts %" G_GUINT64_FORMAT ", duration or offset are not those of its input", where.c_str(),
          GST_BUFFER_PTS(out.get()));
  }
  CHECK(!harness.try_pull(), "%s: more outputs than inputs", label.c_str());
}

}  // namespace element_test
