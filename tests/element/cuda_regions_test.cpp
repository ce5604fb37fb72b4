// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions of frames in CUDA memory, between GStreamer's own cudaupload and cudadownload: the CPU's results to the bit,
// in place where a frame may be written, copied on the device where not, and never through the host. What the CPU makes
// of regions is held against the oracle in regions_test.cpp. Skipped where there is no GPU.

#include "stream.hpp"

namespace element_test {
namespace {

// GStreamer's flag of CUDA memory whose newest samples are on the device alone.
constexpr guint need_download = GST_MEMORY_FLAG_LAST << 0;

constexpr const char* treatments[] = {
    "regions=inside region-effect=blur region-cells=3 region-boxes=<<3,2,19,14>,<8,-3,40,12>>",
    "regions=inside region-effect=pixelate region-shape=ellipse region-feather=3 region-boxes=<<3,2,29,24>>",
    "regions=outside region-effect=fill region-color=0x00ff8040 region-boxes=<<11,7,20,9>,<1,1,3,3>>",
    "regions=outside region-effect=blur region-feather=4 region-boxes=<<11,7,20,9>>",
    "regions=inside kernel=<<1,2,1>,<2,-13,2>,<1,2,1>> region-feather=2 region-boxes=<<3,2,19,14>,<8,-3,40,12>>",
    "regions=inside kernel=<<<1,2>>,<<3,4>>,<<5,6>>> scale=0.0625 region-boxes=<<3,2,19,14>>",
};

/// What passed the element in CUDA memory.
struct Passed {
  bool keep = false;  ///< a reference to each input: none may be written
  std::vector<Owned<GstBuffer>> kept;
  std::vector<GstMemory*> in, out;
  bool on_device_alone = true;
};

GstPadProbeReturn see_input(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto& passed = *static_cast<Passed*>(data);
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  passed.in.push_back(gst_buffer_peek_memory(buffer, 0));
  if (passed.keep) passed.kept.emplace_back(gst_buffer_ref(buffer));
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn see_output(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto& passed = *static_cast<Passed*>(data);
  GstMemory* memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  passed.out.push_back(memory);
  passed.on_device_alone &=
      gst_memory_is_type(memory, "gst.cuda.memory") && GST_MEMORY_FLAG_IS_SET(memory, need_download);
  return GST_PAD_PROBE_OK;
}

std::vector<Owned<GstBuffer>> through_cuda(const std::string& properties, const GstVideoInfo& info,
                                           const std::vector<Owned<GstBuffer>>& input, Passed& passed) {
  const Owned<GstElement> chain =
      parse_chain("cudaupload ! video/x-raw(memory:CUDAMemory) ! videoconvolve name=f backend=cuda " + properties +
                  " ! video/x-raw(memory:CUDAMemory) ! cudadownload");
  const Owned<GstElement> element(gst_bin_get_by_name(GST_BIN(chain.get()), "f"));
  const Owned<GstPad> sink(gst_element_get_static_pad(element.get(), "sink")),
      src(gst_element_get_static_pad(element.get(), "src"));
  gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, see_input, &passed, nullptr);
  gst_pad_add_probe(src.get(), GST_PAD_PROBE_TYPE_BUFFER, see_output, &passed, nullptr);
  Harness harness(Owned<GstElement>(GST_ELEMENT(gst_object_ref(chain.get()))));
  harness.set_caps(info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  const std::vector<Report> errors = harness.errors();
  CHECK(errors.empty(), "%s: %s", properties.c_str(), errors[0].text.c_str());
  std::vector<Owned<GstBuffer>> output;
  while (Owned<GstBuffer> buffer = harness.try_pull()) output.push_back(std::move(buffer));
  passed.kept.clear();
  return output;
}

std::vector<Owned<GstBuffer>> on_cpu(const std::string& properties, const GstVideoInfo& info,
                                     const std::vector<Owned<GstBuffer>>& input) {
  Harness harness(Owned<GstElement>(parse_chain("videoconvolve backend=cpu " + properties)));
  harness.set_caps(info);
  push_all(harness, input);
  harness.push_event(gst_event_new_eos());
  std::vector<Owned<GstBuffer>> output;
  while (Owned<GstBuffer> buffer = harness.try_pull()) output.push_back(std::move(buffer));
  return output;
}

ELEMENT_TEST(regions_in_cuda_memory_are_those_of_the_cpu_and_never_leave_it) {
  std::mt19937 random(60);
  for (const char* format : {"NV12", "RGBA", "GRAY8", "P010_10LE", "I420", "RGB"}) {
    const GstVideoInfo info = video_info(format, 46, 34);
    const Owned<GstElementFactory> upload(gst_element_factory_find("cudaupload"));
    Owned<GstCaps> caps(gst_video_info_to_caps(&info));
    gst_caps_set_features_simple(caps.get(), gst_caps_features_new("memory:CUDAMemory", nullptr));
    if (!gst_element_factory_can_src_any_caps(upload.get(), caps.get())) continue;
    for (const char* properties : treatments)
      for (const bool keep : {false, true}) {
        const std::string label = std::string(format) + ", " + properties + (keep ? ", read-only" : "");
        const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
        Passed passed;
        passed.keep = keep;
        const std::vector<Owned<GstBuffer>> wanted = on_cpu(properties, info, input),
                                            found = through_cuda(properties, info, input, passed);
        CHECK(wanted.size() == input.size() && found.size() == input.size(), "%s: %zu outputs", label.c_str(),
              found.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          check_buffer(frame_of(wanted[i].get(), info), found[i].get(), info, 0, label);
        CHECK(passed.on_device_alone, "%s: samples came to the host", label.c_str());
        const bool several_frames = std::string(properties).find("<<<") != std::string::npos;
        for (std::size_t i = 0; i < passed.out.size(); ++i)
          CHECK((passed.in[i] == passed.out[i]) == (!keep && !several_frames), "%s: output %zu is %s", label.c_str(), i,
                keep ? "in memory that others read" : "no treatment in place");
      }
  }
}

ELEMENT_TEST(a_frame_in_cuda_memory_without_a_region_leaves_as_it_came) {
  std::mt19937 random(61);
  const GstVideoInfo info = video_info("NV12", 46, 34);
  const std::vector<Owned<GstBuffer>> input = random_stream(random, info, 4);
  for (const char* properties : {"regions=inside region-effect=fill", "regions=inside preset=sharpen",
                                 "regions=inside region-effect=blur region-boxes=<<100,100,9,9>>"}) {
    Passed passed;
    passed.keep = true;
    const std::vector<Owned<GstBuffer>> found = through_cuda(properties, info, input, passed);
    CHECK(found.size() == input.size() && passed.in == passed.out, "%s: a frame was copied", properties);
    for (std::size_t i = 0; i < found.size(); ++i)
      check_buffer(frame_of(input[i].get(), info), found[i].get(), info, 0, properties);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("cuda_regions");
}
