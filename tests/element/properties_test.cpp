// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The element's interface: the property table that users read.
#include <array>
#include <cstring>
#include <set>
#include <string>

#include "expected.hpp"

namespace element_test {
namespace {

// --- What gst-inspect-1.0 shows ----------------------------------------------------------------------------------

ELEMENT_TEST(the_factory_is_a_video_filter_of_rank_none) {
  const Owned<GstElementFactory> factory(gst_element_factory_find("videoconvolve"));
  CHECK(factory != nullptr, "no videoconvolve");
  CHECK(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory.get())) == GST_RANK_NONE, "rank");
  const char* klass = gst_element_factory_get_metadata(factory.get(), GST_ELEMENT_METADATA_KLASS);
  CHECK(!std::strcmp(klass, "Filter/Effect/Video"), "klass is %s", klass);
  CHECK(!std::strcmp(gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory.get())), "convolve"), "plugin");
  for (const char* key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR})
    CHECK(gst_element_factory_get_metadata(factory.get(), key) && *gst_element_factory_get_metadata(factory.get(), key),
          "no %s", key);
}

enum Traits { none = 0, playing = 1, controllable = 2, read_only = 4 };

struct Scalar {
  const char* name;
  double least, most, initial;
  int traits;
};
constexpr double huge = -2;  ///< a maximum that is the type's own
constexpr Scalar scalars[] = {
    {"radius", 0, 127, 1, playing | controllable},
    {"sigma", 0, 255, 0, playing | controllable},
    {"sigma2", 0, 255, 0, playing | controllable},
    {"wavelength", 1, 512, 4, playing | controllable},
    {"amount", -64, 64, 1, playing | controllable},
    {"angle", -360, 360, 0, playing | controllable},
    {"temporal-radius", 0, 7, 1, playing | controllable},
    {"scale", -256, 256, 1, playing | controllable},
    {"normalize", 0, 1, 0, playing | controllable},
    {"bias", -65535, 65535, 0, playing | controllable},
    {"border-value", 0, 1, 0, playing | controllable},
    {"scene-threshold", 0, 1, 0, playing | controllable},
    {"cuda-device-id", -1, G_MAXINT, -1, none},
    {"n-threads", 0, 1024, 0, none},
    {"region-min-confidence", 0, 1, 0, playing | controllable},
    {"region-grow", -0.5, 4, 0, playing | controllable},
    {"region-feather", 0, 256, 0, playing | controllable},
    {"region-cells", 1, 64, 6, playing | controllable},
    {"region-color", 0, G_MAXUINT, 0xff000000, playing | controllable},
    {"region-hold", 0, huge, 0, playing | controllable},
};

double as_double(const GValue* value) {
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  if (G_VALUE_HOLDS_BOOLEAN(value))
    g_value_set_double(&number, g_value_get_boolean(value));
  else
    CHECK(g_value_transform(value, &number), "not a number: %s", G_VALUE_TYPE_NAME(value));
  return g_value_get_double(&number);
}

void check_traits(const GParamSpec* spec, int traits) {
  CHECK(spec->flags & G_PARAM_READABLE, "%s cannot be read", spec->name);
  CHECK(((spec->flags & G_PARAM_WRITABLE) == 0) == ((traits & read_only) != 0), "%s: writable or not", spec->name);
  CHECK(((spec->flags & GST_PARAM_MUTABLE_PLAYING) == GST_PARAM_MUTABLE_PLAYING) == ((traits & playing) != 0),
        "%s: changeable while playing or not", spec->name);
  CHECK(((spec->flags & GST_PARAM_CONTROLLABLE) != 0) == ((traits & controllable) != 0), "%s: controllable or not",
        spec->name);
  CHECK(std::strlen(g_param_spec_get_blurb(const_cast<GParamSpec*>(spec))) > 10, "%s has no description", spec->name);
}

