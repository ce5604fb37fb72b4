// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.hpp"

#include <cuda_runtime_api.h>
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "element_error.hpp"
#include "gstcuda_versions.hpp"
#include "host_input.hpp"
#include "pinned_allocator.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

GstCudaMemory* cuda_memory(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) == 0) return nullptr;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory) : nullptr;
}

int device_of(GstCudaContext* context) {
  guint id = 0;
  g_object_get(context, "cuda-device-id", &id, nullptr);
  return static_cast<int>(id);
}

bool same_context(GstCudaContext* a, GstCudaContext* b) {
  return a == b || gst_cuda_context_get_handle(a) == gst_cuda_context_get_handle(b);
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (status == cudaErrorMemoryAllocation)
    throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT, std::string("device memory ran out: ") + what);
  throw DeviceError(std::string("the GPU failed: ") + what + ": " + cudaGetErrorString(status));
}

std::size_t pitch_of(const FrameLayout& layout, int plane) {
  return (static_cast<std::size_t>(row_bytes(layout, plane)) + 63) / 64 * 64;
}

}  // namespace

bool is_cuda_buffer(GstBuffer* buffer) {
  return cuda_memory(buffer) != nullptr;
}

GstObject* cuda_buffer_context(GstBuffer* buffer) {
  return GST_OBJECT(cuda_memory(buffer)->context);
}

int cuda_buffer_device(GstBuffer* buffer) {
  return device_of(cuda_memory(buffer)->context);
}

struct DeviceFrame::Slot {
  CudaSession::Impl* owner = nullptr;
  void* memory = nullptr;
  std::size_t bytes = 0;
  Image image;
};

struct CudaSession::Impl {
  GstCudaContext* context = nullptr;
  SharedStream* shared = nullptr;
  cudaStream_t stream = nullptr, up = nullptr, down = nullptr;  ///< the first is that of `shared`
  static constexpr std::size_t max_events = 64;
  std::vector<cudaEvent_t> events;  ///< used in turn
  std::size_t next_event = 0;
  GstAllocator* allocator = nullptr;
  std::unique_ptr<HostInput> host_input;
  std::vector<std::unique_ptr<DeviceFrame::Slot>> slots;
  std::vector<DeviceFrame::Slot*> free;

  // In the context; what fails here has failed before.
  void release() {
    for (cudaStream_t queue : {up, stream, down})
      if (queue) cudaStreamSynchronize(queue);
    for (cudaStream_t queue : {up, down})
      if (queue) cudaStreamDestroy(queue);
    if (shared) free_stream(shared);
    for (cudaEvent_t event : events) cudaEventDestroy(event);
    trim();
    cudaGetLastError();
    host_input.reset();
    gst_clear_object(&allocator);
  }

  ~Impl() { gst_clear_object(&context); }

  // Keeps the slots that are in use.
  void trim() {
    for (DeviceFrame::Slot* slot : free) {
      cudaFree(slot->memory);
      std::erase_if(slots, [slot](const auto& held) { return held.get() == slot; });
    }
    free.clear();
  }

