// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "session.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "element_error.hpp"
#include "plane_size.hpp"

namespace convolve {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (status == cudaErrorMemoryAllocation)
    throw ElementError(GST_RESOURCE_ERROR_NO_SPACE_LEFT, std::string("device memory ran out: ") + what);
  throw DeviceError(std::string("the GPU failed: ") + what + ": " + cudaGetErrorString(status));
}

// Queues a copy of rows `first` to `last` - 1 of `width` bytes each.
void copy_plane(const PlaneView& from, const PlaneView& to, std::ptrdiff_t width, int first, int last,
                cudaMemcpyKind kind, cudaStream_t queue) {
  if (first == last) return;
  const auto count = static_cast<std::size_t>(last - first), bytes = static_cast<std::size_t>(width);
  const auto* source = static_cast<const std::byte*>(from.data) + first * from.stride;
  auto* target = static_cast<std::byte*>(to.data) + first * to.stride;
  if (from.stride == to.stride && from.stride >= width) {
    check(cudaMemcpyAsync(target, source, static_cast<std::size_t>(from.stride) * (count - 1) + bytes, kind, queue),
          "a copy");
  } else if (from.stride >= width && to.stride >= width) {
    check(cudaMemcpy2DAsync(target, static_cast<std::size_t>(to.stride), source, static_cast<std::size_t>(from.stride),
                            bytes, count, kind, queue),
          "a copy");
  } else {  // bottom-up, or rows that overlap
    for (int y = 0; y < last - first; ++y)
      check(cudaMemcpyAsync(target + y * to.stride, source + y * from.stride, bytes, kind, queue), "a copy");
  }
}

void copy_rows(const Image& from, const Image& to, const FrameLayout& layout, const PlaneRows& range,
               cudaMemcpyKind kind, cudaStream_t queue) {
  for (int p = 0; p < layout.planes; ++p)
    copy_plane(from.plane[p], to.plane[p], row_bytes(layout, p), range.first[p], range.last[p], kind, queue);
}

}  // namespace

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

GstBufferPool* make_cuda_pool(GstCudaContext* context, SharedStream* stream, GstCaps* caps, guint& size, guint min) {
  GstBufferPool* pool = gst_cuda_buffer_pool_new(context);
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (stream) set_stream(config, stream);
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

void GiveBack::operator()(DeviceMemory* memory) const {
  memory->session->unused_.push_back(memory);
}

CudaSession::CudaSession(GstCudaContext* context) : context_(GST_CUDA_CONTEXT(gst_object_ref(context))) {
  const CudaScope scope(*this);
  shared_ = make_stream(context);
  stream_ = handle_of(shared_);
  if (stream_ && cudaStreamCreate(&up_) == cudaSuccess && cudaStreamCreate(&down_) == cudaSuccess) return;
  release();
  throw std::runtime_error("no stream could be made on the GPU");
}

CudaSession::~CudaSession() {
  const CudaScope scope(*this, std::nothrow);
  release();
}

// In the context; what fails here has failed before.
void CudaSession::release() {
  for (cudaStream_t queue : {up_, stream_, down_})
    if (queue) cudaStreamSynchronize(queue);
  for (cudaStream_t queue : {up_, down_})
    if (queue) cudaStreamDestroy(queue);
  if (shared_) free_stream(shared_);
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  trim();
  cudaGetLastError();
}

void CudaSession::synchronize() {
  const CudaScope scope(*this);
  check(cudaStreamSynchronize(stream_), "a frame");
}

void CudaSession::drain() noexcept {
  const CudaScope scope(*this, std::nothrow);
  for (cudaStream_t queue : {up_, stream_, down_}) cudaStreamSynchronize(queue);
  cudaGetLastError();
}

bool CudaSession::is_context(GstCudaContext* context) const {
  return context == context_.get() ||
         gst_cuda_context_get_handle(context) == gst_cuda_context_get_handle(context_.get());
}

bool CudaSession::owns(GstBuffer* buffer) const {
  GstCudaMemory* memory = cuda_memory(buffer);
  return memory && is_context(memory->context);
}

// Work that is queued on `second` from now on waits for the work that is on `first` by now.
void CudaSession::order(cudaStream_t first, cudaStream_t second) {
  const CudaScope scope(*this);
  if (next_event_ == max_events)
    next_event_ = 0;  // events may be reused: a wait means the event's last record before it
  if (next_event_ == events_.size()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
    events_.push_back(event);
  }
  cudaEvent_t event = events_[next_event_++];
  check(cudaEventRecord(event, first), "an event");
  check(cudaStreamWaitEvent(second, event, 0), "an event");
}

void CudaSession::wait_for(GstBuffer* buffer) {
  GstCudaMemory* memory = cuda_memory(buffer);
  convolve::wait_for(memory);
  const cudaStream_t writer = stream_of(memory);
  if (writer && writer != stream_) order(writer, stream_);
}

bool CudaSession::signal(GstBuffer* buffer) {
  const cudaStream_t next = stream_of(cuda_memory(buffer));
  if (next && next != stream_) order(stream_, next);
  return next != nullptr;
}

DeviceFrame CudaSession::allocate(const FrameLayout& layout) {
  const PackedPlanes planes = pack_planes(layout, 64, 256);
  DeviceMemory* memory = nullptr;
  for (DeviceMemory*& candidate : unused_)
    if (candidate->bytes == planes.bytes) {
      memory = std::exchange(candidate, unused_.back());
      unused_.pop_back();
      break;
    }
  if (!memory) {
    const CudaScope scope(*this);
    void* address = nullptr;
    trim();  // of another format's
    check(cudaMalloc(&address, planes.bytes), "a frame's copy");
    memories_.push_back(std::make_unique<DeviceMemory>(DeviceMemory{this, address, planes.bytes, {}}));
    unused_.reserve(memories_.size());
    memory = memories_.back().get();
  }
  memory->image = planes.at(memory->address);
  return DeviceFrame(memory);
}

void CudaSession::trim() noexcept {
  const CudaScope scope(*this, std::nothrow);
  for (DeviceMemory* memory : unused_) {
    cudaFree(memory->address);
    std::erase_if(memories_, [memory](const auto& held) { return held.get() == memory; });
  }
  unused_.clear();
}

void CudaSession::copy(const Image& from, const Image& to, const FrameLayout& layout, cudaMemcpyKind kind) {
  const CudaScope scope(*this);
  copy_rows(from, to, layout, all_rows(layout), kind, stream_);
}

void CudaSession::upload_slab(const Image& host, const Image& device, const FrameLayout& layout,
                              const PlaneRows& range) {
  const CudaScope scope(*this);
  copy_rows(host, device, layout, range, cudaMemcpyHostToDevice, up_);
  order(up_, stream_);
}

void CudaSession::download_slab(const Image& device, const Image& host, const FrameLayout& layout,
                                const PlaneRows& range) {
  const CudaScope scope(*this);
  order(stream_, down_);
  copy_rows(device, host, layout, range, cudaMemcpyDeviceToHost, down_);
}

void CudaSession::finish_slabs() {
  const CudaScope scope(*this);
  check(cudaStreamSynchronize(down_), "a frame");
}

}  // namespace convolve
