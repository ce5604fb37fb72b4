// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel_value.hpp"

#include <gst/gst.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace convolve {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument(what);
}

std::string show(const GValue* value) {
  gchar* text = gst_value_serialize(value);
  std::string shown = text ? text : G_VALUE_TYPE_NAME(value);
  g_free(text);
  if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
  return shown;
}

// Arrays and lists are the same to a user who sets them from an application.
struct Items {
  const GValue* value;
  static bool hold(const GValue* v) { return GST_VALUE_HOLDS_ARRAY(v) || GST_VALUE_HOLDS_LIST(v); }
  guint size() const {
    return GST_VALUE_HOLDS_ARRAY(value) ? gst_value_array_get_size(value) : gst_value_list_get_size(value);
  }
  const GValue* at(guint i) const {
    return GST_VALUE_HOLDS_ARRAY(value) ? gst_value_array_get_value(value, i) : gst_value_list_get_value(value, i);
  }
};

Tap parse_tap(const GValue* value, const std::string& where) {
  if (G_VALUE_HOLDS_INT(value)) return Tap::integer(g_value_get_int(value));
  if (G_VALUE_HOLDS_INT64(value)) return Tap::integer(g_value_get_int64(value));
  if (G_VALUE_HOLDS_UINT(value)) return Tap::integer(g_value_get_uint(value));
  if (G_VALUE_HOLDS_LONG(value)) return Tap::integer(g_value_get_long(value));
  if (G_VALUE_HOLDS_CHAR(value)) return Tap::integer(g_value_get_schar(value));
  if (G_VALUE_HOLDS_UCHAR(value)) return Tap::integer(g_value_get_uchar(value));
  if (G_VALUE_HOLDS_ULONG(value) && g_value_get_ulong(value) <= G_MAXINT64)
    return Tap::integer(static_cast<gint64>(g_value_get_ulong(value)));
  if (G_VALUE_HOLDS_UINT64(value) && g_value_get_uint64(value) <= G_MAXINT64)
    return Tap::integer(static_cast<gint64>(g_value_get_uint64(value)));
  if (GST_VALUE_HOLDS_FRACTION(value) && gst_value_get_fraction_denominator(value) != 0)
    return Tap::fraction(gst_value_get_fraction_numerator(value), gst_value_get_fraction_denominator(value));
  double real = std::numeric_limits<double>::quiet_NaN();
  if (G_VALUE_HOLDS_DOUBLE(value)) real = g_value_get_double(value);
  if (G_VALUE_HOLDS_FLOAT(value)) real = g_value_get_float(value);
  if (!std::isfinite(real))
    fail(where + " is " + show(value) + "; taps are finite numbers: ints, doubles or fractions like 1/9");
  return Tap::real(real);
}

void check_count(guint n, int most, const std::string& where, const char* unit) {
  if (n < 1 || n > static_cast<guint>(most))
    fail(where + " has " + std::to_string(n) + " " + unit + "; a kernel has 1 to " + std::to_string(most));
}

void append_frame(TapArray& array, const Items& rows, bool first, const std::string& where) {
  check_count(rows.size(), max_factored_taps, where, "rows");
  if (first) array.height = static_cast<int>(rows.size());
  if (static_cast<int>(rows.size()) != array.height)
    fail(where + " has " + std::to_string(rows.size()) + " rows where the first frame has " +
         std::to_string(array.height) + "; all frames of a kernel have as many");
  for (guint y = 0; y < rows.size(); ++y) {
    const std::string row_name = "row " + std::to_string(y + 1) + " of " + where;
    if (!Items::hold(rows.at(y)))
      fail(row_name + " is " + show(rows.at(y)) + "; a kernel is an array of rows like <<1,2,1>,<2,4,2>,<1,2,1>>");
    const Items taps{rows.at(y)};
    check_count(taps.size(), max_factored_taps, row_name, "taps");
    if (first && y == 0) array.width = static_cast<int>(taps.size());
    if (static_cast<int>(taps.size()) != array.width)
      fail(row_name + " has " + std::to_string(taps.size()) + " taps where the first row has " +
           std::to_string(array.width) + "; all rows of a kernel have as many");
    for (guint x = 0; x < taps.size(); ++x)
      array.taps.push_back(parse_tap(taps.at(x), "tap " + std::to_string(x + 1) + " in " + row_name));
  }
}

}  // namespace

TapArray parse_kernel_value(const GValue* value) {
  const Items top{value};
  TapArray array{1, 0, 0, {}};
  const bool has_frames = Items::hold(top.at(0)) && Items{top.at(0)}.size() > 0 && Items::hold(Items{top.at(0)}.at(0));
  if (!has_frames) {
    append_frame(array, top, true, "the kernel");
    return array;
  }
  check_count(top.size(), max_depth, "the kernel", "frames");
  array.depth = static_cast<int>(top.size());
  for (guint t = 0; t < top.size(); ++t) {
    const std::string where = "frame " + std::to_string(t + 1);
    if (!Items::hold(top.at(t))) fail(where + " is " + show(top.at(t)) + "; it is an array of rows, like the first");
    append_frame(array, Items{top.at(t)}, t == 0, where);
  }
  return array;
}

std::vector<TapArray> parse_bank_value(const GValue* value) {
  const Items top{value};
  std::vector<TapArray> kernels;
  for (guint i = 0; i < top.size(); ++i) {
    const std::string where = "kernel " + std::to_string(i + 1) + " of the bank";
    const bool is_kernel = Items::hold(top.at(i)) && Items{top.at(i)}.size() > 0 && Items::hold(Items{top.at(i)}.at(0));
    if (!is_kernel)
      fail(where + " is " + show(top.at(i)) +
           "; a bank is an array of kernels, each an array of rows, like <<<1,0>,<0,-1>>,<<0,1>,<-1,0>>>");
    append_frame(kernels.emplace_back(TapArray{1, 0, 0, {}}), Items{top.at(i)}, true, where);
  }
  return kernels;
}

ArrayValue::ArrayValue(const GValue* value) {
  auto* copy = new GValue(G_VALUE_INIT);
  g_value_init(copy, G_VALUE_TYPE(value));
  g_value_copy(value, copy);
  value_ = {copy, [](GValue* v) {
              g_value_unset(v);
              delete v;
            }};
}

bool ArrayValue::operator==(const ArrayValue& other) const {
  if (value_ == other.value_) return true;
  return value_ && other.value_ && gst_value_compare(get(), other.get()) == GST_VALUE_EQUAL;
}

}  // namespace convolve
