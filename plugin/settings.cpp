// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "convolve/enum_row.hpp"
#include "convolve/shortest_text.hpp"
#include "kernel_file.hpp"
#include "kernel_string/kernel_string.hpp"
#include "kernel_value.hpp"
#include "property.hpp"

namespace convolve {
namespace {

constexpr EnumRow<bool> operations[] = {{false, "correlate", "Taps are applied as written, as in OpenCV and FFmpeg"},
                                        {true, "convolve", "Every axis is flipped, and the centre with it"}};
constexpr EnumRow<bool> level_kinds[] = {
    {false, "nominal", "Luma and chroma about their zero levels, bias as a fraction of the nominal range"},
    {true, "code", "All components, and bias, as code values from 0, as FFmpeg, ImageMagick and VapourSynth filter"}};
constexpr EnumRow<bool> windows[] = {
    {false, "centered", "Frames before and after this one; adds the latency of those after"},
    {true, "causal", "This frame and those before it; adds no latency"}};
constexpr EnumRow<BackendChoice> backends[] = {
    {BackendChoice::automatic, "auto", "CUDA where it can run, else the CPU"},
    {BackendChoice::cpu, "cpu", "The CPU"},
    {BackendChoice::cuda, "cuda", "An NVIDIA GPU"}};
constexpr GFlagsValue component_flags[] = {{component_luma, "Luma and grey", "luma"},
                                           {component_chroma, "Both chroma components", "chroma"},
                                           {component_red, "Red", "red"},
                                           {component_green, "Green", "green"},
                                           {component_blue, "Blue", "blue"},
                                           {component_alpha, "Alpha", "alpha"},
                                           {0, nullptr, nullptr}};

void parse_kernel(Settings& s, const GValue* value) {
  s.kernel_taps.reset();
  s.kernel_fault.clear();
  if (!value) return;
  try {
    s.kernel_taps = parse_kernel_value(value);
  } catch (const std::invalid_argument& error) {
    s.kernel_fault = error.what();
  }
}

void parse_bank(Settings& s, const GValue* value) {
  s.bank_kernels.reset();
  s.bank_fault.clear();
  if (!value) return;
  try {
    s.bank_kernels = parse_bank_value(value);
  } catch (const std::invalid_argument& error) {
    s.bank_fault = error.what();
  }
}

// The filter's own kernels.
void append_kernel_rows(std::vector<Property>& rows) {
  using namespace property;
  rows.insert(
      rows.end(),
      {array(
           {"kernel", "Kernel",
            "Taps as an array of rows, <<a,b,c>,<d,e,f>>, or an array of such frames, oldest first; "
            "1 to 15 frames of up to 31x31 taps, or of up to 255 on an axis where each factors into a column "
            "and a row, alone or plus a centre tap; ints, doubles and fractions mix in text, while an application's "
            "arrays hold one type of number. "
            "Wins over kernel-location and preset unless empty"},
           [](auto& s) -> auto& { return s.kernel; }, parse_kernel, while_playing),
       string(
           {"kernel-location", "Kernel location",
            "Text file of taps: one row a line, a blank line between frames, # comments; or of what kernel-string "
            "takes. "
            "Wins over preset"},
           [](auto& s) -> auto& { return s.kernel_location; }, while_playing),
       array(
           {"bank", "Bank",
            "Several kernels whose results are combined (combine): an array of 1 to 16 kernels, each an array of rows "
            "of "
            "up to 15x15 taps, <<<1,0>,<0,-1>>,<<0,1>,<-1,0>>>. Wins over kernel, kernel-location and "
            "preset "
            "unless empty"},
           [](auto& s) -> auto& { return s.bank; }, parse_bank, while_playing),
       string(
           {"kernel-string", "Kernel string",
            "A kernel in another program's words: ffmpeg:0m='0 -1 0 -1 5 -1 0 -1 0', im:3x3: 0,-1,0 ... (imc: "
            "correlates), vs:matrix=[1,2,1,...] divisor=16, svg:order=\"3\" kernelMatrix=\"...\". Sets scale, bias, "
            "border-mode and operation too, and wins over bank, kernel, kernel-location and preset unless empty"},
           [](auto& s) -> auto& { return s.kernel_string; }, while_playing),
       choice(
           {"combine", "Combine",
            "How the results of a bank's kernels become one; magnitude, sum-abs and max-abs of one kernel are its "
            "absolute value"},
           "GstVideoConvolveCombine", combinations, [](auto& s) -> auto& { return s.combine; }, controllable)});
}

// The kernels that have a name, and how taps become the filter.
void append_preset_rows(std::vector<Property>& rows) {
  using namespace property;
  rows.insert(
      rows.end(),
      {choice(
           {"preset", "Preset", "Named filter"}, "GstVideoConvolvePreset", presets(),
           [](auto& s) -> auto& { return s.preset; }, controllable),
       integer(
           {"radius", "Radius", "Spatial radius of a preset, in samples"}, {0, 127},
           [](auto& s) -> auto& { return s.parameters.radius; }, controllable),
       real(
           {"sigma", "Sigma", "Standard deviation of Gaussian presets, in samples (0 = (2 * radius + 1) / 6)"},
           {0, 255}, [](auto& s) -> auto& { return s.parameters.sigma; }, controllable),
       real(
           {"sigma2", "Sigma 2",
            "Standard deviation of the Gaussian that difference-of-gaussians takes away, in samples (0 = 1.6 * sigma)"},
           {0, 255}, [](auto& s) -> auto& { return s.parameters.sigma2; }, controllable),
       real(
           {"wavelength", "Wavelength", "Length of a wave of the preset gabor, in samples"}, {1, 512},
           [](auto& s) -> auto& { return s.parameters.wavelength; }, controllable),
       real(
           {"amount", "Amount", "Strength of the presets sharpen, unsharp and emboss"}, {-64, 64},
           [](auto& s) -> auto& { return s.parameters.amount; }, controllable),
       real(
           {"angle", "Angle",
            "Direction of the presets motion-blur, emboss and gabor, in degrees counter-clockwise from the x axis"},
           {-360, 360}, [](auto& s) -> auto& { return s.parameters.angle; }, controllable),
       integer(
           {"temporal-radius", "Temporal radius", "Radius in time of temporal presets, in frames"}, {0, 7},
           [](auto& s) -> auto& { return s.parameters.temporal_radius; }, controllable),
       choice(
           {"operation", "Operation", "How taps meet samples"}, "GstVideoConvolveOperation", operations,
           [](auto& s) -> auto& { return s.options.convolve; }, controllable),
       real(
           {"scale", "Scale", "Multiplies the sum"}, {-256, 256}, [](auto& s) -> auto& { return s.options.scale; },
           controllable),
       boolean(
           {"normalize", "Normalize", "Divide by the sum of taps where that is not 0"},
           [](auto& s) -> auto& { return s.options.normalize; }, controllable)});
}

// How the filter is applied, and where.
void append_use_rows(std::vector<Property>& rows) {
  using namespace property;
  rows.insert(
      rows.end(),
      {real(
           {"bias", "Bias",
            "Added last to luma and colours, as a fraction of their range (0.5 = mid grey; -4 to 4); with levels=code "
            "to every component, in code values"},
           {-65535, 65535}, [](auto& s) -> auto& { return s.bias; }, controllable),
       choice(
           {"levels", "Levels", "What the filter takes for zero, and what bias counts in"}, "GstVideoConvolveLevels",
           level_kinds, [](auto& s) -> auto& { return s.code_levels; }, controllable),
       choice(
           {"border-mode", "Border mode",
            "What stands in for samples outside of the frame, and for frames outside of the stream (there, wrap "
            "acts as replicate)"},
           "GstVideoConvolveBorderMode", borders, [](auto& s) -> auto& { return s.border; }, controllable),
       real(
           {"border-value", "Border value",
            "Level outside of the frame for border-mode=constant, as a fraction of the range"},
           {0, 1}, [](auto& s) -> auto& { return s.border_value; }, controllable),
       flag_set(
           {"components", "Components", "Components that are filtered; the others are copied"},
           "GstVideoConvolveComponents", component_flags, [](auto& s) -> auto& { return s.components; }, while_playing),
       choice(
           {"window", "Window", "Which frames a filter over several frames sees"}, "GstVideoConvolveWindow", windows,
           [](auto& s) -> auto& { return s.parameters.causal; }, controllable),
       real(
           {"scene-threshold", "Scene threshold",
            "Mean absolute difference of luma between neighbouring frames, as a fraction of its range, above which a "
            "filter over several frames starts anew (0 = off)"},
           {0, 1}, [](auto& s) -> auto& { return s.scene_threshold; }, controllable),
       choice(
           {"backend", "Backend", "Where the filter runs"}, "GstVideoConvolveBackend", backends,
           [](auto& s) -> auto& { return s.backend; }, at_start),
       choice(
           {"algorithm", "Algorithm", "Force one of the backend's algorithms"}, "GstVideoConvolveAlgorithm", algorithms,
           [](auto& s) -> auto& { return s.algorithm; }, while_playing),
       integer(
           {"cuda-device-id", "CUDA device ID", "GPU to use for the CUDA backend (-1 = auto)"}, {-1, G_MAXINT},
           [](auto& s) -> auto& { return s.cuda_device_id; }, at_start),
       natural(
           {"n-threads", "Number of threads",
            "Threads of the CPU backend (0 = as many as affinity and a container's quota leave)"},
           {0, 1024}, [](auto& s) -> auto& { return s.n_threads; }, at_start),
       active_name({"active-backend", "Active backend", "The backend that runs now"}, &ActiveNames::backend),
       active_name({"active-algorithm", "Active algorithm", "The algorithm that runs now"}, &ActiveNames::algorithm)});
}

const std::vector<Property>& table() {
  static const std::vector<Property> rows = [] {
    std::vector<Property> all;
    append_kernel_rows(all);
    append_preset_rows(all);
    append_use_rows(all);
    append_region_rows(all);
    return all;
  }();
  return rows;
}

const Property* row_of(guint id) {
  return id >= 1 && id <= table().size() ? &table()[id - 1] : nullptr;
}

}  // namespace

void install_properties(GObjectClass* klass) {
  g_assert(g_str_equal(row_of(prop_kernel)->text.name, "kernel"));
  g_assert(g_str_equal(row_of(prop_bank)->text.name, "bank"));
  g_assert(g_str_equal(row_of(prop_kernel_string)->text.name, "kernel-string"));
  g_assert(g_str_equal(row_of(prop_kernel_location)->text.name, "kernel-location"));
  for (guint id = 1; const Property* row = row_of(id); ++id)
    g_object_class_install_property(klass, id, row->make_spec());
}

bool set_setting(Settings& settings, guint id, const GValue* value) {
  const Property* row = row_of(id);
  if (!row || !row->set) return false;
  row->set(settings, value);
  return true;
}

bool get_setting(const Settings& settings, const ActiveNames& active, guint id, GValue* value) {
  const Property* row = row_of(id);
  if (!row) return false;
  row->get(settings, active, value);
  return true;
}

void load_kernel_file(Settings& settings) {
  settings.location_taps.reset();
  settings.location_string.clear();
  if (settings.kernel_location.empty() || settings.kernel || settings.bank || !settings.kernel_string.empty()) return;
  const std::string text = read_kernel_file(settings.kernel_location);
  if (std::optional<std::string> string = kernel_string_in_file(text))
    settings.location_string = *std::move(string);
  else
    settings.location_taps = parse_kernel_text(text, settings.kernel_location);
}

namespace {

void check_values(const Settings& settings) {
  // A faulty value does no harm while another property wins over it.
  if (settings.kernel_string.empty()) {
    if (!settings.bank_fault.empty()) throw std::invalid_argument("bank: " + settings.bank_fault);
    if (!settings.bank_kernels && !settings.kernel_fault.empty())
      throw std::invalid_argument("kernel: " + settings.kernel_fault);
  }
  if (!settings.regions.boxes_fault.empty()) throw std::invalid_argument(settings.regions.boxes_fault);
  for (const double value :
       {settings.bias, settings.border_value, settings.parameters.sigma, settings.parameters.sigma2,
        settings.parameters.wavelength, settings.parameters.amount, settings.parameters.angle})
    if (!std::isfinite(value))
      throw std::invalid_argument("bias, border-value, sigma, sigma2, wavelength, amount and angle are finite");
}

// The planes of a kernel string as ComponentFlags.
unsigned components_of(const std::array<bool, 4>& planes, bool red_first) {
  const unsigned colours[] = {red_first ? component_red : component_green, red_first ? component_green : component_blue,
                              red_first ? component_blue : component_red};
  return (planes[0] ? component_luma | colours[0] : 0U) | (planes[1] ? component_chroma | colours[1] : 0U) |
         (planes[2] ? component_chroma | colours[2] : 0U) | (planes[3] ? component_alpha : 0U);
}

// Scale, bias, border mode and the like that a kernel string brings take the place of those properties.
PresetKernels take_kernel_string(Settings& settings, const std::string& text) {
  KernelString from = parse_kernel_string(text);
  settings.options = from.options;
  settings.string_bias = BiasSum{from.bias, from.bias_codes};
  settings.border = from.border;
  settings.border_value = 0;
  // The planes are those of the filter, which has no part in hiding.
  if (from.planes && !settings.regions.hides())
    settings.components = components_of(*from.planes, from.planes_are_red_first);
  return {std::move(from.kernels), from.combine};
}

// The kernels that the settings ask for, by the order in which one wins over another.
PresetKernels chosen_kernels(Settings& settings) {
  PresetKernels chosen;
  if (!settings.kernel_string.empty())
    chosen = take_kernel_string(settings, settings.kernel_string);
  else if (settings.bank_kernels)
    chosen.kernels = *settings.bank_kernels;
  else if (settings.kernel_taps)
    chosen.kernels = {*settings.kernel_taps};
  else if (!settings.location_string.empty())
    chosen = take_kernel_string(settings, settings.location_string);
  else if (settings.location_taps)
    chosen.kernels = {*settings.location_taps};
  else
    chosen = make_preset_kernels(settings.preset, settings.parameters);
  if (settings.combine != Combine::none) chosen.combine = settings.combine;
  return chosen;
}

// The property's range is that of code values, too large for a fraction.
void check_bias(const Settings& settings) {
  if (settings.string_bias || settings.code_levels || std::abs(settings.bias) <= 4) return;
  throw std::invalid_argument(
      "bias is " + shortest_text(settings.bias) +
      "; it is -4 to 4, as a fraction of the range, and counts in code values with levels=code");
}

// `settings` become those that hold: a kernel string's in place of some properties'.
std::shared_ptr<const Recipe> recipe_of(Settings settings) {
  const PresetKernels chosen = chosen_kernels(settings);
  check_bias(settings);
  if (chosen.combine != Combine::none || chosen.kernels.size() > 1) {
    Bank bank(chosen.kernels, chosen.combine, settings.options);
    return std::make_shared<const Recipe>(Recipe{settings, bank.kernels().front(), bank});
  }
  Filter filter(chosen.kernels.front(), settings.options);
  if (settings.causal()) filter = filter.ending_at_newest();
  return std::make_shared<const Recipe>(Recipe{settings, std::move(filter), {}});
}

// Whether taps are a preset's, and not the application's own.
bool takes_preset(const Settings& settings) {
  return settings.kernel_string.empty() && !settings.bank_kernels && !settings.kernel_taps &&
         settings.location_string.empty() && !settings.location_taps;
}

// Whether the settings make a filter once `change` has been made to them.
template <class Change>
bool mended_by(Settings settings, Change change) {
  change(settings);
  try {
    recipe_of(settings);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// For a preset that is too large: its name, and the largest radius that fits. Empty where the radius is not to blame.
std::string radius_that_fits(const Settings& settings) {
  const int asked = settings.parameters.radius;
  if (!takes_preset(settings)) return {};
  const auto fits = [&](int radius) { return mended_by(settings, [&](Settings& s) { s.parameters.radius = radius; }); };
  int largest = 1, too_large = asked;
  if (too_large <= largest || !fits(largest)) return {};
  while (too_large - largest > 1) {
    const int middle = (largest + too_large) / 2;
    (fits(middle) ? largest : too_large) = middle;
  }
  const auto row = std::ranges::find(presets(), settings.preset, &PresetRow::value);
  return std::string("preset=") + row->nick + " with radius=" + std::to_string(asked) +
         " is too large, up to radius=" + std::to_string(largest) + " fits: ";
}

// Whether properties that go together are to blame: kernels and their combination, a preset and its radius and
// deviations, bias and levels. Of any of these more than one may have to change.
bool is_incomplete(const Settings& settings) {
  return std::ranges::any_of(std::array{Combine::max, Combine::none}, [&](Combine combine) {
    return mended_by(settings, [&](Settings& s) {
      s.combine = combine;
      s.code_levels = true;
      if (!takes_preset(s)) return;
      s.parameters.radius = 1;
      s.parameters.sigma = s.parameters.sigma2 = 0;
    });
  });
}

}  // namespace

std::shared_ptr<const Recipe> make_recipe(const Settings& settings) {
  check_values(settings);
  std::string where;
  if (!settings.kernel_string.empty())
    where = "kernel-string: ";
  else if (!settings.location_string.empty())
    where = settings.kernel_location + ": ";
  try {
    return recipe_of(settings);
  } catch (const std::invalid_argument& error) {
    const std::string text = where + radius_that_fits(settings) + error.what();
    if (is_incomplete(settings)) throw IncompleteSettings(text);
    throw std::invalid_argument(text);
  }
}

}  // namespace convolve
