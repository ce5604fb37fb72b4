// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// nvh264dec ! videoconvolve on a real clip: frames stay in CUDA memory, and match the CPU backend's.
//
// Two pipelines decode the same file and are drawn in lockstep; one filters on the GPU, the other on the CPU. What
// proves that no frame went through host memory: every buffer on both pads is CUDA memory, and keeps the mark that
// gstcuda takes away when the host maps it (that its device copy is newer than any host copy).
//
//   cuda_memory_test clip.mp4          exit status 0: all passed, 77: no CUDA here

#include <gst/app/gstappsink.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

struct FilterCase {
  const char* name;
  const char* settings;
  int tolerance;     ///< code values: 0 where the taps are integers over one divisor
  bool cuda_memory;  ///< decoder and filter linked by CUDA memory, else by system memory
};

constexpr FilterCase cases[] = {
    {"sobel 3x3", "kernel=<<-1,0,1>,<-2,0,2>,<-1,0,1>> bias=0.5", 0, true},
    {"box 7x7", "preset=box-blur radius=3 border-mode=reflect-101", 0, true},
    {"sharpen", "preset=sharpen", 0, true},
    {"laplacian of a rectangle", "kernel=<<1,2,3,-2>,<4,-30,4,2>,<3,2,1,10>> border-mode=wrap", 0, true},
    {"gaussian 5x5", "preset=gaussian-blur radius=2 border-mode=reflect", 1, true},
    {"gaussian 15x15", "preset=gaussian-blur radius=7", 1, true},
    {"motion blur 15x15", "preset=motion-blur radius=7 angle=30 border-mode=constant border-value=0.25", 1, true},
    {"emboss on luma alone", "preset=emboss components=luma", 1, true},
    {"temporal denoise", "preset=temporal-denoise temporal-radius=1", 1, true},
    {"blur of three regions",
     "regions=inside region-effect=blur region-boxes=<<100,80,500,400>,<900,300,333,555>,<7,9,31,29>>", 0, true},
    {"pixelated ellipse with a feather",
     "regions=inside region-effect=pixelate region-shape=ellipse region-feather=20 region-boxes=<<100,80,500,400>>", 0,
     true},
    {"all but a region filled", "regions=outside region-effect=fill region-boxes=<<300,200,800,600>>", 0, true},
    {"sobel in a region",
     "kernel=<<-1,0,1>,<-2,0,2>,<-1,0,1>> bias=0.5 regions=inside region-boxes=<<300,200,800,600>>", 0, true},
    {"blur of a region, system memory", "regions=inside region-effect=blur region-boxes=<<100,80,500,400>>", 0, false},
    {"sobel 3x3, system memory", "kernel=<<-1,0,1>,<-2,0,2>,<-1,0,1>> bias=0.5", 0, false},
    {"gaussian 5x5, system memory", "preset=gaussian-blur radius=2", 1, false},
};

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using SamplePtr = std::unique_ptr<GstSample, Deleter<gst_sample_unref>>;

void unref(gpointer object) {
  gst_object_unref(object);
}
using ElementPtr = std::unique_ptr<GstElement, Deleter<unref>>;

bool only_on_device(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (!gst_memory_is_type(memory, GST_CUDA_MEMORY_TYPE_NAME)) return false;
    if (!GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD)) return false;
  }
  return true;
}

/// Watches both pads of the filter. An input is looked at again once its successor arrives: by then it was filtered.
struct Watch {
  std::atomic<int> in{0}, out{0}, touched_by_host{0};
  GstBuffer* held = nullptr;

  void release() {
    if (!held) return;
    if (!only_on_device(held)) ++touched_by_host;
    gst_buffer_unref(held);
    held = nullptr;
  }
  ~Watch() {
    if (held) gst_buffer_unref(held);
  }
};

GstPadProbeReturn saw_input(GstPad*, GstPadProbeInfo* info, gpointer user) {
  auto* watch = static_cast<Watch*>(user);
  watch->release();
  watch->held = gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info));
  ++watch->in;
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn saw_output(GstPad*, GstPadProbeInfo* info, gpointer user) {
  auto* watch = static_cast<Watch*>(user);
  ++watch->out;
  if (!only_on_device(GST_PAD_PROBE_INFO_BUFFER(info))) ++watch->touched_by_host;
  return GST_PAD_PROBE_OK;
}

