// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What happens when something is wrong: kernel files that cannot be read, backends and algorithms that cannot serve,
// buffers smaller than their caps.

#include "refusals.hpp"

namespace element_test {
namespace {

#ifdef ELEMENT_TEST_BUILT_WITH_CUDA
constexpr bool built_with_cuda = true;
#else
constexpr bool built_with_cuda = false;
#endif

// --- Kernel files --------------------------------------------------------------------------------------------------

// What a GError holds is UTF-8: Python's bindings, for one, throw in the application's handler where it is not.
ELEMENT_TEST(a_message_about_broken_bytes_is_valid_utf8) {
  for (const char* text : {"1 \xff\xfe 2\n", "1 \xc3\n",
                           "\xff\xfe"
                           "1 2"}) {
    const TextFile file(text);
    const Owned<GstElement> element = make_element("kernel-location=" + file.path());
    const std::vector<Report> errors = start_and_fail(element.get(), "broken bytes");
    CHECK(errors.size() == 1, "not one error");
    CHECK(g_utf8_validate(errors[0].text.c_str(), -1, nullptr), "the message is not UTF-8");
    CHECK(errors[0].text.find(file.path()) != std::string::npos, "it names no path: %s", errors[0].text.c_str());
    CHECK(errors[0].text.find("\xef\xbf\xbd") == std::string::npos, "bytes are replaced: %s", errors[0].text.c_str());
  }
  const Owned<GstElement> element = make_element("");
  g_object_set(element.get(), "kernel-location", "/no/such\xff/file", nullptr);
  const std::vector<Report> errors = start_and_fail(element.get(), "a broken path");
  CHECK(errors.size() == 1 && g_utf8_validate(errors[0].text.c_str(), -1, nullptr), "the path's bytes are passed on");
  CHECK(errors[0].text.find("/no/such\\xff/file") != std::string::npos, "not shown: %s", errors[0].text.c_str());
}

// A row of one tap more than any kernel has.
struct Ones256 {
  char text[513] = {};
  constexpr Ones256() {
    for (int i = 0; i < 512; i += 2) {
      text[i] = '1';
      text[i + 1] = i == 510 ? '\n' : ' ';
    }
  }
};
constexpr Ones256 ones_256;

struct BadFile {
  const char *text, *place;  // place: line:column of the fault
};
constexpr BadFile bad_files[] = {
    {"1 2 3\n4 x 6\n", ":2:3"},
    {"abc", ":1:1"},
    {"1 2\n1 2 3\n", ":2:"},
    {"# only a comment\n", ":"},
    {"", ":"},
    {"1 2\n\n1 2\n1 2\n", ":"},
    {"1 nan\n", ":1:3"},
    {"1\ninf\n", ":2:1"},
    {"1/0 2\n", ":1:1"},
    {"1  2 3//4\n", ":1:6"},
    {ones_256.text, ":1:511"},
    {"<<1,2>,<3,4>>\n", ":1:1"},
};

ELEMENT_TEST_ROWS(a_malformed_kernel_file_is_reported_with_path_line_and_column, std::size(bad_files)) {
  const TextFile file(bad_files[row].text);
  const Owned<GstElement> element = make_element("kernel-location=" + file.path());
  const std::string place = file.path() + bad_files[row].place;
  const std::vector<Report> errors = start_and_fail(element.get(), bad_files[row].text);
  check_report(errors, bad_files[row].text, {});
  CHECK(errors[0].text.find(place) != std::string::npos, "\"%s\": expected %s in: %s", bad_files[row].text,
        place.c_str(), errors[0].text.c_str());
}

ELEMENT_TEST(an_absent_kernel_file_is_reported_with_its_path) {
  const Owned<GstElement> element = make_element("kernel-location=/no/such/folder/taps.txt");
  const std::vector<Report> errors = start_and_fail(element.get(), "absent file");
  check_report(errors, "absent file", {"/no/such/folder/taps.txt", "no such file"});
}

ELEMENT_TEST(a_bad_kernel_file_while_playing_leaves_the_old_filter_and_warns) {
  std::mt19937 random(2);
  const GstVideoInfo info = video_info("NV12", 16, 8);
  const Filtering f{random_kernel(random, 1, 3, 3, 6, 8)};
  for (const bool absent : {true, false}) {
    const TextFile bad("1 2\n3 4.5.6\n");
    Harness harness("kernel=\"" + text_of(f.kernel) + "\"", info);
    // The kernel property is emptied first, so that the file counts.
    for (int i = 0; i < 3; ++i) {
      if (i == 1) {
        const TextFile same("1\n");
        GValue none = G_VALUE_INIT;
        gst_value_array_init(&none, 0);
        harness.set("kernel-location", absent ? "/no/such/taps.txt" : bad.path().c_str());
        g_object_set_property(G_OBJECT(harness.element()), "kernel", &none);
        g_value_unset(&none);
      }
      const Owned<GstBuffer> input = random_buffer(random, info, i);
      CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "the stream stops");
      check_buffer(expected(f, frame_of(input.get(), info), info), harness.try_pull().get(), info, 0, "old filter");
    }
    const std::vector<Report> warnings = harness.warnings();
    CHECK(!warnings.empty(), "no warning");
    CHECK(warnings.back().text.find(absent ? "/no/such/taps.txt" : bad.path() + ":2:3") != std::string::npos,
          "the warning says: %s", warnings.back().text.c_str());
  }
}

// --- Backends and algorithms ---------------------------------------------------------------------------------------

ELEMENT_TEST(without_a_gpu_backend_cuda_fails_with_a_resource_error_that_says_why) {
  if (have_gpu()) return;
  const Owned<GstElement> element = make_element("backend=cuda");
  const std::vector<Report> errors = start_and_fail(element.get(), "backend=cuda");
  CHECK(errors.size() == 1 && errors[0].domain == GST_RESOURCE_ERROR, "no RESOURCE error");
  CHECK(lower(errors[0].text).find("cuda") != std::string::npos, "it says only: %s", errors[0].text.c_str());
}

ELEMENT_TEST(without_a_gpu_backend_auto_runs_on_the_cpu_with_one_warning) {
  if (have_gpu()) return;
  std::mt19937 random(3);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  static int logged;
  logged = 0;
  const auto count = [](GstDebugCategory* category, GstDebugLevel level, const gchar*, const gchar*, gint, GObject*,
                        GstDebugMessage* message, gpointer) {
    if (level == GST_LEVEL_WARNING && g_str_has_prefix(gst_debug_category_get_name(category), "videoconvolve") &&
        *gst_debug_message_get(message))
      ++logged;
  };
  gst_debug_set_threshold_for_name("videoconvolve*", GST_LEVEL_WARNING);
  (gst_debug_add_log_function)(count, nullptr, nullptr);  // bracketed: their macros take no lambda
  Harness harness("backend=auto preset=box-blur", info);
  CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push failed");
  CHECK(harness.string("active-backend") == "cpu", "active-backend is %s", harness.string("active-backend").c_str());
  int posted = 0;
  for (const Report& report : harness.reports()) {
    CHECK(report.type == GST_MESSAGE_WARNING, "an error: %s", report.text.c_str());
    ++posted;
  }
  (gst_debug_remove_log_function)(count);
  // A build without CUDA was made so on purpose.
  const int wanted = built_with_cuda ? 1 : 0;
  CHECK(std::max(posted, logged) == wanted, "%d warnings on the bus and %d in the log", posted, logged);
}

ELEMENT_TEST(with_backend_auto_what_cuda_does_not_serve_runs_on_the_cpu_with_one_warning) {
  // The kernels serve all that there is: only the stand-in for CUDA refuses, where it is told to.
  if (!have_gpu() || !g_getenv("CUDA_STANDIN")) return;
  g_setenv("CUDA_STANDIN_REFUSES_REGIONS", "1", TRUE);
  std::mt19937 random(4);
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  Harness harness("backend=auto regions=inside region-boxes=<<2,2,4,4>> region-effect=fill", info);
  for (int i = 0; i < 3; ++i)
    CHECK(harness.push(random_buffer(random, info).release()) == GST_FLOW_OK, "push %d failed", i);
  CHECK(harness.string("active-backend") == "cpu", "active-backend is %s", harness.string("active-backend").c_str());
  const std::vector<Report> reports = harness.reports();
  CHECK(reports.size() == 1 && reports[0].type == GST_MESSAGE_WARNING, "%zu reports", reports.size());
  check_report(reports, "fallback", {"refuse regions", "cpu"});
  g_unsetenv("CUDA_STANDIN_REFUSES_REGIONS");
}

ELEMENT_TEST(an_algorithm_that_cannot_serve_is_an_error_that_names_those_that_can) {
  std::mt19937 random(4);
  const bool cpu = std::string(test_backend()) == "cpu";
  const GstVideoInfo info = video_info("GRAY8", 16, 8);
  const Owned<GstElement> element =
      make_element(std::string("preset=sharpen algorithm=") + (cpu ? "cached-halo" : "direct"));
  ElementBus bus(element.get());
  // It may fail as early as READY or as late as the first frame, but no frame may come out.
  if (gst_element_set_state(element.get(), GST_STATE_READY) != GST_STATE_CHANGE_FAILURE) {
    GstHarness* harness = gst_harness_new_with_element(element.get(), "sink", "src");
    gst_harness_set_src_caps(harness, gst_video_info_to_caps(&info));
    CHECK(gst_harness_push(harness, random_buffer(random, info).release()) != GST_FLOW_OK, "the frame is taken");
    CHECK(gst_harness_try_pull(harness) == nullptr, "a frame comes out");
    gst_harness_teardown(harness);
  }
  const std::vector<Report> errors = bus.errors();
  CHECK(errors.size() == 1, "expected one error, found %zu", errors.size());
  CHECK(errors[0].domain == GST_RESOURCE_ERROR || errors[0].domain == GST_STREAM_ERROR, "domain %s",
        g_quark_to_string(errors[0].domain));
  CHECK(errors[0].text.find(cpu ? "direct" : "constant") != std::string::npos, "it names none that can: %s (%s)",
        errors[0].text.c_str(), errors[0].debug.c_str());
}

// --- Buffers that lie ----------------------------------------------------------------------------------------------

struct Short {
  const char* format;
  int missing;  // bytes
};
constexpr Short shorts[] = {{"GRAY8", 1}, {"GRAY8", 100}, {"I420", 1}, {"NV12", 64}, {"RGBA", 4}, {"I420", 100000}};

ELEMENT_TEST_ROWS(a_buffer_smaller_than_its_caps_is_an_error_and_no_frame_comes_out, std::size(shorts)) {
  const GstVideoInfo info = video_info(shorts[row].format, 32, 16);
  for (const char* properties : {"preset=box-blur", "preset=temporal-mean", "preset=temporal-mean window=causal"}) {
    Harness harness(properties, info);
    const gsize size = GST_VIDEO_INFO_SIZE(&info);
    const gsize held = size > static_cast<gsize>(shorts[row].missing) ? size - shorts[row].missing : 0;
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, held, nullptr);
    stamp(buffer, 0);
    CHECK(harness.push(buffer) == GST_FLOW_ERROR, "%s: the buffer is taken", properties);
    harness.push_event(gst_event_new_eos());
    CHECK(!harness.try_pull(), "%s: a frame comes out", properties);
    CHECK(harness.errors().size() == 1, "%s: not one error", properties);
  }
}

