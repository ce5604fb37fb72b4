// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// FrameMemory: where frames lie while they are filtered, with the backend that filters them there. There are two:
// system memory with the CPU backend (host_memory.cpp), and a GPU's memory with the CUDA backend (cuda/memory.cpp),
// which frames in system memory reach by an upload and leave by a download.
//
// Single-threaded: owned by the streaming thread, but for pinned_allocator(), which hands out an allocator for any
// thread. Functions throw ElementError where memory runs out, and DeviceError where the GPU failed: after that the
// memory can only be destroyed.
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "convolve/backend.hpp"
#include "held_frame.hpp"
#include "slabs.hpp"

namespace convolve {

class FrameMemory {
 public:
  /// Makes the memory current for the calling thread, which calls of a backend or a plan ask for. Throws DeviceError
  /// where that cannot be; the form with std::nothrow is for the way down, where nothing more can be done about it.
  class Scope {
   public:
    explicit Scope(FrameMemory& memory) : Scope(memory, std::nothrow) {
      if (!entered_) memory.fail("its context cannot be entered");
    }
    Scope(FrameMemory& memory, std::nothrow_t) noexcept : memory_(memory), entered_(memory.enter()) {}
    ~Scope() {
      if (entered_) memory_.leave();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    FrameMemory& memory_;
    const bool entered_;
  };

  /// One output, and how it may be made.
  struct Output {
    GstBuffer* buffer;
    FrameMap::Format format;
    int access;  ///< GST_MAP_WRITE; GST_MAP_READWRITE where the work reads what it wrote
    /// Row ranges in which the output may be made one by one, so that transfers and work overlap; empty: all at once.
    std::span<const Slab> slabs;
    bool frames_stay;  ///< later outputs may need the frames, so that their buffers go back to upstream early
  };
  /// Queues the work that makes `image`, a frame of the backend's memory, or only the rows of `slab` where that is not
  /// null.
  using Work = std::function<void(const Image& image, const Slab* slab)>;

  FrameMemory() = default;
  FrameMemory(const FrameMemory&) = delete;
  FrameMemory& operator=(const FrameMemory&) = delete;
  virtual ~FrameMemory() = default;

  // --- The backend and its plans ------------------------------------------------------------------------------------

  virtual Backend& backend() = 0;
  /// The CUDA stream on which plans queue their work; null for the CPU backend.
  virtual void* stream() const { return nullptr; }
  /// Throws the error that a fault reported by a plan amounts to.
  [[noreturn]] virtual void fail(const std::string& fault) const = 0;
  /// Waits for all that is queued, whatever becomes of it.
  virtual void drain() noexcept {}
  /// Gives back memory that is held for later use. False: there is none of that kind, so that trying again is in vain.
  virtual bool trim() noexcept { return false; }

  // --- Frames -------------------------------------------------------------------------------------------------------

  /// Makes a frame of a buffer. An upload may still be under way: produce() or finish_uploads() completes it.
  /// `detached`: the frame is to be held without holding upstream's buffer.
  virtual HeldFrame import_frame(BufferPtr buffer, const FrameMap::Format& format, bool detached) = 0;
  /// Completes all uploads and lets go of upstream's buffers.
  virtual void finish_uploads(std::span<HeldFrame> frames) { (void)frames; }
  /// Has `work` read two frames, and waits for it. Their uploads are complete on return.
  virtual void compare(HeldFrame& a, HeldFrame& b, const std::function<void()>& work) = 0;
  /// Has `work` make one output, which is complete, or ordered on the device for those downstream, on return. `frames`
  /// are all that are held, oldest first.
  virtual void produce(std::span<HeldFrame> frames, const Output& out, const Work& work) = 0;
  /// Has `work` change a frame in its own buffer. False: that cannot be written to, and the frame stays as it was.
  virtual bool edit(HeldFrame& frame, const FrameMap::Format& format, const Work& work) = 0;
  /// One image for intermediate results, the same until release_scratch().
  virtual Image scratch(const FrameLayout& layout) = 0;
  virtual void release_scratch() noexcept {}
  virtual void copy(const Image& from, const Image& to, const FrameLayout& layout) = 0;

  // --- Allocation ---------------------------------------------------------------------------------------------------

  /// System memory that uploads and downloads are fastest with. Null: any will do. Transfer none.
  virtual GstAllocator* pinned_allocator() const { return nullptr; }
  /// Whether the buffers of a pool lie in this memory, in a context of CUDA.
  virtual bool owns(GstBufferPool*) const { return false; }
  /// A pool of this memory for caps of CUDA memory; `size` becomes that of its buffers. Null: none can be made.
  /// Transfer full.
  virtual GstBufferPool* make_pool(GstCaps*, guint& size, guint min) const { return (void)size, (void)min, nullptr; }
  /// Whether the buffer lies in another context of a GPU that may be used, so that moving there saves copies.
  virtual bool should_move_to(GstBuffer*, int cuda_device_id) const { return (void)cuda_device_id, false; }

 protected:
  virtual bool enter() noexcept { return true; }
  virtual void leave() noexcept {}

  /// Maps a frame's buffer anew, with write access where that can be had, and says whether it can. `flags` are those
  /// besides read and write.
  static bool map_for_editing(HeldFrame& frame, const FrameMap::Format& format, int flags);
};

/// System memory, with the CPU backend on `threads` threads (0: as many as there are processors).
std::unique_ptr<FrameMemory> make_host_memory(unsigned threads);

}  // namespace convolve
