// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.hpp"

#include <cmath>
#include <stdexcept>

#include "kernel_file.hpp"
#include "kernel_value.hpp"

namespace convolve {
namespace {

// A GEnum of rows {value, nick, description}, built once and kept for the life of the process.
template <class Rows>
GType register_enum(const char* name, const Rows& rows) {
  auto* values = g_new0(GEnumValue, std::size(rows) + 1);
  gsize i = 0;
  for (const auto& row : rows) values[i++] = {static_cast<gint>(row.value), row.description, row.nick};
  const GType type = g_enum_register_static(name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

struct Choice {
  int value;
  const char* nick;
  const char* description;
};
constexpr Choice operations[] = {{0, "correlate", "Taps are applied as written, as in OpenCV and FFmpeg"},
                                 {1, "convolve", "Every axis is flipped, and the centre with it"}};
constexpr Choice windows[] = {{0, "centered", "Frames before and after this one; adds the latency of those after"},
                              {1, "causal", "This frame and those before it; adds no latency"}};
constexpr Choice backends[] = {
    {static_cast<int>(BackendChoice::automatic), "auto", "CUDA where it can run, else the CPU"},
    {static_cast<int>(BackendChoice::cpu), "cpu", "The CPU"},
    {static_cast<int>(BackendChoice::cuda), "cuda", "An NVIDIA GPU"}};

GType components_type() {
  static const GFlagsValue values[] = {{component_luma, "Luma and grey", "luma"},
                                       {component_chroma, "Both chroma components", "chroma"},
                                       {component_red, "Red", "red"},
                                       {component_green, "Green", "green"},
                                       {component_blue, "Blue", "blue"},
                                       {component_alpha, "Alpha", "alpha"},
                                       {0, nullptr, nullptr}};
  const GType type = g_flags_register_static("GstVideoConvolveComponents", values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return type;
}

constexpr auto plain = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
constexpr auto scalar = static_cast<GParamFlags>(plain | GST_PARAM_CONTROLLABLE);
constexpr auto at_start =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto readable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

}  // namespace

void install_properties(GObjectClass* klass) {
  const Settings d;
  const auto install = [&](guint id, GParamSpec* spec) { g_object_class_install_property(klass, id, spec); };
  const auto real = [&](guint id, const char* name, const char* nick, const char* blurb, double low, double high,
                        double value) {
    install(id, g_param_spec_double(name, nick, blurb, low, high, value, scalar));
  };
  const auto choice = [&](guint id, const char* name, const char* nick, const char* blurb, GType type, int value,
                          GParamFlags flags) { install(id, g_param_spec_enum(name, nick, blurb, type, value, flags)); };

  install(prop_kernel,
          gst_param_spec_array(
              "kernel", "Kernel",
              "Taps as an array of rows, <<a,b,c>,<d,e,f>>, or an array of such frames, oldest first; "
              "1 to 15 frames of up to 31x31 taps, or of up to 255 on an axis where each factors into a column "
              "and a row, alone or plus a centre tap; ints, doubles and fractions may mix. "
              "Wins over kernel-location and preset unless empty",
              nullptr, plain));
  install(prop_kernel_location,
          g_param_spec_string("kernel-location", "Kernel location",
                              "Text file of taps: one row a line, a blank line between frames, # comments. "
                              "Wins over preset",
                              nullptr, plain));
  choice(prop_preset, "preset", "Preset", "Named filter", register_enum("GstVideoConvolvePreset", presets()),
         static_cast<int>(d.preset), scalar);
  install(prop_radius, g_param_spec_int("radius", "Radius", "Spatial radius of a preset, in samples", 0, 127,
                                        d.parameters.radius, scalar));
  real(prop_sigma, "sigma", "Sigma", "Standard deviation of Gaussian presets, in samples (0 = (2 * radius + 1) / 6)", 0,
       G_MAXDOUBLE, d.parameters.sigma);
  real(prop_amount, "amount", "Amount", "Strength of the presets sharpen, unsharp and emboss", -G_MAXDOUBLE,
       G_MAXDOUBLE, d.parameters.amount);
  real(prop_angle, "angle", "Angle",
       "Direction of the presets motion-blur and emboss, in degrees counter-clockwise from the x axis", -G_MAXDOUBLE,
       G_MAXDOUBLE, d.parameters.angle);
  install(prop_temporal_radius,
          g_param_spec_int("temporal-radius", "Temporal radius", "Radius in time of temporal presets, in frames", 0, 7,
                           d.parameters.temporal_radius, scalar));
  choice(prop_operation, "operation", "Operation", "How taps meet samples",
         register_enum("GstVideoConvolveOperation", operations), d.options.convolve, scalar);
  real(prop_scale, "scale", "Scale", "Multiplies the sum", -G_MAXDOUBLE, G_MAXDOUBLE, d.options.scale);
  install(prop_normalize,
          g_param_spec_boolean("normalize", "Normalize", "Divide by the sum of taps where that is not 0",
                               d.options.normalize, scalar));
  real(prop_bias, "bias", "Bias", "Added last to luma and colours, as a fraction of their range (0.5 = mid grey)",
       -G_MAXDOUBLE, G_MAXDOUBLE, d.bias);
  choice(prop_border_mode, "border-mode", "Border mode",
         "What stands in for samples outside of the frame, and for frames outside of the stream (there, wrap acts as "
         "replicate)",
         register_enum("GstVideoConvolveBorderMode", borders), static_cast<int>(d.border), scalar);
  real(prop_border_value, "border-value", "Border value",
       "Level outside of the frame for border-mode=constant, as a fraction of the range", 0, 1, d.border_value);
  install(prop_components,
          g_param_spec_flags("components", "Components", "Components that are filtered; the others are copied",
                             components_type(), d.components, plain));
  choice(prop_window, "window", "Window", "Which frames a filter over several frames sees",
         register_enum("GstVideoConvolveWindow", windows), d.causal(), scalar);
  choice(prop_backend, "backend", "Backend", "Where the filter runs",
         register_enum("GstVideoConvolveBackend", backends), static_cast<int>(d.backend), at_start);
  choice(prop_algorithm, "algorithm", "Algorithm", "Force one of the backend's algorithms",
         register_enum("GstVideoConvolveAlgorithm", algorithms), static_cast<int>(d.algorithm), plain);
  install(prop_cuda_device_id,
          g_param_spec_int("cuda-device-id", "CUDA device ID", "GPU to use for the CUDA backend (-1 = auto)", -1,
                           G_MAXINT, d.cuda_device_id, at_start));
  install(prop_n_threads,
          g_param_spec_uint("n-threads", "Number of threads", "Threads of the CPU backend (0 = one a core)", 0, 1024,
                            d.n_threads, at_start));
  install_region_properties(klass);
  install(prop_active_backend,
          g_param_spec_string("active-backend", "Active backend", "The backend that runs now", nullptr, readable));
  install(prop_active_algorithm, g_param_spec_string("active-algorithm", "Active algorithm",
                                                     "The algorithm that runs now", nullptr, readable));
}

bool set_setting(Settings& s, guint id, const GValue* value) {
  switch (id) {
    case prop_kernel:
      s.kernel.reset();
      s.kernel_taps.reset();
      s.kernel_fault.clear();
      if (gst_value_array_get_size(value) == 0) break;
      s.kernel = copy_value(value);
      try {
        s.kernel_taps = parse_kernel_value(value);
      } catch (const std::invalid_argument& error) {
        s.kernel_fault = error.what();
      }
      break;
    case prop_kernel_location: {
      const char* path = g_value_get_string(value);
      s.kernel_location = path ? path : "";
      s.location_taps.reset();
      break;
    }
    case prop_preset:
      s.preset = static_cast<Preset>(g_value_get_enum(value));
      break;
    case prop_radius:
      s.parameters.radius = g_value_get_int(value);
      break;
    case prop_sigma:
      s.parameters.sigma = g_value_get_double(value);
      break;
    case prop_amount:
      s.parameters.amount = g_value_get_double(value);
      break;
    case prop_angle:
      s.parameters.angle = g_value_get_double(value);
      break;
    case prop_temporal_radius:
      s.parameters.temporal_radius = g_value_get_int(value);
      break;
    case prop_operation:
      s.options.convolve = g_value_get_enum(value) != 0;
      break;
    case prop_scale:
      s.options.scale = g_value_get_double(value);
      break;
    case prop_normalize:
      s.options.normalize = g_value_get_boolean(value);
      break;
    case prop_bias:
      s.bias = g_value_get_double(value);
      break;
    case prop_border_mode:
      s.border = static_cast<Border>(g_value_get_enum(value));
      break;
    case prop_border_value:
      s.border_value = g_value_get_double(value);
      break;
    case prop_components:
      s.components = g_value_get_flags(value);
      break;
    case prop_window:
      s.parameters.causal = g_value_get_enum(value) != 0;
      break;
    case prop_backend:
      s.backend = static_cast<BackendChoice>(g_value_get_enum(value));
      break;
    case prop_algorithm:
      s.algorithm = static_cast<Algorithm>(g_value_get_enum(value));
      break;
    case prop_cuda_device_id:
      s.cuda_device_id = g_value_get_int(value);
      break;
    case prop_n_threads:
      s.n_threads = g_value_get_uint(value);
      break;
    default:
      return set_region_setting(s.regions, id, value);
  }
  return true;
}

bool get_setting(const Settings& s, guint id, GValue* value) {
  switch (id) {
    case prop_kernel:
      if (s.kernel) g_value_copy(s.kernel.get(), value);
      break;
    case prop_kernel_location:
      g_value_set_string(value, s.kernel_location.empty() ? nullptr : s.kernel_location.c_str());
      break;
    case prop_preset:
      g_value_set_enum(value, static_cast<gint>(s.preset));
      break;
    case prop_radius:
      g_value_set_int(value, s.parameters.radius);
      break;
    case prop_sigma:
      g_value_set_double(value, s.parameters.sigma);
      break;
    case prop_amount:
      g_value_set_double(value, s.parameters.amount);
      break;
    case prop_angle:
      g_value_set_double(value, s.parameters.angle);
      break;
    case prop_temporal_radius:
      g_value_set_int(value, s.parameters.temporal_radius);
      break;
    case prop_operation:
      g_value_set_enum(value, s.options.convolve);
      break;
    case prop_scale:
      g_value_set_double(value, s.options.scale);
      break;
    case prop_normalize:
      g_value_set_boolean(value, s.options.normalize);
      break;
    case prop_bias:
      g_value_set_double(value, s.bias);
      break;
    case prop_border_mode:
      g_value_set_enum(value, static_cast<gint>(s.border));
      break;
    case prop_border_value:
      g_value_set_double(value, s.border_value);
      break;
    case prop_components:
      g_value_set_flags(value, s.components);
      break;
    case prop_window:
      g_value_set_enum(value, s.causal());
      break;
    case prop_backend:
      g_value_set_enum(value, static_cast<gint>(s.backend));
      break;
    case prop_algorithm:
      g_value_set_enum(value, static_cast<gint>(s.algorithm));
      break;
    case prop_cuda_device_id:
      g_value_set_int(value, s.cuda_device_id);
      break;
    case prop_n_threads:
      g_value_set_uint(value, s.n_threads);
      break;
    default:
      return get_region_setting(s.regions, id, value);
  }
  return true;
}

bool is_filter_property(guint id) {
  return id != prop_backend && id != prop_cuda_device_id && id != prop_n_threads;
}

void load_kernel_file(Settings& settings) {
  settings.location_taps.reset();
  if (!settings.kernel_location.empty() && !settings.kernel)
    settings.location_taps = read_kernel_file(settings.kernel_location);
}

std::shared_ptr<const Recipe> make_recipe(const Settings& settings) {
  if (!settings.kernel_fault.empty()) throw std::invalid_argument("kernel: " + settings.kernel_fault);
  if (!settings.regions.boxes_fault.empty()) throw std::invalid_argument(settings.regions.boxes_fault);
  for (const double value : {settings.bias, settings.border_value, settings.parameters.sigma,
                             settings.parameters.amount, settings.parameters.angle})
    if (!std::isfinite(value)) throw std::invalid_argument("bias, border-value, sigma, amount and angle are finite");
  Filter filter(settings.kernel_taps     ? *settings.kernel_taps
                : settings.location_taps ? *settings.location_taps
                                         : make_preset(settings.preset, settings.parameters),
                settings.options);
  if (settings.causal()) filter = filter.ending_at_newest();
  return std::make_shared<const Recipe>(Recipe{settings, std::move(filter)});
}

}  // namespace convolve
