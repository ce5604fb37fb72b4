// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory.hpp"

#include <algorithm>
#include <utility>

#include "element_error.hpp"
#include "host_input.hpp"
#include "pinned_allocator.hpp"
#include "session.hpp"

namespace convolve {
namespace {

/// The device's copy of a frame that came in system memory, or whose own memory upstream needs back.
struct DeviceCopy : FrameCopy {
  DeviceFrame frame;
  bool uploaded = false;  ///< the upload is complete, and the buffer is no longer needed
  bool pageable = false;  ///< the buffer's memory is one that asynchronous copies cannot read
};

// The copy of a frame that has still to be uploaded; null where there is nothing to do.
DeviceCopy* copy_to_upload(HeldFrame& frame) {
  auto* copy = static_cast<DeviceCopy*>(frame.copy.get());
  return copy && !copy->uploaded ? copy : nullptr;
}

// A buffer's timestamps, flags and metas, without its memory.
BufferPtr shell_of(GstBuffer* buffer) {
  BufferPtr shell(gst_buffer_new());
  constexpr auto parts =
      static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META);
  gst_buffer_copy_into(shell.get(), buffer, parts, 0, -1);
  return shell;
}

class CudaMemory : public FrameMemory {
 public:
  explicit CudaMemory(GstCudaContext* context)
      : session_(context), host_input_(context), allocator_(make_pinned_allocator(context)) {
    const CudaScope scope(session_);
    backend_ = make_cuda_backend();
  }
  ~CudaMemory() override {
    session_.drain();
    const CudaScope scope(session_, std::nothrow);
    backend_.reset();
  }

  Backend& backend() override { return *backend_; }
  void* stream() const override { return session_.stream(); }
  void fail(const std::string& fault) const override { throw DeviceError("the GPU failed: " + fault); }
  void drain() noexcept override { session_.drain(); }
  bool trim() noexcept override {
    session_.trim();
    return true;
  }

  HeldFrame import_frame(BufferPtr buffer, const FrameMap::Format& format, bool detached) override;
  void finish_uploads(std::span<HeldFrame> frames) override;
  void compare(HeldFrame& a, HeldFrame& b, const std::function<void()>& work) override;
  void produce(std::span<HeldFrame> frames, const Output& out, const Work& work) override;
  bool edit(HeldFrame& frame, const FrameMap::Format& format, const Work& work) override;
  Image scratch(const FrameLayout& layout) override { return image_of(scratch_, layout); }
  void release_scratch() noexcept override { scratch_ = {}, result_[0] = {}, result_[1] = {}; }
  void copy(const Image& from, const Image& to, const FrameLayout& layout) override {
    session_.copy(from, to, layout, cudaMemcpyDeviceToDevice);
  }

  GstAllocator* pinned_allocator() const override { return allocator_.get(); }
  bool owns(GstBufferPool* pool) const override {
    return pool && GST_IS_CUDA_BUFFER_POOL(pool) && session_.is_context(GST_CUDA_BUFFER_POOL(pool)->context);
  }
  GstBufferPool* make_pool(GstCaps* caps, guint& size, guint min) const override {
    return make_cuda_pool(session_.context(), session_.shared_stream(), caps, size, min);
  }
  bool should_move_to(GstBuffer* buffer, int cuda_device_id) const override {
    const GstCudaMemory* memory = cuda_memory(buffer);
    return memory && !session_.is_context(memory->context) &&
           (cuda_device_id < 0 || device_of(memory->context) == device_of(session_.context()));
  }

 private:
  bool enter() noexcept override { return session_.push(); }
  void leave() noexcept override { session_.pop(); }

  const Image& image_of(DeviceFrame& frame, const FrameLayout& layout) {
    if (!frame) frame = session_.allocate(layout);
    return frame->image;
  }
  void upload(std::span<HeldFrame> frames);
  void mark_uploaded(std::span<HeldFrame> frames, bool frames_stay);
  bool order_neighbours(std::span<HeldFrame> frames, GstBuffer* out);
  void produce_in_slabs(std::span<HeldFrame> frames, const Output& out, const Image& host, const Work& work);