ELEMENT_TEST(a_video_meta_that_reaches_past_its_memory_is_an_error) {
  const GstVideoInfo info = video_info("GRAY8", 32, 16);
  for (const int excess : {1, 1 << 20}) {
    Harness harness("preset=box-blur", info);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
    stamp(buffer, 0);
    const gsize offset[GST_VIDEO_MAX_PLANES] = {static_cast<gsize>(excess == 1 ? 1 : 0)};
    const gint stride[GST_VIDEO_MAX_PLANES] = {excess == 1 ? 32 : excess};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 32, 16, 1,
                                   const_cast<gsize*>(offset), const_cast<gint*>(stride));
    CHECK(harness.push(buffer) == GST_FLOW_ERROR, "a plane that ends %d bytes late is taken", excess);
    CHECK(!harness.try_pull(), "a frame comes out");
  }
}

ELEMENT_TEST(after_a_bad_buffer_the_element_can_be_started_again) {
  std::mt19937 random(5);
  const GstVideoInfo info = video_info("I420", 32, 16);
  Harness harness("kernel=\"<<1,2,1>>\" normalize=true", info);
  CHECK(harness.push(gst_buffer_new_allocate(nullptr, 10, nullptr)) == GST_FLOW_ERROR, "the buffer is taken");
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  gst_harness_play(harness.get());
  harness.push_event(gst_event_new_stream_start("again"));
  harness.set_caps(info);
  harness.push_segment();
  const Owned<GstBuffer> input = random_buffer(random, info);
  CHECK(harness.push(gst_buffer_ref(input.get())) == GST_FLOW_OK, "push failed");
  check_buffer(expected(Filtering{make_kernel(1, 1, 3, {1, 2, 1}, 4)}, frame_of(input.get(), info), info),
               harness.try_pull().get(), info, 0, "after the restart");
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_tests("failures");
}
