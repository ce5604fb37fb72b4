// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The ways in which taps are given: a launch line's text, an application's arrays of any type of number, a file; and
// boxes likewise.
#include "expected.hpp"

namespace element_test {
namespace {

// A tap for g_value arrays, as an application would append it.
struct Number {
  enum { integer, real, fraction, int64, unsigned_, single, long_, unsigned_long, byte } type;
  double value;
  int denominator = 1;
};

GValue array_of(const std::vector<std::vector<Number>>& rows) {
  GValue kernel = G_VALUE_INIT;
  gst_value_array_init(&kernel, static_cast<guint>(rows.size()));
  for (const std::vector<Number>& numbers : rows) {
    GValue row = G_VALUE_INIT;
    gst_value_array_init(&row, static_cast<guint>(numbers.size()));
    for (const Number& number : numbers) {
      GValue tap = G_VALUE_INIT;
      switch (number.type) {
        case Number::integer:
          g_value_init(&tap, G_TYPE_INT);
          g_value_set_int(&tap, static_cast<int>(number.value));
          break;
        case Number::real:
          g_value_init(&tap, G_TYPE_DOUBLE);
          g_value_set_double(&tap, number.value);
          break;
        case Number::fraction:
          g_value_init(&tap, GST_TYPE_FRACTION);
          gst_value_set_fraction(&tap, static_cast<int>(number.value), number.denominator);
          break;
        case Number::int64:
          g_value_init(&tap, G_TYPE_INT64);
          g_value_set_int64(&tap, static_cast<gint64>(number.value));
          break;
        case Number::unsigned_:
          g_value_init(&tap, G_TYPE_UINT);
          g_value_set_uint(&tap, static_cast<guint>(number.value));
          break;
        case Number::long_:
          g_value_init(&tap, G_TYPE_LONG);
          g_value_set_long(&tap, static_cast<glong>(number.value));
          break;
        case Number::unsigned_long:
          g_value_init(&tap, G_TYPE_ULONG);
          g_value_set_ulong(&tap, static_cast<gulong>(number.value));
          break;
        case Number::byte:
          g_value_init(&tap, G_TYPE_UCHAR);
          g_value_set_uchar(&tap, static_cast<guchar>(number.value));
          break;
        case Number::single:
          g_value_init(&tap, G_TYPE_FLOAT);
          g_value_set_float(&tap, static_cast<float>(number.value));
          break;
      }
      gst_value_array_append_and_take_value(&row, &tap);
    }
    gst_value_array_append_and_take_value(&kernel, &row);
  }
  return kernel;
}

// GStreamer's arrays take values of one type from an application, and of any type from text.
constexpr decltype(Number::type) number_types[] = {Number::integer, Number::real,          Number::fraction,
                                                   Number::int64,   Number::unsigned_,     Number::single,
                                                   Number::long_,   Number::unsigned_long, Number::byte};

ELEMENT_TEST_ROWS(an_application_may_give_taps_of_any_type_of_number, std::size(number_types)) {
  std::mt19937 random(2);
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Filtering f{make_kernel(1, 2, 3, {1, 0, 2, 0, 3, 1})};
  const auto tap = [&](int n) { return Number{number_types[row], static_cast<double>(n), 1}; };
  GValue kernel = array_of({{tap(1), tap(0), tap(2)}, {tap(0), tap(3), tap(1)}});
  Harness harness("", info);
  g_object_set_property(G_OBJECT(harness.element()), "kernel", &kernel);
  g_value_unset(&kernel);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  check_buffer(expected(f, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0,
               "an array of numbers");
}

ELEMENT_TEST(an_application_may_mix_numbers_in_an_array_made_from_text) {
  std::mt19937 random(2);
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  const Owned<GstBuffer> input = random_buffer(random, info);
  GValue kernel = G_VALUE_INIT;
  g_value_init(&kernel, GST_TYPE_ARRAY);
  CHECK(gst_value_deserialize(&kernel, "<<1,-1/2>,<0.25,2>>"), "no array");
  Harness harness("", info);
  g_object_set_property(G_OBJECT(harness.element()), "kernel", &kernel);
  g_value_unset(&kernel);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  check_buffer(expected(Filtering{make_kernel(1, 2, 2, {4, -2, 1, 8}, 4)}, frame_of(input.get(), info), info),
               harness.try_pull().get(), info, 0, "an array from text");
}

struct Spelling {
  const char* text;
  std::vector<double> taps;  // over 36
  int height, width;
};
const Spelling spellings[] = {
    {"<<1,2,3>>", {36, 72, 108}, 1, 3},
    {"<<1/9,-1/9,1/36>>", {4, -4, 1}, 1, 3},
    {"< < 1, 0.5 >, < 1/3, -2 > >", {36, 18, 12, -72}, 2, 2},
    {"<<(int)1,(double)0.25,(fraction)1/4>>", {36, 9, 9}, 1, 3},
    {"<<1e0>,<-25e-2>,<2/12>>", {36, -9, 6}, 3, 1},
    {"<<<1,0>,<0,1/2>>>", {36, 0, 0, 18}, 2, 2},
};

ELEMENT_TEST_ROWS(a_launch_line_may_mix_ints_doubles_and_fractions, std::size(spellings)) {
  const Spelling& s = spellings[row];
  std::mt19937 random(3);
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  const Filtering f{make_kernel(1, s.height, s.width, s.taps, 36)};
  check_stream(std::string("kernel=\"") + s.text + "\"", f, info, random_stream(random, info, 1), s.text);
}

struct Text {
  const char* text;
  std::vector<double> taps;  // over 36
  int depth, height, width;
};
const Text texts[] = {
    {"1 2 3\n", {36, 72, 108}, 1, 1, 3},
    {"1 2 3", {36, 72, 108}, 1, 1, 3},
    {"# a comment\n1/9 -1/9\n  0.5\t1/2   # another\n", {4, -4, 18, 18}, 1, 2, 2},
    {"\n\n1 2\n3 4\n\n\n", {36, 72, 108, 144}, 1, 2, 2},
    {"1 0\n0 1\n\n# next frame\n0 1\n1 0\n", {36, 0, 0, 36, 0, 36, 36, 0}, 2, 2, 2},
    {"1 2\r\n3 4\r\n", {36, 72, 108, 144}, 1, 2, 2},
};

ELEMENT_TEST_ROWS(a_kernel_file_says_the_same_as_the_property, std::size(texts)) {
  const Text& t = texts[row];
  std::mt19937 random(4);
  const TextFile file(t.text);
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  const Filtering f{make_kernel(t.depth, t.height, t.width, t.taps, 36)};
  check_stream("scale=0.25 kernel-location=" + file.path(),
               Filtering{make_kernel(t.depth, t.height, t.width, t.taps, 144)}, info, random_stream(random, info, 3),
               t.text);
}

ELEMENT_TEST(a_kernel_may_change_through_its_file_while_playing) {
  std::mt19937 random(5);
  const TextFile first("2\n"), second("0 0 1\n");
  const GstVideoInfo info = video_info("GRAY8", 9, 7);
  Harness harness("kernel-location=" + first.path(), info);
  for (const auto& [path, kernel] : {std::pair{first.path(), make_kernel(1, 1, 1, {2})},
                                     {second.path(), make_kernel(1, 1, 3, {0, 0, 1})},
                                     {first.path(), make_kernel(1, 1, 1, {2})}}) {
    harness.set("kernel-location", path.c_str());
    const Owned<GstBuffer> input = random_buffer(random, info);
    CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
    check_buffer(expected(Filtering{kernel}, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0,
                 path);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("taps");
}