  CudaSession session_;
  HostInput host_input_;
  const std::unique_ptr<GstAllocator, ObjectUnref> allocator_;
  std::unique_ptr<Backend> backend_;
  FrameLayout layout_;     ///< of the frames that are held
  DeviceFrame result_[2];  ///< outputs on their way to system memory; the second is for every other slab
  DeviceFrame scratch_;
};

HeldFrame CudaMemory::import_frame(BufferPtr buffer, const FrameMap::Format& format, bool detached) {
  HeldFrame frame;
  frame.interlaced = format.interlaced;
  const bool on_device = session_.owns(buffer.get());
  if (on_device) session_.wait_for(buffer.get());
  frame.map = FrameMap(buffer.get(), format, GST_MAP_READ | (on_device ? GST_MAP_CUDA : 0));
  frame.image = frame.map.image();
  layout_ = format.layout;
  if (!on_device || detached) {
    auto copy = std::make_unique<DeviceCopy>();
    copy->frame = session_.allocate(layout_);
    copy->pageable = !on_device && (!frame.map.in_place() || !host_input_.can_copy_from(buffer.get()));
    if (on_device) {
      session_.copy(frame.image, copy->frame->image, layout_, cudaMemcpyDeviceToDevice);
      session_.synchronize();
      copy->uploaded = true;
      frame.map.unmap();
      buffer = shell_of(buffer.get());
    }
    frame.image = copy->frame->image;
    frame.copy = std::move(copy);
  }
  frame.buffer = std::move(buffer);
  return frame;
}

// Queues the uploads that are left.
void CudaMemory::upload(std::span<HeldFrame> frames) {
  for (HeldFrame& frame : frames)
    if (DeviceCopy* copy = copy_to_upload(frame))
      session_.copy(frame.map.image(), copy->frame->image, layout_, cudaMemcpyHostToDevice);
}

// Notes that all uploads are complete. Buffers of frames that stay go back to upstream.
void CudaMemory::mark_uploaded(std::span<HeldFrame> frames, bool frames_stay) {
  for (HeldFrame& frame : frames)
    if (DeviceCopy* copy = copy_to_upload(frame)) {
      copy->uploaded = true;
      frame.map.unmap();
      if (frames_stay) frame.buffer = shell_of(frame.buffer.get());
    }
}

void CudaMemory::finish_uploads(std::span<HeldFrame> frames) {
  if (std::none_of(frames.begin(), frames.end(), [](HeldFrame& frame) { return copy_to_upload(frame); })) return;
  upload(frames);
  session_.synchronize();
  mark_uploaded(frames, true);
}

void CudaMemory::compare(HeldFrame& a, HeldFrame& b, const std::function<void()>& work) {
  const DrainOnError drain_on_error(session_);  // queued copies read from the frames, which may go when this throws
  for (HeldFrame* frame : {&a, &b}) upload({frame, 1});
  work();
  session_.synchronize();
  for (HeldFrame* frame : {&a, &b}) mark_uploaded({frame, 1}, true);
}

void CudaMemory::produce(std::span<HeldFrame> frames, const Output& out, const Work& work) {
  const FrameLayout& layout = out.format.layout;
  const bool on_device = session_.owns(out.buffer);
  FrameMap map(out.buffer, out.format, out.access | (on_device ? GST_MAP_CUDA : 0));
  const DrainOnError drain_on_error(session_);  // queued copies write to the output, which goes when this throws
  if (!on_device && !out.slabs.empty()) {
    produce_in_slabs(frames, out, map.image(), work);
  } else {
    upload(frames);
    if (on_device) {
      session_.wait_for(out.buffer);
      work(map.image(), nullptr);
    } else {
      work(image_of(result_[0], layout), nullptr);
      session_.copy(result_[0]->image, map.image(), layout, cudaMemcpyDeviceToHost);
    }
    if (!on_device || !order_neighbours(frames, out.buffer)) session_.synchronize();
    if (!on_device) map.fill_spare_rows();
  }
  mark_uploaded(frames, out.frames_stay);
}

// Leaves it to the device that neighbours come after what is queued. False: some memory has no stream to wait on.
bool CudaMemory::order_neighbours(std::span<HeldFrame> frames, GstBuffer* out) {
  bool all = session_.signal(out);
  for (HeldFrame& frame : frames)
    all = all && (frame.copy ? !copy_to_upload(frame) : session_.signal(frame.buffer.get()));
  return all;
}

// The upload of one slab, the work on another and the download of a third overlap.
void CudaMemory::produce_in_slabs(std::span<HeldFrame> frames, const Output& out, const Image& host, const Work& work) {
  const FrameLayout& layout = out.format.layout;
  const int height = out.format.info.height;
  // While the stream goes on, only the newest frame is still to be uploaded: it goes up in slabs.
  upload(frames.first(frames.size() - 1));
  DeviceCopy* newest = copy_to_upload(frames.back());

  for (DeviceFrame& result : result_) image_of(result, layout);
  session_.begin_slabs();
  int uploaded = 0;
  for (std::size_t k = 0; k < out.slabs.size(); ++k) {
    const Slab& slab = out.slabs[k];
    if (newest) {
      const PlaneRows fresh = plane_rows(layout, height, uploaded, slab.bottom);
      const Image& source = frames.back().map.image();
      session_.upload_slab(newest->pageable ? host_input_.stage(source, layout, fresh) : source, newest->frame->image,
                           layout, fresh);
    }
    uploaded = slab.bottom;
    const Image& result = result_[k % 2]->image;
    work(result, &slab);
    session_.download_slab(result, host, layout, plane_rows(layout, height, slab.first, slab.last));
  }
  session_.finish_slabs();
}

bool CudaMemory::edit(HeldFrame& frame, const FrameMap::Format& format, const Work& work) {
  const bool on_device = session_.owns(frame.buffer.get());
  const bool writable = map_for_editing(frame, format, on_device ? GST_MAP_CUDA : 0);
  if (on_device) frame.image = frame.map.image();
  if (!writable) return false;
  const DrainOnError drain_on_error(session_);
  if (on_device) {
    work(frame.image, nullptr);
    if (!session_.signal(frame.buffer.get())) session_.synchronize();
  } else {
    auto* copy = static_cast<DeviceCopy*>(frame.copy.get());
    session_.copy(frame.map.image(), copy->frame->image, format.layout, cudaMemcpyHostToDevice);
    copy->uploaded = true;
    work(frame.image, nullptr);
    session_.copy(copy->frame->image, frame.map.image(), format.layout, cudaMemcpyDeviceToHost);
    session_.synchronize();
    frame.map.fill_spare_rows();
  }
  frame.map.unmap();
  return true;
}

}  // namespace

std::unique_ptr<FrameMemory> make_cuda_memory(GstCudaContext* context) {
  return std::make_unique<CudaMemory>(context);
}

}  // namespace convolve
