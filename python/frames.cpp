// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The binding of GStreamer's buffers in CUDA memory, in a module of its own: filters of arrays need no GStreamer.
// GStreamer 1.22 has no binding of its CUDA maps for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/gstcuda_versions.hpp"

namespace nb = nanobind;

namespace {

using namespace convolve;

// One plane of a buffer, mapped for the GPU until release(). `owner` is Python's buffer, which lives as long. Its
// memory has no reference of this map's own: a second one would make the buffer one that may not be written.
class MappedPlane {
 public:
  MappedPlane(std::uintptr_t buffer, const std::string& caps, int plane, nb::object owner);
  ~MappedPlane() {
    try {
      release();
    } catch (const std::exception& error) {
      g_warning("%s", error.what());
    }
  }
  MappedPlane(const MappedPlane&) = delete;
  MappedPlane& operator=(const MappedPlane&) = delete;

  // Waits for all that is queued on the GPU, since anybody may use the array on any stream, and unmaps.
  void release();

  std::uintptr_t address = 0;
  std::vector<std::int64_t> shape, strides;  ///< strides in bytes
  int bytes = 1;                             ///< of a sample
  int device = 0;
  bool readonly = true;

 private:
  void describe(int plane);

  GstVideoFrame frame_{};
  bool mapped_ = false;
  nb::object owner_;
};

GstVideoInfo info_of(const std::string& text) {
  GstVideoInfo info;
  GstCaps* caps = gst_caps_from_string(text.c_str());
  const bool good = caps && gst_video_info_from_caps(&info, caps);
  if (caps) gst_caps_unref(caps);
  if (!good) throw std::invalid_argument("the caps are \"" + text + "\"; those of raw video are needed");
  return info;
}

// Throws where some memory of the buffer is not a GPU's. What others still write there is written when this returns.
int wait_for_memories(GstBuffer* buffer) {
  guint device = 0;
  const guint count = gst_buffer_n_memory(buffer);
  if (count == 0) throw std::invalid_argument("the buffer holds no memory");
  for (guint i = 0; i < count; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (!gst_is_cuda_memory(memory)) {
      const char* kind = memory->allocator && memory->allocator->mem_type ? memory->allocator->mem_type : "unknown";
      throw std::invalid_argument(std::string("the buffer is in memory of type \"") + kind +
                                  "\" and not in CUDA memory; put cudaupload before the element that hands it out, and "
                                  "caps with memory:CUDAMemory");
    }
    GstCudaMemory* on_device = GST_CUDA_MEMORY_CAST(memory);
#if GST_CHECK_VERSION(1, 24, 0)
    gst_cuda_memory_sync(on_device);
#else
    wait_for(on_device);
#endif
    g_object_get(on_device->context, "cuda-device-id", &device, nullptr);
  }
  return static_cast<int>(device);
}

MappedPlane::MappedPlane(std::uintptr_t address_of_buffer, const std::string& caps, int plane, nb::object owner)
    : owner_(std::move(owner)) {
  gst_init(nullptr, nullptr);
  gst_cuda_memory_init_once();
  const GstVideoInfo info = info_of(caps);
  if (plane < 0 || plane >= static_cast<int>(GST_VIDEO_INFO_N_PLANES(&info)))
    throw nb::index_error(("plane " + std::to_string(plane) + " of a format that has " +
                           std::to_string(GST_VIDEO_INFO_N_PLANES(&info)) + ": " +
                           gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)))
                              .c_str());
  auto* buffer = reinterpret_cast<GstBuffer*>(address_of_buffer);
  if (!GST_IS_BUFFER(buffer)) throw std::invalid_argument("what was given as a buffer is none");
  device = wait_for_memories(buffer);
  readonly = !gst_buffer_is_writable(buffer);
  const int flags =
      static_cast<int>(GST_MAP_CUDA) | GST_VIDEO_FRAME_MAP_FLAG_NO_REF | (readonly ? GST_MAP_READ : GST_MAP_READWRITE);
  mapped_ = gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(flags));
  if (!mapped_)
    throw std::runtime_error("the buffer of " + std::to_string(gst_buffer_get_size(buffer)) +
                             " bytes could not be mapped as a frame of \"" + caps +
                             "\": it is smaller than that, or somebody else has it mapped for writing");
  describe(plane);
}

// A plane's samples: (rows, columns), or (rows, columns, components) where several are interleaved.
void MappedPlane::describe(int plane) {
  guint c = 0;
  while (static_cast<int>(GST_VIDEO_FRAME_COMP_PLANE(&frame_, c)) != plane) ++c;
  bytes = GST_VIDEO_FRAME_COMP_DEPTH(&frame_, c) > 8 ? 2 : 1;
  const int components = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, c) / bytes;
  shape = {GST_VIDEO_FRAME_COMP_HEIGHT(&frame_, c), GST_VIDEO_FRAME_COMP_WIDTH(&frame_, c)};
  strides = {GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, plane), components * bytes};
  if (components > 1) {
    shape.push_back(components);
    strides.push_back(bytes);
  }
  address = reinterpret_cast<std::uintptr_t>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, plane));
}

void MappedPlane::release() {
  if (!mapped_) return;
  mapped_ = false;
  cudaError_t error = cudaSuccess;
  {
    const nb::gil_scoped_release unlocked;
    int before = 0;
    error = cudaGetDevice(&before);
    if (error == cudaSuccess) error = cudaSetDevice(device);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cudaSetDevice(before);
    gst_video_frame_unmap(&frame_);
  }
  owner_.reset();
  if (error != cudaSuccess) throw std::runtime_error(std::string("the GPU failed: ") + cudaGetErrorString(error));
}

}  // namespace

NB_MODULE(_frames, m) {
  nb::class_<MappedPlane>(m, "MappedPlane")
      .def(nb::init<std::uintptr_t, const std::string&, int, nb::object>())
      .def("release", &MappedPlane::release)
      .def_ro("address", &MappedPlane::address)
      .def_ro("shape", &MappedPlane::shape)
      .def_ro("strides", &MappedPlane::strides)
      .def_ro("bytes", &MappedPlane::bytes)
      .def_ro("device", &MappedPlane::device)
      .def_ro("readonly", &MappedPlane::readonly);
}