ELEMENT_TEST_ROWS(a_scalar_property_has_the_range_and_default_of_the_table, std::size(scalars)) {
  const Scalar& s = scalars[row];
  const Owned<GstElement> element(make_element());
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), s.name);
  CHECK(spec != nullptr, "no property %s", s.name);
  check_traits(spec, s.traits);
  CHECK(as_double(g_param_spec_get_default_value(spec)) == s.initial, "%s: default", s.name);
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element.get()), s.name, &value);
  CHECK(as_double(&value) == s.initial, "%s: initial value", s.name);
  g_value_unset(&value);
  double least = 0, most = 1;
  if (G_IS_PARAM_SPEC_INT(spec)) least = G_PARAM_SPEC_INT(spec)->minimum, most = G_PARAM_SPEC_INT(spec)->maximum;
  if (G_IS_PARAM_SPEC_UINT(spec)) least = G_PARAM_SPEC_UINT(spec)->minimum, most = G_PARAM_SPEC_UINT(spec)->maximum;
  if (G_IS_PARAM_SPEC_UINT64(spec)) least = 0, most = huge;
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    least = G_PARAM_SPEC_DOUBLE(spec)->minimum, most = G_PARAM_SPEC_DOUBLE(spec)->maximum;
  CHECK(least == s.least, "%s: minimum is %g", s.name, least);
  CHECK(most == s.most, "%s: maximum is %g", s.name, most);
}

/// `nicks`, a blank between them, in the order of their values, from 0 on: applications store the numbers too.
struct Choice {
  const char *name, *initial, *nicks;
  int traits;
};
const Choice choices[] = {
    {"preset", "identity",
     "identity box-blur gaussian-blur motion-blur sharpen unsharp emboss laplacian laplacian-of-gaussian sobel-x "
     "sobel-y scharr-x scharr-y prewitt-x prewitt-y temporal-mean temporal-denoise temporal-difference "
     "difference-of-gaussians gabor sobel scharr prewitt roberts kirsch robinson",
     playing | controllable},
    {"combine", "none", "none magnitude sum-abs max-abs max", playing | controllable},
    {"operation", "correlate", "correlate convolve", playing | controllable},
    {"levels", "nominal", "nominal code", playing | controllable},
    {"border-mode", "replicate", "constant replicate reflect reflect-101 wrap", playing | controllable},
    {"window", "centered", "centered causal", playing | controllable},
    {"backend", "auto", "auto cpu cuda", none},
    {"algorithm", "auto",
     "auto direct basic constant tiled cached-halo-seed cached-halo register separable matrix fastest", playing},
    {"regions", "off", "off inside outside", playing | controllable},
    {"region-shape", "rectangle", "rectangle ellipse", playing | controllable},
    {"region-effect", "filter", "filter blur pixelate fill", playing | controllable},
    {"region-missing", "nothing", "nothing everything", playing | controllable},
};

ELEMENT_TEST_ROWS(an_enum_property_has_the_nicks_and_default_of_the_table, std::size(choices)) {
  const Choice& choice = choices[row];
  const Owned<GstElement> element(gst_element_factory_make("videoconvolve", nullptr));
  gst_object_ref_sink(element.get());
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), choice.name);
  CHECK(spec && G_IS_PARAM_SPEC_ENUM(spec), "no enum property %s", choice.name);
  check_traits(spec, choice.traits);
  GEnumClass* values = G_PARAM_SPEC_ENUM(spec)->enum_class;
  std::string nicks;
  for (guint i = 0; i < values->n_values; ++i) {
    CHECK(values->values[i].value == static_cast<gint>(i), "%s: value %u", choice.name, i);
    if (i > 0) nicks += ' ';
    nicks += values->values[i].value_nick;
  }
  CHECK(nicks == choice.nicks, "%s has %s", choice.name, nicks.c_str());
  gint value = -1;
  g_object_get(element.get(), choice.name, &value, nullptr);
  CHECK(!std::strcmp(g_enum_get_value(values, value)->value_nick, choice.initial), "%s is %s", choice.name,
        g_enum_get_value(values, value)->value_nick);
}

constexpr std::array arrays{"kernel", "bank", "region-boxes"},
    strings{"kernel-location", "kernel-string", "region-types"};
constexpr std::array told{"active-backend", "active-algorithm"}, flag_sets{"components", "region-sources"};