/// The context that the first case's pipeline on CUDA made for itself. Those after it are given it, as each one more
/// takes up to seconds where other processes make theirs.
GstContext* shared_context = nullptr;

/// One decode-and-filter pipeline, drawn a frame at a time.
class Stream {
 public:
  Stream(const char* clip, const FilterCase& c, const char* backend, bool cuda_memory) {
    const std::string caps = cuda_memory ? "video/x-raw(memory:CUDAMemory),format=NV12" : "video/x-raw,format=NV12";
    const std::string line = "filesrc location=\"" + std::string(clip) + "\" ! qtdemux ! h264parse ! nvh264dec ! " +
                             caps + " ! videoconvolve name=filter backend=" + backend + " " + c.settings + " ! " +
                             caps + " ! appsink name=sink sync=false max-buffers=2";
    GError* error = nullptr;
    pipeline_.reset(gst_parse_launch(line.c_str(), &error));
    if (error) {
      error_ = error->message;
      g_error_free(error);
      return;
    }
    if (shared_context) gst_element_set_context(pipeline_.get(), shared_context);
    filter_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "filter"));
    sink_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink"));
  }
  ~Stream() {
    if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }

  void watch(Watch& watch) {
    add_probe("sink", saw_input, watch);
    add_probe("src", saw_output, watch);
  }
  bool start() {
    return error_.empty() && gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  }
  void share_context() {
    if (!shared_context) shared_context = gst_element_get_context(pipeline_.get(), "gst.cuda.context");
  }
  SamplePtr pull() { return SamplePtr(gst_app_sink_try_pull_sample(GST_APP_SINK(sink_.get()), 20 * GST_SECOND)); }

  std::string property(const char* name) const {
    gchar* value = nullptr;
    g_object_get(filter_.get(), name, &value, nullptr);
    const std::string text = value ? value : "";
    g_free(value);
    return text;
  }
  bool has_cuda_caps(const char* pad_name) const {
    GstPad* pad = gst_element_get_static_pad(filter_.get(), pad_name);
    GstCaps* caps = gst_pad_get_current_caps(pad);
    const bool cuda =
        caps && gst_caps_features_contains(gst_caps_get_features(caps, 0), GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY);
    if (caps) gst_caps_unref(caps);
    gst_object_unref(pad);
    return cuda;
  }
  /// The first error on the bus, or empty.
  std::string error() {
    if (!error_.empty() || !pipeline_) return error_;
    GstBus* bus = gst_element_get_bus(pipeline_.get());
    GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    gst_object_unref(bus);
    if (!message) return "";
    GError* error = nullptr;
    gchar* debug = nullptr;
    gst_message_parse_error(message, &error, &debug);
    error_ = std::string(error->message) + " (" + (debug ? debug : "") + ")";
    g_error_free(error);
    g_free(debug);
    gst_message_unref(message);
    return error_;
  }

 private:
  void add_probe(const char* pad_name, GstPadProbeCallback callback, Watch& watch) {
    if (!filter_) return;
    GstPad* pad = gst_element_get_static_pad(filter_.get(), pad_name);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, &watch, nullptr);
    gst_object_unref(pad);
  }

  ElementPtr pipeline_, filter_, sink_;
  std::string error_;
};

struct Difference {
  int largest = 0;
  long long samples = 0, differing = 0;
};

