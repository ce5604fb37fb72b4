// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "odd_properties.hpp"

#include <string_view>
#include <vector>

namespace fuzz {
namespace {

// Those that name a file, a device, or threads have tests of their own.
bool is_left_alone(const GParamSpec* spec) {
  constexpr std::string_view names[] = {"name",      "parent",         "qos", "backend", "cuda-device-id",
                                        "n-threads", "kernel-location"};
  for (const std::string_view name : names)
    if (name == spec->name) return true;
  return !(spec->flags & G_PARAM_WRITABLE);
}

std::vector<GParamSpec*> properties_of(GstElement* element) {
  guint count = 0;
  GParamSpec** all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::vector<GParamSpec*> found;
  for (guint i = 0; i < count; ++i)
    if (!is_left_alone(all[i])) found.push_back(all[i]);
  g_free(all);
  return found;
}

const char* odd_text(Bytes& bytes, std::string_view name) {
  static constexpr const char* kernels[] = {
      "<>",
      "<<1,2,1>>",
      "<<<1>>,<<2>>,<<1>>>",
      "<<1/9,1/9>,<1/9,-1/9>>",
      "<<1,2>,<3>>",
      "<<1e300,1e300>>",
      "<<-1>>",
      "<<0>>",
      "<<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>,<<1>>>"};
  static constexpr const char* banks[] = {"<>", "<<<1,2>>,<<3>>>", "<<1>>", "<<<1,0>,<0,-1>>,<<0,1>,<-1,0>>>",
                                          "<<<0.5>>,<<1,1,1>,<1,1,1>>,<<-2>>>"};
  static constexpr const char* boxes[] = {"<>",
                                          "<<1,2,10,12>>",
                                          "<<0,0,1,1>,<-5,-5,100,100>>",
                                          "<<-1e300,1e300,1e308,1e308>>",
                                          "<<2147483647,2147483647,2147483647,2147483647>>",
                                          "<<3.5,7.49,0.2,64>>",
                                          "<<1,2,3>>",
                                          "<<5,5,-3,4>,<9223372036854775807,0,1,64>>"};
  static constexpr const char* strings[] = {"",
                                            "face;c*",
                                            "*",
                                            ";;?",
                                            "ffmpeg:0m='0 -1 0 -1 5 -1 0 -1 0':1m='1 1 1 1 1 1 1 1 1'",
                                            "im:3x3: 0,-1,0 -1,5,-1 0,-1,0",
                                            "vs:matrix=[1,2,1,2,4,2,1,2,1] divisor=16",
                                            "svg:order=\"3\" kernelMatrix=\"0 0 0 0 1 0 0 0 0\"",
                                            "ffmpeg:"};
  if (name == "kernel") return bytes.pick(kernels);
  if (name == "bank") return bytes.pick(banks);
  if (name == "region-boxes") return bytes.pick(boxes);
  return bytes.pick(strings);
}

double odd_double(Bytes& bytes, const GParamSpecDouble* spec) {
  const double steps[] = {spec->default_value, spec->minimum, spec->maximum, 0, 0.5, 1, -0.1, 1e-300, 1e307};
  return bytes.pick(steps);
}

// Numbers from the lower end of the range, more small ones than large ones; and its ends.
std::int64_t odd_integer(Bytes& bytes, std::int64_t minimum, std::int64_t maximum) {
  const unsigned kind = bytes.byte();
  if (kind == 255) return maximum;
  const auto value = static_cast<std::int64_t>(minimum + (kind < 200 ? kind % 8 : kind));
  return value > maximum ? maximum : value;
}

// False where the type is one that this does not know.
bool draw(Bytes& bytes, GParamSpec* spec, GValue* value) {
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    const GEnumValue& one = values->values[bytes.below(values->n_values)];
    // It takes what is fastest on this machine: no run would be like another.
    if (std::string_view(one.value_nick) == "fastest") return false;
    g_value_set_enum(value, one.value);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    g_value_set_flags(value, bytes.byte() & G_PARAM_SPEC_FLAGS(spec)->flags_class->mask);
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    g_value_set_double(value, odd_double(bytes, G_PARAM_SPEC_DOUBLE(spec)));
  } else if (G_IS_PARAM_SPEC_INT(spec)) {
    const auto* range = G_PARAM_SPEC_INT(spec);
    g_value_set_int(value, static_cast<gint>(odd_integer(bytes, range->minimum, range->maximum)));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    g_value_set_uint(value, static_cast<guint>(bytes.odd_number()));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    g_value_set_uint64(value, bytes.odd_number());
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(value, static_cast<gboolean>(bytes.below(2)));
  } else {
    return gst_value_deserialize(value, odd_text(bytes, spec->name));
  }
  return true;
}

}  // namespace

void set_odd_property(Bytes& bytes, GstElement* element) {
  static const std::vector<GParamSpec*> properties = properties_of(element);
  GParamSpec* spec = properties[bytes.below(properties.size())];
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  // GLib warns of what is out of range and passes on nothing.
  const bool drawn = draw(bytes, spec, &value);
  if (drawn) g_param_value_validate(spec, &value);
  if (drawn) g_object_set_property(G_OBJECT(element), spec->name, &value);
  g_value_unset(&value);
}

void set_default_properties(GstElement* element) {
  for (GParamSpec* spec : properties_of(element))
    g_object_set_property(G_OBJECT(element), spec->name, g_param_spec_get_default_value(spec));
}

}  // namespace fuzz
