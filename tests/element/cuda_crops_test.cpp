// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Crop metas on interlaced frames in CUDA memory, where rows cannot be put in order on the way: what lies in order is
// filtered as in system memory, and what does not is an error that says from which rows on it would. Skipped where
// there is no GPU.
#include "stream.hpp"

namespace element_test {
namespace {

constexpr int width = 18, height = 14;

GstVideoInfo interlaced(const char* format, int frame_width, int frame_height) {
  GstVideoInfo info = video_info(format, frame_width, frame_height);
  info.interlace_mode = GST_VIDEO_INTERLACE_MODE_INTERLEAVED;
  return info;
}

/// From a row on, what a crop leaves of each frame.
struct Cropped {
  GstVideoInfo part;
  guint y;

  void add_meta(GstBuffer* buffer) const {
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(buffer);
    meta->x = 4, meta->y = y, meta->width = width, meta->height = height;
  }
};

// Between the upload and the filter: caps become those of the part, and frames get the meta.
GstPadProbeReturn crop(GstPad*, GstPadProbeInfo* info, gpointer data) {
  const auto& cropped = *static_cast<const Cropped*>(data);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    cropped.add_meta(buffer);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
  } else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS) {
    const Owned<GstCaps> caps(gst_video_info_to_caps(&cropped.part));
    gst_caps_set_features_simple(caps.get(), gst_caps_features_new("memory:CUDAMemory", nullptr));
    gst_event_unref(GST_PAD_PROBE_INFO_EVENT(info));
    GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_caps(caps.get());
  }
  return GST_PAD_PROBE_OK;
}

struct Crop {
  const char* format;
  guint y;
  bool in_order;  ///< rows of chroma stay in the field of their luma
};
// A row of chroma goes with two rows of luma of its field: of the fields' rows 1 and 2, the second comes first.
constexpr Crop crops[] = {{"NV12", 1, false},      {"NV12", 2, true},  {"NV12", 3, true},      {"NV12", 4, true},
                          {"P010_10LE", 5, false}, {"I420", 5, false}, {"P010_10LE", 7, true}, {"Y444", 1, true}};

ELEMENT_TEST_ROWS(an_interlaced_crop_in_cuda_memory_is_filtered_or_a_clear_error, std::size(crops)) {
  const Crop& row_of_table = crops[row];
  std::mt19937 random(140 + row);
  const GstVideoInfo whole = interlaced(row_of_table.format, 48, 32);
  Cropped cropped{interlaced(row_of_table.format, width, height), row_of_table.y};
  const Owned<GstBuffer> frame = random_buffer(random, whole);
  const Owned<GstElement> chain = parse_chain(
      "cudaupload ! video/x-raw(memory:CUDAMemory) ! videoconvolve name=f backend=cuda preset=box-blur ! "
      "video/x-raw(memory:CUDAMemory) ! cudadownload");
  const Owned<GstElement> element(gst_bin_get_by_name(GST_BIN(chain.get()), "f"));
  const Owned<GstPad> sink(gst_element_get_static_pad(element.get(), "sink"));
  gst_pad_add_probe(sink.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM), crop,
                    &cropped, nullptr);
  Harness harness(Owned<GstElement>(GST_ELEMENT(gst_object_ref(chain.get()))));
  harness.set_caps(whole);
  const GstFlowReturn flow = harness.push(gst_buffer_ref(frame.get()));
  const std::vector<Report> errors = harness.errors();
  if (!row_of_table.in_order) {
    CHECK(flow == GST_FLOW_ERROR && errors.size() == 1, "%s from row %u on: %s, %zu errors", row_of_table.format,
          cropped.y, gst_flow_get_name(flow), errors.size());
    const std::string& text = errors[0].text;
    CHECK(text.find("row " + std::to_string(cropped.y)) != std::string::npos &&
              text.find("multiple of 4 rows") != std::string::npos,
          "the error is: %s", text.c_str());
    return;
  }
  CHECK(flow == GST_FLOW_OK && errors.empty(), "%s from row %u on: %s, %s", row_of_table.format, cropped.y,
        gst_flow_get_name(flow), errors.empty() ? "" : errors[0].text.c_str());
  const Owned<GstBuffer> found = harness.try_pull();
  GstBuffer* input = relaid(random, frame.get(), whole, {.name = "tight"}).release();
  cropped.add_meta(input);
  Harness on_cpu(Owned<GstElement>(parse_chain("videoconvolve backend=cpu preset=box-blur")));
  on_cpu.set_caps(cropped.part);
  CHECK(on_cpu.push(input) == GST_FLOW_OK, "the CPU's push failed");
  const Owned<GstBuffer> wanted = on_cpu.try_pull();
  CHECK(found && wanted, "no output");
  check_buffer(frame_of(wanted.get(), cropped.part), found.get(), cropped.part, 0, row_of_table.format);
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("cuda_crops");
}
