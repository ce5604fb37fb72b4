// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Settings: the element's properties as one immutable value, and the filter that they ask for. The table of
// properties is in settings.cpp: a new property is a member of Settings and a row there (of regions: a member of
// RegionSettings and a row in region_settings.cpp).
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "convolve/algorithm.hpp"
#include "convolve/bank.hpp"
#include "convolve/border.hpp"
#include "convolve/filter.hpp"
#include "convolve/preset.hpp"
#include "formats.hpp"
#include "kernel_value.hpp"
#include "region_settings.hpp"

namespace convolve {

enum class BackendChoice { automatic, cpu, cuda };

inline bool operator==(const Tap& a, const Tap& b) {
  return a.value == b.value && a.numerator == b.numerator && a.denominator == b.denominator;
}
inline bool operator==(const TapArray& a, const TapArray& b) {
  return a.depth == b.depth && a.height == b.height && a.width == b.width && a.taps == b.taps;
}
inline bool operator==(const FilterOptions& a, const FilterOptions& b) {
  const auto& [scale, normalize, convolve] = a;  // does not compile when a member is added: compare that one too
  return scale == b.scale && normalize == b.normalize && convolve == b.convolve;
}

struct Settings {
  ArrayValue kernel;                    ///< as it was set
  std::optional<TapArray> kernel_taps;  ///< of a kernel that can be parsed
  std::string kernel_fault;             ///< why it cannot
  std::string kernel_location;
  std::string kernel_string;
  std::string location_string;                        ///< of a file that holds a kernel string
  std::optional<TapArray> location_taps;              ///< what the file held when it was read; see load_kernel_file()
  ArrayValue bank;                                    ///< as it was set
  std::optional<std::vector<TapArray>> bank_kernels;  ///< of a bank that can be parsed
  std::string bank_fault;                             ///< why it cannot
  Combine combine = Combine::none;                    ///< none: what a preset that is a bank says
  Preset preset = Preset::identity;
  PresetParameters parameters;  ///< `causal` is the property window
  FilterOptions options;
  double bias = 0;                       ///< a fraction of the nominal range, or code values: see bias_in_force()
  std::optional<BiasSum> string_bias{};  ///< what a kernel string brings in place of the property
  bool code_levels = false;              ///< the property levels
  Border border = Border::replicate;
  double border_value = 0;     ///< of ghost cells, as a fraction of the nominal range
  double scene_threshold = 0;  ///< as a fraction of luma's nominal range; 0: scenes are not told apart
  /// ComponentFlags.
  unsigned components = component_luma | component_chroma | component_red | component_green | component_blue;
  BackendChoice backend = BackendChoice::automatic;
  Algorithm algorithm = Algorithm::automatic;
  int cuda_device_id = -1;  ///< -1: any
  unsigned n_threads = 0;   ///< 0: as many as there are processors
  RegionSettings regions;

  bool causal() const { return parameters.causal; }
  /// Whatever `levels` is, a kernel string says itself which part is a fraction and which is code values.
  BiasSum bias_in_force() const {
    if (string_bias) return *string_bias;
    return code_levels ? BiasSum{0, bias} : BiasSum{bias, 0};
  }
  Levels levels() const { return {components, bias_in_force(), border_value, code_levels}; }
  /// True where every property has the same value, and kernel-location was read to the same taps.
  bool operator==(const Settings&) const = default;
};

/// What the element says of itself in read-only properties. Static strings, or null where nothing runs.
struct ActiveNames {
  const char *backend = nullptr, *algorithm = nullptr;
};

/// A property's id is its place in the table, from 1 on. These are the first rows.
inline constexpr guint prop_kernel = 1, prop_kernel_location = 2, prop_bank = 3, prop_kernel_string = 4;

/// Installs every row of the table of properties.
void install_properties(GObjectClass* klass);

/// Stores one property; false for an id that cannot be set. Neither throws nor reads files: a kernel that cannot be
/// parsed is kept with its fault.
bool set_setting(Settings& settings, guint id, const GValue* value);
bool get_setting(const Settings& settings, const ActiveNames& active, guint id, GValue* value);

/// Reads kernel-location where it is what the filter is made of. Throws std::invalid_argument.
void load_kernel_file(Settings& settings);

/// Settings and the filter made of them: what the streaming thread latches whole.
struct Recipe {
  Settings settings;
  Filter filter;  ///< as for forward playback; of a causal window, its last frame is the centre; of a bank, its first
  Bank bank{};    ///< empty: the filter alone
  std::string fault{};                        ///< why there is no filter; empty where there is one
  std::shared_ptr<const Recipe> last_good{};  ///< of a fault: what was in force before it
  bool controlled = false;                    ///< of a fault: GstControllers set it, and do so anew for each frame
};

/// Values that are legal, but not together: the change of another property may mend that.
class IncompleteSettings : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws std::invalid_argument with a message fit for the user.
std::shared_ptr<const Recipe> make_recipe(const Settings& settings);

}  // namespace convolve