  // What is queued on `second` from now on waits for what is on `first`.
  void order(cudaStream_t first, cudaStream_t second) {
    if (next_event == max_events) next_event = 0;  // a wait keeps what its event stood for when it was queued
    if (next_event == events.size()) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
      events.push_back(event);
    }
    cudaEvent_t event = events[next_event++];
    check(cudaEventRecord(event, first), "an event");
    check(cudaStreamWaitEvent(second, event, 0), "an event");
  }

  void copy(const PlaneView& from, const PlaneView& to, std::size_t width, std::size_t height, cudaMemcpyKind kind,
            cudaStream_t queue) {
    if (height == 0) return;
    const auto bytes = static_cast<std::ptrdiff_t>(width);
    if (from.stride == to.stride && from.stride >= bytes) {
      check(cudaMemcpyAsync(to.data, from.data, from.stride * (height - 1) + width, kind, queue), "a copy");
    } else if (from.stride >= bytes && to.stride >= bytes) {
      check(cudaMemcpy2DAsync(to.data, to.stride, from.data, from.stride, width, height, kind, queue), "a copy");
    } else {  // bottom-up, or rows that overlap
      for (std::size_t y = 0; y < height; ++y)
        check(cudaMemcpyAsync(static_cast<std::byte*>(to.data) + static_cast<std::ptrdiff_t>(y) * to.stride,
                              static_cast<const std::byte*>(from.data) + static_cast<std::ptrdiff_t>(y) * from.stride,
                              width, kind, queue),
              "a copy");
    }
  }

  void copy(const Image& from, const Image& to, const FrameLayout& layout, cudaMemcpyKind kind) {
    for (int p = 0; p < layout.planes; ++p)
      copy(from.plane[p], to.plane[p], row_bytes(layout, p), rows(layout, p), kind, stream);
  }

  void copy_rows(const Image& from, const Image& to, const FrameLayout& layout, const CudaSession::Rows& range,
                 cudaMemcpyKind kind, cudaStream_t queue) {
    const auto row = [](const PlaneView& plane, int y) {
      return PlaneView{static_cast<std::byte*>(plane.data) + y * plane.stride, plane.stride};
    };
    for (int p = 0; p < layout.planes; ++p)
      copy(row(from.plane[p], range.first[p]), row(to.plane[p], range.first[p]), row_bytes(layout, p),
           range.last[p] - range.first[p], kind, queue);
  }
};

GstBufferPool* make_cuda_pool(GstObject* context, const CudaSession* session, GstCaps* caps, guint& size, guint min) {
  GstBufferPool* pool = gst_cuda_buffer_pool_new(GST_CUDA_CONTEXT(context));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (session) set_stream(config, session->impl_->shared);
  if (!gst_buffer_pool_set_config(pool, config)) {
    gst_object_unref(pool);
    return nullptr;
  }
  // Rows are as long as the device likes them, which the pool knows by now.
  config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
  gst_structure_free(config);
  return pool;
}

CudaScope::CudaScope(CudaSession& session) : CudaScope(session, std::nothrow) {
  if (!pushed_) throw DeviceError("the GPU failed: its context cannot be entered");
}

DeviceFrame::~DeviceFrame() {
  if (slot_) slot_->owner->free.push_back(slot_);
}

const Image& DeviceFrame::image() const {
  return slot_->image;
}

CudaSession::CudaSession(GstObject* context) : impl_(std::make_unique<Impl>()) {
  impl_->context = GST_CUDA_CONTEXT(gst_object_ref(context));
  const CudaScope scope(*this);
  impl_->shared = make_stream(impl_->context);
  impl_->stream = handle_of(impl_->shared);
  if (!impl_->stream || cudaStreamCreate(&impl_->up) != cudaSuccess || cudaStreamCreate(&impl_->down) != cudaSuccess) {
    impl_->release();
    throw std::runtime_error("no stream could be made on the GPU");
  }
  impl_->allocator = make_pinned_allocator(context);
  impl_->host_input = std::make_unique<HostInput>(context);
}

CudaSession::~CudaSession() {
  const CudaScope scope(*this, std::nothrow);
  impl_->release();
}

bool CudaSession::push() noexcept {
  return gst_cuda_context_push(impl_->context);
}
void CudaSession::pop() noexcept {
  gst_cuda_context_pop(nullptr);
}
GstObject* CudaSession::context() const {
  return GST_OBJECT(impl_->context);
}
int CudaSession::device_id() const {
  return device_of(impl_->context);
}
void* CudaSession::stream() const {
  return impl_->stream;
}
GstAllocator* CudaSession::pinned_allocator() const {
  return impl_->allocator;
}

void CudaSession::synchronize() {
  const CudaScope scope(*this);
  check(cudaStreamSynchronize(impl_->stream), "a frame");
}

bool CudaSession::owns(GstBuffer* buffer) const {
  GstCudaMemory* memory = cuda_memory(buffer);
  return memory && same_context(memory->context, impl_->context);
}

bool CudaSession::owns(GstBufferPool* pool) const {
  return pool && GST_IS_CUDA_BUFFER_POOL(pool) && same_context(GST_CUDA_BUFFER_POOL(pool)->context, impl_->context);
}