bool compare(GstSample* one, GstSample* other, Difference& difference) {
  GstVideoInfo info_one, info_other;
  if (!gst_video_info_from_caps(&info_one, gst_sample_get_caps(one)) ||
      !gst_video_info_from_caps(&info_other, gst_sample_get_caps(other)))
    return false;
  GstVideoFrame a, b;
  if (!gst_video_frame_map(&a, &info_one, gst_sample_get_buffer(one), GST_MAP_READ)) return false;
  if (!gst_video_frame_map(&b, &info_other, gst_sample_get_buffer(other), GST_MAP_READ)) {
    gst_video_frame_unmap(&a);
    return false;
  }
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&a); ++p) {
    const int bytes = GST_VIDEO_FRAME_COMP_WIDTH(&a, p) * GST_VIDEO_FRAME_COMP_PSTRIDE(&a, p);
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&a, p); ++y) {
      const auto row = [&](GstVideoFrame& f) {
        return static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&f, p)) +
               static_cast<std::ptrdiff_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&f, p)) * y;
      };
      const guint8 *ra = row(a), *rb = row(b);
      for (int x = 0; x < bytes; ++x) {
        const int d = std::abs(int{ra[x]} - int{rb[x]});
        difference.largest = std::max(difference.largest, d);
        difference.differing += d != 0;
      }
      difference.samples += bytes;
    }
  }
  gst_video_frame_unmap(&a);
  gst_video_frame_unmap(&b);
  return true;
}

bool run(const char* clip, const FilterCase& c) {
  Watch watch;
  std::string fault;
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds && fault.empty()) fault = what;
  };
  Stream cuda(clip, c, "cuda", c.cuda_memory), cpu(clip, c, "cpu", false);
  if (c.cuda_memory) cuda.watch(watch);
  expect(cuda.start() && cpu.start(), "the pipelines do not start");
  int frames = 0;
  Difference difference;
  std::string algorithm;
  while (fault.empty()) {
    const SamplePtr a = cuda.pull(), b = cpu.pull();
    if (!a && !b) break;
    expect(a && b, "one stream ended before the other, after " + std::to_string(frames) + " frames");
    if (!fault.empty()) break;
    expect(GST_BUFFER_PTS(gst_sample_get_buffer(a.get())) == GST_BUFFER_PTS(gst_sample_get_buffer(b.get())),
           "timestamps differ at frame " + std::to_string(frames));
    if (frames == 0) {
      algorithm = cuda.property("active-algorithm");
      expect(cuda.property("active-backend") == "cuda", "active-backend is " + cuda.property("active-backend"));
      expect(cpu.property("active-backend") == "cpu",
             "active-backend of the other is " + cpu.property("active-backend"));
      expect(cuda.has_cuda_caps("sink") == c.cuda_memory && cuda.has_cuda_caps("src") == c.cuda_memory,
             "the pads' caps are not of the memory asked");
    }
    expect(compare(a.get(), b.get(), difference), "a frame cannot be mapped");
    ++frames;
  }
  if (fault.empty()) cuda.share_context();
  for (Stream* stream : {&cuda, &cpu})
    if (const std::string error = stream->error(); !error.empty()) fault = error;
  expect(frames > 0, "no frame arrived");
  expect(difference.largest <= c.tolerance, "beyond the tolerance");
  if (c.cuda_memory) {
    expect(watch.in == frames && watch.out == frames, "frames in and out of the filter do not tally");
    expect(watch.touched_by_host == 0, std::to_string(watch.touched_by_host) + " buffers went through host memory");
  }
  std::printf("%s: %s; %d frames, %s, largest difference %d (allowed %d), %lld of %lld samples differ%s%s%s\n",
              fault.empty() ? "ok" : "FAILED", c.name, frames, algorithm.c_str(), difference.largest, c.tolerance,
              difference.differing, difference.samples,
              c.cuda_memory && !watch.touched_by_host ? ", no buffer was mapped by the host" : "",
              fault.empty() ? "" : ": ", fault.c_str());
  std::fflush(stdout);
  return fault.empty();
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s clip.mp4\n", argv[0]);
    return 2;
  }
  GstElementFactory* decoder = gst_element_factory_find("nvh264dec");
  if (!decoder) {
    std::puts("0 passed, 0 failed, 1 skipped: nvh264dec does not register here");
    return 77;
  }
  gst_object_unref(decoder);
  int passed = 0, failed = 0;
  for (const FilterCase& c : cases) ++(run(argv[1], c) ? passed : failed);
  if (shared_context) gst_context_unref(shared_context);
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
