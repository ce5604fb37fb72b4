// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Settings: the element's properties as one immutable value, and the filter that they ask for. Names, ranges,
// defaults and blurbs of all properties are here; the enums come from the core's tables.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include "convolve/algorithm.hpp"
#include "convolve/border.hpp"
#include "convolve/filter.hpp"
#include "convolve/preset.hpp"
#include "formats.hpp"
#include "region_settings.hpp"

namespace convolve {

enum class BackendChoice { automatic, cpu, cuda };

struct Settings {
  std::shared_ptr<const GValue> kernel;  ///< as it was set; null: empty
  std::optional<TapArray> kernel_taps;   ///< of a kernel that can be parsed
  std::string kernel_fault;              ///< why it cannot
  std::string kernel_location;
  std::optional<TapArray> location_taps;  ///< what the file held when it was read; see load_kernel_file()
  Preset preset = Preset::identity;
  PresetParameters parameters;  ///< `causal` is the property window
  FilterOptions options;
  double bias = 0;
  Border border = Border::replicate;
  double border_value = 0;
  unsigned components = component_luma | component_chroma | component_red | component_green | component_blue;
  BackendChoice backend = BackendChoice::automatic;
  Algorithm algorithm = Algorithm::automatic;
  int cuda_device_id = -1;
  unsigned n_threads = 0;
  RegionSettings regions;

  bool causal() const { return parameters.causal; }
  Levels levels() const { return {components, bias, border_value}; }
};

/// Property ids; 0 is GObject's own.
enum PropertyId : guint {
  prop_kernel = 1,
  prop_kernel_location,
  prop_preset,
  prop_radius,
  prop_sigma,
  prop_amount,
  prop_angle,
  prop_temporal_radius,
  prop_operation,
  prop_scale,
  prop_normalize,
  prop_bias,
  prop_border_mode,
  prop_border_value,
  prop_components,
  prop_window,
  prop_backend,
  prop_algorithm,
  prop_cuda_device_id,
  prop_n_threads,
  prop_active_backend,
  prop_active_algorithm,
};

void install_properties(GObjectClass* klass);

/// Stores one property; false for an id that is none of ours. Neither throws nor reads files: a kernel that cannot be
/// parsed is kept with its fault.
bool set_setting(Settings& settings, guint id, const GValue* value);
bool get_setting(const Settings& settings, guint id, GValue* value);

/// True where the property is part of the filter, and so takes hold at the next frame.
bool is_filter_property(guint id);

/// Reads kernel-location where it is what the filter is made of. Throws std::invalid_argument.
void load_kernel_file(Settings& settings);

/// Settings and the filter made of them: what the streaming thread latches whole.
struct Recipe {
  Settings settings;
  Filter filter;  ///< as for forward playback; of a causal window, its last frame is the centre
};

/// Throws std::invalid_argument with a message fit for the user.
std::shared_ptr<const Recipe> make_recipe(const Settings& settings);

}  // namespace convolve
