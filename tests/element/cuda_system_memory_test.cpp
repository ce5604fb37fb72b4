// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Frames in system memory on the CUDA backend: which memory each backend prefers, every format, and frames that cross
// in slabs. Skipped where there is no GPU.
#include <cstring>

#include "stream.hpp"

namespace element_test {
namespace {

ELEMENT_TEST(backend_auto_takes_the_gpu) {
  std::mt19937 random(89);
  const GstVideoInfo info = video_info("GRAY8", 32, 24);
  const Owned<GstElement> element(gst_element_factory_make("videoconvolve", nullptr));
  gst_object_ref_sink(element.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "preset", "box-blur");
  Harness harness(Owned<GstElement>(GST_ELEMENT(gst_object_ref(element.get()))));
  harness.set_caps(info);
  push(harness, random_buffer(random, info).get(), "auto");
  CHECK(harness.string("active-backend") == "cuda", "active-backend is %s", harness.string("active-backend").c_str());
}

// Whether the first of the caps that the pad takes are in CUDA memory.
bool lists_cuda_memory_first(GstElement* element, const char* pad_name) {
  const Owned<GstPad> pad(gst_element_get_static_pad(element, pad_name));
  const Owned<GstCaps> caps(gst_pad_query_caps(pad.get(), nullptr));
  bool any = false;
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i)
    any |= gst_caps_features_contains(gst_caps_get_features(caps.get(), i), "memory:CUDAMemory");
  CHECK(any && gst_caps_get_size(caps.get()) > 1, "one kind of memory alone");
  return gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), "memory:CUDAMemory");
}

// In CUDA memory each frame would cross twice.
ELEMENT_TEST(the_cpu_backend_lists_system_memory_first) {
  for (const char* backend : {"cpu", "cuda"}) {
    const Owned<GstElement> element(gst_element_factory_make("videoconvolve", nullptr));
    gst_util_set_object_arg(G_OBJECT(element.get()), "backend", backend);
    const bool cuda = *backend == 'c' && backend[1] == 'u';
    for (const GstState state : {GST_STATE_NULL, GST_STATE_READY}) {
      CHECK(gst_element_set_state(element.get(), state) == GST_STATE_CHANGE_SUCCESS, "%s: no start", backend);
      for (const char* pad : {"sink", "src"})
        CHECK(lists_cuda_memory_first(element.get(), pad) == cuda, "%s, %s pad, %s", backend, pad,
              gst_element_state_get_name(state));
    }
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
}

ELEMENT_TEST(every_format_in_system_memory_is_filtered_on_the_gpu) {
  std::mt19937 random(90);
  for (const std::string& format : formats()) {
    const GstVideoInfo info = video_info(format.c_str(), 33, 17);
    const Filtering f{random_kernel(random, 3, 3, 5, 4, 16)};
    // The later backend= counts.
    check_stream("backend=cuda " + kernel_is(f.kernel), f, info, random_stream(random, info, 4), format);
  }
}

// Frames that are large enough to cross in slabs, from memory that upstream allocated itself: new for each frame, or a
// pool's, whose buffers come again and whose memory goes while the element runs on.
ELEMENT_TEST(pageable_frames_cross_in_slabs) {
  std::mt19937 random(93);
  const GstVideoInfo info = video_info("RGBA", 1280, 720);
  const Filtering f{random_kernel(random, 1, 3, 3, 4, 16)};
  Harness harness("backend=cuda " + kernel_is(f.kernel), info);
  const Owned<GstBuffer> input = random_buffer(random, info);
  const Frame wanted = expected(f, frame_of(input.get(), info), info);
  const auto check = [&](GstBuffer* buffer, const std::string& label) {
    push(harness, buffer, label);
    check_buffer(wanted, harness.try_pull().get(), info, 0, label);
    harness.tape().clear();
  };
  for (int frame = 0; frame < 3; ++frame)
    check(Owned<GstBuffer>(gst_buffer_copy_deep(input.get())).get(), "new memory");
  for (int round = 0; round < 2; ++round) {
    const Owned<GstBufferPool> pool(gst_buffer_pool_new());
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, nullptr, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 2, 2);
    CHECK(gst_buffer_pool_set_config(pool.get(), config), "the pool cannot be set up");
    gst_buffer_pool_set_active(pool.get(), TRUE);
    for (int frame = 0; frame < 6; ++frame) {
      GstBuffer* taken = nullptr;
      CHECK(gst_buffer_pool_acquire_buffer(pool.get(), &taken, nullptr) == GST_FLOW_OK, "no buffer");
      const Owned<GstBuffer> buffer(taken);
      GstMapInfo from, to;
      gst_buffer_map(input.get(), &from, GST_MAP_READ);
      gst_buffer_map(buffer.get(), &to, GST_MAP_WRITE);
      std::memcpy(to.data, from.data, from.size);
      gst_buffer_unmap(buffer.get(), &to);
      gst_buffer_unmap(input.get(), &from);
      check(buffer.get(), "pool " + std::to_string(round) + ", frame " + std::to_string(frame));
    }
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

}  // namespace
}  // namespace element_test

int main() {
  return element_test::run_gpu_tests("cuda-system-memory");
}
