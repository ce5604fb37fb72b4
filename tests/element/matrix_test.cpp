// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The matrix: every format x sizes x interlacing x layouts x crops, input and output beside a page that nobody may
// touch, against the oracle.
//
//   element-matrix                a sample of the cases, another each day; prints its seed
//   element-matrix --seed=N       that sample again
//   element-matrix --all          every case
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "fields.hpp"
#include "guarded.hpp"

namespace element_test {
namespace {

struct Options {
  bool all = false;
  unsigned seed = static_cast<unsigned>(std::time(nullptr) / 86400);
} options;

constexpr int sample_of = 8;  // one case of so many is tried by default

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1}, {2, 2}, {7, 5}, {16, 6}, {33, 18}, {12, 31}};
constexpr GstVideoInterlaceMode modes[] = {GST_VIDEO_INTERLACE_MODE_PROGRESSIVE, GST_VIDEO_INTERLACE_MODE_INTERLEAVED,
                                           GST_VIDEO_INTERLACE_MODE_MIXED};

struct Placing {
  Layout layout;
  bool is_default = false;  ///< GStreamer's own, in place of `layout`
  bool meta = true;
};
constexpr Placing placings[] = {
    {{.name = "default"}, true, false},
    {{.name = "default with a meta"}, true},
    {{.name = "tight"}},
    {{.name = "padded", .stride_extra = 22, .offset_extra = 14}},
    {{.name = "odd strides", .stride_extra = 3, .offset_extra = 1}},
    {{.name = "bottom up", .bottom_up = true}},
    {{.name = "bottom up, padded", .stride_extra = 6, .offset_extra = 2, .bottom_up = true}},
    {{.name = "a memory a plane", .stride_extra = 2, .memory_a_plane = true, .read_only = true}},
};

struct Case {
  const char* format;
  Size size;
  GstVideoInterlaceMode mode;
  const Placing* placing;
  bool crop;
  Guard guard;
};

char label[256];  // of the case at hand, for the handler of SIGSEGV

void tell_case(int number) {
  constexpr char text[] = "memory beside a frame was touched: ";
  for (const char* part : {text, static_cast<const char*>(label), "\n"})
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  signal(number, SIG_DFL);
  raise(number);
}

// The row of a component that belongs to a row of the picture that starts at row `top` of the frame. Of an interlaced
// one, the row of the field of its first row of luma, or that field's last where the frame ends, or the other's only
// one.
int row_of(int row, int top, int sub, int height, bool interlaced) {
  if (!interlaced) return (top >> sub) + row;
  const int luma = top + row % 2 + (row / 2) * (2 << sub), field = luma % 2;
  const int rows_of_field = (height + 1 - field) / 2;
  return rows_of_field == 0 ? 0 : 2 * std::min(luma / 2 >> sub, rows_of_field - 1) + field;
}

// The part of a frame that starts at (x, y) and has the size of `part`.
Frame cut(const Frame& frame, const GstVideoInfo& part, int x, int y) {
  const bool interlaced = GST_VIDEO_INFO_IS_INTERLACED(&part);
  Frame out;
  for (std::size_t c = 0; c < frame.component.size(); ++c) {
    const int x0 = x >> GST_VIDEO_FORMAT_INFO_W_SUB(part.finfo, c);
    oracle::Plane plane{GST_VIDEO_INFO_COMP_WIDTH(&part, c), GST_VIDEO_INFO_COMP_HEIGHT(&part, c), {}};
    for (int row = 0; row < plane.height; ++row) {
      const oracle::Plane& from = frame.component[c];
      const int y0 = row_of(row, y, GST_VIDEO_FORMAT_INFO_H_SUB(part.finfo, c), from.height, interlaced);
      for (int column = 0; column < plane.width; ++column)
        plane.samples.push_back(from.samples[y0 * from.width + x0 + column]);
    }
    out.component.push_back(std::move(plane));
  }
  return out;
}

