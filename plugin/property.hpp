// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Property: one row of the element's table of properties, and a maker of rows for each type of value. A maker takes
// the member of Settings that holds the value, as a function: [](auto& s) -> auto& { return s.bias; }. What is
// installed, set and read follows from that member, and the default is what a new Settings holds there.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

#include "preset_text.hpp"
#include "settings.hpp"

namespace convolve {

/// The names that users see.
struct PropertyText {
  const char *name, *nick, *blurb;
};

template <class Number>
struct Range {
  Number low, high;
};

/// When a property may be set: while playing, also by a GstController, or before the element starts; or never.
inline constexpr auto while_playing =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
inline constexpr auto controllable = static_cast<GParamFlags>(while_playing | GST_PARAM_CONTROLLABLE);
inline constexpr auto at_start =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto read_only = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

struct Property {
  PropertyText text;
  GParamFlags flags;
  std::function<GParamSpec*()> make_spec;
  std::function<void(Settings&, const GValue*)> set;  ///< absent where the property is read-only
  std::function<void(const Settings&, const ActiveNames&, GValue*)> get;
};

/// The rows of the properties region*, for the table in settings.cpp. Registers their GEnums: to be called once.
void append_region_rows(std::vector<Property>& rows);

namespace property {

/// GObject's functions for the values of one type. `Number` is what they take and give.
template <class Number>
struct Type {
  GParamSpec* (*make_spec)(const gchar*, const gchar*, const gchar*, Number, Number, Number, GParamFlags);
  void (*set)(GValue*, Number);
  Number (*get)(const GValue*);
};
inline constexpr Type<gint> int_type{g_param_spec_int, g_value_set_int, g_value_get_int};
inline constexpr Type<guint> uint_type{g_param_spec_uint, g_value_set_uint, g_value_get_uint};
inline constexpr Type<guint64> uint64_type{g_param_spec_uint64, g_value_set_uint64, g_value_get_uint64};
inline constexpr Type<gdouble> double_type{g_param_spec_double, g_value_set_double, g_value_get_double};

template <class Member>
using MemberType = std::remove_reference_t<std::invoke_result_t<Member, Settings&>>;

template <class Number, class Member>
Property number(const Type<Number>& type, PropertyText text, Range<Number> range, Member member, GParamFlags flags) {
  return {text, flags,
          [=] {
            Settings defaults;
            return type.make_spec(text.name, text.nick, text.blurb, range.low, range.high, member(defaults), flags);
          },
          [=](Settings& s, const GValue* value) { member(s) = type.get(value); },
          [=](const Settings& s, const ActiveNames&, GValue* value) { type.set(value, member(s)); }};
}

template <class Member>
Property real(PropertyText text, Range<double> range, Member member, GParamFlags flags) {
  return number(double_type, text, range, member, flags);
}
template <class Member>
Property integer(PropertyText text, Range<int> range, Member member, GParamFlags flags) {
  return number(int_type, text, range, member, flags);
}
template <class Member>
Property natural(PropertyText text, Range<guint> range, Member member, GParamFlags flags) {
  return number(uint_type, text, range, member, flags);
}
template <class Member>
Property natural64(PropertyText text, Range<guint64> range, Member member, GParamFlags flags) {
  return number(uint64_type, text, range, member, flags);
}

template <class Member>
Property boolean(PropertyText text, Member member, GParamFlags flags) {
  return {text, flags,
          [=] {
            Settings defaults;
            return g_param_spec_boolean(text.name, text.nick, text.blurb, member(defaults), flags);
          },
          [=](Settings& s, const GValue* value) { member(s) = g_value_get_boolean(value) != FALSE; },
          [=](const Settings& s, const ActiveNames&, GValue* value) { g_value_set_boolean(value, member(s)); }};
}

/// `rows` hold {value, nick, description} and stay for the life of the process, as does the GEnum made of them. Its
/// name is "GstVideoConvolve" and `type_name`: names of types are the whole process's.
template <class Rows, class Member>
Property choice(PropertyText text, const char* type_name, const Rows& rows, Member member, GParamFlags flags) {
  auto* values = g_new0(GEnumValue, std::size(rows) + 1);
  gsize i = 0;
  for (const auto& row : rows) values[i++] = {static_cast<gint>(row.value), row.description, row.nick};
  const GType type = g_enum_register_static(type_name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return {
      text, flags,
      [=] {
        Settings defaults;
        return g_param_spec_enum(text.name, text.nick, text.blurb, type, static_cast<gint>(member(defaults)), flags);
      },
      [=](Settings& s, const GValue* value) { member(s) = static_cast<MemberType<Member>>(g_value_get_enum(value)); },
      [=](const Settings& s, const ActiveNames&, GValue* value) {
        g_value_set_enum(value, static_cast<gint>(member(s)));
      }};
}

/// `values` end with a row of nulls and stay for the life of the process.
template <class Member>
Property flag_set(PropertyText text, const char* type_name, const GFlagsValue* values, Member member,
                  GParamFlags flags) {
  const GType type = g_flags_register_static(type_name, values);
  gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  return {text, flags,
          [=] {
            Settings defaults;
            return g_param_spec_flags(text.name, text.nick, text.blurb, type, member(defaults), flags);
          },
          [=](Settings& s, const GValue* value) { member(s) = g_value_get_flags(value); },
          [=](const Settings& s, const ActiveNames&, GValue* value) { g_value_set_flags(value, member(s)); }};
}

/// A string whose absence (NULL) and emptiness mean the same.
template <class Member>
Property string(PropertyText text, Member member, GParamFlags flags) {
  return {text, flags, [=] { return g_param_spec_string(text.name, text.nick, text.blurb, nullptr, flags); },
          [=](Settings& s, const GValue* value) { member(s) = text_that_is_set(g_value_get_string(value)); },
          [=](const Settings& s, const ActiveNames&, GValue* value) {
            g_value_set_string(value, TextToGet(member(s)).get());
          }};
}

/// A GstValueArray, kept as it was set. `parsed` is called with the settings and the new array, or with null where it
/// is empty, to store what was read from it; it does not throw.
template <class Member, class Parsed>
Property array(PropertyText text, Member member, Parsed parsed, GParamFlags flags) {
  return {text, flags, [=] { return gst_param_spec_array(text.name, text.nick, text.blurb, nullptr, flags); },
          [=](Settings& s, const GValue* value) {
            const bool empty = gst_value_array_get_size(value) == 0;
            member(s) = empty ? ArrayValue() : ArrayValue(value);
            parsed(s, empty ? nullptr : value);
          },
          [=](const Settings& s, const ActiveNames&, GValue* value) {
            if (member(s)) g_value_copy(member(s).get(), value);
          }};
}

/// The name of something that runs now, which is no setting.
inline Property active_name(PropertyText text, const char* ActiveNames::*name) {
  return {text, read_only, [=] { return g_param_spec_string(text.name, text.nick, text.blurb, nullptr, read_only); },
          nullptr,
          [=](const Settings&, const ActiveNames& active, GValue* value) {
            g_value_set_static_string(value, active.*name);
          }};
}

}  // namespace property
}  // namespace convolve