void CudaSession::drain() noexcept {
  const CudaScope scope(*this, std::nothrow);
  for (cudaStream_t queue : {impl_->up, impl_->stream, impl_->down}) cudaStreamSynchronize(queue);
  cudaGetLastError();
}

void CudaSession::wait_for(GstBuffer* buffer) {
  GstCudaMemory* memory = cuda_memory(buffer);
  convolve::wait_for(memory);
  const cudaStream_t writer = stream_of(memory);
  if (!writer || writer == impl_->stream) return;
  const CudaScope scope(*this);
  impl_->order(writer, impl_->stream);
}

bool CudaSession::signal(GstBuffer* buffer) {
  const cudaStream_t next = stream_of(cuda_memory(buffer));
  if (next && next != impl_->stream) {
    const CudaScope scope(*this);
    impl_->order(impl_->stream, next);
  }
  return next != nullptr;
}

DeviceFrame CudaSession::allocate(const FrameLayout& layout) {
  std::size_t bytes = 0;
  std::size_t offset[max_planes] = {};
  for (int p = 0; p < layout.planes; ++p) {
    offset[p] = bytes;
    bytes += (pitch_of(layout, p) * rows(layout, p) + 255) / 256 * 256;
  }
  DeviceFrame::Slot* slot = nullptr;
  for (DeviceFrame::Slot*& candidate : impl_->free)
    if (candidate->bytes == bytes) {
      slot = candidate;
      std::swap(candidate, impl_->free.back());
      impl_->free.pop_back();
      break;
    }
  if (!slot) {
    const CudaScope scope(*this);
    void* memory = nullptr;
    impl_->trim();  // of another format's
    check(cudaMalloc(&memory, bytes), "a frame's copy");
    impl_->slots.push_back(std::make_unique<DeviceFrame::Slot>());
    impl_->free.reserve(impl_->slots.size());
    slot = impl_->slots.back().get();
    slot->owner = impl_.get();
    slot->memory = memory;
    slot->bytes = bytes;
  }
  for (int p = 0; p < layout.planes; ++p)
    slot->image.plane[p] = {static_cast<std::byte*>(slot->memory) + offset[p],
                            static_cast<std::ptrdiff_t>(pitch_of(layout, p))};
  return DeviceFrame(slot);
}

void CudaSession::trim() {
  const CudaScope scope(*this, std::nothrow);
  impl_->trim();
}

void CudaSession::upload(const Image& host, const DeviceFrame& frame, const FrameLayout& layout) {
  const CudaScope scope(*this);
  impl_->copy(host, frame.image(), layout, cudaMemcpyHostToDevice);
}

void CudaSession::download(const DeviceFrame& frame, const Image& host, const FrameLayout& layout) {
  const CudaScope scope(*this);
  impl_->copy(frame.image(), host, layout, cudaMemcpyDeviceToHost);
}

void CudaSession::copy(const Image& from, const Image& to, const FrameLayout& layout) {
  const CudaScope scope(*this);
  impl_->copy(from, to, layout, cudaMemcpyDeviceToDevice);
}

bool CudaSession::reaches(GstBuffer* buffer) {
  return impl_->host_input->reaches(buffer);
}

const Image& CudaSession::stage(const Image& host, const FrameLayout& layout, const Rows& range) {
  return impl_->host_input->stage(host, layout, range);
}

void CudaSession::begin_slabs() {
  const CudaScope scope(*this);
  impl_->order(impl_->stream, impl_->up);
}

void CudaSession::upload_slab(const Image& host, const Image& device, const FrameLayout& layout, const Rows& range) {
  const CudaScope scope(*this);
  impl_->copy_rows(host, device, layout, range, cudaMemcpyHostToDevice, impl_->up);
  impl_->order(impl_->up, impl_->stream);
}

void CudaSession::download_slab(const Image& device, const Image& host, const FrameLayout& layout, const Rows& range) {
  const CudaScope scope(*this);
  impl_->order(impl_->stream, impl_->down);
  impl_->copy_rows(device, host, layout, range, cudaMemcpyDeviceToHost, impl_->down);
}

void CudaSession::finish_slabs() {
  const CudaScope scope(*this);
  check(cudaStreamSynchronize(impl_->down), "a frame");
}

}  // namespace convolve