// One frame of the case as the element gets it, and what it holds.
Owned<GstBuffer> make_input(std::mt19937& random, const Case& test, const GstVideoInfo& part, int index,
                            Frame& picture) {
  // The crop starts in the columns where luma and chroma begin a group together, in any row, and ends where the frame
  // does or before.
  const int x = test.crop ? 4 * static_cast<int>(random() % 3) : 0, y = test.crop ? static_cast<int>(random() % 9) : 0,
            below = test.crop ? static_cast<int>(random() % 3) : 0;
  const GstVideoInfo whole =
      interlaced_info(test.format, test.size.width + (test.crop ? 9 : 0), test.size.height + y + below, test.mode);
  Owned<GstBuffer> buffer = random_buffer(random, whole, index);
  if (test.mode == GST_VIDEO_INTERLACE_MODE_MIXED)
    GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
  picture = cut(frame_of(buffer.get(), whole), part, x, y);
  if (!test.placing->is_default) {
    Owned<GstBuffer> laid = relaid(random, buffer.get(), whole, test.placing->layout);
    GST_BUFFER_FLAGS(laid.get()) |= GST_BUFFER_FLAGS(buffer.get()) & ~GST_BUFFER_FLAG_TAG_MEMORY;
    buffer = std::move(laid);
  } else if (test.placing->meta) {
    GstVideoInfo copy = whole;
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&whole),
                                   GST_VIDEO_INFO_WIDTH(&whole), GST_VIDEO_INFO_HEIGHT(&whole),
                                   GST_VIDEO_INFO_N_PLANES(&whole), copy.offset, copy.stride);
  }
  buffer = guarded(buffer.get(), test.guard);
  if (test.crop) {
    GstVideoCropMeta* meta = gst_buffer_add_video_crop_meta(buffer.get());
    meta->x = x, meta->y = y, meta->width = test.size.width, meta->height = test.size.height;
  }
  return buffer;
}

void check_case(std::mt19937& random, const Case& test) {
  std::snprintf(label, sizeof label, "%s %dx%d, %s, %s%s, guarded %s", test.format, test.size.width, test.size.height,
                gst_video_interlace_mode_to_string(test.mode), test.placing->layout.name, test.crop ? ", cropped" : "",
                test.guard == Guard::after ? "after" : "before");
  static constexpr int shapes[][3] = {{1, 3, 3}, {1, 1, 4}, {1, 5, 2}, {3, 2, 3}};
  const auto& shape = shapes[random() % std::size(shapes)];
  const Filtering f{random_kernel(random, shape[0], shape[1], shape[2], 2, 8)};
  const GstVideoInfo info = interlaced_info(test.format, test.size.width, test.size.height, test.mode);

  Harness harness("n-threads=1 kernel=\"" + text_of(f.kernel) + "\"");
  GstAllocator* allocator = guarded_allocator(test.guard);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 0;
  gst_harness_set_propose_allocator(harness.get(), allocator, &params);
  harness.set_caps(info);
  const int count = shape[0] == 1 ? 1 : 4;
  std::vector<Frame> pictures(count);
  for (int i = 0; i < count; ++i) {
    Owned<GstBuffer> input = make_input(random, test, info, i, pictures[i]);
    CHECK(harness.push(input.release()) == GST_FLOW_OK, "%s: push failed", label);
  }
  harness.push_event(gst_event_new_eos());
  const std::vector<Frame> wanted = test.mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE
                                        ? expected(f, pictures, info)
                                        : expected_of_fields(f, pictures, info);
  for (const Frame& frame : wanted) {
    const Owned<GstBuffer> out = harness.try_pull();
    check_buffer(frame, out.get(), info, 0, label);
    CHECK(!gst_buffer_get_video_crop_meta(out.get()), "%s: the crop meta is still there", label);
  }
}

ELEMENT_TEST(frames_of_every_kind_are_filtered_as_the_oracle_says_within_their_memory) {
  signal(SIGSEGV, tell_case);
  std::mt19937 random(options.seed);
  int tried = 0, number = 0;
  for (const std::string& format : formats())
    for (const Size size : sizes)
      for (const GstVideoInterlaceMode mode : modes)
        for (const Placing& placing : placings)
          for (const bool crop : {false, true})
            for (const Guard guard : {Guard::after, Guard::before}) {
              if (crop && !placing.meta) continue;  // a crop is one of the frame that a meta describes
              ++number;
              if (!options.all && random() % sample_of != 0) continue;
              check_case(random, {format.c_str(), size, mode, &placing, crop, guard});
              ++tried;
            }
  g_print("%d of %d cases, %zu formats, --seed=%u\n", tried, number, formats().size(), options.seed);
}

}  // namespace
}  // namespace element_test

int main(int count, char** arguments) {
  using element_test::options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--all") {
      options.all = true;
    } else if (argument.starts_with("--seed=")) {
      options.seed = static_cast<unsigned>(std::strtoul(argument.c_str() + 7, nullptr, 10));
    } else {
      g_printerr("%s: no such argument; --all or --seed=N\n", argument.c_str());
      return 2;
    }
  }
  return element_test::run_tests("matrix", false);
}