ELEMENT_TEST(every_property_is_in_one_of_the_tables) {
  std::multiset<std::string> known;
  for (const Scalar& scalar : scalars) known.insert(scalar.name);
  for (const Choice& choice : choices) known.insert(choice.name);
  for (const auto& names : {arrays, strings}) known.insert(names.begin(), names.end());
  for (const auto& names : {told, flag_sets}) known.insert(names.begin(), names.end());
  const Owned<GstElement> element(make_element());
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element.get()), &count);
  guint own = 0;
  for (guint i = 0; i < count; ++i)
    if (specs[i]->owner_type == G_OBJECT_TYPE(element.get())) {
      ++own;
      CHECK(known.count(specs[i]->name) == 1, "%s is in %zu tables", specs[i]->name, known.count(specs[i]->name));
    }
  g_free(specs);
  CHECK(own == known.size(), "the element has %u properties, the tables %zu", own, known.size());
}

ELEMENT_TEST(arrays_strings_and_flags_are_as_in_the_table) {
  const Owned<GstElement> element(gst_element_factory_make("videoconvolve", nullptr));
  gst_object_ref_sink(element.get());
  const auto find = [&](const char* name, int traits) {
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), name);
    CHECK(spec != nullptr, "no property %s", name);
    check_traits(spec, traits);
    return spec;
  };
  for (const char* name : arrays)
    CHECK(GST_IS_PARAM_SPEC_ARRAY_LIST(find(name, playing)), "%s is no GstValueArray", name);
  for (const char* name : strings) CHECK(G_IS_PARAM_SPEC_STRING(find(name, playing)), "%s is no string", name);
  for (const char* name : told) CHECK(G_IS_PARAM_SPEC_STRING(find(name, read_only)), "%s is no string", name);
  find("region-sources", playing);
  GParamSpec* components = find("components", playing);
  CHECK(G_IS_PARAM_SPEC_FLAGS(components), "components are no flags");
  GFlagsClass* flags = G_PARAM_SPEC_FLAGS(components)->flags_class;
  guint all_but_alpha = 0;
  for (const char* nick : {"luma", "chroma", "red", "green", "blue", "alpha"}) {
    const GFlagsValue* value = g_flags_get_value_by_nick(flags, nick);
    CHECK(value != nullptr, "components has no %s", nick);
    if (std::strcmp(nick, "alpha")) all_but_alpha |= value->value;
  }
  guint initial = 0;
  g_object_get(element.get(), "components", &initial, nullptr);
  CHECK(initial == all_but_alpha, "components are 0x%x at first", initial);
}

ELEMENT_TEST(what_was_set_is_what_is_read) {
  const Owned<GstElement> element = make_element(
      "kernel=\"<<1,2.5,1/9>,<0,-1,0>>\" kernel-location=/no/such/file bias=0.25 scale=-2 amount=-1.5 angle=-300 "
      "sigma=2.5 "
      "components=luma+alpha border-mode=wrap window=causal operation=convolve normalize=true n-threads=3");
  gchar* location = nullptr;
  gdouble bias = 0, angle = 0;
  gint border = -1;
  g_object_get(element.get(), "kernel-location", &location, "bias", &bias, "angle", &angle, "border-mode", &border,
               nullptr);
  CHECK(!std::strcmp(location, "/no/such/file") && bias == 0.25 && angle == -300 && border == 4, "values differ");
  g_free(location);
  GValue kernel = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element.get()), "kernel", &kernel);
  CHECK(GST_VALUE_HOLDS_ARRAY(&kernel) && gst_value_array_get_size(&kernel) == 2, "the kernel does not read back");
  const GValue* first = gst_value_array_get_value(&kernel, 0);
  CHECK(GST_VALUE_HOLDS_ARRAY(first) && gst_value_array_get_size(first) == 3, "its rows do not read back");
  CHECK(as_double(gst_value_array_get_value(first, 1)) == 2.5, "its taps do not read back");
  g_value_unset(&kernel);
}

ELEMENT_TEST(active_backend_and_algorithm_say_what_runs) {
  const GstVideoInfo info = video_info("GRAY8", 16, 16);
  std::mt19937 random(1);
  Harness harness("preset=box-blur", info);
  CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
  CHECK(harness.string("active-backend") == test_backend(), "active-backend is \"%s\"",
        harness.string("active-backend").c_str());
  CHECK(!harness.string("active-algorithm").empty(), "active-algorithm is empty");
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("properties");
}
